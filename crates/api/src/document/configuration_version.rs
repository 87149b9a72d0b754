//! Configuration versions.

use lifecycle::id;
use store::{ConfigurationStatus, ConfigurationVersion};
use wire::{
    ConfigurationVersionAttributes, ConfigurationVersionRelationships, Identifier, IngressAttributes,
    IngressAttributesAttributes, Relationship, Timestamps,
};

enum Ingress {}

impl id::Kind for Ingress {
    const PREFIX: &'static str = "ia-";
    const NAME: &'static str = "ingress attributes";
}

/// The document of a configuration version.
pub(crate) fn resource(version: &ConfigurationVersion) -> wire::ConfigurationVersion {
    let path = format!("/api/v2/configuration-versions/{}", version.id);
    let error = match &version.status {
        ConfigurationStatus::Errored { message } => Some(message.clone()),
        _ => None,
    };
    let finished = if error.is_some() { "errored-at" } else { "uploaded-at" };
    let timestamps = version.finished_at.map(|at| (finished.to_owned(), at));
    let attributes = ConfigurationVersionAttributes {
        auto_queue_runs: false,
        error: error.as_ref().map(|_| "errored".into()),
        error_message: error,
        source: version.source.clone(),
        speculative: version.speculative,
        provisional: false,
        status: version.status.as_str().into(),
        status_timestamps: Timestamps::from_iter(timestamps),
        upload_url: None,
        changed_files: vec![],
    };
    let ingress =
        version.commit.as_ref().map(|_| Identifier::of::<IngressAttributesAttributes>(ingress_id(version)));
    let ingress_attributes =
        Relationship::optional(ingress).and_related(format!("{path}/ingress-attributes"));
    let resource = wire::ConfigurationVersion::new(version.id, attributes)
        .related(ConfigurationVersionRelationships { ingress_attributes })
        .link("self", path.clone());
    if version.digest().is_some() { resource.link("download", format!("{path}/download")) } else { resource }
}

/// The commit that it was taken from, if it was.
pub(crate) fn ingress_attributes(version: &ConfigurationVersion) -> Option<IngressAttributes> {
    let commit = version.commit.as_ref()?;
    let attributes = IngressAttributesAttributes {
        branch: commit.reference.clone(),
        clone_url: commit.url.clone(),
        commit_sha: commit.sha.clone(),
        commit_message: commit.message.clone(),
        commit_url: None,
        identifier: commit.url.clone(),
        is_pull_request: false,
        on_default_branch: None,
        sender_username: commit.author.clone(),
    };
    Some(IngressAttributes::new(ingress_id(version), attributes))
}

fn ingress_id(version: &ConfigurationVersion) -> id::Id<Ingress> {
    version.id.sibling()
}

#[cfg(test)]
mod tests {
    use lifecycle::id::ConfigurationVersionId;
    use serde_json::json;
    use store::{Commit, Digest};

    use super::super::fixture;
    use super::*;

    fn version(status: ConfigurationStatus) -> ConfigurationVersion {
        ConfigurationVersion {
            id: ConfigurationVersionId::from_entropy([4; 16]),
            workspace: fixture::workspace().id,
            source: "git".into(),
            status,
            commit: Some(Commit {
                sha: "0a".repeat(20),
                reference: "main".into(),
                url: "https://git.example/infra.git".into(),
                message: Some("Widen the quay\n\nIt is too narrow.".into()),
                author: Some("Ada".into()),
            }),
            speculative: false,
            created_at: fixture::at(0),
            finished_at: Some(fixture::at(2)),
        }
    }

    #[test]
    fn the_documents_of_configurations_from_git() {
        let uploaded = version(ConfigurationStatus::Uploaded { digest: Digest::of(b""), size: 10 });
        fixture::snapshot("configuration_version_uploaded", &resource(&uploaded));
        fixture::snapshot("ingress_attributes", &ingress_attributes(&uploaded).unwrap());
        let errored = version(ConfigurationStatus::Errored { message: "no such ref".into() });
        fixture::snapshot("configuration_version_errored", &resource(&errored));
    }

    #[test]
    fn no_timestamp_is_null() {
        let pending = ConfigurationVersion { finished_at: None, ..version(ConfigurationStatus::Pending) };
        let document = serde_json::to_value(resource(&pending)).unwrap();
        assert_eq!(document["attributes"]["status-timestamps"], json!({}));
    }
}
