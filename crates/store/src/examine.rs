//! Looking at a data directory without changing it.

use std::fs;
use std::path::Path;

use seal::Keyring;

use crate::backup::blob_path;
use crate::blobs::{BlobStore, KeysInUse};
use crate::sql::retention::In;
use crate::{Error, blocking, sql};

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examined {
    /// What is wrong, in words.
    pub problems: Vec<String>,
    /// How many files the records refer to.
    pub files: usize,
    /// The bytes of those that are there.
    pub bytes: u64,
}

/// Looks at the records and files below `data_dir`; a daemon may work on them meanwhile. `deep`: every file is read and held
/// against its name.
///
/// # Errors
/// When the database can't be looked at.
pub async fn examine(data_dir: &Path, keys: &Keyring, deep: bool) -> Result<Examined, Error> {
    let mut found = Examined::default();
    match KeysInUse::read(data_dir).and_then(|in_use| in_use.check(keys)) {
        Ok(()) => {}
        Err(error) => found.problems.push(error.to_string()),
    }
    let database = data_dir.join("signalbox.db");
    let mut db = sql::to_copy(&database).await?;
    let newest: Option<i64> =
        sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(&mut db).await?;
    if let Some(newest) = newest.filter(|newest| *newest > sql::newest_migration()) {
        found.problems.push(Error::NewerRelease { path: database, migration: newest }.to_string());
        return Ok(found);
    }
    let checked: Vec<String> = sqlx::query_scalar("PRAGMA quick_check(20)").fetch_all(&mut db).await?;
    found
        .problems
        .extend(checked.into_iter().filter(|line| line != "ok").map(|line| format!("the database: {line}")));
    let digests = sql::retention::referred_to(&mut db, In::Digests).await?;
    found.files = digests.len();
    let (data_dir, keys) = (data_dir.to_owned(), keys.clone());
    let blobs = BlobStore::new(data_dir.join("blobs"), keys);
    let mut digests: Vec<_> = digests.into_iter().collect();
    digests.sort_unstable();
    for digest in digests {
        let Some((full, path)) = blob_path(&data_dir, digest) else {
            found.problems.push(format!("{digest}, which a record refers to, is not there"));
            continue;
        };
        let size =
            blocking(move || Ok(fs::metadata(full).map(|file| file.len()).unwrap_or_default())).await?;
        found.bytes += size;
        if deep && let Err(error) = blobs.verify(digest).await {
            found.problems.push(format!("{}: {error}", path.display()));
        }
    }
    Ok(found)
}
