//! State versions and outputs: read (tfe-api.md 5.9).

use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use lifecycle::access::Action;
use lifecycle::id::{StateVersionId, WorkspaceId};
use store::{StateOutput, StateVersion, Workspace, state_outputs};

use super::{Reader, files};
use crate::ApiState;
use crate::document::state_version::{self, OutputId};
use crate::document::user;
use crate::ground::{ApiError, Document, Id, Include, Included, Query, Resource, Result};

const INCLUDES: [&str; 5] = ["outputs", "run", "created_by", "run.created_by", "run.configuration_version"];

pub(super) fn router() -> Router<ApiState> {
    Router::new()
        .route("/api/v2/state-versions", get(search))
        .route("/api/v2/state-versions/{version}", get(read))
        .route("/api/v2/state-versions/{version}/download", get(download))
        .route("/api/v2/state-versions/{version}/outputs", get(outputs_of_version))
        .route("/api/v2/state-version-outputs/{output}", get(output))
        .route("/api/v2/workspaces/{workspace}/state-versions", get(list).post(upload))
        .route("/api/v2/workspaces/{workspace}/current-state-version", get(current))
        .route("/api/v2/workspaces/{workspace}/current-state-version-outputs", get(current_outputs))
}

/// The outputs in the state's file.
pub(super) async fn outputs(api: &ApiState, version: &StateVersion) -> Result<Vec<StateOutput>> {
    let bytes = api.store().blobs().read(version.digest).await?;
    files::parsed(move || state_outputs(&bytes)).await
}

pub(super) fn resource(api: &ApiState, version: &StateVersion, outputs: Option<&[StateOutput]>) -> Resource {
    // clients send their token there (tfe-api.md 0.5)
    let download_url = api.url(&format!("/api/v2/state-versions/{}/download", version.id));
    state_version::resource(version, outputs, &download_url)
}

async fn include(
    reader: &Reader,
    version: &StateVersion,
    workspace: &Workspace,
    include: &Include,
    outputs: &[StateOutput],
    included: &mut Included,
) -> Result<()> {
    if include.has("outputs") {
        outputs.iter().for_each(|output| included.add(state_version::listed_output(version.id, output)));
    }
    if include.has("created_by") {
        included.add(user::resource(&version.created_by));
    }
    if include.reaches("run")
        && let Some(run) = version.run
    {
        let run = reader.api.store().run(run).await?;
        included.add(reader.run_resource(&run, workspace).await?);
        reader.include_run(&run, workspace, include, "run.", included).await?;
    }
    Ok(())
}

async fn document(
    reader: &Reader,
    version: &StateVersion,
    workspace: &Workspace,
    wanted: &Include,
) -> Result<Document> {
    let outputs = outputs(&reader.api, version).await?;
    let mut included = Included::default();
    include(reader, version, workspace, wanted, &outputs, &mut included).await?;
    Ok(Document::one(resource(&reader.api, version, Some(&outputs))).including(included))
}

async fn page(reader: &Reader, workspace: &Workspace, query: &Query) -> Result<Document> {
    let wanted = query.include(&INCLUDES)?;
    let page = query.page()?;
    // only whole states are kept
    if query.list("filter[status]").is_some_and(|statuses| !statuses.contains(&"finalized")) {
        return Ok(query.paged(page, 0, vec![]));
    }
    let found = reader.api.store().state_versions(workspace.id, page).await?;
    let mut included = Included::default();
    let mut resources = Vec::with_capacity(found.items.len());
    for version in &found.items {
        // the outputs of each are in its file: read only where they are asked for
        let outputs = if wanted.has("outputs") { Some(outputs(&reader.api, version).await?) } else { None };
        let known = outputs.as_deref();
        include(reader, version, workspace, &wanted, known.unwrap_or_default(), &mut included).await?;
        resources.push(resource(&reader.api, version, known));
    }
    Ok(query.paged(page, found.total, resources).including(included))
}

async fn search(reader: Reader, query: Query) -> Result<Document> {
    let required = |name: &str| {
        let missing = || {
            ApiError::bad_parameter(name, "this parameter is needed: state versions are listed by workspace")
        };
        query.get(name).ok_or_else(missing)
    };
    let organization = required("filter[organization][name]")?;
    let name = required("filter[workspace][name]")?;
    reader.user.organization(organization)?;
    let workspace = reader.workspace_by_name(name).await?;
    page(&reader, &workspace, &query).await
}

async fn list(reader: Reader, Id(workspace): Id<WorkspaceId>, query: Query) -> Result<Document> {
    let workspace = reader.workspace(workspace).await?;
    page(&reader, &workspace, &query).await
}

async fn read(reader: Reader, Id(id): Id<StateVersionId>, query: Query) -> Result<Document> {
    let wanted = query.include(&INCLUDES)?;
    let (version, workspace) = reader.state_version(id).await?;
    document(&reader, &version, &workspace, &wanted).await
}

async fn current_state(reader: &Reader, workspace: WorkspaceId) -> Result<(StateVersion, Workspace)> {
    let workspace = reader.workspace(workspace).await?;
    let state = reader.api.store().current_state(workspace.id).await?;
    let missing = || ApiError::not_found(format_args!("a state version of workspace {}", workspace.name));
    Ok((state.ok_or_else(missing)?, workspace))
}

async fn current(reader: Reader, Id(workspace): Id<WorkspaceId>, query: Query) -> Result<Document> {
    let wanted = query.include(&INCLUDES)?;
    let (version, workspace) = current_state(&reader, workspace).await?;
    document(&reader, &version, &workspace, &wanted).await
}

async fn current_outputs(reader: Reader, Id(workspace): Id<WorkspaceId>) -> Result<Document> {
    let (version, _) = current_state(&reader, workspace).await?;
    let outputs = outputs(&reader.api, &version).await?;
    Ok(Document::all(outputs.iter().map(|output| state_version::listed_output(version.id, output)).collect()))
}

async fn outputs_of_version(reader: Reader, Id(id): Id<StateVersionId>, query: Query) -> Result<Document> {
    let page = query.page()?;
    let (version, _) = reader.state_version(id).await?;
    let outputs = outputs(&reader.api, &version).await?;
    let cut = Query::cut(page, outputs);
    let listed = cut.items.iter().map(|output| state_version::listed_output(version.id, output)).collect();
    Ok(query.paged(page, cut.total, listed))
}

async fn output(reader: Reader, Id(id): Id<OutputId>) -> Result<Document> {
    let (version, _) = reader.state_version_of(&id).await?;
    let outputs = outputs(&reader.api, &version).await?;
    let not_found = || ApiError::not_found(id.described());
    let output = outputs.iter().find(|output| id.names(output)).ok_or_else(not_found)?;
    Ok(Document::one(state_version::single_output(version.id, output)))
}

async fn download(reader: Reader, Id(id): Id<StateVersionId>) -> Result<impl IntoResponse> {
    let (version, _) = reader.state_version(id).await?;
    files::blob(&reader.api, version.digest, "application/json").await
}

async fn upload(reader: Reader, Id(workspace): Id<WorkspaceId>) -> Result<Document> {
    reader.workspace_for(workspace, Action::Lock).await?;
    Err(ApiError::not_supported(
        "uploading states is not supported yet: the daemon keeps the states that runs write",
    ))
}
