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

pub(super) fn parse_hcl(source: &Source) -> Result<Block, Error> {
    let text = Text::of(source)?;
    let parse = || hcl_edit::parser::parse_body(&text.text);
    match stacker::maybe_grow(4 << 20, 32 << 20, parse) {
        Ok(body) => text.block(String::new(), Vec::new(), &body, Span::default()),
        Err(error) => {
            let place = error.location();
            let start = text.original(offset(&text.text, place.line(), place.column()));
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            Err(Error::new(ErrorKind::Config, format!("the file is no HCL: {message}"))
                .at(source, Span { start, end: start }))
        }
    }
}

/// The text that the parser is given. The reference lets the later of two equal keys of an object count,
/// and published sets have such keys; the parser refuses them, so they get a mark until the object is
/// read.
struct Text<'s> {
    source: &'s Source,
    text: String,
    /// Stands nowhere in the file.
    mark: String,
    /// Where marks were put, as offsets in the text and in the file.
    marks: Vec<(usize, usize)>,
}

fn offset(text: &str, line: usize, column: usize) -> u32 {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = &text[before.min(text.len())..];
    let within: usize = rest.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    (before + within).min(text.len()) as u32
}

impl Text<'_> {
    fn of(source: &Source) -> Result<Text<'_>, Error> {
        let mut mark = "repeated_key_".to_owned();
        while source.text().contains(&mark) {
            mark.push('_');
        }
        let (mut text, mut marks) = (String::with_capacity(source.text().len()), Vec::new());
        let mut done = 0;
        for (number, at) in super::nesting::check(source)?.into_iter().enumerate() {
            text.push_str(&source.text()[done..at]);
            marks.push((text.len(), at));
            // no two keys may be equal
            text.push_str(&format!("{mark}{number}_"));
            done = at;
        }
        text.push_str(&source.text()[done..]);
        Ok(Text { source, text, mark, marks })
    }

    /// The offset in the file of an offset in the text.
    fn original(&self, offset: u32) -> u32 {
        let before = self.marks.partition_point(|(start, _)| *start <= offset as usize);
        let Some((_, place)) = before.checked_sub(1).map(|last| self.marks[last]) else { return offset };
        // as far from the end of what is between this mark and the next, or the end of the file
        let (end, original_end) =
            self.marks.get(before).copied().unwrap_or((self.text.len(), self.source.text().len()));
        original_end.saturating_sub(end.saturating_sub(offset as usize)).max(place) as u32
    }

    fn span(&self, range: Option<std::ops::Range<usize>>) -> Span {
        range.map_or_else(Span::default, |range| Span {
            start: self.original(range.start as u32),
            end: self.original(range.end as u32),
        })
    }

    /// A key without its mark.
    fn key(&self, name: &str) -> Key {
        let unmarked = name.strip_prefix(&self.mark).and_then(|rest| rest.split_once('_'));
        Key::from(unmarked.map_or(name, |(_, name)| name))
    }

    fn block(&self, kind: String, labels: Vec<String>, body: &Body, span: Span) -> Result<Block, Error> {
        let mut block = Block { kind, labels, attributes: Vec::new(), blocks: Vec::new(), span };
        for structure in body {
            match structure {
                Structure::Attribute(attribute) => {
                    let span = self.span(attribute.span());
                    let name = attribute.key.as_str().to_owned();
                    if block.attribute(&name).is_some() {
                        return Err(Error::config(format!("`{name}` is set twice")).at(self.source, span));
                    }
                    let data = self.data(&attribute.value)?;
                    block.attributes.push((name, data, span));
                }
                Structure::Block(inner) => {
                    let labels = inner.labels.iter().map(|label| label.as_str().to_owned()).collect();
                    let span = self.span(inner.ident.span());
                    let kind = inner.ident.as_str().to_owned();
                    block.blocks.push(self.block(kind, labels, &inner.body, span)?);
                }
            }
        }
        Ok(block)
    }

    /// The constant value of an expression. Configuration files have no variables and no functions.
    fn data(&self, expression: &Expression) -> Result<Data, Error> {
        let refuse = |what: &str| {
            Error::config(format!("{what} cannot be used here: the value must be a constant"))
                .at(self.source, self.span(expression.span()))
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
                Data::list(items.iter().map(|item| self.data(item)).collect::<Result<Vec<_>, _>>()?)
            }
            Expression::Object(members) => {
                let mut entries = Vec::new();
                for (key, value) in members.iter() {
                    let key = match key {
                        ObjectKey::Ident(name) => self.key(name.as_str()),
                        ObjectKey::Expression(Expression::Variable(name)) => self.key(name.as_str()),
                        ObjectKey::Expression(key) => match self.data(key)? {
                            Data::Str(text) => self.key(&text.to_text()),
                            other => Key::from(format!("{other:?}")),
                        },
                    };
                    entries.push((key, self.data(value.expr())?));
                }
                Data::map(entries)
            }
            Expression::Parenthesis(inner) => self.data(inner.inner())?,
            Expression::UnaryOp(operation) => {
                match (operation.operator.value(), self.data(&operation.expr)?) {
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
