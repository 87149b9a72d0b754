//! The organization, and what lies in it.

use super::super::right::{Token, Visible};
use super::{Names, Scope, Variable, variable};
use crate::jsonapi::Result;
use crate::reader::Reader;

/// The organization itself.
pub(crate) struct OnOrganization {
    pub(crate) reader: Reader,
    pub(crate) name: String,
    _checked: (),
}

pub(super) fn organization_variable() -> Variable {
    variable("organization", "The name of the organization.")
}

impl Scope for OnOrganization {
    type Right = Token;
    const NAME: &'static str = "organization";

    fn variables() -> Vec<Variable> {
        vec![organization_variable()]
    }

    async fn resolve(reader: Reader, mut names: Names, _: Token) -> Result<Self> {
        let name = reader.user.organization(&names.name()?)?.to_owned();
        Ok(Self { reader, name, _checked: () })
    }
}

/// What lies in the organization, as far as the caller may read it.
pub(crate) struct InOrganization {
    pub(crate) reader: Reader,
    _checked: (),
}

impl Scope for InOrganization {
    type Right = Visible;
    const NAME: &'static str = "workspaces of organization";

    fn variables() -> Vec<Variable> {
        vec![organization_variable()]
    }

    async fn resolve(reader: Reader, mut names: Names, _: Visible) -> Result<Self> {
        reader.user.organization(&names.name()?)?;
        Ok(Self { reader, _checked: () })
    }
}

/// Whatever the caller may read, at each moment anew: a stream outlives the rights that it began with.
pub(crate) struct OnWhatIsVisible {
    pub(crate) reader: Reader,
    _checked: (),
}

impl Scope for OnWhatIsVisible {
    type Right = Visible;
    const NAME: &'static str = "workspaces";

    fn variables() -> Vec<Variable> {
        vec![]
    }

    async fn resolve(reader: Reader, _: Names, _: Visible) -> Result<Self> {
        Ok(Self { reader, _checked: () })
    }
}
