//! Who asks. A missing or unknown token is 401; everything else that one may not do is 404, and is
//! decided where it is done.

use std::sync::Arc;

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};
use config::{Config, TokenDigest};
use lifecycle::WorkspaceRights;
use lifecycle::access::Action;
use store::{Visibility, Workspace};

use super::ApiError;
use crate::ApiState;

/// The user whose token came with the request, and the configuration that the request is answered by.
#[derive(Clone)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) config: Arc<Config>,
    token: TokenDigest,
}

impl User {
    fn of(token: TokenDigest, config: Arc<Config>) -> Option<Self> {
        let name = config.user_by_token(&token)?.name.clone();
        Some(Self { name, config, token })
    }

    /// The user whose token came along.
    ///
    /// # Errors
    /// 401 without a token, or for one that is nobody's.
    pub(crate) fn admit(api: &ApiState, headers: &HeaderMap) -> Result<Self, ApiError> {
        let token = bearer(headers).ok_or_else(ApiError::unauthorized)?;
        // looked up by digest: how long that takes tells nothing about the token
        Self::of(TokenDigest::of(token), api.engine().config()).ok_or_else(ApiError::unauthorized)
    }

    /// The user as the configuration is now; `None` if their token is no longer good. For what goes on
    /// longer than a request.
    pub(crate) fn now(&self, state: &ApiState) -> Option<Self> {
        Self::of(self.token, state.engine().config())
    }

    /// Whether policy sets apply to the workspace.
    pub(crate) fn policies(&self, workspace: &Workspace) -> bool {
        self.config.policy_sets_of(&workspace.name).next().is_some()
    }

    /// The one organization, if that is its name.
    pub(crate) fn organization(&self, name: &str) -> Result<&str, ApiError> {
        let organization = self.config.organization.as_str();
        if name == organization {
            Ok(organization)
        } else {
            Err(ApiError::not_found(format_args!("organization {name}")))
        }
    }

    /// The workspaces that they may see.
    pub(crate) fn visible(&self) -> Visibility {
        let everywhere = self.config.organization_rights(&self.name).in_workspaces();
        if everywhere.allows(Action::Read) {
            Visibility::All
        } else {
            // no level has less than the right to read
            Visibility::Teams(self.config.teams(&self.name).map(str::to_owned).collect())
        }
    }

    /// What they may do in the workspace.
    pub(crate) fn access(&self, workspace: &Workspace) -> WorkspaceRights {
        self.config.access(&self.name, &workspace.name, &workspace.access)
    }
}

fn bearer(headers: &HeaderMap<HeaderValue>) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bearer_token_counts() {
        let table = [
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("Basic abc", None),
            ("Bearer ", None),
            ("Bearer", None),
            ("abc", None),
        ];
        for (value, token) in table {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(value))]);
            assert_eq!(bearer(&headers), token, "{value}");
        }
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
