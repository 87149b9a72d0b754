//! The OpenAPI document: complete, and sound in itself.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::Seeding;

async fn document() -> Value {
    let server = Seeding::begin().await.start().await;
    server.get("", "/api/v2/openapi.json").await.ok(200)
}

/// Every operation of the document: its path, its method, and what is said of it.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, methods)| -> Vec<_> {
        let methods: &Value = methods;
        let all = methods.as_object().unwrap().iter();
        all.map(|(method, operation)| (path, method.as_str(), operation)).collect()
    };
    paths.iter().map(|(path, methods)| (path.as_str(), methods)).flat_map(of_path).collect()
}

/// Every value in the document that is an object, with its place as a JSON pointer.
fn objects<'d>(value: &'d Value, at: &str, found: &mut Vec<(String, &'d Value)>) {
    match value {
        Value::Object(members) => {
            found.push((at.to_owned(), value));
            for (name, member) in members {
                objects(member, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| objects(item, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

#[tokio::test]
async fn every_operation_is_described_and_no_other() {
    let document = document().await;
    let described: BTreeSet<_> = operations(&document)
        .into_iter()
        .map(|(path, method, _)| format!("{} {path}", method.to_ascii_uppercase()))
        .collect();
    let declared: Vec<_> = api::operations()
        .iter()
        .map(|operation| format!("{} {}", operation.method, operation.path))
        .collect();
    assert_eq!(described, declared.iter().cloned().collect());
    assert_eq!(described.len(), declared.len(), "an operation is declared twice");
}

#[tokio::test]
async fn every_reference_resolves() {
    let document = document().await;
    let mut all = Vec::new();
    objects(&document, "", &mut all);
    let references: Vec<_> = all
        .iter()
        .filter_map(|(at, object)| Some((at, object.get("$ref")?.as_str().expect("a $ref is a text"))))
        .collect();
    for (at, reference) in &references {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{at}: {reference} is elsewhere"));
        assert!(document.pointer(pointer).is_some_and(Value::is_object), "{at}: {reference}");
    }
    // and nothing is defined that nothing refers to
    let referred: BTreeSet<_> = references.iter().map(|(_, reference)| *reference).collect();
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(referred.contains(format!("#/components/schemas/{name}").as_str()), "{name} is not used");
    }
}

#[tokio::test]
async fn the_variables_of_each_path_are_its_parameters() {
    let document = document().await;
    for (path, method, operation) in operations(&document) {
        let in_path: Vec<_> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let parameters = operation["parameters"].as_array().unwrap();
        let declared: Vec<_> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "path")
            .inspect(|parameter| assert_eq!(parameter["required"], true, "{method} {path}"))
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        assert_eq!(declared, in_path, "{method} {path}");
        let names: BTreeSet<_> =
            parameters.iter().map(|one| (one["in"].as_str(), one["name"].as_str())).collect();
        assert_eq!(names.len(), parameters.len(), "{method} {path}: a parameter is declared twice");
    }
}

#[tokio::test]
async fn what_the_specification_asks_for_is_there() {
    let document = document().await;
    assert_eq!(document["openapi"], "3.1.0");
    for needed in ["title", "version"] {
        assert!(document["info"][needed].is_string(), "{needed}");
    }
    let schemes = document["components"]["securitySchemes"].as_object().unwrap();
    let tags: Vec<_> = document["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let name = format!("{method} {path}");
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{name}: its id is taken");
        assert!(tags.contains(&&operation["tags"][0]), "{name}");
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{name}");
        for security in operation["security"].as_array().unwrap() {
            assert!(security.as_object().unwrap().keys().all(|key| schemes.contains_key(key)), "{name}");
        }
        for parameter in operation["parameters"].as_array().unwrap() {
            assert!(parameter["schema"].is_object(), "{name}: {parameter}");
        }
        for (status, response) in operation["responses"].as_object().unwrap() {
            assert!(status == "default" || (200..600).contains(&status.parse().unwrap()), "{name} {status}");
            assert!(response["description"].is_string() || response["$ref"].is_string(), "{name} {status}");
        }
        if !operation["requestBody"].is_null() {
            assert!(!operation["requestBody"]["content"].as_object().unwrap().is_empty(), "{name}");
            assert_ne!(method, "get", "{name}: no body is read there");
        }
    }
}

#[tokio::test]
async fn what_is_answered_has_the_shape_that_is_described() {
    let seeding = Seeding::begin().await;
    let run = seeding.planned("network", b"{}").await;
    let server = seeding.start().await;
    let document = document().await;
    let described = |path: &str, method: &str| {
        document["paths"][path][method]["responses"]["200"]["content"]["application/vnd.api+json"]["schema"]
            .clone()
    };
    for (path, template) in [
        (format!("/api/v2/runs/{}", run.id), "/api/v2/runs/{run}"),
        (format!("/api/v2/plans/{}", run.id.plan()), "/api/v2/plans/{plan}"),
        (
            "/api/v2/organizations/acme/workspaces/network".to_owned(),
            "/api/v2/organizations/{organization}/workspaces/{name}",
        ),
        ("/api/v2/organizations/acme".to_owned(), "/api/v2/organizations/{organization}"),
        (format!("/api/v2/runs/{}/run-events", run.id), "/api/v2/runs/{run}/run-events"),
    ] {
        let answer = server.get("reader", &path).await.ok(200);
        let schema = described(template, "get");
        assert!(schema.is_object(), "{template}");
        fits(&answer, &schema, &document, template);
    }
}

/// Checks that each member is described, that none is missing which has to be there, and the types of all of them.
fn fits(value: &Value, schema: &Value, document: &Value, at: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        return fits(value, document.pointer(reference.strip_prefix('#').unwrap()).unwrap(), document, at);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let null = |schema: &&Value| schema["type"] == "null";
        match value {
            Value::Null => assert!(any.iter().any(|schema| null(&schema)), "{at} is null"),
            _ => {
                if let [only] = any.iter().filter(|schema| !null(schema)).collect::<Vec<_>>()[..] {
                    fits(value, only, document, at);
                }
            }
        }
        return;
    }
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        many => many.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    };
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    assert!(types.is_empty() || types.contains(&is), "{at} is {value}, and not {types:?}");
    if let Value::Array(items) = value {
        items.iter().for_each(|item| fits(item, &schema["items"], document, &format!("{at}/items")));
    }
    let Some(members) = value.as_object() else { return };
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(members.contains_key(required), "{at}: {required} is missing");
    }
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, member) in members {
        match properties.get(name) {
            Some(property) => fits(member, property, document, &format!("{at}/{name}")),
            None => assert!(schema.get("additionalProperties").is_some(), "{at}: {name} is not described"),
        }
    }
}
