use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// Attributes whose empty lists are `null` in documents, as clients expect it where an option was not given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NullIfEmpty<T>(pub T);

impl<T> std::ops::Deref for NullIfEmpty<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Serialize> Serialize for NullIfEmpty<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serde_json::to_value(&self.0).map_err(serde::ser::Error::custom)?;
        for member in members.as_object_mut().into_iter().flat_map(Map::values_mut) {
            if member.as_array().is_some_and(Vec::is_empty) {
                *member = Value::Null;
            }
        }
        members.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for NullIfEmpty<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Map::deserialize(deserializer)?;
        members.retain(|_, member| !member.is_null());
        T::deserialize(Value::Object(members)).map(Self).map_err(serde::de::Error::custom)
    }
}

impl<T: JsonSchema> JsonSchema for NullIfEmpty<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        let members = schema.get_mut("properties").and_then(Value::as_object_mut);
        for member in members.into_iter().flat_map(Map::values_mut) {
            if member["type"] == "array" {
                member["type"] = json!(["array", "null"]);
            }
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::PlanOptions;

    use super::*;

    #[test]
    fn an_option_that_was_not_given_is_null_and_is_read_back() {
        let plain = NullIfEmpty(PlanOptions::default());
        let shown =
            json!({ "refresh": true, "refresh-only": false, "target-addrs": null, "replace-addrs": null });
        assert_eq!(serde_json::to_value(&plain).unwrap(), shown);
        assert_eq!(serde_json::from_value::<NullIfEmpty<PlanOptions>>(shown).unwrap(), plain);
        let given = NullIfEmpty(PlanOptions { target_addrs: vec!["a.b".into()], ..PlanOptions::default() });
        let shown = serde_json::to_value(&given).unwrap();
        assert_eq!(shown["target-addrs"], json!(["a.b"]));
        assert_eq!(serde_json::from_value::<NullIfEmpty<PlanOptions>>(shown).unwrap(), given);
    }
}
