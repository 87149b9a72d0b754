//! Plans and applies.

use lifecycle::id::{self, Kind};
use wire::{ApplyAttributes, One, PlanAttributes};

use super::plan_json;
use crate::jsonapi::Result;
use crate::operation::{Action, Ask, OnRun, Operation, Raw, TerraformJson, get};
use crate::redact::redacted;
use crate::spool;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/v2/plans/{plan}", Action::Read).says("Reads a plan.").to(plan::<id::Plan>),
        get("/api/v2/runs/{run}/plan", Action::Read).says("Reads the plan of a run.").to(plan::<id::Run>),
        get("/api/v2/applies/{apply}", Action::Read).says("Reads an apply.").to(apply::<id::Apply>),
        get("/api/v2/runs/{run}/apply", Action::Read).says("Reads the apply of a run.").to(apply::<id::Run>),
        get("/api/v2/plans/{plan}/json-output", Action::ReadPlanJson)
            .says("Reads a plan as terraform shows it.")
            .to(json_output::<id::Plan>),
        get("/api/v2/runs/{run}/plan/json-output", Action::ReadPlanJson)
            .says("Reads the plan of a run as terraform shows it.")
            .to(json_output::<id::Run>),
        get("/api/v2/plans/{plan}/json-output-redacted", Action::Read)
            .says("Reads a plan without what is sensitive.")
            .to(json_output_redacted),
    ]
}

async fn plan<K: Kind + 'static>(on: OnRun<K>, _: Ask) -> Result<One<PlanAttributes>> {
    Ok(on.reader.plan_resource(&on.run).into())
}

async fn apply<K: Kind + 'static>(on: OnRun<K>, _: Ask) -> Result<One<ApplyAttributes>> {
    Ok(on.reader.apply_resource(&on.run).await?.into())
}

/// With everything in it in the clear.
async fn json_output<K: Kind + 'static>(on: OnRun<K>, _: Ask) -> Result<Option<Raw<TerraformJson>>> {
    match plan_json::whole(&on.run)? {
        Some(digest) => Raw::blob(&on.reader.api, digest).await.map(Some),
        None => Ok(None),
    }
}

/// Without what is sensitive: for everybody who may see the run.
async fn json_output_redacted(on: OnRun<id::Plan>, _: Ask) -> Result<Option<Raw<TerraformJson>>> {
    let Some(digest) = plan_json::shown(&on.run)? else { return Ok(None) };
    let blobs = on.reader.api.store().blobs();
    let plan = blobs.open(digest).await?;
    let redacted = spool::written(blobs, move |into| redacted(plan.reader(), into)).await?;
    Ok(Some(Raw::spooled(redacted)))
}
