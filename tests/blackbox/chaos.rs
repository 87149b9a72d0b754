//! Kills at random moments, for as long as one likes: `just chaos`, with SIGNALBOX_CHAOS_KILLS and
//! SIGNALBOX_CHAOS_SEED.
//!
//! Runs of all kinds are queued, confirmed, discarded and cancelled while the daemon, an executor or terraform itself
//! is killed. After each round of kills everything has to come to its end: no run is stuck, no plan was applied twice,
//! what says Applied was applied, and nothing is left running. Where the daemon alone was killed no run errored.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use client::{NewRun, Run, RunAction};
use fastrand::Rng;

use crate::support::{Setup, World, auto_apply, processes, wait_for};

const WORKSPACES: [&str; 3] = ["net", "app", "data"];
/// Kills between two checks.
const ROUND: usize = 4;

/// Changes with each run, and takes long enough to be met while it is applied.
const CHANGING: &str = r#"
resource "terraform_data" "thing" {
  count            = 3
  triggers_replace = timestamp()
  provisioner "local-exec" {
    command = "sleep 0.05"
  }
}
"#;

/// What a round does to whom.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Victim {
    Daemon,
    /// An executor, and with it the word of what came of its terraform.
    Executor,
    Terraform,
}

struct Chaos {
    random: Rng,
    world: World,
    /// Those of this round.
    runs: Vec<Run>,
    /// Whether only daemons were killed in it.
    gentle: bool,
}

impl Chaos {
    async fn queue(&mut self) {
        let workspace = WORKSPACES[self.random.usize(..WORKSPACES.len())];
        let run = match self.random.u8(..6) {
            0 => NewRun { plan_only: Some(true), ..NewRun::default() },
            1 => NewRun::default(),
            _ => auto_apply(),
        };
        let run = self.world.queue_as("operator", workspace, run).await;
        self.runs.push(run);
    }

    /// A person does what people do. What is not legal any more is refused, which is as good.
    async fn decide(&mut self) {
        let Some(run) = self.random.choice(self.runs.iter()).cloned() else { return };
        let action = match self.random.u8(..8) {
            0 => RunAction::Cancel,
            1 => RunAction::Discard,
            _ => RunAction::Apply,
        };
        let _ = self.world.act("operator", &run, action).await;
    }

    fn kill(&mut self) {
        let victim = match self.random.u8(..8) {
            0 => Victim::Executor,
            1 => Victim::Terraform,
            _ => Victim::Daemon,
        };
        let of_a_run = |process: &processes::Process| {
            let terraform = process.command.contains("terraform ") && !process.command.contains(" version ");
            match victim {
                Victim::Daemon => false,
                Victim::Executor => process.command.contains("signalbox executor"),
                Victim::Terraform => terraform,
            }
        };
        let daemon = self.world.daemon().pid();
        let alive = processes::alive_below(self.world.path(), Some(daemon));
        match self.random.choice(alive.iter().filter(|process| of_a_run(process)).collect::<Vec<_>>()) {
            Some(process) => {
                self.gentle = false;
                // it may have ended meanwhile
                let _ = std::process::Command::new("kill").args(["-9", &process.pid.to_string()]).output();
            }
            None => {
                self.world.kill_daemon();
                self.world.start_daemon();
            }
        }
    }

    /// Everything comes to its end, and to the right one.
    async fn check(&mut self) {
        let runs = std::mem::take(&mut self.runs);
        let mut ended = Vec::new();
        for run in &runs {
            let what = format!("{} is over", run.id);
            let over = wait_for(&what, async || {
                let now = self.world.run(run).await;
                if now.state_name() == "Needs Confirmation" {
                    let _ = self.world.act("operator", run, RunAction::Apply).await;
                }
                Some(now).filter(Run::is_final)
            });
            ended.push(over.await);
        }
        let applied = applies(self.world.path());
        for run in &ended {
            let times = applied.get(&run.id).copied().unwrap_or_default();
            assert!(times <= 1, "{} was applied {times} times", run.id);
            if run.state_name() == "Applied" {
                assert_eq!(times, 1, "{} says that it was applied", run.id);
            }
            if self.gentle {
                let name = run.state_name();
                assert!(!name.ends_with("Errored"), "{} is {name}: {:?}", run.id, run.error());
            }
        }
        self.world.assert_nothing_is_left();
        for workspace in WORKSPACES {
            // an apply that was killed leaves a state that a person has to look at; here it is known to be harmless
            let found = self.world.workspace(workspace).await;
            if found.locked {
                assert!(!self.gentle, "{workspace} was locked, though nothing but daemons was killed");
                self.world.client("owner").force_unlock_workspace(&found.id).await.expect("it is unlocked");
            }
        }
        self.gentle = true;
    }
}

/// How often terraform was started to apply, by run.
fn applies(directory: &Path) -> HashMap<String, usize> {
    let mut times = HashMap::new();
    for run in std::fs::read_to_string(directory.join("applies")).unwrap_or_default().lines() {
        *times.entry(run.to_owned()).or_default() += 1;
    }
    times
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[tokio::test]
async fn whatever_is_killed_every_run_comes_to_its_end_and_none_is_applied_twice() {
    let kills = usize::try_from(setting("SIGNALBOX_CHAOS_KILLS", 4)).expect("a number of kills");
    let seed = setting("SIGNALBOX_CHAOS_SEED", fastrand::u64(..));
    eprintln!("SIGNALBOX_CHAOS_SEED={seed}");
    let mut setup = Setup::new().server("max_concurrent_runs = 2");
    let count = format!(
        "case \" $* \" in *\" apply \"*) echo \"$TFC_RUN_ID\" >> {};; esac",
        setup.path().join("applies").display()
    );
    for workspace in WORKSPACES {
        setup = setup.workspace_with_script(workspace, CHANGING, &count);
    }
    let random = Rng::with_seed(seed);
    let mut chaos = Chaos { random, world: setup.start(), runs: Vec::new(), gentle: true };
    for kill in 1..=kills {
        for _ in 0..chaos.random.usize(1..3) {
            chaos.queue().await;
        }
        chaos.decide().await;
        // a moment in the life of a run, whichever
        tokio::time::sleep(Duration::from_millis(chaos.random.u64(..900))).await;
        chaos.decide().await;
        chaos.kill();
        if kill % ROUND == 0 || kill == kills {
            chaos.check().await;
            eprintln!("{kill} kills");
        }
    }
    assert!(!applies(chaos.world.path()).is_empty(), "nothing was applied: this proves nothing");
}
