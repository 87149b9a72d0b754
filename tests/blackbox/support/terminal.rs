//! A person at a terminal: the command line with a pseudo-terminal as its input and output.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::wait_for;

/// Killed when dropped.
pub struct Terminal {
    keyboard: File,
    screen: Arc<Mutex<String>>,
    child: Child,
}

impl Terminal {
    pub fn start(mut command: Command) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).expect("a pseudo-terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it is ours");
        let name = ptsname(&ours, Vec::new()).expect("it has a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs: OwnedFd = rustix::fs::open(name, flags, Mode::empty()).expect("its other end");
        let another = || theirs.try_clone().expect("a descriptor");
        command.stdin(another()).stdout(another()).stderr(another()).env("TERM", "xterm");
        let child = command.spawn().expect("the binary starts");
        drop((command, theirs));
        let keyboard = File::from(ours);
        let screen = Arc::new(Mutex::new(String::new()));
        let mut display = keyboard.try_clone().expect("a descriptor");
        std::thread::spawn({
            let screen = Arc::clone(&screen);
            move || {
                let mut bytes = [0; 4096];
                // the end is an error: there is nobody at the other end any more
                while let Ok(read @ 1..) = display.read(&mut bytes) {
                    screen
                        .lock()
                        .expect("nobody panics with it")
                        .push_str(&String::from_utf8_lossy(&bytes[..read]));
                }
            }
        });
        Self { keyboard, screen, child }
    }

    /// Everything that was shown so far, with what was typed, and without colours.
    pub fn screen(&self) -> String {
        text::without_colours(&self.screen.lock().expect("nobody panics with it")).replace('\r', "")
    }

    /// Types, a control character as such.
    pub fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("the terminal is there");
    }

    /// Waits until this was shown so many times.
    pub async fn shows(&self, text: &str, times: usize) {
        let shown = async || (self.screen().matches(text).count() >= times).then_some(());
        let what = format!("{text:?} is shown");
        tokio::select! {
            () = wait_for(&what, shown) => {}
            () = tokio::time::sleep(super::PATIENCE / 2) => panic!("{text:?} is not shown:\n{}", self.screen()),
        }
    }

    pub async fn ends(&mut self) -> ExitStatus {
        wait_for("the command ends", async || self.child.try_wait().expect("it is ours")).await
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
