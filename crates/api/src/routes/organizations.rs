//! The one organization.

use std::collections::HashMap;

use store::Run;
use wire::{
    CapacityAttributes, EntitlementSetAttributes, Included, One, OrganizationAttributes, RunAttributes,
};

use super::run_list;
use crate::document::organization;
use crate::jsonapi::{Parameter, Result, cut};
use crate::operation::{
    Ask, InOrganization, OnAccount, OnOrganization, Operation, Page, Token, Visible, get,
};
use crate::reader::RUN_INCLUDES;

const SEARCH: [Parameter; 2] =
    [Parameter::new("q", "A part of the name."), Parameter::new("q[name]", "A part of the name.")];

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/v2/organizations", Token)
            .says("Lists the organizations, of which there is one.")
            .parameters(&SEARCH)
            .to(list),
        get("/api/v2/organizations/{organization}", Token)
            .says("Reads the organization.")
            .includes(&["entitlement_set"])
            .to(read),
        get("/api/v2/organizations/{organization}/entitlement-set", Token)
            .says("Reads what the daemon does.")
            .to(entitlement_set),
        get("/api/v2/organizations/{organization}/capacity", Token)
            .says("Reads how busy the organization is.")
            .to(capacity),
        get("/api/v2/organizations/{organization}/runs/queue", Visible)
            .says("Lists the runs that wait or work.")
            .to(queue),
        get("/api/v2/organizations/{organization}/runs", Visible)
            .says("Lists the runs of all workspaces.")
            .includes(&RUN_INCLUDES)
            .parameters(&run_list::PARAMETERS)
            .parameters(&run_list::OF_ORGANIZATION)
            .to(run_list::of_organization),
    ]
}

async fn list(on: OnAccount, ask: Ask) -> Result<Page<OrganizationAttributes>> {
    let name = &on.reader.user.config.organization;
    let searched = ["q", "q[name]"].iter().filter_map(|parameter| ask.query.get(parameter));
    let found = searched.into_iter().all(|text| name.to_lowercase().contains(&text.to_lowercase()));
    let all = if found { vec![organization::resource(name)] } else { vec![] };
    let cut = cut(ask.page, all);
    Ok(ask.paged(cut.total, cut.items))
}

async fn read(on: OnOrganization, ask: Ask) -> Result<One<OrganizationAttributes>> {
    let mut included = Included::default();
    if ask.include.has("entitlement_set") {
        included.add(&organization::entitlement_set(&on.name));
    }
    Ok(One::from(organization::resource(&on.name)).including(included))
}

async fn entitlement_set(on: OnOrganization, _: Ask) -> Result<One<EntitlementSetAttributes>> {
    Ok(organization::entitlement_set(&on.name).into())
}

async fn capacity(on: OnOrganization, _: Ask) -> Result<One<CapacityAttributes>> {
    let (queue, _) = on.reader.queue().await?;
    Ok(organization::capacity(&on.name, queue.waiting(), queue.working()).into())
}

async fn queue(
    InOrganization { reader, workspaces, .. }: InOrganization,
    ask: Ask,
) -> Result<Page<RunAttributes>> {
    let (queue, runs) = reader.queue().await?;
    let mut by_id: HashMap<_, Run> = runs.into_iter().map(|run| (run.id, run)).collect();
    let in_order = queue.order().iter().filter_map(|id| by_id.remove(id));
    let cut = cut(ask.page, in_order.filter(|run| workspaces.contains_key(&run.workspace)).collect());
    Ok(ask.paged(cut.total, reader.run_resources(&cut.items, &workspaces).await?))
}
