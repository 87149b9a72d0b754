//! The daemon dies, at each moment between record, launch, attach and conclude of each stage. The next one takes the run
//! to its right end, and starts nothing twice.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use engine::RunAction;
use lifecycle::Rule::{self, Launched};
use lifecycle::id::RunId;
use lifecycle::{Execution, Stage, State, Work};
use policy::EnforcementLevel::HardMandatory;

use crate::support::{Action, End, Life, Point, Script, World, auto, plain};

/// The way of a run that goes through all stages by itself. Its commits are these, after the one that queues it.
pub const ALL: [Rule; 7] = [Rule::T1, Launched, Rule::T6, Rule::T15, Rule::T16, Launched, Rule::T18];

/// The run comes to its good end, each stage of it having been started once.
pub fn assert_applied(world: &World, life: &Life, run: RunId) {
    life.ends_as(run, State::Applied, &ALL);
    assert_eq!(world.executor().started(run), Stage::EXECUTED);
    world.assert_over(life, run);
}

/// The state of a run whose stage executes.
pub fn executing(stage: Stage, execution: Execution) -> State {
    match stage {
        Stage::Plan => State::Planning(Work::Executing(execution)),
        Stage::PolicyCheck => State::PolicyCheck(execution),
        Stage::Apply => State::Applying(Work::Executing(execution)),
        Stage::Pending => panic!("a pending run executes nothing"),
    }
}

/// Has a daemon take a run to a call at which it dies.
pub fn dies_at(stage: Stage, point: Point) -> (World, RunId) {
    let world = World::new();
    world.executor().at(stage, point, Action::Hold);
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.until_held();
    life.die();
    world.executor().disarm();
    (world, run)
}

#[test]
fn after_the_files_of_a_run_were_written_and_before_it_was_recorded() {
    let world = World::new();
    let run = RunId::generate();
    let life = world.live();
    let run_dir = life.engine().run_dir(run);
    std::fs::create_dir_all(run_dir.root()).unwrap();
    std::fs::write(run_dir.settings(), "secrets").unwrap();
    life.die();
    // as if the next daemon came a little later
    let before = SystemTime::now() - Duration::from_secs(1);
    std::fs::File::open(run_dir.root()).unwrap().set_modified(before).unwrap();
    let life = world.live();
    life.until_seen("nothing is left of it", || world.is_clean(run));
}

#[test]
fn after_a_stage_got_into_its_queue() {
    for (commits, found, started) in [
        (1, State::Pending, &[][..]),
        (2, State::Planning(Work::Queued), &[]),
        (6, State::Applying(Work::Queued), &[Stage::Plan, Stage::PolicyCheck]),
    ] {
        let world = World::new();
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.after_commits(commits);
        life.die();
        assert_eq!(world.executor().started(run), started);
        let life = world.live();
        assert_eq!(life.found(run), Some(found));
        assert_applied(&world, &life, run);
    }
}

#[test]
fn after_the_launch_was_recorded_and_before_it_was_done() {
    for (commits, stage) in [(3, Stage::Plan), (4, Stage::PolicyCheck), (7, Stage::Apply)] {
        let world = World::new();
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.after_commits(commits);
        life.die();
        assert!(!world.executor().started(run).contains(&stage));
        let life = world.live();
        assert_eq!(life.found(run), Some(executing(stage, Execution::Running)));
        assert_applied(&world, &life, run);
    }
}

#[test]
fn in_a_launch_that_has_claimed_nothing_and_never_does() {
    for stage in Stage::EXECUTED {
        let (world, run) = dies_at(stage, Point::Launch);
        assert!(!world.executor().started(run).contains(&stage));
        assert_applied(&world, &world.live(), run);
    }
}

#[test]
fn in_a_launch_that_claims_the_execution_before_the_next_daemon_looks() {
    for stage in Stage::EXECUTED {
        let (world, run) = dies_at(stage, Point::Launch);
        world.executor().late_claim(run, stage);
        assert_applied(&world, &world.live(), run);
        assert_eq!(world.executor().passed(stage, Point::Launch), 1, "nobody launches it again");
    }
}

#[test]
fn in_a_launch_that_claims_the_execution_while_the_next_daemon_launches_it_again() {
    for stage in Stage::EXECUTED {
        let (world, run) = dies_at(stage, Point::Launch);
        let late = Action::First(Arc::new(move |executor| executor.late_claim(run, stage)));
        world.executor().at(stage, Point::Launch, late);
        assert_applied(&world, &world.live(), run);
        assert_eq!(world.executor().passed(stage, Point::Launch), 2);
    }
}

#[test]
fn after_the_claim_and_before_the_reply_of_a_launch() {
    for stage in Stage::EXECUTED {
        let (world, run) = dies_at(stage, Point::Claimed);
        assert!(world.executor().is_running(run, stage), "it goes on");
        assert_applied(&world, &world.live(), run);
        assert_eq!(world.executor().passed(stage, Point::Launch), 1, "nobody launches it again");
    }
}

#[test]
fn while_an_execution_runs() {
    for stage in Stage::EXECUTED {
        let (world, run) = dies_at(stage, Point::Wait);
        let life = world.live();
        assert_eq!(life.found(run), Some(executing(stage, Execution::Running)));
        assert_applied(&world, &life, run);
        assert_eq!(world.executor().passed(stage, Point::Launch), 1, "nobody launches it again");
        assert_eq!(world.executor().stops(run, stage), (0, 0));
    }
}

#[test]
fn again_and_again_while_an_execution_runs() {
    let world = World::new();
    world.executor().script(Stage::Apply, Script::gated());
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.until("it applies", |executor| executor.is_running(run, Stage::Apply));
    life.die();
    for _ in 0..5 {
        let life = world.live();
        life.quiet();
        assert_eq!(life.run(run).state, executing(Stage::Apply, Execution::Running));
        life.die();
    }
    world.executor().end(run, Stage::Apply);
    assert_applied(&world, &world.live(), run);
}

#[test]
fn an_execution_that_ended_while_no_daemon_lived_is_concluded() {
    for stage in Stage::EXECUTED {
        let (world, run) = dies_at(stage, Point::Wait);
        world.executor().end(run, stage);
        assert_applied(&world, &world.live(), run);
    }
}

#[test]
fn an_execution_that_was_lost_ends_its_run_errored_with_the_reason_and_keeps_its_state() {
    for (stage, state, rule) in [
        (Stage::Plan, State::PlanErrored(Stage::Plan), Rule::T3),
        (Stage::PolicyCheck, State::PlanErrored(Stage::PolicyCheck), Rule::T11),
        (Stage::Apply, State::ApplyErrored, Rule::T19),
    ] {
        for dies in [false, true] {
            let world = World::new();
            world.executor().script(stage, Script { gated: true, ..Script::ends(End::Lost) });
            let mut life = world.live();
            let run = life.queue("guarded", &auto());
            life.until("it runs", |executor| executor.is_running(run, stage));
            if dies {
                life.die();
                world.executor().end(run, stage);
                life = world.live();
            } else {
                world.executor().end(run, stage);
            }
            let ended = life.reaches(run, state);
            assert_eq!(ended.error.as_deref(), Some("the executor was lost, as scripted"));
            assert_eq!(life.rules(run).last(), Some(&rule));
            let kept = life.wait("its state", life.store().state_version_ids(&[run])).unwrap();
            assert_eq!(kept.values().flatten().count(), usize::from(stage == Stage::Apply));
            world.assert_over(&life, run);
        }
    }
}

#[test]
fn in_the_conclusion_before_the_end_is_recorded() {
    for stage in Stage::EXECUTED {
        let (world, run) = dies_at(stage, Point::Settle);
        let life = world.live();
        assert_eq!(life.found(run), Some(executing(stage, Execution::Running)));
        assert_applied(&world, &life, run);
        let kept = life.wait("its states", life.store().state_version_ids(&[run])).unwrap();
        assert_eq!(kept.values().flatten().count(), 1, "its state was taken once");
        assert_eq!(life.run(run).logs.len(), 3);
    }
}

#[test]
fn after_the_end_was_recorded_and_before_it_was_cleaned_up_after() {
    for (stage, end, commits, state) in [
        (Stage::Plan, End::NoChanges, 4, State::NoChanges),
        (Stage::PolicyCheck, End::Objection(HardMandatory), 5, State::PlanErrored(Stage::PolicyCheck)),
        (Stage::Apply, End::Well, 8, State::Applied),
    ] {
        let world = World::new();
        world.executor().script(stage, Script::ends(end));
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.after_commits(commits);
        life.die();
        assert!(!world.is_clean(run));
        let life = world.live();
        assert_eq!(life.found(run), None, "it is over");
        assert_eq!(life.run(run).state, state);
        world.assert_over(&life, run);
    }
}

#[test]
fn after_a_person_acted() {
    let applied = [Rule::T17, Launched, Rule::T18];
    let cases: [(RunAction, State, &[Rule]); 3] = [
        (RunAction::Apply, State::Applied, &applied),
        (RunAction::Discard, State::Discarded(Stage::Plan), &[Rule::T17]),
        (RunAction::Cancel, State::Canceled(Stage::PolicyCheck), &[Rule::CanceledAtRest]),
    ];
    for (action, state, after) in cases {
        let world = World::new();
        let life = world.live();
        let run = life.queue("guarded", &plain());
        life.reaches(run, State::PolicyChecked);
        life.act(run, action);
        life.die();
        let life = world.live();
        life.ends_as(run, state, &[&ALL[..4], after].concat());
        world.assert_over(&life, run);
    }
}

#[test]
fn with_several_runs_in_one_workspace() {
    let world = World::new();
    world.executor().script(Stage::Apply, Script::gated());
    let life = world.live();
    let runs = [auto(), auto(), auto()].map(|request| life.queue("guarded", &request));
    life.until("the first one applies", |executor| executor.is_running(runs[0], Stage::Apply));
    life.die();
    world.executor().script(Stage::Apply, Script::ends(End::Well));
    let life = world.live();
    life.quiet();
    assert_eq!(runs.map(|run| world.executor().started(run).len()), [3, 0, 0], "they wait for the first");
    world.executor().end(runs[0], Stage::Apply);
    for run in runs {
        assert_applied(&world, &life, run);
    }
    let order: Vec<RunId> = world.executor().all_started().iter().map(|(run, _)| *run).collect();
    assert!(order.chunks(3).map(|chunk| chunk[0]).eq(runs), "one after the other");
}
