//! Configuration versions: read (tfe-api.md 5.8).

use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use lifecycle::access::Action;
use lifecycle::id::{ConfigurationVersionId, WorkspaceId};
use store::ConfigurationVersion;
use wire::Included;

use super::{Reader, files};
use crate::ApiState;
use crate::document::configuration_version;
use crate::jsonapi::{ApiError, Document, Fault, Id, Query, Result};

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

pub(super) async fn document(reader: &Reader, id: ConfigurationVersionId, query: &Query) -> Result<Document> {
    let include = query.include(&["ingress_attributes"])?;
    let (version, _) = reader.configuration_version(id).await?;
    let mut included = Included::default();
    if include.has("ingress_attributes") {
        configuration_version::ingress_attributes(&version).iter().for_each(|it| included.add(it));
    }
    Ok(Document::one(configuration_version::resource(&version)).including(included))
}

/// The tar.gz.
pub(super) async fn content(
    reader: &Reader,
    id: ConfigurationVersionId,
) -> Result<impl IntoResponse + use<>> {
    let (version, _) = reader.configuration_version(id).await?;
    let digest = version
        .digest()
        .ok_or_else(|| ApiError::not_found(format_args!("the content of {}", id.described())))?;
    files::blob(&reader.api, digest, "application/x-gzip").await
}

async fn read(reader: Reader, Id(id): Id<ConfigurationVersionId>, query: Query) -> Result<Document> {
    document(&reader, id, &query).await
}

async fn download(reader: Reader, Id(id): Id<ConfigurationVersionId>) -> Result<impl IntoResponse> {
    content(&reader, id).await
}

async fn ingress_attributes(reader: Reader, Id(id): Id<ConfigurationVersionId>) -> Result<Document> {
    let (version, _) = reader.configuration_version(id).await?;
    let attributes = configuration_version::ingress_attributes(&version);
    attributes
        .map(Document::one)
        .ok_or_else(|| ApiError::not_found(format_args!("ingress attributes of {}", id.described())))
}

async fn list(reader: Reader, Id(workspace): Id<WorkspaceId>, query: Query) -> Result<Document> {
    let workspace = reader.workspace(workspace).await?;
    let page = query.page()?;
    let found = reader.api.store().configuration_versions(workspace.id, page).await?;
    Ok(query.paged(page, found.total, found.items.iter().map(configuration_version::resource).collect()))
}

async fn upload(reader: Reader, Id(workspace): Id<WorkspaceId>) -> Result<Document> {
    reader.workspace_for(workspace, Action::QueueRun).await?;
    Err(ApiError::not_supported(
        "uploading configurations is not supported yet: runs take the source of the workspace",
    ))
}
