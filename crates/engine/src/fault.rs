//! Faults on demand, compiled for tests only (feature `fault-injection`).
//!
//! A test puts a file named after a point into `<data_dir>/faults`; whoever passes the point takes the
//! file away and panics. One file, one panic, however many pass at once. A number in the file is how many
//! times it strikes.

use std::path::Path;

/// Panics if a fault waits at this point. Nothing at all in a product build.
#[inline]
pub(crate) fn point(data_dir: &Path, name: &str) {
    #[cfg(feature = "fault-injection")]
    strike(data_dir, name);
    #[cfg(not(feature = "fault-injection"))]
    let _ = (data_dir, name);
}

#[cfg(feature = "fault-injection")]
#[expect(clippy::panic, reason = "panicking is what this is for")]
fn strike(data_dir: &Path, name: &str) {
    let armed = data_dir.join("faults").join(name);
    let taken = armed.with_extension("taken");
    // the rename is the claim: of all who try, one gets it
    if std::fs::rename(&armed, &taken).is_ok() {
        let left = std::fs::read_to_string(&taken).ok().and_then(|text| text.trim().parse::<u32>().ok());
        if let Some(left) = left.filter(|left| *left > 1) {
            let _ = std::fs::write(&taken, (left - 1).to_string());
            let _ = std::fs::rename(&taken, &armed);
        }
        panic!("fault injected at {name}");
    }
}
