//! What the steps of an execution leave behind, as the real ones would.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use executor::{
    ExecutionResult, FORMAT, Outcome, Salvaged, SalvagedFile, Spec, Stdout, Step, StepEnd, StepResult,
};
use jiff::Timestamp;
use policy::{EnforcementLevel, PolicyReport, PolicyResult, SetReport, Verdict};
use serde_json::{Value, json};
use source::{StateKept, TakeReport, TakeRequest};
use store::Digest;

/// How an execution goes.
#[derive(Debug, Clone)]
pub struct Script {
    pub end: End,
    /// It ends when a test says so, and not by itself.
    pub gated: bool,
    /// What it does about an interrupt.
    pub interrupted: Interrupted,
}

/// How it ends when nobody stops it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// A plan has changes, policies pass, an apply succeeds.
    Well,
    /// The plan changes nothing.
    NoChanges,
    /// Planning failed half-way, and only the plan file says so.
    PlanErrored,
    /// This step exits with 1.
    Fails(&'static str),
    /// A policy of this level fails.
    Objection(EnforcementLevel),
    /// Its executor dies.
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    /// It ends.
    Ends,
    /// It comes to its own end all the same.
    Finishes,
    /// It goes on, until it is killed.
    Ignores,
    /// It goes on, also when it is killed.
    Survives,
}

impl Script {
    pub fn ends(end: End) -> Self {
        Self { end, gated: false, interrupted: Interrupted::Ends }
    }

    /// It goes well when a test says so.
    pub fn gated() -> Self {
        Self { gated: true, ..Self::ends(End::Well) }
    }

    /// It goes well when a test says so, whatever anybody else says.
    pub fn stubborn() -> Self {
        Self { interrupted: Interrupted::Ignores, ..Self::gated() }
    }

    /// It does not even end when it is killed.
    pub fn immortal() -> Self {
        Self { interrupted: Interrupted::Survives, ..Self::gated() }
    }

    /// It comes to its own good end although it is interrupted.
    pub fn undeterred() -> Self {
        Self { interrupted: Interrupted::Finishes, ..Self::gated() }
    }
}

/// Does what the steps do, up to one that fails. Returns the result as if nobody had stopped it.
pub fn carry_out(spec: &Spec, end: &End) -> ExecutionResult {
    let mut steps = Vec::new();
    let mut outcome = Outcome::Succeeded;
    for step in &spec.steps {
        let ended = match (&outcome, missing(step)) {
            (Outcome::Succeeded, None) => {
                let fails = matches!(end, End::Fails(name) if *name == step.name);
                StepEnd::Exited { code: run(spec, step, end, fails) }
            }
            (Outcome::Succeeded, Some(why)) => StepEnd::NotStarted { why },
            _ => StepEnd::NotStarted { why: "a step before it failed".to_owned() },
        };
        if outcome == Outcome::Succeeded
            && !matches!(&ended, StepEnd::Exited { code } if step.continue_on.contains(code))
        {
            let why = match &ended {
                StepEnd::Exited { code } => format!("{} exited with {code}", step.name),
                other => format!("{} did not start: {other:?}", step.name),
            };
            outcome = Outcome::Failed { step: step.name.clone(), why };
        }
        steps.push(result_of(&step.name, ended));
    }
    result(spec, outcome, steps)
}

/// Does what was done until somebody stopped it: everything before its main step, and a part of that.
pub fn break_off(spec: &Spec, killed: bool) -> ExecutionResult {
    let main = ["terraform plan", "policy-check", "terraform apply", "take-configuration"];
    let name = main.into_iter().find(|main| spec.steps.iter().any(|step| step.name == *main)).unwrap();
    let ExecutionResult { steps, .. } = carry_out(spec, &End::Fails(name));
    ExecutionResult { interrupted: true, killed, ..result(spec, Outcome::Interrupted, steps) }
}

fn result(spec: &Spec, outcome: Outcome, steps: Vec<StepResult>) -> ExecutionResult {
    ExecutionResult {
        format: FORMAT,
        label: spec.label.clone(),
        outcome,
        exit_code: steps.iter().filter_map(StepResult::exit_code).next_back(),
        steps,
        interrupted: false,
        killed: false,
        swept: 0,
        salvaged: salvaged(spec),
        started_at: Timestamp::now(),
        ended_at: Timestamp::now(),
    }
}

/// The result of an execution that was taken back.
pub fn revoked() -> ExecutionResult {
    let spec = Spec::new("", "/");
    ExecutionResult { interrupted: true, ..result(&spec, Outcome::Interrupted, Vec::new()) }
}

/// The files of the spec's `salvage`.
pub fn salvaged(spec: &Spec) -> Vec<Salvaged> {
    let describe = |path: &PathBuf| {
        let file = match fs::read(path) {
            Ok(bytes) => {
                SalvagedFile::Present { size: bytes.len() as u64, sha256: Digest::of(&bytes).to_string() }
            }
            Err(_) => SalvagedFile::Absent,
        };
        Salvaged { path: path.clone(), file }
    };
    spec.salvage.iter().map(describe).collect()
}

fn result_of(name: &str, ended: StepEnd) -> StepResult {
    let started_at = (!matches!(ended, StepEnd::NotStarted { .. })).then(Timestamp::now);
    StepResult {
        name: name.to_owned(),
        ended,
        started_at,
        duration_ms: 1,
        user_cpu_ms: 0,
        system_cpu_ms: 0,
        peak_memory_bytes: 0,
    }
}

/// Why a step must not start: a file that it requires is another one.
fn missing(step: &Step) -> Option<String> {
    let other = step.require.iter().find(|required| {
        fs::read(&required.path).map(|bytes| Digest::of(&bytes).to_string()).ok().as_ref()
            != Some(&required.sha256)
    })?;
    Some(format!("{} is not the file that was expected", other.path.display()))
}

/// Does what the step does; its exit code.
fn run(spec: &Spec, step: &Step, end: &End, fails: bool) -> i32 {
    match step.name.as_str() {
        "take-configuration" if !fails => take(Path::new(&step.arguments[1])),
        "terraform plan" if !fails => {
            fs::write(&step.must_write[0], format!("the plan of {}", spec.label)).unwrap();
            return if *end == End::NoChanges { 0 } else { 2 };
        }
        "terraform show" if !fails => {
            let Stdout::File(path) = &step.stdout else { panic!("it writes into the log") };
            fs::write(path, plan_json(end).to_string()).unwrap();
        }
        "policy-check" if !fails => report(end).write(&step.must_write[0]).unwrap(),
        // also one that fails has made a part of what it was to make
        "terraform apply" => write_state(spec),
        _ => {}
    }
    i32::from(fails)
}

fn take(request: &Path) {
    let request: TakeRequest = serde_json::from_slice(&fs::read(request).unwrap()).unwrap();
    let root = request.work.join(&request.working_directory);
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("main.tf"), "").unwrap();
    if let Some(state) = &request.state {
        fs::copy(state, root.join("terraform.tfstate")).unwrap();
    }
    if let Some(archive) = &request.archive {
        fs::write(archive, "an archive").unwrap();
    }
    let report =
        TakeReport { format: source::FORMAT, root, commit: None, digest: None, state: StateKept::ByDaemon };
    fs::write(&request.report, serde_json::to_vec(&report).unwrap()).unwrap();
}

fn plan_json(end: &End) -> Value {
    let actions = if *end == End::NoChanges { "no-op" } else { "create" };
    json!({
        "format_version": "1.2",
        "terraform_version": "1.11.4",
        "errored": *end == End::PlanErrored,
        "resource_changes": [{ "address": "a.b", "change": { "actions": [actions] } }],
    })
}

fn report(end: &End) -> PolicyReport {
    let policy = |name: &str, level, verdict| PolicyResult {
        name: name.to_owned(),
        level,
        description: None,
        verdict,
        prints: Vec::new(),
        trace: String::new(),
        rules: Vec::new(),
        duration_ms: 1,
    };
    let mut policies = vec![policy("always", EnforcementLevel::HardMandatory, Verdict::Passed)];
    if let End::Objection(level) = end {
        policies.push(policy("never", *level, Verdict::Failed { messages: vec!["no".to_owned()] }));
    }
    let set =
        SetReport { name: "baseline".to_owned(), engine: None, error: None, warnings: Vec::new(), policies };
    PolicyReport::new(vec![set], Duration::from_millis(1))
}

/// What terraform does to the state: the next serial of what is there, or a new one.
fn write_state(spec: &Spec) {
    let path = spec.salvage.iter().find(|path| path.ends_with("terraform.tfstate")).unwrap();
    let before: Option<Value> = fs::read(path).ok().map(|bytes| serde_json::from_slice(&bytes).unwrap());
    let serial = before.as_ref().map_or(0, |state| state["serial"].as_u64().unwrap());
    let lineage = before.map_or_else(|| spec.label.clone(), |s| s["lineage"].as_str().unwrap().to_owned());
    let state = json!({
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": serial + 1,
        "lineage": lineage,
        "outputs": {},
        "resources": [{ "made_by": spec.label }],
    });
    fs::write(path, state.to_string()).unwrap();
}
