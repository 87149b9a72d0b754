//! `any`, `all`, `filter` and `map`, and the walk over collections that loops share with them.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Evaluator, Frame};
use crate::compile::ir::Expr;
use crate::error::Error;
use crate::source::Span;
use crate::syntax::ast::Quantifier;
use crate::value::ops::Truth;
use crate::value::{Key, Value};

/// One element of what is walked.
pub(super) enum Entry {
    Element(usize, Value),
    Pair(Key, Value),
}

impl Entry {
    /// The memory that so many entries are counted with.
    pub(super) fn bytes(count: usize) -> usize {
        count * size_of::<Entry>()
    }

    /// Sets the loop's names, which are the first slots of its frame. A single name is the value of a
    /// list's element, but the key of a map's entry.
    pub(super) fn bind(self, frame: &Frame, two: bool) {
        match (self, two) {
            (Entry::Element(_, value), false) => frame.put(0, value),
            (Entry::Element(at, value), true) => {
                frame.put(0, Value::Int(at as i64));
                frame.put(1, value);
            }
            (Entry::Pair(key, _), false) => frame.put(0, Value::from_key(&key)),
            (Entry::Pair(key, value), true) => {
                frame.put(0, Value::from_key(&key));
                frame.put(1, value);
            }
        }
    }
}

impl Evaluator<'_> {
    /// The elements of a list or a map as they are now.
    pub(super) fn entries(&self, collection: &Value, span: Span, what: &str) -> Result<Vec<Entry>, Error> {
        let count = match collection {
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            _ => 0,
        };
        let place = |error| self.place(error, span);
        self.meter.alloc(Entry::bytes(count)).map_err(place)?;
        match collection {
            Value::List(list) => {
                let items = list.snapshot(&self.meter).map_err(place)?.into_iter().enumerate();
                Ok(items.map(|(at, value)| Entry::Element(at, value)).collect())
            }
            Value::Map(map) => {
                let entries = map.snapshot(&self.meter).map_err(place)?.into_iter();
                Ok(entries.map(|(key, value)| Entry::Pair(key, value)).collect())
            }
            other => {
                let message = format!("{what} needs a list or a map, not {}", other.type_name());
                let error = self.fault(span, message);
                Err(self.explain(error, other))
            }
        }
    }

    pub(super) fn quantifier(
        &mut self,
        kind: Quantifier,
        over: &Expr,
        two: bool,
        body: &Expr,
        frame: &Rc<Frame>,
    ) -> Result<Value, Error> {
        let collection = self.eval(over, frame)?;
        if let Value::Undefined(origin) = collection {
            return Ok(Value::Undefined(origin));
        }
        let entries = self.entries(&collection, over.span, name(kind))?;
        let snapshot = Entry::bytes(entries.len());
        let result = self.walk(kind, &collection, entries, two, body, frame)?;
        self.meter.free(snapshot);
        Ok(result)
    }

    fn walk(
        &mut self,
        kind: Quantifier,
        collection: &Value,
        entries: Vec<Entry>,
        two: bool,
        body: &Expr,
        frame: &Rc<Frame>,
    ) -> Result<Value, Error> {
        let size = if two { 2 } else { 1 };
        let mut inner = Rc::new(Frame::new(size, Some(frame.clone())));
        let mut kept_list = Vec::new();
        let mut kept_map = BTreeMap::new();
        let mut truth = Truth::from(kind == Quantifier::All);
        for entry in entries {
            inner = self.fresh(inner, size, frame, body.span)?;
            let keep = match (kind, &entry) {
                (Quantifier::Filter, Entry::Element(_, value)) => Some((None, value.clone())),
                (Quantifier::Filter, Entry::Pair(key, value)) => Some((Some(key.clone()), value.clone())),
                _ => None,
            };
            entry.bind(&inner, two);
            match kind {
                Quantifier::Map => {
                    let value = self.eval(body, &inner)?;
                    self.charge(size_of::<Value>(), body.span)?;
                    kept_list.push(value);
                }
                Quantifier::Any => match self.condition(body, &inner)? {
                    Truth::True => return Ok(Value::Bool(true)),
                    // an `or` goes on after an undefined: a later true decides
                    Truth::Undefined(origin) if truth == Truth::False => truth = Truth::Undefined(origin),
                    _ => {}
                },
                Quantifier::All => match self.condition(body, &inner)? {
                    Truth::True => {}
                    // an `and` stops at an undefined: nothing after it can change the result
                    other => return Ok(other.value()),
                },
                Quantifier::Filter => match (self.condition(body, &inner)?, keep) {
                    (Truth::True, Some((None, value))) => {
                        self.charge(size_of::<Value>(), body.span)?;
                        kept_list.push(value);
                    }
                    (Truth::True, Some((Some(key), value))) => {
                        self.charge(size_of::<(Key, Value)>(), body.span)?;
                        kept_map.insert(key, value);
                    }
                    (Truth::Undefined(origin), _) => return Ok(Value::Undefined(origin)),
                    _ => {}
                },
            }
        }
        Ok(match (kind, collection) {
            (Quantifier::Any | Quantifier::All, _) => truth.value(),
            (Quantifier::Filter, Value::Map(_)) => Value::Map(crate::value::Map::owned(kept_map)),
            _ => Value::list(kept_list),
        })
    }
}

fn name(kind: Quantifier) -> &'static str {
    match kind {
        Quantifier::Any => "`any`",
        Quantifier::All => "`all`",
        Quantifier::Filter => "`filter`",
        Quantifier::Map => "`map`",
    }
}
