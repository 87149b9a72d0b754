//! State versions and outputs, and the states that people bring (tfe-api.md 5.9).

use axum::Router;
use axum::extract::{FromRequest as _, Request};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::StatePush;
use lifecycle::access::Action;
use lifecycle::id::{StateVersionId, WorkspaceId};
use serde::Deserialize;
use store::{StateOutput, StateVersion, Workspace, state_outputs};
use wire::{Included, StateVersionAttributes};

use super::{Reader, files};
use crate::ApiState;
use crate::document::state_version::{self, OutputId};
use crate::document::user;
use crate::jsonapi::{ApiError, Document, Fault, Id, Include, Query, Result, StateJson};

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

pub(super) fn resource(
    api: &ApiState,
    version: &StateVersion,
    outputs: Option<&[StateOutput]>,
) -> wire::StateVersion {
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
        outputs.iter().for_each(|output| included.add(&state_version::listed_output(version.id, output)));
    }
    if include.has("created_by") {
        included.add(&user::resource(&version.created_by));
    }
    if include.reaches("run")
        && let Some(run) = version.run
    {
        let run = reader.api.store().run(run).await?;
        included.add(&reader.run_resource(&run, workspace).await?);
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
        return Ok(query.paged::<StateVersionAttributes>(page, 0, vec![]));
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

#[derive(Deserialize)]
struct Upload {
    data: UploadData,
}

#[derive(Deserialize)]
struct UploadData {
    attributes: UploadAttributes,
}

/// The `md5` that clients send as well guards an upload in two steps; here the state is there or the request is not.
#[derive(Deserialize)]
struct UploadAttributes {
    /// Base64.
    state: Option<String>,
    serial: Option<u64>,
    lineage: Option<String>,
    #[serde(default)]
    force: bool,
}

async fn upload(
    reader: Reader,
    Id(workspace): Id<WorkspaceId>,
    request: Request,
) -> Result<(StatusCode, Document)> {
    // before the body, which is large: only who may write it has it read
    reader.workspace_for(workspace, Action::WriteState).await?;
    let StateJson(Upload { data: UploadData { attributes } }) =
        StateJson::from_request(request, &reader.api).await?;
    let at_state = |detail: &str| ApiError::invalid(vec![Fault::at("/data/attributes/state", detail)]);
    // by these first words clients know that they have to send the state along
    let missing =
        "param is missing or the value is empty: state (in base64; uploads in two steps are not supported)";
    let state =
        attributes.state.as_deref().filter(|state| !state.is_empty()).ok_or_else(|| at_state(missing))?;
    let state = BASE64_STANDARD.decode(state).map_err(|error| at_state(&format!("is no base64: {error}")))?;
    let UploadAttributes { serial, lineage, force, .. } = attributes;
    let push = StatePush { state, serial, lineage, force };
    let Reader { api, user } = &reader;
    let version = api.engine().push_state(&user.name, workspace, push).await?;
    let outputs = outputs(api, &version).await?;
    Ok((StatusCode::CREATED, Document::one(resource(api, &version, Some(&outputs)))))
}
