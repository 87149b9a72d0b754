//! What the engine counts and measures, by the names under which it is read (docs/years.md, "Seen from outside"). Labels have few
//! values: none of them grows with runs or users.

use std::time::Duration;

use lifecycle::{Stage, State};

const RUNS_ENDED: &str = "signalbox_runs_ended_total";
const STAGE_SECONDS: &str = "signalbox_stage_seconds";
const LOG_BYTES: &str = "signalbox_log_bytes_total";
const ACTOR_RESTARTS: &str = "signalbox_actor_restarts_total";

/// A run came into this state.
pub(crate) fn recorded(state: State) {
    if state.is_final() {
        metrics::counter!(RUNS_ENDED, "state" => state.name()).increment(1);
    }
}

/// A stage, or the fetching before it, ended after so long.
pub(crate) fn stage(name: &'static str, took: Duration) {
    metrics::histogram!(STAGE_SECONDS, "stage" => name).record(took.as_secs_f64());
}

/// The log of a stage that is over has so many bytes.
pub(crate) fn log(stage: Stage, bytes: u64) {
    metrics::counter!(LOG_BYTES, "stage" => stage.as_str()).increment(bytes);
}

/// An actor failed and is started again.
pub(crate) fn restarted(actor: &'static str) {
    metrics::counter!(ACTOR_RESTARTS, "actor" => actor).increment(1);
}
