//! The lifetime of collections: how many there are, and dropping nested ones without recursion. A policy
//! can nest a list as deep as its step limit allows, and a recursive drop of that would overflow the stack
//! of the process that runs it.

use std::cell::{Cell, RefCell};

use super::Value;

thread_local! {
    /// How many lists and maps there are on this thread.
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

/// The memory that a list or a map is counted with beside its elements: the cell, and its place among
/// the handles of what it is a part of.
pub(crate) const HANDLE: usize = 128;

/// How many lists and maps there are on this thread. They come and go too often to be counted as they
/// are made, and reading data makes them too, so the meter looks at their number now and then.
pub(crate) fn live() -> usize {
    LIVE.try_with(Cell::get).unwrap_or(0)
}

/// Part of each list and map: counts it as long as it is there.
pub(super) struct Counted(());

impl Counted {
    pub(super) fn new() -> Counted {
        let _ = LIVE.try_with(|live| live.set(live.get() + 1));
        Counted(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let _ = LIVE.try_with(|live| live.set(live.get().saturating_sub(1)));
    }
}

thread_local! {
    /// Values waiting to be dropped, while a drop is under way on this thread.
    static PENDING: RefCell<Option<Vec<Value>>> = const { RefCell::new(None) };
}

/// Drops values; nested drops that this causes are queued instead of recursing.
pub(crate) fn drop_all(values: impl Iterator<Item = Value>) {
    let nested = PENDING.try_with(|pending| {
        let mut pending = pending.borrow_mut();
        match pending.as_mut() {
            Some(queue) => {
                queue.extend(values);
                true
            }
            None => {
                *pending = Some(values.collect());
                false
            }
        }
    });
    if nested != Ok(false) {
        return;
    }
    loop {
        let next = PENDING.with(|pending| pending.borrow_mut().as_mut().and_then(Vec::pop));
        match next {
            Some(value) => drop(value),
            None => break,
        }
    }
    PENDING.with(|pending| *pending.borrow_mut() = None);
}
