//! Dropping nested collections without recursion: a policy can nest a list as deep as its step limit
//! allows, and a recursive drop of that would overflow the stack of the process that runs it.

use std::cell::RefCell;

use super::Value;

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
