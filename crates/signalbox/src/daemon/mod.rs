//! The daemon: everything wired together in one process, for `serve` and for the demo.

mod environment;
mod isolation;
mod metrics;
mod notify_systemd;
mod reload;
pub(crate) mod serve;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use api::ApiState;
use config::Config;
use engine::{Engine, HostEnvironment, Parts};
use executor::LocalExecutor;
use store::Store;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

/// A daemon that runs in this process.
pub(crate) struct Daemon {
    engine: Engine,
    actors: JoinHandle<()>,
    server: JoinHandle<()>,
    shutdown: CancellationToken,
    address: SocketAddr,
    public_url: Url,
}

/// Why a daemon could not be started; each is one clear line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The data directory can't be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The address can't be listened on.
    #[error(
        "can't listen on {address}: {source}; change `listen` in the server block, or stop what listens there"
    )]
    Listen {
        /// Of the configuration.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The kernel can't do what the configuration requires.
    #[error(transparent)]
    Isolation(#[from] isolation::Unavailable),
    /// The secret of addresses.
    #[error(transparent)]
    AddressKey(#[from] api::AddressKeyError),
    /// The actors.
    #[error("the engine can't be started: {0}")]
    Engine(#[from] engine::StartError),
}

/// Once, so that nobody believes that it is otherwise.
fn say_what_lies_in_clear(store: &Store) {
    match store.blobs().keys().writes_with() {
        None => tracing::info!(
            "states, plans, configurations and logs lie in clear below the data directory: encryption_key in the server block \
             encrypts them (docs/encryption.md)"
        ),
        Some(key) if store.lies_in_clear() => tracing::warn!(
            %key,
            "what is kept from now on is encrypted; what was there lies in clear until `signalbox encryption rotate` has run"
        ),
        Some(key) => tracing::info!(%key, "what is kept is encrypted"),
    }
}

impl Daemon {
    /// Starts everything. What was under way when the last daemon on this data directory died goes on.
    ///
    /// `hidden`: what no code of a run may see beside the data directory, such as the config file.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    pub(crate) async fn start(config: Config, hidden: Vec<PathBuf>) -> Result<Self, StartError> {
        isolation::check(config.server.isolation)?;
        let config = Arc::new(config);
        let store = Store::open_with(&config.server.data_dir, config.server.encryption.clone()).await?;
        say_what_lies_in_clear(&store);
        let listen = config.server.listen;
        let failed = |source| StartError::Listen { address: listen, source };
        // before the actors start, since a daemon that can't be reached should not work either
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let public_url = config.server.public_url(address);
        let shutdown = CancellationToken::new();
        let host = HostEnvironment {
            path: std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned()),
            // never the data directory, which no code of a run sees
            home: std::env::var("HOME").unwrap_or_else(|_| "/".to_owned()),
        };
        let executor = LocalExecutor::default();
        executor.stand_by();
        let (engine, actors) = Engine::start(Parts {
            store,
            executor: Arc::new(executor),
            config,
            // steps of an execution are started by the executor, which is this very program
            program: "/proc/self/exe".into(),
            hidden,
            host,
            sweeps: true,
        })
        .await?;
        let state =
            ApiState::new(engine.clone(), &public_url, shutdown.clone()).inspect_err(|_| engine.stop())?;
        let server = tokio::spawn(api::serve(listener, state));
        Ok(Self { engine, actors, server, shutdown, address, public_url })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for clients.
    pub(crate) fn public_url(&self) -> &Url {
        &self.public_url
    }

    /// Serves metrics until the daemon stops.
    ///
    /// # Errors
    /// [`metrics::Failed`].
    async fn serve_metrics(
        &self,
        address: SocketAddr,
        handle: metrics_exporter_prometheus::PrometheusHandle,
    ) -> Result<SocketAddr, metrics::Failed> {
        metrics::serve(address, handle, self.engine.clone(), self.shutdown.clone()).await
    }

    /// Its engine.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Resolves when the daemon can't go on by itself.
    pub(crate) async fn failed(&mut self) -> String {
        tokio::select! {
            _ = &mut self.actors => engine::Ended.to_string(),
            served = &mut self.server => match served {
                Ok(()) => "the HTTP server ended".to_owned(),
                Err(error) => format!("the HTTP server failed: {error}"),
            },
        }
    }

    /// Stops it. Executions go on, and the next daemon on this data directory finds them.
    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        self.engine.stop();
        let patience = std::time::Duration::from_secs(10);
        let all = async {
            if !self.actors.is_finished() {
                let _ = self.actors.await;
            }
            if !self.server.is_finished() {
                let _ = self.server.await;
            }
        };
        if tokio::time::timeout(patience, all).await.is_err() {
            tracing::warn!("not everything has stopped within {patience:?}; leaving all the same");
        }
        self.engine.close().await;
    }
}
