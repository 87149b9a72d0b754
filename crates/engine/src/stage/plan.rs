//! The plan stage: take the configuration, `init`, `plan`, `show -json`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use executor::{ExecutionResult, Outcome, Spec, Stdout, Step};
use futures::future::try_join;
use lifecycle::id::ConfigurationVersionId;
use lifecycle::queue::Fetch;
use lifecycle::{Event, Execution, PlanOutcome, Stage};
use review::Summary;
use serde_json::Value;
use source::{StateKept, TakeReport, TakeRequest};
use store::{
    Commit, ConfigurationResult, Digest, NewConfigurationVersion, PlanSummary, Run, RunUpdate, Settings,
    Source, StateKeeper, Workspace,
};

use super::stage_settings::StageSettings;
use super::{Conclusion, Ended, confinement, environment};
use crate::context::Context;
use crate::place::Place;
use crate::run_files::{StageError, open_needed, open_own, read_json, write_private};
use crate::terraform::preamble;
use crate::{Log, RunDir, log, settings, state_keeper, variables};

const TAKE: &str = "take-configuration";
const PLAN: &str = "terraform plan";

/// Has the configuration fetched, as the first part of a plan.
pub(super) async fn prepare_fetch(
    context: &Context,
    run: &Run,
    workspace: &Workspace,
) -> Result<Spec, StageError> {
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let settings = settings_of(context, &run_dir)?;
    let place = context.places.take(context, run).await?;
    let request = take_request(context, run, workspace, &settings, &run_dir, &place).await?;
    write_private(&run_dir.take_request(), &request)?;
    let terraform = context.terraform.find(&settings.terraform, &context.host).await;
    let mut spec = spec(run, &place);
    spec.preamble = preamble(terraform.version.as_deref());
    spec.environment = environment(context, run, workspace, &settings);
    spec.log = Some(shared_log(&run_dir)?);
    let mut take = take(context, &run_dir, &place, &request);
    take.limit_time(context.config().server.fetch_time_limit, "fetch_time_limit in the server block");
    spec.steps = vec![take];
    Ok(spec)
}

pub(super) async fn prepare(context: &Context, run: &Run, workspace: &Workspace) -> Result<Spec, StageError> {
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let settings = settings_of(context, &run_dir)?;
    let terraform = context.terraform.find(&settings.terraform, &context.host).await;
    let fetched = run.entry().fetch == Fetch::Done;
    let place = if fetched {
        Place::of(&context.data_dir, &run_dir)?
    } else {
        context.places.take(context, run).await?
    };
    let root = match settings.working_directory.as_str() {
        "" => place.directory().to_owned(),
        folder => place.directory().join(folder),
    };
    let environment = environment(context, run, workspace, &settings);
    let stages = StageSettings::new(terraform, environment, root);
    write_private(&run_dir.variables(), &variable_values(&settings, run)?)?;
    stages.write(context.store.blobs(), &run_dir)?;
    let turn = turn_at_plugin_cache(context, &stages)?;

    let mut spec = spec(run, &place);
    if fetched {
        spec.log = Some(shared_log(&run_dir)?);
    } else {
        let request = take_request(context, run, workspace, &settings, &run_dir, &place).await?;
        write_private(&run_dir.take_request(), &request)?;
        spec.preamble = preamble(stages.terraform_version.as_deref());
        spec.steps.push(take(context, &run_dir, &place, &request));
    }
    let plugin_cache = stages.environment.get("TF_PLUGIN_CACHE_DIR").map(String::as_str);
    let confinement = confinement::of_terraform(context, &run_dir, &place, plugin_cache);
    let mut steps = terraform_steps(run, &run_dir, &stages, turn);
    steps.iter_mut().for_each(|step| step.confinement.clone_from(&confinement));
    spec.steps.extend(steps);
    let limit = context.config().server.plan_time_limit;
    spec.steps.iter_mut().for_each(|step| step.limit_time(limit, "plan_time_limit in the server block"));
    spec.environment = stages.environment;
    Ok(spec)
}

fn settings_of(context: &Context, run_dir: &RunDir) -> Result<Settings, StageError> {
    settings::of_run(context.store.blobs(), run_dir)?.ok_or_else(|| {
        StageError::Impossible(
            "the settings that the run was queued with are gone: queue it again".to_owned(),
        )
    })
}

fn environment(
    context: &Context,
    run: &Run,
    workspace: &Workspace,
    settings: &Settings,
) -> BTreeMap<String, String> {
    environment::of_run(&context.host, &context.config().organization, &workspace.name, settings, run.id)
}

/// A spec without steps.
fn spec(run: &Run, place: &Place) -> Spec {
    let mut spec = Spec::new(format!("{}/{}", run.id, Stage::Plan), place.directory());
    // a plan that was lost in a power cut before its end was recorded is made again
    spec.repeatable = true;
    spec
}

/// The log of the plan, which fetching the configuration begins.
fn shared_log(run_dir: &RunDir) -> Result<PathBuf, StageError> {
    let log = run_dir.log(Stage::Plan);
    let directory = run_dir.execution(Stage::Plan);
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    created.map_err(|error| StageError::file("create", &directory, &error))?;
    Ok(log)
}

async fn take_request(
    context: &Context,
    run: &Run,
    workspace: &Workspace,
    settings: &Settings,
    run_dir: &RunDir,
    place: &Place,
) -> Result<TakeRequest, StageError> {
    Ok(TakeRequest {
        format: source::FORMAT,
        source: source(context, run, settings, run_dir).await?,
        working_directory: settings.working_directory.clone(),
        work: place.directory().to_owned(),
        scratch: run_dir.root().to_owned(),
        archive: run.configuration_version.is_none().then(|| run_dir.archive()),
        state: state_keeper::current(context, workspace, run_dir).await?,
        workspace: workspace.name.clone(),
        kept: workspace.state_keeper.as_ref().map(kept),
        allow_new_state: run.options.allow_new_state,
        report: run_dir.take_report(),
        leave_out: confinement::hidden_files(context),
        limits: source::Limits {
            max_bytes: context.config().server.max_configuration_size,
            max_files: context.config().server.max_configuration_files,
        },
    })
}

fn kept(keeper: &StateKeeper) -> StateKept {
    match keeper {
        StateKeeper::Daemon => StateKept::ByDaemon,
        StateKeeper::Backend(kind) => StateKept::ByBackend { kind: kind.clone() },
    }
}

fn take(context: &Context, run_dir: &RunDir, place: &Place, request: &TakeRequest) -> Step {
    let arguments = [TAKE.to_owned(), run_dir.take_request().display().to_string()];
    let mut take = Step::new(TAKE, &context.program).arguments(arguments);
    take.must_write = vec![run_dir.take_report()];
    // the configuration comes into its directory only now
    take.working_dir = Some(run_dir.root().to_owned());
    let archive = match &request.source {
        source::Source::Archive { path } => Some(path.clone()),
        source::Source::Directory { .. } | source::Source::Git { .. } => None,
    };
    let visible = request.state.iter().cloned().chain(archive).collect();
    take.confinement = confinement::of_our_own(context, run_dir, Some(place), visible);
    take
}

/// What lets one `terraform init` at a time work on a plugin cache that several workspaces share: terraform itself does
/// not keep them apart (docs/terraform.md, "Locks"). `None` where there is no cache.
fn turn_at_plugin_cache(context: &Context, settings: &StageSettings) -> Result<Option<PathBuf>, StageError> {
    let Some(cache) = settings.environment.get("TF_PLUGIN_CACHE_DIR").filter(|cache| !cache.is_empty())
    else {
        return Ok(None);
    };
    // however it is written; one that is not there is terraform's to complain about
    let cache = std::fs::canonicalize(cache).unwrap_or_else(|_| cache.into());
    let locks = context.data_dir.join("locks");
    std::fs::create_dir_all(&locks).map_err(|error| StageError::file("create", &locks, &error))?;
    Ok(Some(locks.join(format!("plugin-cache-{}", Digest::of(cache.as_os_str().as_encoded_bytes())))))
}

/// Where the configuration comes from: an upload that the run was queued with, or else the workspace's source.
async fn source(
    context: &Context,
    run: &Run,
    settings: &Settings,
    run_dir: &RunDir,
) -> Result<source::Source, StageError> {
    if let Some(id) = run.configuration_version {
        let version = context.store.configuration_version(id).await?;
        let digest = version
            .digest()
            .ok_or_else(|| StageError::Impossible(format!("configuration version {id} has no content")))?;
        let path =
            context.store.blobs().in_clear(digest, run_dir.copies().join("configuration.tar.gz")).await?;
        return Ok(source::Source::Archive { path });
    }
    match &settings.source {
        Some(Source::Directory { path }) => Ok(source::Source::Directory { path: path.clone() }),
        Some(Source::Git { url, reference }) => {
            Ok(source::Source::Git { url: url.clone(), reference: reference.clone() })
        }
        None => Err(StageError::Impossible(
            "the workspace has no source: queue the run with a configuration version".to_owned(),
        )),
    }
}

/// The values for `-var-file`: the run's own win over the workspace's.
fn variable_values(settings: &Settings, run: &Run) -> Result<BTreeMap<String, Value>, StageError> {
    let mut values = settings.variables.clone();
    values.extend(settings.sensitive_variables.clone());
    for variable in &run.options.variables {
        let value = variables::literal(&variable.value)
            .map_err(|why| StageError::Impossible(format!("the value of {} {why}", variable.key)))?;
        values.insert(variable.key.clone(), value);
    }
    Ok(values)
}

/// Init, plan and show. Paths are absolute and the same for plan and apply, as terraform demands.
fn terraform_steps(
    run: &Run,
    run_dir: &RunDir,
    settings: &StageSettings,
    turn: Option<PathBuf>,
) -> [Step; 3] {
    let terraform = |name: &str, arguments: Vec<String>| {
        let mut step = Step::new(name, &settings.terraform).arguments(arguments);
        step.working_dir = Some(settings.root.clone());
        step
    };
    let mut init = terraform("terraform init", vec!["init".to_owned(), "-input=false".to_owned()]);
    init.exclusive = turn;

    let mut plan_arguments = vec![
        "plan".to_owned(),
        "-input=false".to_owned(),
        "-detailed-exitcode".to_owned(),
        format!("-out={}", run_dir.plan().display()),
        format!("-var-file={}", run_dir.variables().display()),
    ];
    plan_arguments.extend(plan_options(run));
    let mut plan = terraform(PLAN, plan_arguments);
    plan.continue_on = vec![0, 2];
    plan.must_write = vec![run_dir.plan()];

    let show_arguments = vec!["show".to_owned(), "-json".to_owned(), run_dir.plan().display().to_string()];
    let mut show = terraform("terraform show", show_arguments);
    show.stdout = Stdout::File(run_dir.plan_json());
    [init, plan, show]
}

/// The options of `terraform plan` that the run asks for.
fn plan_options(run: &Run) -> Vec<String> {
    let mut arguments = Vec::new();
    if run.facts.destroy {
        arguments.push("-destroy".to_owned());
    }
    if run.facts.plan_only {
        // beside an apply of the same state, in whose way it must not stand
        arguments.push("-lock=false".to_owned());
    }
    arguments.extend(run.options.plan.arguments());
    arguments
}

/// What was fetched is kept, and the plan may go on.
pub(super) async fn conclude_fetch(
    context: &Context,
    run: &Run,
    ended: &Ended,
) -> Result<Conclusion, StageError> {
    let workspace = context.store.workspace(run.workspace).await?;
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let configuration_version = keep_configuration(context, run, &workspace, &run_dir, ended).await?;
    let running = matches!(run.state.execution(), Some((_, Execution::Running)));
    if ended.failure().is_none() && running && configuration_version.is_some() {
        let update = RunUpdate { configuration_version, ..RunUpdate::default() };
        return Ok(Conclusion { event: Event::Fetched, why: None, update });
    }
    let why = refusal(ended, &run_dir).or_else(|| ended.reason(run));
    let update = RunUpdate { configuration_version, error: why.clone(), ..RunUpdate::default() };
    let policies = false;
    Ok(Conclusion { event: Event::PlanEnded { outcome: PlanOutcome::Failed, policies }, why, update })
}

pub(super) async fn conclude(context: &Context, run: &Run, ended: &Ended) -> Result<Conclusion, StageError> {
    let workspace = &context.store.workspace(run.workspace).await?;
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let made = match ended {
        Ended::Finished(result) if result.outcome == Outcome::Succeeded => Some(result),
        _ => None,
    };
    // side by side, since each waits for the disk, which takes as long for all of them as for one
    let keep_plan = async {
        if made.is_none() {
            return Ok(None);
        }
        let (plan, ()) = try_join(read_plan(context, run, &run_dir), make_durable(&run_dir)).await?;
        Ok(Some(plan))
    };
    let (configuration_version, plan) =
        try_join(keep_configuration(context, run, workspace, &run_dir, ended), keep_plan).await?;
    let (outcome, why) = match (made, &plan) {
        (Some(result), Some(plan)) => outcome(result, &plan.file),
        _ => match refusal(ended, &run_dir) {
            Some(refusal) => (PlanOutcome::Failed, Some(refusal)),
            None => (PlanOutcome::Failed, ended.explained(context, run).await),
        },
    };
    if outcome != PlanOutcome::Failed && !run.facts.plan_only {
        // of one that changes nothing nothing more will be heard
        let certain = outcome == PlanOutcome::NoChanges || workspace.state_keeper.is_none();
        if let (Some(report), true) = (read_json::<TakeReport>(&run_dir.take_report())?, certain) {
            state_keeper::remember(context, workspace, &report.state).await?;
        }
    }
    let plan = plan.map(|plan| plan.summary(outcome));
    let update = RunUpdate { configuration_version, plan, error: why.clone(), ..RunUpdate::default() };
    let policies = context.config().policy_sets_of(&workspace.name).next().is_some();
    Ok(Conclusion { event: Event::PlanEnded { outcome, policies }, why, update })
}

/// Why the configuration was not taken, in the words that stand at the end of the log. They explain and decide
/// nothing: that it failed is known by the exit status.
fn refusal(ended: &Ended, run_dir: &RunDir) -> Option<String> {
    match ended {
        Ended::Finished(result) if matches!(&result.outcome, Outcome::Failed { step, .. } if step == TAKE) => {
            let log = Log::from(open_own(&run_dir.log(Stage::Plan)).ok()??);
            let tail = log.read(log.len(true).ok()?.saturating_sub(4096), 4096).ok()?;
            let tail = String::from_utf8_lossy(&tail);
            let words = tail.lines().rev().find(|line| line.starts_with(source::REFUSAL))?;
            Some(words.to_owned())
        }
        _ => None,
    }
}

/// What a plan stage that came to its end means: the exit status decides, and the plan file may object.
fn outcome(result: &ExecutionResult, plan: &Summary) -> (PlanOutcome, Option<String>) {
    if plan.errored {
        let why = "the plan file says that planning failed, so it can't be applied".to_owned();
        return (PlanOutcome::Failed, Some(why));
    }
    match result.step(PLAN).and_then(executor::StepResult::exit_code) {
        Some(0) => (PlanOutcome::NoChanges, None),
        Some(2) => (PlanOutcome::Changes, None),
        other => (PlanOutcome::Failed, Some(format!("terraform plan ended with {other:?}"))),
    }
}

struct Plan {
    file: Summary,
    digest: Digest,
    json: Digest,
    masked_json: Option<Digest>,
}

impl Plan {
    fn summary(&self, outcome: PlanOutcome) -> PlanSummary {
        let counts = self.file.counts;
        PlanSummary {
            has_changes: outcome == PlanOutcome::Changes,
            additions: counts.additions,
            changes: counts.changes,
            destructions: counts.destructions,
            imports: counts.imports,
            plan_digest: self.digest,
            plan_json: Some(self.json),
            masked_plan_json: self.masked_json,
            terraform_version: self.file.terraform_version.clone(),
        }
    }
}

async fn read_plan(context: &Context, run: &Run, run_dir: &RunDir) -> Result<Plan, StageError> {
    let blobs = context.store.blobs();
    let path = run_dir.plan_json();
    let mask = log::mask(context, run).await?;
    open_needed(&run_dir.plan())?;
    let mut file = open_needed(&path)?;
    // tens of megabytes for a large plan
    let read = tokio::task::spawn_blocking(move || {
        let mut json = Vec::new();
        file.read_to_end(&mut json).map_err(|error| StageError::file("read", &path, &error))?;
        let plan = Summary::of(&json).map_err(|error| StageError::Impossible(error.to_string()))?;
        // now, since later nobody knows any more what was sensitive
        let masked = mask.is_some_and(|mask| mask.apply_to_json(&mut json)).then_some(json);
        Ok::<(Summary, Option<Vec<u8>>), StageError>((plan, masked))
    });
    let (plan, json) =
        try_join(blobs.adopt_file(run_dir.plan()), blobs.adopt_file(run_dir.plan_json())).await?;
    let (file, masked) = read.await.map_err(|error| StageError::broken_off(&error))??;
    let masked_json = match masked {
        Some(masked) => Some(blobs.put_bytes(masked).await?.digest),
        None => None,
    };
    Ok(Plan { file, digest: plan.digest, json: json.digest, masked_json })
}

/// Has the disk keep what an apply needs beside the plan: a person may confirm it days later, and after a power cut.
async fn make_durable(run_dir: &RunDir) -> Result<(), StageError> {
    let run_dir = run_dir.clone();
    let flush = move || {
        let runs = run_dir.root().parent().map(Path::to_owned);
        let cannot = |error: std::io::Error| StageError::file("make durable", run_dir.root(), &error);
        // the claim of the apply will lie in it: its name is flushed with those of the run's other files, so that the
        // launch has no name to flush
        let apply = run_dir.execution(Stage::Apply);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(apply).map_err(cannot)?;
        let own = [run_dir.stage_settings(), run_dir.variables(), run_dir.take_report()];
        let mut files = own.iter().map(|path| open_needed(path)).collect::<Result<Vec<_>, _>>()?;
        let exchange = run_dir.exchange();
        for directory in
            [Some(exchange.as_path()), Some(run_dir.root()), runs.as_deref()].into_iter().flatten()
        {
            files.push(File::open(directory).map_err(cannot)?);
        }
        executor::sync_together(&files).map_err(cannot)
    };
    tokio::task::spawn_blocking(flush).await.map_err(|error| StageError::broken_off(&error))?
}

/// Keeps what was taken, for the record. Its id follows from the run's, so that doing it again changes nothing.
async fn keep_configuration(
    context: &Context,
    run: &Run,
    workspace: &Workspace,
    run_dir: &RunDir,
    ended: &Ended,
) -> Result<Option<ConfigurationVersionId>, StageError> {
    if run.configuration_version.is_some() {
        return Ok(None);
    }
    let report: Option<TakeReport> = read_json(&run_dir.take_report())?;
    let id: ConfigurationVersionId = run.id.sibling();
    let result = match (&report, ended) {
        (Some(report), _) if open_own(&run_dir.archive())?.is_some() => {
            let blob = context.store.blobs().adopt_file(run_dir.archive()).await?;
            let request: Option<TakeRequest> = read_json(&run_dir.take_request())?;
            ConfigurationResult::Uploaded {
                digest: blob.digest,
                size: blob.size,
                commit: report.commit.as_ref().map(|commit| record_commit(commit, request.as_ref())),
            }
        }
        (None, Ended::Finished(result)) => match &result.outcome {
            Outcome::Failed { step, why } if step == TAKE => {
                ConfigurationResult::Errored { message: why.clone() }
            }
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let new = NewConfigurationVersion {
        id,
        workspace: workspace.id,
        source: "tfe-api".to_owned(),
        speculative: run.facts.plan_only,
        created_at: context.now(),
    };
    context.store.keep_configuration_version(new, result, context.now()).await?;
    Ok(Some(id))
}

fn record_commit(commit: &source::Commit, request: Option<&TakeRequest>) -> Commit {
    let (url, reference) = match request.map(|request| &request.source) {
        Some(source::Source::Git { url, reference, .. }) => (url.clone(), reference.clone()),
        _ => Default::default(),
    };
    Commit {
        sha: commit.sha.clone(),
        reference,
        url: source::without_credentials(&url),
        message: commit.message.clone(),
        author: commit.author.clone(),
    }
}
