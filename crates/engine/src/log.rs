//! The log of a stage, wherever it is: beside its execution until that is over, and a blob from then on.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;

use files::Found;
use lifecycle::Stage;
use store::{Blob, Digest, Run};

use crate::RunDir;
use crate::context::Context;
use crate::mask::Mask;
use crate::run_dir::open_file;
use crate::run_files::StageError;

/// An open log. Values of sensitive variables are starred out of what is read, byte for byte.
#[derive(Debug)]
pub struct Log {
    bytes: Bytes,
    mask: Option<Mask>,
}

/// Where the bytes of a log are.
#[derive(Debug)]
enum Bytes {
    /// In a file that may grow.
    Growing(File),
    Kept(Blob),
}

impl Bytes {
    fn len(&self) -> io::Result<u64> {
        match self {
            Self::Growing(file) => Ok(file.metadata()?.len()),
            Self::Kept(blob) => Ok(blob.len()),
        }
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::Growing(file) => file.read_exact_at(buffer, offset),
            Self::Kept(blob) => blob.read_exact_at(buffer, offset),
        }
    }
}

/// A log that hides nothing.
impl From<File> for Log {
    fn from(file: File) -> Self {
        Self { bytes: Bytes::Growing(file), mask: None }
    }
}

impl Log {
    /// How many bytes of it can be read. Unless it is `over`, its end is held back as long as that may be the beginning of
    /// what is starred out.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn len(&self, over: bool) -> io::Result<u64> {
        let length = self.bytes.len()?;
        let Some(mask) = self.mask.as_ref().filter(|_| !over) else { return Ok(length) };
        let from = length.saturating_sub(mask.margin() as u64);
        let held = mask.unfinished(&self.part(from, length)?);
        Ok(length - held as u64)
    }

    /// At most `limit` bytes from `offset`; fewer only at its end.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn read(&self, offset: u64, limit: u64) -> io::Result<Vec<u8>> {
        let length = self.bytes.len()?;
        let end = offset.saturating_add(limit).min(length);
        if offset >= end {
            return Ok(Vec::new());
        }
        let Some(mask) = &self.mask else { return self.part(offset, end) };
        // what reaches in from either side has to be seen as a whole
        let margin = mask.margin() as u64;
        let from = offset.saturating_sub(margin);
        let mut bytes = self.part(from, end.saturating_add(margin).min(length))?;
        mask.apply(&mut bytes);
        let place = |at: u64| usize::try_from(at - from).map_err(io::Error::other);
        bytes.truncate(place(end)?);
        Ok(bytes.split_off(place(offset)?))
    }

    fn part(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(to - from).map_err(io::Error::other)?];
        self.bytes.read_exact_at(&mut bytes, from)?;
        Ok(bytes)
    }
}

/// What is not to be seen of the run.
pub(crate) async fn mask(context: &Context, run: &Run) -> Result<Option<Mask>, store::Error> {
    let settings = context.settings_of_run(run).await?;
    Ok(settings.and_then(|settings| Mask::new(&settings, &run.options.variables)))
}

/// What [`Engine::open_log`](crate::Engine::open_log) gives.
pub(crate) async fn open(context: &Context, run: &Run, stage: Stage) -> Result<Option<Log>, store::Error> {
    let Some(bytes) = open_bytes(context, run, stage).await? else { return Ok(None) };
    Ok(Some(Log { bytes, mask: mask(context, run).await? }))
}

async fn open_bytes(context: &Context, run: &Run, stage: Stage) -> Result<Option<Bytes>, store::Error> {
    let Context { store, data_dir, .. } = context;
    let blob = async |run: &Run| match run.logs.get(&stage) {
        Some(digest) => Ok(Some(Bytes::Kept(store.blobs().open(*digest).await?))),
        None => Ok(None),
    };
    if let Some(log) = blob(run).await? {
        return Ok(Some(log));
    }
    let path = RunDir::new(data_dir, run.id).log(stage);
    match open_file(&path).await {
        Ok(Found::File(log)) => Ok(Some(Bytes::Growing(log))),
        // its name may have gone since the record was read
        Ok(Found::Nothing) => blob(&store.run(run.id).await?).await,
        Ok(Found::Other(_)) => Ok(None),
        Err(error) => Err(store::Error::file(path, &error)),
    }
}

/// Makes the log of a stage that is over a blob, which the record of its end has to name. Doing it again changes
/// nothing. What ran may have removed it or put something else in its place, on which no end depends.
pub(crate) async fn keep(
    context: &Context,
    run: &Run,
    stage: Stage,
) -> Result<Option<(Stage, Digest)>, StageError> {
    let path = RunDir::new(&context.data_dir, run.id).log(stage);
    match open_file(&path).await {
        Ok(Found::File(_)) => {
            if let Some(mask) = mask(context, run).await? {
                // it outlives the settings that say what is sensitive
                let file = path.clone();
                let masked = move || mask.rewrite(&OpenOptions::new().read(true).write(true).open(file)?);
                let masked = tokio::task::spawn_blocking(masked).await.map_err(io::Error::other);
                masked.flatten().map_err(|error| StageError::file("write", &path, &error))?;
            }
            let kept = context.store.blobs().adopt_file(path).await?;
            crate::measure::log(stage, kept.size);
            Ok(Some((stage, kept.digest)))
        }
        // an execution that was taken back has written nothing
        Ok(Found::Nothing) => Ok(None),
        Ok(Found::Other(_)) => {
            tracing::warn!(run = %run.id, %stage, "the log is not a regular file any more, and is not kept");
            Ok(None)
        }
        Err(error) => Err(StageError::file("read", &path, &error)),
    }
}
