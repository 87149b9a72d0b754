//! A database that answers one read at a time.

use std::pin::Pin;
use std::task::{Context, Waker};

use super::Life;

/// As many as the database has connections for reading.
const READERS: usize = 4;

/// Keeps the daemon from reading anything. While this is there a test must not read either; it may write.
pub struct HeldReads<'l> {
    life: &'l Life,
    /// Each has a connection, or is in line for one.
    held: Vec<Pin<Box<dyn Future<Output = ()>>>>,
}

impl Life {
    /// Keeps the daemon from reading, from now on.
    pub fn hold_reads(&self) -> HeldReads<'_> {
        let mut held = HeldReads { life: self, held: Vec::new() };
        (0..READERS).for_each(|_| held.hold());
        held.settle();
        held
    }
}

impl Drop for HeldReads<'_> {
    fn drop(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.life.wait("all reads are given up", async { drop(held) });
    }
}

impl HeldReads<'_> {
    /// Lets one read happen that waits, if any does.
    pub fn let_one_read(&mut self) {
        let first = self.held.remove(0);
        self.life.wait("a read is given up", async { drop(first) });
        // behind whoever waits
        self.hold();
        self.settle();
    }

    /// Has everything done that can be done without reading.
    pub fn settle(&self) {
        self.life.wait("all that can be done without reading", async {
            for _ in 0..3 {
                for _ in 0..40 {
                    tokio::task::yield_now().await;
                }
                tokio::task::spawn_blocking(|| ()).await.unwrap();
            }
        });
    }

    fn hold(&mut self) {
        let store = self.life.store().clone();
        let mut read = Box::pin(async move { drop(store.busy_workspaces().await) });
        self.life.wait("a read begins", async {
            // it is in line from now on, and takes no further step
            let _ = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        });
        self.held.push(read);
    }
}
