use std::ops::RangeInclusive;

use ::text::nearest;
use hcl_reader::{Block, Body};

use crate::context::{Context, Issue, Span};
use crate::decode::{Decode, mismatch};
use crate::diagnostic::Code;
use crate::expression::evaluate;
use crate::node::{Node, Value};
use crate::schema::Schema;
use crate::suggest::{listed, quoted};

/// The attributes and blocks of one body, checked against what may stand there.
pub(crate) struct Fields<'a> {
    schema: &'static Schema,
    /// What has these fields, as the subject of a sentence.
    subject: String,
    /// Where to say that something is missing.
    header: Span,
    attributes: Vec<(&'a str, Node)>,
    blocks: Vec<&'a Block<'a>>,
    /// What is there after a fashion: misspelt, or in the wrong form. It has been reported, and is not missing.
    attempted: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// Reports everything that does not belong here, and evaluates the rest.
    pub(crate) fn read(
        body: &'a Body<'a>,
        subject: String,
        header: &Span,
        schema: &'static Schema,
        context: &mut Context<'_>,
    ) -> Self {
        let header = header.clone();
        let (attributes, blocks, attempted) = (Vec::new(), Vec::new(), Vec::new());
        let mut fields = Self { schema, subject, header, attributes, blocks, attempted };
        // of two with one name the second has been reported
        for attribute in body.attributes.iter().filter(|attribute| !attribute.repeated) {
            let (name, span) = (attribute.name.as_str(), &attribute.name.span);
            if schema.attribute(name).is_some() {
                fields.attributes.push((name, evaluate(&attribute.value, context)));
            } else if let Some(block) = schema.block(name) {
                let message = format!("{} is a block, not an attribute", quoted(name));
                let help = format!("write `{}`, without `=`", block.example);
                context.report(Issue::error(Code::WrongForm, span, message).help(help));
                fields.attempted.push(block.name);
            } else {
                let may_be_secret = |known: &str| {
                    known.starts_with("sensitive_")
                        || known == "encryption_key" && (name.contains("crypt") || name.contains("key"))
                };
                if schema.names().any(may_be_secret) {
                    // it may be such a one, misspelt
                    context.hide(&attribute.value.span);
                }
                fields.unknown(Code::UnknownAttribute, "attribute", name, span, context);
            }
        }
        for block in &body.blocks {
            let (name, span) = (block.kind.as_str(), &block.kind.span);
            if schema.block(name).is_some() {
                fields.blocks.push(block);
            } else if let Some(attribute) = schema.attribute(name) {
                let message = format!("{} is an attribute, not a block", quoted(name));
                let help = format!("write `{} = {}`", attribute.name, attribute.example);
                context.report(Issue::error(Code::WrongForm, span, message).help(help));
                fields.attempted.push(attribute.name);
            } else {
                fields.unknown(Code::UnknownBlock, "block", name, span, context);
            }
        }
        fields
    }

    fn unknown(&mut self, code: Code, kind: &str, name: &str, span: &Span, context: &mut Context<'_>) {
        let schema = self.schema;
        let mut help = String::new();
        if let Some(near) = nearest(name, schema.names()) {
            help = format!("did you mean {}? ", quoted(near));
            self.attempted.push(near);
        }
        for (kind, entries) in [("attribute", schema.attributes), ("block", schema.blocks)] {
            if !entries.is_empty() {
                let plural = if entries.len() == 1 { "its only" } else { "its" };
                let s = if entries.len() == 1 { "" } else { "s" };
                help += &format!(
                    "{plural} {kind}{s}: {}; ",
                    listed(entries.iter().map(|entry| entry.name), "and")
                );
            }
        }
        let message = format!("{} has no {kind} {}", schema.what, quoted(name));
        let issue = Issue::error(code, span, message).label("not known here");
        context.report(issue.help(help.trim_end_matches("; ")));
    }

    /// Whether it stands there in a way that has been reported already.
    pub(crate) fn is_attempted(&self, name: &str) -> bool {
        self.attempted.contains(&name)
    }

    /// The blocks of one type, in the order of the file.
    pub(crate) fn blocks(&self, name: &str) -> impl Iterator<Item = &'a Block<'a>> {
        self.blocks.iter().copied().filter(move |block| block.kind.as_str() == name)
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
        let example = self.schema.attribute(name).map_or("…", |attribute| attribute.example);
        self.required_or(name, || format!("add `{name} = {example}`"), context)
    }

    /// As [`required`](Self::required), with words of its own for what would be right.
    pub(crate) fn required_or<T: Decode>(
        &self,
        name: &str,
        help: impl FnOnce() -> String,
        context: &mut Context<'_>,
    ) -> Option<T> {
        if let Some(node) = self.node(name) {
            return T::decode(node, name, context);
        }
        if !self.is_attempted(name) {
            let message = format!("{} has no {}", self.subject, quoted(name));
            let issue = Issue::error(Code::Missing, &self.header, message);
            context.report(issue.label(format!("{} is missing", quoted(name))).help(help()));
        }
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
        let Value::Number(number) = &node.value else { return mismatch(node, name, "a number", context) };
        let whole = number.as_u64().filter(|number| range.contains(number));
        if whole.is_none() {
            let value = context.quotable(node).map(|text| format!(" {}", quoted(text))).unwrap_or_default();
            let message = format!("invalid {}{value}: not within the limits", quoted(name));
            let help = format!("write a whole number from {} to {}", range.start(), range.end());
            context.report(Issue::error(Code::InvalidValue, &node.span, message).help(help));
        }
        whole
    }
}
