//! The handles that a view has given out for its nested collections, by position.

use std::collections::BTreeMap;

use super::Value;
use super::list::is_pristine;
use crate::error::Error;
use crate::limits::Meter;

/// Up to so many handles are kept in a plain list: most views are asked for one or two members.
const FEW: usize = 16;

pub(super) enum Children {
    /// Sorted by position.
    Few(Vec<(u32, Value)>),
    Many(BTreeMap<u32, Value>),
}

impl Children {
    pub(super) const fn new() -> Children {
        Children::Few(Vec::new())
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Children::Few(children) => children.is_empty(),
            Children::Many(children) => children.is_empty(),
        }
    }

    /// The handle at a position, made if there is none yet.
    pub(super) fn get_or_make(&mut self, at: u32, make: impl FnOnce() -> Value) -> Value {
        match self {
            Children::Many(children) => children.entry(at).or_insert_with(make).clone(),
            Children::Few(children) => match children.binary_search_by_key(&at, |(at, _)| *at) {
                Ok(found) => children[found].1.clone(),
                Err(place) => {
                    let made = make();
                    if children.len() < FEW {
                        children.insert(place, (at, made.clone()));
                    } else {
                        let mut many: BTreeMap<u32, Value> = std::mem::take(children).into_iter().collect();
                        many.insert(at, made.clone());
                        *self = Children::Many(many);
                    }
                    made
                }
            },
        }
    }

    /// The handle at a position, if there is one.
    pub(super) fn get(&self, at: u32) -> Option<&Value> {
        match self {
            Children::Many(children) => children.get(&at),
            Children::Few(children) => {
                let found = children.binary_search_by_key(&at, |(at, _)| *at).ok()?;
                Some(&children[found].1)
            }
        }
    }

    /// Whether nothing was written through any of the handles.
    pub(super) fn are_pristine(&self, meter: &Meter) -> Result<bool, Error> {
        match self {
            Children::Few(children) => all_pristine(children.iter().map(|(_, value)| value), meter),
            Children::Many(children) => all_pristine(children.values(), meter),
        }
    }

    /// All handles by position; none are left.
    pub(super) fn take(&mut self) -> BTreeMap<u32, Value> {
        match std::mem::replace(self, Children::new()) {
            Children::Few(children) => children.into_iter().collect(),
            Children::Many(children) => children,
        }
    }

    /// All handles, to be dropped; none are left.
    pub(super) fn drain(&mut self) -> Vec<Value> {
        match std::mem::replace(self, Children::new()) {
            Children::Few(children) => children.into_iter().map(|(_, value)| value).collect(),
            Children::Many(children) => children.into_values().collect(),
        }
    }
}

fn all_pristine<'v>(handles: impl Iterator<Item = &'v Value>, meter: &Meter) -> Result<bool, Error> {
    for value in handles {
        if !is_pristine(value, meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}
