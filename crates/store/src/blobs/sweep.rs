//! Removing blobs that nothing refers to.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

use super::{BlobStore, UNFINISHED};
use crate::{Digest, Error};

/// What was put, or put again, less long ago stays: the record that refers to it may be still to come.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// What a sweep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl BlobStore {
    /// Removes blobs that are not among these and were not put of late. What can't be removed stays for the next time.
    pub(crate) fn sweep(&self, referred_to: &HashSet<Digest>, now: SystemTime) -> Result<Swept, Error> {
        let listed = |dir: &Path| -> Result<Vec<PathBuf>, Error> {
            let entries = fs::read_dir(dir).and_then(|all| all.map(|entry| Ok(entry?.path())).collect());
            entries.map_err(|error| Error::blob(dir, &error))
        };
        let mut swept = Swept::default();
        let shards = listed(&self.dir)?;
        for shard in shards.iter().filter(|shard| shard.is_dir() && !shard.ends_with(UNFINISHED)) {
            for file in listed(shard)? {
                let name = file.file_stem().and_then(|name| name.to_str());
                let digest = name.and_then(|name| name.parse::<Digest>().ok());
                // what has another name is none of ours
                if digest.is_none_or(|digest| referred_to.contains(&digest)) {
                    continue;
                }
                match self.remove_if_old(&file, now) {
                    Ok(Some(bytes)) => {
                        swept.files += 1;
                        swept.bytes += bytes;
                    }
                    Ok(None) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => {
                        tracing::warn!(path = %file.display(), %error, "a blob that nothing refers to can't be removed");
                    }
                }
            }
        }
        Ok(swept)
    }

    /// Its bytes if it was removed. Whoever puts the same content meanwhile waits, and puts it anew.
    fn remove_if_old(&self, file: &Path, now: SystemTime) -> io::Result<Option<u64>> {
        let _alone = self.publishing.write().unwrap_or_else(PoisonError::into_inner);
        let metadata = fs::symlink_metadata(file)?;
        // the time of its last name or of its last touch, whichever is later
        let changed = u64::try_from(metadata.ctime()).unwrap_or_default();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(changed);
        if now.duration_since(changed).is_ok_and(|age| age >= GRACE) {
            fs::remove_file(file)?;
            return Ok(Some(metadata.len()));
        }
        Ok(None)
    }
}
