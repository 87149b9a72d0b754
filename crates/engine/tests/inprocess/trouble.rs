//! Errors that pass by themselves, and errors that never do: every run comes to an end, and a person always has a way out.

use std::fs;
use std::time::Duration;

use engine::RunAction;
use lifecycle::id::RunId;
use lifecycle::{Execution, Stage, State};
use sqlx::Connection as _;

use crate::crashes::{assert_applied, executing};
use crate::support::{Action, End, Life, Point, Script, World, auto};

const MINUTE: Duration = Duration::from_secs(60);

/// Every call of the engine's to its executor that a run needs.
const CALLS: [Point; 4] = [Point::Attach, Point::Launch, Point::Wait, Point::Settle];

fn errored(stage: Stage) -> State {
    match stage {
        Stage::Apply => State::ApplyErrored,
        stage => State::PlanErrored(stage),
    }
}

/// How a run ends when this call fails for ever in this stage, and whether its workspace is out of service then.
fn end(stage: Stage, point: Point) -> (State, bool) {
    match (stage, point) {
        // terraform has ended well, and the exit status decides
        (Stage::Apply, Point::Wait | Point::Settle) => (State::Applied, false),
        // nothing is known of it, not even whether it has started
        (Stage::Apply, Point::Attach) => (State::ApplyErrored, true),
        (stage, _) => (errored(stage), false),
    }
}

fn assert_ended(world: &World, life: &Life, run: RunId, (state, locked): (State, bool), what: &str) {
    let ended = life.run(run);
    assert_eq!(ended.state, state, "{what}: {:?}", ended.error);
    if state != State::Applied {
        let words = ended.error.unwrap_or_default();
        assert!(words.contains("as scripted"), "{what}: {words}");
    }
    assert_eq!(life.workspace("guarded").lock.is_some(), locked, "{what}");
    assert!(world.executor().running().is_empty(), "{what}");
}

#[test]
fn an_error_of_the_executor_that_can_not_pass_ends_the_run_at_once_in_words() {
    for stage in Stage::EXECUTED {
        for point in CALLS {
            let world = World::new();
            world.executor().script(stage, Script::gated());
            world.executor().at(stage, point, Action::FailForGood);
            let life = world.live();
            let run = life.queue("guarded", &auto());
            if point == Point::Settle {
                life.until("it executes", |executor| executor.is_running(run, stage));
                world.executor().end(run, stage);
            }
            life.until("it has failed", |executor| executor.passed(stage, point) > 0);
            if (stage, point) == (Stage::Apply, Point::Wait) {
                // nobody kills it for that
                life.advance(Duration::from_secs(5));
                world.executor().end(run, stage);
            }
            life.advance(Duration::from_secs(40));
            assert_ended(&world, &life, run, end(stage, point), &format!("{stage} {point:?}"));
        }
    }
}

#[test]
fn an_error_of_the_executor_that_does_not_pass_within_an_hour_ends_the_run() {
    for stage in Stage::EXECUTED {
        for point in CALLS {
            let world = World::new();
            world.executor().at(stage, point, Action::Fail(u32::MAX));
            let life = world.live();
            let run = life.queue("guarded", &auto());
            life.until("it has failed", |executor| executor.passed(stage, point) > 0);
            life.advance_by(MINUTE, 59 * MINUTE);
            assert_eq!(life.run(run).state, executing(stage, Execution::Running), "{stage} {point:?}");
            life.advance_by(MINUTE, 2 * MINUTE);
            if (stage, point) == (Stage::Apply, Point::Wait) {
                assert!(world.executor().is_running(run, stage), "nobody kills it for that");
                world.executor().end(run, stage);
            }
            // a clock that is moved by minutes may have run ahead of the work on files, so that the hour began later
            for _ in 0..450 {
                if life.run(run).state.is_final() {
                    break;
                }
                life.advance(Duration::from_secs(4));
            }
            assert_ended(&world, &life, run, end(stage, point), &format!("{stage} {point:?}"));
        }
    }
}

#[test]
fn a_force_cancel_ends_a_run_whatever_its_executor_does() {
    let calls = [CALLS.as_slice(), &[Point::Interrupt, Point::Kill, Point::Revoke]].concat();
    for stage in Stage::EXECUTED {
        for point in &calls {
            for action in [Action::Fail(u32::MAX), Action::FailForGood, Action::Hold] {
                // who fails for good ends the run before anybody can
                if matches!(action, Action::FailForGood) && CALLS.contains(point) {
                    continue;
                }
                // a call that hangs for ever is one that the executor's own limits do not let happen
                if matches!(action, Action::Hold) && !matches!(point, Point::Wait | Point::Settle) {
                    continue;
                }
                let what = format!("{stage} {point:?} {action:?}");
                let world = World::new();
                world.executor().script(stage, Script::stubborn());
                world.executor().at(stage, *point, action);
                if *point == Point::Revoke {
                    // what is taken back was never started
                    world.executor().at(stage, Point::Launch, Action::Fail(u32::MAX));
                }
                let life = world.live();
                let run = life.queue("guarded", &auto());
                life.until("it executes", |executor| {
                    executor.is_running(run, stage)
                        || executor.passed(stage, Point::Attach) > 0 && executor.is_armed()
                });
                life.advance(Duration::from_secs(1));
                if *point == Point::Settle {
                    world.executor().end(run, stage);
                    life.advance(Duration::from_secs(1));
                }
                life.act(run, RunAction::Cancel);
                life.advance(Duration::from_secs(1));
                if !life.run(run).state.is_final() {
                    life.act(run, RunAction::ForceCancel);
                }
                life.advance_by(Duration::from_secs(5), 3 * MINUTE);
                let state = life.run(run).state;
                let applied = stage == Stage::Apply && *point == Point::Settle && state == State::Applied;
                assert!(applied || state == State::Canceled(stage), "{what}: {state:?}");
                assert!(world.executor().running().is_empty(), "{what}");
            }
        }
    }
}

#[test]
fn an_executor_that_does_not_end_although_it_was_killed_is_destroyed() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        world.executor().script(stage, Script::immortal());
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.until("it executes", |executor| executor.is_running(run, stage));
        life.act(run, RunAction::Cancel);
        life.act(run, RunAction::ForceCancel);
        life.advance(Duration::from_secs(20));
        assert_eq!(life.run(run).state, executing(stage, Execution::ForceCanceling));
        life.reaches_in_time(run, State::Canceled(stage));
        assert_eq!(world.executor().passed(stage, Point::Destroy), 1);
    }
}

/// Puts a file where the store wants a directory, which no user can overcome: nothing can be kept any more.
struct NoBlobs<'w>(&'w World);

impl<'w> NoBlobs<'w> {
    fn begin(world: &'w World) -> Self {
        fs::rename(blobs(world), blobs(world).with_extension("away")).unwrap();
        fs::write(blobs(world), "in the way").unwrap();
        Self(world)
    }
}

impl Drop for NoBlobs<'_> {
    fn drop(&mut self) {
        fs::remove_file(blobs(self.0)).unwrap();
        fs::rename(blobs(self.0).with_extension("away"), blobs(self.0)).unwrap();
    }
}

fn blobs(world: &World) -> std::path::PathBuf {
    world.data_dir().join("blobs")
}

#[test]
fn what_can_not_be_kept_ends_the_run_in_words_and_a_state_stays_where_it_is() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        world.executor().script(stage, Script::gated());
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.until("it executes", |executor| executor.is_running(run, stage));
        let no_blobs = NoBlobs::begin(&world);
        world.executor().end(run, stage);
        // the exit status decides what became of an apply
        let state = if stage == Stage::Apply { State::Applied } else { errored(stage) };
        let ended = life.reaches_in_time(run, state);
        let words = ended.error.unwrap_or_default();
        assert!(words.contains("blobs"), "{stage}: {words}");
        drop(no_blobs);
        let kept = life.engine().run_dir(run).work().join("terraform.tfstate");
        life.until_seen("it is cleaned up after", || kept.exists() == (stage == Stage::Apply));
        assert_eq!(life.workspace("guarded").lock.is_some(), stage == Stage::Apply);
        if stage == Stage::Apply {
            assert!(words.contains(&*life.engine().run_dir(run).work().to_string_lossy()), "{words}");
            // a run that comes next starts only when a person has brought the state and unlocked the workspace
            let next = life.queue("guarded", &auto());
            life.advance(Duration::from_secs(5));
            assert_eq!(life.run(next).state, State::Pending);
        }
    }
}

#[test]
fn a_place_that_can_not_be_had_ends_the_run_in_words() {
    let world = World::new();
    fs::write(world.data_dir().join("work"), "in the way").unwrap();
    let life = world.live();
    let run = life.queue("guarded", &auto());
    let ended = life.reaches_in_time(run, State::PlanErrored(Stage::Plan));
    let words = ended.error.unwrap_or_default();
    assert!(words.contains("can't use") && words.contains("work"), "{words}");
    fs::remove_file(world.data_dir().join("work")).unwrap();
    let next = life.queue("guarded", &auto());
    life.reaches_in_time(next, State::Applied);
    assert_applied(&world, &life, next);
}

/// Has the database refuse to record these states, and no others.
fn refuse(world: &World, life: &Life, states: &str) {
    let trigger = if states.is_empty() {
        "DROP TRIGGER refused".to_owned()
    } else {
        format!(
            "CREATE TRIGGER refused BEFORE UPDATE OF state ON runs WHEN NEW.state IN ({states})
             BEGIN SELECT RAISE(ABORT, 'as injected'); END"
        )
    };
    life.wait("the database is changed", sql(world, trigger));
}

#[test]
fn an_end_that_the_database_refuses_to_record_becomes_an_end_that_it_records() {
    for (stage, refused) in [
        (Stage::Plan, "'policy-check:running'"),
        (Stage::PolicyCheck, "'policy-checked'"),
        (Stage::Apply, "'applied'"),
    ] {
        let world = World::new();
        world.executor().script(stage, Script::gated());
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.until("it executes", |executor| executor.is_running(run, stage));
        refuse(&world, &life, refused);
        world.executor().end(run, stage);
        if stage == Stage::Apply {
            // an apply that is applied is not said to have failed: it waits until that can be recorded, with pauses
            life.advance_by(MINUTE, 10 * MINUTE);
            assert_eq!(life.run(run).state, executing(stage, Execution::Running));
            refuse(&world, &life, "");
            life.reaches_in_time(run, State::Applied);
        } else {
            let ended = life.reaches_in_time(run, errored(stage));
            let words = ended.error.unwrap_or_default();
            assert!(words.contains("as injected"), "{stage}: {words}");
        }
        world.assert_over(&life, run);
    }
}

#[test]
fn a_database_that_records_nothing_makes_a_run_wait_and_nothing_spin() {
    let world = World::new();
    world.executor().script(Stage::Plan, Script::gated());
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.until("it executes", |executor| executor.is_running(run, Stage::Plan));
    refuse(&world, &life, "'policy-check:running', 'plan-errored:plan'");
    world.executor().end(run, Stage::Plan);
    let before = world.executor().calls();
    life.advance_by(Duration::from_secs(1), 2 * MINUTE);
    let calls = world.executor().calls() - before;
    assert!(calls < 200, "{calls} calls in two minutes");
    refuse(&world, &life, "");
    life.reaches_in_time(run, State::PlanErrored(Stage::Plan));
    world.assert_over(&life, run);
}

/// Spoils a column of a run's record.
fn damage(world: &World, life: &Life, run: RunId, column: &str) {
    let spoil = format!("UPDATE runs SET {column} = '{{spoiled' WHERE id = '{run}'");
    life.wait("a record is spoiled", sql(world, spoil));
}

/// What another program does to the database.
pub async fn sql(world: &World, statement: String) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(world.data_dir().join("signalbox.db"));
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

const COLUMNS: [&str; 10] = [
    "state",
    "facts",
    "options",
    "created_at",
    "state_changed_at",
    "status_timestamps",
    "cancel",
    "plan",
    "policy_outcome",
    "logs",
];

#[test]
fn a_run_whose_record_can_not_be_read_holds_up_no_other_and_is_ended_by_a_force_cancel() {
    for (number, column) in COLUMNS.into_iter().enumerate() {
        let one = [Stage::EXECUTED[number % Stage::EXECUTED.len()]];
        for stage in if column == "state" { &Stage::EXECUTED[..] } else { &one }.iter().copied() {
            let what = format!("{column} in {stage}");
            let world = World::new();
            world.executor().script(stage, Script::gated());
            let life = world.live();
            let run = life.queue("guarded", &auto());
            life.until("it executes", |executor| executor.is_running(run, stage));
            damage(&world, &life, run, column);
            drop(life);

            // a daemon starts with it, and what can be read is listed
            let life = world.live();
            life.advance(Duration::from_secs(5));
            world.executor().script(stage, Script::ends(End::Well));
            let other = life.queue("net", &auto());
            life.reaches_in_time(other, State::Applied);
            assert!(life.wait("it can't be read", life.store().run(run)).is_err(), "{what}");
            assert!(
                !life
                    .wait("all are listed", life.store().non_final_runs())
                    .unwrap()
                    .iter()
                    .any(|one| one.id == run)
            );
            let next = life.queue("guarded", &auto());
            life.advance(Duration::from_secs(5));
            assert_eq!(life.run(next).state, State::Pending, "{what}: it may be at work still");

            // nobody who may not do that changes anything
            assert!(life.try_act("planner", run, RunAction::ForceCancel).is_err(), "{what}");
            assert!(life.try_act("owner", run, RunAction::Cancel).is_err(), "{what}");
            life.act(run, RunAction::ForceCancel);
            life.advance_by(Duration::from_secs(1), MINUTE);
            if world.executor().is_running(run, stage) {
                // an apply is interrupted, and has the time to write its state
                world.executor().end(run, stage);
            }
            let ended = life.ends(run);
            let words = ended.damaged.unwrap_or_default();
            assert!(words.contains(column), "{what}: {words}");
            life.reaches_in_time(next, State::Applied);
            // a log that is not known to be kept stays where it is
            if column != "logs" {
                world.assert_over(&life, run);
            }
        }
    }
}
