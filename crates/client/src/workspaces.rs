use wire::LockReason;

use crate::{Account, Client, ClientError, Page, Workspace};

const INCLUDE: (&str, &str) =
    ("include", "current_run,current_run.plan,current_run.apply,current_run.created_by,locked_by");

impl Client {
    /// The user that the token belongs to.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn account(&self) -> Result<Account, ClientError> {
        self.get(self.v2(["account", "details"]), &[]).await
    }

    /// A page of the workspaces that the user may see, with the runs that they show.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn workspaces(&self, page: u32) -> Result<Page<Workspace>, ClientError> {
        let url = self.v2(["organizations", self.organization().await?, "workspaces"]);
        let query = [
            (INCLUDE.0, INCLUDE.1.to_owned()),
            ("page[number]", page.to_string()),
            ("page[size]", "100".to_owned()),
        ];
        self.list(url, &query).await
    }

    /// All workspaces that the user may see, by name.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn all_workspaces(&self) -> Result<Vec<Workspace>, ClientError> {
        let mut all = Vec::new();
        let mut next = Some(1);
        while let Some(number) = next {
            let page = self.workspaces(number).await?;
            // a daemon that names a page already read would be asked for ever
            next = page.next_page().filter(|next| *next > number);
            all.extend(page.items);
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// The workspace of that name, with the run that it shows.
    ///
    /// # Errors
    /// [`ClientError::NotFound`], and the others.
    pub async fn workspace(&self, name: &str) -> Result<Workspace, ClientError> {
        let url = self.v2(["organizations", self.organization().await?, "workspaces", name]);
        self.get(url, &[(INCLUDE.0, INCLUDE.1.to_owned())]).await
    }

    /// Locks it for the user: its runs stay pending until it is unlocked.
    ///
    /// # Errors
    /// [`ClientError::Conflict`] if it is locked or held by a run, and the others.
    pub async fn lock_workspace(&self, id: &str, reason: &str) -> Result<Workspace, ClientError> {
        self.post(
            self.v2(["workspaces", id, "actions", "lock"]),
            &LockReason { reason: Some(reason.to_owned()), data: None },
        )
        .await
    }

    /// Releases the user's own lock.
    ///
    /// # Errors
    /// [`ClientError::Conflict`] if it is not locked, or by another, and the others.
    pub async fn unlock_workspace(&self, id: &str) -> Result<Workspace, ClientError> {
        self.post(self.v2(["workspaces", id, "actions", "unlock"]), &LockReason::default()).await
    }

    /// Releases anybody's lock.
    ///
    /// # Errors
    /// [`ClientError::Conflict`] if it is not locked, and the others.
    pub async fn force_unlock_workspace(&self, id: &str) -> Result<Workspace, ClientError> {
        self.post(self.v2(["workspaces", id, "actions", "force-unlock"]), &LockReason::default()).await
    }
}
