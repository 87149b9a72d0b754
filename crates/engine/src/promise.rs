//! An apply is held against what was promised: changes that were made are in a state that is newer than the one it was given.
//!
//! Nothing found is no proof that there was nothing to find. A provisioner may have removed the state while terraform
//! wrote to it, which terraform does not notice; and one that was killed may have had no time to write it.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};

use files::Found;
use lifecycle::Stage;
use store::Run;

use crate::RunDir;
use crate::context::Context;
use crate::run_dir::open_file;
use crate::run_files::StageError;
use crate::stage::Ended;
use crate::state_keeper::Kept;

/// Of a log no more is read than this: it can be as long as a provisioner likes.
const MOST: u64 = 256 << 20;
/// A longer line is none of those that are looked for.
const LONGEST_LINE: u64 = 16 << 10;
/// More names help nobody.
const MOST_NAMES: usize = 10;

/// What an apply had to do with a state, and what it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    /// It was given one.
    given: bool,
    /// Its plan had changes.
    promised: bool,
    /// Its plan had changes that no state can leave out: something is made, destroyed or imported. An update may come out as
    /// what was there before: a value that was not known until then, or a provider that keeps to its own.
    certain: bool,
    /// It exited 0.
    succeeded: bool,
    /// It said that it works on a resource.
    began: bool,
}

/// Whether what was found fits; if not, in words what is wrong.
fn doubt(kept: &Kept, facts: Facts) -> Option<&'static str> {
    match kept {
        Kept::Version(_) | Kept::Trouble(_) => None,
        Kept::Unchanged if facts.succeeded && facts.certain => {
            Some("terraform says that it made changes, and left the state as it was")
        }
        Kept::Unchanged => None,
        Kept::Nothing if facts.given => Some("the state that terraform was given is gone"),
        Kept::Nothing if facts.succeeded && facts.promised => {
            Some("terraform says that it made changes, and left no state")
        }
        Kept::Nothing if facts.began => Some("terraform left no state"),
        Kept::Nothing => None,
    }
}

/// What was taken back of an apply whose state the daemon keeps, or what is wrong with it.
pub(crate) async fn check(
    context: &Context,
    run: &Run,
    ended: &Ended,
    kept: Kept,
) -> Result<Kept, StageError> {
    if matches!(kept, Kept::Version(_) | Kept::Trouble(_)) || ended.never_ran() {
        return Ok(kept);
    }
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let unfinished = work_in_log(&run_dir).await;
    let facts = Facts {
        given: context.store.current_state(run.workspace).await?.is_some(),
        promised: run.plan.as_ref().is_some_and(|plan| plan.has_changes),
        certain: run.plan.as_ref().is_some_and(|plan| plan.additions + plan.destructions + plan.imports > 0),
        succeeded: ended.failure().is_none(),
        began: unfinished.began,
    };
    let Some(words) = doubt(&kept, facts) else { return Ok(kept) };
    Ok(Kept::Trouble(format!(
        "{words}: what was made since the current state is in no state{}; look whether it exists, bring a state that knows \
         it with signalbox state push, then unlock the workspace. What is left lies in {}",
        unfinished.words(),
        run_dir.work().display()
    )))
}

/// What the log of an apply says of the work on resources.
#[derive(Debug, Default, PartialEq, Eq)]
struct Work {
    began: bool,
    /// Addresses of those that were worked on.
    addresses: BTreeSet<String>,
}

impl Work {
    /// ` (of a.b, c.d and 3 more)`; empty if nothing is known.
    fn words(&self) -> String {
        let names: Vec<&str> = self.addresses.iter().take(MOST_NAMES).map(String::as_str).collect();
        match self.addresses.len().saturating_sub(names.len()) {
            _ if names.is_empty() => String::new(),
            0 => format!(" ({})", names.join(", ")),
            more => format!(" ({} and {more} more)", names.join(", ")),
        }
    }

    fn read(&mut self, line: &str) {
        const BEGINNINGS: [&str; 4] =
            [": Creating...", ": Modifying...", ": Destroying...", ": Importing..."];
        let found = BEGINNINGS.iter().find_map(|beginning| line.find(beginning));
        if let Some(end) = found {
            self.began = true;
            if self.addresses.len() < 1000 {
                self.addresses.insert(line[..end].trim().to_owned());
            }
        }
    }
}

/// The words of the log decide nothing but whether to look more closely: what can't be read says nothing.
async fn work_in_log(run_dir: &RunDir) -> Work {
    let Ok(Found::File(log)) = open_file(&run_dir.log(Stage::Apply)).await else { return Work::default() };
    let read = tokio::task::spawn_blocking(move || {
        let mut work = Work::default();
        let mut log = BufReader::new(log.take(MOST));
        let mut line = Vec::new();
        loop {
            line.clear();
            match log.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return work,
                Ok(_) => work.read(&text::without_colours(&String::from_utf8_lossy(&line))),
            }
        }
    });
    read.await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use lifecycle::id::StateVersionId;

    use super::*;

    #[test]
    fn changes_that_were_promised_have_to_be_in_a_newer_state() {
        let facts = |given, promised, succeeded, began| Facts {
            given,
            promised,
            certain: promised,
            succeeded,
            began,
        };
        let doubted = |kept: &Kept, facts| doubt(kept, facts).is_some();
        for given in [true, false] {
            for succeeded in [true, false] {
                for began in [true, false] {
                    let facts = facts(given, true, succeeded, began);
                    assert!(!doubted(&Kept::Version(StateVersionId::generate()), facts));
                    assert_eq!(doubted(&Kept::Unchanged, facts), succeeded, "{facts:?}");
                    assert_eq!(doubted(&Kept::Nothing, facts), given || succeeded || began, "{facts:?}");
                }
            }
        }
        // a plan without changes that was applied all the same
        assert!(!doubted(&Kept::Unchanged, facts(true, false, true, false)));
        assert!(!doubted(&Kept::Nothing, facts(false, false, true, false)));
        // an update that came out as what was there before
        let updated = Facts { certain: false, ..facts(true, true, true, true) };
        assert!(!doubted(&Kept::Unchanged, updated) && doubted(&Kept::Nothing, updated));
    }

    #[test]
    fn work_on_resources_is_told_by_their_addresses() {
        let mut work = Work::default();
        for line in [
            "Terraform v1.11.4",
            "\u{1b}[0m\u{1b}[1mmodule.a[\"b: c\"].terraform_data.x: Creating...\u{1b}[0m\u{1b}[0m",
            "terraform_data.y: Still creating... [10s elapsed]",
            "terraform_data.z: Destroying... [id=1]",
        ] {
            work.read(&text::without_colours(line));
        }
        assert!(work.began);
        assert_eq!(work.words(), " (module.a[\"b: c\"].terraform_data.x, terraform_data.z)");
        assert_eq!(Work::default().words(), "");
    }
}
