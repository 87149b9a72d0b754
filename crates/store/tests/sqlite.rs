//! The conformance suite on SQLite, in real files.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod suite;

use store::Store;
use tempfile::TempDir;

async fn open() -> (Store, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (Store::open(dir.path()).await.unwrap(), dir)
}

suite::conformance_of!(open);
