use review::Review;
use url::Url;
use wire::{Comment, CreateRun};

use crate::http::unexpected;
use crate::{Apply, Client, ClientError, NewRun, Page, Plan, PolicyCheck, Run, RunEvent, Stage};

/// What comes along with a run.
pub(crate) const INCLUDE: (&str, &str) =
    ("include", "plan,apply,created_by,workspace,configuration_version.ingress_attributes");
/// Every kind of run: without it, plan-only runs are left out.
const OPERATIONS: (&str, &str) =
    ("filter[operation]", "plan_only,plan_and_apply,save_plan,refresh_only,destroy,empty_apply");

/// The start of a log as the API gives it, and its end once it is complete.
const STX: u8 = 0x02;
const ETX: u8 = 0x03;
const LOG_LIMIT: usize = 65_536;

/// What a person does to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunAction {
    /// Confirm its plan.
    Apply,
    /// Decline it.
    Discard,
    /// Stop it: one interrupt, and the grace period.
    Cancel,
    /// Kill its processes. Only after a cancel, and its cool-off.
    ForceCancel,
}

impl RunAction {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Discard => "discard",
            Self::Cancel => "cancel",
            Self::ForceCancel => "force-cancel",
        }
    }
}

/// Which runs.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// In the workspace of that id; `None`: in all that the user may see.
    pub workspace_id: Option<String>,
    /// With one of these wire statuses; empty: with any.
    pub statuses: Vec<String>,
}

impl Client {
    /// Queues a run.
    ///
    /// # Errors
    /// [`ClientError::Invalid`] for options that contradict each other, and the others.
    pub async fn create_run(&self, workspace_id: &str, run: &NewRun) -> Result<Run, ClientError> {
        self.post(self.v2(["runs"]), &CreateRun::new(workspace_id, run.clone())).await
    }

    /// The run, with its plan, its apply, its workspace's name and who queued it.
    ///
    /// # Errors
    /// [`ClientError::NotFound`], and the others.
    pub async fn run(&self, id: &str) -> Result<Run, ClientError> {
        self.get(self.v2(["runs", id]), &[(INCLUDE.0, INCLUDE.1.to_owned())]).await
    }

    /// A page of runs of every kind, newest first.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn runs(&self, filter: &RunFilter, page: u32, size: u32) -> Result<Page<Run>, ClientError> {
        let url = match &filter.workspace_id {
            Some(id) => self.v2(["workspaces", id, "runs"]),
            None => self.v2(["organizations", self.organization().await?, "runs"]),
        };
        let mut query = vec![
            (INCLUDE.0, INCLUDE.1.to_owned()),
            (OPERATIONS.0, OPERATIONS.1.to_owned()),
            ("page[number]", page.to_string()),
            ("page[size]", size.to_string()),
        ];
        if !filter.statuses.is_empty() {
            query.push(("filter[status]", filter.statuses.join(",")));
        }
        self.list(url, &query).await
    }

    /// Does something to a run. The comment is kept in its journal.
    ///
    /// # Errors
    /// [`ClientError::Conflict`] if it is not possible in the run's state; nothing is changed then. And the others.
    pub async fn act_on_run(
        &self,
        id: &str,
        action: RunAction,
        comment: Option<&str>,
    ) -> Result<(), ClientError> {
        self.act(self.v2(["runs", id, "actions", action.as_str()]), &body(comment)).await
    }

    /// What happened to a run, oldest first, with who and their comments.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn run_events(&self, run_id: &str) -> Result<Vec<RunEvent>, ClientError> {
        let query = [("include", "actor,comment".to_owned())];
        let page = self.list(self.v2(["runs", run_id, "run-events"]), &query).await?;
        let mut events: Vec<RunEvent> = page.items;
        events.sort_by_key(|event| event.created_at);
        Ok(events)
    }

    /// The plan.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn plan(&self, id: &str) -> Result<Plan, ClientError> {
        self.get(self.v2(["plans", id]), &[]).await
    }

    /// The plan as `terraform show -json` prints it, with everything in the clear: for admins. `None` while
    /// it is not there yet.
    ///
    /// # Errors
    /// [`ClientError::NotFound`] if there never will be one, or the user may not read it. And the others.
    pub async fn plan_json(&self, run_id: &str) -> Result<Option<Vec<u8>>, ClientError> {
        let json = self.bytes(self.v2(["runs", run_id, "plan", "json-output"]), &[]).await?;
        Ok(Some(json).filter(|json| !json.is_empty()))
    }

    /// What the plan of a run would do, the gravest first. `None` while there is no plan, and where there will be none.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn review(&self, run_id: &str) -> Result<Option<Review>, ClientError> {
        let url = self.own(["runs", run_id, "review"]);
        let json = match self.bytes(url.clone(), &[]).await {
            Err(ClientError::NotFound(_)) => return Ok(None),
            answer => answer?,
        };
        if json.is_empty() {
            return Ok(None);
        }
        serde_json::from_slice(&json).map(Some).map_err(|error| unexpected(&url, error))
    }

    /// The run as policies see it, the JSON that `tfrun` is made of: for admins.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn tfrun(&self, run_id: &str) -> Result<Vec<u8>, ClientError> {
        self.bytes(self.own(["runs", run_id, "tfrun"]), &[]).await
    }

    /// The apply.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn apply(&self, id: &str) -> Result<Apply, ClientError> {
        self.get(self.v2(["applies", id]), &[]).await
    }

    /// The policy checks of a run; none where no policies apply.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn policy_checks(&self, run_id: &str) -> Result<Vec<PolicyCheck>, ClientError> {
        Ok(self.list(self.v2(["runs", run_id, "policy-checks"]), &[]).await?.items)
    }

    /// What the policy check says, as text.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn policy_check_output(&self, id: &str) -> Result<Vec<u8>, ClientError> {
        self.bytes(self.v2(["policy-checks", id, "output"]), &[]).await
    }

    /// Overrides the failed soft-mandatory policies. The comment is kept in the run's journal.
    ///
    /// # Errors
    /// [`ClientError::Conflict`] if there is nothing to override, and the others.
    pub async fn override_policy_check(
        &self,
        id: &str,
        comment: Option<&str>,
    ) -> Result<PolicyCheck, ClientError> {
        self.post(self.v2(["policy-checks", id, "actions", "override"]), &body(comment)).await
    }

    /// The log of a stage as far as it is there now; empty if the run has not come to it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn log(&self, run: &Run, stage: Stage) -> Result<Vec<u8>, ClientError> {
        let url = match stage {
            Stage::Pending => return Ok(Vec::new()),
            Stage::PolicyCheck => match run.policy_check_id() {
                Some(id) => return self.policy_check_output(id).await,
                None => return Ok(Vec::new()),
            },
            Stage::Plan => match run.plan_id() {
                Some(id) => self.plan(id).await?.attributes.log_read_url,
                None => return Ok(Vec::new()),
            },
            Stage::Apply => match run.apply_id() {
                Some(id) => self.apply(id).await?.attributes.log_read_url,
                None => return Ok(Vec::new()),
            },
        };
        self.read_log(&url).await
    }

    async fn read_log(&self, url: &str) -> Result<Vec<u8>, ClientError> {
        let url = Url::options()
            .base_url(Some(self.address()))
            .parse(url)
            .map_err(|error| unexpected(self.address(), format_args!("the address of a log: {error}")))?;
        let mut framed = Vec::new();
        loop {
            let query = [("limit", LOG_LIMIT.to_string()), ("offset", framed.len().to_string())];
            let part = self.bytes(url.clone(), &query).await?;
            if part.is_empty() {
                return Ok(unframed(framed));
            }
            framed.extend(part);
        }
    }
}

fn unframed(mut log: Vec<u8>) -> Vec<u8> {
    if log.last() == Some(&ETX) {
        log.pop();
    }
    if log.first() == Some(&STX) {
        log.remove(0);
    }
    log
}

fn body(comment: Option<&str>) -> Comment {
    Comment { comment: comment.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_of_a_log_are_not_part_of_it() {
        for (framed, log) in [
            (&b"\x02plan\x03"[..], &b"plan"[..]),
            (b"\x02plan", b"plan"),
            (b"\x02\x03", b""),
            (b"\x02", b""),
            (b"", b""),
        ] {
            assert_eq!(unframed(framed.to_vec()), log);
        }
    }
}
