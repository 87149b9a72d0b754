//! Runs, their parts, and what happened to them.

use std::marker::PhantomData;

use jiff::Timestamp;
use lifecycle::Stage;
use lifecycle::id::{self, Id, Kind, RunEventId, RunId};
use store::{JournalEntry, Run, Workspace};

use super::super::right::{Action, SecretInPath};
use super::{Names, Scope, Variable, id_variable, variable};
use crate::ApiState;
use crate::jsonapi::{ApiError, Result, Secret, Subject};
use crate::reader::Reader;

/// A run with its workspace. A plan, an apply and a policy check are parts of their run, and name it.
pub(crate) struct OnRun<K = id::Run> {
    pub(crate) reader: Reader,
    pub(crate) run: Run,
    pub(crate) workspace: Workspace,
    by: PhantomData<fn() -> K>,
}

impl<K: Kind + 'static> Scope for OnRun<K> {
    type Right = Action;
    const NAME: &'static str = K::NAME;

    fn variables() -> Vec<Variable> {
        vec![id_variable::<Id<K>>()]
    }

    async fn resolve(reader: Reader, mut names: Names, right: Action) -> Result<Self> {
        let (run, workspace) = reader.run_for(names.id::<Id<K>>()?, right).await?;
        Ok(Self { reader, run, workspace, by: PhantomData })
    }
}

/// A stage of a run.
pub(crate) struct OnStage {
    pub(crate) reader: Reader,
    pub(crate) run: RunId,
    pub(crate) stage: Stage,
    _checked: (),
}

fn stage_variable() -> Variable {
    variable("stage", "plan, policy-check or apply.")
}

/// A stage that has a log, by its name in paths.
pub(crate) fn stage_of(name: &str) -> Option<Stage> {
    Stage::EXECUTED.into_iter().find(|stage| stage.as_str() == name)
}

impl Scope for OnStage {
    type Right = Action;
    const NAME: &'static str = "stage of run";

    fn variables() -> Vec<Variable> {
        vec![id_variable::<RunId>(), stage_variable()]
    }

    async fn resolve(reader: Reader, mut names: Names, right: Action) -> Result<Self> {
        let run = names.id()?;
        let stage = names.name()?;
        let stage = stage_of(&stage).ok_or_else(|| ApiError::not_found(format_args!("stage {stage:.64}")))?;
        reader.run_for(run, right).await?;
        Ok(Self { reader, run, stage, _checked: () })
    }
}

/// An entry of a run's journal.
pub(crate) struct OnRunEvent {
    pub(crate) entry: JournalEntry,
    _checked: (),
}

impl Scope for OnRunEvent {
    type Right = Action;
    const NAME: &'static str = "run event";

    fn variables() -> Vec<Variable> {
        vec![id_variable::<RunEventId>()]
    }

    async fn resolve(reader: Reader, mut names: Names, right: Action) -> Result<Self> {
        Ok(Self { entry: reader.run_event(names.id()?, right).await?, _checked: () })
    }
}

/// The log of a stage, by an address that carries its own permission.
pub(crate) struct OnLogAddress {
    pub(crate) api: ApiState,
    pub(crate) run: Run,
    pub(crate) stage: Stage,
    _checked: (),
}

impl Scope for OnLogAddress {
    type Right = SecretInPath;
    const NAME: &'static str = "log";

    fn variables() -> Vec<Variable> {
        let secret =
            variable("secret", "A part of the address, which is given out with the plan or the apply.");
        vec![id_variable::<RunId>(), stage_variable(), secret]
    }

    async fn resolve(api: ApiState, mut names: Names, _: SecretInPath) -> Result<Self> {
        let not_found = || ApiError::not_found("log");
        let run: RunId = names.name()?.parse().map_err(|_| not_found())?;
        let stage = stage_of(&names.name()?).ok_or_else(not_found)?;
        match api.address_key().check(Subject::Log(run, stage), &names.name()?, Timestamp::now()) {
            Secret::Good => Ok(Self { run: api.store().run(run).await?, api, stage, _checked: () }),
            Secret::Expired => Err(ApiError::expired()),
            Secret::Wrong => Err(not_found()),
        }
    }
}
