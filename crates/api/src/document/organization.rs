use lifecycle::id;
use wire::{
    Capacity, CapacityAttributes, EntitlementSet, EntitlementSetAttributes, Organization,
    OrganizationAttributes, OrganizationRelationships, Relationship,
};

use super::user::entropy;

enum Entitlements {}

impl id::Kind for Entitlements {
    const PREFIX: &'static str = "org-";
    const NAME: &'static str = "entitlement set";
}

/// What nobody may do to the organization: it is made by the config file alone.
const MAY_NOT: [&str; 20] = [
    "can-update",
    "can-destroy",
    "can-create-team",
    "can-create-workspace",
    "can-create-project",
    "can-create-module",
    "can-create-provider",
    "can-manage-users",
    "can-manage-subscription",
    "can-manage-sso",
    "can-manage-tags",
    "can-manage-varsets",
    "can-read-varsets",
    "can-manage-run-tasks",
    "can-read-run-tasks",
    "can-update-api-token",
    "can-update-oauth",
    "can-update-sentinel",
    "can-update-ssh-keys",
    "can-update-agent-pools",
];

/// What the daemon does. `operations: false` would make clients run terraform themselves.
const DOES: [&str; 5] = ["operations", "state-storage", "teams", "sentinel", "policy-enforcement"];

const DOES_NOT: [&str; 15] = [
    "agents",
    "audit-logging",
    "configuration-designer",
    "cost-estimation",
    "global-run-tasks",
    "module-tests-generation",
    "private-module-registry",
    "private-policy-agents",
    "private-run-tasks",
    "private-vcs",
    "run-tasks",
    "self-serve-billing",
    "sso",
    "usage-reporting",
    "vcs-integrations",
];

/// The one organization. Its id is its name.
pub(crate) fn resource(name: &str) -> Organization {
    let may = ["can-access-via-teams", "can-traverse"].map(|name| (name.into(), true));
    let attributes = OrganizationAttributes {
        name: name.to_owned(),
        external_id: entitlements_id(name),
        email: None,
        collaborator_auth_policy: "password".into(),
        cost_estimation_enabled: false,
        default_execution_mode: "remote".into(),
        assessments_enforced: false,
        allow_force_delete_workspaces: false,
        permissions: may.into_iter().chain(MAY_NOT.map(|name| (name.into(), false))).collect(),
    };
    let entitlement_set = Relationship::one::<EntitlementSetAttributes>(entitlements_id(name));
    Organization::new(name, attributes)
        .related(OrganizationRelationships { entitlement_set })
        .link("self", format!("/api/v2/organizations/{name}"))
}

/// What the daemon does and does not.
pub(crate) fn entitlement_set(organization: &str) -> EntitlementSet {
    let does = DOES.map(|name| (name.into(), true)).into_iter();
    let attributes = does.chain(DOES_NOT.map(|name| (name.into(), false))).collect();
    EntitlementSet::new(entitlements_id(organization), EntitlementSetAttributes(attributes))
        .link("self", format!("/api/v2/organizations/{organization}/entitlement-set"))
}

/// How many runs work, and how many wait for their turn.
pub(crate) fn capacity(organization: &str, pending: usize, running: usize) -> Capacity {
    Capacity::new(organization, CapacityAttributes { pending, running })
}

fn entitlements_id(organization: &str) -> String {
    id::Id::<Entitlements>::from_entropy(entropy("organization", organization)).to_string()
}
