//! How the daemon is, for Prometheus, on an address of its own (`metrics_listen`).
//!
//! What is counted as it happens comes from the crates below by the facade `metrics`; what is simply so at a moment is read when it is
//! asked for.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use engine::Engine;
use jiff::Timestamp;
use metrics::{Unit, describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Workspaces that wait longest are told by name, and no more than so many: a label with ten thousand values is a fault of its own.
const NAMED: usize = 200;

/// Bounds of the buckets, in seconds: a write takes milliseconds, a stage minutes.
const WRITES: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0, 10.0];
const STAGES: [f64; 11] = [0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 14400.0];

/// The address can't be used, or something measures already.
#[derive(Debug, thiserror::Error)]
#[error("metrics can't be served at {address}: {why}")]
pub(crate) struct Failed {
    address: SocketAddr,
    why: String,
}

/// Begins to measure. Before anything else is started: what happens before is not counted.
pub(crate) fn install() -> Result<PrometheusHandle, String> {
    let buckets = |builder: PrometheusBuilder, name: &str, bounds: &[f64]| {
        builder.set_buckets_for_metric(Matcher::Full(name.to_owned()), bounds)
    };
    let builder = buckets(PrometheusBuilder::new(), "signalbox_store_write_seconds", &WRITES);
    let builder = builder.and_then(|builder| buckets(builder, "signalbox_stage_seconds", &STAGES));
    let handle = builder.and_then(PrometheusBuilder::install_recorder).map_err(|error| error.to_string())?;
    describe_counter!(
        "signalbox_runs_ended_total",
        "Runs that came to an end, by the name of their last state."
    );
    describe_histogram!(
        "signalbox_stage_seconds",
        Unit::Seconds,
        "How long stages took, the fetching before plans too."
    );
    describe_counter!("signalbox_log_bytes_total", Unit::Bytes, "Logs of stages that are over.");
    describe_counter!("signalbox_actor_restarts_total", "Actors that failed and were started again.");
    describe_histogram!(
        "signalbox_store_write_seconds",
        Unit::Seconds,
        "How long a write took, until the disk had it."
    );
    describe_gauge!("signalbox_runs", "Runs that are not over, by the name of their state.");
    describe_gauge!("signalbox_executions", "Executions that go on, and those that wait for a slot.");
    describe_gauge!("signalbox_workspaces", "Workspaces that are configured.");
    describe_gauge!("signalbox_free_bytes", Unit::Bytes, "Free space where the data lies.");
    describe_gauge!("signalbox_info", "Always 1; its label is the release.");
    Ok(handle)
}

/// Serves them until it is told to end.
pub(crate) async fn serve(
    address: SocketAddr,
    handle: PrometheusHandle,
    engine: Engine,
    shutdown: CancellationToken,
) -> Result<SocketAddr, Failed> {
    let failed = |error: std::io::Error| Failed { address, why: error.to_string() };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let router = Router::new().route("/metrics", get(scrape)).with_state((handle, engine));
    tokio::spawn(async move {
        let served = axum::serve(listener, router).with_graceful_shutdown(shutdown.cancelled_owned()).await;
        if let Err(error) = served {
            tracing::error!(%error, "metrics are not served any more");
        }
    });
    Ok(address)
}

async fn scrape(State((handle, engine)): State<(PrometheusHandle, Engine)>) -> Response {
    match look(&engine).await {
        Ok(named) => {
            let text = handle.render() + &named;
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "the store can't be read for metrics");
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    }
}

/// What is so now. What has a workspace for its label comes back as text: one that waits no more has no value any more.
async fn look(engine: &Engine) -> Result<String, store::Error> {
    let store = engine.store();
    let runs = store.non_final_runs().await?;
    let names: BTreeMap<_, _> =
        store.workspaces().await?.into_iter().map(|workspace| (workspace.id, workspace)).collect();
    let mut states: BTreeMap<&'static str, u64> = lifecycle::State::all()
        .into_iter()
        .filter(|state| !state.is_final())
        .map(|state| (state.name(), 0))
        .collect();
    let mut queues: BTreeMap<&str, (u64, Timestamp)> = BTreeMap::new();
    for run in &runs {
        *states.entry(run.state.name()).or_default() += 1;
        if run.state == lifecycle::State::Pending
            && let Some(workspace) = names.get(&run.workspace)
        {
            let queue = queues.entry(&workspace.name).or_insert((0, run.created_at));
            queue.0 += 1;
            queue.1 = queue.1.min(run.created_at);
        }
    }
    let count = |number: u64| u32::try_from(number).map_or(f64::INFINITY, f64::from);
    for (state, number) in states {
        gauge!("signalbox_runs", "state" => state).set(count(number));
    }
    let (held, waiting) = engine.slot_counts();
    gauge!("signalbox_executions", "as" => "executing").set(count(held as u64));
    gauge!("signalbox_executions", "as" => "waiting").set(count(waiting as u64));
    let configured = names.values().filter(|workspace| workspace.removed_at.is_none()).count();
    gauge!("signalbox_workspaces").set(count(configured as u64));
    if let Ok(free) = executor::space_left(store.data_dir()) {
        // bytes of a disk are fewer than what a double counts exactly
        #[expect(clippy::cast_precision_loss, reason = "a disk of nine petabytes is told to the byte")]
        gauge!("signalbox_free_bytes").set(free as f64);
    }
    gauge!("signalbox_info", "release" => env!("CARGO_PKG_VERSION")).set(1.0);
    let now = Timestamp::now();
    let mut oldest: Vec<_> = queues.into_iter().collect();
    oldest.sort_by_key(|(_, (_, since))| *since);
    oldest.truncate(NAMED);
    Ok(of_queues(&oldest, now))
}

/// The queues in the text format. Names of workspaces need no escapes: they are letters, digits, `-` and `_`.
fn of_queues(queues: &[(&str, (u64, Timestamp))], now: Timestamp) -> String {
    let mut text =
        "# HELP signalbox_queue_length Runs that are pending, of the workspaces that wait longest.\n\
                    # TYPE signalbox_queue_length gauge\n"
            .to_owned();
    for (workspace, (length, _)) in queues {
        text += &format!("signalbox_queue_length{{workspace=\"{workspace}\"}} {length}\n");
    }
    text += "# HELP signalbox_queue_age_seconds How long the oldest pending run has waited.\n\
             # TYPE signalbox_queue_age_seconds gauge\n";
    for (workspace, (_, since)) in queues {
        let age = now.duration_since(*since).as_secs_f64().max(0.0);
        text += &format!("signalbox_queue_age_seconds{{workspace=\"{workspace}\"}} {age:.3}\n");
    }
    text
}
