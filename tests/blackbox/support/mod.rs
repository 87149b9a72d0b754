//! What the black-box tests stand on: a world with a config file, sources, a daemon and clients.

mod daemon;
mod gate;
pub mod processes;
mod terminal;
pub mod terraform;
mod world;

use std::time::{Duration, Instant};

pub use daemon::{Daemon, binary, command};
pub use gate::Gate;
pub use terminal::Terminal;
pub use world::{Setup, World, auto_apply, token};

/// How long anything may take. Generous: a test that fails waits for it, one that passes does not.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the condition gives something. Level-triggered: what has happened already counts.
pub async fn wait_for<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(started.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
