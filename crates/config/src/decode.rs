//! From values to types: one trait, and a reader for the attributes of a body.

use std::ops::RangeInclusive;

use hcl_edit::Span as _;
use hcl_edit::structure::{Block, Body, Structure};

use crate::context::{Context, Issue, Span};
use crate::diagnostic::Code;
use crate::expression::evaluate;
use crate::node::{Node, Value};
use crate::schema::Schema;
use crate::suggest::{listed, nearest, quoted};
use crate::text::FromText;

/// A type that an attribute may have.
pub(crate) trait Decode: Sized {
    /// Reads the value of the attribute `name`. `None` means that why not has been reported.
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self>;
}

/// Reports that the value has the wrong type.
pub(crate) fn mismatch<T>(node: &Node, name: &str, expected: &str, context: &mut Context<'_>) -> Option<T> {
    if node.is_invalid() {
        return None;
    }
    let message = format!("{}: expected {expected}, found {}", quoted(name), node.kind());
    let mut issue = Issue::error(Code::WrongType, &node.span, message).label(node.kind());
    if let Some(help) = conversion(node, expected, context) {
        issue = issue.help(help);
    }
    context.report(issue);
    None
}

fn conversion(node: &Node, expected: &str, context: &Context<'_>) -> Option<String> {
    if !node.literal {
        return None;
    }
    let written = context.text(&node.span);
    match (expected, &node.value) {
        ("a string" | "a list of strings", Value::Bool(_) | Value::Number(_)) => {
            Some(format!("put it in quotes: \"{written}\""))
        }
        ("true or false", Value::String(text)) if matches!(text.as_str(), "true" | "false") => {
            Some(format!("write it without quotes: {text}"))
        }
        ("a number", Value::String(text)) if text.parse::<u64>().is_ok() => {
            Some(format!("write it without quotes: {text}"))
        }
        ("a list of strings", Value::String(_)) => Some(format!("put it in brackets: [{written}]")),
        ("a string", Value::List(nodes)) if nodes.len() == 1 => Some("write it without brackets".into()),
        ("a map", _) => Some("write it as { name = value }".into()),
        _ => None,
    }
}

impl Decode for String {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        match &node.value {
            Value::String(text) => Some(text.clone()),
            _ => mismatch(node, name, "a string", context),
        }
    }
}

impl Decode for bool {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        match node.value {
            Value::Bool(value) => Some(value),
            _ => mismatch(node, name, "true or false", context),
        }
    }
}

impl<T: FromText> Decode for T {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        let text = String::decode(node, name, context)?;
        T::from_text(&text, context.base)
            .map_err(|fault| {
                let value = if node.literal { format!(" {}", quoted(&text)) } else { String::new() };
                let message = format!("invalid {}{value}: {}", quoted(name), fault.what);
                context.report(Issue::error(Code::InvalidValue, &node.span, message).help(fault.help));
            })
            .ok()
    }
}

/// A string, or a list of them.
pub(crate) struct OneOrMore<T>(pub(crate) Vec<(T, Span)>);

impl<T: Decode> Decode for OneOrMore<T> {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        match &node.value {
            Value::List(_) => List::decode(node, name, context).map(|list| Self(list.0)),
            _ => Some(Self(vec![(T::decode(node, name, context)?, node.span.clone())])),
        }
    }
}

/// A list, each element with its place. An element that can't be read is reported and left out.
pub(crate) struct List<T>(pub(crate) Vec<(T, Span)>);

impl<T: Decode> Decode for List<T> {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        let Value::List(nodes) = &node.value else {
            return mismatch(node, name, "a list of strings", context);
        };
        let decoded =
            nodes.iter().filter_map(|node| Some((T::decode(node, name, context)?, node.span.clone())));
        Some(Self(decoded.collect()))
    }
}

/// The attributes and blocks of one body, checked against what may stand there.
pub(crate) struct Fields<'a> {
    schema: &'static Schema,
    /// Where to say that something is missing.
    header: Span,
    attributes: Vec<(&'a str, Node)>,
    blocks: Vec<&'a Block>,
}

impl<'a> Fields<'a> {
    /// Reports everything that does not belong here, and evaluates the rest.
    pub(crate) fn read(
        body: &'a Body,
        header: &Span,
        schema: &'static Schema,
        context: &mut Context<'_>,
    ) -> Self {
        let mut fields = Self { schema, header: header.clone(), attributes: Vec::new(), blocks: Vec::new() };
        for structure in body {
            match structure {
                Structure::Attribute(attribute) => {
                    let name = attribute.key.as_str();
                    let span = attribute.key.span().unwrap_or_else(|| header.clone());
                    if context.is_set_aside(&span) {
                        continue;
                    }
                    if schema.attribute(name).is_some() {
                        fields.attributes.push((name, evaluate(&attribute.value, &span, context)));
                    } else if let Some(block) = schema.block(name) {
                        let message = format!("{} is a block, not an attribute", quoted(name));
                        let help = format!("write `{}`, without `=`", block.example);
                        context.report(Issue::error(Code::WrongForm, &span, message).help(help));
                    } else {
                        context.report(schema.unknown(Code::UnknownAttribute, "attribute", name, &span));
                    }
                }
                Structure::Block(block) => {
                    let name = block.ident.as_str();
                    let span = block.ident.span().unwrap_or_else(|| header.clone());
                    if schema.block(name).is_some() {
                        fields.blocks.push(block);
                    } else if let Some(attribute) = schema.attribute(name) {
                        let message = format!("{} is an attribute, not a block", quoted(name));
                        let help = format!("write `{} = {}`", attribute.name, attribute.example);
                        context.report(Issue::error(Code::WrongForm, &span, message).help(help));
                    } else {
                        context.report(schema.unknown(Code::UnknownBlock, "block", name, &span));
                    }
                }
            }
        }
        fields
    }

    pub(crate) fn blocks(&self, name: &str) -> impl Iterator<Item = &'a Block> + use<'a> {
        let blocks: Vec<_> =
            self.blocks.iter().copied().filter(|block| block.ident.as_str() == name).collect();
        blocks.into_iter()
    }

    /// The attribute's value, unless it is not set. `null` is as good as not set, as in terraform.
    pub(crate) fn node(&self, name: &str) -> Option<&Node> {
        debug_assert!(self.schema.attribute(name).is_some(), "`{name}` is missing in the schema");
        let (_, node) = self.attributes.iter().find(|(attribute, _)| *attribute == name)?;
        (!node.is_null()).then_some(node)
    }

    /// `None` if it is not set, or can't be read.
    pub(crate) fn optional<T: Decode>(&self, name: &str, context: &mut Context<'_>) -> Option<T> {
        T::decode(self.node(name)?, name, context)
    }

    /// `None` if that has been reported.
    pub(crate) fn required<T: Decode>(&self, name: &str, context: &mut Context<'_>) -> Option<T> {
        if let Some(node) = self.node(name) {
            return T::decode(node, name, context);
        }
        let example = self.schema.attribute(name).map_or("…", |attribute| attribute.example);
        let message = format!("{} has no {}", self.schema.what, quoted(name));
        let issue = Issue::error(Code::Missing, &self.header, message)
            .label(format!("{} is missing", quoted(name)))
            .help(format!("add `{name} = {example}`"));
        context.report(issue);
        None
    }

    /// A whole number within the range.
    pub(crate) fn whole(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
        context: &mut Context<'_>,
    ) -> Option<u64> {
        let node = self.node(name)?;
        let Value::Number(number) = node.value else { return mismatch(node, name, "a number", context) };
        let whole = number.as_u64().filter(|number| range.contains(number));
        if whole.is_none() {
            let value =
                if node.literal { format!(" {}", quoted(&number.to_string())) } else { String::new() };
            let message = format!("invalid {}{value}: not within the limits", quoted(name));
            let help = format!("write a whole number from {} to {}", range.start(), range.end());
            context.report(Issue::error(Code::InvalidValue, &node.span, message).help(help));
        }
        whole
    }
}

impl Schema {
    fn unknown(&self, code: Code, kind: &str, name: &str, span: &Span) -> Issue {
        let names = || {
            self.attributes
                .iter()
                .map(|attribute| attribute.name)
                .chain(self.blocks.iter().map(|block| block.name))
        };
        let mut parts = Vec::new();
        if let Some(near) = nearest(name, names()) {
            parts.push(format!("did you mean {}?", quoted(near)));
        }
        if !self.attributes.is_empty() {
            parts.push(format!(
                "its attributes: {}",
                listed(self.attributes.iter().map(|attribute| attribute.name), "and")
            ));
        }
        if !self.blocks.is_empty() {
            parts.push(format!("its blocks: {}", listed(self.blocks.iter().map(|block| block.name), "and")));
        }
        Issue::error(code, span, format!("{} has no {kind} {}", self.what, quoted(name)))
            .label("not known here")
            .help(parts.join("; ").replace("?; ", "? "))
    }
}
