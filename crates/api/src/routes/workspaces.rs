//! Workspaces: list, read, lock. Their settings live in the config file.

use wire::{LockReason, One, WorkspaceAttributes};

use super::workspace_list;
use crate::jsonapi::{ApiError, Result};
use crate::operation::{
    Action, Ask, ById, ByName, OnOrganization, OnWorkspace, Operation, Refused, Token, Visible, delete, get,
    patch, post,
};
use crate::reader::Reader;

const INCLUDES: [&str; 15] = [
    "organization",
    "current_run",
    "current_run.plan",
    "current_run.apply",
    "current_run.created_by",
    "current_run.configuration_version",
    "current_run.configuration_version.ingress_attributes",
    "current_configuration_version",
    "current_configuration_version.ingress_attributes",
    "current_state_version",
    "outputs",
    "locked_by",
    "project",
    "readme",
    "effective_tag_bindings",
];

pub(super) fn operations() -> Vec<Operation> {
    const ALL: &str = "/api/v2/organizations/{organization}/workspaces";
    const NAMED: &str = "/api/v2/organizations/{organization}/workspaces/{name}";
    const ONE: &str = "/api/v2/workspaces/{workspace}";
    vec![
        get(ALL, Visible)
            .says("Lists the workspaces.")
            .includes(&INCLUDES)
            .parameters(&workspace_list::PARAMETERS)
            .to(workspace_list::list),
        post(ALL, Token).says("Refused: workspaces are kept in the config file.").to(create),
        get(NAMED, Action::Read)
            .says("Reads a workspace by its name.")
            .includes(&INCLUDES)
            .to(read::<ByName>),
        patch(NAMED, Action::Read)
            .says("Refused: workspaces are kept in the config file.")
            .to(change::<ByName>),
        delete(NAMED, Action::Read)
            .says("Refused: workspaces are kept in the config file.")
            .to(change::<ByName>),
        get(ONE, Action::Read).says("Reads a workspace.").includes(&INCLUDES).to(read::<ById>),
        patch(ONE, Action::Read).says("Refused: workspaces are kept in the config file.").to(change::<ById>),
        delete(ONE, Action::Read).says("Refused: workspaces are kept in the config file.").to(change::<ById>),
        post("/api/v2/workspaces/{workspace}/actions/lock", Action::Lock)
            .says("Locks a workspace: its runs stay pending.")
            .conflicts()
            .to(lock),
        post("/api/v2/workspaces/{workspace}/actions/unlock", Action::Lock)
            .says("Releases one's own lock.")
            .conflicts()
            .to(unlock),
        post("/api/v2/workspaces/{workspace}/actions/force-unlock", Action::ForceUnlock)
            .says("Releases anybody's lock.")
            .conflicts()
            .to(force_unlock),
    ]
}

async fn read<By>(on: OnWorkspace<By>, ask: Ask) -> Result<One<WorkspaceAttributes>> {
    on.reader.workspace_document(&on.workspace, &ask.include).await
}

async fn lock(on: OnWorkspace, ask: Ask<LockReason>) -> Result<One<WorkspaceAttributes>> {
    let Reader { api, user } = &on.reader;
    let locked = api.engine().lock_workspace(&user.name, on.workspace.id, ask.body.text()).await?;
    on.reader.workspace_document(&locked, &ask.include).await
}

async fn unlock(on: OnWorkspace, ask: Ask) -> Result<One<WorkspaceAttributes>> {
    let Reader { api, user } = &on.reader;
    let unlocked = api.engine().unlock_workspace(&user.name, on.workspace.id).await?;
    on.reader.workspace_document(&unlocked, &ask.include).await
}

async fn force_unlock(on: OnWorkspace, ask: Ask) -> Result<One<WorkspaceAttributes>> {
    let Reader { api, user } = &on.reader;
    let unlocked = api.engine().force_unlock_workspace(&user.name, on.workspace.id).await?;
    on.reader.workspace_document(&unlocked, &ask.include).await
}

const IN_THE_CONFIG_FILE: &str = "workspaces are kept in the daemon's config file: change them there";

async fn create(_: OnOrganization, _: Ask) -> Result<Refused> {
    Err(ApiError::not_supported(IN_THE_CONFIG_FILE))
}

async fn change<By>(_: OnWorkspace<By>, _: Ask) -> Result<Refused> {
    Err(ApiError::not_supported(IN_THE_CONFIG_FILE))
}
