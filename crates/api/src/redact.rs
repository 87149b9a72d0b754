//! The plan as JSON for readers who may not see secrets (docs/api.md, "Plan JSON").
//!
//! What is let through is named; everything else is left out, since the configuration, the variables and
//! the planned values hold secrets in the clear with nothing beside them that says so.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufReader, Read, Write};

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::jsonapi::RawJson;

/// Lists of resource changes, whose values are masked.
const CHANGES: [&str; 2] = ["resource_changes", "resource_drift"];

/// What of a plan is passed on as it is.
const KEPT: [&str; 5] = ["terraform_version", "relevant_attributes", "applyable", "complete", "errored"];

/// Writes the parts of `terraform show -json` of a plan that everybody who may read the run may read. Values that
/// terraform marked as sensitive are `null`; their places stay in `before_sensitive` and `after_sensitive`.
///
/// A plan may be large: one change of it is in memory at a time.
///
/// # Errors
/// When the plan can't be read or is not JSON, or nothing can be written.
pub(crate) fn redacted(plan: impl Read, into: &mut dyn Write) -> io::Result<()> {
    let mut plan = serde_json::Deserializer::from_reader(BufReader::with_capacity(64 * 1024, plan));
    let mut fields = Fields { into, seen: BTreeSet::new(), failed: None };
    let read = plan.deserialize_map(Plan(&mut fields)).and_then(|()| plan.end());
    // what could not be written is told by the reader in its own words only
    match fields.failed.take() {
        Some(error) => Err(error),
        None => read.map_err(Into::into),
    }
}

/// The members of the object that is written.
struct Fields<'w> {
    into: &'w mut dyn Write,
    seen: BTreeSet<&'static str>,
    failed: Option<io::Error>,
}

impl Fields<'_> {
    fn raw<E: serde::de::Error>(&mut self, bytes: &[u8]) -> Result<(), E> {
        self.into.write_all(bytes).map_err(|error| self.fail(error))
    }

    fn value<E: serde::de::Error>(&mut self, value: &impl Serialize) -> Result<(), E> {
        serde_json::to_writer(&mut *self.into, value).map_err(|error| self.fail(error.into()))
    }

    fn fail<E: serde::de::Error>(&mut self, error: io::Error) -> E {
        let told = E::custom(&error);
        self.failed = Some(error);
        told
    }

    /// Begins a member; false if it is there already.
    fn begin<E: serde::de::Error>(&mut self, key: &'static str) -> Result<bool, E> {
        if !self.seen.insert(key) {
            return Ok(false);
        }
        self.raw(if self.seen.len() == 1 { b"{" } else { b"," })?;
        self.value(&key)?;
        self.raw(b":")?;
        Ok(true)
    }

    /// A member that the plan did not have.
    fn otherwise<E: serde::de::Error>(&mut self, key: &'static str, value: &[u8]) -> Result<(), E> {
        if self.begin(key)? { self.raw(value) } else { Ok(()) }
    }
}

/// The whole plan.
struct Plan<'f, 'w>(&'f mut Fields<'w>);

impl<'de> Visitor<'de> for Plan<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plan")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let fields = self.0;
        while let Some(key) = map.next_key::<String>()? {
            let known = |names: &[&'static str]| names.iter().find(|name| **name == key).copied();
            if let Some(key) = known(&KEPT) {
                let value: Box<RawValue> = map.next_value()?;
                if fields.begin(key)? {
                    fields.value(&value)?;
                }
            } else if key == "format_version" && fields.begin("plan_format_version")? {
                let value: Box<RawValue> = map.next_value()?;
                fields.value(&value)?;
            } else if let Some(key) = known(&CHANGES)
                && fields.begin(key)?
            {
                map.next_value_seed(Items { fields, masked: resource_change })?;
            } else if key == "deferred_changes" && fields.begin("deferred_changes")? {
                map.next_value_seed(Items { fields, masked: deferred_change })?;
            } else if key == "output_changes" && fields.begin("output_changes")? {
                map.next_value_seed(Entries { fields, masked: |output| Some(change(output)) })?;
            } else if key == "variables" && fields.begin("variables")? {
                map.next_value_seed(Entries { fields, masked: |_| None })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        for key in CHANGES {
            fields.otherwise(key, b"[]")?;
        }
        fields.otherwise("output_changes", b"{}")?;
        fields.otherwise("variables", b"{}")?;
        fields.otherwise("plan_format_version", b"null")?;
        fields.otherwise("provider_format_version", b"\"1.0\"")?;
        fields.otherwise("provider_schemas", b"{}")?;
        fields.raw(b"}")
    }
}

/// What is masked on its own.
fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RawJson, D::Error> {
    let raw = <Box<RawValue> as serde::Deserialize>::deserialize(deserializer)?;
    RawJson::of_value(&raw).map_err(D::Error::custom)
}

/// One value, in memory.
struct One;

impl<'de> DeserializeSeed<'de> for One {
    type Value = RawJson;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawJson, D::Error> {
        read(deserializer)
    }
}

/// A list, whose items are masked one by one.
struct Items<'f, 'w> {
    fields: &'f mut Fields<'w>,
    masked: fn(&RawJson) -> RawJson,
}

impl<'de> DeserializeSeed<'de> for Items<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.fields.raw(b"[]")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        let mut before: &[u8] = b"[";
        while let Some(item) = list.next_element_seed(One)? {
            self.fields.raw(std::mem::replace(&mut before, b","))?;
            self.fields.value(&(self.masked)(&item))?;
        }
        self.fields.raw(if before == b"[" { b"[]" } else { b"]" })
    }
}

/// An object, whose values are masked one by one, or left out.
struct Entries<'f, 'w> {
    fields: &'f mut Fields<'w>,
    /// `None` for an empty object in its place.
    masked: fn(&RawJson) -> Option<RawJson>,
}

impl<'de> DeserializeSeed<'de> for Entries<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.fields.raw(b"{}")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut before: &[u8] = b"{";
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(One)?;
            self.fields.raw(std::mem::replace(&mut before, b","))?;
            self.fields.value(&name)?;
            self.fields.raw(b":")?;
            match (self.masked)(&value) {
                Some(value) => self.fields.value(&value)?,
                None => self.fields.raw(b"{}")?,
            }
        }
        self.fields.raw(if before == b"{" { b"{}" } else { b"}" })
    }
}

fn deferred_change(change: &RawJson) -> RawJson {
    let reason = change.get("reason").cloned().unwrap_or_else(RawJson::null);
    let resource = change.get("resource_change").map_or_else(RawJson::null, resource_change);
    let fields = [("reason".to_owned(), reason), ("resource_change".to_owned(), resource)];
    RawJson::Object(fields.into())
}

fn resource_change(resource: &RawJson) -> RawJson {
    let Some(fields) = resource.as_object() else { return RawJson::null() };
    let kept = fields.iter().map(|(key, value)| {
        let value = if key == "change" { change(value) } else { value.clone() };
        (key.clone(), value)
    });
    RawJson::Object(kept.collect())
}

/// `before` and `after` without what is sensitive in them.
fn change(change: &RawJson) -> RawJson {
    let Some(fields) = change.as_object() else { return RawJson::null() };
    let mut kept = fields.clone();
    for (side, marks) in [("before", "before_sensitive"), ("after", "after_sensitive")] {
        if let Some(value) = kept.get_mut(side) {
            match fields.get(marks) {
                Some(marks) => mask(value, marks),
                // terraform always writes the marks: without them nothing is known, and nothing is shown
                None => *value = RawJson::null(),
            }
        }
    }
    // an unknown part of a change of identity or configuration text has no marks at all
    for key in ["generated_config", "before_identity", "after_identity"] {
        kept.remove(key);
    }
    RawJson::Object(kept)
}

/// `marks` has the shape of the value, with `true` where it is sensitive.
fn mask(value: &mut RawJson, marks: &RawJson) {
    match (marks, value) {
        (marks, value) if marks.is_true() => *value = RawJson::null(),
        (RawJson::Object(marks), RawJson::Object(fields)) => {
            for (key, mark) in marks {
                if let Some(field) = fields.get_mut(key) {
                    mask(field, mark);
                }
            }
        }
        (RawJson::Array(marks), RawJson::Array(items)) => {
            items.iter_mut().zip(marks).for_each(|(item, mark)| mask(item, mark));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shown(plan: &str) -> String {
        let mut shown = Vec::new();
        redacted(plan.as_bytes(), &mut shown).unwrap();
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn what_a_plan_does_not_have_is_there_and_empty_and_what_is_none_is_refused() {
        let empty = json!({
            "resource_changes": [], "resource_drift": [], "output_changes": {}, "variables": {},
            "plan_format_version": null, "provider_format_version": "1.0", "provider_schemas": {},
        });
        let nulls = r#"{"resource_changes":null,"output_changes":null,"variables":null}"#;
        for plan in ["{}", nulls] {
            assert_eq!(serde_json::from_str::<Value>(&shown(plan)).unwrap(), empty, "{plan}");
        }
        for broken in ["", "[]", "{", r#"{"resource_changes":[{}"#, "{} {}", r#"{"variables":3}"#] {
            assert!(redacted(broken.as_bytes(), &mut Vec::new()).is_err(), "{broken}");
        }
    }

    /// Every text in it.
    fn texts(value: &Value) -> String {
        value.to_string()
    }

    #[test]
    fn nothing_that_is_sensitive_is_left_and_the_rest_is() {
        let change = |before: Value, before_sensitive: Value, after: Value, after_sensitive: Value| {
            json!({
                "actions": ["update"], "before": before, "after": after, "after_unknown": {},
                "before_sensitive": before_sensitive, "after_sensitive": after_sensitive,
            })
        };
        let plan = json!({
            "format_version": "1.2",
            "terraform_version": "1.11.4",
            "variables": { "password": { "value": "SECRET-variable" } },
            "configuration": { "root_module": { "variables": { "password": { "default": "SECRET-default" } } } },
            "planned_values": { "outputs": { "password": { "sensitive": true, "value": "SECRET-planned" } } },
            "prior_state": { "values": "SECRET-state" },
            "resource_changes": [{
                "address": "terraform_data.a",
                "change": change(
                    json!({ "input": "SECRET-before", "id": "public-id", "list": [{ "a": "SECRET-in-list", "b": "public-b" }] }),
                    json!({ "input": true, "list": [{ "a": true }] }),
                    json!({ "input": { "deep": "SECRET-deep" }, "id": "public-id" }),
                    json!({ "input": { "deep": true } }),
                ),
            }],
            "resource_drift": [{ "change": change(json!({ "input": "SECRET-drift" }), json!(true), json!(null), json!(false)) }],
            "deferred_changes": [{
                "reason": "unknown",
                "resource_change": { "change": change(json!("SECRET-deferred"), json!(true), json!("public"), json!(false)) },
            }],
            "output_changes": {
                "secret": change(json!("SECRET-output"), json!(true), json!("SECRET-output-2"), json!(true)),
                "open": change(json!("public-output"), json!(false), json!("public-output"), json!(false)),
                "unmarked": { "actions": ["create"], "before": null, "after": "SECRET-unmarked" },
            },
        });
        let shown: Value = serde_json::from_str(&shown(&plan.to_string())).unwrap();
        assert!(!texts(&shown).contains("SECRET"), "{shown:#}");
        let after = &shown["resource_changes"][0]["change"];
        assert_eq!(
            after["before"],
            json!({ "input": null, "id": "public-id", "list": [{ "a": null, "b": "public-b" }] })
        );
        assert_eq!(after["before_sensitive"]["input"], true);
        assert_eq!(shown["output_changes"]["open"]["after"], "public-output");
        assert_eq!(shown["variables"], json!({ "password": {} }));
        assert_eq!(shown["plan_format_version"], "1.2");
        assert!(shown["provider_schemas"].is_object());
    }

    #[test]
    fn numbers_of_a_plan_are_passed_on_digit_by_digit() {
        let plan = r#"{"output_changes":{"n":{"after":12345678901234567890123,"after_sensitive":false}}}"#;
        let shown = shown(plan);
        assert!(shown.contains(r#""after":12345678901234567890123"#), "{shown}");
    }
}
