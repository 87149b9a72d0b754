//! Which texts are of the format of a plan.

/// Members of the format whose texts stay: they are Terraform's words, or what something is found by.
const STAY: [&str; 32] = [
    // of the plan
    "format_version",
    "terraform_version",
    "timestamp",
    // of resources, actions, checks and modules
    "address",
    "previous_address",
    "module_address",
    "triggering_resource_address",
    "to_display",
    "module",
    "resource",
    "attribute",
    "mode",
    "type",
    "kind",
    "name",
    "full_name",
    "alias",
    "index",
    "instance_key",
    "deposed",
    "deposed_key",
    "depends_on",
    "references",
    "provider_name",
    "provider_config_key",
    "version_constraint",
    // of changes
    "actions",
    "action_reason",
    "action_trigger_event",
    "reason",
    "replace_paths",
    "status",
];

/// Whether texts stay that are a member of this name, and those of a list that is.
pub(super) fn stays(name: &str) -> bool {
    STAY.contains(&name)
}
