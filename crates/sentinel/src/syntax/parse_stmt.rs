//! Statements, and what of functions is outside of expressions.

use super::ast::{BinaryOp, ExprKind, Func, LoopNames, Name, Stmt, StmtKind, Target};
use super::parser::{Mark, Parser};
use super::token::{Kw, Op, Tok};
use crate::error::Error;
use crate::source::Span;
use crate::value::Data;

/// Parameters of a function.
const MAX_PARAMS: usize = 1000;

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Result<(Vec<Stmt>, Span), Error> {
        self.expect_op(Op::LBrace, "`{`")?;
        let statements = self.nested(|parser| parser.statements(|token| *token == Tok::Op(Op::RBrace)))?;
        let end = self.expect_op(Op::RBrace, "a statement or `}`")?;
        Ok((statements, end))
    }

    fn statements(&mut self, ends: impl Fn(&Tok) -> bool) -> Result<Vec<Stmt>, Error> {
        let mut statements = Vec::new();
        self.skip_semicolons()?;
        while !ends(&self.token.tok) && self.token.tok != Tok::Eof {
            statements.push(self.statement()?);
            self.end_statement()?;
        }
        Ok(statements)
    }

    pub(super) fn statement(&mut self) -> Result<Stmt, Error> {
        let start = self.token.span;
        if matches!(self.token.tok, Tok::Keyword(_)) && self.is_assigned()? {
            return Err(self.no_name("a statement"));
        }
        let kind = match self.token.tok {
            Tok::Keyword(Kw::If) => self.if_statement()?,
            Tok::Keyword(Kw::For) => self.for_statement()?,
            Tok::Keyword(Kw::Case) => self.case_statement()?,
            Tok::Keyword(Kw::Break) => {
                self.advance()?;
                StmtKind::Break
            }
            Tok::Keyword(Kw::Continue) => {
                self.advance()?;
                StmtKind::Continue
            }
            Tok::Keyword(Kw::Return) => {
                self.advance()?;
                let ends = matches!(self.token.tok, Tok::Semicolon { .. } | Tok::Op(Op::RBrace) | Tok::Eof);
                StmtKind::Return(if ends { None } else { Some(self.expr()?) })
            }
            Tok::Keyword(Kw::Func) if self.peek()?.tok == Tok::Ident => {
                self.advance()?;
                let name = self.name("the name of the function")?;
                StmtKind::Func { name, func: Box::new(self.func_rest()?) }
            }
            _ => self.simple_statement(start)?,
        };
        Ok(Stmt { kind, span: start.to(self.last) })
    }

    /// Whether the current token is followed by an operator that assigns to it.
    pub(super) fn is_assigned(&self) -> Result<bool, Error> {
        Ok(assignment(&self.peek()?.tok).is_some())
    }

    fn simple_statement(&mut self, start: Span) -> Result<StmtKind, Error> {
        let target = self.expr()?;
        let Some(op) = assignment(&self.token.tok) else { return Ok(StmtKind::Expr(target)) };
        let doc = self.doc_above(start);
        let span = target.span;
        let target = match target.kind {
            ExprKind::Name(text) => Target::Name(Name { text, span }),
            ExprKind::Index { base, index } => Target::Index { base: *base, index: *index },
            ExprKind::Select { .. } => {
                return Err(self
                    .error(span, "a selector cannot be assigned to")
                    .note("write `map[\"key\"] = value` to set a key of a map"));
            }
            ExprKind::Const(Data::Bool(_) | Data::Null | Data::Undefined) => {
                return Err(self.error(span, "a predeclared constant cannot be assigned to"));
            }
            _ => return Err(self.error(span, "only a name or an index expression can be assigned to")),
        };
        self.advance()?;
        let value = self.expr()?;
        Ok(StmtKind::Assign { target, op, value, doc })
    }

    fn if_statement(&mut self) -> Result<StmtKind, Error> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        self.advance()?;
        loop {
            let condition = self.expr()?;
            let (body, _) = self.block()?;
            branches.push((condition, body));
            // `else` may stand on the line after the brace; but `else:` belongs to a `case`
            if matches!(self.token.tok, Tok::Semicolon { written: false }) {
                let (first, second) = self.peek_two()?;
                let continues = matches!(second.tok, Tok::Op(Op::LBrace) | Tok::Keyword(Kw::If));
                if first.tok == Tok::Keyword(Kw::Else) && continues {
                    self.advance()?;
                }
            }
            if !self.is_kw(Kw::Else) {
                break;
            }
            self.advance()?;
            if self.take_kw(Kw::If)? {
                continue;
            }
            if !self.is_op(Op::LBrace) {
                return Err(self.unexpected("`if` or `{` after `else`"));
            }
            otherwise = Some(self.block()?.0);
            break;
        }
        Ok(StmtKind::If { branches, otherwise })
    }

    pub(super) fn loop_names(&mut self) -> Result<LoopNames, Error> {
        if !self.take_kw(Kw::As)? {
            return Err(self.unexpected("`as` and a name"));
        }
        let first = self.name("a name")?;
        let second = if self.take_op(Op::Comma)? { Some(self.name("a second name")?) } else { None };
        Ok(LoopNames { first, second })
    }

    fn for_statement(&mut self) -> Result<StmtKind, Error> {
        self.advance()?;
        let over = self.expr()?;
        let names = self.loop_names()?;
        let (body, _) = self.block()?;
        Ok(StmtKind::For { over, names, body })
    }

    fn case_statement(&mut self) -> Result<StmtKind, Error> {
        self.advance()?;
        // `case {` has no subject: a map cannot stand here without parentheses
        let subject = if self.is_op(Op::LBrace) { None } else { Some(self.expr()?) };
        self.expect_op(Op::LBrace, "`{`")?;
        let mut clauses = Vec::new();
        let mut otherwise = None;
        self.skip_semicolons()?;
        while !self.is_op(Op::RBrace) {
            let start = self.token.span;
            self.mark(Mark::Clause);
            let values = if self.take_kw(Kw::When)? {
                let mut values = vec![self.expr()?];
                while self.take_op(Op::Comma)? {
                    values.push(self.expr()?);
                }
                Some(values)
            } else if self.take_kw(Kw::Else)? {
                None
            } else {
                return Err(self.unexpected("`when`, `else` or `}`"));
            };
            self.mark(Mark::ClauseColon);
            self.expect_op(Op::Colon, "`:`")?;
            let ends = |tok: &Tok| {
                matches!(tok, Tok::Op(Op::RBrace) | Tok::Keyword(Kw::When) | Tok::Keyword(Kw::Else))
            };
            let body = self.nested(|parser| parser.statements(ends))?;
            match values {
                Some(values) => clauses.push((values, body)),
                None if otherwise.is_some() => {
                    return Err(self.error(start, "a `case` can have one `else`"));
                }
                None => otherwise = Some(body),
            }
        }
        self.expect_op(Op::RBrace, "`}`")?;
        Ok(StmtKind::Case { subject, clauses, otherwise })
    }

    /// Parameters and body of a function, after `func` and its name.
    pub(super) fn func_rest(&mut self) -> Result<Func, Error> {
        self.mark(Mark::Postfix);
        self.expect_op(Op::LParen, "`(`")?;
        let mut params: Vec<Name> = Vec::new();
        while !self.is_op(Op::RParen) {
            let name = self.name("the name of a parameter or `)`")?;
            // `_` is for what is not used, so it may be repeated
            if &*name.text != "_" && params.iter().any(|param| param.text == name.text) {
                return Err(self.error(name.span, format!("the parameter `{}` is named twice", name.text)));
            }
            params.push(name);
            if params.len() > MAX_PARAMS {
                return Err(self.error(self.last, format!("a function has at most {MAX_PARAMS} parameters")));
            }
            if !self.take_op(Op::Comma)? {
                break;
            }
        }
        self.expect_op(Op::RParen, "`,` or `)`")?;
        let (body, end) = self.block()?;
        Ok(Func { params, body, end })
    }
}

/// What an operator that assigns does before: nothing for `=`. `None` for any other token.
fn assignment(tok: &Tok) -> Option<Option<BinaryOp>> {
    let Tok::Op(op) = tok else { return None };
    Some(match op {
        Op::Assign => None,
        Op::PlusAssign => Some(BinaryOp::Add),
        Op::MinusAssign => Some(BinaryOp::Sub),
        Op::StarAssign => Some(BinaryOp::Mul),
        Op::SlashAssign => Some(BinaryOp::Div),
        Op::PercentAssign => Some(BinaryOp::Rem),
        _ => return None,
    })
}
