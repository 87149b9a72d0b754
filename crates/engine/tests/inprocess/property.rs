//! Whatever people do, however executions end, and whenever the daemon dies: every run comes to an end that the table
//! allows.

use std::time::Duration;

use engine::{RunAction, RunRequest};
use executor::{Observation, Outcome};
use lifecycle::id::RunId;
use lifecycle::{Rule, Stage, State};
use policy::EnforcementLevel::{HardMandatory, SoftMandatory};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;

use crate::support::{
    Action, End, Interrupted, Life, Point, Script, Shape, World, assert_legal, assert_one_holder,
};

const WORKSPACES: [&str; 3] = ["net", "guarded", "other"];

#[derive(Debug, Clone)]
enum Op {
    Queue {
        workspace: &'static str,
        request: Box<RunRequest>,
        scripts: [Script; 3],
    },
    Act(Index, RunAction),
    Lock(&'static str),
    Unlock(&'static str),
    /// Something that executes ends.
    End(Index),
    /// Its executor dies.
    Lose(Index),
    /// The grace period of its interrupt is over.
    Kill(Index),
    Quiet,
    /// The configuration is changed.
    Reconfigure(Shape),
    /// Time passes.
    Pass,
    /// Whoever comes by there panics.
    Panic(&'static str),
    /// A call fails.
    Fail(Stage, Point),
    /// The daemon dies as soon as this many more calls were made to the executor.
    DieInCall(usize),
    DieNow,
}

fn scripts(ends: Vec<End>) -> impl Strategy<Value = Script> {
    let interrupted = select(vec![Interrupted::Ends, Interrupted::Finishes, Interrupted::Ignores]);
    (select(ends), any::<bool>(), interrupted).prop_map(|(end, gated, interrupted)| Script {
        end,
        gated,
        interrupted,
    })
}

fn queue() -> impl Strategy<Value = Op> {
    let plan = scripts(vec![End::Well, End::Well, End::Well, End::NoChanges, End::Fails("terraform plan")]);
    let check = scripts(vec![
        End::Well,
        End::Well,
        End::Objection(SoftMandatory),
        End::Objection(HardMandatory),
        End::Fails("policy-check"),
    ]);
    let apply = scripts(vec![End::Well, End::Well, End::Fails("terraform apply"), End::Lost]);
    let request = (any::<bool>(), 0..8_u8).prop_map(|(auto_apply, kind)| RunRequest {
        auto_apply: (kind != 0).then_some(auto_apply),
        plan_only: kind == 0,
        destroy: kind == 1,
        allow_empty_apply: kind == 2,
        ..RunRequest::default()
    });
    (select(&WORKSPACES[..]), request, plan, check, apply).prop_map(
        |(workspace, request, plan, check, apply)| Op::Queue {
            workspace,
            request: Box::new(request),
            scripts: [plan, check, apply],
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let action = select(vec![
        RunAction::Apply,
        RunAction::Apply,
        RunAction::Discard,
        RunAction::Cancel,
        RunAction::ForceCancel,
        RunAction::OverridePolicies,
    ]);
    let shape = (1..4_usize, any::<bool>(), 0..4_usize).prop_map(|(slots, operator_writes, left)| {
        // with all workspaces half of the time
        let workspaces = WORKSPACES.iter().skip(left % WORKSPACES.len());
        let workspaces = workspaces.map(|name| (*name).to_owned()).collect();
        Shape { slots, operator_writes, workspaces, ..Shape::default() }
    });
    prop_oneof![
        6 => queue(),
        8 => (any::<Index>(), action).prop_map(|(run, action)| Op::Act(run, action)),
        1 => select(&WORKSPACES[..]).prop_map(Op::Lock),
        1 => select(&WORKSPACES[..]).prop_map(Op::Unlock),
        4 => any::<Index>().prop_map(Op::End),
        1 => any::<Index>().prop_map(Op::Lose),
        1 => any::<Index>().prop_map(Op::Kill),
        4 => Just(Op::Quiet),
        1 => shape.prop_map(Op::Reconfigure),
        2 => (0..12_usize).prop_map(Op::DieInCall),
        1 => Just(Op::DieNow),
    ]
}

/// Something goes wrong inside of the daemon.
fn fault() -> impl Strategy<Value = Op> {
    let point = select(vec![
        "run-actor",
        "run-actor-launch",
        "run-actor-conclude",
        "run-actor-record",
        "workspace-actor",
        "workspaces-actor",
    ]);
    let call = select(vec![
        Point::Attach,
        Point::Launch,
        Point::Claimed,
        Point::Wait,
        Point::Settle,
        Point::Interrupt,
    ]);
    prop_oneof![
        point.prop_map(Op::Panic),
        (select(&Stage::EXECUTED[..]), call).prop_map(|(stage, call)| Op::Fail(stage, call)),
        Just(Op::Pass),
    ]
}

fn carry_out(world: &World, life: &Life, runs: &mut Vec<RunId>, op: Op) {
    let executor = world.executor();
    let running = executor.running();
    match op {
        Op::Queue { workspace, request, scripts } => {
            // the workspace was removed, or the operator has no rights now
            let Ok(run) = life.try_queue_as("operator", workspace, &request) else { return };
            for (stage, script) in Stage::EXECUTED.into_iter().zip(scripts) {
                executor.script_of(run, stage, script);
            }
            runs.push(run);
        }
        // what is not legal now is refused, and changes nothing
        Op::Act(index, action) if !runs.is_empty() => drop(life.try_act("owner", *index.get(runs), action)),
        Op::Lock(workspace) => {
            let workspace = life.workspace(workspace).id;
            let _ = life.wait("a lock", life.engine().lock_workspace("owner", workspace, String::new()));
        }
        Op::Unlock(workspace) => unlock(life, workspace),
        Op::End(index) if !running.is_empty() => {
            let (run, stage) = *index.get(&running);
            executor.end(run, stage);
        }
        Op::Lose(index) if !running.is_empty() => {
            let (run, stage) = *index.get(&running);
            executor.end_as(run, stage, End::Lost);
        }
        Op::Kill(index) if !running.is_empty() => {
            let (run, stage) = *index.get(&running);
            if executor.stops(run, stage).0 > 0 {
                executor.grace_is_over(run, stage);
            }
        }
        Op::Quiet => life.quiet(),
        Op::Reconfigure(shape) => life.reconfigure(world.config(&shape)),
        Op::Pass => life.advance(Duration::from_secs(1)),
        Op::Panic(point) => world.arm(point, 1),
        Op::Fail(stage, point) => executor.at(stage, point, Action::Fail(1)),
        Op::DieInCall(calls) => executor.hold_call(calls),
        Op::Act(..) | Op::End(_) | Op::Lose(_) | Op::Kill(_) | Op::DieNow => {}
    }
}

fn unlock(life: &Life, workspace: &str) {
    let workspace = life.workspace(workspace).id;
    let _ = life.wait("no lock", life.engine().force_unlock_workspace("owner", workspace));
}

/// Ends what executes, and decides about what waits for a person, until no run is left. `time` passes meanwhile; without
/// any, whatever has to happen has to happen at once.
fn come_to_an_end(world: &World, life: &Life, runs: &[RunId], time: Duration) {
    for workspace in WORKSPACES {
        unlock(life, workspace);
    }
    let left = || life.wait("runs are read", life.store().non_final_runs()).unwrap();
    for _ in 0..10 * runs.len() + 10 {
        let left = left();
        if left.is_empty() {
            return;
        }
        world.executor().end_all();
        for (at, run) in left.iter().enumerate().filter(|(_, run)| run.state.waits_for_person()) {
            let action = if at % 2 == 0 { RunAction::Apply } else { RunAction::Discard };
            if life.try_act("owner", run.id, action).is_err() {
                // an override comes first, or it has gone on by itself
                let _ = life.try_act("owner", run.id, RunAction::Discard);
            }
        }
        life.advance(time);
    }
    panic!("stuck: {:#?}\n{:#?}", left(), world.executor());
}

fn assert_right(world: &World, life: &Life, runs: &[RunId]) {
    let all: Vec<_> = runs.iter().map(|run| life.run(*run)).collect();
    for run in &all {
        assert_legal(run, &life.journal(run.id));
        world.assert_over(life, run.id);
        let rules = life.rules(run.id);
        let apply = world.executor().observed(run.id, Stage::Apply);
        if world.executor().started(run.id).contains(&Stage::Apply) {
            let approved = [Rule::T7, Rule::T9, Rule::T16, Rule::T17];
            assert!(approved.iter().any(|rule| rules.contains(rule)), "{rules:?}");
            assert!(!run.facts.plan_only);
        }
        let succeeded = matches!(apply, Observation::Finished(end) if end.outcome == Outcome::Succeeded);
        assert_eq!(run.state == State::Applied, succeeded, "{run:#?}");
    }
    let journal = life.wait("the journal", life.store().journal_after(0, u32::MAX)).unwrap();
    assert_one_holder(&all, &journal);
}

/// Does all that, and whenever the daemon dies the next one goes on.
fn live(ops: Vec<Op>, time: Duration) {
    let world = World::new();
    let mut shape = Shape::default();
    let mut life = world.live();
    let mut runs = Vec::new();
    for op in ops {
        let dies = matches!(op, Op::DieNow);
        if let Op::Reconfigure(new) = &op {
            shape.clone_from(new);
        }
        carry_out(&world, &life, &mut runs, op);
        if dies || world.executor().holds() || life.has_ended() {
            life.die();
            world.executor().disarm();
            life = world.live_as(&shape);
        }
    }
    world.disarm();
    if world.executor().is_armed() || world.executor().holds() {
        life.die();
        world.executor().disarm();
        life = world.live_as(&shape);
    }
    life.reconfigure(world.config(&Shape::default()));
    come_to_an_end(&world, &life, &runs, time);
    assert_right(&world, &life, &runs);
}

/// The same cases each time, unless somebody looks for others: `PROPTEST_CASES=1000`, and `PROPTEST_RNG_SEED` as well.
fn config(seed: u64) -> ProptestConfig {
    let of_environment = ProptestConfig::default();
    let looks = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if looks { of_environment.cases } else { 8 },
        rng_seed: if looks { of_environment.rng_seed } else { RngSeed::Fixed(seed) },
        max_shrink_iters: 200,
        max_shrink_time: 60_000,
        failure_persistence: None,
        ..of_environment
    }
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn every_run_comes_to_an_end_that_the_table_allows_and_nothing_waits_for_the_clock(
        ops in prop::collection::vec(op(), 1..40),
    ) {
        live(ops, Duration::ZERO);
    }
}

proptest! {
    #![proptest_config(config(2))]

    #[test]
    fn every_run_comes_to_an_end_that_the_table_allows_although_actors_panic_and_calls_fail(
        ops in prop::collection::vec(prop_oneof![3 => op().boxed(), 1 => fault().boxed()], 1..40),
    ) {
        live(ops, Duration::from_secs(5));
    }
}
