//! Workspaces.

use std::marker::PhantomData;

use lifecycle::id::WorkspaceId;
use store::Workspace;

use super::super::right::Action;
use super::organization::organization_variable;
use super::{Names, Scope, Variable, id_variable, variable};
use crate::jsonapi::Result;
use crate::reader::Reader;

/// A workspace, by its id or [`ByName`].
pub(crate) struct OnWorkspace<By = ById> {
    pub(crate) reader: Reader,
    pub(crate) workspace: Workspace,
    by: PhantomData<By>,
}

/// `{workspace}`.
pub(crate) enum ById {}
/// `{organization}` and `{name}`.
pub(crate) enum ByName {}

impl Scope for OnWorkspace<ById> {
    type Right = Action;
    const NAME: &'static str = "workspace";

    fn variables() -> Vec<Variable> {
        vec![id_variable::<WorkspaceId>()]
    }

    async fn resolve(reader: Reader, mut names: Names, right: Action) -> Result<Self> {
        let workspace = reader.workspace_for(names.id()?, right).await?;
        Ok(Self { reader, workspace, by: PhantomData })
    }
}

impl Scope for OnWorkspace<ByName> {
    type Right = Action;
    const NAME: &'static str = "workspace by name";

    fn variables() -> Vec<Variable> {
        vec![organization_variable(), variable("name", "The name of the workspace.")]
    }

    async fn resolve(reader: Reader, mut names: Names, right: Action) -> Result<Self> {
        reader.user.organization(&names.name()?)?;
        let workspace = reader.workspace_by_name_for(&names.name()?, right).await?;
        Ok(Self { reader, workspace, by: PhantomData })
    }
}

/// A workspace that the query or the body names: to be asked for, with the declared right. Until it was asked for, no
/// more than the token was checked.
pub(crate) struct OnNamedWorkspace {
    pub(crate) reader: Reader,
    right: Action,
    _checked: (),
}

impl OnNamedWorkspace {
    /// The workspace of that id, if the caller has the right there.
    pub(crate) async fn workspace(&self, id: WorkspaceId) -> Result<Workspace> {
        self.reader.workspace_for(id, self.right).await
    }

    /// The workspace of that name, if the caller has the right there.
    pub(crate) async fn workspace_by_name(&self, organization: &str, name: &str) -> Result<Workspace> {
        self.reader.user.organization(organization)?;
        self.reader.workspace_by_name_for(name, self.right).await
    }
}

impl Scope for OnNamedWorkspace {
    type Right = Action;
    const NAME: &'static str = "workspace named in the request";

    fn variables() -> Vec<Variable> {
        vec![]
    }

    fn may_be_absent() -> bool {
        true
    }

    async fn resolve(reader: Reader, _: Names, right: Action) -> Result<Self> {
        Ok(Self { reader, right, _checked: () })
    }
}
