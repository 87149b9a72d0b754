//! The program's own log, on stderr.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::args::LogFormat;

/// Starts it. `RUST_LOG` says what is in it; without it, `level` and above.
pub(crate) fn init(format: LogFormat, level: LevelFilter) {
    let filter = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // its way of telling that stderr can't be written is to write to stderr, and to panic: a reader that has
        // gone, or a full disk, would end the daemon
        .log_internal_errors(false);
    // a log that is set up already, as by a test, stays
    let _ = match format {
        LogFormat::Text => subscriber.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => subscriber.json().try_init(),
    };
}
