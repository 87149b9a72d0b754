use super::*;
use crate::redact::MASK;

fn data(json: &str) -> Data {
    serde_json::from_str(json).unwrap()
}

#[test]
fn values_of_every_kind_are_masked_where_the_plan_marks_them() {
    let plan = data(
        r#"{
            "variables": {"on": {"value": true}, "size": {"value": 3}},
            "planned_values": {
                "outputs": {"o": {"sensitive": true, "value": {"k": [1]}}, "p": {"sensitive": false, "value": 1}},
                "root_module": {"resources": [
                    {"address": "r.x", "values": {"a": true, "b": 1, "c": null}, "sensitive_values": {"a": true, "c": true}}
                ]}
            },
            "resource_changes": [{"change": {
                "before": null, "before_sensitive": false,
                "after": {"list": [1, 2, 3], "map": {"x": 1, "value": 2, "sensitive": true}},
                "after_sensitive": {"list": [false, true], "map": {"x": true}}
            }}],
            "configuration": {"root_module": {"variables": {"on": {"default": false, "sensitive": true}, "size": {}}}}
        }"#,
    );
    let expected = r#"{
            "variables": {"on": {"value": "(sensitive value)"}, "size": {"value": 3}},
            "planned_values": {
                "outputs": {"o": {"sensitive": true, "value": {"k": ["(sensitive value)"]}}, "p": {"sensitive": false, "value": 1}},
                "root_module": {"resources": [
                    {"address": "r.x", "values": {"a": "(sensitive value)", "b": 1, "c": null}, "sensitive_values": {"a": true, "c": true}}
                ]}
            },
            "resource_changes": [{"change": {
                "before": null, "before_sensitive": false,
                "after": {"list": [1, "(sensitive value)", 3], "map": {"x": "(sensitive value)", "value": 2, "sensitive": true}},
                "after_sensitive": {"list": [false, true], "map": {"x": true}}
            }}],
            "configuration": {"root_module": {"variables": {"on": {"default": "(sensitive value)", "sensitive": true}, "size": {}}}}
        }"#;
    let mut masking = Masking::of(&plan);
    assert_eq!(masking.plan(&plan), data(expected));
    assert_eq!(masking.elsewhere, 0);
}

/// The plan, and how many texts were masked in it that are not marked.
fn masked(plan: &str) -> (Data, usize) {
    let plan = data(plan);
    let mut masking = Masking::of(&plan);
    (masking.plan(&plan), masking.elsewhere)
}

#[test]
fn the_format_of_a_plan_stays_whatever_is_sensitive() {
    let plan = |value: &str| {
        format!(
            r#"{{
                "variables": {{"s": {{"value": {value}}}, "managed": {{"value": 1}}}},
                "planned_values": {{"root_module": {{"resources": [{{
                    "address": "t_server.root_module[\"resource_changes\"]", "mode": "managed", "type": "t_server",
                    "name": "root_module", "index": "resource_changes", "schema_version": 1,
                    "values": {{"t_server": true, "n": 1, "b": true}}, "sensitive_values": {{}}
                }}]}}}},
                "resource_changes": [{{"address": "t_server.root_module", "type": "t_server", "index": 1, "change": {{
                    "actions": ["no-op"], "before": null, "after": {{"root_module": 1}}, "after_sensitive": {{}}
                }}}}],
                "configuration": {{"root_module": {{
                    "resources": [{{"address": "t_server.root_module", "expressions": {{"value": {{"references": ["var.root_module"]}}}}}}],
                    "variables": {{"s": {{"sensitive": true}}, "managed": {{}}}}
                }}}}
            }}"#
        )
    };
    for secret in ["1", "true", "\"root_module\"", "\"t_server\"", "\"resource_changes\"", "\"no-op\""] {
        assert_eq!(masked(&plan(secret)), (data(&plan("\"(sensitive value)\"")), 0), "{secret}");
    }
}

#[test]
fn a_long_secret_is_masked_in_what_is_no_format_and_a_short_one_is_not() {
    let plan = |given: [&str; 3]| {
        let [value, long, short] = given;
        format!(
            r#"{{
                "variables": {{"s": {{"value": {value}}}, "w": {{"value": {value}}}, "u": {{"value": "{long}"}}}},
                "resource_changes": [{{"address": "t.a", "change": {{
                    "after": {{"url": "https://x:{long}@y", "tags": {{"hunter2-hunter2": "{short}"}}}}
                }}}}],
                "configuration": {{
                    "provider_config": {{"t": {{"expressions": {{"password": {{"constant_value": "{long}"}}}}}}}},
                    "root_module": {{
                        "resources": [{{"address": "t.a", "provisioners": [{{"expressions": {{"c": {{"constant_value": ["{long}"]}}}}}}]}}],
                        "variables": {{"s": {{"sensitive": true, "default": {value}}}, "w": {{"sensitive": true}}, "u": {{"default": "{short}"}}}}
                    }}
                }}
            }}"#
        )
    };
    let (mask, hidden) = ("(sensitive value)", "\"(sensitive value)\"");
    let secret = ["\"hunter2-hunter2\"", "hunter2-hunter2", "x"];
    assert_eq!(masked(&plan(secret)), (data(&plan([hidden, mask, "x"])), 4));
    let secret = ["\"hunter2\"", "hunter2", "hunter2"];
    assert_eq!(masked(&plan(secret)), (data(&plan([hidden, "hunter2", "hunter2"])), 0));
}

/// A constant is the value: it is masked where it stands, as short as it may be.
#[test]
fn constants_of_sensitive_variables_outputs_and_attributes_are_masked() {
    let plan = |secret: &str| {
        format!(
            r#"{{
                "resource_changes": [{{"address": "module.m[0].t.a[\"x\"]", "change": {{
                    "after": {{"password": {secret}, "disk": [{{"key": {secret}}}], "size": "s"}},
                    "after_sensitive": {{"password": true, "disk": [{{"key": true}}]}}
                }}}}],
                "configuration": {{"root_module": {{"module_calls": {{"m": {{
                    "expressions": {{"token": {{"constant_value": {secret}}}, "size": {{"constant_value": "s"}}}},
                    "module": {{
                        "resources": [{{"address": "t.a", "expressions": {{
                            "password": {{"constant_value": {secret}}}, "disk": [{{"key": {{"constant_value": {secret}}}}}],
                            "size": {{"constant_value": "s"}}
                        }}}}],
                        "variables": {{"token": {{"sensitive": true, "default": {secret}}}, "size": {{"default": "s"}}}},
                        "outputs": {{"o": {{"sensitive": true, "expression": {{"constant_value": {secret}}}}}}}
                    }}
                }}}}}}}}
            }}"#
        )
    };
    assert_eq!(masked(&plan("\"s\"")), (data(&plan("\"(sensitive value)\"")), 0));
}

#[test]
fn a_long_secret_is_masked_in_every_text_that_no_member_of_the_format_holds() {
    let plan = |text: &str| {
        format!(
            r#"{{
                "variables": {{"s": {{"value": "{MASK}"}}}},
                "resource_changes": [{{"address": "t.hunter2-hunter2", "name": "hunter2-hunter2", "index": "hunter2-hunter2",
                    "of_tomorrow": {{"hunter2-hunter2": ["{text}", 7, true]}}, "change": {{"actions": ["hunter2-hunter2"]}}}}],
                "action_invocations": [{{"address": "action.t.a", "config_values": {{"name": "{text}"}}, "config_sensitive": {{}}}}],
                "of_tomorrow": "{text}",
                "checks": [{{"address": {{"to_display": "check.hunter2-hunter2"}}, "instances": [{{"problems": [{{"message": "{text}"}}]}}]}}],
                "configuration": {{
                    "provider_config": {{"p": {{"name": "hunter2-hunter2", "of_tomorrow": "{text}"}}}},
                    "root_module": {{
                        "module_calls": {{"m": {{"source": "git::https://u:{text}@x", "depends_on": ["t.hunter2-hunter2"], "module": {{}}}}}},
                        "resources": [{{"address": "t.a", "of_tomorrow": {{"constant_value": "{text}"}}}}],
                        "variables": {{"s": {{"sensitive": true, "description": "{text}"}}}}
                    }}
                }}
            }}"#
        )
    };
    let given = plan("hunter2-hunter2").replacen(MASK, "hunter2-hunter2", 1);
    assert_eq!(masked(&given), (data(&plan(MASK)), 8));
}

#[test]
fn what_actions_and_deferred_changes_mark_is_masked_where_it_stands() {
    let plan = |secret: &str| {
        format!(
            r#"{{
                "action_invocations": [{{"address": "action.t.a", "config_values": {{"token": {secret}, "n": 1}}, "config_sensitive": {{"token": true}}}}],
                "deferred_changes": [{{"resource_change": {{"address": "t.b", "change": {{
                    "after": {{"token": {secret}, "n": 1}}, "after_sensitive": {{"token": true}}
                }}}}}}],
                "configuration": {{"root_module": {{
                    "actions": [{{"address": "action.t.a", "expressions": {{"token": {{"constant_value": {secret}}}, "n": {{"constant_value": 1}}}}}}],
                    "resources": [{{"address": "t.b", "expressions": {{"token": {{"constant_value": {secret}}}}}}}]
                }}}}
            }}"#
        )
    };
    assert_eq!(masked(&plan("1")), (data(&plan("\"(sensitive value)\"")), 0));
}

/// No change tells of what a data source read: the states do.
#[test]
fn constants_of_sensitive_attributes_of_data_sources_are_masked() {
    let plan = |secret: &str| {
        let resource = |address: &str| {
            format!(
                r#"{{"address": "{address}", "values": {{"key": {secret}}}, "sensitive_values": {{"key": true}}}}"#
            )
        };
        let constant =
            format!(r#"{{"address": "data.t.d", "expressions": {{"key": {{"constant_value": {secret}}}}}}}"#);
        format!(
            r#"{{
                "planned_values": {{"root_module": {{"resources": [{}]}}}},
                "prior_state": {{"values": {{"root_module": {{"child_modules": [{{"resources": [{}]}}]}}}}}},
                "configuration": {{"root_module": {{
                    "resources": [{constant}],
                    "module_calls": {{"m": {{"module": {{"resources": [{constant}]}}}}}}
                }}}}
            }}"#,
            resource("data.t.d"),
            resource("module.m[0].data.t.d")
        )
    };
    assert_eq!(masked(&plan("\"s\"")), (data(&plan("\"(sensitive value)\"")), 0));
}

#[test]
fn attributes_with_the_names_of_an_expressions_members_are_masked() {
    let plan = |secret: &str, text: &str| {
        let both = |value: &str| {
            format!(
                r#"{{"references": {{"constant_value": {value}}}, "constant_value": {{"constant_value": {value}}}}}"#
            )
        };
        let one = |value: &str| {
            format!(
                r#"{{"one": {{"references": {{"constant_value": {value}}}}}, "list": [{{"references": {{"constant_value": {value}}}}}]}}"#
            )
        };
        format!(
            r#"{{"configuration": {{
                "provider_config": {{"p": {{"expressions": {}}}}},
                "root_module": {{
                    "resources": [{{"address": "t.a", "expressions": {}}}, {{"address": "t.b", "expressions": {}}}],
                    "variables": {{"s": {{"sensitive": true, "default": {secret}}}}},
                    "outputs": {{"o": {{"sensitive": true, "expression": {{"references": ["var.hunter2-hunter2"]}}}}}}
                }}
            }}}}"#,
            both(text),
            both(text),
            one(text)
        )
    };
    let (secret, mask) = ("\"hunter2-hunter2\"", "\"(sensitive value)\"");
    assert_eq!(masked(&plan(secret, secret)), (data(&plan(mask, mask)), 6));
}

#[test]
fn keys_of_a_sensitive_map_that_are_no_names_are_numbered() {
    let plan = |value: &str, [alice, bob]: [&str; 2]| {
        let map = |alices: &str, bobs: &str| {
            format!(r#"{{"{alice}": {alices}, "{bob}": {{"password": {bobs}}}, "key": {bobs}}}"#)
        };
        data(&format!(
            r#"{{
                "planned_values": {{"outputs": {{"o": {{"sensitive": true, "value": {}, "type": ["object", {}]}}}}}},
                "resource_changes": [{{"address": "t.a", "change": {{
                    "before": {{"tags": {{"{bob}": {value}}}}}, "before_sensitive": {{"tags": true}},
                    "after": {{"tags": {}}}, "after_sensitive": {{"tags": true}}, "after_unknown": {{"tags": {}}}
                }}}}]
            }}"#,
            map(value, value),
            map("\"string\"", "\"bool\""),
            map(value, value),
            map("true", "false")
        ))
    };
    let given = plan("1", ["alice@example.com", "bob@example.com"]);
    let mut masking = Masking::of(&given);
    let expected = plan("\"(sensitive value)\"", ["(sensitive value 1)", "(sensitive value 2)"]);
    assert_eq!((masking.plan(&given), masking.elsewhere), (expected, 0));
}

#[test]
fn of_a_run_only_what_people_wrote_is_masked() {
    let plan = data(
        r#"{"variables": {"s": {"value": "run-1234"}}, "configuration": {"root_module": {"variables": {"s": {"sensitive": true}}}}}"#,
    );
    let run = |text: &str| {
        data(&format!(
            r#"{{"id": "run-1234", "message": "as in {text}", "workspace": {{"name": "run-1234", "description": "{text}"}}}}"#
        ))
    };
    let mut masking = Masking::of(&plan);
    assert_eq!((masking.run(&run("run-1234")), masking.elsewhere), (run(MASK), 2));
}
