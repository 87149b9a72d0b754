//! `signalbox sentinel …`: policies on one's own desk. Nothing here needs a daemon but the mocks of a run.
//!
//! Files are those of the person who calls: paths are relative to the working directory, and may lead anywhere.
//! Of the network policies reach what they would reach in a run: remote sources by their sums, and hosts that are
//! named.

mod apply;
mod args;
mod duration;
mod fmt;
mod local;
pub(super) mod mocks;
mod test;

use super::failure::{Exit, Failure};
use super::output::Output;

pub(crate) use args::SentinelCommand;

pub(crate) fn run(command: &SentinelCommand, output: Output) -> Result<Exit, Failure> {
    match command {
        SentinelCommand::Test(args) => test::run(args, output),
        SentinelCommand::Apply(args) => apply::run(args, output),
        SentinelCommand::Fmt(args) => fmt::run(args, output),
        SentinelCommand::Mocks(args) => mocks::of_plan(args, output),
    }
}
