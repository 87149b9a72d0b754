//! One policy's evaluation, with an end to it whatever the engine does.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use crate::{
    CompiledSet, Evaluation, Input, Limits, LoadError, Mistake, PolicyEngine, PolicyResult, SetFolder,
    SetSettings, engine::out_of_time, result::millis,
};

/// What an engine gets over its limit to stop by itself, which keeps the prints, before its thread is left behind.
const GRACE: Duration = Duration::from_millis(500);

/// Engines walk policies by recursion; most of this is never touched.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Has the engine load a set. A panic is a mistake of the set: something in it is more than the engine can take.
pub(super) fn load(
    engine: &dyn PolicyEngine,
    folder: &SetFolder,
    settings: &SetSettings,
) -> Result<Arc<dyn CompiledSet>, LoadError> {
    catch_unwind(AssertUnwindSafe(|| engine.load(folder, settings))).unwrap_or_else(|panic| {
        let words = format!("the policy engine panicked while it read the set: {}", words_of(panic.as_ref()));
        Err(Mistake::of_file("", words).into())
    })
}

/// Has the engine read the input. A panic here comes again, and is reported, in each evaluation.
pub(super) fn prepare(set: &Arc<dyn CompiledSet>, input: &Input) {
    let _ = catch_unwind(AssertUnwindSafe(|| set.prepare(input)));
}

/// Evaluates one policy in a thread of its own: a panic or an overrun becomes an error of this policy alone. A
/// thread that overruns cannot be ended from outside; it is left behind and goes with the process.
pub(super) fn evaluate(
    set: &Arc<dyn CompiledSet>,
    index: usize,
    input: &Arc<Input>,
    limits: Limits,
) -> PolicyResult {
    let started = Instant::now();
    let policy = &set.policies()[index];
    let evaluation = in_thread(set, index, input, limits);
    PolicyResult {
        name: policy.name.clone(),
        level: policy.level,
        description: policy.description.clone(),
        verdict: evaluation.verdict,
        prints: evaluation.prints,
        trace: evaluation.trace,
        rules: evaluation.rules,
        duration_ms: millis(started.elapsed()),
    }
}

fn in_thread(set: &Arc<dyn CompiledSet>, index: usize, input: &Arc<Input>, limits: Limits) -> Evaluation {
    let (send, receive) = mpsc::sync_channel(1);
    let (set, input) = (Arc::clone(set), Arc::clone(input));
    let spawned = thread::Builder::new().name("policy".into()).stack_size(STACK_BYTES).spawn(move || {
        let evaluation = catch_unwind(AssertUnwindSafe(|| set.evaluate(index, &input, limits)));
        // nobody listens any more if the time is over
        let _ = send.send(evaluation);
    });
    if let Err(e) = spawned {
        return Evaluation::errored(format!("no thread for the evaluation: {e}"));
    }
    match receive.recv_timeout(limits.time.saturating_add(GRACE)) {
        Ok(Ok(evaluation)) => evaluation,
        Ok(Err(panic)) => {
            Evaluation::errored(format!("the policy engine panicked: {}", words_of(panic.as_ref())))
        }
        Err(_) => Evaluation::of(out_of_time(limits)),
    }
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it gave no reason")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::{EnforcementLevel, EngineKind, Policy, Verdict};

    /// A set whose policies panic, hang until they are let go, and pass.
    struct Unruly {
        policies: Vec<Policy>,
        let_go: Mutex<mpsc::Receiver<()>>,
    }

    impl CompiledSet for Unruly {
        fn policies(&self) -> &[Policy] {
            &self.policies
        }
        fn prepare(&self, _: &Input) {
            panic!("no input");
        }
        fn evaluate(&self, index: usize, _: &Input, _: Limits) -> Evaluation {
            match index {
                0 => panic!("index {index} out of range"),
                1 => drop(self.let_go.lock().unwrap().recv()),
                _ => {}
            }
            Evaluation::of(Verdict::Passed)
        }
    }

    struct Panicking;

    impl PolicyEngine for Panicking {
        fn kind(&self) -> EngineKind {
            EngineKind::Rego
        }
        fn manifest(&self) -> &'static str {
            "policies.hcl"
        }
        fn load(&self, _: &SetFolder, _: &SetSettings) -> Result<Arc<dyn CompiledSet>, LoadError> {
            panic!("too deep")
        }
    }

    #[test]
    fn a_panic_of_the_engine_while_it_loads_is_a_mistake_of_the_set() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, _) = SetFolder::open(dir.path(), "").unwrap();
        let Err(error) = load(&Panicking, &folder, &SetSettings::default()) else { panic!("loaded") };
        assert_eq!(error.to_string(), "the policy engine panicked while it read the set: too deep");
    }

    #[test]
    fn a_panic_and_a_hang_of_the_engine_are_errors_of_that_policy_alone() {
        let (let_go, receiver) = mpsc::channel();
        let policy = |name: &str| Policy {
            name: name.into(),
            level: EnforcementLevel::HardMandatory,
            description: None,
        };
        let policies = ["panics", "hangs", "passes"].map(policy).to_vec();
        let set: Arc<dyn CompiledSet> = Arc::new(Unruly { policies, let_go: Mutex::new(receiver) });
        let input = Arc::new(Input::new("{}".into(), json!({})).unwrap());
        let limits = Limits { time: Duration::from_millis(20) };
        prepare(&set, &input);
        let verdicts: Vec<_> = (0..3).map(|index| evaluate(&set, index, &input, limits).verdict).collect();
        assert_eq!(
            verdicts,
            [
                Verdict::Errored { error: "the policy engine panicked: index 0 out of range".into() },
                Verdict::Errored { error: "did not end within its time limit of 20ms".into() },
                Verdict::Passed,
            ]
        );
        drop(let_go);
    }
}
