//! What the evaluator runs: the tree with names resolved to slots of frames.
//!
//! A scope is a function body, a loop body, a quantifier body or the file. Which scope a name means is
//! decided at run time by the language (an assignment writes the nearest scope that has the name
//! *now*), so a name resolves to the slots it may be in, innermost first; an unset slot is skipped.

use std::collections::HashMap;
use std::sync::Arc;

use crate::builtins::Builtin;
use crate::source::{Source, Span};
use crate::syntax::ast::{BinaryOp, Quantifier, Test, UnaryOp};
use crate::value::{Data, Str};

/// A compiled file: immutable, shared by every policy and every thread that uses it.
#[derive(Debug)]
pub struct Unit {
    pub(crate) source: Source,
    pub(crate) imports: Vec<ImportDecl>,
    pub(crate) params: Vec<ParamDecl>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) frame: usize,
    /// Slots of the names of the file's scope.
    pub(crate) names: HashMap<Arc<str>, u16>,
    pub(crate) description: Option<String>,
}

#[derive(Debug)]
pub(crate) struct ImportDecl {
    pub(crate) path: String,
    pub(crate) members: Vec<Arc<str>>,
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct ParamDecl {
    pub(crate) name: Arc<str>,
    pub(crate) slot: u16,
    pub(crate) default: Option<Data>,
    pub(crate) span: Span,
}

/// Where a slot is: how many frames out from the innermost one, and which slot of that frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) out: u16,
    pub(crate) at: u16,
}

/// A name that is read.
#[derive(Debug)]
pub(crate) struct Var {
    pub(crate) name: Arc<str>,
    pub(crate) slots: Box<[Slot]>,
    pub(crate) otherwise: Otherwise,
}

/// What a name means when no scope has it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Otherwise {
    /// A global that the host injects, if there is one.
    Global,
    Builtin(Builtin),
    Import(u16),
}

#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum StmtKind {
    Expr(Expr),
    /// Writes the first set slot, or else the first one.
    Assign {
        name: Arc<str>,
        slots: Box<[Slot]>,
        op: Option<BinaryOp>,
        value: Expr,
    },
    AssignIndex {
        /// What it goes into, when that has the name of an import, which a variable may hide by then.
        root: Option<Var>,
        base: Expr,
        index: Expr,
        op: Option<BinaryOp>,
        value: Expr,
    },
    /// Always writes a slot of the innermost frame.
    Define {
        slot: u16,
        func: Arc<Func>,
    },
    If {
        branches: Vec<(Expr, Vec<Stmt>)>,
        otherwise: Vec<Stmt>,
    },
    For {
        over: Expr,
        two: bool,
        frame: usize,
        body: Vec<Stmt>,
    },
    Case {
        subject: Option<Expr>,
        clauses: Vec<(Vec<Expr>, Vec<Stmt>)>,
        otherwise: Vec<Stmt>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
}

#[derive(Debug)]
pub(crate) struct Func {
    pub(crate) params: usize,
    pub(crate) frame: usize,
    pub(crate) body: Vec<Stmt>,
    pub(crate) end: Span,
}

#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) when: Option<Expr>,
    pub(crate) body: Expr,
    /// The name it is assigned to, by which traces know it.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) doc: Option<String>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Const(Data),
    Var(Var),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Func(Arc<Func>),
    Rule(Arc<Rule>),
    Unary(UnaryOp, Box<Expr>),
    Chain {
        first: Box<Expr>,
        links: Vec<Link>,
    },
    /// A member of an import, or of the variable in these slots that hides it by then.
    ImportMember {
        import: u16,
        slots: Box<[Slot]>,
        name: Str,
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
        two: bool,
        body: Box<Expr>,
    },
}

#[derive(Debug)]
pub(crate) enum Link {
    Binary { op: BinaryOp, right: Expr },
    Test { test: Test, span: Span },
}
