//! What the executor has to say about itself.

use std::fmt;
use std::io::{self, Write};

/// Says it on standard error, which is the file `executor.err`, or drops it: `eprintln!` would panic on a full disk,
/// and there is nobody left to tell.
pub(crate) fn complain(words: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{words}");
}
