use lifecycle::id;
use serde_json::json;

use super::user::entropy;
use crate::jsonapi::{Relationship, Resource};

enum Entitlements {}

impl id::Kind for Entitlements {
    const PREFIX: &'static str = "org-";
    const NAME: &'static str = "entitlement set";
}

/// The one organization. Its id is its name (tfe-api.md 0.1); it is made by the config file alone.
pub(crate) fn resource(name: &str) -> Resource {
    let attributes = json!({
        "name": name,
        "external-id": entitlements_id(name),
        "email": null,
        "collaborator-auth-policy": "password",
        "cost-estimation-enabled": false,
        "default-execution-mode": "remote",
        "assessments-enforced": false,
        "allow-force-delete-workspaces": false,
        "permissions": {
            "can-update": false,
            "can-destroy": false,
            "can-access-via-teams": true,
            "can-traverse": true,
            "can-create-team": false,
            "can-create-workspace": false,
            "can-create-project": false,
            "can-create-module": false,
            "can-create-provider": false,
            "can-manage-users": false,
            "can-manage-subscription": false,
            "can-manage-sso": false,
            "can-manage-tags": false,
            "can-manage-varsets": false,
            "can-read-varsets": false,
            "can-manage-run-tasks": false,
            "can-read-run-tasks": false,
            "can-update-api-token": false,
            "can-update-oauth": false,
            "can-update-sentinel": false,
            "can-update-ssh-keys": false,
            "can-update-agent-pools": false,
        },
    });
    Resource::new("organizations", name, attributes)
        .with("entitlement-set", Relationship::one("entitlement-sets", entitlements_id(name)))
        .link("self", format!("/api/v2/organizations/{name}"))
}

/// What the daemon does. `operations: false` would make clients run terraform themselves (tfe-api.md 4.3).
pub(crate) fn entitlement_set(organization: &str) -> Resource {
    let attributes = json!({
        "operations": true,
        "state-storage": true,
        "teams": true,
        "sentinel": true,
        "policy-enforcement": true,
        "agents": false,
        "audit-logging": false,
        "configuration-designer": false,
        "cost-estimation": false,
        "global-run-tasks": false,
        "module-tests-generation": false,
        "private-module-registry": false,
        "private-policy-agents": false,
        "private-run-tasks": false,
        "private-vcs": false,
        "run-tasks": false,
        "self-serve-billing": false,
        "sso": false,
        "usage-reporting": false,
        "vcs-integrations": false,
    });
    Resource::new("entitlement-sets", entitlements_id(organization), attributes)
        .link("self", format!("/api/v2/organizations/{organization}/entitlement-set"))
}

/// How many runs work, and how many wait for their turn.
pub(crate) fn capacity(organization: &str, pending: usize, running: usize) -> Resource {
    let attributes = json!({ "pending": pending, "running": running });
    Resource::new("organization-capacity", organization, attributes)
}

fn entitlements_id(organization: &str) -> String {
    id::Id::<Entitlements>::from_entropy(entropy("organization", organization)).to_string()
}
