//! What is kept and what is not, and a disk that gets full.

use std::time::Duration;

use lifecycle::State;
use lifecycle::waiting::LowSpace;

use crate::support::{Shape, World, auto};
use crate::trouble::sql;

/// More than any disk has.
const ENDLESS: &str = "900 TiB";

#[test]
fn no_run_starts_while_too_little_space_is_free_and_what_goes_on_goes_on() {
    let world = World::new();
    let life = world.live();
    let waiting = life.queue("net", &engine::RunRequest::default());
    life.reaches_in_time(waiting, State::NeedsConfirmation);
    let full = Shape { min_free_space: ENDLESS, ..Shape::default() };
    life.reconfigure(world.config(&full));
    life.advance(Duration::from_secs(3));
    let Some(LowSpace { free, least }) = life.engine().low_space() else { panic!("it is seen") };
    assert!(free < least, "{free} {least}");
    let kept = life.queue("other", &auto());
    // somebody has approved it
    life.act(waiting, engine::RunAction::Apply);
    life.reaches_in_time(waiting, State::Applied);
    life.advance(Duration::from_secs(10));
    assert_eq!(life.run(kept).state, State::Pending);
    life.reconfigure(world.config(&Shape::default()));
    life.reaches_in_time(kept, State::Applied);
}

#[test]
fn what_is_not_kept_any_more_goes_with_its_files() {
    let world = World::new();
    let life = world.live();
    let runs: Vec<_> = (0..25)
        .map(|_| {
            let run = life.queue("net", &auto());
            life.reaches_in_time(run, State::Applied);
            run
        })
        .collect();
    let directory = |place: usize| world.data_dir().join("runs").join(runs[place].to_string());
    // what came within a day stays, and the clock of records is the true one
    life.wait("all of it is old", async {
        for statement in [
            "DROP TRIGGER final_run_never_changes",
            "UPDATE runs SET state_changed_at = '2020' || substr(state_changed_at, 5)",
        ] {
            sql(&world, statement.to_owned()).await;
        }
    });
    let removed = life.wait("it is swept", life.engine().sweep()).unwrap().unwrap();
    assert_eq!(removed.runs, 5);
    life.until_seen("the oldest are gone", || (0..5).all(|place| !directory(place).exists()));
    assert!((5..25).all(|place| directory(place).exists()));
    assert!(life.wait("it is gone", life.store().run(runs[0])).is_err());
    assert_eq!(life.run(runs[5]).state, State::Applied);
    let next = life.queue("net", &auto());
    life.reaches_in_time(next, State::Applied);
}
