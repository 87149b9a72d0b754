//! An executor that is started before it is needed, so that no launch waits for the start of a process.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use crate::run::STAND_BY;

/// At most one executor that waits for its directory. It ends when this process does, however that ends, since nothing
/// but its standard input keeps it waiting.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standby(Arc<Mutex<Option<Child>>>);

impl Standby {
    /// Has one stand by, if there is none.
    pub(crate) fn refill(&self, mut command: Command) {
        let mut standby = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if standby.is_none() {
            // one that can't be started now is started when it is needed, and then its error counts
            *standby = command.arg(STAND_BY).stdin(Stdio::piped()).spawn().ok();
        }
    }

    /// Tells the one that stands by its directory. `None`: there is none, or it was killed meanwhile.
    pub(crate) async fn take(&self, directory: &Path) -> Option<Child> {
        let mut child = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let mut line = directory.as_os_str().as_bytes().to_vec();
        line.push(b'\n');
        // closed with the end of this, which is what it waits for
        let told = child.stdin.take()?.write_all(&line).await;
        told.is_ok().then_some(child)
    }
}
