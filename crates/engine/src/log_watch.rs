//! Tells whoever follows a log that it may have grown, as soon as something was written to it.
//!
//! The processes of a stage write straight into the file, so it is the kernel that says when: one inotify instance
//! for all logs, with one watch for each directory that has a log somebody follows. What is written in quick
//! succession is told once, and a follower that is busy finds one note waiting however much has happened: nothing here
//! grows with what is written.
//!
//! Events are hints. Where the kernel has none (no instance or watch is left, or another machine writes the file) or
//! loses some, each follower looks by itself once a second.

use std::collections::{HashMap, HashSet};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How often a follower looks without having been told to.
const POLL: Duration = Duration::from_secs(1);
/// Between two readings of events. A process that writes line by line would otherwise wake every follower for each of
/// its lines; the kernel makes one event of equal ones that wait.
const REST: Duration = Duration::from_millis(10);

/// The logs that somebody follows.
pub(crate) struct LogWatch {
    /// `None`: the kernel has none for us.
    events: Option<Arc<Events>>,
    poll: Duration,
    reader: Option<AbortHandle>,
}

struct Events {
    inotify: OwnedFd,
    /// By the number of their watch; the kernel gives no number twice.
    directories: Mutex<HashMap<i32, watch::Sender<()>>>,
    complaint: Once,
}

impl LogWatch {
    /// Has to be called within a runtime.
    pub(crate) fn new() -> Self {
        Self::with_events(POLL).unwrap_or_else(|error| {
            tracing::warn!(%error, "inotify can't be used: whoever follows a log sees it grow once a second");
            Self::without_events(POLL)
        })
    }

    fn with_events(poll: Duration) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe for the sake of types that lie about their descriptor"
        )]
        let ready = AsyncFd::with_interest(inotify.try_clone()?, Interest::READABLE)?;
        let events = Events { inotify, directories: Mutex::default(), complaint: Once::new() };
        let events = Arc::new(events);
        let reader = tokio::spawn(read_events(ready, events.clone())).abort_handle();
        Ok(Self { events: Some(events), poll, reader: Some(reader) })
    }

    fn without_events(poll: Duration) -> Self {
        Self { events: None, poll, reader: None }
    }

    /// Follows the log at `path`. It does not have to be there yet, nor its directories below `top`.
    pub(crate) fn tail(&self, top: &Path, path: &Path) -> LogTail {
        let mut poll = interval_at(Instant::now() + self.poll, self.poll);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let directories = path.ancestors().skip(1).take_while(|directory| directory.starts_with(top));
        let directories = directories.map(Path::to_owned).collect();
        let mut tail = LogTail { events: self.events.clone(), directories, watched: None, poll };
        tail.settle();
        tail
    }
}

impl Drop for LogWatch {
    fn drop(&mut self) {
        if let Some(reader) = &self.reader {
            reader.abort();
        }
    }
}

/// Passes events on until that can't be done any more, from when on followers look by themselves.
async fn read_events(ready: AsyncFd<OwnedFd>, events: Arc<Events>) {
    loop {
        match ready.readable().await {
            Ok(mut guard) => match events.read() {
                Ok(()) => guard.clear_ready(),
                Err(error) => return tracing::warn!(%error, "events of logs can't be read any more"),
            },
            Err(error) => return tracing::warn!(%error, "events of logs can't be waited for any more"),
        }
        tokio::time::sleep(REST).await;
    }
}

impl Events {
    /// A panic leaves nothing half changed in them.
    fn directories(&self) -> MutexGuard<'_, HashMap<i32, watch::Sender<()>>> {
        self.directories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if the directory is not there, or can't be watched.
    fn watch(self: &Arc<Self>, directory: &Path, depth: usize) -> Option<Watched> {
        // outside of the log's own directory only names matter, and what runs may have put anything in its place
        let mut flags =
            WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
        flags.set(WatchFlags::MODIFY, depth == 0);
        let mut directories = self.directories();
        match inotify::add_watch(&self.inotify, directory, flags) {
            Ok(number) => {
                let changes = directories.entry(number).or_default().subscribe();
                Some(Watched { events: self.clone(), depth, number, changes })
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
            Err(error) => {
                self.complaint.call_once(|| {
                    let directory = directory.display();
                    tracing::warn!(
                        %directory, %error,
                        "logs can't be watched: whoever follows one sees it grow once a second \
                         (is fs.inotify.max_user_watches too low?)"
                    );
                });
                None
            }
        }
    }

    /// Reads all that wait, and tells each directory's followers once.
    fn read(&self) -> io::Result<()> {
        let mut buffer = [MaybeUninit::uninit(); 8192];
        let mut reader = inotify::Reader::new(&self.inotify, &mut buffer);
        let (mut changed, mut gone, mut lost) = (HashSet::new(), HashSet::new(), false);
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => lost = true,
                Ok(event) if event.events().contains(ReadFlags::IGNORED) => _ = gone.insert(event.wd()),
                Ok(event) => _ = changed.insert(event.wd()),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut directories = self.directories();
        // its followers learn of it by that
        directories.retain(|number, _| !gone.contains(number));
        for (_, followers) in directories.iter().filter(|(number, _)| lost || changed.contains(*number)) {
            followers.send_replace(());
        }
        Ok(())
    }
}

/// A follower of one log.
pub struct LogTail {
    events: Option<Arc<Events>>,
    /// That of the log, and those above it.
    directories: Vec<PathBuf>,
    /// The innermost of them that is there.
    watched: Option<Watched>,
    poll: Interval,
}

struct Watched {
    events: Arc<Events>,
    /// How far outside of the log's own directory.
    depth: usize,
    number: i32,
    changes: watch::Receiver<()>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut directories = self.events.directories();
        // the last of its followers is this one
        if directories.get(&self.number).is_some_and(|followers| followers.receiver_count() <= 1) {
            directories.remove(&self.number);
            // fails when the directory itself has gone, which has ended the watch as well
            let _ = inotify::remove_watch(&self.events.inotify, self.number);
        }
    }
}

impl LogTail {
    /// Waits until the log may have grown, or come to be, since this returned last or was made; so whoever reads it
    /// after each call misses nothing. Can be dropped and called again.
    pub async fn grown(&mut self) {
        loop {
            let before = self.depth();
            let polled = match &mut self.watched {
                None => {
                    self.poll.tick().await;
                    true
                }
                Some(watched) => tokio::select! {
                    changed = watched.changes.changed() => {
                        if changed.is_err() {
                            self.watched = None;
                        }
                        false
                    }
                    _ = self.poll.tick() => true,
                },
            };
            self.settle();
            // something beside the directories that are waited for
            let nothing = before == self.depth() && before.is_some_and(|depth| depth > 0);
            if polled || !nothing {
                return;
            }
        }
    }

    fn depth(&self) -> Option<usize> {
        self.watched.as_ref().map(|watched| watched.depth)
    }

    /// Watches the log's directory, or as long as that is not there the innermost one that is.
    fn settle(&mut self) {
        if self.depth() == Some(0) {
            return;
        }
        let found = (0..self.directories.len()).find_map(|depth| self.watch(depth));
        if let Some(found) = found {
            let mut depth = found.depth;
            self.watched = Some(found);
            // the next one may have come just before this was watched
            while depth > 0
                && let Some(inner) = self.watch(depth - 1)
            {
                depth = inner.depth;
                self.watched = Some(inner);
            }
        }
    }

    fn watch(&self, depth: usize) -> Option<Watched> {
        self.events.as_ref()?.watch(&self.directories[depth], depth)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    /// Beyond the end of any test.
    const NEVER: Duration = Duration::from_secs(86_400);

    struct Logs {
        folder: tempfile::TempDir,
        watch: LogWatch,
    }

    impl Logs {
        fn with_events() -> Self {
            Self::new(LogWatch::with_events(NEVER).unwrap())
        }

        fn new(watch: LogWatch) -> Self {
            Self { folder: tempfile::tempdir().unwrap(), watch }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("runs/run-1/plan/log")
        }

        fn tail(&self) -> LogTail {
            self.watch.tail(self.folder.path(), &self.path())
        }

        fn create_directory(&self) {
            fs::create_dir_all(self.path().parent().unwrap()).unwrap();
        }

        fn append(&self, bytes: &str) {
            let mut log = fs::OpenOptions::new().append(true).create(true).open(self.path()).unwrap();
            log.write_all(bytes.as_bytes()).unwrap();
        }

        /// Waits as a follower does until the log has this text.
        async fn has(&self, tail: &mut LogTail, text: &str) {
            let seen = async {
                while fs::read_to_string(self.path()).unwrap_or_default() != text {
                    tail.grown().await;
                }
            };
            tokio::time::timeout(Duration::from_secs(30), seen).await.expect("an event of what was written");
        }

        fn watches(&self) -> usize {
            self.watch.events.as_ref().unwrap().directories().len()
        }
    }

    #[tokio::test]
    async fn what_is_written_is_told_without_a_poll() {
        let logs = Logs::with_events();
        logs.create_directory();
        let mut tail = logs.tail();
        for text in ["a", "ab", "abc"] {
            logs.append(&text[text.len() - 1..]);
            logs.has(&mut tail, text).await;
        }
    }

    #[tokio::test]
    async fn a_log_whose_directories_come_later_is_found_without_a_poll() {
        let logs = Logs::with_events();
        let mut tail = logs.tail();
        let writer = async {
            let mut path = logs.folder.path().to_owned();
            for name in ["runs", "run-1", "plan"] {
                path.push(name);
                fs::create_dir(&path).unwrap();
                // something beside it wakes nobody for good
                fs::write(path.with_extension("other"), "x").unwrap();
                tokio::task::yield_now().await;
            }
            logs.append("late");
        };
        tokio::join!(logs.has(&mut tail, "late"), writer);
    }

    #[tokio::test]
    async fn a_directory_that_is_removed_and_comes_again_is_watched_again() {
        let logs = Logs::with_events();
        logs.create_directory();
        let mut tail = logs.tail();
        logs.append("first");
        logs.has(&mut tail, "first").await;
        fs::remove_dir_all(logs.folder.path().join("runs")).unwrap();
        logs.has(&mut tail, "").await;
        logs.create_directory();
        logs.append("second");
        logs.has(&mut tail, "second").await;
    }

    #[tokio::test]
    async fn all_who_follow_a_log_share_a_watch_that_ends_with_the_last() {
        let logs = Logs::with_events();
        logs.create_directory();
        let mut tails: Vec<_> = (0..100).map(|_| logs.tail()).collect();
        assert_eq!(logs.watches(), 1);
        logs.append("x");
        for tail in &mut tails {
            logs.has(tail, "x").await;
        }
        let last = tails.pop();
        drop(tails);
        assert_eq!(logs.watches(), 1);
        drop(last);
        assert_eq!(logs.watches(), 0);
    }

    #[tokio::test]
    async fn a_link_in_place_of_the_directory_is_not_followed() {
        let logs = Logs::with_events();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir_all(logs.folder.path().join("runs/run-1")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), logs.path().parent().unwrap()).unwrap();
        assert_eq!(logs.tail().depth(), Some(1));
    }

    #[tokio::test(start_paused = true)]
    async fn without_events_a_follower_looks_by_itself() {
        let logs = Logs::new(LogWatch::without_events(POLL));
        let mut tail = logs.tail();
        logs.create_directory();
        logs.append("x");
        let begin = Instant::now();
        logs.has(&mut tail, "x").await;
        tail.grown().await;
        logs.append("y");
        logs.has(&mut tail, "xy").await;
        assert!(begin.elapsed() <= 3 * POLL);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_event_costs_no_more_than_a_poll() {
        let logs = Logs::new(LogWatch::with_events(POLL).unwrap());
        logs.create_directory();
        // nobody reads events any more
        logs.watch.reader.as_ref().unwrap().abort();
        let mut tail = logs.tail();
        tail.grown().await;
        logs.append("x");
        logs.has(&mut tail, "x").await;
    }
}
