//! What a text says: blocks, attributes, expressions, each with its place.

use std::borrow::Cow;

use crate::error::What;
use crate::number::Number;
use crate::place::Span;

/// A text that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<'t> {
    /// Its attributes and blocks.
    pub body: Body<'t>,
    /// Names of attributes and keys of maps that stand there again, in the order of the text. The tree has them too,
    /// marked with `repeated`.
    pub duplicates: Vec<Duplicate<'t>>,
}

/// The name of an attribute, or the key of a map, for the second time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate<'t> {
    /// The name or the key.
    pub name: Cow<'t, str>,
    /// Where it stands first.
    pub first: Span,
    /// Where it stands again.
    pub again: Span,
    /// The first one's kind, which is that of the other too.
    pub of: DuplicateOf,
}

/// What has names that stand in one body or map once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplicateOf {
    /// `name = value`
    Attribute,
    /// `{ key = value }`
    Key,
}

/// What stands in a file, or between the brackets of a block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Body<'t> {
    /// `name = value`, in the order of the text.
    pub attributes: Vec<Attribute<'t>>,
    /// `name "label" { … }`, in the order of the text.
    pub blocks: Vec<Block<'t>>,
}

impl<'t> Body<'t> {
    /// The first attribute of that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute<'t>> {
        self.attributes.iter().find(|attribute| attribute.name.text == name)
    }
}

/// A name or a label, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'t> {
    /// As it reads: without quotes and escapes.
    pub text: Cow<'t, str>,
    /// As it is written, with its quotes.
    pub span: Span,
}

impl Word<'_> {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// `name = value`
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute<'t> {
    /// The name.
    pub name: Word<'t>,
    /// The value.
    pub value: Expression<'t>,
    /// Whether the body has an attribute of this name already.
    pub repeated: bool,
}

impl Attribute<'_> {
    /// From its name to the end of its value.
    pub fn span(&self) -> Span {
        self.name.span.start..self.value.span.end
    }
}

/// `kind "label" { … }`
#[derive(Debug, Clone, PartialEq)]
pub struct Block<'t> {
    /// Its type.
    pub kind: Word<'t>,
    /// Its labels, in quotes or not.
    pub labels: Vec<Word<'t>>,
    /// What is in it.
    pub body: Body<'t>,
}

impl Block<'_> {
    /// From its type to the last of its labels.
    pub fn header(&self) -> Span {
        self.kind.span.start..self.labels.last().unwrap_or(&self.kind).span.end
    }
}

/// What stands where a value belongs.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression<'t> {
    /// What it is.
    pub kind: Kind<'t>,
    /// Where. Only the place of a key has the parentheses around it.
    pub span: Span,
}

/// The forms of an expression. The first six are literals, if all of their parts are.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written.
    Number(Number<'t>),
    /// A string in quotes or a heredoc, without `${…}` and `%{…}`.
    String(Cow<'t, str>),
    /// `[…, …]`
    List(Vec<Expression<'t>>),
    /// `{ key = value, … }`, in the order of the text.
    Map(Vec<Entry<'t>>),
    /// A string or a heredoc with `${…}` or `%{…}` in it.
    Template(Vec<Part<'t>>),
    /// `name(…)`
    Call(Box<Call<'t>>),
    /// `name`, also with `.attribute` or `[index]` behind it.
    Variable(&'t str),
    /// Anything else that would have to be worked out. Only that its brackets and quotes end is known of it.
    Computed(Computed<'t>),
}

/// `key = value` or `key: value` in a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'t> {
    /// The key. One without quotes is a string too.
    pub key: Expression<'t>,
    /// The value.
    pub value: Expression<'t>,
    /// Whether the map has this key already.
    pub repeated: bool,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum Part<'t> {
    /// Text.
    Text(Cow<'t, str>),
    /// `${…}`, or something else that would have to be worked out.
    Value(Expression<'t>),
}

/// `name(argument, …)`
#[derive(Debug, Clone, PartialEq)]
pub struct Call<'t> {
    /// The function.
    pub name: Word<'t>,
    /// The arguments.
    pub arguments: Vec<Expression<'t>>,
}

/// An expression that isn't taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Computed<'t> {
    /// What it is.
    pub what: What,
    /// The sign that says so: an operator, `for`, `?`, …
    pub sign: &'t str,
}

impl Kind<'_> {
    /// What it is, in the words of a message.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::String(_) | Self::Template(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Call(_) => "a function",
            Self::Variable(_) => "a variable",
            Self::Computed(_) => "an expression",
        }
    }
}
