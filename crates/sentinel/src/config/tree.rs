//! HCL as a tree of blocks and attributes with constant values.

use hcl_reader::{Body, Constant, DuplicateOf, Entry, ErrorKind, Expression};

use crate::error::Error;
use crate::source::{Source, Span};
use crate::value::{Data, Key};

/// The bytes of a file.
const MAX_BYTES: usize = 1 << 20;

/// How many members an object or a block may have: blocks look for theirs one by one.
const MAX_MEMBERS: usize = 2_000;

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
    let reader = Reader { source };
    let document =
        hcl_reader::parse(source.text(), MAX_BYTES).map_err(|broken| reader.refused(&broken.error))?;
    // the reference lets the later of two equal keys of an object count, and published sets have such keys
    if let Some(twice) = document.duplicates.iter().find(|twice| twice.of == DuplicateOf::Attribute) {
        return Err(Error::config(format!("`{}` is set twice", twice.name)).at(source, span(&twice.again)));
    }
    reader.block(String::new(), Vec::new(), &document.body, Span::default())
}

fn span(range: &hcl_reader::Span) -> Span {
    let offset = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    Span { start: offset(range.start), end: offset(range.end) }
}

struct Reader<'s> {
    source: &'s Source,
}

impl Reader<'_> {
    fn refused(&self, error: &hcl_reader::Error) -> Error {
        let kind = error.kind;
        let refusal = match kind {
            ErrorKind::Precision => Error::config(kind.to_string()).note("write fewer digits, or a string"),
            ErrorKind::TooLarge { .. }
            | ErrorKind::TooDeep
            | ErrorKind::NotConstant(_)
            | ErrorKind::Key { .. } => Error::config(kind.to_string()).note(kind.help()),
            _ => Error::config(format!("the file is not HCL: {kind}")).note(kind.help()),
        };
        refusal.at(self.source, span(&error.span))
    }

    fn few<'m, T>(
        &self,
        members: &'m [T],
        place: impl Fn(&'m T) -> &'m hcl_reader::Span,
    ) -> Result<(), Error> {
        let Some(member) = members.get(MAX_MEMBERS) else { return Ok(()) };
        let message = format!("an object or a block has at most {MAX_MEMBERS} members");
        Err(Error::config(message).at(self.source, span(place(member))))
    }

    fn block(&self, kind: String, labels: Vec<String>, body: &Body<'_>, place: Span) -> Result<Block, Error> {
        self.few(&body.attributes, |attribute| &attribute.name.span)?;
        let attributes = body.attributes.iter().map(|attribute| {
            let name = attribute.name.as_str().to_owned();
            Ok((name, self.data(&attribute.value)?, span(&attribute.span())))
        });
        let attributes = attributes.collect::<Result<_, Error>>()?;
        let blocks = body.blocks.iter().map(|inner| {
            let labels = inner.labels.iter().map(|label| label.as_str().to_owned()).collect();
            self.block(inner.kind.as_str().to_owned(), labels, &inner.body, span(&inner.kind.span))
        });
        Ok(Block { kind, labels, attributes, blocks: blocks.collect::<Result<_, _>>()?, span: place })
    }

    /// The constant value of an expression. Configuration files have no variables and no functions.
    fn data(&self, expression: &Expression<'_>) -> Result<Data, Error> {
        Ok(match expression.constant().map_err(|error| self.refused(&error))? {
            Constant::Null => Data::Null,
            Constant::Bool(value) => Data::Bool(value),
            Constant::Number(number) => exact(&number).ok_or_else(|| {
                let kind = ErrorKind::Precision;
                self.refused(&hcl_reader::Error { kind, span: expression.span.clone() })
            })?,
            Constant::String(text) => Data::from(text),
            Constant::List(items) => {
                Data::list(items.iter().map(|item| self.data(item)).collect::<Result<Vec<_>, _>>()?)
            }
            Constant::Map(entries) => {
                self.few(entries, |entry| &entry.key.span)?;
                Data::map(entries.iter().map(|entry| self.entry(entry)).collect::<Result<Vec<_>, _>>()?)
            }
        })
    }

    fn entry(&self, entry: &Entry<'_>) -> Result<(Key, Data), Error> {
        let key = entry.key.key().map_err(|error| self.refused(&error))?;
        Ok((Key::from(&*key), self.data(&entry.value)?))
    }
}

/// The number as the language has it; of integers beyond its own it has those that are floats.
fn exact(number: &serde_json::Number) -> Option<Data> {
    if let Some(integer) = number.as_i64() {
        return Some(Data::Int(integer));
    }
    let float = number.as_f64()?;
    let is_exact = number.as_u64().is_none_or(|integer| float as u128 == u128::from(integer));
    is_exact.then_some(Data::Float(float))
}
