//! What of the machine the code of a step sees: said by whoever launches it, kept by the kernel.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a step may do with the file system, and with processes.
///
/// It reads everything that its user may read, but for what is hidden; it writes to what is named. Besides, it can neither
/// signal nor inspect any process that is not confined with it, nor use devices of the machine, nor what only root may do to
/// the system itself. Programs that it starts are confined with it, and nothing lifts that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Directories and files of which nothing is seen, absolute.
    pub hidden: Vec<PathBuf>,
    /// What is seen all the same of a hidden directory.
    pub visible: Vec<PathBuf>,
    /// What may be written, with all that is below it. What of it is in a hidden directory is seen as well.
    pub writable: Vec<PathBuf>,
}

/// What the kernel can do for a confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// Nothing: code of a run sees and does what its user may.
    None,
    /// Files are hidden, and processes can't be inspected; a signal can be sent to those of the same user.
    WithoutSignals,
    /// All of it.
    Full,
}

impl Isolation {
    /// What this kernel can do.
    pub fn of_this_kernel() -> Self {
        use landlock::{ABI, AccessFs, BitFlags, LandlockStatus, Ruleset, RulesetAttr as _};
        // a thread that confines itself and ends: nothing else tells
        let tried = std::thread::spawn(|| {
            let rules = Ruleset::default().handle_access(BitFlags::from(AccessFs::MakeBlock)).ok()?;
            Some(rules.create().ok()?.restrict_self().ok()?.landlock)
        });
        match tried.join() {
            Ok(Some(LandlockStatus::Available { effective_abi, .. })) if effective_abi >= ABI::V6 => {
                Self::Full
            }
            Ok(Some(LandlockStatus::Available { .. })) => Self::WithoutSignals,
            _ => Self::None,
        }
    }
}
