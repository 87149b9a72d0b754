//! Runs: create, read, list, act, and what happened to them.

use engine::RunAction;
use store::JournalEntry;
use wire::{Comment, CreateRun, Document, Included, Many, One, RunAttributes, RunEventAttributes};

use super::run_create::{source, wanted};
use super::{configuration_versions, run_list};
use crate::compound::RUN_INCLUDES;
use crate::document::run_event;
use crate::jsonapi::{ApiError, Include, Result};
use crate::operation::{
    Accepted, Action, Ask, Created, OnNamedWorkspace, OnRun, OnRunEvent, Operation, Page, Refused, get, post,
};

const EVENT_INCLUDES: [&str; 2] = ["actor", "comment"];

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/api/v2/runs", Action::QueueRun).says("Queues a run.").conflicts().to(create),
        get("/api/v2/runs/{run}", Action::Read).says("Reads a run.").includes(&RUN_INCLUDES).to(read),
        get("/api/v2/workspaces/{workspace}/runs", Action::Read)
            .says("Lists the runs of a workspace.")
            .includes(&RUN_INCLUDES)
            .parameters(&run_list::PARAMETERS)
            .to(run_list::of_workspace),
        post("/api/v2/runs/{run}/actions/apply", Action::Apply)
            .says("Confirms the plan of a run.")
            .conflicts()
            .to(|on, ask| act(on, ask, RunAction::Apply)),
        post("/api/v2/runs/{run}/actions/discard", Action::Discard)
            .says("Declines a run.")
            .conflicts()
            .to(|on, ask| act(on, ask, RunAction::Discard)),
        post("/api/v2/runs/{run}/actions/cancel", Action::Cancel)
            .says("Stops a run: one interrupt, and time to end.")
            .conflicts()
            .to(|on, ask| act(on, ask, RunAction::Cancel)),
        post("/api/v2/runs/{run}/actions/force-cancel", Action::ForceCancel)
            .says("Kills a run that was cancelled.")
            .conflicts()
            .to(|on, ask| act(on, ask, RunAction::ForceCancel)),
        post("/api/v2/runs/{run}/actions/force-execute", Action::Apply)
            .says("Refused: no run goes ahead of others.")
            .to(force_execute),
        get("/api/v2/runs/{run}/run-events", Action::Read)
            .says("Lists what happened to a run.")
            .includes(&EVENT_INCLUDES)
            .to(events),
        get("/api/v2/run-events/{run_event}", Action::Read)
            .says("Reads something that happened to a run.")
            .includes(&EVENT_INCLUDES)
            .to(event),
        get("/api/v2/runs/{run}/task-stages", Action::Read)
            .says("Lists the run tasks of a run, of which there are none.")
            .to(task_stages),
    ]
}

async fn create(on: OnNamedWorkspace, ask: Ask<CreateRun>) -> Result<Created<One<RunAttributes>>> {
    let wanted = wanted(ask.body)?;
    let workspace = on.workspace(wanted.workspace).await?;
    let reader = &on.reader;
    let version = match wanted.configuration_version {
        Some(id) => Some(configuration_versions::named(&reader.api, id, workspace.id).await?),
        None => None,
    };
    let request = wanted.request(version.as_ref(), source(&ask.headers))?;
    let run = reader.api.engine().queue_run(&reader.user.name, workspace.id, &request).await?;
    Ok(Created(reader.run_document(&run, &workspace, &ask.include).await?))
}

async fn read(on: OnRun, ask: Ask) -> Result<One<RunAttributes>> {
    on.reader.run_document(&on.run, &on.workspace, &ask.include).await
}

/// The engine checks the right again, in the call that acts.
async fn act(on: OnRun, ask: Ask<Comment>, action: RunAction) -> Result<Accepted> {
    let (engine, user) = (on.reader.api.engine(), &on.reader.user.name);
    engine.act(user, on.run.id, action, ask.body.comment).await?;
    Ok(Accepted)
}

async fn force_execute(_: OnRun, _: Ask) -> Result<Refused> {
    Err(ApiError::not_supported(
        "force-execute is not supported: discard or cancel the runs that are ahead of this one",
    ))
}

async fn events(on: OnRun, ask: Ask) -> Result<Many<RunEventAttributes>> {
    let entries = on.reader.api.store().journal(on.run.id).await?;
    let resources: Vec<_> = entries.iter().map(run_event::resource).collect();
    Ok(Document::from(resources).including(event_included(&entries, &ask.include)))
}

async fn event(on: OnRunEvent, ask: Ask) -> Result<One<RunEventAttributes>> {
    let entries = [on.entry];
    let resource = run_event::resource(&entries[0]);
    Ok(Document::from(resource).including(event_included(&entries, &ask.include)))
}

fn event_included(entries: &[JournalEntry], include: &Include) -> Included {
    let mut included = Included::default();
    for entry in entries {
        run_event::actor(entry).iter().filter(|_| include.has("actor")).for_each(|it| included.add(it));
        run_event::comment(entry).iter().filter(|_| include.has("comment")).for_each(|it| included.add(it));
    }
    included
}

/// Clients ask.
async fn task_stages(_: OnRun, ask: Ask) -> Result<Page<RunAttributes>> {
    Ok(ask.paged(0, vec![]))
}
