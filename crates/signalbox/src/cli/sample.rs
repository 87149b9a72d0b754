//! Documents for tests.

use client::Run;
use serde_json::{Value, json};

/// A run of `network-prod`, with attributes changed.
pub(crate) fn run(change: impl FnOnce(&mut Value)) -> Run {
    let mut attributes =
        json!({ "status": "pending", "created-at": "2026-01-01T00:00:00Z", "message": "why" });
    change(&mut attributes);
    let document = json!({
        "data": {
            "type": "runs",
            "id": "run-1",
            "attributes": attributes,
            "relationships": {
                "workspace": { "data": { "type": "workspaces", "id": "ws-1" } },
                "created-by": { "data": { "type": "users", "id": "user-1" } },
                "plan": { "data": { "type": "plans", "id": "plan-1" } },
                "apply": { "data": { "type": "applies", "id": "apply-1" } },
            },
        },
        "included": [
            { "type": "workspaces", "id": "ws-1", "attributes": { "name": "network-prod" } },
            { "type": "users", "id": "user-1", "attributes": { "username": "operator" } },
        ],
    });
    Run::from_document(&document.to_string()).unwrap()
}
