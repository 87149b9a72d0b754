//! What systemd is told, where it started the daemon and asks for it (`Type=notify`, `WatchdogSec=`).

use std::time::Duration;

use engine::Engine;
use sd_notify::NotifyState;

/// Nobody may listen, which is fine.
fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(%error, "systemd can't be told");
    }
}

/// Clients are served, and runs go on.
pub(super) fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The config file is taken over.
pub(super) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::debug!(%error, "systemd can't be told"),
    }
}

/// It ends; what runs goes on.
pub(super) fn stopping() {
    tell(&[NotifyState::Stopping]);
}

/// Says again and again that the daemon works, as long as its records can be read, if systemd wants to know.
pub(super) async fn watchdog(engine: Engine) {
    let Some(limit) = sd_notify::watchdog_enabled() else { return };
    // twice in the time that it has
    let pause = (limit / 2).max(Duration::from_millis(100));
    loop {
        match engine.store().busy_workspaces().await {
            Ok(_) => tell(&[NotifyState::Watchdog]),
            Err(error) => {
                tracing::error!(%error, "the records can't be read, so systemd is not told that all is well")
            }
        }
        tokio::time::sleep(pause).await;
    }
}
