//! `signalbox run …`.

mod act;
mod list;
mod show;
mod start;

use super::args::RunCommand;
use super::context::Context;
use super::failure::{Exit, Failure};

pub(crate) use list::StateFilter;

pub(crate) async fn run(command: RunCommand, context: &Context) -> Result<Exit, Failure> {
    match command {
        RunCommand::Start(args) => start::run(&args, context).await,
        RunCommand::List(args) => list::run(&args, context).await,
        RunCommand::Show { run } => show::run(&run.run, context).await,
        RunCommand::Confirm { action, yes, follow } => act::confirm(&action, yes, follow, context).await,
        RunCommand::Discard { action } => act::discard(&action, context).await,
        RunCommand::Cancel { action, force: false } => act::cancel(&action, context).await,
        RunCommand::Cancel { action, force: true } => act::force_cancel(&action, context).await,
        RunCommand::Override { action, follow } => act::override_policies(&action, follow, context).await,
    }
}
