//! The old imports `tfplan`, `tfconfig`, `tfstate`.

use sentinel::{Documents, Environment, imports};

use super::derived::{documents, environment, environment_of};
use crate::support::{check_in, result_in};

fn check(import: &str, expr: &str, expected: &str) {
    check_in(&format!("import \"{import}\" as t ;; {expr}"), expected, &environment());
}

#[test]
fn resources_are_found_by_type_name_and_number() {
    check("tfplan", "keys(t.resources)", "[\"t_server\"]");
    check("tfplan", "keys(t.resources.t_server)", "[\"gone\", \"same\", \"web\"]");
    check(
        "tfplan",
        "[keys(t.resources.t_server.web), keys(t.resources.t_server.gone), keys(t.resources.t_server.same)]",
        "[[0], [0], [\"k\"]]",
    );
    check("tfplan/v1", "keys(t.resources)", "[\"t_server\"]");
}

#[test]
fn modules_have_their_own_resources() {
    check("tfplan", "t.module_paths", "[[], [\"net[\\\"eu.west\\\"]\"]]");
    check("tfplan", "keys(t.module([\"net[\\\"eu.west\\\"]\"]).resources)", "[\"t_net\"]");
    check("tfplan", "t.module([\"nowhere\"])", "null");
    check("tfplan", "t.module([]).path", "[]");
    check("tfplan", "t.module(\"net\")", "error: `module` needs the path of a module");
}

#[test]
fn applied_is_what_will_be() {
    check(
        "tfplan",
        "t.resources.t_server.web[0].applied",
        "{\"disks\": [{\"gb\": 10}], \"password\": \"new-password\", \"size\": \"big\", \"tags\": {\"env\": \"dev\"}}",
    );
    check("tfplan", "t.resources.t_server.web[0].applied.id", "undefined");
    check("tfplan", "t.resources.t_server.gone[0].applied", "undefined");
    check("tfplan", "t.resources.t_server.same[\"k\"].applied.size", "\"small\"");
}

#[test]
fn destroy_and_requires_new() {
    check(
        "tfplan",
        "map [\"web\", \"gone\", \"same\"] as n { map values(t.resources.t_server[n]) as r { [r.destroy, r.requires_new] } }",
        "[[[true, true]], [[true, false]], [[false, false]]]",
    );
}

#[test]
fn a_diff_is_flat_and_all_text() {
    check(
        "tfplan",
        "t.resources.t_server.web[0].diff.size",
        "{\"computed\": false, \"new\": \"big\", \"old\": \"small\"}",
    );
    check(
        "tfplan",
        "t.resources.t_server.web[0].diff[\"tags.%\"]",
        "{\"computed\": false, \"new\": \"1\", \"old\": \"1\"}",
    );
    check("tfplan", "t.resources.t_server.web[0].diff[\"tags.env\"].new", "\"dev\"");
    check("tfplan", "t.resources.t_server.web[0].diff[\"disks.#\"].new", "\"1\"");
    // an element that is known in parts only is told as a whole
    check("tfplan", "t.resources.t_server.web[0].diff[\"disks.0.%\"].computed", "true");
    check(
        "tfplan",
        "t.module([\"net[\\\"eu.west\\\"]\"]).resources.t_net.main[0].diff[\"ports.1\"].new",
        "\"2\"",
    );
    check(
        "tfplan",
        "t.module([\"net[\\\"eu.west\\\"]\"]).resources.t_net.main[0].diff.note",
        "{\"computed\": false, \"new\": \"\", \"old\": \"\"}",
    );
    check(
        "tfplan",
        "t.resources.t_server.gone[0].diff[\"tags.a\"]",
        "{\"computed\": false, \"new\": \"\", \"old\": \"1\"}",
    );
    check("tfplan", "t.resources.t_server.same[\"k\"].diff", "{}");
}

/// Without a schema it cannot be told whether an unknown attribute is a scalar, a list or a map.
#[test]
fn an_unknown_attribute_is_computed_however_it_is_asked_for() {
    check(
        "tfplan",
        "[t.resources.t_server.web[0].diff.id.computed, t.resources.t_server.web[0].diff[\"id.#\"].computed, t.resources.t_server.web[0].diff[\"id.%\"].computed]",
        "[true, true, true]",
    );
}

#[test]
fn a_schema_tells_what_an_unknown_attribute_is() {
    let schemas = serde_json::from_str(
        r#"{"provider_schemas": {"registry.terraform.io/acme/t": {"resource_schemas": {
            "t_server": {"block": {"attributes": {"id": {"type": "string"}}}},
            "t_net": {"block": {"attributes": {"id": {"type": ["list", "string"]}}}}}}}}"#,
    )
    .unwrap();
    let mut environment = Environment::default();
    for (name, import) in imports(&Documents { schemas: Some(schemas), ..documents() }) {
        environment.set_import(name, import);
    }
    check_in(
        "import \"tfplan\" as t ;; filter t.resources.t_server.web[0].diff as k { k matches \"^id\" }",
        "{\"id\": {\"computed\": true, \"new\": \"\", \"old\": \"\"}}",
        &environment,
    );
    check_in(
        "import \"tfplan\" as t\nm = t.module([\"net[\\\"eu.west\\\"]\"]) ;; keys(filter m.resources.t_net.main[0].diff as k { k matches \"^id\" })",
        "[\"id.#\"]",
        &environment,
    );
}

#[test]
fn variables_that_are_no_collections_are_text() {
    check(
        "tfplan",
        "[t.variables.name, t.variables.count, t.variables.tags]",
        "[\"web\", \"2\", {\"a\": 1}]",
    );
}

#[test]
fn a_plan_leads_to_its_configuration_and_state() {
    check("tfplan", "t.config.resources.t_server.web.config.size", "\"big\"");
    check("tfplan", "t.state.resources.t_server.web[0].id", "\"i-1\"");
}

#[test]
fn configuration_has_constants_and_references() {
    check(
        "tfconfig",
        "t.resources.t_server.web.config",
        "{\"disk\": [{\"gb\": 10}], \"opts\": {\"a\": 1}, \"size\": \"big\"}",
    );
    check(
        "tfconfig",
        "t.resources.t_server.web.references",
        "{\"call\": [], \"disk\": [{\"gb\": [], \"kind\": [\"var.kind\"]}], \"name\": [\"var.name\"], \"opts\": {\"a\": []}, \"size\": []}",
    );
    check(
        "tfconfig",
        "t.resources.t_server.web.provisioners",
        "[{\"config\": {\"command\": \"pwd\"}, \"references\": {\"command\": []}, \"type\": \"local-exec\"}, {\"config\": {}, \"references\": {}, \"type\": \"file\"}]",
    );
    check("tfconfig", "t.data.t_image.base.provisioners", "null");
}

#[test]
fn configuration_of_modules_providers_outputs_and_variables() {
    check("tfconfig", "t.module_paths", "[[], [\"net\"], [\"net\", \"deep\"]]");
    check(
        "tfconfig",
        "t.modules",
        "{\"net\": {\"config\": {\"cidr\": \"10.0.0.0/8\"}, \"references\": {\"cidr\": []}, \"source\": \"./net\", \"version\": \"2.0\"}}",
    );
    check("tfconfig", "keys(t.module([\"net\", \"deep\"]).resources.t_net)", "[\"inner\"]");
    check(
        "tfconfig",
        "[t.providers.t.config.region, t.providers.t.version, keys(t.providers.t.alias), t.providers.t.alias.west.references.region]",
        "[\"eu\", \"~> 1.0\", [\"\", \"west\"], [\"var.name\"]]",
    );
    check(
        "tfconfig",
        "[t.outputs.known.value, t.outputs.later.value, t.outputs.later.references, t.outputs.later.sensitive]",
        "[\"x\", undefined, [\"t_server.web\"], true]",
    );
    check("tfconfig", "t.variables.name", "{\"default\": \"web\", \"description\": \"Its name.\"}");
}

#[test]
fn the_state_has_attributes_and_outputs() {
    check(
        "tfstate",
        "t.resources.t_server.web[0]",
        "{\"attr\": {\"id\": \"i-1\", \"size\": \"small\"}, \"depends_on\": [], \"id\": \"i-1\", \"tainted\": false}",
    );
    check("tfstate", "t.data.t_image.base[0].id", "\"img-1\"");
    check(
        "tfstate",
        "t.outputs",
        "{\"count\": {\"sensitive\": false, \"type\": \"string\", \"value\": \"5\"}, \"names\": {\"sensitive\": true, \"type\": \"list\", \"value\": [\"n1\"]}}",
    );
    check("tfstate", "[t.terraform_version, t.module_paths]", "[\"1.10.0\", [[]]]");
}

#[test]
fn configuration_and_state_of_a_plan_have_their_modules() {
    for member in ["config", "state"] {
        for path in
            ["[]", "[\"net\", \"deep\"]", "[\"net[\\\"eu.west\\\"]\"]", "[\"nowhere\"]", "[1]", "undefined"]
        {
            let inner = format!("import \"tfplan\" ;; tfplan.{member}.module({path})");
            let import = format!("import \"tf{member}\" as t ;; t.module({path})");
            assert_eq!(result_in(&inner, &environment()), result_in(&import, &environment()), "{inner}");
        }
    }
    check("tfplan", "t.config.module([\"net\", \"deep\"]).path", "undefined");
    check("tfplan", "keys(t.config.module([\"net\", \"deep\"]).resources)", "[\"t_net\"]");
    check("tfplan", "t.state.module([]).path", "[]");
    check("tfplan", "t.state.module([\"nowhere\"])", "null");
    check("tfplan", "t.state.module(\"net\")", "error: `namespaces.module` needs the path of a module");
    check_in("import \"tfplan\"\ns = tfplan.state\nm = s[\"module\"] ;; m([]).path", "[]", &environment());
}

fn check_plan(plan: &str, expr: &str, expected: &str) {
    check_in(expr, expected, &super::derived::environment_of(plan));
}

/// The import has no place for what is left of an object that was replaced.
#[test]
fn a_deposed_object_does_not_hide_the_current_one() {
    let current =
        r#"{"address": "t.a", "mode": "managed", "type": "t", "name": "a", "values": {"id": "current"}}"#;
    let deposed = r#"{"address": "t.a", "mode": "managed", "type": "t", "name": "a", "deposed_key": "ab12", "values": {"id": "old"}}"#;
    let gone = r#"{"address": "t.b", "mode": "managed", "type": "t", "name": "b", "deposed_key": "ab12", "values": {"id": "old"}}"#;
    for resources in [[current, deposed, gone], [deposed, gone, current]] {
        let plan = format!(
            r#"{{"prior_state": {{"values": {{"root_module": {{"resources": [{}]}}}}}}}}"#,
            resources.join(",")
        );
        for state in ["import \"tfstate\" as s", "import \"tfplan\"\ns = tfplan.state"] {
            check_plan(
                &plan,
                &format!("{state} ;; [keys(s.resources.t), s.resources.t.a[0].id]"),
                "[[\"a\"], \"current\"]",
            );
        }
    }
}

#[test]
fn what_is_not_known_yet_is_undefined_in_applied() {
    let plan = r#"{"resource_changes": [{"address": "t.a", "mode": "managed", "type": "t", "name": "a", "change": {
        "actions": ["create"], "before": null,
        "after": {"list": ["x", null, null], "blocks": [{"a": null}, {}]},
        "after_unknown": {"list": [false, true, false], "blocks": [{}, {"a": true}], "id": true}
    }}]}"#;
    check_plan(
        plan,
        "import \"tfplan\" as t ;; t.resources.t.a[0].applied",
        "{\"blocks\": [{\"a\": null}, {}], \"list\": [\"x\", undefined, null]}",
    );
}

/// What an attribute has is not a list of names: that tells a block from an expression.
#[test]
fn a_block_may_have_an_attribute_called_references() {
    let plan = r#"{"configuration": {"root_module": {"resources": [{"mode": "managed", "type": "t", "name": "a", "expressions": {
        "block": {"references": {"constant_value": "x"}}, "given": {"references": ["var.x"]}
    }}]}}}"#;
    let source = |expr: &str| format!("import \"tfconfig\" as t ;; t.resources.t.a.{expr}");
    check_in(&source("config"), "{\"block\": {\"references\": \"x\"}}", &environment_of(plan));
    check_in(
        &source("references"),
        "{\"block\": {\"references\": []}, \"given\": [\"var.x\"]}",
        &environment_of(plan),
    );
}
