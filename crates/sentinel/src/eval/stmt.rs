//! Statements.

use std::rc::Rc;

use super::quantifier::Entry;
use super::{Evaluator, Frame};
use crate::compile::ir::{Expr, Stmt, StmtKind};
use crate::compile::through_import;
use crate::error::{Error, ErrorKind};
use crate::source::Span;
use crate::syntax::ast::BinaryOp;
use crate::value::ops::{self, Truth};
use crate::value::{Value, ops::Arithmetic};

/// What happens after a statement.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

impl Evaluator<'_> {
    pub(super) fn block(&mut self, statements: &[Stmt], frame: &Rc<Frame>) -> Result<Flow, Error> {
        for statement in statements {
            self.meter.step().map_err(|error| self.place(error, statement.span))?;
            match self.statement(statement, frame)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Stmt, frame: &Rc<Frame>) -> Result<Flow, Error> {
        match &statement.kind {
            StmtKind::Expr(expr) => {
                self.eval(expr, frame)?;
            }
            StmtKind::Assign { name, slots, op, value } => {
                let value = self.eval_unforced(value, frame)?;
                let value = match op {
                    None => value,
                    Some(op) => {
                        let current = slots.iter().find_map(|slot| frame.get(*slot));
                        let current = current.or_else(|| self.global(name));
                        let Some(current) = current else {
                            return Err(self.fault(statement.span, format!("`{name}` has no value yet")));
                        };
                        let current = self.force(current)?;
                        let value = self.force(value)?;
                        self.compound(*op, &current, &value, statement.span)?
                    }
                };
                frame.assign(slots, value);
            }
            StmtKind::AssignIndex { root, base, index, op, value } => {
                if let Some(import) = root
                    && !frame.has(&import.slots)
                {
                    return Err(self.place(through_import(ErrorKind::Runtime, &import.name), base.span));
                }
                // a rule stays one, as in a literal of a map
                let value = self.eval_unforced(value, frame)?;
                let base_value = self.eval(base, frame)?;
                let index_value = self.eval(index, frame)?;
                self.assign_index(&base_value, &index_value, *op, value, statement.span)?;
            }
            StmtKind::Define { slot, func } => {
                let closure = self.closure(func, frame, func.end)?;
                frame.put(*slot, closure);
            }
            StmtKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    // what is not true, undefined too, goes on to the next branch
                    if self.condition(condition, frame)? == Truth::True {
                        return self.block(body, frame);
                    }
                }
                return self.block(otherwise, frame);
            }
            StmtKind::Case { subject, clauses, otherwise } => {
                return self.case(subject.as_ref(), clauses, otherwise, frame);
            }
            StmtKind::For { over, two, frame: size, body } => {
                return self.for_loop(over, *two, *size, body, frame);
            }
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Return(value) => {
                let value = match value {
                    Some(value) => self.eval(value, frame)?,
                    None => Value::Undefined(self.here(statement.span)),
                };
                return Ok(Flow::Return(value));
            }
        }
        Ok(Flow::Next)
    }

    /// The truth of a boolean expression; a value that is not a boolean counts as undefined, as the
    /// specification has it.
    pub(super) fn condition(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Result<Truth, Error> {
        Ok(match self.eval(expr, frame)? {
            Value::Bool(value) => value.into(),
            Value::Undefined(origin) => Truth::Undefined(origin),
            _ => Truth::Undefined(self.here(expr.span)),
        })
    }

    fn compound(&mut self, op: BinaryOp, current: &Value, value: &Value, span: Span) -> Result<Value, Error> {
        let op = match op {
            BinaryOp::Add => Arithmetic::Add,
            BinaryOp::Sub => Arithmetic::Sub,
            BinaryOp::Mul => Arithmetic::Mul,
            BinaryOp::Div => Arithmetic::Div,
            _ => Arithmetic::Rem,
        };
        ops::arithmetic(op, current, value, &self.meter).map_err(|error| self.place(error, span))
    }

    fn assign_index(
        &mut self,
        base: &Value,
        index: &Value,
        op: Option<BinaryOp>,
        value: Value,
        span: Span,
    ) -> Result<(), Error> {
        let value = match op {
            None => value,
            Some(op) => {
                let current = self.index(base, index, span)?;
                let current = self.force(current)?;
                let value = self.force(value)?;
                self.compound(op, &current, &value, span)?
            }
        };
        match base {
            Value::Map(map) => {
                let Some(key) = index.to_key() else {
                    let error = self.fault(span, format!("{} cannot be a key of a map", index.type_name()));
                    return Err(self.explain(error, index));
                };
                self.meter.look_up(&key).map_err(|error| self.place(error, span))?;
                self.wrote_map(map, &value);
                map.set(key, value, &self.meter).map_err(|error| self.place(error, span))
            }
            Value::List(list) => {
                let Value::Int(at) = index else {
                    let error =
                        self.fault(span, format!("the index of a list is an int, not {}", index.type_name()));
                    return Err(self.explain(error, index));
                };
                let place = resolve_index(*at, list.len());
                self.wrote_list(list, &value);
                let set = place.map(|place| list.set(place, value, &self.meter)).transpose();
                match set.map_err(|error| self.place(error, span))? {
                    Some(true) => Ok(()),
                    _ => Err(self.fault(
                        span,
                        format!("the index {at} is out of range of a list with {} elements", list.len()),
                    )),
                }
            }
            other => {
                let error = self.fault(
                    span,
                    format!(
                        "only an element of a list or a map can be assigned, not of {}",
                        other.type_name()
                    ),
                );
                Err(self.explain(error, other))
            }
        }
    }

    fn case(
        &mut self,
        subject: Option<&Expr>,
        clauses: &[(Vec<Expr>, Vec<Stmt>)],
        otherwise: &[Stmt],
        frame: &Rc<Frame>,
    ) -> Result<Flow, Error> {
        let subject = match subject {
            Some(subject) => self.eval(subject, frame)?,
            None => Value::Bool(true),
        };
        for (values, body) in clauses {
            for expr in values {
                let value = self.eval(expr, frame)?;
                let equal = ops::equal(&subject, &value, &self.meter);
                if equal.map_err(|error| self.place(error, expr.span))? == Truth::True {
                    return self.block(body, frame);
                }
            }
        }
        self.block(otherwise, frame)
    }

    fn for_loop(
        &mut self,
        over: &Expr,
        two: bool,
        size: usize,
        body: &[Stmt],
        frame: &Rc<Frame>,
    ) -> Result<Flow, Error> {
        let collection = self.eval(over, frame)?;
        let entries = self.entries(&collection, over.span, "`for`")?;
        let snapshot = Entry::bytes(entries.len());
        let mut inner = Rc::new(Frame::new(size, Some(frame.clone())));
        let mut flow = Flow::Next;
        for entry in entries {
            self.meter.step().map_err(|error| self.place(error, over.span))?;
            inner = self.fresh(inner, size, frame, over.span)?;
            entry.bind(&inner, two);
            match self.block(body, &inner)? {
                Flow::Break => break,
                Flow::Next | Flow::Continue => {}
                returned @ Flow::Return(_) => {
                    flow = returned;
                    break;
                }
            }
        }
        self.meter.free(snapshot);
        Ok(flow)
    }

    /// A frame for the next iteration: the last one again, unless something holds on to it.
    pub(super) fn fresh(
        &mut self,
        last: Rc<Frame>,
        size: usize,
        parent: &Rc<Frame>,
        span: Span,
    ) -> Result<Rc<Frame>, Error> {
        if Rc::strong_count(&last) == 1 && !last.captured.get() {
            last.reset();
            return Ok(last);
        }
        self.charge(Frame::bytes(size), span)?;
        Ok(Rc::new(Frame::new(size, Some(parent.clone()))))
    }
}

/// The place of an index that may count from the end.
pub(super) fn resolve_index(index: i64, length: usize) -> Option<usize> {
    let length = length as i64;
    let at = if index < 0 { index.checked_add(length)? } else { index };
    (0..length).contains(&at).then_some(at as usize)
}
