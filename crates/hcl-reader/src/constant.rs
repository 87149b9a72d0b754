//! Literals: values that stand in a text as they are.

use std::borrow::Cow;

use serde_json::Value;

use crate::error::{Error, ErrorKind, What};
use crate::tree::{Entry, Expression, Kind};

/// A literal, one level of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant<'e, 't> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, with the value that was written.
    Number(serde_json::Number),
    /// A string or a heredoc.
    String(&'e str),
    /// A list; its items need not be literals.
    List(&'e [Expression<'t>]),
    /// A map; its keys and values need not be literals.
    Map(&'e [Entry<'t>]),
}

impl<'t> Expression<'t> {
    /// The value, if it is a literal: null, a boolean, a number that 64 bits hold, a string or a heredoc without
    /// `${…}` and `%{…}`, a list, a map.
    ///
    /// # Errors
    ///
    /// What it is instead, and where.
    pub fn constant(&self) -> Result<Constant<'_, 't>, Error> {
        Ok(match &self.kind {
            Kind::Null => Constant::Null,
            Kind::Bool(value) => Constant::Bool(*value),
            Kind::Number(number) => {
                Constant::Number(number.exact().ok_or_else(|| self.error(ErrorKind::Precision))?)
            }
            Kind::String(text) => Constant::String(text),
            Kind::List(items) => Constant::List(items),
            Kind::Map(entries) => Constant::Map(entries),
            Kind::Template(_) => return Err(self.error(ErrorKind::NotConstant(What::Interpolation))),
            Kind::Call(_) => return Err(self.error(ErrorKind::NotConstant(What::Function))),
            Kind::Variable(_) => return Err(self.error(ErrorKind::NotConstant(What::Variable))),
            Kind::Computed(computed) => return Err(self.error(ErrorKind::NotConstant(computed.what))),
        })
    }

    /// The text of a key: a string, or what terraform makes of a number or a boolean.
    ///
    /// # Errors
    ///
    /// If it is anything else.
    pub fn key(&self) -> Result<Cow<'_, str>, Error> {
        match (self.constant()?, &self.kind) {
            (Constant::String(text), _) => Ok(Cow::Borrowed(text)),
            (Constant::Bool(value), _) => Ok(Cow::Borrowed(if value { "true" } else { "false" })),
            (Constant::Number(_), Kind::Number(number)) => {
                number.to_text().map(Cow::Owned).ok_or_else(|| self.error(ErrorKind::Precision))
            }
            _ => Err(self.error(ErrorKind::Key { found: self.kind.name() })),
        }
    }

    /// The whole literal as JSON.
    ///
    /// # Errors
    ///
    /// If a part of it is not a literal, or a key stands there twice.
    pub fn to_json(&self) -> Result<Value, Error> {
        Ok(match self.constant()? {
            Constant::Null => Value::Null,
            Constant::Bool(value) => Value::Bool(value),
            Constant::Number(number) => Value::Number(number),
            Constant::String(text) => Value::String(text.to_owned()),
            Constant::List(items) => Value::Array(items.iter().map(Self::to_json).collect::<Result<_, _>>()?),
            Constant::Map(entries) => {
                let entries = entries.iter().map(|entry| match entry.repeated {
                    true => Err(entry.key.error(ErrorKind::Repeated)),
                    false => Ok((entry.key.key()?.into_owned(), entry.value.to_json()?)),
                });
                Value::Object(entries.collect::<Result<_, _>>()?)
            }
        })
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.span.clone())
    }
}
