//! Policy checks and their override.

use std::io::{self, BufReader};

use engine::RunAction;
use lifecycle::Stage;
use lifecycle::id;
use serde_json::Value;
use store::{Run, Workspace};
use wire::{Comment, Included, One, PolicyCheck, PolicyCheckAttributes, Relationship};

use crate::document::{policy_check, stage};
use crate::jsonapi::{ApiError, Include, Result, cut};
use crate::operation::{Action, Ask, OnRun, Operation, Page, PlainText, Raw, get, post};
use crate::reader::Reader;
use crate::{ApiState, log};

/// What may come along with a policy check.
const INCLUDES: [&str; 2] = ["run", "run.workspace"];

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/v2/runs/{run}/policy-checks", Action::Read)
            .says("Lists the policy checks of a run, at most one.")
            .includes(&INCLUDES)
            .to(of_run),
        get("/api/v2/policy-checks/{policy_check}", Action::Read)
            .says("Reads a policy check.")
            .includes(&INCLUDES)
            .to(read),
        get("/api/v2/policy-checks/{policy_check}/output", Action::Read)
            .says("Reads the log of a policy check.")
            .to(output),
        post("/api/v2/policy-checks/{policy_check}/actions/override", Action::OverridePolicies)
            .says("Overrides the failed soft-mandatory policies.")
            .conflicts()
            .to(override_),
    ]
}

type OnPolicyCheck = OnRun<id::PolicyCheck>;

/// The policy check of a run, if it has one.
async fn of<K>(on: &OnRun<K>, run: &Run) -> Result<Option<PolicyCheck>> {
    let (reader, workspace) = (&on.reader, &on.workspace);
    if !policy_check::exists(run, reader.user.policies(workspace)) {
        return Ok(None);
    }
    let report = report(&reader.api, run).await?;
    Ok(Some(policy_check::resource(run, reader.user.access(workspace), report)))
}

/// What the check reported. The outcome and its counts are in the run's record: they stand without it.
async fn report(api: &ApiState, run: &Run) -> Result<Option<Value>> {
    let Some(digest) = run.policy.as_ref().map(|policy| policy.report) else { return Ok(None) };
    let unreadable = |error: &dyn std::fmt::Display| {
        tracing::error!(run = %run.id, %error, "the policy report can't be read");
        Ok(None)
    };
    let blob = match api.store().blobs().open(digest).await {
        Ok(blob) => blob,
        Err(error) => return unreadable(&error),
    };
    // a tree takes several times what its text does
    let size = 4 * blob.len();
    let share = api.budget().take(size).await?;
    let parse = move || serde_json::from_reader(BufReader::with_capacity(64 * 1024, blob.reader()));
    match tokio::task::spawn_blocking(parse).await.map_err(io::Error::other)? {
        Ok(report) => {
            share.keep(size);
            Ok(Some(report))
        }
        Err(error) => unreadable(&error),
    }
}

async fn found(on: &OnPolicyCheck, run: &Run) -> Result<PolicyCheck> {
    of(on, run).await?.ok_or_else(|| ApiError::not_found(run.id.policy_check().described()))
}

async fn read(on: OnPolicyCheck, ask: Ask) -> Result<One<PolicyCheckAttributes>> {
    let check = found(&on, &on.run).await?;
    let included = included(&on.reader, &on.run, &on.workspace, &ask.include).await?;
    Ok(One::from(check).including(included))
}

async fn of_run(on: OnRun, ask: Ask) -> Result<Page<PolicyCheckAttributes>> {
    let cut = cut(ask.page, of(&on, &on.run).await?.into_iter().collect());
    let included = match cut.items.is_empty() {
        true => Included::default(),
        false => included(&on.reader, &on.run, &on.workspace, &ask.include).await?,
    };
    Ok(ask.paged(cut.total, cut.items).including(included))
}

async fn included(reader: &Reader, run: &Run, workspace: &Workspace, include: &Include) -> Result<Included> {
    let mut included = Included::default();
    if !include.reaches("run") {
        return Ok(included);
    }
    let resource = reader.run_resource(run, workspace).await?;
    if include.has("run.workspace") {
        let mut workspace = reader.workspace_resource(workspace).await?;
        let run = resource.identifier();
        let links = &mut workspace.relationships;
        for back in [&mut links.current_run, &mut links.locked_by] {
            if back.to_one() == Some(&run) {
                *back = Relationship::default();
            }
        }
        included.add(&workspace);
    }
    included.add(&resource);
    Ok(included)
}

/// The log of the check, without marks; empty until it says something.
async fn output(on: OnPolicyCheck, _: Ask) -> Result<Raw<PlainText>> {
    found(&on, &on.run).await?;
    let file = on.reader.api.engine().open_log(&on.run, Stage::PolicyCheck).await?;
    let over = stage::is_over(&on.run, Stage::PolicyCheck, true);
    let length = file.as_ref().map_or(Ok(0), |log| log.len(over))?;
    Ok(Raw::with(log::body(file, log::Part::raw(length)).await?, []))
}

async fn override_(on: OnPolicyCheck, ask: Ask<Comment>) -> Result<One<PolicyCheckAttributes>> {
    found(&on, &on.run).await?;
    let (engine, user) = (on.reader.api.engine(), &on.reader.user.name);
    let run = engine.act(user, on.run.id, RunAction::OverridePolicies, ask.body.comment).await?;
    Ok(found(&on, &run).await?.into())
}
