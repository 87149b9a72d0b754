//! HCL as a tree of blocks and attributes with constant values.

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, ObjectKey, UnaryOperator};
use hcl_edit::structure::{Body, Structure};
use hcl_edit::template::{Element, Template};

use crate::error::{Error, ErrorKind};
use crate::source::{Source, Span};
use crate::value::{Data, Key};

/// A block: its type, labels, attributes and inner blocks.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) kind: String,
    pub(super) labels: Vec<String>,
    pub(super) attributes: Vec<(String, Data, Span)>,
    pub(super) blocks: Vec<Block>,
    pub(super) span: Span,
}

impl Block {
    pub(super) fn attribute(&self, name: &str) -> Option<(&Data, Span)> {
        self.attributes.iter().find(|(known, ..)| known == name).map(|(_, data, span)| (data, *span))
    }
}

fn to_span(range: Option<std::ops::Range<usize>>) -> Span {
    range.map_or_else(Span::default, |range| Span { start: range.start as u32, end: range.end as u32 })
}

/// What is put before a key that an object has a second time.
const REPEATED: &str = "repeated_key_";

/// How many keys may be repeated in one file.
const MAX_REPEATED: usize = 200;

pub(super) fn parse_hcl(source: &Source) -> Result<Block, Error> {
    super::nesting::check(source)?;
    let mut text = source.text().to_owned();
    for _ in 0..MAX_REPEATED {
        let parse = || hcl_edit::parser::parse_body(&text);
        let error = match stacker::maybe_grow(4 << 20, 32 << 20, parse) {
            Ok(body) => return block(source, String::new(), Vec::new(), &body, Span::default()),
            Err(error) => error,
        };
        let place = error.location();
        let start = offset(&text, place.line(), place.column());
        if !error.message().contains("redefined object key") {
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            return Err(Error::new(ErrorKind::Config, format!("the file is no HCL: {message}"))
                .at(source, Span { start, end: start }));
        }
        // the reference lets the later of two equal keys count, and published sets have such keys; the
        // parser refuses them, so they get names of their own until the object is read
        let at = start as usize;
        let at = if text[at..].starts_with('"') { at + 1 } else { at };
        text.insert_str(at, REPEATED);
    }
    Err(Error::config(format!("more than {MAX_REPEATED} keys of objects are repeated")))
}

fn offset(text: &str, line: usize, column: usize) -> u32 {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = &text[before.min(text.len())..];
    let within: usize = rest.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    (before + within).min(text.len()) as u32
}

fn block(
    source: &Source,
    kind: String,
    labels: Vec<String>,
    body: &Body,
    span: Span,
) -> Result<Block, Error> {
    let mut block = Block { kind, labels, attributes: Vec::new(), blocks: Vec::new(), span };
    for structure in body {
        match structure {
            Structure::Attribute(attribute) => {
                let span = to_span(attribute.span());
                let name = attribute.key.as_str().to_owned();
                if block.attribute(&name).is_some() {
                    return Err(Error::config(format!("`{name}` is set twice")).at(source, span));
                }
                let data = data(source, &attribute.value)?;
                block.attributes.push((name, data, span));
            }
            Structure::Block(inner) => {
                let labels = inner.labels.iter().map(|label| label.as_str().to_owned()).collect();
                let span = to_span(inner.ident.span());
                let kind = inner.ident.as_str().to_owned();
                block.blocks.push(self::block(source, kind, labels, &inner.body, span)?);
            }
        }
    }
    Ok(block)
}

/// The constant value of an expression. Configuration files have no variables and no functions.
fn data(source: &Source, expression: &Expression) -> Result<Data, Error> {
    let refuse = |what: &str| {
        Error::config(format!("{what} cannot be used here: the value must be a constant"))
            .at(source, to_span(expression.span()))
    };
    Ok(match expression {
        Expression::Null(_) => Data::Null,
        Expression::Bool(value) => Data::Bool(*value.value()),
        Expression::Number(number) => match number.value().as_i64() {
            Some(int) => Data::Int(int),
            None => number.value().as_f64().map_or(Data::Null, Data::Float),
        },
        Expression::String(text) => Data::from(text.value().as_str()),
        Expression::Array(items) => {
            Data::list(items.iter().map(|item| data(source, item)).collect::<Result<Vec<_>, _>>()?)
        }
        Expression::Object(members) => {
            let mut entries = Vec::new();
            for (key, value) in members.iter() {
                let key = match key {
                    ObjectKey::Ident(name) => Key::from(name.as_str()),
                    ObjectKey::Expression(Expression::Variable(name)) => Key::from(name.as_str()),
                    ObjectKey::Expression(key) => match data(source, key)? {
                        Data::Str(text) => Key::Str(text),
                        other => Key::from(format!("{other:?}")),
                    },
                };
                let key = match key.as_str().map(|name| name.trim_start_matches(REPEATED)) {
                    Some(name) => Key::from(name),
                    None => key,
                };
                entries.push((key, data(source, value.expr())?));
            }
            Data::map(entries)
        }
        Expression::Parenthesis(inner) => data(source, inner.inner())?,
        Expression::UnaryOp(operation) => {
            match (operation.operator.value(), data(source, &operation.expr)?) {
                (UnaryOperator::Neg, Data::Int(value)) => Data::Int(-value),
                (UnaryOperator::Neg, Data::Float(value)) => Data::Float(-value),
                _ => return Err(refuse("an operator")),
            }
        }
        Expression::StringTemplate(template) => {
            let mut text = String::new();
            for element in template.iter() {
                match element {
                    Element::Literal(literal) => text.push_str(literal.value()),
                    _ => return Err(refuse("an interpolation")),
                }
            }
            Data::from(text)
        }
        Expression::HeredocTemplate(heredoc) => {
            heredoc_text(&heredoc.template).ok_or_else(|| refuse("an interpolation"))?
        }
        Expression::Variable(_) => return Err(refuse("a variable")),
        Expression::FuncCall(_) => return Err(refuse("a function")),
        _ => return Err(refuse("this expression")),
    })
}

fn heredoc_text(template: &Template) -> Option<Data> {
    let mut text = String::new();
    for element in template.iter() {
        match element {
            Element::Literal(literal) => text.push_str(literal.value()),
            _ => return None,
        }
    }
    Some(Data::from(text))
}
