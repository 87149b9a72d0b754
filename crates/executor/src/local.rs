//! Executors on this machine: how the daemon starts, watches and controls them.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Interest};
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio::task::spawn_blocking;

use crate::control::{self, Reply, Request};
use crate::directory::{Directory, read_versioned, replace};
use crate::error::Error;
use crate::handshake::Handshake;
use crate::observation::{BoxFuture, Delivery, Executor, Launched, Observation};
use crate::observe::{Seen, observe};
use crate::procfs::Identity;
use crate::record::Claim;
use crate::revoke::revoke;
use crate::spec::{Spec, to_milliseconds};
use crate::standby::Standby;

/// A launch that takes longer has failed: the disk hangs, or the program is not an executor.
const LAUNCH_PATIENCE: Duration = Duration::from_secs(30);

/// Between the claim and the control socket an executor cannot be asked yet.
const CONNECT_ATTEMPTS: u32 = 40;
const CONNECT_PAUSE: Duration = Duration::from_millis(50);

/// How long a killed executor may take to be gone.
const DEATH_PATIENCE: Duration = Duration::from_secs(5);
const DEATH_PAUSE: Duration = Duration::from_millis(5);

/// Starts executors as processes of this machine.
#[derive(Clone, Debug)]
pub struct LocalExecutor {
    program: PathBuf,
    prefix_arguments: Vec<String>,
    standby: Standby,
}

impl Default for LocalExecutor {
    /// This very program, as `<program> executor DIRECTORY`, even if its file has been replaced since.
    fn default() -> Self {
        Self {
            program: "/proc/self/exe".into(),
            prefix_arguments: vec!["executor".to_owned()],
            standby: Standby::default(),
        }
    }
}

impl LocalExecutor {
    /// Starts `program PREFIX_ARGUMENTS… DIRECTORY`, which must call [`run`](crate::run()) with that directory first
    /// thing. The program is an absolute path, since the lookup of a name would cost a fork of the whole daemon.
    pub fn new(program: impl Into<PathBuf>, prefix_arguments: Vec<String>) -> Result<Self, Error> {
        let program = program.into();
        if program.is_absolute() {
            Ok(Self { program, prefix_arguments, standby: Standby::default() })
        } else {
            Err(Error::RelativePath { path: program })
        }
    }

    /// Has an executor stand by for the next launch, so that it need not wait for the start of a process. Needs a tokio
    /// runtime.
    pub fn stand_by(&self) {
        let (standby, command) = (self.standby.clone(), self.command());
        tokio::spawn(async move { standby.refill(command) });
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        // nothing here that keeps it from being a posix_spawn: no uid, no group, no hook, no lookup in PATH
        command.args(&self.prefix_arguments).env_clear().stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    async fn start(&self, directory: &Directory) -> Result<Launched, Error> {
        let failed = |why: String| Error::Launch { program: self.program.clone(), why };
        let mut child = match self.standby.take(directory.path()).await {
            Some(child) => child,
            None => {
                let spawned = self.command().arg(directory.path()).stdin(Stdio::null()).spawn();
                spawned.map_err(|error| failed(error.to_string()))?
            }
        };
        let stdout = child.stdout.take();
        // reaped whenever it ends, whatever becomes of this launch and of those who wait for the execution
        let reaper = tokio::spawn(async move { child.wait().await });
        let mut said = Vec::new();
        let heard = tokio::time::timeout(LAUNCH_PATIENCE, async {
            match stdout {
                Some(mut stdout) => stdout.read_to_end(&mut said).await,
                None => Ok(0),
            }
        });
        match heard.await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(_) => {
                return Err(failed(format!("it said nothing within {} seconds", LAUNCH_PATIENCE.as_secs())));
            }
        }
        self.stand_by();
        match serde_json::from_slice(&said) {
            Ok(Handshake::Claimed) => Ok(Launched::Now),
            Ok(Handshake::Before) => Ok(Launched::Before),
            Ok(Handshake::Failed { why }) => Err(failed(why)),
            Err(_) => {
                let end = match reaper.await {
                    Ok(Ok(status)) => format!("{status}"),
                    Ok(Err(error)) => error.to_string(),
                    Err(error) => error.to_string(),
                };
                let said = String::from_utf8_lossy(&said);
                Err(failed(format!("it ended ({end}) without the words of an executor; it said {said:?}")))
            }
        }
    }

    async fn ask(&self, directory: &Path, request: Request) -> Result<Delivery, Error> {
        let directory = Directory::new(directory)?;
        for _ in 0..CONNECT_ATTEMPTS {
            let answer = blocking({
                let directory = directory.clone();
                move || control::ask(&directory, request)
            });
            let error = match answer.await {
                Ok(Reply::Accepted(_)) => return Ok(Delivery::Accepted),
                Ok(Reply::Refused { why }) => {
                    return Err(Error::Control { directory: directory.path().to_owned(), why });
                }
                Err(error) => error,
            };
            // the end of an executor is the usual reason for its silence
            match look(&directory).await? {
                Seen::AtRest(_) => return Ok(Delivery::NotRunning),
                Seen::Running(..) if is_not_there(&error) => tokio::time::sleep(CONNECT_PAUSE).await,
                Seen::Running(..) => {
                    return Err(Error::Control {
                        directory: directory.path().to_owned(),
                        why: error.to_string(),
                    });
                }
            }
        }
        Err(Error::Control {
            directory: directory.path().to_owned(),
            why: "it has no control socket".to_owned(),
        })
    }
}

impl Executor for LocalExecutor {
    fn launch<'a>(&'a self, directory: &'a Path, spec: &'a Spec) -> BoxFuture<'a, Result<Launched, Error>> {
        Box::pin(async move {
            spec.validate()?;
            let directory = Directory::new(directory)?;
            let prepared = blocking({
                let (directory, spec) = (directory.clone(), spec.clone());
                move || prepare(&directory, &spec)
            });
            let Some(to_sync) = prepared.await? else { return Ok(Launched::Before) };
            if spec.repeatable {
                return self.start(&directory).await;
            }
            // for the names of the directories above the claim, without which it is lost in a power cut: before anything
            // is started. Who has made them durable beforehand waits for nothing here.
            blocking(move || sync_all(&to_sync)).await?;
            self.start(&directory).await
        })
    }

    fn attach<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<Observation, Error>> {
        Box::pin(async move {
            Ok(match look(&Directory::new(directory)?).await? {
                Seen::Running(running, _) => Observation::Running(running),
                Seen::AtRest(observation) => observation,
            })
        })
    }

    fn interrupt<'a>(
        &'a self,
        directory: &'a Path,
        grace: Duration,
    ) -> BoxFuture<'a, Result<Delivery, Error>> {
        Box::pin(self.ask(directory, Request::Interrupt { grace_ms: to_milliseconds(grace) }))
    }

    fn kill<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<Delivery, Error>> {
        Box::pin(self.ask(directory, Request::Kill))
    }

    fn destroy<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let directory = Directory::new(directory)?;
            blocking(move || destroy(&directory)).await
        })
    }

    fn revoke<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            let directory = Directory::new(directory)?;
            blocking(move || revoke(&directory)).await
        })
    }

    fn wait<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<Observation, Error>> {
        Box::pin(async move {
            let directory = Directory::new(directory)?;
            loop {
                match look(&directory).await? {
                    Seen::AtRest(observation) => return Ok(observation),
                    Seen::Running(_, executor) => tokio::select! {
                        () = told_of_the_end(&directory) => {}
                        ended = end_of(executor) => ended?,
                    },
                }
            }
        })
    }

    fn settle<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let directory = Directory::new(directory)?;
            let executor = blocking(move || read_versioned::<Claim>(&directory.claim())).await?;
            match executor {
                Some(claim) if claim.is_of_this_boot()? => end_of(claim.executor).await,
                _ => Ok(()),
            }
        })
    }
}

/// Writes the spec, and says which directories are to be made durable; `None` if the execution was claimed already.
///
/// The spec itself need not be durable: an execution that was not claimed is launched again with its spec.
fn prepare(directory: &Directory, spec: &Spec) -> Result<Option<Vec<PathBuf>>, Error> {
    let to_sync = directory.create()?;
    if directory.is_claimed()? {
        return Ok(None);
    }
    replace(&directory.spec(), spec).map_err(Error::io("write", directory.spec()))?;
    Ok(Some(to_sync))
}

fn sync_all(directories: &[PathBuf]) -> Result<(), Error> {
    directories
        .iter()
        .try_for_each(|path| files::sync_directory(path).map_err(Error::io("make durable", path)))
}

/// Kills the executor. What it left is killed by whoever looks at the directory next, which is done here.
fn destroy(directory: &Directory) -> Result<(), Error> {
    if let Some(claim) = read_versioned::<Claim>(&directory.claim())?
        && claim.is_of_this_boot()?
    {
        claim.executor.kill();
        let started = Instant::now();
        while claim.executor.is_alive() && started.elapsed() < DEATH_PATIENCE {
            std::thread::sleep(DEATH_PAUSE);
        }
    }
    observe(directory).map(drop)
}

async fn look(directory: &Directory) -> Result<Seen, Error> {
    let directory = directory.clone();
    blocking(move || observe(&directory)).await
}

/// Returns when the executor says that the result can be read, which is before it has flushed that. Never returns if it
/// does not say so: it is of an older release, or dies before.
async fn told_of_the_end(directory: &Directory) {
    let told = async {
        let socket = directory.control_socket()?;
        let mut stream = UnixStream::connect(socket.path()).await?;
        stream.write_all(&control::line(directory, Request::Wait)?).await?;
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).await?;
        Ok::<_, std::io::Error>(matches!(serde_json::from_str(&answer)?, Reply::Accepted(_)))
    };
    if !matches!(told.await, Ok(true)) {
        std::future::pending::<()>().await;
    }
}

/// Waits for the end of a process that need not be a child of this one.
async fn end_of(process: Identity) -> Result<(), Error> {
    let cannot = |error| Error::io("wait for the process of", format!("/proc/{}", process.pid))(error);
    let Some(handle) = process.open().map_err(cannot)? else { return Ok(()) };
    #[expect(
        deprecated,
        reason = "its successor is unsafe for the sake of types that lie about their descriptor"
    )]
    let handle = AsyncFd::with_interest(handle, Interest::READABLE).map_err(cannot)?;
    handle.readable().await.map_err(cannot)?.retain_ready();
    Ok(())
}

/// Runs what blocks on a thread for it. A dropped future does not stop it, and need not.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // cancelled: the runtime is shutting down, and nobody will poll this again
            Err(_) => std::future::pending().await,
        },
    }
}

/// Errors of a socket that is not bound (any more).
fn is_not_there(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused)
}
