//! Tokens.

use std::fmt;

use crate::source::Span;
use crate::value::Str;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tok {
    Ident,
    Int(i64),
    Float(f64),
    Str(Str),
    Keyword(Kw),
    Op(Op),
    /// A semicolon, written or put in at a line's end.
    Semicolon {
        written: bool,
    },
    Eof,
}

/// A token and its place.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) span: Span,
}

macro_rules! words {
    ($name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($variant),+ }
        impl $name {
            pub(crate) fn text(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.text())
            }
        }
    };
}

words!(Kw {
    All = "all",
    Any = "any",
    As = "as",
    Break = "break",
    Case = "case",
    Continue = "continue",
    Default = "default",
    Else = "else",
    Empty = "empty",
    Filter = "filter",
    For = "for",
    Func = "func",
    If = "if",
    Import = "import",
    Map = "map",
    Param = "param",
    Return = "return",
    Rule = "rule",
    When = "when",
    And = "and",
    Or = "or",
    Xor = "xor",
    Not = "not",
    In = "in",
    Is = "is",
    Contains = "contains",
    Matches = "matches",
});

words!(Op {
    Plus = "+",
    Minus = "-",
    Star = "*",
    Slash = "/",
    Percent = "%",
    PlusAssign = "+=",
    MinusAssign = "-=",
    StarAssign = "*=",
    SlashAssign = "/=",
    PercentAssign = "%=",
    Equal = "==",
    NotEqual = "!=",
    Less = "<",
    LessEqual = "<=",
    Greater = ">",
    GreaterEqual = ">=",
    Assign = "=",
    Bang = "!",
    LParen = "(",
    RParen = ")",
    LBracket = "[",
    RBracket = "]",
    LBrace = "{",
    RBrace = "}",
    Comma = ",",
    Dot = ".",
    Colon = ":",
});

impl Kw {
    pub(crate) fn lookup(word: &[u8]) -> Option<Kw> {
        Some(match word {
            b"all" => Kw::All,
            b"any" => Kw::Any,
            b"as" => Kw::As,
            b"break" => Kw::Break,
            b"case" => Kw::Case,
            b"continue" => Kw::Continue,
            b"default" => Kw::Default,
            b"else" => Kw::Else,
            b"empty" => Kw::Empty,
            b"filter" => Kw::Filter,
            b"for" => Kw::For,
            b"func" => Kw::Func,
            b"if" => Kw::If,
            b"import" => Kw::Import,
            b"map" => Kw::Map,
            b"param" => Kw::Param,
            b"return" => Kw::Return,
            b"rule" => Kw::Rule,
            b"when" => Kw::When,
            b"and" => Kw::And,
            b"or" => Kw::Or,
            b"xor" => Kw::Xor,
            b"not" => Kw::Not,
            b"in" => Kw::In,
            b"is" => Kw::Is,
            b"contains" => Kw::Contains,
            b"matches" => Kw::Matches,
            _ => return None,
        })
    }
}

impl Tok {
    /// The token as an error message names it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Tok::Ident => "a name".into(),
            Tok::Int(_) | Tok::Float(_) => "a number".into(),
            Tok::Str(_) => "a string".into(),
            Tok::Keyword(word) => format!("the keyword `{word}`"),
            Tok::Op(op) => format!("`{op}`"),
            Tok::Semicolon { written: true } => "`;`".into(),
            Tok::Semicolon { written: false } => "the end of the line".into(),
            Tok::Eof => "the end of the file".into(),
        }
    }
}
