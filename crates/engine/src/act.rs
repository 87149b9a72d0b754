//! What people do: queue runs, confirm, discard, cancel and override them, lock workspaces.
//!
//! Each is recorded here, in the caller's task. The actors hear of it as of every change ([`store::Records::changes`]), and
//! do the rest. So what was acknowledged is in the store, whatever happens to an actor.

use jiff::SignedDuration;
use lifecycle::access::Action;
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::{Event, Facts, WorkspaceRights, step};
use store::{Actor, Lock, LockError, NewRun, RecordError, Run, RunUpdate, Settings, Source, Workspace};

use crate::request::check_text;
use crate::{Engine, Refusal, RunDir, RunRequest, settings};

/// What a person does to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunAction {
    /// Confirm the plan.
    Apply,
    /// Decline the plan.
    Discard,
    /// Stop the run: one interrupt, and the grace period.
    Cancel,
    /// Kill the run's processes.
    ForceCancel,
    /// Override the failed soft-mandatory policies.
    OverridePolicies,
}

impl RunAction {
    const fn event(self) -> Event {
        match self {
            Self::Apply => Event::Confirm,
            Self::Discard => Event::Discard,
            Self::Cancel => Event::Cancel,
            // whether it is too early is seen in the run's record when that is written
            Self::ForceCancel => Event::ForceCancel { cool_off_over: false },
            Self::OverridePolicies => Event::Override,
        }
    }
}

impl Engine {
    /// What the user may do in the workspace.
    pub fn access(&self, user: &str, workspace: &Workspace) -> WorkspaceRights {
        self.context.access(user, workspace)
    }

    /// The workspace, if the user may do this in it.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if there is none that they may see, [`Refusal::NotAuthorized`] if they may not do this.
    pub async fn workspace_for(
        &self,
        user: &str,
        id: WorkspaceId,
        action: Action,
    ) -> Result<Workspace, Refusal> {
        let not_found = || Refusal::not_found(id.described());
        let workspace = self.context.store.workspace(id).await.map_err(unless_absent(not_found))?;
        self.authorize(user, &workspace, action, not_found)?;
        Ok(workspace)
    }

    /// The run and its workspace, if the user may do this there.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if there is none that they may see, [`Refusal::NotAuthorized`] if they may not do this.
    pub async fn run_for(&self, user: &str, id: RunId, action: Action) -> Result<(Run, Workspace), Refusal> {
        let not_found = || Refusal::not_found(id.described());
        let store = &self.context.store;
        let run = match store.run(id).await {
            // the way out for a person whose run nobody can read any more
            Err(store::Error::Damaged { .. }) if action == Action::ForceCancel => {
                let workspace = store.workspace(store.workspace_of_run(id).await?).await?;
                self.authorize(user, &workspace, action, not_found)?;
                store.mend_run(id, self.context.now()).await?;
                store.run(id).await?
            }
            found => found.map_err(unless_absent(not_found))?,
        };
        let workspace = store.workspace(run.workspace).await?;
        self.authorize_on(user, &run, &workspace, action)?;
        Ok((run, workspace))
    }

    /// The same for what is done to a run.
    fn authorize_on(
        &self,
        user: &str,
        run: &Run,
        workspace: &Workspace,
        action: Action,
    ) -> Result<(), Refusal> {
        let access = self.access(user, workspace).on_run(run.created_by == user, run.state);
        allowed(access, workspace, action, || Refusal::not_found(run.id.described()))
    }

    fn authorize(
        &self,
        user: &str,
        workspace: &Workspace,
        action: Action,
        not_found: impl Fn() -> Refusal,
    ) -> Result<(), Refusal> {
        allowed(self.access(user, workspace), workspace, action, not_found)
    }

    /// The run as policies see it: what `tfrun` and `input.run` are made of.
    ///
    /// # Errors
    /// [`Refusal`] if the store can't be read.
    pub async fn run_document(&self, run: &Run, workspace: &Workspace) -> Result<serde_json::Value, Refusal> {
        Ok(crate::stage::run_document(&self.context, run, workspace).await?)
    }

    /// Queues a run.
    ///
    /// # Errors
    /// [`Refusal`]: no such workspace, no right, or a request that contradicts itself.
    pub async fn queue_run(
        &self,
        user: &str,
        workspace: WorkspaceId,
        request: &RunRequest,
    ) -> Result<Run, Refusal> {
        let workspace = self.workspace_for(user, workspace, Action::QueueRun).await?;
        let settings = self
            .context
            .settings(&workspace)
            .await?
            .ok_or_else(|| Refusal::not_found(format_args!("workspace {}", workspace.name)))?;
        request.validate()?;
        let new = NewRun {
            id: RunId::generate(),
            workspace: workspace.id,
            facts: facts(request, &settings, self.access(user, &workspace)),
            options: request.options.clone(),
            source: request.source.clone(),
            created_by: user.to_owned(),
            created_at: self.context.now(),
            configuration_version: request.configuration_version,
        };
        let run = self.create_run(new, settings).await.map_err(|error| match error {
            store::Error::WorkspaceRemoved(_) => {
                Refusal::not_found(format_args!("workspace {}", workspace.name))
            }
            store::Error::Refused(reason) => Refusal::Conflict(reason),
            other => Refusal::Failed(other),
        })?;
        tracing::info!(run = %run.id, workspace = %workspace.name, by = user, "queued");
        Ok(run)
    }

    /// Records the run with what it is made with.
    async fn create_run(&self, new: NewRun, settings: Settings) -> Result<Run, store::Error> {
        let run_dir = RunDir::new(&self.context.data_dir, new.id);
        // there before the run is, since its turn may come at once
        settings::write(self.context.store.blobs(), run_dir.clone(), settings).await?;
        let (durable, run) =
            tokio::join!(settings::make_durable(run_dir.clone()), self.context.store.create_run(new));
        if run.is_err() {
            settings::discard(run_dir).await;
        } else if let Err(error) = durable {
            // a power cut in the next seconds could take them, and the run would say so
            tracing::warn!(%error, "the settings of a new run can't be made durable");
        }
        run
    }

    /// Does something to a run, and says how it is then. `comment` goes into the journal.
    ///
    /// # Errors
    /// [`Refusal`]: no such run, no right, or not legal now; nothing is changed then.
    pub async fn act(
        &self,
        user: &str,
        run: RunId,
        action: RunAction,
        comment: Option<String>,
    ) -> Result<Run, Refusal> {
        check_text("/comment", comment.as_deref().unwrap_or_default())?;
        let event = action.event();
        let of_damaged = (action == RunAction::ForceCancel).then_some(Action::ForceCancel);
        let (current, workspace) = self.run_for(user, run, of_damaged.unwrap_or(Action::Read)).await?;
        // nobody has to wait for the end of what nobody can read
        let event = match current.damaged {
            Some(_) if of_damaged.is_some() && step(current.state, current.facts, event).is_err() => {
                Event::Cancel
            }
            _ => event,
        };
        if let Some(needed) = Action::of(event) {
            self.authorize_on(user, &current, &workspace, needed)?;
        }
        let force_cancel_from = (action == RunAction::Cancel).then(|| self.force_cancel_from());
        let update = RunUpdate { force_cancel_from, ..RunUpdate::default() };
        match self.context.record(&current, event, Actor::User(user.to_owned()), comment, update).await {
            Ok(run) => Ok(run),
            // it could not be read before, and has come to its end by itself since it can
            Err(RecordError::Illegal(illegal)) if current.damaged.is_some() && illegal.state.is_final() => {
                Ok(self.context.store.run(run).await?)
            }
            Err(RecordError::Illegal(illegal)) => Err(illegal.into()),
            Err(error @ RecordError::NotItsTurn(_)) => Err(Refusal::Conflict(error.to_string())),
            Err(RecordError::Store(error)) => Err(error.into()),
        }
    }

    /// From when on a run that is cancelled now may be force-cancelled.
    fn force_cancel_from(&self) -> jiff::Timestamp {
        let cool_off = SignedDuration::try_from(self.context.config().server.force_cancel_after);
        cool_off
            .ok()
            .and_then(|cool_off| self.context.now().checked_add(cool_off).ok())
            .unwrap_or(jiff::Timestamp::MAX)
    }

    /// Locks the workspace for the user: its runs stay pending until it is unlocked.
    ///
    /// # Errors
    /// [`Refusal`]: no such workspace, no right, locked already, or held by a run.
    pub async fn lock_workspace(
        &self,
        user: &str,
        workspace: WorkspaceId,
        reason: String,
    ) -> Result<Workspace, Refusal> {
        self.workspace_for(user, workspace, Action::Lock).await?;
        check_text("/reason", &reason)?;
        let lock = Lock { by: user.to_owned(), reason, at: self.context.now() };
        self.context.store.lock_workspace(workspace, lock).await.map_err(|error| match error {
            LockError::Locked(held) if held.by == user => {
                let held = LockError::Locked(held);
                Refusal::Conflict(format!("{held}, which is you: it stays locked until you unlock it"))
            }
            other => lock_refusal(other),
        })
    }

    /// Releases the user's own lock, or that of the daemon: who may lock a workspace may say that it is in order again.
    ///
    /// # Errors
    /// [`Refusal`]: no such workspace, no right, not locked, or locked by another.
    pub async fn unlock_workspace(&self, user: &str, workspace: WorkspaceId) -> Result<Workspace, Refusal> {
        let current = self.workspace_for(user, workspace, Action::Lock).await?;
        let of_daemon = current.lock.is_some_and(|lock| lock.by == Lock::DAEMON);
        let whose = if of_daemon { Lock::DAEMON } else { user };
        let now = self.context.now();
        self.context.store.unlock_workspace(workspace, whose, now).await.map_err(lock_refusal)
    }

    /// Releases anybody's lock.
    ///
    /// # Errors
    /// [`Refusal`]: no such workspace, no right, or not locked.
    pub async fn force_unlock_workspace(
        &self,
        user: &str,
        workspace: WorkspaceId,
    ) -> Result<Workspace, Refusal> {
        self.workspace_for(user, workspace, Action::ForceUnlock).await?;
        let now = self.context.now();
        self.context.store.force_unlock_workspace(workspace, now).await.map_err(lock_refusal)
    }
}

/// Whoever may see the workspace is told that it takes more; for everybody else there is nothing.
fn allowed(
    access: WorkspaceRights,
    workspace: &Workspace,
    action: Action,
    not_found: impl Fn() -> Refusal,
) -> Result<(), Refusal> {
    if access.allows(action) {
        Ok(())
    } else if access.allows(Action::Read) {
        Err(Refusal::NotAuthorized { workspace: workspace.name.clone(), needs: action.needs() })
    } else {
        Err(not_found())
    }
}

/// What is absent is refused in our own words; everything else is a failure.
fn unless_absent(not_found: impl Fn() -> Refusal) -> impl Fn(store::Error) -> Refusal {
    move |error| match error {
        store::Error::NotFound(_) => not_found(),
        other => Refusal::Failed(other),
    }
}

pub(crate) fn lock_refusal(error: LockError) -> Refusal {
    match error {
        LockError::Store(error) => Refusal::Failed(error),
        other => Refusal::Conflict(other.to_string()),
    }
}

/// What is fixed about a run when it is queued.
fn facts(request: &RunRequest, settings: &Settings, rights: WorkspaceRights) -> Facts {
    Facts {
        plan_only: request.plan_only,
        destroy: request.destroy,
        auto_apply: request.auto_apply.unwrap_or(settings.auto_apply) && !request.plan_only,
        auto_apply_asked: request.auto_apply == Some(true),
        queued_with_apply_right: rights.allows(Action::Apply),
        allow_empty_apply: request.allow_empty_apply,
        fetches: request.configuration_version.is_none()
            && matches!(settings.source, Some(Source::Git { .. })),
    }
}
