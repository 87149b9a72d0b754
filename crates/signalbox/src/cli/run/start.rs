use super::super::args::StartArgs;
use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::follow::{self, Options};
use super::super::json_output::RunShape;
use super::super::terminal;

pub(super) async fn run(args: &StartArgs, context: &Context) -> Result<Exit, Failure> {
    let workspace = context.client.workspace(&args.workspace.workspace).await?;
    let run = context.client.create_run(&workspace.id, &args.new_run()).await?;
    let output = context.output;
    if args.follow {
        if !output.json {
            output.note(&format!(
                "{}: queued in {}",
                terminal::line(&run.id),
                terminal::line(&workspace.name)
            ));
        }
        return follow::follow(&run.id, Options::default(), context).await;
    }
    if output.json {
        let run = context.client.run(&run.id).await?;
        output.document(&RunShape::new(&run), false)?;
    } else {
        output.print(&format!(
            "{}: queued in {}\n",
            terminal::line(&run.id),
            terminal::line(&workspace.name)
        ))?;
        output.note(&format!("follow it with: signalbox logs -f {}", terminal::line(&run.id)));
    }
    Ok(Exit::Success)
}
