//! Frames, closures and rules: what the evaluator keeps while it runs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use crate::compile::ir::{Func, Rule, Slot};
use crate::value::Value;
use crate::value::cell::drop_all;

/// The variables of one entry into a scope.
pub(crate) struct Frame {
    slots: RefCell<Vec<Option<Value>>>,
    parent: Option<Rc<Frame>>,
    /// Whether a function or rule holds on to this frame: then it may be part of a cycle.
    pub(super) captured: Cell<bool>,
}

impl Frame {
    pub(super) fn new(size: usize, parent: Option<Rc<Frame>>) -> Frame {
        Frame { slots: RefCell::new(vec![None; size]), parent, captured: Cell::new(false) }
    }

    /// The memory that a frame with so many slots is counted with.
    pub(super) fn bytes(size: usize) -> usize {
        64 + size * size_of::<Option<Value>>()
    }

    fn out(&self, count: u16) -> &Frame {
        let mut frame = self;
        for _ in 0..count {
            match &frame.parent {
                Some(parent) => frame = parent,
                None => break,
            }
        }
        frame
    }

    pub(super) fn get(&self, slot: Slot) -> Option<Value> {
        self.out(slot.out).slots.borrow().get(slot.at as usize).and_then(Clone::clone)
    }

    /// Whether one of these slots is set.
    pub(super) fn has(&self, slots: &[Slot]) -> bool {
        slots.iter().any(|slot| {
            let frame = self.out(slot.out);
            frame.slots.borrow().get(slot.at as usize).is_some_and(Option::is_some)
        })
    }

    /// Writes the innermost slot that is set, or else the first: an assignment changes the nearest
    /// variable of that name, and makes one in its own scope when there is none.
    pub(super) fn assign(&self, slots: &[Slot], value: Value) {
        let set = |slot: &&Slot| self.has(std::slice::from_ref(*slot));
        let found = match slots {
            [only] => Some(only),
            _ => slots.iter().find(set).or(slots.first()),
        };
        if let Some(slot) = found {
            self.out(slot.out).put(slot.at, value);
        }
    }

    pub(super) fn put(&self, at: u16, value: Value) {
        // the old value is dropped after the borrow ends: dropping may run arbitrary drops
        let old = self.slots.borrow_mut().get_mut(at as usize).map(|slot| slot.replace(value));
        drop(old);
    }

    /// Forgets all variables, to use the frame anew or to break cycles.
    pub(super) fn clear(&self) {
        let size = self.slots.borrow().len();
        let old = self.slots.replace(vec![None; size]);
        drop(old);
    }

    /// Forgets all variables in place.
    pub(super) fn reset(&self) {
        let size = self.slots.borrow().len();
        for at in 0..size {
            let old = self.slots.borrow_mut()[at].take();
            drop(old);
        }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // closures hold frames, which hold closures: a chain as long as the policy makes it
        let slots = std::mem::take(self.slots.get_mut());
        if slots.iter().flatten().any(Value::is_shared) {
            drop_all(slots.into_iter().flatten());
        }
    }
}

/// A function value.
pub(crate) struct Closure {
    pub(super) func: Arc<Func>,
    pub(super) frame: Rc<Frame>,
    pub(super) unit: u32,
}

impl Closure {
    /// How many parameters it has.
    pub(crate) fn arity(&self) -> usize {
        self.func.params
    }
}

/// A rule: evaluated when it is first needed, once.
pub(crate) struct RuleCell {
    pub(super) rule: Arc<Rule>,
    pub(super) frame: Rc<Frame>,
    pub(super) unit: u32,
    pub(super) state: RefCell<RuleState>,
}

pub(super) enum RuleState {
    Pending,
    Running,
    Done(Value),
}
