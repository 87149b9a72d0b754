//! Calls of functions, rules, and members of imports.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::frame::RuleState;
use super::stmt::Flow;
use super::{Closure, Evaluator, Frame, Imported, RuleCell};
use crate::builtins::Builtin;
use crate::compile::ir::{Expr, Func, Kind, Rule};
use crate::error::Error;
use crate::imports::NativeFn;
use crate::source::Span;
use crate::terraform::MODULES;
use crate::value::ops::{self, Truth};
use crate::value::{Data, Map, Receiver, Str, Value, show};

/// The memory that a function or a rule is counted with.
const CLOSURE: usize = 64;

impl Evaluator<'_> {
    pub(super) fn closure(
        &mut self,
        func: &Arc<Func>,
        frame: &Rc<Frame>,
        span: Span,
    ) -> Result<Value, Error> {
        self.charge(CLOSURE, span)?;
        self.capture(frame);
        Ok(Value::Func(Rc::new(Closure { func: func.clone(), frame: frame.clone(), unit: self.unit })))
    }

    pub(super) fn rule_value(&mut self, rule: &Arc<Rule>, frame: &Rc<Frame>) -> Result<Value, Error> {
        self.charge(CLOSURE, rule.span)?;
        self.capture(frame);
        Ok(Value::Rule(Rc::new(RuleCell {
            rule: rule.clone(),
            frame: frame.clone(),
            unit: self.unit,
            state: RefCell::new(RuleState::Pending),
        })))
    }

    /// The value of a rule, evaluated now if it was not before; any other value as it is.
    #[inline]
    pub(crate) fn force(&mut self, value: Value) -> Result<Value, Error> {
        match value {
            Value::Rule(rule) => self.force_rule(&rule),
            other => Ok(other),
        }
    }

    fn force_rule(&mut self, cell: &Rc<RuleCell>) -> Result<Value, Error> {
        let span = cell.rule.span;
        let known = match &*cell.state.borrow() {
            RuleState::Done(value) => Some(value.clone()),
            RuleState::Running => {
                let source = &self.units[cell.unit as usize].unit.source;
                return Err(Error::runtime("a rule needs its own value").at(source, span));
            }
            RuleState::Pending => None,
        };
        if let Some(value) = known {
            return self.hand(value, cell.unit, self.unit, span);
        }
        *cell.state.borrow_mut() = RuleState::Running;
        self.meter.enter().map_err(|error| self.place(error, span))?;
        let caller = std::mem::replace(&mut self.unit, cell.unit);
        let value = self.rule_body(&cell.rule, &cell.frame)?;
        self.unit = caller;
        self.meter.leave();
        *cell.state.borrow_mut() = RuleState::Done(value.clone());
        if cell.unit == 0 {
            self.record(&cell.rule, &value)?;
        }
        self.hand(value, cell.unit, self.unit, span)
    }

    /// A value that goes from the code of one unit to that of another. What a module hands out is a copy:
    /// its state cannot be changed from outside. What it is given, or gives to a module that it imports,
    /// is the collection itself, as with any function.
    fn hand(&self, value: Value, from: u32, to: u32, span: Span) -> Result<Value, Error> {
        let imports = |imported: &Imported| matches!(imported, Imported::Module(unit) if *unit == to);
        if from == to || from == 0 || self.units[from as usize].imports.iter().any(imports) {
            return Ok(value);
        }
        ops::duplicate(&value, &self.meter).map_err(|error| self.place(error, span))
    }

    fn rule_body(&mut self, rule: &Rule, frame: &Rc<Frame>) -> Result<Value, Error> {
        if let Some(when) = &rule.when {
            match self.condition(when, frame)? {
                Truth::True => {}
                Truth::False => return Ok(Value::Bool(true)),
                // whether the rule applies is not known, so neither is its value
                Truth::Undefined(origin) => return Ok(Value::Undefined(origin)),
            }
        }
        let value = self.eval(&rule.body, frame)?;
        match value {
            Value::Func(_) | Value::Builtin(_) | Value::Native(_) | Value::Rule(_) => {
                Err(self
                    .fault(rule.body.span, format!("the value of a rule cannot be a {}", value.type_name())))
            }
            value => Ok(value),
        }
    }

    /// Notes the value of a named rule of the policy for the trace.
    fn record(&mut self, rule: &Rule, value: &Value) -> Result<(), Error> {
        let Some(ident) = &rule.name else { return Ok(()) };
        let source = &self.units[0].unit.source;
        let data = ops::to_data(value, &self.meter).map_err(|error| error.at(source, rule.span))?;
        let data = data.unwrap_or_else(|| Data::from(show::show(value)));
        self.rules.note(rule, ident, source, data);
        Ok(())
    }

    pub(super) fn call_expr(
        &mut self,
        callee: &Expr,
        args: &[Expr],
        span: Span,
        frame: &Rc<Frame>,
    ) -> Result<Value, Error> {
        let function = match &callee.kind {
            Kind::ImportMember { import, slots, name } if !frame.has(slots) => {
                match self.imported(*import).clone() {
                    Imported::Std(std) => {
                        let args = self.args(args, frame)?;
                        let args = self.forced(args)?;
                        return std.call(name, args, span, self).map_err(|error| self.place(error, span));
                    }
                    imported => self.member(&imported, name, callee.span)?,
                }
            }
            _ => self.eval(callee, frame)?,
        };
        if let Value::Undefined(origin) = function {
            return Ok(Value::Undefined(origin));
        }
        let args = self.args(args, frame)?;
        self.call(&function, args, span)
    }

    /// Arguments; a rule that is one is not evaluated yet.
    fn args(&mut self, args: &[Expr], frame: &Rc<Frame>) -> Result<Vec<Value>, Error> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.eval_unforced(arg, frame)?);
        }
        Ok(values)
    }

    /// Arguments of what is not written in the language and looks at all of them.
    fn forced(&mut self, mut args: Vec<Value>) -> Result<Vec<Value>, Error> {
        for arg in args.iter_mut().filter(|arg| matches!(arg, Value::Rule(_))) {
            *arg = self.force(arg.clone())?;
        }
        Ok(args)
    }

    /// Calls a function value.
    pub(crate) fn call(&mut self, function: &Value, args: Vec<Value>, span: Span) -> Result<Value, Error> {
        match function {
            Value::Func(closure) => self.call_closure(closure, args, span),
            Value::Builtin(builtin) => {
                let args = match (builtin, &args[..]) {
                    // what is put into a list stays what it is
                    (Builtin::Append, [list, value]) => vec![self.force(list.clone())?, value.clone()],
                    _ => self.forced(args)?,
                };
                let here = self.here(span);
                builtin.call(&args, here, self).map_err(|error| {
                    let error = args.iter().fold(error, |error, arg| self.explain(error, arg));
                    self.place(error, span)
                })
            }
            Value::Native(native) => {
                let args = self.forced(args)?;
                native.call(args, span, self).map_err(|error| self.place(error, span))
            }
            Value::Undefined(origin) => Ok(Value::Undefined(*origin)),
            other => Err(self.fault(span, format!("{} cannot be called", other.type_name()))),
        }
    }

    fn call_closure(&mut self, closure: &Rc<Closure>, args: Vec<Value>, span: Span) -> Result<Value, Error> {
        let func = &closure.func;
        if args.len() != func.params {
            let wanted = text::count(func.params, "argument");
            return Err(self.fault(span, format!("the function takes {wanted}, not {}", args.len())));
        }
        self.meter
            .enter()
            .and_then(|()| self.meter.alloc(Frame::bytes(func.frame)))
            .map_err(|error| self.place(error, span))?;
        let frame = Rc::new(Frame::new(func.frame, Some(closure.frame.clone())));
        for (at, arg) in args.into_iter().enumerate() {
            frame.put(at as u16, self.hand(arg, self.unit, closure.unit, span)?);
        }
        let caller = std::mem::replace(&mut self.unit, closure.unit);
        let flow = self.block(&func.body, &frame)?;
        let result = match flow {
            Flow::Return(value) => self.force(value)?,
            _ => {
                return Err(self
                    .fault(func.end, "the function ends without `return`")
                    .note("a function that has nothing to return returns `undefined`"));
            }
        };
        self.unit = caller;
        self.meter.leave();
        if Rc::strong_count(&frame) == 1 {
            self.meter.free(Frame::bytes(func.frame));
        }
        self.hand(result, closure.unit, self.unit, span)
    }

    /// `import.name` where it is read.
    pub(super) fn member_of(&mut self, import: u16, name: &Str, span: Span) -> Result<Value, Error> {
        let imported = self.imported(import).clone();
        self.member(&imported, name, span)
    }

    /// A member of an import; undefined when it has none of that name.
    fn member(&mut self, imported: &Imported, name: &Str, span: Span) -> Result<Value, Error> {
        let missing = Value::Undefined(self.here(span));
        match imported {
            Imported::Std(std) => {
                let member = std.member(name, self).map_err(|error| self.place(error, span))?;
                Ok(member.unwrap_or(missing))
            }
            Imported::Data(data) => {
                let value = Value::from_data(data);
                self.select(&value, name, span)
            }
            Imported::Module(unit) => {
                let loaded = &self.units[*unit as usize];
                let slot = name.as_str().and_then(|name| loaded.unit.names.get(name).copied());
                let frame = loaded.frame.clone();
                match slot.and_then(|at| frame.get(crate::compile::ir::Slot { out: 0, at })) {
                    Some(rule @ Value::Rule(_)) => self.force(rule),
                    Some(value) => self.hand(value, *unit, self.unit, span),
                    None => Ok(missing),
                }
            }
            Imported::Host(host) => {
                let text = name.to_text();
                match host.data().get(&text) {
                    // the data of another import, with its function
                    Some(Data::Map(map)) if map.get(MODULES).is_some() => {
                        return Ok(Value::Map(Map::object(map.clone(), Receiver::Namespaces)));
                    }
                    Some(data) => return Ok(Value::from_data(data)),
                    None => {}
                }
                if host.functions().contains(&&*text) {
                    let native = NativeFn::Host { import: host.clone(), name: text.into_owned() };
                    return Ok(Value::Native(Rc::new(native)));
                }
                Ok(missing)
            }
        }
    }
}
