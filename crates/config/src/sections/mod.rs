//! One file for each kind of block.

mod labels;
mod policy_set;
mod retention;
mod server;
mod settings;
mod source;
mod team;
mod user;
mod workspace;

pub(crate) use labels::register;
pub(crate) use policy_set::policy_set;
pub(crate) use server::server;
pub(crate) use team::{team, warn_without_owners};
pub(crate) use user::{Tokens, user};
pub(crate) use workspace::workspace;
