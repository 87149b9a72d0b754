//! Taking over a changed config file without a restart: on SIGHUP, and when the file changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use config::{Config, Diagnostics, SystemHost};
use engine::Engine;
use notify::{RecursiveMode, Watcher as _};
use store::Digest;
use tokio::signal::unix::Signal;
use tokio::sync::mpsc;

use super::notify_systemd;
use crate::cli::check::check_policy_sets;

/// Editors write a file in several steps: wait until they are done.
const QUIET: Duration = Duration::from_millis(150);
/// But not for ever: something else beside the file may never be quiet.
const PATIENCE: Duration = Duration::from_secs(2);

/// What tells one content of the file from another; `None` if it can't be read.
pub(super) fn fingerprint(file: &Path) -> Option<Digest> {
    std::fs::read(file).ok().map(|content| Digest::of(&content))
}

/// Takes over every change of the file, until the daemon ends. A bad file changes nothing, and is reported.
///
/// `hangup` is made before the daemon says that it is ready, and `last` is of what it has read then, so that nothing
/// is missed in between.
pub(super) async fn follow(file: PathBuf, engine: Engine, mut hangup: Signal, mut last: Option<Digest>) {
    let (changed, mut changes) = mpsc::channel(1);
    let _watcher = watch(&file, changed).inspect_err(|error| {
        tracing::warn!(file = %file.display(), %error, "the config file can't be watched; SIGHUP still reads it again");
    });
    loop {
        let asked = tokio::select! {
            _ = hangup.recv() => true,
            Some(()) = changes.recv() => {
                let settling = async {
                    while let Ok(Some(())) = tokio::time::timeout(QUIET, changes.recv()).await {}
                };
                let _ = tokio::time::timeout(PATIENCE, settling).await;
                false
            }
        };
        let now = fingerprint(&file);
        // a touched file says nothing new; who sends SIGHUP may have changed what the file refers to
        if asked || now != last {
            last = now;
            reload(&file, &engine);
        }
    }
}

fn reload(file: &Path, engine: &Engine) {
    match Config::load(file, &SystemHost) {
        Ok(loaded) => {
            report(&loaded.warnings);
            warn_about_policy_sets(&loaded.config);
            let before = engine.config();
            for setting in needs_restart(&before, &loaded.config) {
                tracing::warn!(
                    "{setting} has changed in the config file: restart the daemon to take it over"
                );
            }
            notify_systemd::reloading();
            if *before == loaded.config {
                tracing::info!(file = %file.display(), "config file read again, nothing has changed");
            } else {
                engine.reconfigure(Arc::new(loaded.config));
                tracing::info!(file = %file.display(), "config file taken over");
            }
            notify_systemd::ready();
        }
        Err(mistakes) => {
            report(&mistakes);
            tracing::error!(
                file = %file.display(),
                mistakes = mistakes.len(),
                "config file has mistakes, nothing was changed: see `signalbox config check`"
            );
        }
    }
}

/// One line for each finding.
pub(super) fn report(findings: &Diagnostics) {
    for finding in findings.iter() {
        match finding.severity {
            config::Severity::Error => tracing::error!("{finding}"),
            config::Severity::Warning => tracing::warn!("{finding}"),
        }
    }
}

/// A set that can't be loaded fails every run that it applies to, which is better known before.
///
/// In a thread of its own: a set may name remote sources, and nothing waits for the server that has them.
pub(super) fn warn_about_policy_sets(config: &Config) {
    let config = config.clone();
    std::thread::spawn(move || {
        let findings = check_policy_sets(&config);
        for finding in findings.broken.iter().chain(&findings.warnings) {
            tracing::warn!("{finding}");
        }
    });
}

/// The settings that are read at start only.
fn needs_restart(before: &Config, after: &Config) -> Vec<&'static str> {
    let (a, b) = (&before.server, &after.server);
    [
        ("server.listen", a.listen != b.listen),
        ("server.metrics_listen", a.metrics_listen != b.metrics_listen),
        ("server.data_dir", a.data_dir != b.data_dir),
        ("server.public_url", a.public_url != b.public_url),
        (
            "server.max_connections_per_address",
            a.max_connections_per_address != b.max_connections_per_address,
        ),
        ("server.encryption_key or server.previous_encryption_keys", a.encryption != b.encryption),
    ]
    .into_iter()
    .filter_map(|(setting, changed)| changed.then_some(setting))
    .collect()
}

/// Watches the directory and not the file, since most editors replace the file; and every name in it, since the
/// file may be a link to what changes. Whether its content has changed is seen by reading it.
fn watch(file: &Path, changed: mpsc::Sender<()>) -> notify::Result<notify::RecommendedWatcher> {
    let directory = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event
            && !event.kind.is_access()
        {
            // one that waits already is as good as two
            let _ = changed.try_send(());
        }
    })?;
    watcher.watch(directory, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
