use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lifecycle::id::WorkspaceId;
use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};

use super::STOP_GRACE;
use super::workspace::{Workspace, WorkspaceMessage};
use crate::RunDir;
use crate::context::Context;
use crate::supervise::{Children, Decision, Ended, Exhausted, Policy, jitter};

/// One actor for each workspace of the configuration, and for each that has a run which is not over. That of a removed
/// workspace ends when nothing is left to do in it.
///
/// Also the reconciler: every few seconds it has each non-final run looked at, so that a lost message, a
/// crashed actor or a slot that nobody told about costs seconds and nothing else.
pub(crate) struct Workspaces;

pub(crate) struct WorkspacesState {
    context: Arc<Context>,
    children: Children<WorkspaceId>,
    /// The configuration has changed, and the workspaces are not in line with it yet.
    configuration_due: bool,
}

pub(crate) enum WorkspacesMessage {
    /// Read the configuration again.
    ConfigurationChanged,
    /// Look at every run that is not over.
    Reconcile,
    Restart {
        workspace: WorkspaceId,
        generation: u64,
    },
}

const POLICY: Policy = Policy {
    most: 5,
    window: Duration::from_secs(60),
    first_pause: Duration::from_millis(100),
    longest_pause: Duration::from_secs(30),
    // one workspace that can't be helped must not take the others down
    exhausted: Exhausted::KeepTrying,
};

const RECONCILE_EVERY: Duration = Duration::from_secs(2);

impl Actor for Workspaces {
    type Msg = WorkspacesMessage;
    type State = WorkspacesState;
    type Arguments = Arc<Context>;

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        context: Arc<Context>,
    ) -> Result<WorkspacesState, ActorProcessingErr> {
        context.register_supervisor(myself);
        Ok(WorkspacesState { context, children: Children::new(POLICY), configuration_due: false })
    }

    async fn post_start(
        &self,
        myself: ActorRef<Self::Msg>,
        state: &mut WorkspacesState,
    ) -> Result<(), ActorProcessingErr> {
        state.configuration_due = true;
        reconcile(&myself, state).await;
        tokio::spawn(clean_up_after_final_runs(state.context.clone()));
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: WorkspacesMessage,
        state: &mut WorkspacesState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WorkspacesMessage::ConfigurationChanged => {
                state.configuration_due = true;
                configure(&myself, state).await;
                Ok(())
            }
            WorkspacesMessage::Reconcile => {
                reconcile(&myself, state).await;
                Ok(())
            }
            WorkspacesMessage::Restart { workspace, generation } => {
                if state.children.restart_stands(&workspace, generation) {
                    start(&myself, state, workspace).await;
                }
                Ok(())
            }
        }
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<Self::Msg>,
        event: SupervisionEvent,
        state: &mut WorkspacesState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some(ended) = state.children.ended(&event, Instant::now(), jitter()) {
            // a workspace that came back just as its actor ended gets another one
            state.configuration_due |= ended.decision == Decision::Forget;
            decide(&myself, ended);
        }
        Ok(())
    }

    async fn post_stop(
        &self,
        myself: ActorRef<Self::Msg>,
        _: &mut WorkspacesState,
    ) -> Result<(), ActorProcessingErr> {
        myself.get_cell().stop_children_and_wait(None, Some(STOP_GRACE)).await;
        Ok(())
    }
}

/// Sees that each workspace of the configuration, and no other, has an actor.
async fn configure(myself: &ActorRef<WorkspacesMessage>, state: &mut WorkspacesState) {
    match bring_in_line(&state.context).await {
        Ok(configured) => {
            state.configuration_due = false;
            for workspace in configured {
                ensure(myself, state, workspace).await;
            }
        }
        // what is there works on; the reconciler tries again
        Err(error) => tracing::error!(%error, "the configuration can't be taken over yet; trying again"),
    }
}

/// Brings the workspaces of the store in line with the configuration. Returns those that are configured.
pub(crate) async fn bring_in_line(context: &Context) -> Result<BTreeSet<WorkspaceId>, store::Error> {
    let config = context.config();
    let now = context.now();
    // together, since the store writes what waits together in one transaction
    let ensured = config.workspaces.values().map(async |settings| {
        let workspace = context.store.ensure_workspace(&settings.name, now).await?;
        let access = settings.access.iter().map(|(team, level)| (team.clone(), *level)).collect();
        if workspace.access != access {
            context.store.set_access(workspace.id, access).await?;
        }
        Ok::<_, store::Error>(workspace.id)
    });
    let configured: BTreeSet<WorkspaceId> =
        futures::future::try_join_all(ensured).await?.into_iter().collect();
    for workspace in context.store.workspaces().await? {
        if workspace.removed_at.is_none() && !configured.contains(&workspace.id) {
            tracing::info!(workspace = %workspace.name, "removed from the configuration");
            context.store.mark_removed(workspace.id, now).await?;
            context.hint(workspace.id);
        }
    }
    Ok(configured)
}

async fn reconcile(myself: &ActorRef<WorkspacesMessage>, state: &mut WorkspacesState) {
    if state.configuration_due {
        configure(myself, state).await;
    }
    match state.context.store.busy_workspaces().await {
        Ok(workspaces) => {
            for workspace in workspaces {
                ensure(myself, state, workspace).await;
            }
        }
        Err(error) => tracing::error!(%error, "runs can't be read; trying again"),
    }
    myself.send_after(RECONCILE_EVERY, || WorkspacesMessage::Reconcile);
}

/// Sees that the workspace has an actor, and tells it to look.
async fn ensure(myself: &ActorRef<WorkspacesMessage>, state: &mut WorkspacesState, workspace: WorkspaceId) {
    match state.children.cell(&workspace) {
        Some(cell) => {
            let _ = cell.send_message(WorkspaceMessage::Look);
        }
        None if state.children.contains(&workspace) => {} // about to be restarted
        None => start(myself, state, workspace).await,
    }
}

async fn start(myself: &ActorRef<WorkspacesMessage>, state: &mut WorkspacesState, workspace: WorkspaceId) {
    let arguments = (state.context.clone(), workspace);
    match Workspace::spawn_linked(None, Workspace, arguments, myself.get_cell()).await {
        Ok((actor, _)) => state.children.started(workspace, actor.get_cell()),
        Err(error) => decide(
            myself,
            state.children.spawn_failed(workspace, Instant::now(), jitter(), error.to_string()),
        ),
    }
}

fn decide(myself: &ActorRef<WorkspacesMessage>, ended: Ended<WorkspaceId>) {
    let Ended { key: workspace, decision, generation, reason } = ended;
    if let Decision::Restart { after } = decision {
        tracing::error!(%workspace, %reason, ?after, "workspace actor failed, it is restarted");
        myself.send_after(after, move || WorkspacesMessage::Restart { workspace, generation });
    }
}

/// A daemon that died between a run's end and the cleaning up after it left files with secrets behind.
async fn clean_up_after_final_runs(context: Arc<Context>) {
    let Ok(entries) = std::fs::read_dir(context.data_dir.join("runs")) else { return };
    for entry in entries.flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if RunDir::new(&context.data_dir, id).is_clean() {
            continue;
        }
        let run = match context.store.run(id).await {
            Ok(run) if run.state.is_final() => run,
            _ => continue,
        };
        if let Err(error) = RunDir::clean_up_after(&context.data_dir, run).await {
            tracing::warn!(run = %id, %error, "can't clean up after the run");
        }
    }
}
