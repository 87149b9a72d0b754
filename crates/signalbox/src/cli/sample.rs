//! Documents for tests.

use client::Run;
use lifecycle::State;
use wire::{RunAttributes, samples};

/// A run of `network-prod` in that state, with attributes changed.
pub(crate) fn run(state: State, change: impl FnOnce(&mut RunAttributes)) -> Run {
    let mut run = samples::run(state);
    change(&mut run.attributes);
    let document = serde_json::to_string(&samples::document(run)).unwrap();
    Run::from_document(&document).unwrap()
}
