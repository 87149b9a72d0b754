//! Configuration versions (tfe-api.md 5.8).

use lifecycle::id;
use serde_json::{Map, Value, json};
use store::{ConfigurationStatus, ConfigurationVersion};

use crate::jsonapi::{Identifier, Relationship, Resource};

enum Ingress {}

impl id::Kind for Ingress {
    const PREFIX: &'static str = "ia-";
    const NAME: &'static str = "ingress attributes";
}

/// The document of a configuration version.
pub(crate) fn resource(version: &ConfigurationVersion) -> Resource {
    let path = format!("/api/v2/configuration-versions/{}", version.id);
    let error = match &version.status {
        ConfigurationStatus::Errored { message } => Some(message),
        _ => None,
    };
    let mut timestamps = Map::new();
    if let Some(at) = version.finished_at {
        let key = match version.status {
            ConfigurationStatus::Errored { .. } => "errored-at",
            _ => "uploaded-at",
        };
        timestamps.insert(key.to_owned(), json!(at));
    }
    let attributes = json!({
        "auto-queue-runs": false,
        "error": error.map(|_| "errored"),
        "error-message": error,
        "source": version.source,
        "speculative": version.speculative,
        "provisional": false,
        "status": version.status.as_str(),
        "status-timestamps": timestamps,
        "upload-url": null,
        "changed-files": [],
    });
    let ingress = version.commit.as_ref().map(|_| Identifier::new("ingress-attributes", ingress_id(version)));
    let resource = Resource::new("configuration-versions", version.id, attributes)
        .with(
            "ingress-attributes",
            Relationship::optional(ingress).and_related(format!("{path}/ingress-attributes")),
        )
        .link("self", path.clone());
    if version.digest().is_some() { resource.link("download", format!("{path}/download")) } else { resource }
}

/// The commit that it was taken from, if it was.
pub(crate) fn ingress_attributes(version: &ConfigurationVersion) -> Option<Resource> {
    let commit = version.commit.as_ref()?;
    let attributes = json!({
        "branch": commit.reference,
        "clone-url": commit.url,
        "commit-sha": commit.sha,
        "commit-message": null,
        "commit-url": null,
        "identifier": commit.url,
        "is-pull-request": false,
        "on-default-branch": Value::Null,
    });
    Some(Resource::new("ingress-attributes", ingress_id(version), attributes))
}

fn ingress_id(version: &ConfigurationVersion) -> id::Id<Ingress> {
    version.id.sibling()
}

#[cfg(test)]
mod tests {
    use lifecycle::id::ConfigurationVersionId;
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
