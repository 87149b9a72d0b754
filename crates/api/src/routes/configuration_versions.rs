//! Configuration versions: read.

use lifecycle::id::{ConfigurationVersionId, WorkspaceId};
use store::ConfigurationVersion;
use wire::{ConfigurationVersionAttributes, Included, IngressAttributesAttributes, One};

use super::run_create::CONFIGURATION_VERSION;
use crate::ApiState;
use crate::document::configuration_version;
use crate::jsonapi::{ApiError, Fault, Include, Result};
use crate::operation::{
    Action, Archive, Ask, OnConfigurationVersion, OnRun, OnWorkspace, Operation, Page, Raw, Refused, get,
    post,
};

const INCLUDES: [&str; 1] = ["ingress_attributes"];

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/v2/workspaces/{workspace}/configuration-versions", Action::Read)
            .says("Lists the configuration versions of a workspace.")
            .to(list),
        post("/api/v2/workspaces/{workspace}/configuration-versions", Action::QueueRun)
            .says("Refused: configurations are not uploaded yet.")
            .to(upload),
        get("/api/v2/configuration-versions/{configuration_version}", Action::Read)
            .says("Reads a configuration version.")
            .includes(&INCLUDES)
            .to(read),
        get("/api/v2/configuration-versions/{configuration_version}/download", Action::Read)
            .says("Reads the content of a configuration version.")
            .to(download),
        get("/api/v2/configuration-versions/{configuration_version}/ingress-attributes", Action::Read)
            .says("Reads the commit that a configuration version was taken from.")
            .to(ingress_attributes),
        get("/api/v2/runs/{run}/configuration-version", Action::Read)
            .says("Reads the configuration version that a run runs on.")
            .includes(&INCLUDES)
            .to(of_run),
        get("/api/v2/runs/{run}/configuration-version/download", Action::Read)
            .says("Reads the content of the configuration version that a run runs on.")
            .to(download_of_run),
    ]
}

async fn list(on: OnWorkspace, ask: Ask) -> Result<Page<ConfigurationVersionAttributes>> {
    let found = on.reader.api.store().configuration_versions(on.workspace.id, ask.page).await?;
    Ok(ask.paged(found.total, found.items.iter().map(configuration_version::resource).collect()))
}

async fn upload(_: OnWorkspace, _: Ask) -> Result<Refused> {
    Err(ApiError::not_supported(
        "uploading configurations is not supported yet: runs take the source of the workspace",
    ))
}

async fn read(on: OnConfigurationVersion, ask: Ask) -> Result<One<ConfigurationVersionAttributes>> {
    Ok(document(&on.version, &ask.include))
}

fn document(version: &ConfigurationVersion, include: &Include) -> One<ConfigurationVersionAttributes> {
    let mut included = Included::default();
    if include.has("ingress_attributes") {
        configuration_version::ingress_attributes(version).iter().for_each(|it| included.add(it));
    }
    One::from(configuration_version::resource(version)).including(included)
}

async fn download(on: OnConfigurationVersion, _: Ask) -> Result<Raw<Archive>> {
    content(&on.reader.api, &on.version).await
}

/// The tar.gz.
async fn content(api: &ApiState, version: &ConfigurationVersion) -> Result<Raw<Archive>> {
    let missing = || ApiError::not_found(format_args!("the content of {}", version.id.described()));
    Raw::blob(api, version.digest().ok_or_else(missing)?).await
}

async fn ingress_attributes(on: OnConfigurationVersion, _: Ask) -> Result<One<IngressAttributesAttributes>> {
    let missing = || ApiError::not_found(format_args!("ingress attributes of {}", on.version.id.described()));
    configuration_version::ingress_attributes(&on.version).map(One::from).ok_or_else(missing)
}

/// What the run took; nothing before its plan has it.
async fn taken(on: &OnRun) -> Result<ConfigurationVersion> {
    let missing = || ApiError::not_found(format_args!("a configuration version of {}", on.run.id));
    let id = on.run.configuration_version.ok_or_else(missing)?;
    on.reader.configuration_version(id, Action::Read).await
}

async fn of_run(on: OnRun, ask: Ask) -> Result<One<ConfigurationVersionAttributes>> {
    Ok(document(&taken(&on).await?, &ask.include))
}

async fn download_of_run(on: OnRun, _: Ask) -> Result<Raw<Archive>> {
    content(&on.reader.api, &taken(&on).await?).await
}

/// The configuration version that a request for a run in this workspace names. One of another workspace is answered as
/// one that is not there: whether it is, is for those to know who may read that workspace.
pub(super) async fn named(
    api: &ApiState,
    id: ConfigurationVersionId,
    workspace: WorkspaceId,
) -> Result<ConfigurationVersion> {
    let here = match api.store().configuration_version(id).await {
        Err(store::Error::NotFound(_)) => None,
        found => Some(found?).filter(|version| version.workspace == workspace),
    };
    here.ok_or_else(|| {
        ApiError::invalid(vec![Fault::at(
            CONFIGURATION_VERSION,
            "the workspace has no such configuration version",
        )])
    })
}
