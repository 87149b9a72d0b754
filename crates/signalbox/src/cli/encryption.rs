//! `signalbox encryption …`.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use seal::Key;
use serde_json::json;
use store::Resealed;

use super::check::loaded;
use super::failure::{Exit, Failure};
use super::output::Output;
use super::{paint, terminal};

/// Prints a new key. It is kept nowhere.
pub(crate) fn key(output: Output) -> Result<(), Failure> {
    let key = Key::generate()
        .map_err(|error| Failure::Local(format!("the operating system gives no randomness: {error}")))?;
    if output.json {
        return output.document(&json!({ "key": key }), false);
    }
    // alone on its line, so that it can be written into a file as it is
    output.print(&format!("{key}\n"))
}

/// Has all that is kept lie as the config file says.
pub(crate) fn rotate(file: &Path, output: Output) -> Result<Exit, Failure> {
    let Some(config) = loaded(file, output) else { return Ok(Exit::Usage) };
    let (data_dir, keys) = (&config.server.data_dir, &config.server.encryption);
    let beside = engine::sealed_files(data_dir).map_err(|error| {
        Failure::Local(format!("can't read {}: {error}", terminal::line(&data_dir.display().to_string())))
    })?;
    let bar = bar(output);
    let progress = |done: &Resealed| bar.set_message(words(done));
    let done = store::reseal(data_dir, keys, &beside, progress);
    bar.finish_and_clear();
    let done = done.map_err(|error| Failure::Local(error.to_string()))?;
    for failed in &done.failed {
        let bad = output.notes.with(paint::BAD, "error:");
        output.note(&format!("{bad} {}", terminal::line(failed)));
    }
    let exit = if done.failed.is_empty() { Exit::Success } else { Exit::Errored };
    let key = keys.writes_with().map(|key| key.to_string());
    if output.json {
        let document = json!({
            "key": key,
            "rewritten": done.rewritten,
            "bytes": done.bytes,
            "unchanged": done.unchanged,
            "failed": done.failed,
        });
        output.document(&document, false)?;
        return Ok(exit);
    }
    let now = key.map_or_else(|| "in clear".to_owned(), |key| format!("encrypted with key {key}"));
    let end = match exit {
        Exit::Success => "no other key is needed".to_owned(),
        _ => format!("{} could not be read: keep the other keys", text::count(done.failed.len(), "file")),
    };
    output.print(&format!("{} is {now}: {}; {end}\n", data_dir.display(), words(&done)))?;
    Ok(exit)
}

fn words(done: &Resealed) -> String {
    let files = |number: u64| text::count(usize::try_from(number).unwrap_or(usize::MAX), "file");
    format!(
        "{} written anew ({}), {} as they were",
        files(done.rewritten),
        text::bytes(done.bytes),
        done.unchanged
    )
}

/// For people who watch, and nobody else.
fn bar(output: Output) -> ProgressBar {
    if output.json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
