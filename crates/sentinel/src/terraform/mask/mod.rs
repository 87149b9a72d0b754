//! Masking of a plan and a run that are written into files.
//!
//! What the plan marks as sensitive is masked where it stands, whatever it is. The texts of such values may
//! stand elsewhere too: they are masked there when they are too long to be ordinary words. Names, numbers,
//! addresses, and all else that makes a plan what it is stay: a policy could not be written against mocks that
//! have other ones. Those are named here, so that what a later Terraform adds to a plan is masked.

mod format;

use std::collections::HashSet;

use crate::redact::{MASK, Secrets};
use crate::terraform::build::{named, str_of};
use crate::terraform::config_v1::is_expression;
use crate::terraform::secrets::{is_sensitive, marked_values, sensitive_names, sensitive_variables};
use crate::terraform::strip_index;
use crate::value::Data;

/// Texts shorter than this are masked only where the plan marks them.
const SHORTEST: usize = 8;

/// Masks a plan, and what belongs to it.
pub(super) struct Masking {
    secrets: Secrets,
    /// Attributes of resources and actions of the configuration that are sensitive in some instance: address
    /// and name.
    attributes: HashSet<(String, String)>,
    /// How many texts were masked that no mark is for.
    pub(super) elsewhere: usize,
}

impl Masking {
    /// The masking of a plan and the texts that are sensitive in it.
    pub(super) fn of(plan: &Data) -> Masking {
        let texts = super::secrets(plan).into_iter().filter(|text| text.chars().count() >= SHORTEST);
        Masking { secrets: Secrets::new(texts), attributes: attributes(plan), elsewhere: 0 }
    }

    /// The plan without its sensitive values.
    pub(super) fn plan(&mut self, plan: &Data) -> Data {
        // values of variables are marked where they are declared
        let sensitive: HashSet<&str> = sensitive_variables(plan).collect();
        members(plan, |name, value| match name {
            "variables" => members(value, |name, variable| {
                let mark = Data::Bool(sensitive.contains(name));
                members(variable, |_, value| self.values(value, Some(&mark)))
            }),
            "configuration" => members(value, |name, value| match name {
                "root_module" => self.module(value, ""),
                _ => self.member(plan, name, value),
            }),
            _ => self.member(plan, name, value),
        })
    }

    /// The run without sensitive values of its plan: in what people wrote, not in what it is found by.
    pub(super) fn run(&mut self, run: &Data) -> Data {
        members(run, |name, value| match name {
            "message" => self.text(value),
            "workspace" => members(value, |name, value| match name {
                "description" => self.text(value),
                _ => value.clone(),
            }),
            _ => value.clone(),
        })
    }

    /// A module of the configuration.
    fn module(&mut self, module: &Data, address: &str) -> Data {
        let within =
            |inner: &str| if address.is_empty() { inner.to_owned() } else { format!("{address}.{inner}") };
        members(module, |name, value| match name {
            "resources" | "actions" => Data::list(value.items().iter().map(|resource| {
                let address = within(str_of(resource, "address"));
                members(resource, |name, value| match name {
                    "expressions" => members(value, |name, expression| {
                        let hide = self.attributes.contains(&(address.clone(), name.to_owned()));
                        self.expression(expression, hide)
                    }),
                    _ => self.member(resource, name, value),
                })
            })),
            "outputs" => members(value, |_, output| {
                members(output, |name, value| match name {
                    "expression" => self.expression(value, is_sensitive(output)),
                    _ => self.member(output, name, value),
                })
            }),
            "module_calls" => members(value, |name, call| {
                let inner = call.get("module");
                let sensitive: HashSet<&str> =
                    inner.into_iter().flat_map(|inner| sensitive_names(inner, "variables")).collect();
                members(call, |member, value| match member {
                    "expressions" => {
                        members(value, |name, given| self.expression(given, sensitive.contains(name)))
                    }
                    "module" => self.module(value, &within(&format!("module.{name}"))),
                    _ => self.member(call, member, value),
                })
            }),
            _ => self.member(module, name, value),
        })
    }

    /// A member of some part of the plan's format.
    fn member(&mut self, parent: &Data, name: &str, value: &Data) -> Data {
        match name {
            "before" => self.values(value, parent.get("before_sensitive")),
            "after" => self.values(value, parent.get("after_sensitive")),
            // the state has a member of this name, too
            "values" if parent.get("address").is_some() => self.values(value, parent.get("sensitive_values")),
            "config_values" => self.values(value, parent.get("config_sensitive")),
            "value" | "default" => self.values(value, parent.get("sensitive")),
            "expressions" => self.block(value, false),
            "expression" | "count_expression" | "for_each_expression" => self.expression(value, false),
            // names that somebody gave, not of the format
            "variables" | "outputs" | "output_changes" | "module_calls" | "provider_config" => {
                members(value, |_, one| self.format(one))
            }
            // made of names that a provider gave
            "before_identity" | "after_identity" | "importing" => self.values(value, None),
            _ if format::stays(name) => self.staying(value),
            _ => self.format(value),
        }
    }

    fn format(&mut self, data: &Data) -> Data {
        match data {
            Data::List(items) => Data::list(items.iter().map(|item| self.format(item))),
            Data::Map(_) => members(data, |name, value| self.member(data, name, value)),
            other => self.text(other),
        }
    }

    /// Texts and lists of them stay; members are looked at by their own names.
    fn staying(&mut self, data: &Data) -> Data {
        match data {
            Data::List(items) => Data::list(items.iter().map(|item| self.staying(item))),
            Data::Map(_) => self.format(data),
            other => other.clone(),
        }
    }

    /// An expression of the configuration, or a block of expressions.
    fn expression(&mut self, expression: &Data, hide: bool) -> Data {
        match expression {
            Data::List(blocks) => Data::list(blocks.iter().map(|block| self.block(block, hide))),
            data if is_expression(data) => members(data, |name, value| match name {
                "constant_value" => self.values(value, Some(&Data::Bool(hide))),
                _ => value.clone(),
            }),
            Data::Map(_) => self.block(expression, hide),
            other => self.values(other, Some(&Data::Bool(hide))),
        }
    }

    /// A block, whose attributes may have any names, those of an expression's members too.
    fn block(&mut self, block: &Data, hide: bool) -> Data {
        members(block, |_, inner| self.expression(inner, hide))
    }

    /// A value beside its marks: `true` marks everything below.
    fn values(&mut self, value: &Data, mark: Option<&Data>) -> Data {
        match (value, mark) {
            (value, Some(Data::Bool(true))) => hidden(value),
            (Data::Map(_), Some(marks @ Data::Map(_))) => {
                members(value, |name, value| self.values(value, marks.get(name)))
            }
            (Data::List(items), Some(Data::List(marks))) => {
                let marked = items.iter().enumerate();
                Data::list(marked.map(|(at, item)| self.values(item, marks.get(at))))
            }
            (value, _) => self.text(value),
        }
    }

    /// What no mark is for.
    fn text(&mut self, value: &Data) -> Data {
        match value {
            Data::Str(text) => {
                let text = text.to_text();
                let masked = self.secrets.mask(&text);
                if masked == *text {
                    return value.clone();
                }
                self.elsewhere += 1;
                masked.into()
            }
            Data::List(items) => Data::list(items.iter().map(|item| self.text(item))),
            value => members(value, |_, value| self.text(value)),
        }
    }
}

/// The map with other values; what is no map is as it was.
fn members(data: &Data, mut change: impl FnMut(&str, &Data) -> Data) -> Data {
    let Data::Map(map) = data else { return data.clone() };
    Data::map(map.entries().iter().map(|(key, value)| {
        let changed = key.as_str().map_or_else(|| value.clone(), |name| change(name, value));
        (key.clone(), changed)
    }))
}

/// Lists and maps keep their form, so that policies can walk them. That there is no value is no secret.
fn hidden(value: &Data) -> Data {
    match value {
        Data::Null | Data::Undefined => value.clone(),
        Data::List(items) => Data::list(items.iter().map(hidden)),
        Data::Map(_) => members(value, |_, value| hidden(value)),
        Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Str(_) => MASK.into(),
    }
}

fn attributes(plan: &Data) -> HashSet<(String, String)> {
    let mut found = HashSet::new();
    for marked in marked_values(plan) {
        let names = named(Some(marked.marks)).filter(|(_, mark)| has_mark(mark)).map(|(name, _)| name);
        let address = strip_index(marked.address);
        found.extend(names.map(|name| (address.clone(), name.to_owned())));
    }
    found
}

fn has_mark(mark: &Data) -> bool {
    matches!(mark, Data::Bool(true))
        || mark.items().iter().any(has_mark)
        || mark.entries().iter().any(|(_, mark)| has_mark(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let constant = format!(
                r#"{{"address": "data.t.d", "expressions": {{"key": {{"constant_value": {secret}}}}}}}"#
            );
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
}
