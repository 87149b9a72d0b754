//! The syntax tree.

use std::sync::Arc;

use crate::source::Span;
use crate::value::{Data, Str};

/// A name in the text.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) text: Arc<str>,
    pub(crate) span: Span,
}

/// A whole file.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) imports: Vec<Import>,
    pub(crate) params: Vec<Param>,
    pub(crate) body: Vec<Stmt>,
    /// The comment at the top of the file that a blank line separates from what follows.
    pub(crate) description: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Import {
    /// `collection/maps`.
    pub(crate) path: String,
    /// Members of a static import that the import goes down to: `import "people".names`.
    pub(crate) members: Vec<Name>,
    pub(crate) alias: Option<Name>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: Name,
    pub(crate) default: Option<Data>,
}

#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum StmtKind {
    Expr(Expr),
    Assign {
        target: Target,
        op: Option<BinaryOp>,
        value: Expr,
        /// The comment directly above: the description of a rule.
        doc: Option<String>,
    },
    If {
        branches: Vec<(Expr, Vec<Stmt>)>,
        otherwise: Option<Vec<Stmt>>,
    },
    For {
        over: Expr,
        names: LoopNames,
        body: Vec<Stmt>,
    },
    Case {
        subject: Option<Expr>,
        clauses: Vec<(Vec<Expr>, Vec<Stmt>)>,
        otherwise: Option<Vec<Stmt>>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Func {
        name: Name,
        func: Box<Func>,
    },
}

#[derive(Debug)]
pub(crate) enum Target {
    Name(Name),
    Index { base: Expr, index: Expr },
}

/// The names of a loop or a quantifier. With one name it is the value of a list's element, or the
/// key of a map's entry.
#[derive(Debug)]
pub(crate) struct LoopNames {
    pub(crate) first: Name,
    pub(crate) second: Option<Name>,
}

#[derive(Debug)]
pub(crate) struct Func {
    pub(crate) params: Vec<Name>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) end: Span,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    /// A literal all of whose parts are literals.
    Const(Data),
    Name(Arc<str>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Func(Box<Func>),
    Rule {
        when: Option<Box<Expr>>,
        body: Box<Expr>,
    },
    Unary(UnaryOp, Box<Expr>),
    /// Operators of one precedence, applied from left to right. A flat chain, because a tree of a
    /// long one would be as deep as it is long.
    Chain {
        first: Box<Expr>,
        links: Vec<Link>,
    },
    Select {
        base: Box<Expr>,
        name: Str,
    },
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    Slice {
        base: Box<Expr>,
        low: Option<Box<Expr>>,
        high: Option<Box<Expr>>,
    },
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
    },
    Quantifier {
        kind: Quantifier,
        over: Box<Expr>,
        names: LoopNames,
        body: Box<Expr>,
    },
}

/// One operator of a chain with its right operand.
#[derive(Debug)]
pub(crate) enum Link {
    Binary { op: BinaryOp, right: Expr },
    Test { test: Test, span: Span },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Test {
    Empty,
    NotEmpty,
    Defined,
    NotDefined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Not,
    Minus,
    Plus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantifier {
    Any,
    All,
    Filter,
    Map,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Else,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
    Contains,
    NotContains,
    Matches,
    NotMatches,
    And,
    Or,
    Xor,
}

impl BinaryOp {
    /// How strongly the operator binds: from 1 (`or`) to 6 (`*`).
    pub(crate) fn precedence(self) -> u8 {
        match self {
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 6,
            BinaryOp::Add | BinaryOp::Sub => 5,
            BinaryOp::Else => 4,
            BinaryOp::And => 2,
            BinaryOp::Or | BinaryOp::Xor => 1,
            _ => 3,
        }
    }
}
