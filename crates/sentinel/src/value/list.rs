//! Lists: shared, mutable, and views of immutable data until they are first written.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::cell::{Counted, drop_all};
use super::children::Children;
use super::{Data, Seen, Value};
use crate::error::Error;
use crate::limits::Meter;

/// A handle to a list. Clones see each other's writes.
#[derive(Clone)]
pub(crate) struct List(Rc<ListCell>);

pub(crate) struct ListCell {
    repr: RefCell<Repr>,
    /// Whether it is known to be possibly part of a cycle.
    noted: Cell<bool>,
    _counted: Counted,
}

enum Repr {
    /// A view. `children` holds the handles given out for nested collections, so that two reads of
    /// one element are the same collection.
    Frozen {
        base: Arc<[Data]>,
        children: Children,
    },
    Owned(Vec<Value>),
}

impl Drop for ListCell {
    fn drop(&mut self) {
        match self.repr.get_mut() {
            Repr::Frozen { children, .. } if children.is_empty() => {}
            Repr::Frozen { children, .. } => drop_all(children.drain().into_iter()),
            Repr::Owned(items) if items.iter().any(Value::is_shared) => {
                drop_all(std::mem::take(items).into_iter());
            }
            Repr::Owned(_) => {}
        }
    }
}

impl List {
    fn new(repr: Repr) -> List {
        List(Rc::new(ListCell {
            repr: RefCell::new(repr),
            noted: Cell::new(false),
            _counted: Counted::new(),
        }))
    }

    pub(crate) fn frozen(base: Arc<[Data]>) -> List {
        List::new(Repr::Frozen { base, children: Children::new() })
    }

    pub(crate) fn owned(items: Vec<Value>) -> List {
        List::new(Repr::Owned(items))
    }

    pub(crate) fn len(&self) -> usize {
        match &*self.0.repr.borrow() {
            Repr::Frozen { base, .. } => base.len(),
            Repr::Owned(items) => items.len(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<Value> {
        match &mut *self.0.repr.borrow_mut() {
            Repr::Owned(items) => items.get(index).cloned(),
            Repr::Frozen { base, children } => {
                let data = base.get(index)?;
                match data {
                    Data::List(_) | Data::Map(_) => {
                        Some(children.get_or_make(index as u32, || Value::from_data(data)))
                    }
                    scalar => Some(Value::from_data(scalar)),
                }
            }
        }
    }

    /// All elements as they are now. What is to stay of them is the caller's to count.
    pub(crate) fn snapshot(&self, meter: &Meter) -> Result<Vec<Value>, Error> {
        meter.steps(self.len())?;
        meter.room(self.len().saturating_mul(size_of::<Value>()))?;
        if let Repr::Owned(items) = &*self.0.repr.borrow() {
            return Ok(items.clone());
        }
        Ok((0..self.len()).filter_map(|index| self.get(index)).collect())
    }

    /// The first elements, for a look that makes no handles.
    pub(crate) fn peek(&self, most: usize) -> Vec<Seen> {
        match &*self.0.repr.borrow() {
            Repr::Owned(items) => items.iter().take(most).cloned().map(Seen::Value).collect(),
            Repr::Frozen { base, children } => {
                let seen = |(at, data)| Seen::of(children, at, data);
                base.iter().take(most).enumerate().map(seen).collect()
            }
        }
    }

    /// The data of this list when nothing of it was ever written.
    pub(crate) fn pristine(&self, meter: &Meter) -> Result<Option<Arc<[Data]>>, Error> {
        Ok(match &*self.0.repr.borrow() {
            Repr::Frozen { base, children } if children.are_pristine(meter)? => Some(base.clone()),
            _ => None,
        })
    }

    /// What is about to be written is the list's own from then on, so that a view is copied, once.
    fn thaw(&self, meter: &Meter) -> Result<(), Error> {
        match &*self.0.repr.borrow() {
            Repr::Frozen { base, .. } => meter.items(base.len(), size_of::<Value>()),
            Repr::Owned(_) => Ok(()),
        }
    }

    fn with_owned<T>(&self, write: impl FnOnce(&mut Vec<Value>) -> T) -> T {
        let repr = &mut *self.0.repr.borrow_mut();
        if let Repr::Frozen { base, children } = repr {
            let mut children = children.take();
            let items = base
                .iter()
                .enumerate()
                .map(|(at, data)| children.remove(&(at as u32)).unwrap_or_else(|| Value::from_data(data)))
                .collect();
            *repr = Repr::Owned(items);
        }
        match repr {
            Repr::Owned(items) => write(items),
            Repr::Frozen { .. } => unreachable!("made owned above"),
        }
    }

    pub(crate) fn push(&self, value: Value, meter: &Meter) -> Result<(), Error> {
        meter.alloc(size_of::<Value>())?;
        self.thaw(meter)?;
        self.with_owned(|items| items.push(value));
        Ok(())
    }

    /// Replaces an element; false when there is none at this index.
    pub(crate) fn set(&self, index: usize, value: Value, meter: &Meter) -> Result<bool, Error> {
        self.thaw(meter)?;
        let old = self.with_owned(|items| items.get_mut(index).map(|slot| std::mem::replace(slot, value)));
        Ok(old.is_some())
    }

    /// Whether this is the first note that it may be part of a cycle.
    pub(crate) fn first_noted(&self) -> bool {
        !self.0.noted.replace(true)
    }

    pub(crate) fn downgrade(&self) -> Weak<ListCell> {
        Rc::downgrade(&self.0)
    }
}

impl ListCell {
    /// Empties the list, to break the cycles it is part of.
    pub(crate) fn clear(&self) {
        let old = std::mem::replace(&mut *self.repr.borrow_mut(), Repr::Owned(Vec::new()));
        match old {
            Repr::Frozen { mut children, .. } => drop_all(children.drain().into_iter()),
            Repr::Owned(items) => drop_all(items.into_iter()),
        }
    }
}

pub(super) fn is_pristine(value: &Value, meter: &Meter) -> Result<bool, Error> {
    meter.step()?;
    meter.deeper(|| match value {
        Value::List(list) => Ok(list.pristine(meter)?.is_some()),
        Value::Map(map) => Ok(map.pristine(meter)?.is_some()),
        _ => Ok(true),
    })
}
