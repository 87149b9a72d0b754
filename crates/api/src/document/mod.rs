//! The documents of the API, built from records: pure. Run, plan, apply and policy check are four views of
//! the one run record, so they can't disagree.

pub(crate) mod configuration_version;
pub(crate) mod organization;
pub(crate) mod policy_check;
pub(crate) mod run;
pub(crate) mod run_event;
pub(crate) mod stage;
pub(crate) mod state_version;
pub(crate) mod user;
pub(crate) mod workspace;

#[cfg(test)]
pub(crate) mod fixture;
