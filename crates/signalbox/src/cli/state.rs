//! `signalbox state …`.

use std::path::Path;

use client::{LockedBy, StateVersion, Workspace};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::args::StateCommand;
use super::context::Context;
use super::failure::Failure;
use super::{names, terminal};

pub(crate) async fn run(command: StateCommand, context: &Context) -> Result<(), Failure> {
    match command {
        StateCommand::List { workspace } => list(&workspace.workspace, context).await,
        StateCommand::Pull { workspace } => pull(&workspace.workspace, context).await,
        StateCommand::Push { workspace, file, force } => {
            push(&workspace.workspace, &file, force, context).await
        }
    }
}

/// The addresses of what is in it, as `terraform state list` prints them.
async fn list(name: &str, context: &Context) -> Result<(), Failure> {
    let state = current(name, context).await?;
    let state: State = serde_json::from_slice(&state)
        .map_err(|error| Failure::Local(format!("the state can't be read: {error}")))?;
    let addresses: Vec<String> = state.resources.iter().flat_map(Resource::addresses).collect();
    if context.output.json {
        return context.output.document(&json!({ "resources": addresses }), false);
    }
    if addresses.is_empty() {
        context.output.note("there is nothing in it");
    }
    context
        .output
        .print(&addresses.iter().map(|address| format!("{}\n", terminal::line(address))).collect::<String>())
}

/// A state, as far as it names what it holds.
#[derive(Deserialize)]
struct State {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    module: Option<String>,
    mode: String,
    r#type: String,
    name: String,
    #[serde(default)]
    instances: Vec<Instance>,
}

#[derive(Deserialize)]
struct Instance {
    index_key: Option<Value>,
}

impl Resource {
    fn addresses(&self) -> impl Iterator<Item = String> {
        let module = self.module.as_ref().map(|module| format!("{module}.")).unwrap_or_default();
        let data = if self.mode == "data" { "data." } else { "" };
        let address = format!("{module}{data}{}.{}", self.r#type, self.name);
        self.instances.iter().map(move |instance| match &instance.index_key {
            Some(key) => format!("{address}[{key}]"),
            None => address.clone(),
        })
    }
}

async fn pull(name: &str, context: &Context) -> Result<(), Failure> {
    // as it is: it is for programs
    context.output.print(&String::from_utf8_lossy(&current(name, context).await?))
}

/// The current state of the workspace.
async fn current(name: &str, context: &Context) -> Result<Vec<u8>, Failure> {
    let workspace = names::workspace(name, context).await?;
    match context.client.current_state(&workspace.id).await? {
        Some(state) => Ok(state),
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
    let standard_input;
    let file = if file == Path::new("-") {
        standard_input = read_all()?;
        standard_input.path()
    } else {
        file
    };
    // before the workspace is locked for it
    std::fs::File::open(file).map_err(|error| {
        Failure::Local(format!("can't read {}: {error}", terminal::line(&file.display().to_string())))
    })?;
    let workspace = names::workspace(name, context).await?;
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
            client.unlock_workspace(&workspace.id).await?;
            pushed
        }
        // the daemon knows whether that is the user
        Holder::Somebody => client.push_state(&workspace.id, file, force).await?,
    };
    told(&workspace, &pushed, context).await
}

/// What comes by the standard input, in a file that is gone when it is dropped.
fn read_all() -> Result<NamedTempFile, Failure> {
    let kept = NamedTempFile::new().and_then(|mut file| {
        std::io::copy(&mut std::io::stdin().lock(), &mut file)?;
        Ok(file)
    });
    kept.map_err(|error| Failure::Local(format!("can't keep what comes by the standard input: {error}")))
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
