//! `tfrun`: the run and what it belongs to.

use super::build::{empty, named, null, or};
use super::secrets::sensitive_variables;
use crate::value::Data;

/// What a plan alone tells of its run: when it was made, and the variables of its root module. A plan is made
/// with a refresh unless somebody says otherwise, and a workspace always has a name.
pub(super) fn of_plan(plan: &Data) -> Data {
    let sensitive: Vec<&str> = sensitive_variables(plan).collect();
    let variables = named(plan.get("variables"))
        .map(|(name, _)| (name, Data::map([("sensitive", Data::Bool(sensitive.contains(&name)))])));
    Data::map([
        ("created_at", null(plan, "timestamp")),
        ("refresh", Data::Bool(true)),
        ("workspace", Data::map([("name", "workspace".into())])),
        ("variables", Data::map(variables.collect::<Vec<_>>())),
    ])
}

/// Members that are always there, and those that are null when the run has none.
pub(super) fn derive(run: &Data) -> Data {
    let mut members: Vec<(&str, Data)> = ["id", "created_at", "created_by", "message", "commit_sha"]
        .into_iter()
        .chain(["replace_addrs", "target_addrs"])
        .map(|name| (name, null(run, name)))
        .collect();
    for name in ["is_destroy", "refresh", "refresh_only", "speculative"] {
        members.push((name, or(run, name, Data::Bool(false))));
    }
    members.push(("variables", variables(run)));
    members.push(("organization", only(run, "organization", &["name"])));
    members.push(("project", only(run, "project", &["id", "name"])));
    members.push(("workspace", workspace(run)));
    if run.get("cost_estimate").is_some_and(|estimate| !estimate.is_null()) {
        let costs = ["prior_monthly_cost", "proposed_monthly_cost", "delta_monthly_cost"];
        members.push(("cost_estimate", only(run, "cost_estimate", &costs)));
    }
    Data::map(members)
}

fn only(data: &Data, name: &str, members: &[&str]) -> Data {
    let inner = or(data, name, empty());
    Data::map(members.iter().map(|member| (*member, null(&inner, member))).collect::<Vec<_>>())
}

fn variables(run: &Data) -> Data {
    let entries = named(run.get("variables")).map(|(name, variable)| {
        let data = Data::map([
            ("category", or(variable, "category", "terraform".into())),
            ("sensitive", or(variable, "sensitive", Data::Bool(false))),
        ]);
        (name, data)
    });
    Data::map(entries.collect::<Vec<_>>())
}

fn workspace(run: &Data) -> Data {
    let workspace = or(run, "workspace", empty());
    let mut members: Vec<(&str, Data)> =
        ["id", "name", "created_at", "description", "execution_mode", "working_directory"]
            .into_iter()
            .map(|name| (name, null(&workspace, name)))
            .collect();
    members.push(("auto_apply", or(&workspace, "auto_apply", Data::Bool(false))));
    members.push(("tags", or(&workspace, "tags", Data::list([]))));
    members.push(("tag_bindings", or(&workspace, "tag_bindings", Data::list([]))));
    let repository = match workspace.get("vcs_repo") {
        Some(Data::Map(_)) => only(
            &workspace,
            "vcs_repo",
            &["identifier", "display_identifier", "branch", "ingress_submodules"],
        ),
        _ => Data::Null,
    };
    members.push(("vcs_repo", repository));
    Data::map(members)
}
