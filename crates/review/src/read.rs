//! The JSON of a plan, piece by piece: each resource is reduced to its change before the next is read.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::FailedCheck;
use crate::change::{Action, Change, OutputAction, OutputChange};
use crate::counts::Counts;

#[derive(Deserialize)]
pub(crate) struct Plan {
    pub(crate) terraform_version: String,
    #[serde(default)]
    pub(crate) errored: bool,
    #[serde(default, rename = "resource_changes")]
    pub(crate) changes: Changes,
    #[serde(default, rename = "resource_drift")]
    pub(crate) drift: Changes,
    #[serde(default, rename = "output_changes")]
    pub(crate) outputs: Outputs,
    #[serde(default)]
    pub(crate) checks: Vec<Check>,
}

/// The changes of a list, and how many of each kind there are.
#[derive(Default)]
pub(crate) struct Changes {
    list: Vec<Change>,
    pub(crate) counts: Counts,
}

impl Changes {
    /// The gravest first; the rest in the order of the plan, which is that of addresses.
    pub(crate) fn sorted(mut self) -> Vec<Change> {
        self.list.sort_by(|a, b| a.action.cmp(&b.action));
        self.list
    }
}

impl<'de> Deserialize<'de> for Changes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Changes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of changes")
            }

            fn visit_unit<E>(self) -> Result<Changes, E> {
                Ok(Changes::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Changes, A::Error> {
                let mut all = Changes::default();
                while let Some(resource) = list.next_element::<Resource>()? {
                    all.counts.count(&resource.change.actions, resource.change.importing.is_some());
                    all.list.extend(resource.change());
                }
                Ok(all)
            }
        }

        deserializer.deserialize_any(List)
    }
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    address: String,
    previous_address: Option<String>,
    deposed: Option<String>,
    action_reason: Option<String>,
    change: RawChange,
}

#[derive(Deserialize)]
struct RawChange {
    #[serde(default)]
    actions: Vec<String>,
    importing: Option<Importing>,
    #[serde(default)]
    before: Value,
    #[serde(default)]
    after: Value,
    #[serde(default)]
    after_unknown: Value,
    #[serde(default)]
    replace_paths: Vec<Vec<Value>>,
}

#[derive(Deserialize)]
struct Importing {
    id: Option<String>,
}

impl Resource {
    fn change(self) -> Option<Change> {
        let Self { address, previous_address, deposed, action_reason, change } = self;
        let previous_address = previous_address.filter(|previous| *previous != address);
        let action = Action::of(&change.actions, previous_address.is_some(), change.importing.is_some())?;
        // of what comes or goes as a whole there is nothing to compare
        let compared = matches!(action, Action::Update | Action::Replace | Action::CreateThenDestroy);
        Some(Change {
            address,
            attributes: if compared { change.attributes() } else { Vec::new() },
            replaced_by: change.replace_paths.iter().map(|path| path_text(path)).collect(),
            action,
            previous_address,
            deposed,
            import_id: change.importing.and_then(|importing| importing.id),
            reason: action_reason.as_deref().map(reason),
        })
    }
}

impl RawChange {
    /// The attributes that have another value afterwards, in the order of the plan; what is not known yet is one that does.
    fn attributes(&self) -> Vec<String> {
        let (Value::Object(before), Value::Object(after)) = (&self.before, &self.after) else {
            return Vec::new();
        };
        let unknown = |name: &str| self.after_unknown.get(name).is_some_and(any_unknown);
        let mut names: Vec<&String> = before.keys().collect();
        let is_new = |name: &&String| !before.contains_key(*name);
        names.extend(after.keys().filter(is_new));
        let unknowns = self.after_unknown.as_object().into_iter().flat_map(|all| all.keys());
        names.extend(unknowns.filter(|name| is_new(name) && !after.contains_key(*name)));
        // what is not set is null in one place and absent in the other
        let value = |of: &Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or_default();
        let differs = |name: &&String| value(before, name) != value(after, name) || unknown(name);
        names.into_iter().filter(differs).cloned().collect()
    }
}

/// `after_unknown` has `true` in the place of each value that is not known, and leaves out or says `false` for the rest.
fn any_unknown(value: &Value) -> bool {
    match value {
        Value::Bool(unknown) => *unknown,
        Value::Array(all) => all.iter().any(any_unknown),
        Value::Object(all) => all.values().any(any_unknown),
        _ => false,
    }
}

/// `["network", 0, "id"]` as `network[0].id`.
fn path_text(path: &[Value]) -> String {
    path.iter().fold(String::new(), |text, step| match step {
        Value::String(name) if text.is_empty() => name.clone(),
        Value::String(name) => format!("{text}.{name}"),
        other => format!("{text}[{other}]"),
    })
}

/// Terraform's reason in words; one that is not known, as it says it.
fn reason(name: &str) -> String {
    let words = match name {
        "replace_because_tainted" => "it is tainted",
        "replace_because_cannot_update" => "it can't be changed in place",
        "replace_by_request" => "its replacement was asked for",
        "replace_by_triggers" => "something in its replace_triggered_by changed",
        "delete_because_no_resource_config" => "it is not in the configuration any more",
        "delete_because_no_module" => "its module is not in the configuration any more",
        "delete_because_wrong_repetition" => "the configuration repeats it in another way",
        "delete_because_count_index" => "its index is out of the range of count",
        "delete_because_each_key" => "its key is not in for_each any more",
        "delete_because_no_move_target" => "where it was to be moved there is nothing",
        "read_because_config_unknown" => "its arguments are not known yet",
        "read_because_dependency_pending" => "what it depends on changes",
        "read_because_check_nested" => "it is part of a check",
        other => return other.replace('_', " "),
    };
    words.to_owned()
}

/// The outputs that change, in the order of the plan.
#[derive(Default)]
pub(crate) struct Outputs(pub(crate) Vec<OutputChange>);

impl<'de> Deserialize<'de> for Outputs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;

        #[derive(Deserialize)]
        struct Output {
            #[serde(default)]
            actions: Vec<String>,
        }

        impl<'de> Visitor<'de> for Map {
            type Value = Outputs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the changes of outputs by name")
            }

            fn visit_unit<E>(self) -> Result<Outputs, E> {
                Ok(Outputs::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outputs, A::Error> {
                let mut all = Vec::new();
                while let Some((name, output)) = map.next_entry::<String, Output>()? {
                    let action = match output.actions.first().map(String::as_str) {
                        Some("create") if output.actions.len() == 1 => OutputAction::Create,
                        Some("delete") if output.actions.len() == 1 => OutputAction::Destroy,
                        None | Some("no-op") => continue,
                        Some(_) => OutputAction::Update,
                    };
                    all.push(OutputChange { name, action });
                }
                Ok(Outputs(all))
            }
        }

        deserializer.deserialize_any(Map)
    }
}

#[derive(Deserialize)]
pub(crate) struct Check {
    address: CheckAddress,
    #[serde(default)]
    status: String,
    #[serde(default)]
    instances: Vec<Instance>,
}

#[derive(Deserialize)]
struct CheckAddress {
    #[serde(default)]
    to_display: String,
}

#[derive(Deserialize)]
struct Instance {
    #[serde(default)]
    problems: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    #[serde(default)]
    message: String,
}

impl Check {
    pub(crate) fn failed(self) -> Option<FailedCheck> {
        if !matches!(self.status.as_str(), "fail" | "error") {
            return None;
        }
        let problems = self.instances.into_iter().flat_map(|instance| instance.problems);
        let messages = problems.map(|problem| problem.message).filter(|message| !message.is_empty());
        Some(FailedCheck { address: self.address.to_display, messages: messages.collect() })
    }
}
