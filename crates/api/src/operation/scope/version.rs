//! Versions of configurations and of states.

use lifecycle::id::{ConfigurationVersionId, StateVersionId};
use store::{ConfigurationVersion, StateVersion, Workspace};

use super::super::right::Action;
use super::{Names, Scope, Variable, id_variable};
use crate::document::state_version::OutputId;
use crate::jsonapi::Result;
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
    pub(crate) workspace: Workspace,
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
        let (version, workspace) = reader.state_version(id, || id.described(), right).await?;
        Ok(Self { reader, version, workspace, _checked: () })
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
