//! The evaluator: one instance runs one policy once.
//!
//! It is single-threaded; what is shared between policies and threads is immutable (compiled units,
//! data). At its end it breaks the cycles that closures and collections may have made, so that a
//! daemon that evaluates policies for months does not leak.

mod call;
mod expr;
mod frame;
mod link;
mod quantifier;
mod stmt;
mod trace;

use std::collections::{BTreeSet, HashMap};
use std::rc::{Rc, Weak};
use std::sync::Arc;

pub(crate) use frame::{Closure, Frame, RuleCell};
pub use link::Environment;
pub(crate) use link::Imported;
use trace::Rules;
pub use trace::{RuleTrace, Trace};

use crate::compile::Unit;
use crate::error::{Error, ErrorKind, Place};
use crate::host::Host;
use crate::limits::{Limits, Meter};
use crate::regexp::Regexps;
use crate::source::Span;
use crate::value::{Data, List, ListCell, Map, MapCell, Origin, Value, ops};

/// One evaluation of one policy.
pub(crate) struct Evaluator<'e> {
    pub(crate) meter: Meter,
    pub(crate) host: &'e dyn Host,
    pub(crate) regexps: Regexps,
    pub(crate) bindings: &'e Environment,
    units: Vec<Loaded>,
    /// The unit whose code is running.
    unit: u32,
    print: String,
    rules: Rules,
    cycles: Cycles,
    /// The values of the global scope that were looked at.
    globals: HashMap<Arc<str>, Value>,
    /// What requests of `http` are authorised with, to be masked in all that the evaluation shows.
    pub(crate) credentials: BTreeSet<String>,
    /// The moment `time.now` is, fixed when it is first asked for.
    pub(crate) now: Option<Value>,
    /// Imports being loaded, to find cycles.
    loading: Vec<String>,
    modules: HashMap<*const Unit, u32>,
}

/// A unit with its file scope.
struct Loaded {
    unit: Arc<Unit>,
    frame: Rc<Frame>,
    imports: Vec<Imported>,
}

/// What may be part of a reference cycle.
#[derive(Default)]
struct Cycles {
    frames: Vec<Weak<Frame>>,
    lists: Vec<Weak<ListCell>>,
    maps: Vec<Weak<MapCell>>,
}

/// How a policy ended, and what it said.
pub(crate) struct Evaluated {
    /// The value of `main`, or what went wrong.
    pub(crate) main: Result<Data, Error>,
    /// Where the undefined of an undefined `main` came into being.
    pub(crate) undefined_at: Option<Place>,
    pub(crate) trace: Trace,
    /// What requests were authorised with, which is not to be shown.
    pub(crate) credentials: BTreeSet<String>,
}

impl<'e> Evaluator<'e> {
    pub(crate) fn new(host: &'e dyn Host, bindings: &'e Environment, limits: Limits) -> Self {
        Evaluator {
            meter: Meter::new(limits),
            host,
            regexps: Regexps::default(),
            bindings,
            units: Vec::new(),
            unit: 0,
            print: String::new(),
            rules: Rules::default(),
            cycles: Cycles::default(),
            globals: HashMap::new(),
            credentials: BTreeSet::new(),
            now: None,
            loading: Vec::new(),
            modules: HashMap::new(),
        }
    }

    /// Runs a policy: the file from top to bottom, then `main`.
    pub(crate) fn run(mut self, unit: &Arc<Unit>, params: &HashMap<String, Data>) -> Evaluated {
        let result = self.policy(unit, params);
        let mut undefined_at = None;
        let main = result.and_then(|value| {
            if let Value::Undefined(origin) = value {
                undefined_at = self.origin(origin);
            }
            let data = ops::to_data(&value, &self.meter);
            match data.map_err(|error| error.at(&unit.source, Span::default()))? {
                Some(data) => Ok(data),
                None => {
                    Err(Error::runtime(format!("`main` is a {}, which is not a result", value.type_name())))
                }
            }
        });
        let trace = Trace {
            description: unit.description.clone().unwrap_or_default(),
            print: std::mem::take(&mut self.print),
            rules: std::mem::take(&mut self.rules).into_traces(),
        };
        Evaluated { main, undefined_at, trace, credentials: std::mem::take(&mut self.credentials) }
    }

    fn policy(&mut self, unit: &Arc<Unit>, params: &HashMap<String, Data>) -> Result<Value, Error> {
        self.load(unit, Some(params))?;
        let Some(at) = unit.names.get("main") else { return Err(no_main()) };
        let slot = crate::compile::ir::Slot { out: 0, at: *at };
        match self.units[0].frame.get(slot) {
            Some(value) => self.force(value),
            None => Err(no_main()),
        }
    }

    /// Runs the file scope of a unit and returns its index.
    fn load(&mut self, unit: &Arc<Unit>, params: Option<&HashMap<String, Data>>) -> Result<u32, Error> {
        let index = self.units.len() as u32;
        let frame = Rc::new(Frame::new(unit.frame, None));
        frame.captured.set(true);
        self.cycles.frames.push(Rc::downgrade(&frame));
        self.units.push(Loaded { unit: unit.clone(), frame: frame.clone(), imports: Vec::new() });
        let caller = std::mem::replace(&mut self.unit, index);
        for import in &unit.imports {
            let imported = self.link(import).map_err(|error| error.at(&unit.source, import.span))?;
            self.units[index as usize].imports.push(imported);
        }
        for param in &unit.params {
            let Some(values) = params else {
                return Err(Error::runtime("a module cannot have parameters").at(&unit.source, param.span));
            };
            let value = values.get(&*param.name).or(param.default.as_ref()).ok_or_else(|| {
                Error::runtime(format!("the parameter `{}` has no value", param.name))
                    .note("it has no default, so the policy set must give it one")
                    .at(&unit.source, param.span)
            })?;
            frame.put(param.slot, Value::from_data(value));
        }
        self.block(&unit.body, &frame)?;
        self.unit = caller;
        Ok(index)
    }

    fn source(&self) -> &crate::source::Source {
        &self.units[self.unit as usize].unit.source
    }

    /// A runtime error at a place of the running unit.
    pub(crate) fn fault(&self, span: Span, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Runtime, message).at(self.source(), span)
    }

    /// Gives an error the place, if it has none.
    pub(crate) fn place(&self, error: Error, span: Span) -> Error {
        error.at(self.source(), span)
    }

    pub(crate) fn here(&self, span: Span) -> Origin {
        Origin { unit: self.unit, offset: span.start }
    }

    fn origin(&self, origin: Origin) -> Option<Place> {
        let loaded = self.units.get(origin.unit as usize)?;
        Some(Place::of(&loaded.unit.source, Span { start: origin.offset, end: origin.offset }))
    }

    /// A note that says where an undefined came from.
    pub(crate) fn explain(&self, error: Error, value: &Value) -> Error {
        match value {
            Value::Undefined(origin) => match self.origin(*origin) {
                Some(Place { position, .. }) => {
                    error.note(format!("the undefined value came into being at {position}"))
                }
                None => error,
            },
            _ => error,
        }
    }

    pub(crate) fn print(&mut self, text: &str) -> Result<(), Error> {
        self.meter.alloc(text.len() + 1)?;
        self.print.push_str(text);
        self.print.push('\n');
        Ok(())
    }

    /// Notes that a frame is held on to.
    fn capture(&mut self, frame: &Rc<Frame>) {
        if !frame.captured.replace(true) {
            self.cycles.frames.push(Rc::downgrade(frame));
        }
    }

    /// Notes that a list is about to hold a value that may lead back to it.
    pub(crate) fn wrote_list(&mut self, list: &List, value: &Value) {
        if value.is_shared() && list.first_noted() {
            self.cycles.lists.push(list.downgrade());
        }
    }

    /// Notes that a map is about to hold a value that may lead back to it.
    pub(crate) fn wrote_map(&mut self, map: &Map, value: &Value) {
        if value.is_shared() && map.first_noted() {
            self.cycles.maps.push(map.downgrade());
        }
    }
}

fn no_main() -> Error {
    Error::runtime("the policy has no `main`").note("the value of `main` is the result of a policy")
}

impl Drop for Evaluator<'_> {
    fn drop(&mut self) {
        self.now = None;
        self.globals.clear();
        for list in self.cycles.lists.drain(..).filter_map(|list| list.upgrade()) {
            list.clear();
        }
        for map in self.cycles.maps.drain(..).filter_map(|map| map.upgrade()) {
            map.clear();
        }
        for frame in self.cycles.frames.drain(..).filter_map(|frame| frame.upgrade()) {
            frame.clear();
        }
    }
}
