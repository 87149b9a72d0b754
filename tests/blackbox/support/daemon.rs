//! The real binary as a process: started, killed, started again.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// The binary under test, built with fault injection.
pub const BINARY: &str = env!("CARGO_BIN_EXE_signalbox");

/// A daemon that runs. Killed when dropped.
pub struct Daemon {
    child: Child,
    log: Arc<Mutex<String>>,
    reading: Arc<AtomicBool>,
    /// `http://127.0.0.1:PORT`.
    pub address: String,
}

impl Daemon {
    /// Starts a daemon on the config file, and waits until it says that it is ready.
    pub fn start(config: &Path, home: &Path) -> Self {
        let mut child = command(home)
            .args(["serve", "--log-format", "json", "--config"])
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stderr = child.stderr.take().expect("its log is a pipe");
        let log = Arc::new(Mutex::new(String::new()));
        let reading = Arc::new(AtomicBool::new(true));
        let (ready, is_ready) = std::sync::mpsc::channel();
        std::thread::spawn({
            let (log, reading) = (log.clone(), reading.clone());
            move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    if let Some(address) = ready_at(&line) {
                        let _ = ready.send(address);
                    }
                    let mut log = log.lock().expect("nobody panics with the log");
                    log.push_str(&line);
                    log.push('\n');
                    if !reading.load(Ordering::Relaxed) {
                        return;
                    }
                }
            }
        });
        match is_ready.recv_timeout(Duration::from_secs(30)) {
            Ok(address) => Self { child, log, reading, address: format!("http://{address}") },
            Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the daemon is not ready:\n{}", log.lock().expect("nobody panics with the log"));
            }
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has logged so far, one JSON object a line.
    pub fn log(&self) -> String {
        self.log.lock().expect("nobody panics with the log").clone()
    }

    /// Closes the other end of its log, as soon as it has written a further line.
    pub fn close_log(&self) {
        self.reading.store(false, Ordering::Relaxed);
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().expect("it is alive");
        self.child.wait().expect("it is ours");
    }

    /// Asks it to stop, and waits until it has.
    pub fn stop(mut self) -> std::process::ExitStatus {
        self.signal(Signal::TERM);
        self.child.wait().expect("it is ours")
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is alive");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the daemon's log ---\n{}", self.log());
        }
    }
}

/// The binary with an environment that is known: what the machine's has must not reach terraform.
pub fn command(home: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("RUST_LOG", "info")
        // what a daemon must not hand on
        .env("TF_CLI_ARGS_plan", "-destroy")
        .env("TF_WORKSPACE", "elsewhere")
        .env("TF_CLI_CONFIG_FILE", "/nowhere/terraformrc")
        .env("DAEMON_SECRET", "not for terraform");
    command
}

fn ready_at(line: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    let fields = event.get("fields")?;
    let is_ready = fields.get("message")?.as_str()?.ends_with("is ready");
    is_ready.then(|| fields.get("address")?.as_str().map(str::to_owned))?
}
