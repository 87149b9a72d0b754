//! Everything that changes and that the user may see.
//!
//! Changes of runs come from the journal, so that a reader who comes back misses none; changes of
//! workspaces are hints, and are lost to a reader who is away.

use std::collections::HashMap;

use lifecycle::access::Action;
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::wire as status;
use store::{Change, JournalEntry, Records, Workspace};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use wire::ChangeEvent;

use super::sse::{self, Broken, Outlet, REREAD};
use crate::ApiState;
use crate::jsonapi::{Result, User};
use crate::operation::{Ask, EventStream, OnWhatIsVisible, Raw};
use crate::reader::Reader;

/// Entries of the journal that are read at once.
const BATCH: u32 = 500;

/// Runs whose workspace is remembered.
const REMEMBERED: usize = 10_000;

/// `change` events: `data` has the run, its workspace and its new status; `id` is the place in the journal.
/// A reader who names the last one it saw gets everything since.
pub(super) async fn stream(on: OnWhatIsVisible, ask: Ask) -> Result<Raw<EventStream<ChangeEvent>>> {
    let Reader { api, user } = on.reader;
    let changes = api.store().changes();
    let seen = match sse::resume(&ask.headers, &ask.query, "after")? {
        Some(seen) => seen,
        None => newest(api.store()).await?,
    };
    let watcher = Watcher { api: api.clone(), user, seen, workspaces: HashMap::new() };
    Ok(sse::response(&api, |outlet| watcher.watch(changes, outlet)))
}

struct Watcher {
    api: ApiState,
    user: User,
    seen: i64,
    workspaces: HashMap<RunId, WorkspaceId>,
}

impl Watcher {
    async fn watch(
        mut self,
        mut changes: tokio::sync::broadcast::Receiver<Change>,
        outlet: Outlet,
    ) -> Result<(), Broken> {
        loop {
            self.pass_on(&outlet).await?;
            match timeout(REREAD, changes.recv()).await {
                Ok(Ok(Change::Workspace { id })) if self.sees(id).await? => {
                    let data = ChangeEvent { run: None, workspace: id.to_string(), status: None };
                    outlet.send("change", None, &data).await?;
                }
                Ok(Err(RecvError::Closed)) => return Err(Broken),
                _ => {}
            }
        }
    }

    /// Sends what the journal has had since.
    async fn pass_on(&mut self, outlet: &Outlet) -> Result<(), Broken> {
        loop {
            let entries = self.api.store().journal_after(self.seen, BATCH).await?;
            for entry in &entries {
                let workspace = self.workspace_of(entry).await?;
                if self.sees(workspace).await? {
                    let data = ChangeEvent {
                        run: Some(entry.run.to_string()),
                        workspace: workspace.to_string(),
                        status: Some(status::run_status(entry.to).into()),
                    };
                    outlet.send("change", Some(entry.seq.to_string()), &data).await?;
                }
                self.seen = entry.seq;
            }
            if entries.is_empty() {
                return Ok(());
            }
        }
    }

    async fn workspace_of(&mut self, entry: &JournalEntry) -> Result<WorkspaceId, Broken> {
        if let Some(workspace) = self.workspaces.get(&entry.run) {
            return Ok(*workspace);
        }
        if self.workspaces.len() >= REMEMBERED {
            self.workspaces.clear();
        }
        let workspace = self.api.store().run(entry.run).await?.workspace;
        self.workspaces.insert(entry.run, workspace);
        Ok(workspace)
    }

    /// As the configuration is now, which may have changed since the stream began.
    async fn sees(&self, workspace: WorkspaceId) -> Result<bool, Broken> {
        let user = self.user.now(&self.api).ok_or(Broken)?;
        let workspace: Workspace = self.api.store().workspace(workspace).await?;
        Ok(user.access(&workspace).allows(Action::Read))
    }
}

/// The newest place in the journal, found by halving: places only ever grow.
async fn newest(store: &Records) -> Result<i64> {
    let is_past = async |seq: i64| Ok::<_, store::Error>(store.journal_after(seq, 1).await?.is_empty());
    let (mut before, mut past) = (0, 1);
    if is_past(before).await? {
        return Ok(0);
    }
    while !is_past(past).await? {
        (before, past) = (past, past.saturating_mul(2));
    }
    while past - before > 1 {
        let middle = before + (past - before) / 2;
        if is_past(middle).await? { past = middle } else { before = middle }
    }
    Ok(past)
}
