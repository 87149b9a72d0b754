//! What is wrong with a text.

use std::fmt;

use crate::place::{Position, Span, position};

/// Why a text, or a value in it, can't be read. Nothing of the text is quoted but single characters: it may be secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}; {}", kind.help())]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where.
    pub span: Span,
}

impl Error {
    pub(crate) const fn new(kind: ErrorKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// Line and column of its beginning, in the text that was read.
    pub fn position(&self, text: &str) -> Position {
        position(text, self.span.start)
    }
}

/// What is wrong. `Display` says it, [`help`](Self::help) says what would be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// The text is larger than its reader allows.
    #[error("the text has more than {limit} bytes")]
    TooLarge {
        /// The most that it may have.
        limit: usize,
    },
    /// Brackets, strings and blocks within each other.
    #[error("nested more than {} deep", crate::MAX_DEPTH)]
    TooDeep,
    /// A character that no token has.
    #[error("`{}` means nothing here", shown(*.0))]
    Character(char),
    /// A string that doesn't end on its line.
    #[error("a quoted string must end on the line it begins on")]
    OpenQuote,
    /// A heredoc without its closing line.
    #[error("this heredoc is not closed")]
    OpenHeredoc,
    /// A `/*` without its `*/`.
    #[error("this comment is not closed")]
    OpenComment,
    /// A bracket without its partner.
    #[error("this `{0}` is not closed")]
    OpenBracket(char),
    /// A backslash and what can't follow it.
    #[error("there is no such escape in a string")]
    Escape,
    /// A block on one line has more than one attribute, or a block.
    #[error("a block on one line holds one attribute at most")]
    OneLine,
    /// Something else than what has to stand here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What may stand here.
        expected: Expected,
        /// What does.
        found: &'static str,
    },
    /// An expression that isn't a literal.
    #[error("{0} cannot be used here: the value must be a constant")]
    NotConstant(What),
    /// A number that 64 bits would round.
    #[error("this number has more digits than can be kept")]
    Precision,
    /// The key of a map is null, a list or a map.
    #[error("expected a string as the key, found {found}")]
    Key {
        /// What it is.
        found: &'static str,
    },
    /// The key of a map for the second time.
    #[error("this key is set twice")]
    Repeated,
}

impl ErrorKind {
    /// What to do about it.
    pub const fn help(self) -> &'static str {
        const STRUCTURE: &str =
            "an attribute is `name = value`, a block `name \"label\" { … }`, each on lines of its own";
        const BETWEEN_ATTRIBUTES: &str = "nothing stands between two attributes but the end of the line";
        match self {
            Self::TooLarge { .. } => "split it, or leave out what nobody needs",
            Self::TooDeep => "write it with fewer levels",
            Self::Character('\'') => "strings stand in double quotes",
            Self::Character(';') => BETWEEN_ATTRIBUTES,
            Self::Character(_) => "put it in a string in double quotes, or remove it",
            Self::OpenQuote => "close the quote, write `\\n` for a line break, or use a heredoc: <<EOT",
            Self::OpenHeredoc => "repeat the word behind `<<` on a line of its own",
            Self::OpenComment => "write `*/` at its end",
            Self::OpenBracket(_) => "is every `{`, `[` and `(` closed?",
            Self::Escape => "write `\\n`, `\\r`, `\\t`, `\\\"`, `\\\\`, `\\uXXXX` or `\\UXXXXXXXX`",
            Self::OneLine => "give each attribute a line of its own",
            Self::Expected { expected, .. } => match expected {
                Expected::Item | Expected::EqualsOrBlock => STRUCTURE,
                Expected::LineEnd => BETWEEN_ATTRIBUTES,
                Expected::Value => {
                    "a value is a string in double quotes, a number, true, false, null, a list or a map"
                }
                Expected::End => "write one value: a list or a map holds several",
                Expected::Label => "the name of a block is plain text in double quotes",
                Expected::Key | Expected::KeyValue => "an entry of a map is `key = value`",
                Expected::MapEnd => {
                    "`,` or a new line stands between two entries; is every `{`, `[` and `(` closed?"
                }
                Expected::ListEnd => "`,` stands between two items; is every `{`, `[` and `(` closed?",
                Expected::Parenthesis | Expected::InterpolationEnd => "is every `{`, `[` and `(` closed?",
            },
            Self::NotConstant(what) => what.help(),
            Self::Precision => "put it in quotes: terraform turns the string into a number",
            Self::Key { .. } => "put the key in quotes",
            Self::Repeated => "remove one of them",
        }
    }
}

/// A character as a message may have it: no line break, and nothing that a terminal takes for a command.
fn shown(char: char) -> String {
    match char {
        '\'' | '"' | '\\' => char.to_string(),
        _ => char.escape_debug().to_string(),
    }
}

/// What has to stand at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// An attribute or a block.
    Item,
    /// What follows the name of an attribute or a block.
    EqualsOrBlock,
    /// The end of a line.
    LineEnd,
    /// A value.
    Value,
    /// The end of the text.
    End,
    /// The label of a block.
    Label,
    /// An entry of a map.
    Key,
    /// What follows the key of a map.
    KeyValue,
    /// What follows an entry of a map.
    MapEnd,
    /// What follows an item of a list, or an argument.
    ListEnd,
    /// `)`
    Parenthesis,
    /// The end of `${…}`.
    InterpolationEnd,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Item => "an attribute or a block",
            Self::EqualsOrBlock => "`=`, or the label or body of a block",
            Self::LineEnd => "the end of the line",
            Self::Value => "a value",
            Self::End => "nothing more",
            Self::Label => "a label or `{`",
            Self::Key => "a key or `}`",
            Self::KeyValue => "`=` or `:`",
            Self::MapEnd => "`,`, a new line or `}`",
            Self::ListEnd => "`,` or the closing bracket",
            Self::Parenthesis => "`)`",
            Self::InterpolationEnd => "`}`",
        })
    }
}

/// What makes an expression more than a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// `name`, `name.attribute`
    Variable,
    /// `name(…)`
    Function,
    /// `${…}` in a string.
    Interpolation,
    /// `%{…}` in a string.
    Directive,
    /// `${~ …}`, `${… ~}`
    TrimMarker,
    /// `+`, `!`, `==` and the like.
    Operator,
    /// `… ? … : …`
    Conditional,
    /// `[for …]`, `{for …}`
    For,
    /// `[…].name`, `{…}["key"]`
    Access,
}

impl What {
    const fn help(self) -> &'static str {
        match self {
            Self::Variable => "for a string, put it in quotes",
            Self::Interpolation => "write the text itself, or `$${` for `${`",
            Self::Directive => "write the text itself, or `%%{` for `%{`",
            _ => "write the value itself",
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Variable => "a variable",
            Self::Function => "a function",
            Self::Interpolation => "an interpolation",
            Self::Directive => "a directive",
            Self::TrimMarker => "a trim marker",
            Self::Operator => "an operator",
            Self::Conditional => "a conditional",
            Self::For => "a `for`",
            Self::Access => "an index",
        })
    }
}
