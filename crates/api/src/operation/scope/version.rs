//! Versions of configurations and of states.

use std::marker::PhantomData;

use jiff::Timestamp;
use lifecycle::id::{ConfigurationVersionId, StateVersionId};
use store::{ConfigurationVersion, StateUpload, StateVersion, Workspace};

use super::super::right::{Action, SecretInPath};
use super::{Names, Scope, Variable, id_variable, variable};
use crate::ApiState;
use crate::document::state_version::OutputId;
use crate::jsonapi::{ApiError, Result, Secret, Subject};
use crate::reader::Reader;

/// A configuration version.
pub(crate) struct OnConfigurationVersion {
    pub(crate) reader: Reader,
    pub(crate) version: ConfigurationVersion,
    _checked: (),
}

impl Scope for OnConfigurationVersion {
    type Right = Action;
    const NAME: &'static str = "configuration version";

    fn variables() -> Vec<Variable> {
        vec![id_variable::<ConfigurationVersionId>()]
    }

    async fn resolve(reader: Reader, mut names: Names, right: Action) -> Result<Self> {
        let version = reader.configuration_version(names.id()?, right).await?;
        Ok(Self { reader, version, _checked: () })
    }
}

/// A state version.
pub(crate) struct OnStateVersion {
    pub(crate) reader: Reader,
    pub(crate) version: StateVersion,
    _checked: (),
}

impl Scope for OnStateVersion {
    type Right = Action;
    const NAME: &'static str = "state version";

    fn variables() -> Vec<Variable> {
        vec![id_variable::<StateVersionId>()]
    }

    async fn resolve(reader: Reader, mut names: Names, right: Action) -> Result<Self> {
        let id: StateVersionId = names.id()?;
        let (version, _) = reader.state_version(id, || id.described(), right).await?;
        Ok(Self { reader, version, _checked: () })
    }
}

/// A state version, or one that was announced and has not come yet.
pub(crate) struct OnAnyStateVersion {
    pub(crate) reader: Reader,
    pub(crate) version: AnyStateVersion,
    _checked: (),
}

/// See [`OnAnyStateVersion`].
pub(crate) enum AnyStateVersion {
    Kept(Box<(StateVersion, Workspace)>),
    Announced(StateUpload),
}

impl Scope for OnAnyStateVersion {
    type Right = Action;
    const NAME: &'static str = "state version";

    fn variables() -> Vec<Variable> {
        vec![id_variable::<StateVersionId>()]
    }

    async fn resolve(reader: Reader, mut names: Names, right: Action) -> Result<Self> {
        let id: StateVersionId = names.id()?;
        let version = match reader.state_upload(id, right).await? {
            Some(upload) => AnyStateVersion::Announced(upload),
            None => {
                AnyStateVersion::Kept(Box::new(reader.state_version(id, || id.described(), right).await?))
            }
        };
        Ok(Self { reader, version, _checked: () })
    }
}

/// A state that was announced, for whoever has the address to which its bytes are sent.
pub(crate) struct OnStateUpload<K> {
    pub(crate) api: ApiState,
    /// The state version that it will be.
    pub(crate) id: StateVersionId,
    what: PhantomData<K>,
    _checked: (),
}

/// What is sent of a state.
pub(crate) trait StatePart: Send + 'static {
    fn subject(id: StateVersionId) -> Subject;
}

/// The state as terraform keeps it.
pub(crate) enum RawState {}
/// The state as `terraform show -json` gives it.
pub(crate) enum JsonState {}

impl StatePart for RawState {
    fn subject(id: StateVersionId) -> Subject {
        Subject::StateUpload(id)
    }
}

impl StatePart for JsonState {
    fn subject(id: StateVersionId) -> Subject {
        Subject::StateJsonUpload(id)
    }
}

impl<K: StatePart> Scope for OnStateUpload<K> {
    type Right = SecretInPath;
    const NAME: &'static str = "state upload";

    fn variables() -> Vec<Variable> {
        let secret = variable("secret", "A part of the address, which is given out with the state version.");
        vec![id_variable::<StateVersionId>(), secret]
    }

    async fn resolve(api: ApiState, mut names: Names, _: SecretInPath) -> Result<Self> {
        let not_found = || ApiError::not_found("state upload");
        let id: StateVersionId = names.name()?.parse().map_err(|_| not_found())?;
        match api.address_key().check(K::subject(id), &names.name()?, Timestamp::now()) {
            Secret::Good => Ok(Self { api, id, what: PhantomData, _checked: () }),
            Secret::Expired => Err(ApiError::upload_expired()),
            Secret::Wrong => Err(not_found()),
        }
    }
}

/// An output of a state version.
pub(crate) struct OnOutput {
    pub(crate) reader: Reader,
    pub(crate) id: OutputId,
    pub(crate) version: StateVersion,
    _checked: (),
}

impl Scope for OnOutput {
    type Right = Action;
    const NAME: &'static str = "state version output";

    fn variables() -> Vec<Variable> {
        vec![id_variable::<OutputId>()]
    }

    async fn resolve(reader: Reader, mut names: Names, right: Action) -> Result<Self> {
        let id: OutputId = names.id()?;
        let (version, _) = reader.state_version(id.state_version, || id.described(), right).await?;
        Ok(Self { reader, id, version, _checked: () })
    }
}
