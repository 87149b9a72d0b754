//! The endpoints of the dialect, one module for each kind of resource (tfe-api.md 5).

mod configuration_versions;
mod files;
mod logs;
mod meta;
mod organizations;
mod plans;
mod policy_checks;
mod reader;
mod run_create;
mod run_list;
mod runs;
mod states;
mod workspaces;

use axum::Router;

use crate::ApiState;
pub(crate) use logs::stage_of;
pub(crate) use reader::{RUN_INCLUDES, Reader};
pub(crate) use runs::document as run_document;

pub(crate) fn router() -> Router<ApiState> {
    Router::new()
        .merge(meta::router())
        .merge(organizations::router())
        .merge(workspaces::router())
        .merge(runs::router())
        .merge(plans::router())
        .merge(policy_checks::router())
        .merge(configuration_versions::router())
        .merge(states::router())
        .merge(logs::router())
}
