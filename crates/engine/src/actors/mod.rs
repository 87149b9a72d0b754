//! The actors: thin shells that ask `lifecycle` what to do and do it.
//!
//! ```text
//!  store.changes() ─┐
//!  configuration  ──┼─> Workspaces ──Reconcile──> Workspace ──Reconcile──> Run
//!  every 2 seconds ─┘    owns slots <──Demand────  owns queue               owns the driver
//!                                   ──Granted───>
//! ```
//!
//! Every message means "look again": what is true is in the store. Messages go down, and only the need for slots goes up.
//!
//! **Nothing that can go on waits for the two seconds.** They are for what went wrong: a store that could not be read, a
//! message that got lost. Whatever makes something possible says so at once:
//!
//! | what | who looks again |
//! |---|---|
//! | a run or a workspace changed in the store | its workspace |
//! | more changed than the store keeps for a reader | every workspace with a run that is not over, or an actor |
//! | the configuration changed: rights, limits, what is there | the same, after the slots were given out |
//! | a slot is free | the workspace of the run that is first in line |
//! | something came for an actor that was about to end | its supervisor, which reads the queue once more |
//! | an actor failed | it begins with that when it is restarted |
//!
//! Whoever is to be told of a change is so before it reads for the first time, so that nothing falls between. The clock of
//! `tests/inprocess` stands still, so that a test in which something waits for it fails.

mod root;
mod run;
mod workspace;
mod workspaces;

pub(crate) use root::{Root, RootMessage};

/// How long a supervisor waits for its children to stop before it stops itself.
const STOP_GRACE: std::time::Duration = std::time::Duration::from_secs(5);
