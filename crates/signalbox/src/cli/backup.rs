//! `signalbox backup` and `signalbox restore`.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::json;
use store::Store;

use super::check::loaded;
use super::failure::{Exit, Failure};
use super::output::Output;
use super::{paint, terminal};

/// Copies all that is kept into a file, which is there as a whole or not at all.
pub(crate) async fn back_up(file: &Path, config: &Path, output: Output) -> Result<Exit, Failure> {
    let Some(config) = loaded(config, output) else { return Ok(Exit::Usage) };
    if file.exists() {
        return Err(Failure::refused(
            format!("{} exists already, and stays as it is", file.display()),
            "name a file that is not there yet",
        ));
    }
    let cannot = |error: std::io::Error| Failure::Local(format!("can't write {}: {error}", file.display()));
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // beside the file, where there is to be space for all of it
    let scratch =
        tempfile::Builder::new().prefix(".signalbox-backup-").tempdir_in(directory).map_err(cannot)?;
    let part = part(file);
    let into =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part).map_err(cannot)?;
    let release = env!("CARGO_PKG_VERSION");
    let done = store::back_up(&config.server.data_dir, into, scratch.path(), release).await;
    let done = done.inspect_err(|_| drop(fs::remove_file(&part)));
    let done = done.map_err(|error| Failure::Local(error.to_string()))?;
    fs::rename(&part, file).map_err(cannot)?;
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(cannot)?;
    let size = fs::metadata(file).map(|file| file.len()).unwrap_or_default();
    if output.json {
        let shape = json!({ "file": file, "size": size, "files": done.manifest.blobs, "taken_at": done.manifest.taken_at });
        output.document(&shape, false)?;
        return Ok(Exit::Success);
    }
    output.print(&format!(
        "{}: {}, with the database and {} as they were at {}\n",
        terminal::line(&file.display().to_string()),
        text::bytes(size),
        text::count(usize::try_from(done.manifest.blobs).unwrap_or(usize::MAX), "file"),
        super::time::exact(done.manifest.taken_at)
    ))?;
    if config.server.encryption.writes_with().is_none() {
        output.note("states and configurations lie in it in clear: keep it where nobody else can read it");
    }
    output.note("the config file and its keys are no part of it");
    Ok(Exit::Success)
}

fn part(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    file.with_file_name(name)
}

/// Brings a backup back to the place that the config file names, and ends what was under way when it was taken.
pub(crate) async fn restore(file: &Path, config: &Path, output: Output) -> Result<Exit, Failure> {
    let Some(config) = loaded(config, output) else { return Ok(Exit::Usage) };
    let data_dir = &config.server.data_dir;
    let opened = File::open(file).map_err(|error| {
        Failure::usage(format!("can't read {}: {error}", file.display()), "name a backup")
    })?;
    let failed = |error: store::Error| Failure::Local(error.to_string());
    let manifest = {
        let data_dir = data_dir.clone();
        let restored = tokio::task::spawn_blocking(move || store::restore(opened, &data_dir)).await;
        restored.map_err(|error| Failure::Local(error.to_string()))?.map_err(failed)?
    };
    let store = Store::open_with(data_dir, config.server.encryption.clone()).await.map_err(failed)?;
    let ended =
        engine::end_what_was_under_way(&store, manifest.taken_at, Timestamp::now()).await.map_err(failed)?;
    store.close().await;
    if output.json {
        let ended: Vec<_> = ended.iter().map(ToString::to_string).collect();
        let shape = json!({ "data_dir": data_dir, "taken_at": manifest.taken_at, "files": manifest.blobs, "ended_runs": ended });
        output.document(&shape, false)?;
        return Ok(Exit::Success);
    }
    output.print(&format!(
        "{}: restored as it was at {} (release {})\n",
        data_dir.display(),
        super::time::exact(manifest.taken_at),
        terminal::line(&manifest.release)
    ))?;
    let heading = |text: &str| output.notes.with(paint::WAITS, text);
    if !ended.is_empty() {
        output.note(&format!(
            "{} {} under way then, and will not go on: {}",
            heading("note:"),
            if ended.len() == 1 { "1 run was".to_owned() } else { format!("{} runs were", ended.len()) },
            ended.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ));
    }
    output.note(&format!(
        "{} applies since then are not known here: plan each workspace before you confirm anything \
         (`signalbox run start WORKSPACE --plan-only --follow`)",
        heading("note:")
    ));
    Ok(Exit::Success)
}
