//! The real binary as a process: started, killed, started again.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// The binary under test, built with fault injection.
const BUILT: &str = env!("CARGO_BIN_EXE_signalbox");

/// The binary: where cargo built it, or where a user may get at it who may not there.
pub fn binary() -> PathBuf {
    std::env::var_os("SIGNALBOX_TEST_BINARY").map_or_else(|| BUILT.into(), PathBuf::from)
}

/// The user of daemons that a test wants to have no rights: `nobody`.
const NOBODY: u32 = 65_534;

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
        Self::start_with(command(home), config)
    }

    /// The same with these variables in its environment.
    pub fn start_in(config: &Path, home: &Path, environment: &[(&str, &str)]) -> Self {
        let mut command = command(home);
        command.envs(environment.iter().copied());
        Self::start_with(command, config)
    }

    /// The same as an ordinary user, to whom all in the directory of the config file is given. Who runs the tests as one
    /// is that user already.
    pub fn start_as_nobody(config: &Path, home: &Path) -> Self {
        if !rustix::process::geteuid().is_root() {
            return Self::start(config, home);
        }
        let directory = config.parent().expect("it lies in a directory");
        let binary = directory.join("signalbox");
        // where that user may get at it
        if std::fs::hard_link(self::binary(), &binary).is_err() && !binary.exists() {
            std::fs::copy(self::binary(), &binary).expect("a copy");
        }
        let owner = format!("{NOBODY}:{NOBODY}");
        let given = Command::new("chown").args(["-R", &owner]).arg(directory).status();
        assert!(given.expect("chown is there").success());
        let mut command = with_environment(Command::new(binary), home);
        std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
        std::os::unix::process::CommandExt::gid(&mut command, NOBODY);
        Self::start_with(command, config)
    }

    fn start_with(mut command: Command, config: &Path) -> Self {
        let mut child = command
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
    with_environment(Command::new(binary()), home)
}

fn with_environment(mut command: Command, home: &Path) -> Command {
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
