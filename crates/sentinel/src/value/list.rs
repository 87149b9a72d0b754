//! Lists: shared, mutable, and views of immutable data until they are first written.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::cell::drop_all;
use super::children::Children;
use super::{Data, Value};

/// A handle to a list. Clones see each other's writes.
#[derive(Clone)]
pub(crate) struct List(Rc<ListCell>);

pub(crate) struct ListCell(RefCell<Repr>);

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
        match self.0.get_mut() {
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
    pub(crate) fn frozen(base: Arc<[Data]>) -> List {
        List(Rc::new(ListCell(RefCell::new(Repr::Frozen { base, children: Children::new() }))))
    }

    pub(crate) fn owned(items: Vec<Value>) -> List {
        List(Rc::new(ListCell(RefCell::new(Repr::Owned(items)))))
    }

    pub(crate) fn len(&self) -> usize {
        match &*self.0.0.borrow() {
            Repr::Frozen { base, .. } => base.len(),
            Repr::Owned(items) => items.len(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<Value> {
        match &mut *self.0.0.borrow_mut() {
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

    /// All elements as they are now.
    pub(crate) fn snapshot(&self) -> Vec<Value> {
        if let Repr::Owned(items) = &*self.0.0.borrow() {
            return items.clone();
        }
        (0..self.len()).filter_map(|index| self.get(index)).collect()
    }

    /// The data of this list when nothing of it was ever written.
    pub(crate) fn pristine(&self) -> Option<Arc<[Data]>> {
        match &*self.0.0.borrow() {
            Repr::Frozen { base, children } if children.all(is_pristine) => Some(base.clone()),
            _ => None,
        }
    }

    fn with_owned<T>(&self, write: impl FnOnce(&mut Vec<Value>) -> T) -> T {
        let repr = &mut *self.0.0.borrow_mut();
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

    pub(crate) fn push(&self, value: Value) {
        self.with_owned(|items| items.push(value));
    }

    /// Replaces an element; false when there is none at this index.
    pub(crate) fn set(&self, index: usize, value: Value) -> bool {
        let old = self.with_owned(|items| items.get_mut(index).map(|slot| std::mem::replace(slot, value)));
        old.is_some()
    }

    pub(crate) fn downgrade(&self) -> Weak<ListCell> {
        Rc::downgrade(&self.0)
    }
}

impl ListCell {
    /// Empties the list, to break the cycles it is part of.
    pub(crate) fn clear(&self) {
        let old = std::mem::replace(&mut *self.0.borrow_mut(), Repr::Owned(Vec::new()));
        match old {
            Repr::Frozen { mut children, .. } => drop_all(children.drain().into_iter()),
            Repr::Owned(items) => drop_all(items.into_iter()),
        }
    }
}

pub(super) fn is_pristine(value: &Value) -> bool {
    match value {
        Value::List(list) => list.pristine().is_some(),
        Value::Map(map) => map.pristine().is_some(),
        _ => true,
    }
}
