//! The archive of a configuration that was taken. Equal configurations give equal bytes.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use files::{Hashed, Replacement};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};

use crate::error::Error;
use crate::report::Digest;
use crate::tree::{Entry, Taken};

/// Writes the archive.
pub(crate) fn pack(taken: &Taken, path: &Path) -> Result<Digest, Error> {
    let pack = || {
        let mut new = Replacement::begin(path)?;
        let digest = write(taken, new.file())?;
        new.commit()?;
        Ok(digest)
    };
    pack().map_err(|cause| Error::Unwritable { path: path.to_owned(), cause })
}

fn write(taken: &Taken, file: &mut File) -> io::Result<Digest> {
    // every run waits for this; the few percent that a better compression saves are not worth it
    let encoder = GzEncoder::new(Hashed::new(BufWriter::new(file)), Compression::fast());
    let mut builder = tar::Builder::new(encoder);
    for (path, entry) in &taken.entries {
        match entry {
            Entry::Directory => {
                builder.append_data(&mut header(EntryType::Directory, 0o755, 0), path, io::empty())?;
            }
            Entry::File { mode, size } => {
                let content = File::open(taken.work.join(path))?;
                builder.append_data(&mut header(EntryType::Regular, *mode, *size), path, content)?;
            }
            Entry::Link { target } => {
                builder.append_link(&mut header(EntryType::Symlink, 0o777, 0), path, target)?;
            }
        }
    }
    let (sha256, size) = builder.into_inner()?.finish()?.finish()?;
    Ok(Digest { sha256: text::hex(&sha256), size })
}

/// Nothing of the time and the user of the copying.
fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}
