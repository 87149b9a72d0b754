//! `signalbox state …`.

use std::path::Path;

use client::{LockedBy, StateVersion, Workspace};
use serde_json::json;

use super::args::StateCommand;
use super::context::Context;
use super::failure::Failure;
use super::terminal;

pub(crate) async fn run(command: StateCommand, context: &Context) -> Result<(), Failure> {
    match command {
        StateCommand::Pull { workspace } => pull(&workspace.workspace, context).await,
        StateCommand::Push { workspace, file, force } => {
            push(&workspace.workspace, &file, force, context).await
        }
    }
}

async fn pull(name: &str, context: &Context) -> Result<(), Failure> {
    let workspace = context.client.workspace(name).await?;
    match context.client.current_state(&workspace.id).await? {
        // as it is: it is for programs
        Some(state) => context.output.print(&String::from_utf8_lossy(&state)),
        None => {
            let name = terminal::line(&workspace.name);
            Err(Failure::Local(match workspace.signalbox.state_kept_by.as_deref() {
                None | Some("signalbox") => format!("{name} has no state"),
                Some(backend) => format!(
                    "the state of {name} is kept by the backend \"{}\" that its configuration names: read it there, with \
                     terraform state pull where terraform is initialised with it",
                    terminal::line(backend)
                ),
            }))
        }
    }
}

async fn push(name: &str, file: &Path, force: bool, context: &Context) -> Result<(), Failure> {
    let client = &context.client;
    // before the workspace is locked for it
    std::fs::File::open(file).map_err(|error| {
        Failure::Local(format!("can't read {}: {error}", terminal::line(&file.display().to_string())))
    })?;
    let workspace = client.workspace(name).await?;
    let pushed = match holder(&workspace) {
        Holder::Nobody => {
            client.lock_workspace(&workspace.id, "a state is being pushed").await?;
            let pushed = client.push_state(&workspace.id, file, force).await;
            let unlocked = client.unlock_workspace(&workspace.id).await;
            // what went wrong first is what has to be told
            let pushed = pushed?;
            unlocked?;
            pushed
        }
        Holder::Daemon => {
            let pushed = client.push_state(&workspace.id, file, force).await?;
            if let Err(error) = client.force_unlock_workspace(&workspace.id).await {
                // the state is there, whoever may release the lock
                context.output.note(&format!("the lock stays: {}", terminal::line(&error.to_string())));
            }
            pushed
        }
        // the daemon knows whether that is the user
        Holder::Somebody => client.push_state(&workspace.id, file, force).await?,
    };
    told(&workspace, &pushed, context).await
}

enum Holder {
    Nobody,
    Daemon,
    Somebody,
}

fn holder(workspace: &Workspace) -> Holder {
    match &workspace.locked_by {
        Some(LockedBy::User(name)) if name == store::Lock::DAEMON => Holder::Daemon,
        None if !workspace.locked => Holder::Nobody,
        _ => Holder::Somebody,
    }
}

async fn told(workspace: &Workspace, pushed: &StateVersion, context: &Context) -> Result<(), Failure> {
    let now = context.client.workspace(&workspace.name).await?;
    // a run that has waited for this may hold it by now, which is no lock
    let locked = matches!(now.locked_by, Some(LockedBy::User(_)));
    let StateVersion { id, attributes, .. } = pushed;
    let serial = attributes.serial;
    if context.output.json {
        let shape =
            json!({ "workspace": workspace.name, "state_version": id, "serial": serial, "locked": locked });
        return context.output.document(&shape, false);
    }
    let lock = if locked { "locked" } else { "not locked" };
    let (name, id) = (terminal::line(&workspace.name), terminal::line(id));
    context
        .output
        .print(&format!("{name}: the state is {id} now, with serial {serial}; the workspace is {lock}\n"))
}
