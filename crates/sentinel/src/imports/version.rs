//! `version`: versions and constraints, by the rules that Terraform's own versions follow.

use std::cmp::Ordering;

use semver::Prerelease;

use super::Call;
use crate::error::Error;
use crate::value::show::excerpt_of;
use crate::value::{Data, DataMap, Key, Map, Receiver, Value};

pub(super) const METHODS: &[&str] = &[
    "compare",
    "cmp",
    "equals",
    "eq",
    "greater_than",
    "gt",
    "greater_than_or_equals",
    "gte",
    "less_than",
    "lt",
    "less_than_or_equals",
    "lte",
    "satisfies",
    "sat",
];

/// The length of a version: a longer text is none.
const MAX_LENGTH: usize = 4096;

/// A version: numbers, a pre-release, metadata. Missing numbers count as zero.
#[derive(Debug, Clone)]
struct Version {
    numbers: Vec<u64>,
    /// How many numbers were written: `~>` looks at it.
    written: usize,
    prerelease: String,
    /// The pre-release as it is ordered: without zeros in front of its numbers, which Terraform's own versions
    /// may have and semantic versions may not.
    order: Prerelease,
    metadata: String,
}

impl Version {
    fn parse(text: &str) -> Option<Version> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let text = text.strip_prefix('v').unwrap_or(text);
        let (text, metadata) = text.split_once('+').unwrap_or((text, ""));
        let letter = |c: char| !c.is_ascii_digit() && c != '.';
        let (core, prerelease) = match text.find(letter) {
            Some(at) => (&text[..at], text[at..].strip_prefix('-').unwrap_or(&text[at..])),
            None => (text, ""),
        };
        let identifiers = |text: &str| {
            text.split('.')
                .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        };
        let dangling = text.ends_with('-') || (!metadata.is_empty() && !identifiers(metadata));
        if dangling {
            return None;
        }
        let mut numbers = core.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let written = numbers.len();
        while numbers.len() < 3 {
            numbers.push(0);
        }
        let order = Prerelease::new(&without_leading_zeros(prerelease)).ok()?;
        let (prerelease, metadata) = (prerelease.to_owned(), metadata.to_owned());
        Some(Version { numbers, written, prerelease, order, metadata })
    }

    fn text(&self) -> String {
        let numbers: Vec<String> = self.numbers.iter().map(u64::to_string).collect();
        let mut text = numbers.join(".");
        if !self.prerelease.is_empty() {
            text.push('-');
            text.push_str(&self.prerelease);
        }
        if !self.metadata.is_empty() {
            text.push('+');
            text.push_str(&self.metadata);
        }
        text
    }

    fn number(&self, at: usize) -> u64 {
        self.numbers.get(at).copied().unwrap_or(0)
    }

    fn same_numbers(&self, other: &Version) -> bool {
        let length = self.numbers.len().max(other.numbers.len());
        (0..length).all(|at| self.number(at) == other.number(at))
    }

    /// The order; metadata does not count.
    fn compare(&self, other: &Version) -> Ordering {
        let length = self.numbers.len().max(other.numbers.len());
        (0..length)
            .map(|at| self.number(at).cmp(&other.number(at)))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| self.order.cmp(&other.order))
    }

    fn object(&self) -> Value {
        let number = |at| i64::try_from(self.number(at)).map_or(Data::Undefined, Data::Int);
        let entries = [
            ("major", number(0)),
            ("metadata", self.metadata.as_str().into()),
            ("minor", number(1)),
            ("patch", number(2)),
            ("prerelease", self.prerelease.as_str().into()),
            ("version", self.text().into()),
        ];
        let entries = entries.into_iter().map(|(name, data)| (Key::from(name), data)).collect();
        Value::Map(Map::object(DataMap::new(entries), Receiver::Version))
    }
}

fn without_leading_zeros(prerelease: &str) -> String {
    let parts = prerelease.split('.').map(|part| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let rest = part.trim_start_matches('0');
        match rest {
            _ if !is_number => part,
            "" => "0",
            rest => rest,
        }
    });
    parts.collect::<Vec<_>>().join(".")
}

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    let [text] = call.exactly()?;
    if text.is_undefined() {
        return Ok(text);
    }
    Ok(version(&call, &text)?.object())
}

/// A version from text or from a version object.
fn version(call: &Call<'_, '_>, value: &Value) -> Result<Version, Error> {
    let text = match value {
        Value::Map(map) => match map.get_name(b"version") {
            Some(Value::Str(text)) => text,
            _ => return Err(call.wanted("a version", value)),
        },
        other => call.string(other)?,
    };
    call.eval.meter.read(text.len())?;
    let parsed = text.as_str().and_then(Version::parse);
    parsed.ok_or_else(|| {
        call.error(format!(
            "was given `{}`, which is not a version",
            excerpt_of(&text.to_text_within(MAX_LENGTH))
        ))
    })
}

pub(super) fn method(call: Call<'_, '_>, map: &Map) -> Result<Value, Error> {
    let [other] = call.exactly()?;
    if other.is_undefined() {
        return Ok(other);
    }
    let this = version(&call, &Value::Map(map.clone()))?;
    if matches!(call.function, "satisfies" | "sat") {
        let constraints = call.text(&other)?;
        for constraint in constraints.split(',') {
            // as many numbers are compared as the version has
            call.eval.meter.steps(1 + this.numbers.len())?;
            if !satisfies(&call, &this, constraint.trim())? {
                return Ok(Value::Bool(false));
            }
        }
        return Ok(Value::Bool(true));
    }
    let order = this.compare(&version(&call, &other)?);
    Ok(match call.function {
        "compare" | "cmp" => Value::Int(order as i64),
        "equals" | "eq" => Value::Bool(order.is_eq()),
        "greater_than" | "gt" => Value::Bool(order.is_gt()),
        "greater_than_or_equals" | "gte" => Value::Bool(order.is_ge()),
        "less_than" | "lt" => Value::Bool(order.is_lt()),
        _ => Value::Bool(order.is_le()),
    })
}

fn satisfies(call: &Call<'_, '_>, version: &Version, constraint: &str) -> Result<bool, Error> {
    let at = constraint.find(|c: char| !matches!(c, '=' | '!' | '<' | '>' | '~')).unwrap_or(constraint.len());
    let (operator, text) = constraint.split_at(at);
    let wanted = Version::parse(text.trim()).ok_or_else(|| {
        call.error(format!("was given `{}`, which is not a constraint", excerpt_of(constraint)))
    })?;
    let order = version.compare(&wanted);
    // a pre-release meets only a constraint that names a pre-release of the same version
    let comparable = match (version.prerelease.is_empty(), wanted.prerelease.is_empty()) {
        (false, false) => version.same_numbers(&wanted),
        (false, true) => false,
        (true, _) => true,
    };
    Ok(match operator {
        "" | "=" => order.is_eq(),
        "!=" => order.is_ne(),
        ">" => comparable && order.is_gt(),
        "<" => comparable && order.is_lt(),
        ">=" => comparable && order.is_ge(),
        "<=" => comparable && order.is_le(),
        "~>" => {
            let last = wanted.written - 1;
            let released = wanted.prerelease.is_empty() || !version.prerelease.is_empty();
            comparable
                && released
                && order.is_ge()
                && (0..last).all(|at| version.number(at) == wanted.number(at))
                && version.number(last) >= wanted.number(last)
        }
        other => {
            return Err(call.error(format!("does not know the operator `{}`", excerpt_of(other))));
        }
    })
}
