//! What the dialect lacks, under `/api/signalbox/v1`: streams over SSE, a plan for who decides about it, and the run
//! as policies see it.

mod changes;
mod log;
mod review;
mod run;
mod sse;
mod tfrun;

use crate::compound::RUN_INCLUDES;
use crate::jsonapi::Parameter;
use crate::operation::{Action, Operation, Visible, get};

const AFTER: [Parameter; 1] = [Parameter::new(
    "after",
    "The place in the journal after which the stream begins, where Last-Event-ID is not given.",
)];

const OFFSET: [Parameter; 1] =
    [Parameter::new("offset", "The first byte of the log that is given, where Last-Event-ID is not given.")];

pub(crate) fn operations() -> Vec<Operation> {
    let all = vec![
        get("/api/signalbox/v1/runs/{run}/logs/{stage}/stream", Action::Read)
            .says("Follows a log: log events, then end.")
            .parameters(&OFFSET)
            .to(log::stream),
        get("/api/signalbox/v1/runs/{run}/events", Action::Read)
            .says("Follows a run: run events, the last is final.")
            .includes(&RUN_INCLUDES)
            .to(run::stream),
        get("/api/signalbox/v1/events", Visible)
            .says("Follows everything that changes: change events.")
            .parameters(&AFTER)
            .to(changes::stream),
        get("/api/signalbox/v1/runs/{run}/review", Action::Read)
            .says("Reads what the plan of a run would do, the gravest first, and without values.")
            .to(review::show),
        get("/api/signalbox/v1/runs/{run}/tfrun", Action::ReadPlanJson)
            .says("Reads a run as policies see it.")
            .to(tfrun::show),
    ];
    all.into_iter().map(|operation| operation.of_group("Extensions")).collect()
}
