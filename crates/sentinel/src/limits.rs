//! Limits: policies are tenants' code, so their steps, depth, memory and time are bounded. A policy
//! that meets a limit ends as an error, never as passed.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::{Error, Limit};
use crate::stack;
use crate::value::{Key, cell};

/// How much one evaluation of one policy may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Evaluation steps: about one for each operator, call or element looked at.
    pub steps: u64,
    /// Nested calls of functions and rules.
    pub depth: u32,
    /// Bytes that the policy makes. Values count as they are made and are never given back, so that what
    /// is in use is always less; what calls and loops need for themselves is given back at their end.
    pub memory: u64,
    /// Time from start to end.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 200_000_000, depth: 2_000, memory: 256 << 20, time: Duration::from_secs(60) }
    }
}

/// Bytes that are compared, searched or copied in a step, and those that are read in one.
const SCANNED: usize = 64;
const READ: usize = 16;

/// How many keys a key is compared with until it is found.
const COMPARED: usize = 16;

/// What a string takes beside its bytes.
const STRING: usize = 16;

/// Steps between two looks at the clock.
const CHUNK: u64 = 4096;

/// What one evaluation has used so far.
pub(crate) struct Meter {
    /// Steps left until the clock is looked at.
    chunk: Cell<u64>,
    steps_left: Cell<u64>,
    memory_left: Cell<u64>,
    depth: Cell<u32>,
    deadline: Option<Instant>,
    /// The lists and maps that were there before.
    handles: usize,
    limits: Limits,
}

impl Meter {
    pub(crate) fn new(limits: Limits) -> Meter {
        let chunk = CHUNK.min(limits.steps);
        Meter {
            chunk: Cell::new(chunk),
            steps_left: Cell::new(limits.steps - chunk),
            memory_left: Cell::new(limits.memory),
            depth: Cell::new(0),
            deadline: Instant::now().checked_add(limits.time),
            handles: cell::live(),
            limits,
        }
    }

    /// Counts one step.
    #[inline]
    pub(crate) fn step(&self) -> Result<(), Error> {
        match self.chunk.get() {
            0 => self.next_chunk(1),
            left => {
                self.chunk.set(left - 1);
                Ok(())
            }
        }
    }

    /// Counts the steps of work whose size is known.
    pub(crate) fn steps(&self, count: usize) -> Result<(), Error> {
        let count = count as u64;
        match self.chunk.get().checked_sub(count) {
            Some(left) => {
                self.chunk.set(left);
                Ok(())
            }
            None => self.next_chunk(count),
        }
    }

    #[cold]
    fn next_chunk(&self, need: u64) -> Result<(), Error> {
        let available = self.chunk.get() + self.steps_left.get();
        let Some(rest) = available.checked_sub(need) else {
            self.chunk.set(0);
            self.steps_left.set(0);
            return Err(Error::limit(
                Limit::Steps,
                format!("the policy took more than {} steps", self.limits.steps),
            ));
        };
        let chunk = CHUNK.min(rest);
        self.chunk.set(chunk);
        self.steps_left.set(rest - chunk);
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::limit(
                Limit::Time,
                format!("the policy ran longer than {} seconds", self.limits.time.as_secs_f64()),
            ));
        }
        let handles = cell::live().saturating_sub(self.handles);
        self.room(handles.saturating_mul(cell::HANDLE))
    }

    /// Counts a look at bytes as fast as memory gives them: comparing, searching, copying.
    #[inline]
    pub(crate) fn scan(&self, bytes: usize) -> Result<(), Error> {
        match bytes / SCANNED {
            0 => Ok(()),
            steps => self.steps(steps),
        }
    }

    /// Counts a look at text character by character.
    pub(crate) fn read(&self, bytes: usize) -> Result<(), Error> {
        self.steps(bytes / READ)
    }

    /// Counts a look for a key in a map: it is compared with the keys on the way to its place.
    #[inline]
    pub(crate) fn look_up(&self, key: &Key) -> Result<(), Error> {
        match key {
            Key::Str(name) => self.scan(name.len().saturating_mul(COMPARED)),
            _ => Ok(()),
        }
    }

    /// Counts a string that is about to be made.
    pub(crate) fn text(&self, length: usize) -> Result<(), Error> {
        self.texts(1, length)
    }

    /// Counts strings that are about to be made, with their length together.
    pub(crate) fn texts(&self, count: usize, length: usize) -> Result<(), Error> {
        self.scan(length)?;
        self.alloc(count.saturating_mul(STRING).saturating_add(length))
    }

    /// Counts elements that are about to be made, each of so many bytes.
    pub(crate) fn items(&self, count: usize, size: usize) -> Result<(), Error> {
        self.steps(count)?;
        self.alloc(count.saturating_mul(size))
    }

    /// Whether so many bytes may be made: for what is gone again at the end of an operation.
    pub(crate) fn room(&self, bytes: usize) -> Result<(), Error> {
        match bytes as u64 <= self.memory_left.get() {
            true => Ok(()),
            false => Err(self.out_of_memory()),
        }
    }

    /// Goes a level deeper on the stack, which counts as memory while it has to be made larger.
    pub(crate) fn deeper<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        if !stack::is_short() {
            return run();
        }
        self.alloc(stack::SEGMENT)?;
        let result = stack::grow(run);
        self.free(stack::SEGMENT);
        result
    }

    /// Counts bytes that are about to be made.
    pub(crate) fn alloc(&self, bytes: usize) -> Result<(), Error> {
        match self.memory_left.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.memory_left.set(left);
                Ok(())
            }
            None => Err(self.out_of_memory()),
        }
    }

    #[cold]
    fn out_of_memory(&self) -> Error {
        Error::limit(
            Limit::Memory,
            format!("the policy made more than {} bytes of values", self.limits.memory),
        )
    }

    /// Gives back what was counted for something that is gone now.
    pub(crate) fn free(&self, bytes: usize) {
        self.memory_left.set(self.memory_left.get().saturating_add(bytes as u64));
    }

    /// Goes one call deeper.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        let depth = self.depth.get() + 1;
        if depth > self.limits.depth {
            return Err(Error::limit(
                Limit::Depth,
                format!("calls are nested more than {} deep", self.limits.depth),
            ));
        }
        self.depth.set(depth);
        Ok(())
    }

    /// Comes back from a call.
    pub(crate) fn leave(&self) {
        self.depth.set(self.depth.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_allowed_steps_may_be_taken() {
        let meter = Meter::new(Limits { steps: 10_000, ..Limits::default() });
        for _ in 0..10_000 {
            meter.step().unwrap();
        }
        assert!(meter.step().is_err());
    }

    #[test]
    fn work_of_known_size_counts_as_that_many_steps() {
        let meter = Meter::new(Limits { steps: 10_000, ..Limits::default() });
        meter.steps(9_999).unwrap();
        meter.step().unwrap();
        assert!(meter.steps(1).is_err());
    }
}
