use std::sync::Arc;

use lifecycle::id::RunId;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinError};

use crate::context::Context;
use crate::drive::{Driver, Mode};

/// Executes one run: owns the [`Driver`] that takes it to its end, and wakes it when there may be something to do. No
/// message waits for what the driver does.
pub(crate) struct Run;

pub(crate) struct RunState {
    wake: Arc<Notify>,
    driver: AbortHandle,
}

pub(crate) enum RunMessage {
    /// Something about the run may have changed. Any number of them before the driver looks are one.
    Reconcile,
    /// The driver has ended.
    Ended(Result<(), JoinError>),
}

impl Actor for Run {
    type Msg = RunMessage;
    type State = RunState;
    type Arguments = (Arc<Context>, RunId, Mode);

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        (context, run, mode): Self::Arguments,
    ) -> Result<RunState, ActorProcessingErr> {
        let wake = Arc::new(Notify::new());
        let driving = tokio::spawn(Driver::new(context, run, mode, wake.clone()).drive());
        let driver = driving.abort_handle();
        tokio::spawn(async move {
            let ended = driving.await;
            // an actor that has stopped meanwhile does not care
            let _ = myself.send_message(RunMessage::Ended(ended));
        });
        Ok(RunState { wake, driver })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: RunMessage,
        state: &mut RunState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            RunMessage::Reconcile => state.wake.notify_one(),
            RunMessage::Ended(Ok(())) => myself.stop(None),
            RunMessage::Ended(Err(failed)) => return Err(words(failed).into()),
        }
        Ok(())
    }
}

impl Drop for RunState {
    fn drop(&mut self) {
        // the driving stops; the execution has an owner of its own
        self.driver.abort();
    }
}

/// Why the driver failed: what it panicked with.
fn words(failed: JoinError) -> String {
    match failed.try_into_panic() {
        Ok(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            text.or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "it panicked without a word".to_owned())
        }
        Err(canceled) => canceled.to_string(),
    }
}
