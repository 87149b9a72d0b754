//! The documents of the API, in both directions: the daemon fills these structs, its client reads them, and the
//! OpenAPI document describes them. There is no other definition of a run, a workspace or an error on the wire.
//!
//! ```text
//! Document<D>                 an answer: data, what comes along, pages
//!   Resource<A>               type, id, attributes, relationships, links
//!     RunAttributes, …        one struct for each type of resource, with its relationships beside it
//! Body<A, R>                  what a request carries; CreateRun where that is not enough
//! Errors                      a refusal
//! ```
//!
//! Invariants:
//! * Attributes are structs of plain data, so that writing one can't fail and both directions agree.
//! * What a reader doesn't know is ignored, and a state that it doesn't know is kept as it came ([`RunState`]): an older
//!   client works with a newer daemon. The other way round, an attribute that is added later has `#[serde(default)]`.
//! * In a body that changes something, what is absent stays as it is and `null` takes it away ([`Patch`]); in a body
//!   that makes something, both mean the default.
//! * The documentation of a field is its description in the OpenAPI document.
//!
//! Failure modes: a document that is not of the type that was asked for is refused in words that name the resource
//! ([`Resource`]); a body that doesn't fit is refused with its place as a JSON pointer ([`Misfit`]).
//!
//! To add a resource: a struct of attributes, one of relationships, and `impl Attributes` with the JSON:API type.

mod body;
mod configuration_version;
mod document;
mod error;
mod new_run;
mod null_if_empty;
mod organization;
mod page;
mod policy_check;
mod resource;
mod run;
mod run_event;
#[cfg(feature = "samples")]
pub mod samples;
mod stage;
mod state_version;
mod stream;
mod user;
mod workspace;

/// A text that is often a constant.
pub type Text = std::borrow::Cow<'static, str>;

/// When something reached what, by key: `planning-at`.
pub type Timestamps = std::collections::BTreeMap<String, jiff::Timestamp>;

/// What the reader of a document may do, by key: `can-update`.
pub type Permissions = std::collections::BTreeMap<Text, bool>;

pub use body::{Body, Comment, Data, LockReason, Misfit, Patch, read};
pub use configuration_version::{
    ConfigurationVersion, ConfigurationVersionAttributes, ConfigurationVersionRelationships,
    IngressAttributes, IngressAttributesAttributes,
};
pub use document::{Document, Included, Many, One, Primary};
pub use error::{ErrorEntry, ErrorSource, Errors};
pub use new_run::{CreateRun, NewRun};
pub use null_if_empty::NullIfEmpty;
pub use organization::{
    Capacity, CapacityAttributes, EntitlementSet, EntitlementSetAttributes, Organization,
    OrganizationAttributes, OrganizationRelationships,
};
pub use page::{Meta, PageLinks, Pagination};
pub use policy_check::{
    CheckedPolicy, CheckedSet, PolicyCheck, PolicyCheckActions, PolicyCheckAttributes,
    PolicyCheckPermissions, PolicyCheckRelationships, PolicyResult,
};
pub use resource::{Attributes, Identifier, Links, NoRelationships, Relationship, Relationships, Resource};
pub use run::{
    Run, RunActions, RunAttributes, RunExtension, RunPermissions, RunRelationships, RunState, ShownVariable,
};
pub use run_event::{
    CommentAttributes, CommentResource, RunEvent, RunEventAttributes, RunEventRelationships,
};
pub use stage::{
    Apply, ApplyAttributes, ApplyRelationships, ExecutionDetails, Plan, PlanActions, PlanAttributes,
    PlanPermissions, PlanRelationships, ResourceCounts,
};
pub use state_version::{
    NewStateVersion, StateOutput, StateOutputAttributes, StateVersion, StateVersionAttributes,
    StateVersionRelationships,
};
pub use stream::{ChangeEvent, LogEndEvent, LogEvent};
pub use user::{Account, AccountAttributes, TwoFactor, User, UserAttributes};
pub use workspace::{
    SettingOverwrites, Workspace, WorkspaceActions, WorkspaceAttributes, WorkspaceExtension,
    WorkspacePermissions, WorkspaceRelationships, WorkspaceSource,
};
