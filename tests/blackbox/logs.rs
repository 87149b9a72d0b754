//! Following what terraform writes.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use client::{NewRun, Stage, Update};
use futures::StreamExt as _;
use sha2::{Digest as _, Sha256};

use crate::support::{Setup, terraform};

#[tokio::test]
async fn a_followed_log_resumes_after_the_daemon_s_death_without_a_lost_or_doubled_byte() {
    let setup = Setup::new();
    let gate = setup.gate("apply");
    let main = terraform::gated_apply(&gate)
        .replace(&gate.wait_command(), &format!("seq 1 20000; {}", gate.wait_command()));
    // the client's address must not change with the daemon
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut world = setup.server(&format!("listen = \"127.0.0.1:{port}\"")).workspace("net", &main).start();
    let run = world.queue_as("operator", "net", NewRun { auto_apply: Some(true), ..NewRun::default() }).await;
    let client = world.client("reader");
    let (id, follower) = (run.id.clone(), client.clone());
    let followed = tokio::spawn(async move {
        let mut bytes = Vec::new();
        let mut stream = std::pin::pin!(follower.follow_log(&id, Stage::Apply, 0));
        while let Some(update) = stream.next().await {
            if let Update::New(chunk) = update.unwrap() {
                assert_eq!(chunk.offset, bytes.len() as u64, "neither a gap nor a repetition");
                bytes.extend_from_slice(&chunk.bytes);
            }
        }
        bytes
    });
    gate.reached().await;
    world.kill_daemon();
    world.start_daemon();
    gate.open();
    let run = world.reaches(&run, "Applied").await;
    let followed = followed.await.unwrap();
    let whole = world.client("reader").log(&run, Stage::Apply).await.unwrap();
    assert_eq!(followed.len(), whole.len());
    assert!(followed == whole);
    assert!(String::from_utf8_lossy(&followed).contains("20000"));
}

#[tokio::test]
async fn a_log_is_read_in_pieces_and_its_end_mark_comes_last() {
    let setup = Setup::new();
    let gate = setup.gate("apply");
    let world = setup.workspace("net", &terraform::gated_apply(&gate)).start();
    let run = world.queue_as("operator", "net", NewRun { auto_apply: Some(true), ..NewRun::default() }).await;
    gate.reached().await;
    let run = world.run(&run).await;
    let apply = world.client("owner").apply(run.apply_id().unwrap()).await.unwrap();
    let url = &apply.log_read_url;
    let http = reqwest::Client::new();
    let read =
        async |query: &str| http.get(format!("{url}{query}")).send().await.unwrap().bytes().await.unwrap();
    let begin = read("?offset=0&limit=4").await;
    assert_eq!(begin[..], *b"\x02Ter");
    assert_ne!(read("").await.last(), Some(&3), "it is not over");
    gate.open();
    let run = world.reaches(&run, "Applied").await;
    let whole = read("").await;
    assert_eq!(whole.last(), Some(&3));
    assert_eq!(read(&format!("?offset={}&limit=100", whole.len())).await.len(), 0, "past the end");
    assert_eq!(world.log(&run, Stage::Apply).await.as_bytes(), &whole[1..whole.len() - 1]);
}

#[tokio::test]
async fn any_bytes_and_any_amount_of_them_are_kept_as_they_are() {
    let main = r#"
resource "terraform_data" "thing" {
  provisioner "local-exec" {
    command = "printf '\\033[31mred\\000nul\\n'; yes x | head -n 50000"
  }
}
"#;
    let world = Setup::new().workspace("net", main).start();
    let run = world.queue_as("operator", "net", NewRun { auto_apply: Some(true), ..NewRun::default() }).await;
    let run = world.reaches(&run, "Applied").await;
    let log = world.log(&run, Stage::Apply).await;
    assert!(log.contains("\u{1b}[31mred\0nul"));
    assert_eq!(log.lines().filter(|line| line.ends_with("x")).count(), 50_000);
}

#[tokio::test]
async fn the_daemon_s_own_log_says_of_which_run_and_stage_it_speaks_and_of_no_request_that_is_over() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    let log = world.daemon().log();
    let spans_of = |is_it: fn(&serde_json::Value) -> bool| {
        let events = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let event = events.into_iter().find(|event| is_it(&event["fields"])).expect("it is in the log");
        let spans = event["spans"].as_array().cloned().unwrap_or_default();
        spans.iter().map(|span| span["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(spans_of(|fields| fields["message"] == "start"), ["workspace"]);
    assert_eq!(spans_of(|fields| fields["message"] == "launched"), ["run", "stage"]);
    assert_eq!(spans_of(|fields| fields["message"] == "plan-ended"), ["run", "stage"]);
}

#[tokio::test]
async fn logs_and_plans_are_blobs_when_their_run_is_over_and_lie_nowhere_else() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue_as("operator", "net", NewRun { auto_apply: Some(true), ..NewRun::default() }).await;
    let run = world.reaches(&run, "Applied").await;
    let directory = world.data_dir().join("runs").join(&run.id);
    crate::support::wait_for("the run is cleaned up after", async || {
        (!directory.join("work").exists() && !directory.join("apply/log").exists()).then_some(())
    })
    .await;
    for stage in ["plan", "apply"] {
        let mut left: Vec<_> = std::fs::read_dir(directory.join(stage))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["claim.json", "lock", "result.json"], "{stage}");
    }
    for stage in [Stage::Plan, Stage::Apply] {
        let log = world.client("reader").log(&run, stage).await.unwrap();
        let digest =
            Sha256::digest(&log).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        let blob = world.data_dir().join("blobs").join(&digest[..2]).join(&digest);
        let metadata = std::fs::metadata(&blob).unwrap_or_else(|error| panic!("{}: {error}", blob.display()));
        assert_eq!((metadata.permissions().mode() & 0o777, metadata.nlink()), (0o600, 1));
        assert_eq!(std::fs::read(blob).unwrap(), log);
    }
    // a zip archive that terraform wrote: the plan itself
    let plans = std::process::Command::new("grep")
        .args(["-rl", "--binary-files=text", "tfplan"])
        .arg(world.data_dir().join("blobs"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(plans.stdout).unwrap().lines().count(), 1);
}

/// Terraform quotes the value, and the line of the file that it came from.
const REFUSED_SECRET: &str = r#"
variable "password" {
  type      = string
  sensitive = true
  validation {
    condition     = length(var.password) > 100
    error_message = "too short"
  }
}
"#;

#[tokio::test]
async fn a_sensitive_value_that_terraform_quotes_is_starred_out_of_the_log() {
    let world = Setup::new()
        .workspace_with("net", REFUSED_SECRET, |workspace| {
            workspace.with("sensitive_variables = {\n    password = \"hunter2-and-more\"\n  }")
        })
        .start();
    let run = world.queue("net").await;
    // read while it is written, as well as afterwards
    let mut followed = Vec::new();
    let mut updates = world.client("reader").follow_log(&run.id, Stage::Plan, 0);
    while let Some(update) = futures::StreamExt::next(&mut updates).await {
        if let client::Update::New(chunk) = update.expect("it can be followed") {
            followed.extend(chunk.bytes);
        }
    }
    world.reaches(&run, "Plan Errored").await;
    let log = world.log(&run, Stage::Plan).await;
    assert!(log.contains("too short") && log.contains("****************"), "{log}");
    assert_eq!(String::from_utf8_lossy(&followed), log, "whoever follows it sees the same");
    // what the run needed goes when it is over, and its log stays
    crate::support::wait_for("the value is nowhere any more", async || {
        let has_value = |file: &std::path::PathBuf| {
            std::fs::read(file).is_ok_and(|content| String::from_utf8_lossy(&content).contains("hunter2"))
        };
        let data = world.data_dir();
        let found =
            ["runs", "blobs"].iter().flat_map(|folder| walk(&data.join(folder))).any(|file| has_value(&file));
        (!found).then_some(())
    })
    .await;
}

/// Every file below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
