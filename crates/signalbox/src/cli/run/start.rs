use client::{LockedBy, Run, Workspace};

use super::super::args::StartArgs;
use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::follow::{self, Options};
use super::super::json_output::RunShape;
use super::super::{names, paint, terminal};

/// What may surprise who queued it.
fn remarks(args: &StartArgs, workspace: &Workspace, run: &Run) -> Vec<String> {
    let mut remarks = Vec::new();
    if args.auto_apply == Some(true) && !run.permissions.can_apply {
        remarks.push(format!(
            "applying in {} takes write access, which you don't have: its plan will wait for somebody who does",
            workspace.name
        ));
    }
    if let Some(LockedBy::User(name)) = &workspace.locked_by {
        let reason = &workspace.locked_reason;
        let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        remarks
            .push(format!("{} is locked by {name}{why}: the run waits until it is unlocked", workspace.name));
    }
    remarks
}

pub(super) async fn run(args: &StartArgs, context: &Context) -> Result<Exit, Failure> {
    let workspace = names::workspace(&args.workspace.workspace, context).await?;
    let run = context.client.create_run(&workspace.id, &args.new_run()?).await?;
    let output = context.output;
    for remark in remarks(args, &workspace, &run) {
        output.note(&format!("{} {}", output.notes.with(paint::WAITS, "note:"), terminal::line(&remark)));
    }
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
