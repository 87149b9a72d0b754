//! The actors that take runs through their lifecycle, and what they do in each stage.
//!
//! ```text
//!  act, request                what people ask for: decided and recorded in the caller's task
//!  store.changes() ─────────>  actors: Root ─ Workspaces ─ Workspace ─ Run
//!                                       supervisor  slots      queue     one driver
//!                                                                          │
//!  drive                       one run: read it, see what is due, do it, record what came of it
//!  stage                       what each stage executes, and what its end means
//! ```
//!
//! * **Level-triggered.** An actor reads what it needs, and does what that asks for; its memory is a cache. A message says
//!   "look again" (`actors`); a lost one costs seconds, since every run that is not over is looked at again and again.
//! * **Deciding is elsewhere.** What may happen is [`lifecycle::step`](fn@lifecycle::step), asked by the store inside of
//!   the write; what has to happen is [`lifecycle::due`].
//! * **One road.** Whoever changes something writes to the store. The actors hear of it from the store, and from nobody
//!   else.
//! * **Nothing here owns terraform.** Stages are executions (`stage`) in processes of their own, which outlive every
//!   actor and the daemon.
//! * **State first.** A stage that could have written state is over only when the state is in the store
//!   (`state_keeper`).
//!
//! Failure modes: an actor that fails is restarted with growing pauses (`supervise`); a run whose driver keeps failing
//! is driven to its end in another mode (`drive::Mode`), with its processes gone, and its workspace goes on; a workspace is
//! retried for ever; when the tree itself keeps failing the root ends, and the daemon with it.

mod act;
mod actors;
mod clean_up;
mod context;
mod drive;
mod engine;
mod fault;
mod host;
mod log;
mod log_watch;
mod mask;
mod measure;
mod place;
mod promise;
mod push;
mod refusal;
mod request;
mod reserve;
mod restored;
mod retention;
mod run_dir;
mod run_files;
mod settings;
mod stage;
mod state_keeper;
mod supervise;
mod sync_workspaces;
mod terraform;
mod trouble;
mod variables;

pub use act::RunAction;
pub use engine::{Ended, Engine, Parts, StartError};
pub use host::HostEnvironment;
pub use log::Log;
pub use log_watch::LogTail;
pub use mask::Mask;
pub use push::{StateAnnouncement, StatePush};
pub use refusal::Refusal;
pub use request::RunRequest;
pub use restored::end_what_was_under_way;
pub use retention::Removed;
pub use run_dir::{RunDir, sealed_files};
pub use settings::PublicSettings;
pub use stage::set_settings;
pub use terraform::look_up as find_program;
