//! State versions and their outputs.

use std::str::FromStr;

use lifecycle::id::StateVersionId;
use serde_json::value::RawValue;
use store::{Digest, StateOutput, StateUpload, StateVersion};
use wire::{
    Identifier, Relationship, RunAttributes, StateOutputAttributes, StateVersionAttributes,
    StateVersionRelationships, WorkspaceAttributes,
};

use super::user;
use crate::jsonapi::Identity;

/// The id of an output: its state version, and a digest of its name. So it needs no record, and is found
/// again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputId {
    pub(crate) state_version: StateVersionId,
    name: String,
}

const PREFIX: &str = "wsout-";

impl OutputId {
    pub(crate) fn of(state_version: StateVersionId, output: &str) -> Self {
        let digest = Digest::of(output.as_bytes()).to_string();
        Self { state_version, name: digest.chars().take(16).collect() }
    }

    /// What it names, in words.
    pub(crate) fn described(&self) -> String {
        format!("{} {self}", Self::NAME)
    }

    pub(crate) fn names(&self, output: &StateOutput) -> bool {
        *self == Self::of(self.state_version, &output.name)
    }
}

impl Identity for OutputId {
    const NAME: &'static str = "state version output";
}

impl std::fmt::Display for OutputId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state_version = self.state_version.to_string();
        write!(f, "{PREFIX}{}-{}", state_version.trim_start_matches("sv-"), self.name)
    }
}

/// A text that is not an id of an output.
#[derive(Debug)]
pub(crate) struct InvalidOutputId;

impl FromStr for OutputId {
    type Err = InvalidOutputId;

    fn from_str(text: &str) -> Result<Self, InvalidOutputId> {
        let (suffix, name) =
            text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')).ok_or(InvalidOutputId)?;
        let state_version = format!("sv-{suffix}").parse().map_err(|_| InvalidOutputId)?;
        Ok(Self { state_version, name: name.to_owned() })
    }
}

/// The document of a state version. `outputs` are the names of its outputs, where they were read.
pub(crate) fn resource(
    version: &StateVersion,
    outputs: Option<&[String]>,
    download_url: &str,
    json_download_url: Option<String>,
) -> wire::StateVersion {
    let path = format!("/api/v2/state-versions/{}", version.id);
    let attributes = StateVersionAttributes {
        created_at: version.created_at,
        serial: version.meta.serial,
        lineage: version.meta.lineage.clone(),
        size: version.size,
        state_version: 4,
        status: "finalized".into(),
        terraform_version: version.meta.terraform_version.clone(),
        intermediate: false,
        resources_processed: true,
        hosted_state_download_url: Some(download_url.to_owned()),
        hosted_state_upload_url: None,
        hosted_json_state_download_url: json_download_url,
        hosted_json_state_upload_url: None,
    };
    let identifier =
        |output: &String| Identifier::of::<StateOutputAttributes>(OutputId::of(version.id, output));
    let outputs = outputs.map(|outputs| Relationship::many(outputs.iter().map(identifier).collect()));
    wire::StateVersion::new(version.id, attributes)
        .related(StateVersionRelationships {
            workspace: Relationship::one::<WorkspaceAttributes>(version.workspace),
            run: Relationship::optional(version.run.map(Identifier::of::<RunAttributes>)),
            created_by: Relationship::optional(Some(user::identifier(&version.created_by))),
            outputs: outputs.unwrap_or_default().and_related(format!("{path}/outputs")),
        })
        .link("self", path)
        .link("download", download_url)
}

/// The document of a state that was announced: what is said of it, and where its bytes are sent.
pub(crate) fn announced(upload: &StateUpload, state_url: String, json_url: String) -> wire::StateVersion {
    let path = format!("/api/v2/state-versions/{}", upload.id);
    let attributes = StateVersionAttributes {
        created_at: upload.created_at,
        serial: upload.serial.unwrap_or_default(),
        lineage: upload.lineage.clone().unwrap_or_default(),
        size: 0,
        state_version: 4,
        status: "pending".into(),
        terraform_version: String::new(),
        intermediate: false,
        resources_processed: false,
        hosted_state_download_url: None,
        hosted_state_upload_url: Some(state_url),
        hosted_json_state_download_url: None,
        hosted_json_state_upload_url: Some(json_url),
    };
    wire::StateVersion::new(upload.id, attributes)
        .related(StateVersionRelationships {
            workspace: Relationship::one::<WorkspaceAttributes>(upload.workspace),
            run: Relationship::optional(None),
            created_by: Relationship::optional(Some(user::identifier(&upload.created_by))),
            outputs: Relationship::default().and_related(format!("{path}/outputs")),
        })
        .link("self", path)
}

/// An output in a list: a sensitive value is `null`.
pub(crate) fn listed_output(version: StateVersionId, output: &StateOutput) -> wire::StateOutput {
    with_value(version, output, (!output.sensitive).then_some(&*output.value))
}

/// An output that was asked for by its id: with its value, even if sensitive.
pub(crate) fn single_output(version: StateVersionId, output: &StateOutput) -> wire::StateOutput {
    with_value(version, output, Some(&output.value))
}

fn with_value(version: StateVersionId, output: &StateOutput, value: Option<&RawValue>) -> wire::StateOutput {
    let attributes = StateOutputAttributes {
        name: output.name.clone(),
        sensitive: output.sensitive,
        r#type: output.type_name().into(),
        detailed_type: output.detailed_type.clone(),
        value: value.map(ToOwned::to_owned),
    };
    let id = OutputId::of(version, &output.name);
    let path = format!("/api/v2/state-version-outputs/{id}");
    wire::StateOutput::new(id, attributes).link("self", path)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use store::StateMeta;

    use super::super::fixture;
    use super::*;

    fn version() -> StateVersion {
        StateVersion {
            id: StateVersionId::from_entropy([3; 16]),
            workspace: fixture::workspace().id,
            run: Some(fixture::run_id()),
            meta: StateMeta { serial: 4, lineage: "abc".into(), terraform_version: "1.11.4".into() },
            digest: Digest::of(b"state"),
            size: 181,
            created_at: fixture::at(5),
            created_by: "operator".into(),
            json: None,
        }
    }

    fn output(sensitive: bool) -> StateOutput {
        StateOutput {
            name: "password".into(),
            detailed_type: json!("string"),
            value: serde_json::value::to_raw_value("hunter2").unwrap(),
            sensitive,
        }
    }

    #[test]
    fn the_document_of_a_state_version() {
        let url = "https://signalbox.example/download";
        fixture::snapshot("state_version", &resource(&version(), Some(&["password".to_owned()]), url, None));
    }

    #[test]
    fn a_sensitive_value_is_in_no_list_and_only_in_the_single_read() {
        let value = |resource: wire::StateOutput| {
            serde_json::to_value(resource).unwrap()["attributes"]["value"].clone()
        };
        let id = version().id;
        assert_eq!(value(listed_output(id, &output(true))), Value::Null);
        assert_eq!(value(listed_output(id, &output(false))), json!("hunter2"));
        assert_eq!(value(single_output(id, &output(true))), json!("hunter2"));
        let mut large = output(false);
        large.value = RawValue::from_string("12345678901234567890123".to_owned()).unwrap();
        let shown = serde_json::to_string(&listed_output(id, &large)).unwrap();
        assert!(shown.contains(r#""value":12345678901234567890123"#), "{shown}");
    }

    #[test]
    fn an_output_is_found_by_its_id() {
        let id = OutputId::of(version().id, "password");
        assert_eq!(id.to_string().parse::<OutputId>().unwrap(), id);
        assert!(id.names(&output(true)));
        assert!(!OutputId::of(version().id, "user").names(&output(true)));
        for text in ["", "wsout-", "wsout-abc", "sv-4444444444444444", "wsout-0000000000000000-ab"] {
            assert!(text.parse::<OutputId>().is_err(), "{text}");
        }
    }
}
