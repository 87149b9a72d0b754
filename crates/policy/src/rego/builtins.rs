//! Functions of OPA that regorus lacks, answers wrongly or leaves without an answer.
//!
//! regorus looks for an extension before it looks for a function of its own, so these take the place of both.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::bail;
use ipnet::IpNet;
use regorus::{Engine, Value};

use super::{metadata::Annotation, source::message_of, sprintf::sprintf, value::kind};

/// Notes that `trace` left during an evaluation.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn push(&self, note: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(note.to_owned());
    }

    /// The notes so far, one a line.
    pub(super) fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).join("\n")
    }
}

/// Adds everything that does not depend on the evaluation.
pub(super) fn install(engine: &mut Engine, annotations: &[Annotation]) -> anyhow::Result<()> {
    engine.add_extension(
        "sprintf".into(),
        2,
        Box::new(|args: Vec<Value>| {
            let [format, values] = take(args)?;
            match (&format, &values) {
                (Value::String(format), Value::Array(values)) => Ok(sprintf(format, &values.to_vec()).into()),
                _ => {
                    bail!("sprintf takes a string and an array, not {} and {}", kind(&format), kind(&values))
                }
            }
        }),
    )?;
    // regorus' own answers undefined, with which a policy that asks a service would pass
    engine.add_extension(
        "http.send".into(),
        1,
        Box::new(|_: Vec<Value>| bail!("http.send is not supported: policies reach no network here")),
    )?;
    engine.add_extension("net.cidr_intersects".into(), 2, Box::new(cidr_intersects))?;
    engine.add_extension("net.cidr_contains_matches".into(), 2, Box::new(cidr_contains_matches))?;
    for (name, arity) in SILENT {
        engine.add_extension((*name).to_owned(), *arity, Box::new(outspoken(name, *arity)?))?;
    }
    for annotation in annotations {
        let value = annotation.value.clone();
        engine.add_extension(
            format!("rego.metadata.{}", annotation.function),
            0,
            Box::new(move |_: Vec<Value>| Ok(value.clone())),
        )?;
    }
    Ok(())
}

/// Functions of regorus that are undefined, however strict it is, where OPA has an error; with their arity.
const SILENT: &[(&str, u8)] = &[
    ("array.slice", 3),
    ("regex.template_match", 4),
    ("time.add_date", 4),
    ("units.parse", 1),
    ("units.parse_bytes", 1),
];

/// The function of that name, with an error where it would be undefined.
fn outspoken(
    name: &'static str,
    arity: u8,
) -> anyhow::Result<impl Fn(Vec<Value>) -> anyhow::Result<Value> + Clone> {
    let args: Vec<_> = (0..arity).map(|n| format!("input[{n}]")).collect();
    let mut engine = Engine::new();
    engine
        .add_policy("function".into(), format!("package function\nanswer := {name}({})", args.join(", ")))?;
    Ok(move |args: Vec<Value>| {
        let mut engine = engine.clone();
        engine.set_input(args.into());
        match engine.eval_rule("data.function.answer".into()) {
            Ok(Value::Undefined) => bail!("{name} has no answer for these arguments"),
            Ok(answer) => Ok(answer),
            Err(error) => bail!("{}", message_of(&error)),
        }
    })
}

/// Adds `trace`, whose notes go to this evaluation's.
pub(super) fn install_trace(engine: &mut Engine, notes: &Notes) -> anyhow::Result<()> {
    let notes = notes.clone();
    engine.add_extension(
        "trace".into(),
        1,
        Box::new(move |args: Vec<Value>| {
            let [note] = take(args)?;
            match &note {
                Value::String(text) => notes.push(text),
                other => bail!("trace takes a string, not {}", kind(other)),
            }
            Ok(true.into())
        }),
    )
}

fn take<const N: usize>(args: Vec<Value>) -> anyhow::Result<[Value; N]> {
    args.try_into().map_err(|args: Vec<Value>| anyhow::anyhow!("takes {N} arguments, not {}", args.len()))
}

/// A network; an address without a prefix is a network of one.
fn network(value: &Value) -> anyhow::Result<IpNet> {
    let Value::String(text) = value else { bail!("a CIDR is a string, not {}", kind(value)) };
    match text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from)) {
        Some(network) => Ok(network),
        None => bail!("\"{text}\" is not a CIDR; write an address and a prefix length, such as 10.0.0.0/8"),
    }
}

fn cidr_intersects(args: Vec<Value>) -> anyhow::Result<Value> {
    let [one, other] = take(args)?;
    let (one, other) = (network(&one)?, network(&other)?);
    Ok((one.contains(&other) || other.contains(&one)).into())
}

/// Pairs of the keys of two collections of networks, so that the first network contains the second.
fn cidr_contains_matches(args: Vec<Value>) -> anyhow::Result<Value> {
    let [outer, inner] = take(args)?;
    let (outer, inner) = (networks(&outer)?, networks(&inner)?);
    let mut pairs = BTreeSet::new();
    for (outer_key, outer_network) in &outer {
        for (inner_key, inner_network) in &inner {
            if outer_network.contains(inner_network) {
                pairs.insert(Value::from(vec![outer_key.clone(), inner_key.clone()]));
            }
        }
    }
    Ok(pairs.into())
}

/// The networks of a string, array, set or object, each under what names it there: itself in a string or a set, its
/// index or key else. In a collection an item may be an array that begins with the network.
fn networks(value: &Value) -> anyhow::Result<BTreeMap<Value, IpNet>> {
    let of_item = |item: &Value| match item {
        Value::Array(parts) => match parts.first() {
            Some(first) => network(first),
            None => bail!("an empty array stands where a CIDR belongs"),
        },
        other => network(other),
    };
    match value {
        Value::String(_) => Ok([(value.clone(), network(value)?)].into()),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| Ok((Value::from(index), of_item(item)?))).collect()
        }
        Value::Set(items) => items.iter_sorted().map(|item| Ok((item.clone(), of_item(item)?))).collect(),
        Value::Object(fields) => {
            fields.iter_sorted().map(|(key, item)| Ok((key.clone(), of_item(item)?))).collect()
        }
        other => bail!("takes CIDRs in a string, array, set or object, not {}", kind(other)),
    }
}
