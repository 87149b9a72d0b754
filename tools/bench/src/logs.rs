//! How long a line of a log takes from the program that prints it to those who follow it.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use client::{Stage, Update};
use futures::StreamExt as _;

use crate::daemon::{Daemon, Workspace};
use crate::measure::{Rows, directory, spread};

const FOLLOWERS: usize = 100;
const LINES: usize = 200;
/// Before each time that a program prints, so that it is found among terraform's own words.
const MARK: &str = "printed-at-";

/// A program of a real apply prints the time, some twenty times a second.
pub(crate) async fn measure(rows: &mut Rows) -> anyhow::Result<()> {
    let dir = directory()?;
    let source = dir.path().join("source");
    std::fs::create_dir_all(&source)?;
    std::fs::write(
        source.join("main.tf"),
        format!(
            "resource \"terraform_data\" \"thing\" {{\n  provisioner \"local-exec\" {{\n    command = \
             \"for line in $(seq {LINES}); do date +{MARK}%s%N; sleep 0.05; done\"\n  }}\n}}\n"
        ),
    )?;
    let workspace = Workspace { name: "bench".into(), source: &source, terraform: Path::new("terraform") };
    let daemon = Daemon::start(dir, 2, &[workspace]).await?;
    let id = daemon.client.workspace("bench").await?.id.clone();
    let run = daemon.queue(&id, true).await?;
    let followers = (0..FOLLOWERS).map(|_| tokio::spawn(follow(daemon.client.clone(), run.id.clone())));
    let followers: Vec<_> = followers.collect();
    let (began, before) = (Instant::now(), daemon.cpu_time()?);
    daemon.follow(&run, "Applied").await?;
    let mut times = Vec::new();
    for follower in followers {
        let seen = follower.await??;
        ensure!(seen.len() == LINES, "a follower saw {} lines of {LINES}", seen.len());
        times.extend(seen);
    }
    let (took, busy) = (began.elapsed(), daemon.cpu_time()? - before);
    rows.push((
        format!("from a program's line to {FOLLOWERS} who follow the log (target p99 50 ms)"),
        spread(times),
    ));
    let share = 100.0 * busy.as_secs_f64() / took.as_secs_f64();
    rows.push(("  of a core, for the daemon, in the meantime".into(), format!("{share:.0} %")));
    Ok(())
}

/// How long each line took to come here.
async fn follow(client: client::Client, run: String) -> anyhow::Result<Vec<Duration>> {
    let mut log = client.follow_log(&run, Stage::Apply, 0);
    let (mut times, mut begun) = (Vec::new(), String::new());
    while let Some(update) = log.next().await {
        let Update::New(chunk) = update? else { continue };
        let now = SystemTime::now();
        begun.push_str(&String::from_utf8_lossy(&chunk.bytes));
        let whole = begun.rfind('\n').map_or(0, |end| end + 1);
        for line in begun[..whole].lines() {
            // what it quotes of its configuration has the mark as well
            let printed = line.rsplit_once(MARK).and_then(|(_, printed)| printed.trim().parse().ok());
            if let Some(printed) = printed {
                let printed = SystemTime::UNIX_EPOCH + Duration::from_nanos(printed);
                times.push(now.duration_since(printed).context("the clock went back")?);
            }
        }
        begun.drain(..whole);
    }
    Ok(times)
}
