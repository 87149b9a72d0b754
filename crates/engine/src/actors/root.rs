use std::sync::Arc;
use std::time::{Duration, Instant};

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};

use super::STOP_GRACE;
use super::workspaces::Workspaces;
use crate::context::Context;
use crate::supervise::{Children, Decision, Ended, Exhausted, Policy, jitter};

/// The top of the tree. When what is below fails again and again it fails too, and the daemon ends.
pub(crate) struct Root;

pub(crate) struct RootState {
    context: Arc<Context>,
    children: Children<Child>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Child {
    Workspaces,
}

pub(crate) enum RootMessage {
    Restart { child: Child, generation: u64 },
}

const POLICY: Policy = Policy {
    most: 5,
    window: Duration::from_secs(60),
    first_pause: Duration::from_millis(100),
    longest_pause: Duration::from_secs(10),
    exhausted: Exhausted::Escalate,
};

impl Actor for Root {
    type Msg = RootMessage;
    type State = RootState;
    type Arguments = Arc<Context>;

    async fn pre_start(
        &self,
        _myself: ActorRef<Self::Msg>,
        context: Arc<Context>,
    ) -> Result<RootState, ActorProcessingErr> {
        Ok(RootState { context, children: Children::new(POLICY) })
    }

    async fn post_start(
        &self,
        myself: ActorRef<Self::Msg>,
        state: &mut RootState,
    ) -> Result<(), ActorProcessingErr> {
        start(&myself, state, Child::Workspaces).await
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        RootMessage::Restart { child, generation }: RootMessage,
        state: &mut RootState,
    ) -> Result<(), ActorProcessingErr> {
        if state.children.restart_stands(&child, generation) {
            start(&myself, state, child).await
        } else {
            Ok(())
        }
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<Self::Msg>,
        event: SupervisionEvent,
        state: &mut RootState,
    ) -> Result<(), ActorProcessingErr> {
        match state.children.ended(&event, Instant::now(), jitter()) {
            Some(ended) => decide(&myself, ended),
            None => Ok(()),
        }
    }

    async fn post_stop(
        &self,
        myself: ActorRef<Self::Msg>,
        _: &mut RootState,
    ) -> Result<(), ActorProcessingErr> {
        // ractor kills the children of an actor that stops: let them stop by themselves first
        myself.get_cell().stop_children_and_wait(None, Some(STOP_GRACE)).await;
        Ok(())
    }
}

async fn start(
    myself: &ActorRef<RootMessage>,
    state: &mut RootState,
    child: Child,
) -> Result<(), ActorProcessingErr> {
    match Workspaces::spawn_linked(None, Workspaces, state.context.clone(), myself.get_cell()).await {
        Ok((actor, _)) => {
            state.children.started(child, actor.get_cell());
            Ok(())
        }
        Err(error) => {
            decide(myself, state.children.spawn_failed(child, Instant::now(), jitter(), error.to_string()))
        }
    }
}

fn decide(myself: &ActorRef<RootMessage>, ended: Ended<Child>) -> Result<(), ActorProcessingErr> {
    let Ended { key: child, decision, generation, reason } = ended;
    match decision {
        Decision::Restart { after } => {
            tracing::error!(?child, %reason, ?after, "supervisor failed, it is restarted");
            myself.send_after(after, move || RootMessage::Restart { child, generation });
            Ok(())
        }
        Decision::Forget => Ok(()),
        Decision::GiveUp | Decision::Escalate => {
            tracing::error!(?child, %reason, "supervisor failed again and again");
            Err(format!("{child:?} failed again and again: {reason}").into())
        }
    }
}
