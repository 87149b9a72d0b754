//! `signalbox workspace …`.

use std::fmt::Write as _;

use client::{LockedBy, Workspace, WorkspaceSource};
use jiff::Timestamp;
use serde_json::json;

use super::args::WorkspaceCommand;
use super::context::Context;
use super::failure::Failure;
use super::json_output::WorkspaceShape;
use super::paint::{self, Paint};
use super::table::{Cell, Table};
use super::{names, terminal, time};

pub(crate) async fn run(command: WorkspaceCommand, context: &Context) -> Result<(), Failure> {
    let client = &context.client;
    match command {
        WorkspaceCommand::List => list(&client.all_workspaces().await?, context),
        WorkspaceCommand::Show { workspace } => {
            show(&names::workspace(&workspace.workspace, context).await?, context)
        }
        WorkspaceCommand::Lock { workspace, reason } => {
            let found = names::workspace(&workspace.workspace, context).await?;
            client.lock_workspace(&found.id, reason.as_deref().unwrap_or_default()).await?;
            done(&found.name, "locked: its runs stay pending until it is unlocked", context).await
        }
        WorkspaceCommand::Unlock { workspace, force } => {
            let found = names::workspace(&workspace.workspace, context).await?;
            if force {
                client.force_unlock_workspace(&found.id).await?;
            } else {
                client.unlock_workspace(&found.id).await?;
            }
            done(&found.name, "unlocked", context).await
        }
    }
}

async fn done(name: &str, what: &str, context: &Context) -> Result<(), Failure> {
    if context.output.json {
        let workspace = context.client.workspace(name).await?;
        return context.output.document(&WorkspaceShape::new(&workspace), false);
    }
    context.output.print(&format!("{}: {what}\n", terminal::line(name)))
}

fn list(workspaces: &[Workspace], context: &Context) -> Result<(), Failure> {
    let output = context.output;
    if output.json {
        let shapes: Vec<_> = workspaces.iter().map(WorkspaceShape::new).collect();
        return output.document(&json!({ "workspaces": shapes }), false);
    }
    if workspaces.is_empty() {
        output.note("there is no workspace that you may see");
        return Ok(());
    }
    output.print(&list_text(workspaces, Timestamp::now(), output.width, output.paint))
}

fn list_text(workspaces: &[Workspace], now: Timestamp, width: Option<usize>, paint: Paint) -> String {
    let mut table = Table::new(["NAME", "STATE", "RUN", "CHANGED", "LOCKED BY"]);
    for workspace in workspaces {
        let run = workspace.current_run.as_deref();
        let locked_by = match &workspace.locked_by {
            Some(LockedBy::User(name)) => terminal::line(name),
            // the run is in its own column
            Some(LockedBy::Run(_)) | None => String::new(),
        };
        table.row([
            terminal::line(&workspace.name).into(),
            run.map_or_else(
                || Cell::styled("no runs yet", paint::FAINT),
                |run| Cell::styled(terminal::line(run.state_name()), paint::state(run)),
            ),
            run.map(|run| terminal::line(&run.id)).unwrap_or_default().into(),
            time::ago(workspace.latest_change_at, now).into(),
            Cell::styled(locked_by, paint::WAITS),
        ]);
    }
    table.render(width, paint)
}

fn show(workspace: &Workspace, context: &Context) -> Result<(), Failure> {
    let output = context.output;
    if output.json {
        return output.document(&WorkspaceShape::new(workspace), false);
    }
    output.print(&show_text(workspace, Timestamp::now(), output.paint))
}

fn show_text(workspace: &Workspace, now: Timestamp, paint: Paint) -> String {
    let mut text = paint.with(paint::HEADING, &terminal::line(&workspace.name)) + "\n";
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            // writing into a string can't fail
            let _ = writeln!(text, "{} {value}", paint.with(paint::FAINT, &format!("{name:<12}")));
        }
    };
    field("Id", &terminal::line(&workspace.id));
    field("Description", &terminal::line(workspace.description.as_deref().unwrap_or_default()));
    let run = workspace.current_run.as_deref();
    field("State", &run.map_or_else(|| "no runs yet".to_owned(), |run| paint.state(run)));
    field("Run", &run.map(|run| terminal::line(&run.id)).unwrap_or_default());
    field("Lock", &lock(workspace, now));
    field("Auto-apply", if workspace.auto_apply { "on" } else { "off" });
    match workspace.source() {
        Some(WorkspaceSource::Git { url, r#ref }) => {
            field("Source", &terminal::line(url));
            field("Ref", &terminal::line(r#ref));
        }
        Some(WorkspaceSource::Directory { path }) => field("Source", &terminal::line(path)),
        Some(WorkspaceSource::Other) | None => {}
    }
    field("Directory", &terminal::line(&workspace.working_directory));
    let terraform = workspace.terraform_version_unknown().map(|why| format!("version unknown: {why}"));
    field("Terraform", &terminal::line(terraform.as_deref().unwrap_or(&workspace.terraform_version)));
    field("Created", &time::exact_and_ago(workspace.created_at, now));
    field("Changed", &time::exact_and_ago(workspace.latest_change_at, now));
    text
}

fn lock(workspace: &Workspace, now: Timestamp) -> String {
    let reason = terminal::line(&workspace.locked_reason);
    let since = workspace.locked_at().map(|at| format!(" since {}", time::exact_and_ago(at, now)));
    let since = since.unwrap_or_default();
    match &workspace.locked_by {
        Some(LockedBy::User(name)) if reason.is_empty() => format!("by {}{since}", terminal::line(name)),
        Some(LockedBy::User(name)) => format!("by {}{since}: {reason}", terminal::line(name)),
        Some(LockedBy::Run(id)) => format!("held by {}", terminal::line(id)),
        None if workspace.locked => "locked".to_owned(),
        None => "not locked".to_owned(),
    }
}
