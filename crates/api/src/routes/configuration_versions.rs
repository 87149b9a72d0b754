//! Configuration versions: read (tfe-api.md 5.8).

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use lifecycle::access::Action;
use lifecycle::id::{ConfigurationVersionId, WorkspaceId};
use store::ConfigurationVersion;

use super::{Reader, files};
use crate::ApiState;
use crate::document::configuration_version;
use crate::ground::{ApiError, Document, Fault, Id, Included, Query, Result, User};

pub(super) fn router() -> Router<ApiState> {
    Router::new()
        .route("/api/v2/workspaces/{workspace}/configuration-versions", get(list).post(upload))
        .route("/api/v2/configuration-versions/{version}", get(read))
        .route("/api/v2/configuration-versions/{version}/download", get(download))
        .route("/api/v2/configuration-versions/{version}/ingress-attributes", get(ingress_attributes))
}

/// The configuration version that a run names.
pub(super) async fn named(api: &ApiState, id: ConfigurationVersionId) -> Result<ConfigurationVersion> {
    api.store().configuration_version(id).await.map_err(|error| match error {
        store::Error::NotFound(_) => {
            let pointer = "/data/relationships/configuration-version/data/id";
            ApiError::invalid(vec![Fault::at(pointer, "there is no such configuration version")])
        }
        other => other.into(),
    })
}

async fn visible(api: &ApiState, user: &User, id: ConfigurationVersionId) -> Result<ConfigurationVersion> {
    let version = api.store().configuration_version(id).await;
    let what = format!("configuration version {id}");
    let version = version.map_err(|error| ApiError::from(error).about(&what))?;
    Reader { api, user }.workspace(version.workspace).await.map_err(|error| error.about(&what))?;
    Ok(version)
}

pub(super) async fn document(
    api: &ApiState,
    user: &User,
    id: ConfigurationVersionId,
    query: &Query,
) -> Result<Document> {
    let include = query.include(&["ingress_attributes"])?;
    let version = visible(api, user, id).await?;
    let mut included = Included::default();
    if include.has("ingress_attributes") {
        configuration_version::ingress_attributes(&version).into_iter().for_each(|it| included.add(it));
    }
    Ok(Document::one(configuration_version::resource(&version)).including(included))
}

/// The tar.gz.
pub(super) async fn content(
    api: &ApiState,
    user: &User,
    id: ConfigurationVersionId,
) -> Result<impl IntoResponse + use<>> {
    let version = visible(api, user, id).await?;
    let digest = version
        .digest()
        .ok_or_else(|| ApiError::not_found(format_args!("the content of configuration version {id}")))?;
    files::blob(api, digest, "application/x-gzip").await
}

async fn read(
    State(api): State<ApiState>,
    user: User,
    Id(id): Id<ConfigurationVersionId>,
    query: Query,
) -> Result<Document> {
    document(&api, &user, id, &query).await
}

async fn download(
    State(api): State<ApiState>,
    user: User,
    Id(id): Id<ConfigurationVersionId>,
) -> Result<impl IntoResponse> {
    content(&api, &user, id).await
}

async fn ingress_attributes(
    State(api): State<ApiState>,
    user: User,
    Id(id): Id<ConfigurationVersionId>,
) -> Result<Document> {
    let version = visible(&api, &user, id).await?;
    let attributes = configuration_version::ingress_attributes(&version);
    attributes
        .map(Document::one)
        .ok_or_else(|| ApiError::not_found(format_args!("ingress attributes of {id}")))
}

async fn list(
    State(api): State<ApiState>,
    user: User,
    Id(workspace): Id<WorkspaceId>,
    query: Query,
) -> Result<Document> {
    let workspace = Reader { api: &api, user: &user }.workspace(workspace).await?;
    let page = query.page()?;
    let found = api.store().configuration_versions(workspace.id, page).await?;
    Ok(query.paged(page, found.total, found.items.iter().map(configuration_version::resource).collect()))
}

async fn upload(State(api): State<ApiState>, user: User, Id(workspace): Id<WorkspaceId>) -> Result<Document> {
    api.engine().workspace_for(&user.name, workspace, Action::QueueRun).await?;
    Err(ApiError::not_supported(
        "uploading configurations is not supported yet: runs take the source of the workspace",
    ))
}
