//! `signalbox serve`.

use std::path::Path;
use std::process::ExitCode;

use config::{Config, Loaded, SystemHost};
use tokio::signal::unix::{SignalKind, signal};

use super::environment::warn_about_surroundings;
use super::{Daemon, metrics, notify_systemd, reload};
use crate::cli::credentials;

/// Exit status of a daemon that could not start: bad configuration, a port or a data directory in use.
const CAN_NOT_START: u8 = 2;

/// Runs the daemon until SIGINT or SIGTERM. `colour`: for mistakes in the config file.
///
/// # Errors
/// What nobody could foresee; a configuration or an environment that is not right is an exit status.
pub(crate) async fn run(file: &Path, colour: bool) -> anyhow::Result<ExitCode> {
    let hangup = signal(SignalKind::hangup())?;
    let read = reload::fingerprint(file);
    let Loaded { config, warnings } = match Config::load(file, &SystemHost) {
        Ok(loaded) => loaded,
        Err(mistakes) => {
            eprint!("{}", mistakes.render(colour));
            return Ok(ExitCode::from(CAN_NOT_START));
        }
    };
    reload::report(&warnings);
    // they have the text of the file
    drop(warnings);
    reload::warn_about_policy_sets(&config);
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let workspaces = config.workspaces.len();
    let data_dir = config.server.data_dir.clone();
    // the tokens of whoever runs it too: with one, the code of a run could confirm the run
    let hidden = std::iter::once(file.to_owned()).chain(credentials::path()).collect();
    let metrics_listen = config.server.metrics_listen;
    // before anything that is measured
    let measured = match metrics_listen.map(|_| metrics::install()).transpose() {
        Ok(measured) => measured,
        Err(error) => {
            eprintln!("error: nothing can be measured: {error}");
            return Ok(ExitCode::from(CAN_NOT_START));
        }
    };
    let mut daemon = match Daemon::start(config, hidden).await {
        Ok(daemon) => daemon,
        Err(error) => {
            eprintln!("error: {error}");
            return Ok(ExitCode::from(CAN_NOT_START));
        }
    };
    if let (Some(address), Some(handle)) = (metrics_listen, measured) {
        match daemon.serve_metrics(address, handle).await {
            Ok(address) => tracing::info!(%address, "metrics are served"),
            Err(error) => {
                eprintln!("error: {error}");
                daemon.stop().await;
                return Ok(ExitCode::from(CAN_NOT_START));
            }
        }
    }
    tracing::info!(
        address = %daemon.address(),
        data_dir = %data_dir.display(),
        workspaces,
        "signalbox {} is ready",
        env!("CARGO_PKG_VERSION"),
    );
    let reloading = tokio::spawn(reload::follow(file.to_owned(), daemon.engine().clone(), hangup, read));
    notify_systemd::ready();
    let watched = tokio::spawn(notify_systemd::watchdog(daemon.engine().clone()));
    warn_about_surroundings().await;
    let failure = tokio::select! {
        _ = interrupt.recv() => None,
        _ = terminate.recv() => None,
        failure = daemon.failed() => Some(failure),
    };
    reloading.abort();
    watched.abort();
    notify_systemd::stopping();
    match failure {
        None => {
            tracing::info!("stopping; runs that are under way go on, and the next start finds them");
            daemon.stop().await;
            Ok(ExitCode::SUCCESS)
        }
        Some(failure) => {
            tracing::error!("{failure}");
            Ok(ExitCode::FAILURE)
        }
    }
}
