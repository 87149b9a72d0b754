//! Expressions.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::stmt::resolve_index;
use super::{Evaluator, Frame, Imported};
use crate::builtins::{Builtin, length};
use crate::compile::PREDECLARED;
use crate::compile::ir::{Expr, Kind, Link, Otherwise, Var};
use crate::error::{Error, nearest};
use crate::source::Span;
use crate::stack;
use crate::syntax::ast::{BinaryOp, Test, UnaryOp};
use crate::value::ops::{self, Arithmetic, Truth};
use crate::value::{ENTRY, Key, List, Map, Str, Value};

impl Evaluator<'_> {
    /// The value of an expression; a rule is evaluated.
    pub(crate) fn eval(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Result<Value, Error> {
        let value = self.eval_unforced(expr, frame)?;
        self.force(value)
    }

    /// The value of an expression; a rule literal stays a rule.
    pub(super) fn eval_unforced(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Result<Value, Error> {
        match &expr.kind {
            Kind::Const(crate::value::Data::Undefined) => return Ok(Value::Undefined(self.here(expr.span))),
            Kind::Const(data) => return Ok(Value::from_data(data)),
            Kind::Var(var) => return self.var(var, expr.span, frame),
            _ => {}
        }
        self.meter.step().map_err(|error| self.place(error, expr.span))?;
        if stack::is_short() {
            return self.on_new_stack(expr, frame);
        }
        self.composite(expr, frame)
    }

    /// The stack that deep calls need counts as memory as long as they need it.
    #[cold]
    fn on_new_stack(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Result<Value, Error> {
        self.charge(stack::SEGMENT, expr.span)?;
        let result = stack::grow(|| self.composite(expr, frame));
        self.meter.free(stack::SEGMENT);
        result
    }

    fn var(&mut self, var: &Var, span: Span, frame: &Rc<Frame>) -> Result<Value, Error> {
        for slot in &var.slots {
            if let Some(value) = frame.get(*slot) {
                return self.force(value);
            }
        }
        match var.otherwise {
            Otherwise::Builtin(builtin) => Ok(Value::Builtin(builtin)),
            Otherwise::Import(import) => match self.imported(import).clone() {
                Imported::Data(data) => Ok(Value::from_data(&data)),
                _ => Err(self
                    .fault(span, format!("the import `{}` is not a value", var.name))
                    .note("select something of it: `name.member`")),
            },
            Otherwise::Global => self.global(&var.name).ok_or_else(|| self.unknown(var, span)),
        }
    }

    /// A value of the global scope: one value for the whole evaluation, so that what a policy changes in it is
    /// there when it looks again.
    pub(super) fn global(&mut self, name: &Arc<str>) -> Option<Value> {
        if let Some(value) = self.globals.get(name) {
            return Some(value.clone());
        }
        let value = Value::from_data(self.bindings.global(name)?);
        self.globals.insert(name.clone(), value.clone());
        Some(value)
    }

    fn unknown(&self, var: &Var, span: Span) -> Error {
        let name = &*var.name;
        let error = self.fault(span, format!("unknown identifier `{name}`"));
        if !var.slots.is_empty() {
            return error
                .note(format!("`{name}` is assigned in this file, but has no value yet where it is read"));
        }
        let unit = &self.units[self.unit as usize].unit;
        let known =
            unit.names.keys().map(|name| &**name).chain(unit.imports.iter().map(|import| &*import.name));
        let known = known.chain(Builtin::ALL.map(Builtin::name)).chain(PREDECLARED);
        match nearest(name, known.chain(self.bindings.globals())) {
            Some(near) => error.note(format!("did you mean `{near}`?")),
            None => error,
        }
    }

    pub(super) fn imported(&self, import: u16) -> &Imported {
        &self.units[self.unit as usize].imports[import as usize]
    }

    fn composite(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Result<Value, Error> {
        let span = expr.span;
        match &expr.kind {
            Kind::Const(data) => Ok(Value::from_data(data)),
            Kind::Var(var) => self.var(var, span, frame),
            Kind::List(items) => {
                self.charge(items.len() * size_of::<Value>(), span)?;
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.eval_unforced(item, frame)?);
                }
                Ok(Value::List(List::owned(values)))
            }
            Kind::Map(entries) => self.map_literal(entries, span, frame),
            Kind::Func(func) => self.closure(func, frame, span),
            Kind::Rule(rule) => self.rule_value(rule, frame),
            Kind::Unary(op, operand) => self.unary(*op, operand, span, frame),
            Kind::Chain { first, links } => self.chain(first, links, frame),
            Kind::ImportMember { import, slots, name } => {
                match slots.iter().find_map(|slot| frame.get(*slot)) {
                    Some(hiding) => {
                        let hiding = self.force(hiding)?;
                        self.select(&hiding, name, span)
                    }
                    None => self.member_of(*import, name, span),
                }
            }
            Kind::Select { base, name } => {
                let base = self.eval(base, frame)?;
                self.select(&base, name, span)
            }
            Kind::Index { base, index } => {
                let base = self.eval(base, frame)?;
                let index = self.eval(index, frame)?;
                let value = self.index(&base, &index, span)?;
                self.force(value)
            }
            Kind::Slice { base, low, high } => {
                let base = self.eval(base, frame)?;
                let low = low.as_ref().map(|low| self.eval(low, frame)).transpose()?;
                let high = high.as_ref().map(|high| self.eval(high, frame)).transpose()?;
                self.slice(&base, low, high, span)
            }
            Kind::Call { callee, args } => self.call_expr(callee, args, span, frame),
            Kind::Quantifier { kind, over, two, body } => self.quantifier(*kind, over, *two, body, frame),
        }
    }

    pub(crate) fn charge(&self, bytes: usize, span: Span) -> Result<(), Error> {
        self.meter.alloc(bytes).map_err(|error| self.place(error, span))
    }

    fn map_literal(
        &mut self,
        entries: &[(Expr, Expr)],
        span: Span,
        frame: &Rc<Frame>,
    ) -> Result<Value, Error> {
        self.charge(entries.len() * ENTRY, span)?;
        let mut map = BTreeMap::new();
        for (key_expr, value) in entries {
            let key = self.eval(key_expr, frame)?;
            let value = self.eval_unforced(value, frame)?;
            match key.to_key() {
                Some(key) => {
                    self.meter.look_up(&key).map_err(|error| self.place(error, key_expr.span))?;
                    map.insert(key, value);
                }
                None => {
                    let message =
                        format!("the key of a map is a bool, a number or a string, not {}", key.type_name());
                    let error = self.fault(key_expr.span, message);
                    return Err(self.explain(error, &key));
                }
            }
        }
        Ok(Value::Map(Map::owned(map)))
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr, span: Span, frame: &Rc<Frame>) -> Result<Value, Error> {
        let value = self.eval(operand, frame)?;
        Ok(match (op, value) {
            (_, Value::Undefined(origin)) => Value::Undefined(origin),
            (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
            (UnaryOp::Minus, Value::Int(value)) => Value::Int(value.wrapping_neg()),
            (UnaryOp::Minus, Value::Float(value)) => Value::Float(-value),
            (UnaryOp::Plus, value @ (Value::Int(_) | Value::Float(_))) => value,
            (op, value) => {
                let (op, wanted) = match op {
                    UnaryOp::Not => ("not", "a bool"),
                    UnaryOp::Minus => ("-", "a number"),
                    UnaryOp::Plus => ("+", "a number"),
                };
                let error = self.fault(span, format!("`{op}` needs {wanted}, not {}", value.type_name()));
                return Err(match op {
                    "not" => error.note("`not` binds tighter than any other operator: use parentheses"),
                    _ => error,
                });
            }
        })
    }

    fn chain(&mut self, first: &Expr, links: &[Link], frame: &Rc<Frame>) -> Result<Value, Error> {
        let mut left = self.eval(first, frame)?;
        let mut span = first.span;
        for link in links {
            left = match link {
                Link::Test { test, span: end } => {
                    span = span.to(*end);
                    self.test(*test, left, span)?
                }
                Link::Binary { op, right } => {
                    let left_span = span;
                    span = span.to(right.span);
                    match op {
                        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                            self.logical(*op, left, left_span, right, frame)?
                        }
                        BinaryOp::Else if !left.is_undefined() => left,
                        BinaryOp::Else => self.eval(right, frame)?,
                        _ => {
                            let right = self.eval(right, frame)?;
                            self.binary(*op, &left, &right, span)?
                        }
                    }
                }
            };
        }
        Ok(left)
    }

    /// `and`, `or`, `xor`: left to right, the right side only when it can change the result.
    fn logical(
        &mut self,
        op: BinaryOp,
        left: Value,
        left_span: Span,
        right: &Expr,
        frame: &Rc<Frame>,
    ) -> Result<Value, Error> {
        let left = self.truth(op, left, left_span)?;
        match (op, left) {
            // undefined and anything is undefined; false and anything is false
            (BinaryOp::And, Truth::False | Truth::Undefined(_)) => return Ok(left.value()),
            (BinaryOp::Or, Truth::True) => return Ok(left.value()),
            _ => {}
        }
        let value = self.eval(right, frame)?;
        let right = self.truth(op, value, right.span)?;
        Ok(match (op, left, right) {
            (BinaryOp::And, Truth::True, right) => right,
            (BinaryOp::Or, Truth::False, right) => right,
            (BinaryOp::Or, _, Truth::True) => Truth::True,
            (BinaryOp::Xor, Truth::True, right @ (Truth::True | Truth::False)) => right.negate(),
            (BinaryOp::Xor, Truth::False, right @ (Truth::True | Truth::False)) => right,
            (_, Truth::Undefined(origin), _) | (_, _, Truth::Undefined(origin)) => Truth::Undefined(origin),
            (_, _, right) => right,
        }
        .value())
    }

    fn truth(&self, op: BinaryOp, value: Value, span: Span) -> Result<Truth, Error> {
        match value {
            Value::Bool(value) => Ok(value.into()),
            Value::Undefined(origin) => Ok(Truth::Undefined(origin)),
            other => {
                let name = match op {
                    BinaryOp::And => "and",
                    BinaryOp::Or => "or",
                    _ => "xor",
                };
                Err(self
                    .fault(span, format!("`{name}` needs a bool on both sides, not {}", other.type_name())))
            }
        }
    }

    fn test(&mut self, test: Test, value: Value, span: Span) -> Result<Value, Error> {
        let negated = matches!(test, Test::NotEmpty | Test::NotDefined);
        match test {
            Test::Defined | Test::NotDefined => Ok(Value::Bool(value.is_undefined() == negated)),
            Test::Empty | Test::NotEmpty => {
                Ok(match length(&value).map_err(|error| self.place(error, span))? {
                    Value::Int(length) => Value::Bool((length == 0) != negated),
                    undefined => undefined,
                })
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Value, right: &Value, span: Span) -> Result<Value, Error> {
        self.operate(op, left, right, span).map_err(|error| {
            let error = self.explain(error, left);
            self.place(self.explain(error, right), span)
        })
    }

    fn operate(&mut self, op: BinaryOp, left: &Value, right: &Value, span: Span) -> Result<Value, Error> {
        let meter = &self.meter;
        Ok(match op {
            BinaryOp::Add => ops::arithmetic(Arithmetic::Add, left, right, meter)?,
            BinaryOp::Sub => ops::arithmetic(Arithmetic::Sub, left, right, meter)?,
            BinaryOp::Mul => ops::arithmetic(Arithmetic::Mul, left, right, meter)?,
            BinaryOp::Div => ops::arithmetic(Arithmetic::Div, left, right, meter)?,
            BinaryOp::Rem => ops::arithmetic(Arithmetic::Rem, left, right, meter)?,
            BinaryOp::Equal => ops::equal(left, right, meter)?.value(),
            BinaryOp::NotEqual => ops::equal(left, right, meter)?.negate().value(),
            BinaryOp::Contains => ops::contains(left, right, meter)?.value(),
            BinaryOp::NotContains => ops::contains(left, right, meter)?.negate().value(),
            BinaryOp::In => ops::contains(right, left, meter)?.value(),
            BinaryOp::NotIn => ops::contains(right, left, meter)?.negate().value(),
            BinaryOp::Matches => self.matches(left, right, span)?.value(),
            BinaryOp::NotMatches => self.matches(left, right, span)?.negate().value(),
            _ => match (left, right) {
                (Value::Undefined(origin), _) | (_, Value::Undefined(origin)) => Value::Undefined(*origin),
                _ => {
                    // what has no order is in none: every comparison of it is false
                    let order = ops::order(left, right, meter)?;
                    Value::Bool(order.is_some_and(|order| match op {
                        BinaryOp::Less => order.is_lt(),
                        BinaryOp::LessEqual => order.is_le(),
                        BinaryOp::Greater => order.is_gt(),
                        _ => order.is_ge(),
                    }))
                }
            },
        })
    }

    fn matches(&mut self, left: &Value, right: &Value, span: Span) -> Result<Truth, Error> {
        match (left, right) {
            (Value::Undefined(origin), _) | (_, Value::Undefined(origin)) => Ok(Truth::Undefined(*origin)),
            (Value::Str(text), Value::Str(pattern)) => {
                let found = self.regexps.is_match(pattern, text.as_bytes(), &self.meter);
                found.map(Truth::from).map_err(|error| self.place(error, span))
            }
            _ => Err(Error::runtime(format!(
                "`matches` needs a string and a pattern, not {} and {}",
                left.type_name(),
                right.type_name()
            ))),
        }
    }

    /// `base.name`: a member of a map or of an object of an import.
    pub(super) fn select(&mut self, base: &Value, name: &Str, span: Span) -> Result<Value, Error> {
        match base {
            Value::Map(map) => {
                if let Some(value) = map.get_name(name.as_bytes()) {
                    return self.force(value);
                }
                if let Some(receiver) = map.receiver()
                    && let Some(method) = crate::imports::method(receiver, map, name)
                {
                    self.charge(crate::imports::NATIVE, span)?;
                    return Ok(method);
                }
                Ok(Value::Undefined(self.here(span)))
            }
            Value::Undefined(origin) => Ok(Value::Undefined(*origin)),
            Value::Null => Ok(Value::Undefined(self.here(span))),
            other => {
                let text = name.to_text();
                Err(self.fault(span, format!("{} has no members, so none named `{text}`", other.type_name())))
            }
        }
    }

    pub(super) fn index(&mut self, base: &Value, index: &Value, span: Span) -> Result<Value, Error> {
        let missing = Value::Undefined(self.here(span));
        if let Value::Undefined(origin) = index
            && !matches!(base, Value::Undefined(_))
        {
            return Ok(Value::Undefined(*origin));
        }
        match (base, index) {
            (Value::Undefined(origin), _) => Ok(Value::Undefined(*origin)),
            (Value::Null, _) => Ok(missing),
            (Value::Map(map), Value::Str(name)) => {
                self.meter.look_up(&Key::Str(name.clone())).map_err(|error| self.place(error, span))?;
                self.select_or_missing(map, name, missing)
            }
            (Value::Map(map), key) => Ok(key.to_key().and_then(|key| map.get(&key)).unwrap_or(missing)),
            (Value::List(list), Value::Int(at)) => {
                Ok(resolve_index(*at, list.len()).and_then(|at| list.get(at)).unwrap_or(missing))
            }
            (Value::Str(text), Value::Int(at)) => {
                self.meter.text(1).map_err(|error| self.place(error, span))?;
                Ok(resolve_index(*at, text.len()).map_or(missing, |at| Value::str(&text.as_bytes()[at..=at])))
            }
            (Value::List(_) | Value::Str(_), other) => Err(self.fault(
                span,
                format!("the index of a {} is an int, not {}", base.type_name(), other.type_name()),
            )),
            (other, _) => Err(self.fault(span, format!("{} cannot be indexed", other.type_name()))),
        }
    }

    fn select_or_missing(&mut self, map: &Map, name: &Str, missing: Value) -> Result<Value, Error> {
        if let Some(value) = map.get_name(name.as_bytes()) {
            return Ok(value);
        }
        let method = map.receiver().and_then(|receiver| crate::imports::method(receiver, map, name));
        Ok(method.unwrap_or(missing))
    }

    fn slice(
        &mut self,
        base: &Value,
        low: Option<Value>,
        high: Option<Value>,
        span: Span,
    ) -> Result<Value, Error> {
        let length = match base {
            Value::Undefined(origin) => return Ok(Value::Undefined(*origin)),
            Value::Null => return Ok(Value::Undefined(self.here(span))),
            Value::List(list) => list.len(),
            Value::Str(text) => text.len(),
            other => return Err(self.fault(span, format!("{} cannot be sliced", other.type_name()))),
        };
        let mut bounds = [0, length as i64];
        for (bound, given) in bounds.iter_mut().zip([low, high]) {
            match given {
                None => {}
                Some(Value::Int(at)) => *bound = at,
                Some(Value::Undefined(origin)) => return Ok(Value::Undefined(origin)),
                Some(other) => {
                    return Err(self
                        .fault(span, format!("the bound of a slice is an int, not {}", other.type_name())));
                }
            }
        }
        let [low, high] = bounds;
        if low < 0 || high < low || high > length as i64 {
            return Ok(Value::Undefined(self.here(span)));
        }
        let (low, high) = (low as usize, high as usize);
        match base {
            Value::Str(text) => {
                self.meter.text(high - low).map_err(|error| self.place(error, span))?;
                Ok(Value::str(&text.as_bytes()[low..high]))
            }
            Value::List(list) => {
                let items = self.meter.items(high - low, size_of::<Value>());
                items.map_err(|error| self.place(error, span))?;
                Ok(Value::list((low..high).filter_map(|at| list.get(at)).collect()))
            }
            _ => Ok(Value::Undefined(self.here(span))),
        }
    }
}
