//! State versions and outputs.

use store::{StateKeeper, StateOutput, StateVersion, Workspace};
use wire::{Document, Included, Many, One, StateOutputAttributes, StateVersionAttributes};

use crate::document::{state_version, user};
use crate::jsonapi::{ApiError, Include, Parameter, Result, cut};
use crate::operation::{
    Action, AnyStateVersion, Ask, OnAnyStateVersion, OnNamedWorkspace, OnOutput, OnStateVersion, OnWorkspace,
    Operation, Page, Raw, TerraformJson, get,
};
use crate::reader::Reader;

const INCLUDES: [&str; 5] = ["outputs", "run", "created_by", "run.created_by", "run.configuration_version"];

const STATUS: [Parameter; 1] = [Parameter::new("filter[status]", "Only finalized ones are kept.")];

const WORKSPACE: [Parameter; 2] = [
    Parameter::needed("filter[organization][name]", "The name of the organization."),
    Parameter::needed("filter[workspace][name]", "The name of the workspace."),
];

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/v2/state-versions", Action::Read)
            .says("Lists the state versions of a workspace that the query names.")
            .includes(&INCLUDES)
            .parameters(&WORKSPACE)
            .parameters(&STATUS)
            .to(search),
        get("/api/v2/workspaces/{workspace}/state-versions", Action::Read)
            .says("Lists the state versions of a workspace.")
            .includes(&INCLUDES)
            .parameters(&STATUS)
            .to(list),
        get("/api/v2/workspaces/{workspace}/current-state-version", Action::Read)
            .says("Reads the current state version.")
            .includes(&INCLUDES)
            .to(current),
        get("/api/v2/workspaces/{workspace}/current-state-version-outputs", Action::Read)
            .says("Lists the outputs of the current state version.")
            .to(current_outputs),
        get("/api/v2/state-versions/{state_version}", Action::Read)
            .says("Reads a state version.")
            .includes(&INCLUDES)
            .to(read),
        get("/api/v2/state-versions/{state_version}/download", Action::Read)
            .says("Reads a state as terraform wrote it.")
            .to(download),
        get("/api/v2/state-versions/{state_version}/json-download", Action::Read)
            .says("Reads a state as terraform show -json gave it, if it was brought with it.")
            .to(download_json),
        get("/api/v2/state-versions/{state_version}/outputs", Action::Read)
            .says("Lists the outputs of a state version.")
            .to(outputs),
        get("/api/v2/state-version-outputs/{state_version_output}", Action::Read)
            .says("Reads an output, with its value even if it is sensitive.")
            .to(output),
    ]
}

async fn include(
    reader: &Reader,
    version: &StateVersion,
    workspace: &Workspace,
    include: &Include,
    included: &mut Included,
) -> Result<()> {
    if include.has("outputs") {
        for output in &reader.outputs(version).await? {
            included.add(&state_version::listed_output(version.id, output));
        }
    }
    if include.has("created_by") {
        included.add(&user::resource(&version.created_by));
    }
    if include.reaches("run")
        && let Some(run) = version.run
    {
        let run = reader.api.store().run(run).await?;
        reader.run_along(&run, workspace, include, "run.", included).await?;
    }
    Ok(())
}

async fn document(
    reader: &Reader,
    version: &StateVersion,
    workspace: &Workspace,
    wanted: &Include,
) -> Result<One<StateVersionAttributes>> {
    let names = reader.output_names(version).await?;
    let mut included = Included::default();
    include(reader, version, workspace, wanted, &mut included).await?;
    let resource = reader.state_version_resource(version, Some(&names));
    Ok(Document::from(resource).including(included))
}

async fn page(reader: &Reader, workspace: &Workspace, ask: &Ask) -> Result<Page<StateVersionAttributes>> {
    // only whole states are kept
    if ask.query.list("filter[status]").is_some_and(|statuses| !statuses.contains(&"finalized")) {
        return Ok(ask.paged(0, vec![]));
    }
    let found = reader.api.store().state_versions(workspace.id, ask.page).await?;
    let mut included = Included::default();
    let mut resources = Vec::with_capacity(found.items.len());
    for version in &found.items {
        // the outputs of each are in its file: read only where they are asked for
        let names = if ask.include.has("outputs") { Some(reader.output_names(version).await?) } else { None };
        include(reader, version, workspace, &ask.include, &mut included).await?;
        resources.push(reader.state_version_resource(version, names.as_deref()));
    }
    Ok(ask.paged(found.total, resources).including(included))
}

async fn search(on: OnNamedWorkspace, ask: Ask) -> Result<Page<StateVersionAttributes>> {
    let required = |name: &str| {
        let missing = || {
            ApiError::bad_parameter(name, "this parameter is needed: state versions are listed by workspace")
        };
        ask.query.get(name).ok_or_else(missing)
    };
    let organization = required("filter[organization][name]")?;
    let name = required("filter[workspace][name]")?;
    let workspace = on.workspace_by_name(organization, name).await?;
    page(&on.reader, &workspace, &ask).await
}

async fn list(on: OnWorkspace, ask: Ask) -> Result<Page<StateVersionAttributes>> {
    page(&on.reader, &on.workspace, &ask).await
}

async fn read(on: OnAnyStateVersion, ask: Ask) -> Result<One<StateVersionAttributes>> {
    match &on.version {
        AnyStateVersion::Kept(kept) => document(&on.reader, &kept.0, &kept.1, &ask.include).await,
        AnyStateVersion::Announced(upload) => Ok(on.reader.state_upload_resource(upload).into()),
    }
}

async fn current_state(on: &OnWorkspace) -> Result<StateVersion> {
    if let Some(StateKeeper::Backend(kind)) = &on.workspace.state_keeper {
        return Err(ApiError::not_found(format_args!(
            "a state of workspace {} here, since the backend {kind:?} of its configuration keeps it",
            on.workspace.name
        )));
    }
    let state = on.reader.api.store().current_state(on.workspace.id).await?;
    let missing = || ApiError::not_found(format_args!("a state version of workspace {}", on.workspace.name));
    state.ok_or_else(missing)
}

async fn current(on: OnWorkspace, ask: Ask) -> Result<One<StateVersionAttributes>> {
    document(&on.reader, &current_state(&on).await?, &on.workspace, &ask.include).await
}

fn listed(version: &StateVersion, outputs: &[StateOutput]) -> Vec<wire::StateOutput> {
    outputs.iter().map(|output| state_version::listed_output(version.id, output)).collect()
}

async fn current_outputs(on: OnWorkspace, _: Ask) -> Result<Many<StateOutputAttributes>> {
    let version = current_state(&on).await?;
    Ok(listed(&version, &on.reader.outputs(&version).await?).into())
}

async fn outputs(on: OnStateVersion, ask: Ask) -> Result<Page<StateOutputAttributes>> {
    let cut = cut(ask.page, on.reader.outputs(&on.version).await?);
    Ok(ask.paged(cut.total, listed(&on.version, &cut.items)))
}

async fn output(on: OnOutput, _: Ask) -> Result<One<StateOutputAttributes>> {
    let outputs = on.reader.outputs(&on.version).await?;
    let not_found = || ApiError::not_found(on.id.described());
    let output = outputs.iter().find(|output| on.id.names(output)).ok_or_else(not_found)?;
    Ok(state_version::single_output(on.version.id, output).into())
}

async fn download_json(on: OnStateVersion, _: Ask) -> Result<Raw<TerraformJson>> {
    let missing = || ApiError::not_found(format_args!("JSON of {}", on.version.id.described()));
    Raw::blob(&on.reader.api, on.version.json.ok_or_else(missing)?).await
}

async fn download(on: OnStateVersion, _: Ask) -> Result<Raw<TerraformJson>> {
    Raw::blob(&on.reader.api, on.version.digest).await
}
