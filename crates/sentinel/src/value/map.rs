//! Maps: shared, mutable, walked in the order of their keys; views of immutable data until they are
//! first written.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::cell::{Counted, drop_all};
use super::children::Children;
use super::{Data, DataMap, Key, Seen, Value};
use crate::error::Error;
use crate::limits::Meter;

/// Which standard import a map came from, when it has methods: `time.now.add(…)`. The map itself is
/// the receiver's data, as the specification has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    Timespace,
    Decimal,
    Version,
    HttpClient,
    HttpRequest,
    /// The data of another Terraform import, inside of the old `tfplan`.
    Namespaces,
}

/// The memory that an entry of a map is counted with.
pub(crate) const ENTRY: usize = size_of::<(Key, Value)>();

/// A handle to a map. Clones see each other's writes.
#[derive(Clone)]
pub(crate) struct Map(Rc<MapCell>);

pub(crate) struct MapCell {
    repr: RefCell<Repr>,
    receiver: Option<Receiver>,
    /// Whether it is known to be possibly part of a cycle.
    noted: Cell<bool>,
    _counted: Counted,
}

enum Repr {
    /// A view. `children` holds the handles given out for nested collections, by position.
    Frozen {
        base: DataMap,
        children: Children,
    },
    Owned(BTreeMap<Key, Value>),
}

impl Drop for MapCell {
    fn drop(&mut self) {
        match self.repr.get_mut() {
            Repr::Frozen { children, .. } if children.is_empty() => {}
            Repr::Frozen { children, .. } => drop_all(children.drain().into_iter()),
            Repr::Owned(entries) if entries.values().any(Value::is_shared) => {
                drop_all(std::mem::take(entries).into_values());
            }
            Repr::Owned(_) => {}
        }
    }
}

fn child(base: &DataMap, children: &mut Children, at: usize) -> Value {
    match &base.entries()[at].1 {
        data @ (Data::List(_) | Data::Map(_)) => children.get_or_make(at as u32, || Value::from_data(data)),
        scalar => Value::from_data(scalar),
    }
}

impl Map {
    fn new(repr: Repr, receiver: Option<Receiver>) -> Map {
        Map(Rc::new(MapCell {
            repr: RefCell::new(repr),
            receiver,
            noted: Cell::new(false),
            _counted: Counted::new(),
        }))
    }

    pub(crate) fn frozen(base: DataMap) -> Map {
        Map::new(Repr::Frozen { base, children: Children::new() }, None)
    }

    pub(crate) fn object(base: DataMap, receiver: Receiver) -> Map {
        Map::new(Repr::Frozen { base, children: Children::new() }, Some(receiver))
    }

    pub(crate) fn owned(entries: BTreeMap<Key, Value>) -> Map {
        Map::new(Repr::Owned(entries), None)
    }

    /// A new map with these entries and the methods of this one.
    pub(crate) fn owned_like(&self, entries: BTreeMap<Key, Value>) -> Map {
        Map::new(Repr::Owned(entries), self.0.receiver)
    }

    pub(crate) fn frozen_like(&self, base: DataMap) -> Map {
        Map::new(Repr::Frozen { base, children: Children::new() }, self.0.receiver)
    }

    pub(crate) fn receiver(&self) -> Option<Receiver> {
        self.0.receiver
    }

    pub(crate) fn len(&self) -> usize {
        match &*self.0.repr.borrow() {
            Repr::Frozen { base, .. } => base.len(),
            Repr::Owned(entries) => entries.len(),
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Value> {
        match &mut *self.0.repr.borrow_mut() {
            Repr::Owned(entries) => entries.get(key).cloned(),
            Repr::Frozen { base, children } => base.position(key).map(|at| child(base, children, at)),
        }
    }

    pub(crate) fn get_name(&self, name: &[u8]) -> Option<Value> {
        match &mut *self.0.repr.borrow_mut() {
            Repr::Owned(entries) => entries.get(&Key::Str(name.into())).cloned(),
            Repr::Frozen { base, children } => base.position_of(name).map(|at| child(base, children, at)),
        }
    }

    pub(crate) fn has(&self, key: &Key) -> bool {
        match &*self.0.repr.borrow() {
            Repr::Owned(entries) => entries.contains_key(key),
            Repr::Frozen { base, .. } => base.position(key).is_some(),
        }
    }

    pub(crate) fn keys(&self, meter: &Meter) -> Result<Vec<Value>, Error> {
        meter.steps(self.len())?;
        meter.room(self.len().saturating_mul(size_of::<Value>()))?;
        Ok(match &*self.0.repr.borrow() {
            Repr::Owned(entries) => entries.keys().map(Value::from_key).collect(),
            Repr::Frozen { base, .. } => base.entries().iter().map(|(k, _)| Value::from_key(k)).collect(),
        })
    }

    /// All entries as they are now, in the order of their keys. What is to stay of them is the caller's
    /// to count.
    pub(crate) fn snapshot(&self, meter: &Meter) -> Result<Vec<(Key, Value)>, Error> {
        meter.steps(self.len())?;
        meter.room(self.len().saturating_mul(size_of::<(Key, Value)>()))?;
        Ok(match &mut *self.0.repr.borrow_mut() {
            Repr::Owned(entries) => entries.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
            Repr::Frozen { base, children } => base
                .entries()
                .iter()
                .enumerate()
                .map(|(at, (key, _))| (key.clone(), child(base, children, at)))
                .collect(),
        })
    }

    /// The first entries, for a look that makes no handles.
    pub(crate) fn peek(&self, most: usize) -> Vec<(Key, Seen)> {
        match &*self.0.repr.borrow() {
            Repr::Owned(entries) => {
                entries.iter().take(most).map(|(k, v)| (k.clone(), Seen::Value(v.clone()))).collect()
            }
            Repr::Frozen { base, children } => {
                let seen =
                    |(at, (key, data)): (usize, &(Key, Data))| (key.clone(), Seen::of(children, at, data));
                base.entries().iter().take(most).enumerate().map(seen).collect()
            }
        }
    }

    /// The data of this map when nothing of it was ever written.
    pub(crate) fn pristine(&self, meter: &Meter) -> Result<Option<DataMap>, Error> {
        Ok(match &*self.0.repr.borrow() {
            Repr::Frozen { base, children } if children.are_pristine(meter)? => Some(base.clone()),
            _ => None,
        })
    }

    /// What is about to be written is the map's own from then on, so that a view is copied, once.
    fn thaw(&self, meter: &Meter) -> Result<(), Error> {
        match &*self.0.repr.borrow() {
            Repr::Frozen { base, .. } => meter.items(base.len(), ENTRY),
            Repr::Owned(_) => Ok(()),
        }
    }

    fn with_owned<T>(&self, write: impl FnOnce(&mut BTreeMap<Key, Value>) -> T) -> T {
        let repr = &mut *self.0.repr.borrow_mut();
        if let Repr::Frozen { base, children } = repr {
            let mut children = children.take();
            let entries = base
                .entries()
                .iter()
                .enumerate()
                .map(|(at, (key, data))| {
                    let value = children.remove(&(at as u32)).unwrap_or_else(|| Value::from_data(data));
                    (key.clone(), value)
                })
                .collect();
            *repr = Repr::Owned(entries);
        }
        match repr {
            Repr::Owned(entries) => write(entries),
            Repr::Frozen { .. } => unreachable!("made owned above"),
        }
    }

    pub(crate) fn set(&self, key: Key, value: Value, meter: &Meter) -> Result<(), Error> {
        self.thaw(meter)?;
        meter.alloc(ENTRY)?;
        let old = self.with_owned(|entries| entries.insert(key, value));
        drop(old);
        Ok(())
    }

    pub(crate) fn remove(&self, key: &Key, meter: &Meter) -> Result<(), Error> {
        if self.has(key) {
            self.thaw(meter)?;
            let old = self.with_owned(|entries| entries.remove(key));
            drop(old);
        }
        Ok(())
    }

    /// Whether this is the first note that it may be part of a cycle.
    pub(crate) fn first_noted(&self) -> bool {
        !self.0.noted.replace(true)
    }

    pub(crate) fn downgrade(&self) -> Weak<MapCell> {
        Rc::downgrade(&self.0)
    }
}

impl MapCell {
    /// Empties the map, to break the cycles it is part of.
    pub(crate) fn clear(&self) {
        let old = std::mem::replace(&mut *self.repr.borrow_mut(), Repr::Owned(BTreeMap::new()));
        match old {
            Repr::Frozen { mut children, .. } => drop_all(children.drain().into_iter()),
            Repr::Owned(entries) => drop_all(entries.into_values()),
        }
    }
}
