//! The stack of the thread: everything that recurses looks here first, so that neither a deep text nor a
//! deep value overflows it, whatever thread the application uses.

/// Stack that must be left before anything goes one level deeper. It has to be enough for all that is
/// done between two looks: a builtin with its callback, a few frames of a build that is not optimised.
const RED_ZONE: usize = 512 << 10;

/// What is added when there is less.
pub(crate) const SEGMENT: usize = 2 << 20;

/// What the recursion of a parser that is not ours may need: its depth is bounded, but its frames are not
/// under our control.
const FOREIGN: usize = 1 << 20;

/// Whether a level deeper needs a new segment.
#[inline]
pub(crate) fn is_short() -> bool {
    stacker::remaining_stack().is_none_or(|left| left < RED_ZONE)
}

/// Runs on a new segment.
pub(crate) fn grow<T>(run: impl FnOnce() -> T) -> T {
    stacker::grow(SEGMENT, run)
}

/// Runs with enough stack for a level deeper.
#[inline]
pub(crate) fn deeper<T>(run: impl FnOnce() -> T) -> T {
    if is_short() { grow(run) } else { run() }
}

/// Runs something of a library that recurses to a depth that it bounds itself.
pub(crate) fn foreign<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(FOREIGN, 2 * FOREIGN, run)
}
