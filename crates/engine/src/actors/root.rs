use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};

use super::STOP_GRACE;
use super::workspaces::Workspaces;
use crate::context::Context;
use crate::supervise::{Children, Exhausted, Policy, Restart};

/// The top of the tree. When what is below fails again and again it fails too, and the daemon ends.
pub(crate) struct Root;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Only;

pub(crate) struct RootMessage(Restart<Only>);

impl From<Restart<Only>> for RootMessage {
    fn from(restart: Restart<Only>) -> Self {
        Self(restart)
    }
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
    type State = Children<Only, Workspaces>;
    type Arguments = Arc<Context>;

    async fn pre_start(
        &self,
        _myself: ActorRef<Self::Msg>,
        context: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(Children::new("supervisor of the workspaces", POLICY, move |_, _| (Workspaces, context.clone())))
    }

    async fn post_start(
        &self,
        myself: ActorRef<Self::Msg>,
        children: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        children.ensure(&myself, &Only).await.map(drop)
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        RootMessage(restart): RootMessage,
        children: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        children.restart(&myself, restart).await
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<Self::Msg>,
        event: SupervisionEvent,
        children: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        children.ended(&myself, &event).map(drop)
    }

    async fn post_stop(
        &self,
        myself: ActorRef<Self::Msg>,
        _: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        // ractor kills the children of an actor that stops: let them stop by themselves first
        myself.get_cell().stop_children_and_wait(None, Some(STOP_GRACE)).await;
        Ok(())
    }
}
