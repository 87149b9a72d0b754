//! Whether the code of runs can be kept from what is not theirs (docs/isolation.md).

use config::IsolationMode;
use executor::Isolation;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// The kernel can't do what `isolation = "required"` asks for.
#[derive(Debug, thiserror::Error)]
#[error(
    "isolation is required, and this kernel {0}; write isolation = \"on\" to go without what it lacks, or use a kernel from 6.12 \
     on, with Landlock switched on"
)]
pub(crate) struct Unavailable(&'static str);

/// Keeps the daemon's own memory and environment from others of its user, and says what the kernel can't do for runs.
///
/// # Errors
/// [`Unavailable`].
pub(super) fn check(mode: IsolationMode) -> Result<(), Unavailable> {
    // no core dumps with secrets, and nobody else reads /proc/PID of it
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .inspect_err(|error| tracing::warn!(%error, "the daemon's memory can be read by others of its user"));
    let lacks = match Isolation::of_this_kernel() {
        Isolation::Full => None,
        Isolation::WithoutSignals => Some("does not keep a run from signalling processes of the same user"),
        Isolation::None => {
            Some("does not keep a run from reading the daemon's data and the files of other runs")
        }
    };
    match (mode, lacks) {
        (IsolationMode::Off, _) => {
            tracing::warn!(
                "isolation is switched off: the code of a run can read the daemon's data and signal its processes"
            );
            Ok(())
        }
        (IsolationMode::On, Some(lacks)) => {
            tracing::warn!("this kernel {lacks}: Linux 6.12 with Landlock does (docs/isolation.md)");
            Ok(())
        }
        (IsolationMode::Required, Some(lacks)) => Err(Unavailable(lacks)),
        (IsolationMode::On | IsolationMode::Required, None) => Ok(()),
    }
}
