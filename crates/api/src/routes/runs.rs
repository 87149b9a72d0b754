//! Runs: create, read, list, act, and what happened to them (tfe-api.md 5.5).

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use engine::RunAction;
use lifecycle::access::Action;
use lifecycle::id::{ConfigurationVersionId, RunEventId, RunId, WorkspaceId};
use serde_json::Value;
use store::{JournalEntry, Run, Workspace};
use wire::{CreateRun, Included, RunAttributes, RunEvent};

use super::run_create::{source, wanted};
use super::{RUN_INCLUDES, Reader, configuration_versions, policy_checks, run_list};
use crate::ApiState;
use crate::document::run_event;
use crate::jsonapi::{ApiError, Comment, Document, Id, Include, Json, Query, Result};

pub(super) fn router() -> Router<ApiState> {
    Router::new()
        .route("/api/v2/runs", post(create))
        .route("/api/v2/runs/{run}", get(read))
        .route("/api/v2/runs/{run}/actions/apply", post(apply))
        .route("/api/v2/runs/{run}/actions/discard", post(discard))
        .route("/api/v2/runs/{run}/actions/cancel", post(cancel))
        .route("/api/v2/runs/{run}/actions/force-cancel", post(force_cancel))
        .route("/api/v2/runs/{run}/actions/force-execute", post(force_execute))
        .route("/api/v2/runs/{run}/run-events", get(events))
        .route("/api/v2/runs/{run}/plan", get(plan))
        .route("/api/v2/runs/{run}/apply", get(apply_of))
        .route("/api/v2/runs/{run}/policy-checks", get(policy_checks::of_run))
        .route("/api/v2/runs/{run}/task-stages", get(task_stages))
        .route("/api/v2/runs/{run}/configuration-version", get(configuration))
        .route("/api/v2/runs/{run}/configuration-version/download", get(download))
        .route("/api/v2/run-events/{event}", get(event))
        .route("/api/v2/workspaces/{workspace}/runs", get(list))
}

async fn create(reader: Reader, headers: HeaderMap, Json(body): Json<Value>) -> Result<Document> {
    let wanted = wanted(CreateRun::read(&body)?)?;
    let workspace = reader.workspace_for(wanted.workspace, Action::QueueRun).await?;
    let version = match wanted.configuration_version {
        Some(id) => Some(configuration_versions::named(&reader.api, id).await?),
        None => None,
    };
    let request = wanted.request(version.as_ref(), source(&headers))?;
    let run = reader.api.engine().queue_run(&reader.user.name, workspace.id, &request).await?;
    let resource = reader.run_resource(&run, &workspace).await?;
    Ok(Document::one(resource).created())
}

async fn read(reader: Reader, Id(id): Id<RunId>, query: Query) -> Result<Document> {
    let include = query.include(&RUN_INCLUDES)?;
    let (run, workspace) = reader.run(id).await?;
    document(&reader, &run, &workspace, &include).await
}

/// The document of a run with what is to come along.
pub(crate) async fn document(
    reader: &Reader,
    run: &Run,
    workspace: &Workspace,
    include: &Include,
) -> Result<Document> {
    let mut included = Included::default();
    reader.include_run(run, workspace, include, "", &mut included).await?;
    Ok(Document::one(reader.run_resource(run, workspace).await?).including(included))
}

async fn list(reader: Reader, Id(workspace): Id<WorkspaceId>, query: Query) -> Result<Document> {
    let workspace = reader.workspace(workspace).await?;
    run_list::of_workspace(&reader, workspace, &query).await
}

async fn act(reader: &Reader, run: RunId, action: RunAction, comment: Option<String>) -> Result<StatusCode> {
    reader.api.engine().act(&reader.user.name, run, action, comment).await?;
    Ok(StatusCode::ACCEPTED)
}

async fn apply(reader: Reader, Id(run): Id<RunId>, Comment(why): Comment) -> Result<StatusCode> {
    act(&reader, run, RunAction::Apply, why).await
}

async fn discard(reader: Reader, Id(run): Id<RunId>, Comment(why): Comment) -> Result<StatusCode> {
    act(&reader, run, RunAction::Discard, why).await
}

async fn cancel(reader: Reader, Id(run): Id<RunId>, Comment(why): Comment) -> Result<StatusCode> {
    act(&reader, run, RunAction::Cancel, why).await
}

async fn force_cancel(reader: Reader, Id(run): Id<RunId>, Comment(why): Comment) -> Result<StatusCode> {
    act(&reader, run, RunAction::ForceCancel, why).await
}

async fn force_execute(reader: Reader, Id(run): Id<RunId>) -> Result<StatusCode> {
    reader.run_for(run, Action::Apply).await?;
    Err(ApiError::not_supported(
        "force-execute is not supported: discard or cancel the runs that are ahead of this one",
    ))
}

async fn events(reader: Reader, Id(run): Id<RunId>, query: Query) -> Result<Document> {
    let include = query.include(&["actor", "comment"])?;
    reader.run(run).await?;
    let entries = reader.api.store().journal(run).await?;
    Ok(event_document(Document::all, &entries, &include))
}

async fn event(reader: Reader, Id(id): Id<RunEventId>, query: Query) -> Result<Document> {
    let include = query.include(&["actor", "comment"])?;
    let entry = reader.run_event(id).await?;
    let one = |mut resources: Vec<RunEvent>| Document::one(resources.remove(0));
    Ok(event_document(one, &[entry], &include))
}

fn event_document(
    document: impl FnOnce(Vec<RunEvent>) -> Document,
    entries: &[JournalEntry],
    include: &Include,
) -> Document {
    let mut included = Included::default();
    for entry in entries {
        run_event::actor(entry).iter().filter(|_| include.has("actor")).for_each(|it| included.add(it));
        run_event::comment(entry).iter().filter(|_| include.has("comment")).for_each(|it| included.add(it));
    }
    document(entries.iter().map(run_event::resource).collect()).including(included)
}

async fn plan(reader: Reader, Id(run): Id<RunId>) -> Result<Document> {
    let (run, _) = reader.run(run).await?;
    Ok(Document::one(reader.plan_resource(&run)))
}

async fn apply_of(reader: Reader, Id(run): Id<RunId>) -> Result<Document> {
    let (run, _) = reader.run(run).await?;
    Ok(Document::one(reader.apply_resource(&run).await?))
}

/// There are no run tasks, and clients ask.
async fn task_stages(reader: Reader, Id(run): Id<RunId>, query: Query) -> Result<Document> {
    reader.run(run).await?;
    Ok(query.paged::<RunAttributes>(query.page()?, 0, vec![]))
}

/// What the run took; nothing before its plan has it.
fn configuration_of(run: &Run) -> Result<ConfigurationVersionId> {
    run.configuration_version
        .ok_or_else(|| ApiError::not_found(format_args!("a configuration version of {}", run.id)))
}

async fn configuration(reader: Reader, Id(run): Id<RunId>, query: Query) -> Result<Document> {
    let (run, _) = reader.run(run).await?;
    configuration_versions::document(&reader, configuration_of(&run)?, &query).await
}

async fn download(reader: Reader, Id(run): Id<RunId>) -> Result<Response> {
    let (run, _) = reader.run(run).await?;
    Ok(configuration_versions::content(&reader, configuration_of(&run)?).await?.into_response())
}
