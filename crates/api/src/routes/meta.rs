//! Discovery, ping, "who am I", and the description of all this.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::body::Body;
use serde_json::Value;
use wire::{AccountAttributes, One};

use crate::document::user;
use crate::jsonapi::Result;
use crate::openapi;
use crate::operation::{
    Anybody, Ask, NoContent, OnAccount, Operation, Plain, PlainText, Public, Raw, Token, get,
};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/.well-known/terraform.json", Public).says("Says where the services are.").to(discovery),
        get("/healthz", Public).says("Says that the daemon answers.").to(health),
        get("/api/v2/ping", Public).says("Says that the API is there.").to(ping),
        get("/api/v2/openapi.json", Public).says("Describes all operations.").to(description),
        get("/api/v2/account/details", Token).says("Reads who the token belongs to.").to(account),
    ]
}

/// Without `modules.v1` some clients refuse to start; there are no modules there.
async fn discovery(_: Anybody, _: Ask) -> Result<Plain<BTreeMap<&'static str, &'static str>>> {
    Ok(Plain(BTreeMap::from([
        ("tfe.v2", "/api/v2/"),
        ("tfe.v2.1", "/api/v2/"),
        ("tfe.v2.2", "/api/v2/"),
        ("state.v2", "/api/v2/"),
        ("modules.v1", "/api/registry/v1/modules/"),
    ])))
}

async fn health(_: Anybody, _: Ask) -> Result<Raw<PlainText>> {
    Ok(Raw::with(Body::from("ok"), []))
}

async fn ping(_: Anybody, _: Ask) -> Result<NoContent> {
    Ok(NoContent)
}

async fn description(_: Anybody, _: Ask) -> Result<Plain<&'static Value>> {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| openapi::document(&crate::operations()));
    Ok(Plain(&*DOCUMENT))
}

async fn account(on: OnAccount, _: Ask) -> Result<One<AccountAttributes>> {
    Ok(user::account(&on.reader.user.name).into())
}
