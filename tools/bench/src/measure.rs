use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use client::RunAction;

use crate::daemon::{Daemon, Workspace};
use crate::standin;

/// A line of the table: what, and how much.
pub(crate) type Rows = Vec<(String, String)>;

/// So many resources, each of which every plan changes.
fn main_tf(resources: usize) -> String {
    format!("resource \"terraform_data\" \"thing\" {{\n  count = {resources}\n  input = timestamp()\n}}\n")
}

pub(crate) fn directory() -> anyhow::Result<tempfile::TempDir> {
    Ok(tempfile::Builder::new().prefix("signalbox-bench-").tempdir()?)
}

pub(crate) fn source(dir: &Path, resources: usize) -> anyhow::Result<PathBuf> {
    let source = dir.join("source");
    std::fs::create_dir_all(&source)?;
    std::fs::write(source.join("main.tf"), main_tf(resources))?;
    Ok(source)
}

pub(crate) fn median(times: Vec<Duration>) -> Duration {
    quantile(times, 0.5)
}

pub(crate) fn quantile(mut times: Vec<Duration>, part: f64) -> Duration {
    times.sort();
    times[((times.len() - 1) as f64 * part).round() as usize]
}

/// The median, and what all but one of a hundred stay within.
pub(crate) fn spread(times: Vec<Duration>) -> String {
    let of = times.len();
    let (half, most) = (quantile(times.clone(), 0.5), quantile(times, 0.99));
    format!("{}, p99 {} (of {of})", milliseconds(half), milliseconds(most))
}

pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// A whole run through the daemon against the same terraform commands in a shell, alternately; with one resource, which
/// is the least that terraform can do, and with as many as a workspace may well have.
pub(crate) async fn overhead(rows: &mut Rows) -> anyhow::Result<()> {
    for resources in [1, 300] {
        overhead_with(resources, rows).await?;
    }
    Ok(())
}

async fn overhead_with(resources: usize, rows: &mut Rows) -> anyhow::Result<()> {
    const ROUNDS: usize = 15;
    let dir = directory()?;
    let source = source(dir.path(), resources)?;
    let shell_dir = dir.path().join("shell");
    let mut through = Vec::new();
    let key = seal::Key::generate()?;
    let encrypted = format!("encryption_key = {key:?}");
    for settings in ["isolation = \"on\"", "isolation = \"off\"", &encrypted] {
        let workspace =
            Workspace { name: "bench".into(), source: &source, terraform: Path::new("terraform") };
        let daemon = Daemon::start_with(settings, directory()?, 2, &[workspace]).await?;
        let id = daemon.client.workspace("bench").await?.resource.id;
        through.push((daemon, id, Vec::new()));
    }
    let mut without = Vec::new();
    for round in 0..=ROUNDS {
        for (daemon, id, times) in &mut through {
            let started = Instant::now();
            let run = daemon.queue(id, true).await?;
            daemon.follow(&run, "Applied").await?;
            // the first round warms all
            if round > 0 {
                times.push(started.elapsed());
            }
        }
        let in_shell = shell_run(&source, &shell_dir)?;
        if round > 0 {
            without.push(in_shell);
        }
    }
    let without = median(without);
    let of = text::count(resources, "resource");
    let names = [
        format!("a run through the daemon, {of} (median of {ROUNDS})"),
        "  without isolation".into(),
        "  with isolation and encryption".into(),
    ];
    for (name, (_, _, times)) in names.into_iter().zip(through) {
        let with = median(times);
        rows.push((name, milliseconds(with)));
        let ratio = with.as_secs_f64() / without.as_secs_f64();
        rows.push(("  ratio (target 1.10)".into(), format!("{ratio:.3}")));
    }
    rows.push(("  the same terraform commands in a shell".into(), milliseconds(without)));
    Ok(())
}

/// init, plan, show -json and apply in a fresh directory, with the state of the last round.
fn shell_run(source: &Path, dir: &Path) -> anyhow::Result<Duration> {
    let state = std::fs::read(dir.join("terraform.tfstate")).ok();
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(dir)?;
    std::fs::copy(source.join("main.tf"), dir.join("main.tf"))?;
    if let Some(state) = state {
        std::fs::write(dir.join("terraform.tfstate"), state)?;
    }
    let started = Instant::now();
    let done = Command::new("/bin/sh")
        .arg("-ec")
        .arg(
            "terraform init -input=false; terraform plan -input=false -detailed-exitcode -out=plan || [ $? = 2 ]; \
             terraform show -json plan > plan.json; terraform apply -input=false plan",
        )
        .current_dir(dir)
        .env_remove("TF_CLI_CONFIG_FILE")
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_IN_AUTOMATION", "1")
        .stdout(Stdio::null())
        .status()?;
    ensure!(done.success(), "terraform in the shell failed");
    Ok(started.elapsed())
}

/// From the request that confirms a plan to the first instruction of its apply.
pub(crate) async fn confirm_latency(rows: &mut Rows) -> anyhow::Result<()> {
    const ROUNDS: usize = 30;
    let dir = directory()?;
    let source = source(dir.path(), 1)?;
    let note = dir.path().join("note");
    let terraform = standin::noting(dir.path(), &note)?;
    let daemon =
        Daemon::start(dir, 2, &[Workspace { name: "bench".into(), source: &source, terraform: &terraform }])
            .await?;
    let id = daemon.client.workspace("bench").await?.resource.id;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let run = daemon.queue(&id, false).await?;
        daemon.follow(&run, "Needs Confirmation").await?;
        let confirmed = SystemTime::now();
        daemon.client.act_on_run(&run.id, RunAction::Apply, None).await?;
        daemon.follow(&run, "Applied").await?;
        let began: u64 = std::fs::read_to_string(&note)?.trim().parse()?;
        let began = SystemTime::UNIX_EPOCH + Duration::from_nanos(began);
        times.push(began.duration_since(confirmed).context("the clock went back")?);
    }
    rows.push((format!("from confirm to exec (median of {ROUNDS})"), milliseconds(median(times))));
    Ok(())
}

/// Runs per second when terraform takes no time, over many workspaces at once.
pub(crate) async fn throughput(rows: &mut Rows) -> anyhow::Result<()> {
    const WORKSPACES: usize = 50;
    const RUNS_EACH: usize = 6;
    let dir = directory()?;
    let source = source(dir.path(), 1)?;
    let terraform = standin::at_once(dir.path())?;
    let workspaces: Vec<_> = (0..WORKSPACES)
        .map(|n| Workspace { name: format!("bench-{n}"), source: &source, terraform: &terraform })
        .collect();
    let daemon = Daemon::start(dir, 8, &workspaces).await?;
    let mut ids = Vec::new();
    for workspace in daemon.client.all_workspaces().await? {
        ids.push(workspace.resource.id);
    }
    let started = Instant::now();
    let mut last = Vec::new();
    for round in 0..RUNS_EACH {
        for id in &ids {
            let run = daemon.queue(id, false).await?;
            if round + 1 == RUNS_EACH {
                last.push(run);
            }
        }
    }
    for run in &last {
        daemon.until(async || daemon.client.run(&run.id).await.ok().filter(client::Run::is_final)).await?;
    }
    let per_second = (WORKSPACES * RUNS_EACH) as f64 / started.elapsed().as_secs_f64();
    rows.push((format!("runs per second over {WORKSPACES} workspaces"), format!("{per_second:.1}")));
    Ok(())
}

/// Resident memory at rest.
pub(crate) async fn resident_memory(rows: &mut Rows) -> anyhow::Result<()> {
    let mut resident = Vec::new();
    for count in [1_usize, 1_000, 10_000] {
        let dir = directory()?;
        let source = source(dir.path(), 1)?;
        let workspaces: Vec<_> = (0..count)
            .map(|n| Workspace {
                name: format!("bench-{n}"),
                source: &source,
                terraform: Path::new("terraform"),
            })
            .collect();
        let daemon = Daemon::start(dir, 2, &workspaces).await?;
        // two rounds of the reconciler
        tokio::time::sleep(Duration::from_secs(5)).await;
        let bytes = daemon.resident()?;
        let mib = bytes as f64 / f64::from(1 << 20);
        let workspaces = text::count(count, "workspace");
        rows.push((format!("resident memory with {workspaces}"), format!("{mib:.1} MiB")));
        resident.push((count, bytes));
    }
    if let [(few, before), .., (many, after)] = resident[..] {
        let each = after.saturating_sub(before) / (many - few) as u64;
        rows.push(("  bytes for each idle workspace (target 3,000)".into(), each.to_string()));
    }
    Ok(())
}
