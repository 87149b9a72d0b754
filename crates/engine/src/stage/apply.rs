//! The apply stage: `terraform apply` of the very plan that was approved.

use executor::{FileDigest, Spec, Step};
use lifecycle::{ApplyOutcome, Event, Stage};
use source::{StateKept, TakeReport};
use store::{Lock, Run, RunUpdate};

use super::stage_settings::StageSettings;
use super::{Conclusion, Ended, confinement};
use crate::context::Context;
use crate::place::Place;
use crate::run_files::{StageError, read_json};
use crate::state_keeper::Keeper;
use crate::terraform::preamble;
use crate::{RunDir, promise, reserve, state_keeper};

pub(super) fn prepare(context: &Context, run: &Run) -> Result<Spec, StageError> {
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let settings = StageSettings::read(context.store.blobs(), &run_dir)?;
    let plan =
        run.plan.as_ref().ok_or_else(|| StageError::Impossible("there is no plan to apply".to_owned()))?;
    let mut arguments = vec!["apply".to_owned(), "-input=false".to_owned()];
    if takes_variables(&plan.terraform_version) && run_dir.variables().exists() {
        arguments.push(format!("-var-file={}", run_dir.variables().display()));
    }
    arguments.push(run_dir.plan().display().to_string());
    let mut apply = Step::new("terraform apply", &settings.terraform).arguments(arguments);
    let plugin_cache = settings.environment.get("TF_PLUGIN_CACHE_DIR").map(String::as_str);
    let place = Place::of(&context.data_dir, &run_dir)?;
    apply.confinement = confinement::of_terraform(context, &run_dir, &place, plugin_cache);
    apply.limit_time(context.config().server.apply_time_limit, "apply_time_limit in the server block");
    apply.time_limit_grace = context.config().server.cancel_grace;
    apply.require = vec![FileDigest { path: run_dir.plan(), sha256: plan.plan_digest.to_string() }];

    let mut spec = Spec::new(format!("{}/{}", run.id, Stage::Apply), &settings.root);
    spec.preamble = preamble(settings.terraform_version.as_deref());
    spec.salvage =
        [state_keeper::ERRORED, state_keeper::REGULAR].map(|file| settings.root.join(file)).to_vec();
    spec.environment = settings.environment;
    spec.reserve = Some(reserve::of_apply(&context.data_dir));
    spec.steps = vec![apply];
    Ok(spec)
}

/// Since 1.10 a plan does not hold the values of ephemeral variables, and its apply wants them again; before, an
/// apply of a saved plan refuses any.
fn takes_variables(terraform_version: &str) -> bool {
    let mut parts = terraform_version.split(['.', '-']).map(str::parse::<u32>);
    matches!((parts.next(), parts.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (1, 10))
}

/// What the executor says of its end decides, and what terraform left is looked for where the executor made it durable.
/// Nothing that lies beside them in the run's directory can change that.
pub(super) async fn conclude(context: &Context, run: &Run, ended: &Ended) -> Result<Conclusion, StageError> {
    if let Ended::Unknown(why) = ended {
        return Err(StageError::Impossible(why.clone()));
    }
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let report = match read_json::<TakeReport>(&run_dir.take_report()) {
        Ok(report) => report,
        // damaged
        Err(StageError::Impossible(_)) => None,
        Err(error) => return Err(error),
    };
    let keeper = keeper(report.as_ref());
    let kept = state_keeper::take_back(context, run, &keeper, ended.salvaged()).await?;
    let kept = if keeper == Keeper::Daemon { promise::check(context, run, ended, kept).await? } else { kept };
    if let Some(report) = report.filter(|_| !ended.never_ran()) {
        let workspace = context.store.workspace(run.workspace).await?;
        state_keeper::remember(context, &workspace, &report.state).await?;
    }
    if kept.is_trouble() {
        take_out_of_service(context, run, &run_dir).await?;
    }
    Ok(conclusion(context, run, ended, kept.trouble()).await)
}

/// The conclusion when what the apply left can't be taken back: it stays where it is, and nothing is planned on a state
/// that does not know of it.
pub(super) async fn give_up(
    context: &Context,
    run: &Run,
    ended: &Ended,
    why: &str,
) -> Result<Conclusion, StageError> {
    let run_dir = RunDir::new(&context.data_dir, run.id);
    take_out_of_service(context, run, &run_dir).await?;
    let words = format!(
        "what the apply left could not be taken back ({why}): it stays in {}; bring the state with signalbox state push, \
         then unlock the workspace",
        run_dir.work().display()
    );
    Ok(conclusion(context, run, ended, Some(words)).await)
}

async fn conclusion(context: &Context, run: &Run, ended: &Ended, trouble: Option<String>) -> Conclusion {
    let outcome = if ended.failure().is_none() { ApplyOutcome::Succeeded } else { ApplyOutcome::Failed };
    let words: Vec<String> = ended.explained(context, run).await.into_iter().chain(trouble).collect();
    let why = (!words.is_empty()).then(|| words.join("\n"));
    let update = RunUpdate { error: why.clone(), ..RunUpdate::default() };
    Conclusion { event: Event::ApplyEnded(outcome), why, update }
}

/// The next run would plan on a state that does not know what this one made, and make it again.
async fn take_out_of_service(context: &Context, run: &Run, run_dir: &RunDir) -> Result<(), StageError> {
    run_dir.keep_work().map_err(|error| StageError::file("write to", run_dir.root(), &error))?;
    let reason = format!("the state that {} left is not where it belongs: see its error", run.id);
    let lock = Lock { by: Lock::DAEMON.to_owned(), reason, at: context.now() };
    Ok(context.store.lock_out(run.workspace, lock).await?)
}

fn keeper(report: Option<&TakeReport>) -> Keeper {
    match report.map(|report| &report.state) {
        Some(StateKept::ByDaemon) => Keeper::Daemon,
        Some(StateKept::ByBackend { kind }) => Keeper::Backend(kind.clone()),
        None => Keeper::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::takes_variables;

    #[test]
    fn only_a_terraform_that_knows_ephemeral_variables_gets_them_at_the_apply() {
        for version in ["1.10.0", "1.11.4", "1.12.0-beta1", "2.0.0"] {
            assert!(takes_variables(version), "{version}");
        }
        for version in ["1.9.8", "0.15.5", "", "x"] {
            assert!(!takes_variables(version), "{version}");
        }
    }
}
