use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use client::{Client, NewRun, Run};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

pub(crate) const TOKEN: &str = "a-token-for-benchmarks";

/// A release daemon with a configuration of its own; stopped when dropped.
pub(crate) struct Daemon {
    child: Child,
    /// Removed with the daemon.
    _dir: TempDir,
    pub(crate) client: Client,
    pub(crate) address: String,
    /// From its start to its first answer.
    pub(crate) ready_after: Duration,
}

/// A workspace of the configuration.
pub(crate) struct Workspace<'a> {
    pub(crate) name: String,
    pub(crate) source: &'a Path,
    pub(crate) terraform: &'a Path,
}

impl Daemon {
    pub(crate) async fn start(
        dir: TempDir,
        slots: usize,
        workspaces: &[Workspace<'_>],
    ) -> anyhow::Result<Self> {
        Self::start_with("", dir, slots, workspaces).await
    }

    /// The same with more settings of the `server` block.
    pub(crate) async fn start_with(
        settings: &str,
        dir: TempDir,
        slots: usize,
        workspaces: &[Workspace<'_>],
    ) -> anyhow::Result<Self> {
        let digest = text::hex(&Sha256::digest(TOKEN));
        let mut config = format!(
            "server {{\n  listen = \"127.0.0.1:0\"\n  data_dir = \"./data\"\n  max_concurrent_runs = {slots}\n  {settings}\n}}\n\
             organization = \"bench\"\nuser \"owner\" {{\n  token_sha256 = \"{digest}\"\n}}\n\
             team \"owners\" {{\n  members = [\"owner\"]\n}}\n"
        );
        for Workspace { name, source, terraform } in workspaces {
            let _ = write!(
                config,
                "workspace {name:?} {{\n  terraform = {terraform:?}\n  source \"directory\" {{\n    path = {source:?}\n  }}\n}}\n"
            );
        }
        let file = dir.path().join("signalbox.hcl");
        std::fs::write(&file, config)?;
        let started = Instant::now();
        let mut child = Command::new(binary()?)
            .args(["--log-format", "json", "serve", "--config"])
            .arg(&file)
            .env("RUST_LOG", "info")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = child.stderr.take().context("its log is a pipe")?;
        let mut lines = BufReader::new(stderr).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| ready_at(&line))
            .context("the daemon did not become ready")?;
        // drained for as long as it writes
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let client = Client::new(&format!("http://{address}"), TOKEN)?;
        client.account().await?;
        let ready_after = started.elapsed();
        let daemon = Self { child, _dir: dir, client, address, ready_after };
        if let Some(last) = workspaces.last() {
            daemon.until(async || daemon.client.workspace(&last.name).await.ok()).await?;
        }
        Ok(daemon)
    }

    pub(crate) async fn queue(&self, workspace_id: &str, auto_apply: bool) -> anyhow::Result<Run> {
        let run = NewRun { auto_apply: Some(auto_apply), ..NewRun::default() };
        Ok(self.client.create_run(workspace_id, &run).await?)
    }

    /// Waits for a state by the stream of the run, so that nothing is lost to polling.
    pub(crate) async fn follow(&self, run: &Run, state: &str) -> anyhow::Result<Run> {
        use futures::StreamExt as _;
        let mut states = std::pin::pin!(self.client.follow_run(&run.id));
        while let Some(update) = states.next().await {
            if let client::Update::New(run) = update? {
                if run.state_name() == state {
                    return Ok(run);
                }
                ensure!(!run.is_final(), "the run ended as {} ({:?})", run.state_name(), run.error());
            }
        }
        anyhow::bail!("the run was never {state}")
    }

    pub(crate) async fn until<T>(&self, mut condition: impl AsyncFnMut() -> Option<T>) -> anyhow::Result<T> {
        let started = Instant::now();
        loop {
            if let Some(value) = condition().await {
                return Ok(value);
            }
            ensure!(started.elapsed() < Duration::from_secs(120), "waited two minutes in vain");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Time of a core that it has had so far, in all its threads.
    pub(crate) fn cpu_time(&self) -> anyhow::Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // behind the name, which may hold anything: state, and the 11th and 12th after that
        let fields: Vec<_> = stat.rsplit_once(')').context("no stat")?.1.split_whitespace().collect();
        let ticks = |at: usize| -> anyhow::Result<u64> { Ok(fields.get(at).context("no times")?.parse()?) };
        // a tick is 10 ms to every program, whatever the kernel's own are
        Ok(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
    }

    /// Resident memory in bytes.
    pub(crate) fn resident(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kib = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok())
            .context("no VmRSS")?;
        Ok(kib * 1024)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The release binary beside this one.
fn binary() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let binary = own.with_file_name("signalbox");
    ensure!(binary.exists(), "{} is missing: `just bench` builds it", binary.display());
    Ok(binary)
}

fn ready_at(line: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    let fields = event.get("fields")?;
    let is_ready = fields.get("message")?.as_str()?.ends_with("is ready");
    is_ready.then(|| fields.get("address")?.as_str().map(str::to_owned))?
}
