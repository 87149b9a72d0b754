//! How the daemon is seen from outside: by Prometheus, and by systemd.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Daemon, Setup, auto_apply, terraform, wait_for};

/// The value of a metric with these labels.
fn value(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[tokio::test]
async fn what_the_daemon_does_is_measured_and_read_at_an_address_of_its_own() {
    let setup = Setup::new().server("metrics_listen = \"127.0.0.1:0\"");
    let gate = setup.gate("apply");
    let world =
        setup.workspace("net", terraform::SIMPLE).workspace("held", &terraform::gated_apply(&gate)).start();
    let served = wait_for("the address is told", async || {
        let log = world.daemon().log();
        let line = log.lines().find(|line| line.contains("metrics are served"))?.to_owned();
        let event: serde_json::Value = serde_json::from_str(&line).ok()?;
        event["fields"]["address"].as_str().map(|address| format!("http://{address}/metrics"))
    })
    .await;
    let read = async || reqwest::get(&served).await.unwrap().text().await.unwrap();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    let held = world.queue_as("operator", "held", auto_apply()).await;
    gate.reached().await;
    for _ in 0..2 {
        world.queue("held").await;
    }
    let text = read().await;
    for (name, expected) in [
        ("signalbox_runs_ended_total{state=\"Applied\"}", 1.0),
        ("signalbox_stage_seconds_count{stage=\"plan\"}", 2.0),
        ("signalbox_stage_seconds_count{stage=\"apply\"}", 1.0),
        ("signalbox_runs{state=\"Pending\"}", 2.0),
        ("signalbox_runs{state=\"Applying\"}", 1.0),
        ("signalbox_queue_length{workspace=\"held\"}", 2.0),
        ("signalbox_executions{as=\"executing\"}", 1.0),
        ("signalbox_workspaces", 2.0),
    ] {
        assert_eq!(value(&text, name), Some(expected), "{name} in:\n{text}");
    }
    for name in [
        "signalbox_store_write_seconds_count",
        "signalbox_free_bytes",
        "signalbox_log_bytes_total{stage=\"plan\"}",
    ] {
        assert!(value(&text, name).is_some_and(|value| value > 0.0), "{name} in:\n{text}");
    }
    assert!(value(&text, "signalbox_queue_age_seconds{workspace=\"held\"}").is_some());
    // what is read there is nothing that a token keeps
    for secret in [run.id.as_str(), "operator", "terraform_data"] {
        assert!(!text.contains(secret), "{secret} is in:\n{text}");
    }
    gate.open();
    world.reaches(&held, "Applied").await;
    for pending in world.client("owner").runs(&client::RunFilter::default(), 1, 10).await.unwrap().items {
        world.ends(&pending).await;
    }
    assert_eq!(
        value(&read().await, "signalbox_queue_length{workspace=\"held\"}"),
        None,
        "nothing waits any more"
    );
}

#[tokio::test]
async fn systemd_is_told_when_it_is_ready_reloads_works_and_stops() {
    let setup = Setup::new().workspace("net", terraform::SIMPLE);
    setup.write();
    let path = setup.path().join("notify.sock");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let told = move |what: &str| {
        let mut bytes = [0; 4096];
        loop {
            let read = socket.recv(&mut bytes).expect("it is told in time");
            if String::from_utf8_lossy(&bytes[..read]).lines().any(|line| line == what) {
                return;
            }
        }
    };
    let environment = [("NOTIFY_SOCKET", path.to_str().unwrap()), ("WATCHDOG_USEC", "400000")];
    let config = setup.path().join("signalbox.hcl");
    let daemon = Daemon::start_in(&config, &setup.path().join("home"), &environment);
    told("READY=1");
    told("WATCHDOG=1");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text + "\n# changed\n").unwrap();
    daemon.signal(Signal::HUP);
    told("RELOADING=1");
    told("READY=1");
    told("WATCHDOG=1");
    assert!(daemon.stop().success());
    told("STOPPING=1");
}
