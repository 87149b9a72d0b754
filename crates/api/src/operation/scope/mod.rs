//! What operations are about: found by what the path names, for a caller who has the declared right.
//!
//! A handler gets a scope and nothing else to begin with, so it can't run for anybody who lacks the right: only
//! [`Scope::resolve`] makes one, since each has a field that is private to this module.

mod organization;
mod run;
mod version;
mod workspace;

use std::collections::VecDeque;

use super::right::{Public, Requirement, Token};
use crate::ApiState;
use crate::jsonapi::{ApiError, Identity, Result, identity};
use crate::reader::Reader;
pub(crate) use organization::{InOrganization, OnOrganization, OnWhatIsVisible};
pub(crate) use run::{OnLogAddress, OnRun, OnRunEvent, OnStage};
pub(crate) use version::{
    AnyStateVersion, JsonState, OnAnyStateVersion, OnConfigurationVersion, OnOutput, OnStateUpload,
    OnStateVersion, RawState,
};
pub(crate) use workspace::{ById, ByName, OnNamedWorkspace, OnWorkspace};

/// A variable of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// As it stands in the path, without its braces.
    pub name: String,
    /// What goes there.
    pub about: String,
}

fn variable(name: &str, about: &str) -> Variable {
    Variable { name: name.to_owned(), about: about.to_owned() }
}

fn id_variable<T: Identity>() -> Variable {
    variable(&T::NAME.replace(' ', "_"), &format!("The id of the {}.", T::NAME))
}

/// The values of a path's variables, in their order.
pub(crate) struct Names(VecDeque<String>);

impl Names {
    pub(super) fn new(values: impl IntoIterator<Item = String>) -> Self {
        Self(values.into_iter().collect())
    }

    fn name(&mut self) -> Result<String> {
        self.0.pop_front().ok_or_else(ApiError::no_such_endpoint)
    }

    fn id<T: Identity>(&mut self) -> Result<T> {
        identity(&self.name()?)
    }
}

/// What an operation is about.
pub(crate) trait Scope: Sized + Send + 'static {
    /// The kind of right that it is checked with.
    type Right: Requirement;
    /// In words.
    const NAME: &'static str;

    /// The variables of the path, in their order.
    fn variables() -> Vec<Variable>;

    /// Whether there may be nothing there for the caller.
    fn may_be_absent() -> bool {
        !Self::variables().is_empty()
    }

    /// Finds it, if the caller has the right; otherwise it is refused as not found.
    fn resolve(
        caller: <Self::Right as Requirement>::Caller,
        names: Names,
        right: Self::Right,
    ) -> impl Future<Output = Result<Self>> + Send;
}

/// The daemon, for anybody.
pub(crate) struct Anybody {
    _checked: (),
}

impl Scope for Anybody {
    type Right = Public;
    const NAME: &'static str = "daemon";

    fn variables() -> Vec<Variable> {
        vec![]
    }

    async fn resolve(_: ApiState, _: Names, _: Public) -> Result<Self> {
        Ok(Self { _checked: () })
    }
}

/// The caller.
pub(crate) struct OnAccount {
    pub(crate) reader: Reader,
    _checked: (),
}

impl Scope for OnAccount {
    type Right = Token;
    const NAME: &'static str = "caller";

    fn variables() -> Vec<Variable> {
        vec![]
    }

    async fn resolve(reader: Reader, _: Names, _: Token) -> Result<Self> {
        Ok(Self { reader, _checked: () })
    }
}
