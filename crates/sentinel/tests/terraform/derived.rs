//! `tfplan/v2`, `tfconfig/v2`, `tfstate/v2`, `tfrun`, secrets.

use sentinel::{Data, Documents, Environment, imports, secrets, tfrun};

use crate::support::check_in;

const PLAN: &str = include_str!("plan.json");

pub(crate) fn documents() -> Documents {
    let run = serde_json::from_str(
        r#"{"id": "run-1", "message": "m", "is_destroy": false, "extra": 1,
            "organization": {"name": "acme", "email": "x"},
            "workspace": {"name": "prod", "auto_apply": true, "tags": ["a"], "vcs_repo": {"identifier": "a/b", "oauth": "x"}},
            "variables": {"x": {"category": "env", "sensitive": true, "value": "hidden"}}}"#,
    )
    .unwrap();
    Documents { plan: serde_json::from_str(PLAN).unwrap(), schemas: None, run: Some(run) }
}

pub(crate) fn environment() -> Environment {
    let mut environment = Environment::default();
    for (name, import) in imports(&documents()) {
        environment.set_import(name, import);
    }
    environment
}

fn plan(expr: &str, expected: &str) {
    check_in(&format!("import \"tfplan/v2\" as tfplan ;; {expr}"), expected, &environment());
}

fn config(expr: &str, expected: &str) {
    check_in(&format!("import \"tfconfig/v2\" as tfconfig ;; {expr}"), expected, &environment());
}

fn state(expr: &str, expected: &str) {
    check_in(&format!("import \"tfstate/v2\" as tfstate ;; {expr}"), expected, &environment());
}

#[test]
fn the_plan_has_its_version_and_variables() {
    plan("tfplan.terraform_version", "\"1.11.4\"");
    plan("tfplan.variables.name", "{\"name\": \"name\", \"value\": \"web\"}");
}

#[test]
fn changes_are_keyed_by_address_and_deposed_key() {
    plan(
        "keys(tfplan.resource_changes)",
        "[\"module.net[\\\"eu.west\\\"].t_net.main\", \"t_server.gone\", \"t_server.gone:abcd1234\", \"t_server.same[\\\"k\\\"]\", \"t_server.web[0]\"]",
    );
    plan("tfplan.resource_changes[\"t_server.gone:abcd1234\"].deposed", "\"abcd1234\"");
}

#[test]
fn a_change_has_exactly_these_members() {
    plan(
        "keys(tfplan.resource_changes[\"t_server.web[0]\"])",
        "[\"address\", \"change\", \"deposed\", \"index\", \"mode\", \"module_address\", \"name\", \"provider_name\", \"type\"]",
    );
    plan(
        "keys(tfplan.resource_changes[\"t_server.web[0]\"].change)",
        "[\"actions\", \"after\", \"after_unknown\", \"before\"]",
    );
}

#[test]
fn absent_members_of_a_change_have_defaults() {
    plan("r = tfplan.resource_changes[\"t_server.gone\"]", "error: expected");
    check_in(
        "import \"tfplan/v2\" as tfplan\nr = tfplan.resource_changes[\"t_server.gone\"] ;; [r.module_address, r.index, r.deposed, r.change.after]",
        "[\"\", null, \"\", null]",
        &environment(),
    );
}

#[test]
fn actions_keep_their_order() {
    plan("tfplan.resource_changes[\"t_server.web[0]\"].change.actions", "[\"delete\", \"create\"]");
}

#[test]
fn what_is_unknown_is_undefined_after_the_change() {
    plan("tfplan.resource_changes[\"t_server.web[0]\"].change.after.id", "undefined");
    plan("tfplan.output_changes.later.change.after", "undefined");
    plan("tfplan.output_changes.known.change.after", "\"x\"");
    plan(
        "tfplan.planned_values.outputs.later",
        "{\"name\": \"later\", \"sensitive\": true, \"value\": undefined}",
    );
}

#[test]
fn planned_resources_have_the_shape_of_the_state() {
    plan(
        "keys(tfplan.planned_values.resources)",
        "[\"module.net[\\\"eu.west\\\"].t_net.main\", \"t_image.base\", \"t_server.web[0]\"]",
    );
    plan(
        "keys(tfplan.planned_values.resources[\"t_server.web[0]\"])",
        "[\"address\", \"depends_on\", \"deposed_key\", \"index\", \"mode\", \"module_address\", \"name\", \"provider_name\", \"tainted\", \"type\", \"values\"]",
    );
    check_in(
        "import \"tfplan/v2\" as tfplan\nr = tfplan.planned_values.resources[\"module.net[\\\"eu.west\\\"].t_net.main\"] ;; [r.module_address, r.tainted, r.depends_on, r.index]",
        "[\"module.net[\\\"eu.west\\\"]\", true, [\"t_server.web\"], null]",
        &environment(),
    );
}

#[test]
fn a_data_source_has_no_prefix_in_the_state_but_in_the_configuration() {
    plan("tfplan.planned_values.resources[\"t_image.base\"].mode", "\"data\"");
    state("tfstate.resources[\"t_image.base\"].address", "\"t_image.base\"");
    config("tfconfig.resources[\"data.t_image.base\"].mode", "\"data\"");
}

#[test]
fn indexes_are_ints_and_strings() {
    plan(
        "[tfplan.resource_changes[\"t_server.web[0]\"].index, tfplan.resource_changes[\"t_server.same[\\\"k\\\"]\"].index]",
        "[0, \"k\"]",
    );
    plan("string(tfplan.resource_changes[\"t_server.web[0]\"].index)", "\"0\"");
}

#[test]
fn drift_is_empty_when_there_is_none() {
    plan("tfplan.resource_drift", "{}");
}

#[test]
fn the_whole_plan_is_there() {
    plan("tfplan.raw.format_version", "\"1.2\"");
}

pub(crate) fn environment_of(plan: &str) -> Environment {
    let mut environment = Environment::default();
    let plan = serde_json::from_str(plan).unwrap();
    for (name, import) in imports(&Documents { plan, schemas: None, run: None }) {
        environment.set_import(name, import);
    }
    environment
}

/// The reference has one key for both. A policy that counts resources must see each of them.
#[test]
fn a_data_source_does_not_hide_the_resource_of_its_type_and_name() {
    let managed = |address: &str| format!(r#"{{"address": "{address}", "mode": "managed"}}"#);
    let read = |address: &str| format!(r#"{{"address": "{address}", "mode": "data"}}"#);
    let inner = [read("module.m.data.t.x"), managed("module.m.t.x"), read("module.m.data.t.y")].join(",");
    for root in [
        [managed("t.a"), read("data.t.a"), read("data.t.b")],
        [read("data.t.a"), managed("t.a"), read("data.t.b")],
    ] {
        let values = format!(
            r#"{{"root_module": {{"resources": [{}], "child_modules": [{{"address": "module.m", "resources": [{inner}]}}]}}}}"#,
            root.join(",")
        );
        let plan = format!(r#"{{"planned_values": {values}, "prior_state": {{"values": {values}}}}}"#);
        for resources in [
            "import \"tfplan/v2\" as t\nr = t.planned_values.resources",
            "import \"tfstate/v2\" as t\nr = t.resources",
        ] {
            check_in(
                &format!("{resources} ;; map r as key, one {{ [key is one.address, key, one.mode] }}"),
                "[[true, \"data.t.a\", \"data\"], [true, \"module.m.data.t.x\", \"data\"], [true, \"module.m.t.x\", \"managed\"], [true, \"module.m.t.y\", \"data\"], [true, \"t.a\", \"managed\"], [true, \"t.b\", \"data\"]]",
                &environment_of(&plan),
            );
        }
    }
}

#[test]
fn the_state_is_that_before_the_plan() {
    state("tfstate.terraform_version", "\"1.10.0\"");
    state("tfstate.resources[\"t_server.web[0]\"].values.size", "\"small\"");
    state(
        "tfstate.outputs",
        "{\"count\": {\"name\": \"count\", \"sensitive\": false, \"value\": 5}, \"names\": {\"name\": \"names\", \"sensitive\": true, \"value\": [\"n1\"]}}",
    );
}

#[test]
fn resources_of_the_configuration() {
    config(
        "keys(tfconfig.resources)",
        "[\"data.t_image.base\", \"module.net.module.deep.t_net.inner\", \"module.net.t_net.main\", \"t_server.web\"]",
    );
    config(
        "keys(tfconfig.resources[\"t_server.web\"])",
        "[\"address\", \"config\", \"count\", \"depends_on\", \"for_each\", \"mode\", \"module_address\", \"name\", \"provider_config_key\", \"provisioners\", \"type\"]",
    );
    config("tfconfig.resources[\"t_server.web\"].count.references", "[\"var.count\"]");
    config("tfconfig.resources[\"t_server.web\"].for_each", "{}");
    config("tfconfig.resources[\"data.t_image.base\"].config", "{}");
}

#[test]
fn providers_of_resources_in_modules_name_the_module() {
    config("tfconfig.resources[\"t_server.web\"].provider_config_key", "\"t\"");
    config("tfconfig.resources[\"module.net.t_net.main\"].provider_config_key", "\"module.net:t\"");
    config(
        "tfconfig.resources[\"module.net.module.deep.t_net.inner\"].provider_config_key",
        "\"module.net.module.deep:t\"",
    );
}

#[test]
fn providers_of_the_configuration() {
    config("keys(tfconfig.providers)", "[\"module.net:t\", \"t\", \"t.west\"]");
    config(
        "tfconfig.providers[\"t.west\"]",
        "{\"alias\": \"west\", \"config\": {\"region\": {\"references\": [\"var.name\"]}}, \"module_address\": \"\", \"name\": \"t\", \"provider_config_key\": \"t.west\", \"version_constraint\": \"\"}",
    );
    config("tfconfig.providers.t.full_name", "\"registry.terraform.io/acme/t\"");
}

#[test]
fn provisioners_are_keyed_by_resource_and_index() {
    config(
        "tfconfig.provisioners",
        "{\"t_server.web:0\": {\"config\": {\"command\": {\"constant_value\": \"pwd\"}}, \"index\": \"0\", \"resource_address\": \"t_server.web\", \"type\": \"local-exec\"}, \"t_server.web:1\": {\"config\": {}, \"index\": \"1\", \"resource_address\": \"t_server.web\", \"type\": \"file\"}}",
    );
}

#[test]
fn provisioners_of_a_resource_have_the_data_of_the_collection() {
    config(
        "[tfconfig.provisioners[\"t_server.web:0\"], tfconfig.provisioners[\"t_server.web:1\"]] is tfconfig.resources[\"t_server.web\"].provisioners",
        "true",
    );
    config("tfconfig.resources[\"data.t_image.base\"].provisioners", "[]");
}

#[test]
fn variables_outputs_and_module_calls() {
    config(
        "tfconfig.variables[\"name\"]",
        "{\"default\": \"web\", \"description\": \"Its name.\", \"module_address\": \"\", \"name\": \"name\"}",
    );
    config("tfconfig.variables[\"module.net:cidr\"].default", "null");
    config(
        "tfconfig.outputs.later",
        "{\"depends_on\": [\"t_net.main\"], \"description\": \"\", \"module_address\": \"\", \"name\": \"later\", \"sensitive\": true, \"value\": {\"references\": [\"t_server.web\"]}}",
    );
    config("keys(tfconfig.module_calls)", "[\"module.net:deep\", \"net\"]");
    config(
        "tfconfig.module_calls.net",
        "{\"config\": {\"cidr\": {\"constant_value\": \"10.0.0.0/8\"}}, \"count\": {}, \"depends_on\": [], \"for_each\": {\"references\": [\"var.nets\"]}, \"module_address\": \"\", \"name\": \"net\", \"source\": \"./net\", \"version_constraint\": \"2.0\"}",
    );
}

#[test]
fn strip_index_leads_from_a_change_to_its_configuration() {
    config(
        "tfconfig.strip_index(\"module.net[\\\"eu.west\\\"].t_net.main[0]\")",
        "\"module.net.t_net.main\"",
    );
    config("tfconfig.strip_index(5)", "error: `strip_index` needs an address");
    config("tfconfig.strip_index(undefined)", "undefined");
}

#[test]
fn a_plan_without_anything_makes_empty_imports() {
    let mut environment = Environment::default();
    for (name, import) in imports(&Documents { plan: Data::map::<&str>([]), schemas: None, run: None }) {
        environment.set_import(name, import);
    }
    check_in(
        "import \"tfplan/v2\" as p ;; [p.resource_changes, p.planned_values, p.variables, p.terraform_version]",
        "[{}, {\"outputs\": {}, \"resources\": {}}, {}, \"\"]",
        &environment,
    );
    check_in("import \"tfconfig/v2\" as c ;; [c.resources, c.module_calls]", "[{}, {}]", &environment);
    check_in("import \"tfstate/v2\" as s ;; [s.resources, s.outputs]", "[{}, {}]", &environment);
    check_in("import \"tfplan\" ;; [tfplan.resources, tfplan.module_paths]", "[{}, []]", &environment);
    check_in(
        "import \"tfconfig\" ;; [tfconfig.resources, tfconfig.module_paths]",
        "[{}, [[]]]",
        &environment,
    );
    check_in("import \"tfstate\" ;; [tfstate.resources, tfstate.module_paths]", "[{}, []]", &environment);
    check_in("import \"tfrun\" ;; 1", "error: there is no import `tfrun`", &environment);
}

#[test]
fn a_run_has_its_members_and_no_others() {
    let run = tfrun(&documents().run.unwrap());
    assert!(run.get("extra").is_none());
    assert_eq!(run.get("target_addrs"), Some(&Data::Null));
    assert_eq!(run.get("refresh"), Some(&Data::Bool(false)));
    assert_eq!(format!("{:?}", run.get("organization").unwrap()), "{\"name\": \"acme\"}");
    assert_eq!(
        format!("{:?}", run.get("variables").unwrap()),
        "{\"x\": {\"category\": \"env\", \"sensitive\": true}}"
    );
    assert!(run.get("cost_estimate").is_none());
    let workspace = run.get("workspace").unwrap();
    assert_eq!(workspace.get("description"), Some(&Data::Null));
    assert_eq!(
        format!("{:?}", workspace.get("vcs_repo").unwrap()),
        "{\"branch\": null, \"display_identifier\": null, \"identifier\": \"a/b\", \"ingress_submodules\": null}"
    );
}

#[test]
fn costs_are_there_when_there_is_an_estimate() {
    let run: Data = serde_json::from_str("{\"cost_estimate\": {\"prior_monthly_cost\": \"1.0\", \"proposed_monthly_cost\": \"2.0\", \"delta_monthly_cost\": \"1.0\"}}").unwrap();
    assert_eq!(
        tfrun(&run).get("cost_estimate").unwrap().get("delta_monthly_cost").unwrap().as_str(),
        Some("1.0")
    );
}

#[test]
fn the_sensitive_values_of_a_plan_are_found() {
    let mut found = secrets(&documents().plan);
    found.sort();
    found.dedup();
    assert_eq!(found, ["n1", "new-password", "old-password", "s3cr3t-token"]);
}

#[test]
fn sensitive_values_of_actions_and_deferred_changes_are_found() {
    let plan = serde_json::from_str(
        r#"{
            "action_invocations": [
                {"config_values": {"token": "of-an-action", "size": "shown"}, "config_sensitive": {"token": true}}
            ],
            "deferred_action_invocations": [
                {"action_invocation": {"config_values": {"token": "of-a-later-action"}, "config_sensitive": {"token": true}}}
            ],
            "deferred_changes": [{"resource_change": {"change": {
                "before": {"token": "of-before"}, "before_sensitive": {"token": true},
                "after": {"token": "of-after", "size": "shown"}, "after_sensitive": {"token": true}
            }}}]
        }"#,
    )
    .unwrap();
    let mut found = secrets(&plan);
    found.sort();
    assert_eq!(found, ["of-a-later-action", "of-after", "of-an-action", "of-before"]);
}

/// Plans have no values of these: the configuration is where they are.
#[test]
fn sensitive_constants_of_every_module_are_found() {
    let plan = serde_json::from_str(
        r#"{"configuration": {"root_module": {
            "variables": {"a": {"sensitive": true, "default": "of-the-root"}, "b": {"default": "shown"}},
            "module_calls": {"m": {"module": {"module_calls": {"n": {
                "expressions": {"given": {"constant_value": "by-the-call"}, "open": {"constant_value": "shown"}},
                "module": {
                    "variables": {"c": {"sensitive": true, "default": {"k": "of-a-module"}}, "given": {"sensitive": true}, "open": {}},
                    "outputs": {"o": {"sensitive": true, "expression": {"constant_value": "of-an-output"}}}
                }
            }}}}}
        }}}"#,
    )
    .unwrap();
    let mut found = secrets(&plan);
    found.sort();
    assert_eq!(found, ["by-the-call", "of-a-module", "of-an-output", "of-the-root"]);
}

#[test]
fn numbers_are_those_that_the_plan_has() {
    for number in [
        "0.30000000000000004",
        "100.78399658203125",
        "1.7976931348623157e308",
        "121.48791951161945",
        "31.245270191439438",
    ] {
        let plan = format!(r#"{{"variables": {{"n": {{"value": {number}}}}}}}"#);
        let read: f64 = number.parse().unwrap();
        check_in(
            &format!("import \"tfplan/v2\" as t ;; t.variables.n.value is {read:?}"),
            "true",
            &environment_of(&plan),
        );
        let plan: Data = serde_json::from_str(&plan).unwrap();
        assert_eq!(
            plan.get("variables").unwrap().get("n").unwrap().get("value"),
            Some(&Data::Float(read)),
            "{number}"
        );
    }
}
