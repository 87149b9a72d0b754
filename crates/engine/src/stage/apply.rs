//! The apply stage: `terraform apply` of the very plan that was approved.

use executor::{FileDigest, Spec, Step};
use lifecycle::{ApplyOutcome, Event, Stage};
use store::{Run, RunUpdate};

use super::settings::RunSettings;
use super::{Conclusion, Ended, StageError, read_json};
use crate::context::Context;
use crate::terraform::preamble;
use crate::{RunDir, state_keeper};

pub(super) fn prepare(context: &Context, run: &Run) -> Result<Spec, StageError> {
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let settings = RunSettings::read(&run_dir)?;
    let plan =
        run.plan.as_ref().ok_or_else(|| StageError::Impossible("there is no plan to apply".to_owned()))?;
    let mut apply = Step::new("terraform apply", &settings.terraform).arguments([
        format!("-chdir={}", settings.root.display()),
        "apply".to_owned(),
        "-input=false".to_owned(),
        run_dir.plan().display().to_string(),
    ]);
    apply.require = vec![FileDigest { path: run_dir.plan(), sha256: plan.plan_digest.to_string() }];

    let mut spec = Spec::new(format!("{}/{}", run.id, Stage::Apply), run_dir.root());
    spec.preamble = preamble(settings.terraform_version.as_deref());
    spec.salvage = state_keeper::FILES.iter().map(|file| settings.root.join(file)).collect();
    spec.environment = settings.environment;
    spec.steps = vec![apply];
    Ok(spec)
}

pub(super) async fn conclude(context: &Context, run: &Run, ended: &Ended) -> Result<Conclusion, StageError> {
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let kept = match read_json(&run_dir.take_report())? {
        Some(report) => state_keeper::take_back(context, run, &report).await?,
        None => state_keeper::Kept::Nothing,
    };
    let outcome = if ended.failure().is_none() { ApplyOutcome::Succeeded } else { ApplyOutcome::Failed };
    let words: Vec<String> = ended.failure().into_iter().chain(kept.trouble()).collect();
    let why = (!words.is_empty()).then(|| words.join("; "));
    let update = RunUpdate { error: why.clone(), ..RunUpdate::default() };
    Ok(Conclusion { event: Event::ApplyEnded(outcome), why, update })
}
