//! The log of a stage, wherever it is: beside its execution until that is over, and a blob from then on.

use std::fs::File;
use std::io;

use lifecycle::Stage;
use store::{Digest, Run};

use crate::context::Context;
use crate::stage::StageError;
use crate::{Engine, RunDir};

impl Engine {
    /// Opens the log of a stage; `None` if there is none, or none yet. What was opened can be read on whatever
    /// happens to its name: the blob is the same file.
    ///
    /// The log is whole as soon as the record says that the stage is over.
    ///
    /// # Errors
    /// [`store::Error`]: the log or the record can't be read.
    pub async fn open_log(&self, run: &Run, stage: Stage) -> Result<Option<File>, store::Error> {
        let Context { store, data_dir, .. } = &*self.context;
        let blob = async |run: &Run| match run.logs.get(&stage) {
            Some(digest) => Ok(Some(store.blobs().open(*digest).await?.into_std().await)),
            None => Ok(None),
        };
        if let Some(log) = blob(run).await? {
            return Ok(Some(log));
        }
        let path = RunDir::new(data_dir, run.id).log(stage);
        match tokio::fs::File::open(&path).await {
            Ok(log) => Ok(Some(log.into_std().await)),
            // its name may have gone since the record was read
            Err(error) if error.kind() == io::ErrorKind::NotFound => blob(&store.run(run.id).await?).await,
            Err(error) => Err(store::Error::Blob { path, reason: error.to_string() }),
        }
    }
}

/// Makes the log of a stage that is over a blob, which the record of its end has to name. Doing it again changes
/// nothing.
pub(crate) async fn keep(
    context: &Context,
    run: &Run,
    stage: Stage,
) -> Result<Option<(Stage, Digest)>, StageError> {
    let path = RunDir::new(&context.data_dir, run.id).log(stage);
    // an execution that was taken back has written nothing
    match tokio::fs::try_exists(&path).await {
        Ok(false) => Ok(None),
        Ok(true) => Ok(Some((stage, context.store.blobs().adopt_file(path).await?.digest))),
        Err(error) => Err(StageError::file("read", &path, &error)),
    }
}
