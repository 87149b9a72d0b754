//! Masking of a plan and a run that are written into files.
//!
//! What the plan marks as sensitive is masked where it stands, whatever it is. The texts of such values may
//! stand elsewhere too: they are masked there when they are too long to be ordinary words. Names, numbers,
//! addresses, and all else that makes a plan what it is stay: a policy could not be written against mocks that
//! have other ones. Those are named here, so that what a later Terraform adds to a plan is masked.

mod format;
mod hidden;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use self::hidden::Hidden;
use crate::redact::Secrets;
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
    hidden: Hidden,
    /// How many texts were masked that no mark is for.
    pub(super) elsewhere: usize,
}

impl Masking {
    /// The masking of a plan and the texts that are sensitive in it.
    pub(super) fn of(plan: &Data) -> Masking {
        let texts = super::secrets(plan).into_iter().filter(|text| text.chars().count() >= SHORTEST);
        Masking {
            secrets: Secrets::new(texts),
            attributes: attributes(plan),
            hidden: Hidden::default(),
            elsewhere: 0,
        }
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
            // what is not known of a value has its keys
            "after_unknown" => self.marked(value, parent.get("after_sensitive"), Hidden::keys),
            "config_unknown" => self.marked(value, parent.get("config_sensitive"), Hidden::keys),
            // and so has the type of an output
            "type" if is_sensitive(parent) => self.hidden.keys(value),
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

    /// A value beside its marks.
    fn values(&mut self, value: &Data, mark: Option<&Data>) -> Data {
        self.marked(value, mark, Hidden::value)
    }

    /// Something beside marks: `true` marks everything below.
    fn marked(&mut self, value: &Data, mark: Option<&Data>, hide: fn(&mut Hidden, &Data) -> Data) -> Data {
        match (value, mark) {
            (value, Some(Data::Bool(true))) => hide(&mut self.hidden, value),
            (Data::Map(_), Some(marks @ Data::Map(_))) => {
                members(value, |name, value| self.marked(value, marks.get(name), hide))
            }
            (Data::List(items), Some(Data::List(marks))) => {
                let marked = items.iter().enumerate();
                Data::list(marked.map(|(at, item)| self.marked(item, marks.get(at), hide)))
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

/// The map with other values; what is not a map is as it was.
fn members(data: &Data, mut change: impl FnMut(&str, &Data) -> Data) -> Data {
    let Data::Map(map) = data else { return data.clone() };
    Data::map(map.entries().iter().map(|(key, value)| {
        let changed = key.as_str().map_or_else(|| value.clone(), |name| change(name, value));
        (key.clone(), changed)
    }))
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
