//! The operations of the dialect, one module for each kind of resource.

mod configuration_versions;
mod logs;
mod meta;
mod organizations;
pub(crate) mod plan_json;
mod plans;
mod policy_checks;
mod run_create;
mod run_list;
mod runs;
mod state_uploads;
mod states;
mod workspace_list;
mod workspaces;

use crate::operation::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    let groups = [
        ("Meta", meta::operations()),
        ("Organizations", organizations::operations()),
        ("Workspaces", workspaces::operations()),
        ("Runs", runs::operations()),
        ("Plans and applies", plans::operations()),
        ("Policy checks", policy_checks::operations()),
        ("Configuration versions", configuration_versions::operations()),
        ("State versions", states::operations()),
        ("State versions", state_uploads::operations()),
        ("Logs", logs::operations()),
    ];
    let of_group = |(group, all): (_, Vec<Operation>)| all.into_iter().map(move |one| one.of_group(group));
    groups.into_iter().flat_map(of_group).collect()
}
