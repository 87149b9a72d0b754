//! What asks for a run.

use lifecycle::{PlanOptions, RunVariable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Attributes as _, Misfit, RunAttributes, Text, WorkspaceAttributes, read};

/// A run to be queued. What is left out, or `null`, is left to the daemon and the workspace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct NewRun {
    /// What `terraform plan` is told. Read by [`CreateRun::read`], since places in flattened attributes get lost.
    #[serde(flatten, skip_deserializing)]
    pub options: PlanOptions,
    /// Why, in a line for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Plan to destroy everything.
    pub is_destroy: bool,
    /// Make a plan and nothing else; by default as the configuration version says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_only: Option<bool>,
    /// Apply without a person where that is possible; by default as the workspace says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_apply: Option<bool>,
    /// Let a plan without changes be applied.
    pub allow_empty_apply: bool,
    /// Begin with a new state, although another one was found that the workspace does not have.
    pub allow_new_state: bool,
    /// Values for this run alone; they win over the workspace's.
    pub variables: Vec<RunVariable>,
    /// Refused unless false.
    #[serde(skip_serializing)]
    pub save_plan: bool,
    /// Refused unless false.
    #[serde(skip_serializing)]
    pub allow_config_generation: bool,
    /// Refused unless false.
    #[serde(skip_serializing)]
    pub debugging_mode: bool,
    /// Refused unless empty: a run uses the terraform of its workspace.
    #[serde(skip_serializing)]
    pub terraform_version: String,
    /// Refused unless empty.
    #[serde(skip_serializing)]
    pub invoke_action_addrs: Vec<String>,
    /// Refused unless empty: policies come from the config file.
    #[serde(skip_serializing)]
    pub policy_paths: Vec<String>,
}

/// The body that asks for a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateRun {
    /// The run.
    pub data: Option<CreateRunData>,
}

/// The run in a [`CreateRun`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateRunData {
    /// `runs`.
    #[serde(rename = "type", default)]
    pub kind: Text,
    /// How it is to be.
    #[serde(default)]
    pub attributes: NewRun,
    /// What it is for.
    #[serde(default)]
    pub relationships: NewRunRelationships,
}

/// What a run is for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct NewRunRelationships {
    /// Where it runs.
    pub workspace: ToOne,
    /// What it runs on; by default the source of the workspace.
    #[serde(skip_serializing_if = "ToOne::is_none")]
    pub configuration_version: ToOne,
}

/// A relationship in a body.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToOne {
    /// What it leads to.
    pub data: Option<Named>,
}

/// What a [`ToOne`] leads to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    /// The relationship says it too, so nothing depends on it.
    #[serde(rename = "type", default)]
    pub kind: Text,
    /// Which.
    pub id: String,
}

impl ToOne {
    const fn is_none(&self) -> bool {
        self.data.is_none()
    }

    /// The id of what it leads to.
    pub fn id(&self) -> Option<&str> {
        self.data.as_ref().map(|named| named.id.as_str())
    }
}

impl CreateRun {
    /// Asks for a run in that workspace.
    pub fn new(workspace_id: &str, attributes: NewRun) -> Self {
        let named = Named { kind: WorkspaceAttributes::TYPE.into(), id: workspace_id.to_owned() };
        let workspace = ToOne { data: Some(named) };
        let relationships = NewRunRelationships { workspace, ..NewRunRelationships::default() };
        Self { data: Some(CreateRunData { kind: RunAttributes::TYPE.into(), attributes, relationships }) }
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`Misfit`].
    pub fn read(document: &Value) -> Result<Self, Misfit> {
        #[derive(Deserialize)]
        struct Options {
            data: Option<OptionsData>,
        }
        #[derive(Deserialize)]
        struct OptionsData {
            #[serde(default)]
            attributes: PlanOptions,
        }
        let document = without_nulls(document)?;
        let mut body: Self = read(&document)?;
        let options: Options = read(&document)?;
        if let (Some(data), Some(options)) = (&mut body.data, options.data) {
            data.attributes.options = options.attributes;
        }
        Ok(body)
    }
}

/// Nothing is the default, however it is said.
fn without_nulls(document: &Value) -> Result<Value, Misfit> {
    let mut document = document.clone();
    let Some(data) = document.get_mut("data").and_then(Value::as_object_mut) else { return Ok(document) };
    data.retain(|_, member| !member.is_null());
    for member in ["attributes", "relationships"] {
        match data.get_mut(member) {
            Some(Value::Object(members)) => members.retain(|_, member| !member.is_null()),
            Some(_) => {
                let pointer = format!("/data/{member}");
                return Err(Misfit { pointer, detail: "a JSON object belongs here".to_owned() });
            }
            None => drop(data.insert(member.to_owned(), Value::Object(Map::new()))),
        }
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(attributes: Value) -> Value {
        json!({ "data": { "type": "runs", "attributes": attributes, "relationships": {
            "workspace": { "data": { "id": "ws-1" } },
        } } })
    }

    fn attributes(attributes: Value) -> Result<NewRun, Misfit> {
        CreateRun::read(&body(attributes)).map(|body| body.data.unwrap().attributes)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let run = NewRun {
            options: PlanOptions {
                refresh: false,
                target_addrs: vec!["a.b".into()],
                ..PlanOptions::default()
            },
            message: Some("why".into()),
            is_destroy: true,
            plan_only: Some(true),
            variables: vec![RunVariable { key: "region".into(), value: "\"eu\"".into() }],
            ..NewRun::default()
        };
        let written = CreateRun::new("ws-1", run);
        assert_eq!(CreateRun::read(&serde_json::to_value(&written).unwrap()), Ok(written));
    }

    #[test]
    fn what_is_left_to_the_workspace_is_not_written() {
        let written = serde_json::to_value(CreateRun::new("ws-1", NewRun::default())).unwrap();
        let expected = json!({ "data": {
            "type": "runs",
            "attributes": {
                "refresh": true, "refresh-only": false, "target-addrs": [], "replace-addrs": [],
                "is-destroy": false, "allow-empty-apply": false, "allow-new-state": false, "variables": [],
            },
            "relationships": { "workspace": { "data": { "type": "workspaces", "id": "ws-1" } } },
        } });
        assert_eq!(written, expected);
    }

    #[test]
    fn nothing_and_null_are_the_default() {
        let nulls = json!({
            "message": null, "refresh": null, "target-addrs": null, "variables": null, "plan-only": null, "more": 1,
        });
        for nothing in [nulls, json!({}), Value::Null] {
            assert_eq!(attributes(nothing), Ok(NewRun::default()));
        }
        for without in [json!({}), json!({ "data": null })] {
            assert_eq!(CreateRun::read(&without), Ok(CreateRun { data: None }));
        }
        let data = CreateRun::read(&json!({ "data": { "relationships": null } })).unwrap().data.unwrap();
        assert_eq!((data.attributes, data.relationships.workspace.id()), (NewRun::default(), None));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place_in_options_too() {
        let table = [
            (json!({ "is-destroy": "yes" }), "/data/attributes/is-destroy"),
            (json!({ "refresh": 1 }), "/data/attributes/refresh"),
            (json!({ "target-addrs": "a" }), "/data/attributes/target-addrs"),
            (json!({ "target-addrs": ["a", 1] }), "/data/attributes/target-addrs/1"),
            (json!({ "variables": [{ "key": "a", "value": 1 }] }), "/data/attributes/variables/0/value"),
            (json!([]), "/data/attributes"),
        ];
        for (given, pointer) in table {
            assert_eq!(attributes(given.clone()).unwrap_err().pointer, pointer, "{given}");
        }
        let workspace = json!({ "data": { "relationships": { "workspace": { "data": { "id": 1 } } } } });
        let pointer = "/data/relationships/workspace/data/id";
        assert_eq!(CreateRun::read(&workspace).unwrap_err().pointer, pointer);
    }
}
