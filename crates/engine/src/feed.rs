//! Feeding an event to a run: decide, then record. The one way in which the engine changes a run's state.

use lifecycle::{Event, Illegal, Transition, step};
use store::{Actor, Run, RunChange, RunUpdate, TransitionError};

use crate::context::Context;

/// What became of an event.
#[must_use]
pub(crate) enum Fed {
    /// It was recorded; the run as it is now.
    Recorded(Box<Run>),
    /// Somebody else changed the run in the meantime: read it again, and decide again.
    Moved,
}

/// Why an event was not recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FeedError {
    /// Not legal in the state that `run` was read in.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Feeds the event to the run as it was read.
pub(crate) async fn feed(
    context: &Context,
    run: &Run,
    event: Event,
    by: Actor,
    why: Option<String>,
    update: RunUpdate,
) -> Result<Fed, FeedError> {
    let Transition { to, rule, effects: _ } = step(run.state, context.facts_now(run).await?, event)?;
    let change = RunChange {
        run: run.id,
        expected_version: run.version,
        to,
        rule,
        by,
        why,
        at: context.now(),
        update,
    };
    match context.store.transition(change).await {
        Ok(run) => {
            tracing::info!(run = %run.id, %rule, state = %run.state, "transition");
            Ok(Fed::Recorded(Box::new(run)))
        }
        // a run that others are ahead of after all is as good as one that has moved: look again
        Err(
            TransitionError::Moved { .. } | TransitionError::Final { .. } | TransitionError::NotItsTurn(_),
        ) => Ok(Fed::Moved),
        Err(TransitionError::Store(error)) => Err(error.into()),
    }
}
