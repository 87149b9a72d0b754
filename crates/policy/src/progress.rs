//! What a long check is at, for whoever follows its log, and for whoever reads what is left of a check that was
//! canceled or ran out of memory.
//!
//! The log of a check starts with its result, so it is written when the check is over. A check that is over soon says
//! nothing before that.

use std::{
    io::Write,
    mem,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// How often a long check tells what it is at; one that is over by then has not been long.
const TICK: Duration = Duration::from_secs(2);

/// What happens in a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// Something begins, in words.
    Begins(String),
    /// It has ended, with what came of it.
    Ends(String),
}

/// Runs `work` and writes to `out`, line by line, what it is at, as soon as it takes long.
pub(crate) fn followed<T>(out: impl Write + Send, work: impl FnOnce(&dyn Fn(Event)) -> T) -> T {
    followed_at(TICK, out, work)
}

fn followed_at<T>(tick: Duration, out: impl Write + Send, work: impl FnOnce(&dyn Fn(Event)) -> T) -> T {
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        // without it the check goes on all the same
        let _ = thread::Builder::new().name("progress".into()).spawn_scoped(scope, move || {
            tell(tick, &receive, out);
        });
        let done = work(&|event| drop(send.send(event)));
        drop(send);
        done
    })
}

fn tell(tick: Duration, events: &mpsc::Receiver<Event>, mut out: impl Write) {
    let mut next = Instant::now() + tick;
    let mut lines = Vec::new();
    let mut begun: Option<String> = None;
    let mut has_told = false;
    loop {
        match events.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok(Event::Begins(what)) => begun = Some(what),
            Ok(Event::Ends(result)) => {
                begun = None;
                lines.push(result);
            }
            Err(RecvTimeoutError::Timeout) => {
                lines.extend(begun.take().map(|what| format!("{what} …")));
                for line in mem::take(&mut lines) {
                    // the result counts, its origin does not matter
                    let _ = writeln!(out, "{line}");
                    has_told = true;
                }
                let _ = out.flush();
                next = Instant::now() + tick;
            }
            Err(RecvTimeoutError::Disconnected) => {
                if has_told {
                    let _ = writeln!(out);
                }
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Shared {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }

        fn wait_for(&self, text: &str) {
            while !self.text().ends_with(text) {
                thread::yield_now();
            }
        }
    }

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_check_that_takes_long_says_what_has_ended_and_what_it_is_at() {
        let out = Shared::default();
        followed_at(Duration::from_millis(1), out.clone(), |tell| {
            tell(Event::Begins("one".into()));
            tell(Event::Ends("one: true".into()));
            tell(Event::Begins("two".into()));
            out.wait_for("two …\n");
            tell(Event::Ends("two: false".into()));
            out.wait_for("two: false\n");
        });
        assert!(out.text().contains("one: true\n"), "{}", out.text());
        assert_eq!(out.text().matches("two …").count(), 1);
        assert!(out.text().ends_with("two: false\n\n"), "the log follows after a blank line");
    }

    #[test]
    fn a_check_that_is_over_soon_says_nothing() {
        let out = Shared::default();
        let answer = followed(out.clone(), |tell| {
            tell(Event::Begins("one".into()));
            tell(Event::Ends("one: true".into()));
            7
        });
        assert_eq!((answer, out.text()), (7, String::new()));
    }
}
