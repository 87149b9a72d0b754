//! The stages of a run as executions: what each is asked to do, and what its end means.
//!
//! For each stage there is a `prepare`, which writes what the stage needs and gives the spec of its steps, and
//! a `conclude`, which turns the end of its execution into the event for [`lifecycle::step`](fn@lifecycle::step).
//! Both may be repeated: a daemon can die anywhere in between.

mod apply;
mod confinement;
mod diagnostic;
mod environment;
mod plan;
mod policy_check;
mod stage_settings;

pub(crate) use policy_check::run_document;
pub use policy_check::set_settings;

use std::path::PathBuf;

use executor::{ExecutionResult, Lost, Outcome, Salvaged, Spec};
use lifecycle::queue::Fetch;
use lifecycle::slots::Pool;
use lifecycle::{Event, Stage};
use store::{Run, RunUpdate, Workspace};

use crate::RunDir;
use crate::context::Context;
use crate::run_files::StageError;

/// What is executed for a run: a stage, or a part of its plan that comes before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    /// Fetching the configuration, which has slots of its own. Its log is the beginning of the plan's.
    Fetch,
    /// The stage, or the rest of it.
    Stage(Stage),
}

impl Job {
    /// What comes next in this stage of the run.
    pub(crate) fn of(run: &Run, stage: Stage) -> Self {
        match (stage, run.entry().fetch) {
            (Stage::Plan, Fetch::Due) => Self::Fetch,
            _ => Self::Stage(stage),
        }
    }

    /// In one word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Stage(stage) => stage.as_str(),
        }
    }

    /// Its execution directory.
    pub(crate) fn directory(self, run_dir: &RunDir) -> PathBuf {
        match self {
            Self::Fetch => run_dir.fetch(),
            Self::Stage(stage) => run_dir.execution(stage),
        }
    }

    /// The slot without which it is not launched. Others have theirs before their state says that they execute.
    pub(crate) fn needs(self, run: &Run) -> Option<Pool> {
        match (self, run.entry().fetch) {
            (Self::Stage(Stage::PolicyCheck), _) => Some(Pool::PolicyCheck),
            (Self::Stage(Stage::Plan), Fetch::Done) => Some(Pool::Terraform),
            _ => None,
        }
    }
}

/// How an execution ended, as it was observed. Nothing that it started is alive.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Its executor wrote a result.
    Finished(Box<ExecutionResult>),
    /// Its executor died without one.
    Lost(Lost),
    /// Nothing can be said of it, for this reason.
    Unknown(String),
}

impl Ended {
    /// What a person has to know about its end: why it failed, unless they wanted that.
    fn reason(&self, run: &Run) -> Option<String> {
        match self {
            Self::Finished(result)
                if result.outcome == Outcome::Interrupted && run.cancel.is_some() && !result.killed =>
            {
                None
            }
            _ => self.failure(),
        }
    }

    /// The same in words for a person who does not read the log: with terraform's own, where a step of it failed.
    async fn explained(&self, context: &Context, run: &Run) -> Option<String> {
        let why = self.reason(run)?;
        Some(match self {
            Self::Finished(result) if matches!(result.outcome, Outcome::Failed { .. }) => {
                diagnostic::explained(context, run, run.state.stage(), why).await
            }
            _ => why,
        })
    }

    /// Whether it was taken back before its first step.
    pub(crate) fn never_ran(&self) -> bool {
        matches!(self, Self::Finished(result) if result.steps.is_empty())
    }

    /// The files that may hold a state, as they were when nothing was alive any more. Empty if nothing ever ran.
    fn salvaged(&self) -> &[Salvaged] {
        match self {
            Self::Finished(result) => &result.salvaged,
            Self::Lost(lost) => &lost.salvaged,
            Self::Unknown(_) => &[],
        }
    }

    /// Why it did not succeed, in words; `None` if it did.
    pub(crate) fn failure(&self) -> Option<String> {
        match self {
            Self::Finished(result) => match &result.outcome {
                Outcome::Succeeded => None,
                Outcome::Failed { why, .. } => Some(why.clone()),
                Outcome::Interrupted if result.killed => Some("its processes were killed".to_owned()),
                Outcome::Interrupted => Some("it was interrupted".to_owned()),
            },
            Self::Lost(lost) => Some(lost.reason.clone()),
            Self::Unknown(why) => Some(format!("it is not known how it ended: {why}")),
        }
    }
}

/// What the end of a stage means for the run.
#[derive(Debug)]
pub(crate) struct Conclusion {
    pub(crate) event: Event,
    pub(crate) why: Option<String>,
    pub(crate) update: RunUpdate,
}

/// Writes what the stage needs, and says what is to be executed.
pub(crate) async fn prepare(
    context: &Context,
    run: &Run,
    workspace: &Workspace,
    job: Job,
) -> Result<Spec, StageError> {
    match job {
        Job::Fetch => plan::prepare_fetch(context, run, workspace).await,
        Job::Stage(Stage::Plan) => plan::prepare(context, run, workspace).await,
        Job::Stage(Stage::PolicyCheck) => policy_check::prepare(context, run, workspace).await,
        Job::Stage(Stage::Apply) => apply::prepare(context, run),
        Job::Stage(Stage::Pending) => {
            Err(StageError::Impossible("a pending run executes nothing".to_owned()))
        }
    }
}

/// Takes what the stage left behind, and says what its end means.
///
/// # Errors
/// When that can't be done now: it has to be tried again.
pub(crate) async fn conclude(
    context: &Context,
    run: &Run,
    job: Job,
    ended: &Ended,
) -> Result<Conclusion, StageError> {
    let concluded = match job {
        Job::Fetch => plan::conclude_fetch(context, run, ended).await,
        Job::Stage(Stage::Plan) => plan::conclude(context, run, ended).await,
        Job::Stage(Stage::PolicyCheck) => policy_check::conclude(context, run, ended).await,
        // it is over only when what it left was looked for
        Job::Stage(Stage::Apply) => match apply::conclude(context, run, ended).await {
            Err(StageError::Impossible(why)) => return apply::give_up(context, run, ended, &why).await,
            other => other,
        },
        Job::Stage(Stage::Pending) => {
            Err(StageError::Impossible("a pending run executes nothing".to_owned()))
        }
    };
    match concluded {
        Err(StageError::Impossible(why)) => Ok(failed(run.state.stage(), why)),
        other => other,
    }
}

/// The conclusion for a stage that could not even be prepared, or that is given up.
pub(crate) fn failed(stage: Stage, why: String) -> Conclusion {
    let event = match stage {
        Stage::PolicyCheck => Event::PolicyCheckEnded(lifecycle::PolicyOutcome::HardFailed),
        Stage::Apply => Event::ApplyEnded(lifecycle::ApplyOutcome::Failed),
        Stage::Pending | Stage::Plan => {
            Event::PlanEnded { outcome: lifecycle::PlanOutcome::Failed, policies: false }
        }
    };
    let update = RunUpdate { error: Some(why.clone()), ..RunUpdate::default() };
    Conclusion { event, why: Some(why), update }
}
