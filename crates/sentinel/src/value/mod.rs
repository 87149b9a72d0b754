//! Values: what expressions evaluate to.
//!
//! Scalars are held by value. Lists and maps are shared handles ([`List`], [`Map`]): the language
//! passes them by reference, so `append` inside a function is seen by the caller. A handle over
//! immutable [`Data`] stays a view until it is first written.

pub(crate) mod cell;
mod children;
mod convert;
mod data;
mod key;
mod list;
mod map;
pub(crate) mod ops;
pub(crate) mod show;
mod str;

use std::rc::Rc;

pub(crate) use convert::{to_bool, to_float, to_int, to_string};
pub use data::{Data, DataMap};
pub use key::Key;
pub(crate) use list::{List, ListCell};
pub(crate) use map::{ENTRY, Map, MapCell, Receiver};
pub use str::Str;

use crate::builtins::Builtin;
use crate::eval::{Closure, RuleCell};
use crate::imports::NativeFn;

/// Where an `undefined` came into being, so that a policy that ends undefined can say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Which unit (source file) of the evaluation, or `u32::MAX` when it has no place.
    pub(crate) unit: u32,
    /// Byte offset in that unit.
    pub(crate) offset: u32,
}

impl Origin {
    pub(crate) const NOWHERE: Origin = Origin { unit: u32::MAX, offset: 0 };
}

/// A value during evaluation.
#[derive(Clone)]
pub(crate) enum Value {
    Undefined(Origin),
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Str),
    List(List),
    Map(Map),
    Func(Rc<Closure>),
    Builtin(Builtin),
    Native(Rc<NativeFn>),
    Rule(Rc<RuleCell>),
}

/// An element of a collection as it is looked at: data that nobody has a handle of stays data.
pub(crate) enum Seen {
    Value(Value),
    Data(Data),
}

impl Seen {
    fn of(children: &children::Children, at: usize, data: &Data) -> Seen {
        match children.get(at as u32) {
            Some(value) => Seen::Value(value.clone()),
            None => Seen::Data(data.clone()),
        }
    }
}

impl Value {
    /// The value that immutable data stands for; collections become fresh handles.
    pub(crate) fn from_data(data: &Data) -> Value {
        match data {
            Data::Undefined => Value::Undefined(Origin::NOWHERE),
            Data::Null => Value::Null,
            Data::Bool(b) => Value::Bool(*b),
            Data::Int(i) => Value::Int(*i),
            Data::Float(f) => Value::Float(*f),
            Data::Str(s) => Value::Str(s.clone()),
            Data::List(items) => Value::List(List::frozen(items.clone())),
            Data::Map(map) => Value::Map(Map::frozen(map.clone())),
        }
    }

    pub(crate) fn str(text: impl Into<Str>) -> Value {
        Value::Str(text.into())
    }

    pub(crate) fn list(items: Vec<Value>) -> Value {
        Value::List(List::owned(items))
    }

    pub(crate) fn is_undefined(&self) -> bool {
        matches!(self, Value::Undefined(_))
    }

    /// The name that `types.type_of` and error messages use.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Undefined(_) => "undefined",
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "string",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Func(_) | Value::Builtin(_) | Value::Native(_) => "func",
            Value::Rule(_) => "rule",
        }
    }

    /// The key this value is, when maps may have it as one.
    pub(crate) fn to_key(&self) -> Option<Key> {
        match self {
            Value::Bool(b) => Some(Key::Bool(*b)),
            Value::Int(i) => Some(Key::Int(*i)),
            Value::Float(f) if !f.is_nan() => Some(Key::Float(*f)),
            Value::Str(s) => Some(Key::Str(s.clone())),
            _ => None,
        }
    }

    pub(crate) fn from_key(key: &Key) -> Value {
        match key {
            Key::Bool(b) => Value::Bool(*b),
            Key::Int(i) => Value::Int(*i),
            Key::Float(f) => Value::Float(*f),
            Key::Str(s) => Value::Str(s.clone()),
        }
    }

    /// Whether the value shares state with others: what must be watched for cycles.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Value::List(_) | Value::Map(_) | Value::Func(_) | Value::Rule(_) | Value::Native(_))
    }
}
