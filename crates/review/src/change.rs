use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What would happen to a resource. In the order of what it takes away.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It goes.
    Destroy,
    /// It goes, and another comes in its place.
    Replace,
    /// It comes in the place of another, which goes after.
    CreateThenDestroy,
    /// One that this release does not know, by its name.
    Other(String),
    /// It stays, and terraform knows nothing of it any more.
    Forget,
    /// It is changed in place.
    Update,
    /// It comes.
    Create,
    /// One that exists is taken in as it is.
    Import,
    /// It has another address, and nothing else happens to it.
    Move,
    /// A data source is read while the plan is applied.
    Read,
}

impl Action {
    const KNOWN: [(Self, &'static str); 9] = [
        (Self::Destroy, "destroy"),
        (Self::Replace, "replace"),
        (Self::CreateThenDestroy, "create-then-destroy"),
        (Self::Forget, "forget"),
        (Self::Update, "update"),
        (Self::Create, "create"),
        (Self::Import, "import"),
        (Self::Move, "move"),
        (Self::Read, "read"),
    ];

    /// In one word, as the API has it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => Self::KNOWN.iter().find(|(action, _)| action == known).map_or("", |(_, name)| name),
        }
    }

    /// Completes "it will be …".
    #[must_use]
    pub fn words(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::Destroy => "destroyed",
            Self::Replace => "destroyed and created again",
            Self::CreateThenDestroy => "created again, the old one destroyed after",
            Self::Forget => "forgotten, and not destroyed",
            Self::Update => "changed",
            Self::Create => "created",
            Self::Import => "imported",
            Self::Move => "moved",
            Self::Read => "read",
            Self::Other(name) => return Cow::Owned(format!("subject to {name:?}")),
        })
    }

    /// The mark that terraform puts before it.
    #[must_use]
    pub const fn mark(&self) -> &'static str {
        match self {
            Self::Destroy => "-",
            Self::Replace => "-/+",
            Self::CreateThenDestroy => "+/-",
            Self::Forget => ".",
            Self::Update => "~",
            Self::Create => "+",
            Self::Import | Self::Move => ">",
            Self::Read => "<=",
            Self::Other(_) => "?",
        }
    }

    /// Whether something that exists is taken away.
    #[must_use]
    pub const fn destroys(&self) -> bool {
        matches!(self, Self::Destroy | Self::Replace | Self::CreateThenDestroy)
    }

    /// Of a `resource_changes` entry; none if nothing happens.
    pub(crate) fn of(actions: &[String], moved: bool, imported: bool) -> Option<Self> {
        let actions: Vec<&str> = actions.iter().map(String::as_str).collect();
        Some(match *actions.as_slice() {
            ["no-op"] | [] if imported => Self::Import,
            ["no-op"] | [] if moved => Self::Move,
            ["no-op"] | [] => return None,
            ["delete"] => Self::Destroy,
            ["delete", "create"] => Self::Replace,
            ["create", "delete"] => Self::CreateThenDestroy,
            ["forget"] => Self::Forget,
            ["update"] => Self::Update,
            ["create"] => Self::Create,
            ["read"] => Self::Read,
            _ => Self::Other(actions.join(", ")),
        })
    }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::KNOWN.into_iter().find(|(_, known)| *known == name);
        Ok(known.map_or(Self::Other(name), |(action, _)| action))
    }
}

impl JsonSchema for Action {
    fn schema_name() -> Cow<'static, str> {
        "ChangeAction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let known: Vec<_> = Self::KNOWN.iter().map(|(_, name)| *name).collect();
        let description =
            format!("What would happen: {}, or what a newer terraform calls it.", known.join(", "));
        json_schema!({ "type": "string", "description": description })
    }
}

/// What would happen to one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Change {
    /// Its address: `module.net.aws_subnet.private["a"]`.
    pub address: String,
    /// What would happen to it.
    pub action: Action,
    /// The address that it had, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_address: Option<String>,
    /// Which of its earlier objects this is about, which a failed replacement has left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposed: Option<String>,
    /// By which id it is imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import_id: Option<String>,
    /// Why, in words, where that does not follow from the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The attributes that can't be changed in place: `network[0].id`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced_by: Vec<String>,
    /// The attributes that would have another value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
}

/// What would happen to an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputAction {
    /// It comes.
    Create,
    /// It has another value.
    Update,
    /// It goes.
    Destroy,
}

impl OutputAction {
    /// The mark that terraform puts before it.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Create => "+",
            Self::Update => "~",
            Self::Destroy => "-",
        }
    }
}

/// An output that would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct OutputChange {
    /// Its name.
    pub name: String,
    /// What would happen to it.
    pub action: OutputAction,
}
