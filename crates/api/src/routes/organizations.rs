//! The one organization.

use wire::{
    CapacityAttributes, EntitlementSetAttributes, Included, One, OrganizationAttributes, RunAttributes,
};

use super::run_list;
use crate::compound::RUN_INCLUDES;
use crate::document::organization;
use crate::jsonapi::{Parameter, Result, cut};
use crate::operation::{
    Ask, InOrganization, OnAccount, OnOrganization, Operation, Page, Token, Visible, get,
};

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
    let queue = on.reader.queue().await?;
    Ok(organization::capacity(&on.name, queue.waiting(), queue.working()).into())
}

async fn queue(InOrganization { reader, .. }: InOrganization, ask: Ask) -> Result<Page<RunAttributes>> {
    let queue = reader.queue().await?;
    let workspaces = reader.visible_of(queue.workspaces()).await?;
    let visible = queue.order().iter().filter(|(_, workspace)| workspaces.contains_key(workspace));
    let cut = cut(ask.page, visible.map(|(run, _)| *run).collect());
    let mut runs = reader.api.store().runs_with(&cut.items).await?;
    let runs: Vec<_> = cut.items.iter().filter_map(|id| runs.remove(id)).collect();
    let (resources, _) = reader.run_documents(&runs, &workspaces, &ask.include).await?;
    Ok(ask.paged(cut.total, resources))
}
