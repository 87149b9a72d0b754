//! The one organization (tfe-api.md 5.2).

use std::collections::HashMap;

use axum::Router;
use axum::routing::get;
use store::Run;
use wire::Included;

use super::{Reader, run_list};
use crate::ApiState;
use crate::document::organization;
use crate::jsonapi::{Document, Name, Query, Result, User};

pub(super) fn router() -> Router<ApiState> {
    Router::new()
        .route("/api/v2/organizations", get(list))
        .route("/api/v2/organizations/{organization}", get(read))
        .route("/api/v2/organizations/{organization}/entitlement-set", get(entitlement_set))
        .route("/api/v2/organizations/{organization}/capacity", get(capacity))
        .route("/api/v2/organizations/{organization}/runs/queue", get(queue))
        .route("/api/v2/organizations/{organization}/runs", get(runs))
}

async fn list(user: User, query: Query) -> Result<Document> {
    let name = &user.config.organization;
    let searched = ["q", "q[name]"].iter().filter_map(|parameter| query.get(parameter));
    let found = searched.into_iter().all(|text| name.to_lowercase().contains(&text.to_lowercase()));
    let all = if found { vec![organization::resource(name)] } else { vec![] };
    let page = query.page()?;
    let cut = Query::cut(page, all);
    Ok(query.paged(page, cut.total, cut.items))
}

async fn read(user: User, Name(name): Name, query: Query) -> Result<Document> {
    let name = user.organization(&name)?;
    let include = query.include(&["entitlement_set"])?;
    let mut included = Included::default();
    if include.has("entitlement_set") {
        included.add(&organization::entitlement_set(name));
    }
    Ok(Document::one(organization::resource(name)).including(included))
}

async fn entitlement_set(user: User, Name(name): Name) -> Result<Document> {
    Ok(Document::one(organization::entitlement_set(user.organization(&name)?)))
}

async fn capacity(reader: Reader, Name(name): Name) -> Result<Document> {
    let name = reader.user.organization(&name)?;
    let (queue, _) = reader.queue().await?;
    Ok(Document::one(organization::capacity(name, queue.waiting(), queue.working())))
}

async fn queue(reader: Reader, Name(name): Name, query: Query) -> Result<Document> {
    reader.user.organization(&name)?;
    let page = query.page()?;
    let visible = reader.visible().await?;
    let (queue, runs) = reader.queue().await?;
    let mut by_id: HashMap<_, Run> = runs.into_iter().map(|run| (run.id, run)).collect();
    let in_order = queue.order().iter().filter_map(|id| by_id.remove(id));
    let cut = Query::cut(page, in_order.filter(|run| visible.contains_key(&run.workspace)).collect());
    let resources = reader.run_resources(&cut.items, &visible).await?;
    Ok(query.paged(page, cut.total, resources))
}

async fn runs(reader: Reader, Name(name): Name, query: Query) -> Result<Document> {
    reader.user.organization(&name)?;
    run_list::of_organization(&reader, &query).await
}
