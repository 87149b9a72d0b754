//! Policy checks and their override (tfe-api.md 5.7).

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use engine::RunAction;
use lifecycle::Stage;
use lifecycle::id::{PolicyCheckId, RunId};
use serde_json::Value;
use store::{Run, Workspace};
use wire::{Included, PolicyCheck, Relationship};

use super::Reader;
use crate::document::{policy_check, stage};
use crate::jsonapi::{ApiError, Comment, Document, Id, Include, Query, Result};
use crate::{ApiState, log};

/// What may come along with a policy check.
const INCLUDES: [&str; 2] = ["run", "run.workspace"];

pub(super) fn router() -> Router<ApiState> {
    Router::new()
        .route("/api/v2/policy-checks/{check}", get(read))
        .route("/api/v2/policy-checks/{check}/output", get(output))
        .route("/api/v2/policy-checks/{check}/actions/override", post(override_))
}

/// The policy check of a run, if it has one.
pub(super) async fn resource(
    reader: &Reader,
    run: &Run,
    workspace: &Workspace,
) -> Result<Option<PolicyCheck>> {
    if !policy_check::exists(run, reader.user.policies(workspace)) {
        return Ok(None);
    }
    let report = report(&reader.api, run).await;
    Ok(Some(policy_check::resource(run, reader.user.access(workspace), report)))
}

/// What the check reported. The outcome and its counts are in the run's record: they stand without it.
async fn report(api: &ApiState, run: &Run) -> Option<Value> {
    let digest = run.policy.as_ref()?.report;
    let read = api.store().blobs().read(digest).await.map_err(|error| error.to_string());
    let report = read.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()));
    report.inspect_err(|error| tracing::error!(run = %run.id, error, "the policy report can't be read")).ok()
}

async fn found(reader: &Reader, check: PolicyCheckId) -> Result<(Run, Workspace, PolicyCheck)> {
    let (run, workspace) = reader.run(check).await?;
    let not_found = || ApiError::not_found(check.described());
    let resource = resource(reader, &run, &workspace).await?.ok_or_else(not_found)?;
    Ok((run, workspace, resource))
}

async fn read(reader: Reader, Id(check): Id<PolicyCheckId>, query: Query) -> Result<Document> {
    let include = query.include(&INCLUDES)?;
    let (run, workspace, check) = found(&reader, check).await?;
    let included = included(&reader, &run, &workspace, &include).await?;
    Ok(Document::one(check).including(included))
}

/// The policy checks of a run, of which there is one at most.
pub(super) async fn of_run(reader: Reader, Id(run): Id<RunId>, query: Query) -> Result<Document> {
    let include = query.include(&INCLUDES)?;
    let (run, workspace) = reader.run(run).await?;
    let page = query.page()?;
    let check = resource(&reader, &run, &workspace).await?;
    let cut = Query::cut(page, check.into_iter().collect());
    let included = match cut.items.is_empty() {
        true => Included::default(),
        false => included(&reader, &run, &workspace, &include).await?,
    };
    Ok(query.paged(page, cut.total, cut.items).including(included))
}

async fn included(reader: &Reader, run: &Run, workspace: &Workspace, include: &Include) -> Result<Included> {
    let mut included = Included::default();
    if !include.reaches("run") {
        return Ok(included);
    }
    let resource = reader.run_resource(run, workspace).await?;
    if include.has("run.workspace") {
        let current = reader.api.store().current_run(workspace.id).await?;
        let mut workspace = reader.workspace_resource(workspace, current.as_ref());
        let run = resource.identifier();
        let links = &mut workspace.relationships;
        for back in [&mut links.current_run, &mut links.locked_by] {
            if back.to_one() == Some(&run) {
                *back = Relationship::default();
            }
        }
        included.add(&workspace);
    }
    included.add(&resource);
    Ok(included)
}

/// The log of the check, without marks; empty until it says something.
async fn output(reader: Reader, Id(check): Id<PolicyCheckId>) -> Result<impl IntoResponse> {
    let (run, ..) = found(&reader, check).await?;
    let file = reader.api.engine().open_log(&run, Stage::PolicyCheck).await?;
    let over = stage::is_over(&run, Stage::PolicyCheck, true);
    let length = file.as_ref().map_or(Ok(0), |log| log.len(over))?;
    let body = log::body(file, log::Part::raw(length)).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], body))
}

async fn override_(reader: Reader, Id(check): Id<PolicyCheckId>, Comment(why): Comment) -> Result<Document> {
    let (run, ..) = found(&reader, check).await?;
    let run = reader.api.engine().act(&reader.user.name, run.id, RunAction::OverridePolicies, why).await?;
    Ok(Document::one(found(&reader, run.id.policy_check()).await?.2))
}
