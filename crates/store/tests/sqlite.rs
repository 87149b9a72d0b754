//! The conformance suite on SQLite, in real files.

mod suite;

use store::Store;
use tempfile::TempDir;

async fn open() -> (Store, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (Store::open(dir.path()).await.unwrap(), dir)
}

suite::conformance_of!(open);
