//! The description of all operations as an OpenAPI document, made of their declarations and of the schemas of `wire`.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use lifecycle::access::Action;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::operation::{BodyInfo, Content, Operation, Right, Success};

/// The name of the one way to say who asks.
const TOKEN: &str = "token";

/// The description of these operations.
pub(crate) fn document(operations: &[Operation]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut schemas = settings.into_generator();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for operation in operations {
        let method = operation.method.as_str().to_ascii_lowercase();
        paths.entry(operation.path).or_default().insert(method, described(operation, &mut schemas));
    }
    let refused = refusal(&mut schemas);
    let mut tags: Vec<&str> = operations.iter().map(|operation| operation.group).collect();
    tags.dedup();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Signalbox",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The dialect of the Terraform Enterprise API v2 that this daemon speaks, and what it adds.",
        },
        "servers": [{ "url": "/" }],
        "tags": tags.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "responses": { "Refused": refused },
            "securitySchemes": { TOKEN: { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn described(operation: &Operation, schemas: &mut SchemaGenerator) -> Value {
    let mut described = json!({
        "operationId": id(operation),
        "tags": [operation.group],
        "summary": operation.summary,
        "description": who(operation),
        "security": if operation.right.has_token() { json!([{ TOKEN: [] }]) } else { json!([]) },
        "parameters": parameters(operation, schemas),
        "responses": responses(operation, schemas),
    });
    if let Some(body) = &operation.body {
        described["requestBody"] = request_body(body, schemas);
    }
    described
}

/// The method and the path in one word: `getRunsRunPlan`.
fn id(operation: &Operation) -> String {
    let path = operation.path.strip_prefix("/api/v2").unwrap_or(operation.path);
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(operation.method.as_str().to_ascii_lowercase(), |id, word| {
        let (first, rest) = word.split_at(1);
        id + &first.to_ascii_uppercase() + rest
    })
}

/// What a caller needs, in a sentence.
fn who(operation: &Operation) -> String {
    match operation.right {
        Right::Public => "For anybody.".to_owned(),
        Right::SecretInPath => "For whoever has the address, which is good for a day.".to_owned(),
        Right::Token => "For every user.".to_owned(),
        Right::Visible => "For every user: they get what they may read.".to_owned(),
        Right::In(Action::Read) => "For who may read the workspace; for others there is nothing.".to_owned(),
        Right::In(action) => {
            format!("In the workspace it takes {}; without it the answer is 404.", action.needs().words())
        }
    }
}

fn parameters(operation: &Operation, schemas: &mut SchemaGenerator) -> Vec<Value> {
    let text = json!({ "type": "string" });
    let variables = operation.variables.iter().map(|variable| {
        json!({
            "name": variable.name, "in": "path", "required": true, "description": variable.about, "schema": text,
        })
    });
    let query = operation.parameters.iter().map(|parameter| {
        json!({
            "name": parameter.name, "in": "query", "required": parameter.needed,
            "description": parameter.about, "schema": text,
        })
    });
    let mut all: Vec<_> = variables.chain(query).collect();
    if !operation.includes.is_empty() {
        let names = json!({ "type": "array", "items": { "type": "string", "enum": operation.includes } });
        all.push(json!({
            "name": "include", "in": "query", "style": "form", "explode": false,
            "description": "What comes along, in the member included.", "schema": names,
        }));
    }
    if operation.paged {
        let number = schemas.subschema_for::<u32>();
        for (name, about) in [
            ("page[number]", "Which page, from 1 on."),
            ("page[size]", "How many a page holds; 20 if left out, and no more than 100."),
        ] {
            all.push(json!({ "name": name, "in": "query", "description": about, "schema": number }));
        }
    }
    all
}

fn request_body(body: &BodyInfo, schemas: &mut SchemaGenerator) -> Value {
    let Some(schema) = body.schema else {
        return json!({ "required": body.required, "content": { "application/octet-stream": {} } });
    };
    let schema = schema(schemas);
    json!({
        "required": body.required,
        "content": {
            "application/vnd.api+json": { "schema": schema },
            "application/json": { "schema": schema },
        },
    })
}

fn responses(operation: &Operation, schemas: &mut SchemaGenerator) -> Map<String, Value> {
    let successes = operation.successes.iter().map(|success| {
        let Success { status, content } = success;
        let mut response = json!({ "description": reason(*status) });
        if let Some(Content { media_type, schema }) = content {
            let schema = schema.map_or(json!({}), |schema| json!({ "schema": schema(schemas) }));
            response["content"] = json!({ *media_type: schema });
        }
        (status.as_str().to_owned(), response)
    });
    let mut all: Map<_, _> = successes.collect();
    let refused = json!({ "$ref": "#/components/responses/Refused" });
    all.extend(operation.refusals.iter().map(|status| (status.as_str().to_owned(), refused.clone())));
    all.insert("default".to_owned(), refused);
    all
}

fn refusal(schemas: &mut SchemaGenerator) -> Value {
    let schema = schemas.subschema_for::<wire::Errors>();
    json!({
        "description": "It was not done, and nothing was changed.",
        "content": { "application/vnd.api+json": { "schema": schema } },
    })
}

fn reason(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or_default()
}
