//! Names that stand in one body or map twice.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::place::Span;
use crate::tree::{Attribute, Body, Duplicate, DuplicateOf, Entry, Kind};

/// Up to so many names each is compared with all before, which takes less time than hashing them.
const FEW: usize = 8;

pub(crate) fn in_body<'t>(body: &mut Body<'t>, found: &mut Vec<Duplicate<'t>>) {
    let name = |attribute: &Attribute<'t>| Some((attribute.name.text.clone(), attribute.name.span.clone()));
    for (at, duplicate) in repeated(&body.attributes, DuplicateOf::Attribute, name) {
        body.attributes[at].repeated = true;
        found.push(duplicate);
    }
}

/// Of keys that have to be worked out nobody knows here what they are.
pub(crate) fn in_map<'t>(entries: &mut [Entry<'t>], found: &mut Vec<Duplicate<'t>>) {
    let key = |entry: &Entry<'t>| {
        let key = match &entry.key.kind {
            Kind::String(text) => text.clone(),
            Kind::Bool(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
            Kind::Number(number) => Cow::Owned(number.to_text()?),
            _ => return None,
        };
        Some((key, entry.key.span.clone()))
    };
    for (at, duplicate) in repeated(entries, DuplicateOf::Key, key) {
        entries[at].repeated = true;
        found.push(duplicate);
    }
}

/// Which of the items have a name that one before them has.
fn repeated<'t, T>(
    items: &[T],
    of: DuplicateOf,
    name: impl Fn(&T) -> Option<(Cow<'t, str>, Span)>,
) -> Vec<(usize, Duplicate<'t>)> {
    let duplicate = |name, first, again| Duplicate { name, first, again, of };
    if items.len() <= FEW {
        let first = |at: usize, name_at: &str| {
            items[..at].iter().filter_map(&name).find(|(other, _)| other == name_at).map(|(_, span)| span)
        };
        let again = items.iter().enumerate().filter_map(|(at, item)| {
            let (name, span) = name(item)?;
            let first = first(at, &name)?;
            Some((at, duplicate(name, first, span)))
        });
        return again.collect();
    }
    let mut before: HashMap<Cow<'t, str>, Span> = HashMap::with_capacity(items.len());
    let again = items.iter().enumerate().filter_map(|(at, item)| {
        let (name, span) = name(item)?;
        let Some(first) = before.get(&name) else {
            before.insert(name, span);
            return None;
        };
        Some((at, duplicate(name, first.clone(), span)))
    });
    again.collect()
}
