//! The parser of expressions.

use super::ast::{BinaryOp, Expr, ExprKind, Link, Quantifier, Test, UnaryOp};
use super::parser::{Mark, Parser};
use super::token::{Kw, Op, Tok};
use crate::error::Error;
use crate::value::{Data, Key, Str};

/// Selectors, indexes and calls in a row.
const MAX_POSTFIX: usize = 1000;

/// What stands after an operand.
enum Operator {
    Binary(BinaryOp),
    Test(Test),
}

impl Operator {
    fn precedence(&self) -> u8 {
        match self {
            Operator::Binary(op) => op.precedence(),
            Operator::Test(_) => 3,
        }
    }
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Result<Expr, Error> {
        self.nested(|parser| parser.binary(1))
    }

    /// Operators that bind at least as strongly as `precedence`.
    fn binary(&mut self, precedence: u8) -> Result<Expr, Error> {
        if precedence > 6 {
            return self.unary();
        }
        let first = self.binary(precedence + 1)?;
        let mut links = Vec::new();
        while let Some((operator, tokens)) = self.operator()? {
            if operator.precedence() != precedence {
                break;
            }
            let start = self.token.span;
            for _ in 0..tokens {
                self.advance()?;
            }
            match operator {
                Operator::Test(test) => {
                    links.push(Link::Test { test, span: start.to(self.last) });
                    self.else_of_test(&mut links)?;
                }
                Operator::Binary(op) => {
                    links.push(Link::Binary { op, right: self.binary(precedence + 1)? });
                }
            }
        }
        if links.is_empty() {
            return Ok(first);
        }
        let span = first.span.to(self.last);
        Ok(Expr { kind: ExprKind::Chain { first: Box::new(first), links }, span })
    }

    /// A test is a unary operator, which binds before every other: an `else` after it is about its result. One
    /// before it is about its operand, as anything else is that stands there.
    fn else_of_test(&mut self, links: &mut Vec<Link>) -> Result<(), Error> {
        let op = BinaryOp::Else;
        while self.take_kw(Kw::Else)? {
            links.push(Link::Binary { op, right: self.binary(op.precedence() + 1)? });
        }
        Ok(())
    }

    /// The operator at the current token and how many tokens it has.
    fn operator(&self) -> Result<Option<(Operator, usize)>, Error> {
        let op = match &self.token.tok {
            Tok::Op(op) => match op {
                Op::Star => BinaryOp::Mul,
                Op::Slash => BinaryOp::Div,
                Op::Percent => BinaryOp::Rem,
                Op::Plus => BinaryOp::Add,
                Op::Minus => BinaryOp::Sub,
                Op::Equal => BinaryOp::Equal,
                Op::NotEqual => BinaryOp::NotEqual,
                Op::Less => BinaryOp::Less,
                Op::LessEqual => BinaryOp::LessEqual,
                Op::Greater => BinaryOp::Greater,
                Op::GreaterEqual => BinaryOp::GreaterEqual,
                _ => return Ok(None),
            },
            Tok::Keyword(word) => match word {
                Kw::And => BinaryOp::And,
                Kw::Or => BinaryOp::Or,
                Kw::Xor => BinaryOp::Xor,
                Kw::Else => BinaryOp::Else,
                Kw::In => BinaryOp::In,
                Kw::Contains => BinaryOp::Contains,
                Kw::Matches => BinaryOp::Matches,
                Kw::Is => return self.is_operator().map(Some),
                Kw::Not => {
                    let op = match self.peek()?.tok {
                        Tok::Keyword(Kw::In) => BinaryOp::NotIn,
                        Tok::Keyword(Kw::Contains) => BinaryOp::NotContains,
                        Tok::Keyword(Kw::Matches) => BinaryOp::NotMatches,
                        _ => return Err(self.unexpected("an operator")),
                    };
                    return Ok(Some((Operator::Binary(op), 2)));
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some((Operator::Binary(op), 1)))
    }

    /// `is`, `is not`, and the tests that start with them. `is not X` is the operator `is not`; to
    /// compare with a negation it is written `is (not X)`.
    fn is_operator(&self) -> Result<(Operator, usize), Error> {
        let next = self.peek()?;
        if next.tok == Tok::Keyword(Kw::Empty) {
            return Ok((Operator::Test(Test::Empty), 2));
        }
        if next.tok == Tok::Ident && self.text(next.span) == "defined" {
            return Ok((Operator::Test(Test::Defined), 2));
        }
        if next.tok != Tok::Keyword(Kw::Not) {
            return Ok((Operator::Binary(BinaryOp::Equal), 1));
        }
        let third = self.peek_second()?;
        if third.tok == Tok::Keyword(Kw::Empty) {
            return Ok((Operator::Test(Test::NotEmpty), 3));
        }
        if third.tok == Tok::Ident && self.text(third.span) == "defined" {
            return Ok((Operator::Test(Test::NotDefined), 3));
        }
        Ok((Operator::Binary(BinaryOp::NotEqual), 2))
    }

    fn unary(&mut self) -> Result<Expr, Error> {
        let op = match self.token.tok {
            Tok::Keyword(Kw::Not) | Tok::Op(Op::Bang) => UnaryOp::Not,
            Tok::Op(Op::Minus) => UnaryOp::Minus,
            Tok::Op(Op::Plus) => UnaryOp::Plus,
            _ => return self.primary(),
        };
        self.mark(Mark::Unary);
        let start = self.advance()?.span;
        let operand = self.nested(|parser| parser.unary())?;
        let span = start.to(self.last);
        let kind = match (op, operand.kind) {
            (UnaryOp::Minus, ExprKind::Const(Data::Int(i))) => ExprKind::Const(Data::Int(i.wrapping_neg())),
            (UnaryOp::Minus, ExprKind::Const(Data::Float(f))) => ExprKind::Const(Data::Float(-f)),
            (UnaryOp::Plus, kind @ ExprKind::Const(Data::Int(_) | Data::Float(_))) => kind,
            (op, kind) => ExprKind::Unary(op, Box::new(Expr { kind, span: operand.span })),
        };
        Ok(Expr { kind, span })
    }

    fn primary(&mut self) -> Result<Expr, Error> {
        let mut expr = self.operand()?;
        let start = expr.span;
        let mut length = 0;
        loop {
            // no statement starts with a dot, so a line that does goes on with the one before: the
            // rule for semicolons says otherwise, but the documents of the reference write it so
            if self.before_selector() {
                self.advance()?;
            }
            let kind = match self.token.tok {
                Tok::Op(Op::Dot) => {
                    self.advance()?;
                    let name = self.name("a member's name after `.`")?;
                    ExprKind::Select { base: Box::new(expr), name: Str::from(&*name.text) }
                }
                Tok::Op(Op::LBracket) => self.index_or_slice(expr)?,
                Tok::Op(Op::LParen) => {
                    self.mark(Mark::Postfix);
                    self.advance()?;
                    let args = self.list_until(Op::RParen)?;
                    ExprKind::Call { callee: Box::new(expr), args }
                }
                _ => return Ok(expr),
            };
            length += 1;
            if length > MAX_POSTFIX {
                return Err(self.error(self.last, "too many selectors, indexes and calls in a row"));
            }
            expr = Expr { kind, span: start.to(self.last) };
        }
    }

    fn index_or_slice(&mut self, base: Expr) -> Result<ExprKind, Error> {
        self.mark(Mark::Postfix);
        self.advance()?;
        let base = Box::new(base);
        let low = if self.is_op(Op::Colon) { None } else { Some(Box::new(self.expr()?)) };
        if self.is_op(Op::Colon) {
            self.mark(Mark::SliceColon);
        }
        if self.take_op(Op::Colon)? {
            let high = if self.is_op(Op::RBracket) { None } else { Some(Box::new(self.expr()?)) };
            self.expect_op(Op::RBracket, "`]`")?;
            return Ok(ExprKind::Slice { base, low, high });
        }
        self.expect_op(Op::RBracket, "`]` or `:`")?;
        match low {
            Some(index) => Ok(ExprKind::Index { base, index }),
            None => Err(self.unexpected("an index")),
        }
    }

    /// Expressions with commas between them, up to a closing bracket.
    fn list_until(&mut self, close: Op) -> Result<Vec<Expr>, Error> {
        let mut items = Vec::new();
        while !self.is_op(close) {
            items.push(self.expr()?);
            if !self.take_op(Op::Comma)? {
                break;
            }
        }
        self.expect_op(close, if close == Op::RParen { "`,` or `)`" } else { "`,` or `]`" })?;
        Ok(items)
    }

    fn operand(&mut self) -> Result<Expr, Error> {
        let start = self.token.span;
        let kind = match &self.token.tok {
            Tok::Int(value) => {
                let data = Data::Int(*value);
                self.constant_token(data)?
            }
            Tok::Float(value) => {
                let data = Data::Float(*value);
                self.constant_token(data)?
            }
            Tok::Str(value) => {
                let data = Data::Str(value.clone());
                self.constant_token(data)?
            }
            Tok::Ident => match self.text(start) {
                "true" => self.constant_token(Data::Bool(true))?,
                "false" => self.constant_token(Data::Bool(false))?,
                "null" => self.constant_token(Data::Null)?,
                "undefined" => self.constant_token(Data::Undefined)?,
                _ => {
                    self.advance()?;
                    ExprKind::Name(self.intern(start))
                }
            },
            Tok::Op(Op::LParen) => {
                self.advance()?;
                let inner = self.expr()?;
                self.expect_op(Op::RParen, "`)`")?;
                return Ok(Expr { kind: parenthesized(inner), span: start.to(self.last) });
            }
            Tok::Op(Op::LBracket) => {
                self.advance()?;
                let items = self.list_until(Op::RBracket)?;
                fold_list(items)
            }
            Tok::Op(Op::LBrace) => self.map_literal()?,
            Tok::Keyword(Kw::Func) => {
                self.advance()?;
                ExprKind::Func(Box::new(self.func_rest()?))
            }
            Tok::Keyword(Kw::Rule) => self.rule()?,
            Tok::Keyword(Kw::Any) => self.quantifier(Quantifier::Any)?,
            Tok::Keyword(Kw::All) => self.quantifier(Quantifier::All)?,
            Tok::Keyword(Kw::Filter) => self.quantifier(Quantifier::Filter)?,
            Tok::Keyword(Kw::Map) => self.quantifier(Quantifier::Map)?,
            _ => return Err(self.no_name("an expression")),
        };
        Ok(Expr { kind, span: start.to(self.last) })
    }

    fn constant_token(&mut self, data: Data) -> Result<ExprKind, Error> {
        self.advance()?;
        Ok(ExprKind::Const(data))
    }

    fn map_literal(&mut self) -> Result<ExprKind, Error> {
        self.mark(Mark::MapBrace);
        self.advance()?;
        let mut entries: Vec<(Expr, Expr)> = Vec::new();
        while !self.is_op(Op::RBrace) {
            let key = self.expr()?;
            self.expect_op(Op::Colon, "`:` after the key")?;
            entries.push((key, self.expr()?));
            if !self.take_op(Op::Comma)? {
                break;
            }
        }
        self.mark(Mark::MapBrace);
        self.expect_op(Op::RBrace, "`,` or `}`")?;
        Ok(fold_map(entries))
    }

    fn rule(&mut self) -> Result<ExprKind, Error> {
        self.advance()?;
        let when = if self.take_kw(Kw::When)? { Some(Box::new(self.expr()?)) } else { None };
        let body = self.braced()?;
        Ok(ExprKind::Rule { when, body: Box::new(body) })
    }

    fn quantifier(&mut self, kind: Quantifier) -> Result<ExprKind, Error> {
        self.advance()?;
        let over = Box::new(self.expr()?);
        let names = self.loop_names()?;
        let body = Box::new(self.braced()?);
        Ok(ExprKind::Quantifier { kind, over, names, body })
    }

    /// One expression in braces; its last line may end without an operator.
    fn braced(&mut self) -> Result<Expr, Error> {
        self.expect_op(Op::LBrace, "`{`")?;
        let body = self.expr()?;
        while matches!(self.token.tok, Tok::Semicolon { .. }) {
            self.advance()?;
        }
        self.expect_op(Op::RBrace, "`}`")?;
        Ok(body)
    }
}

/// A literal in parentheses stays a constant, but a name in them is no target of an assignment.
fn parenthesized(inner: Expr) -> ExprKind {
    match inner.kind {
        ExprKind::Name(_) | ExprKind::Index { .. } => {
            ExprKind::Chain { first: Box::new(inner), links: Vec::new() }
        }
        other => other,
    }
}

fn fold_list(items: Vec<Expr>) -> ExprKind {
    let constant =
        |item: &Expr| matches!(&item.kind, ExprKind::Const(data) if !matches!(data, Data::Undefined));
    if !items.iter().all(constant) {
        return ExprKind::List(items);
    }
    ExprKind::Const(Data::list(items.into_iter().filter_map(|item| match item.kind {
        ExprKind::Const(data) => Some(data),
        _ => None,
    })))
}

fn as_key(expr: &Expr) -> Option<Key> {
    match &expr.kind {
        ExprKind::Const(Data::Bool(b)) => Some(Key::Bool(*b)),
        ExprKind::Const(Data::Int(i)) => Some(Key::Int(*i)),
        ExprKind::Const(Data::Float(f)) => Some(Key::Float(*f)),
        ExprKind::Const(Data::Str(s)) => Some(Key::Str(s.clone())),
        _ => None,
    }
}

fn fold_map(entries: Vec<(Expr, Expr)>) -> ExprKind {
    let constant = |(key, value): &(Expr, Expr)| {
        as_key(key).is_some()
            && matches!(&value.kind, ExprKind::Const(data) if !matches!(data, Data::Undefined))
    };
    if !entries.iter().all(constant) {
        return ExprKind::Map(entries);
    }
    let mut folded = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        if let (Some(key), ExprKind::Const(data)) = (as_key(&key), value.kind) {
            folded.push((key, data));
        }
    }
    ExprKind::Const(Data::map(folded))
}
