//! Logs without a token: the secret is in the path (docs/api.md, "Log URLs").

use axum::http::{HeaderValue, header};
use lifecycle::Stage;

use crate::document::stage;
use crate::jsonapi::{Parameter, Result};
use crate::operation::{Ask, OnLogAddress, Operation, PlainText, Raw, SecretInPath, get};
use crate::{ApiState, log};

const PARAMETERS: [Parameter; 2] = [
    Parameter::new("offset", "The first byte that is given, marks counted."),
    Parameter::new("limit", "The most bytes that are given."),
];

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/logs/{run}/{stage}/{secret}", SecretInPath)
            .says("Reads a log, or a part of it.")
            .parameters(&PARAMETERS)
            .to(read),
    ]
}

async fn read(on: OnLogAddress, ask: Ask) -> Result<Raw<PlainText>> {
    let OnLogAddress { api, run, stage, .. } = on;
    let offset = ask.query.number("offset")?.unwrap_or(0);
    let limit = ask.query.number::<u64>("limit")?.map(|limit| limit.min(log::MAX_LIMIT));
    // the record was read before the file: when it says that the stage is over, the file is complete
    let policies = stage == Stage::PolicyCheck && policies(&api, &run).await?;
    let over = stage::is_over(&run, stage, policies);
    let file = api.engine().open_log(&run, stage).await?;
    let length = file.as_ref().map_or(Ok(0), |log| log.len(over))?;
    let part = log::Framed::new(length, over).part(offset, limit);
    let headers = [
        (header::CONTENT_LENGTH, part.len().into()),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok(Raw::with(log::body(file, part).await?, headers))
}

async fn policies(api: &ApiState, run: &store::Run) -> Result<bool> {
    let workspace = api.store().workspace(run.workspace).await?;
    Ok(api.engine().config().policy_sets_of(&workspace.name).next().is_some())
}
