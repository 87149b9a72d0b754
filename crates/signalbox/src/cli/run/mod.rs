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
        RunCommand::Show { mut run } => {
            run.resolve(context).await?;
            show::run(&run.run, context).await
        }
        RunCommand::Confirm { mut action, yes, follow } => {
            action.run.resolve(context).await?;
            act::confirm(&action, yes, follow, context).await
        }
        RunCommand::Discard { mut action } => {
            action.run.resolve(context).await?;
            act::discard(&action, context).await
        }
        RunCommand::Cancel { mut action, force } => {
            action.run.resolve(context).await?;
            if force {
                act::force_cancel(&action, context).await
            } else {
                act::cancel(&action, context).await
            }
        }
        RunCommand::Override { mut action, follow } => {
            action.run.resolve(context).await?;
            act::override_policies(&action, follow, context).await
        }
    }
}
