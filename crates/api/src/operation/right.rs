//! What a caller needs, and how they are let in.

use std::fmt;

use axum::http::HeaderMap;
pub(crate) use lifecycle::access::Action;

use crate::ApiState;
use crate::jsonapi::{Result, User};
use crate::reader::Reader;

/// What a caller of an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Nothing: anybody is answered.
    Public,
    /// The secret that is a part of the address.
    SecretInPath,
    /// A valid token, whoever's.
    Token,
    /// A valid token; of what lies in workspaces they get what they may read.
    Visible,
    /// A valid token, and this right in the workspace that the scope lies in.
    In(Action),
}

impl Right {
    /// Whether it takes a token.
    pub const fn has_token(self) -> bool {
        !matches!(self, Self::Public | Self::SecretInPath)
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("anybody"),
            Self::SecretInPath => f.write_str("secret in path"),
            Self::Token => f.write_str("any user"),
            Self::Visible => f.write_str("any user, sees their own"),
            Self::In(action) => write!(f, "{action:?}"),
        }
    }
}

/// A [`Right`] as a declaration names it: its type decides who gets as far as the scope, and which scopes fit.
pub(crate) trait Requirement: Copy + Send + Sync + 'static {
    /// What is known of a caller who was let in.
    type Caller: Send;

    fn right(self) -> Right;

    /// Lets the caller in, or refuses them with 401.
    fn admit(api: &ApiState, headers: &HeaderMap) -> Result<Self::Caller>;
}

/// See [`Right::Public`].
#[derive(Clone, Copy)]
pub(crate) struct Public;

/// See [`Right::SecretInPath`].
#[derive(Clone, Copy)]
pub(crate) struct SecretInPath;

/// See [`Right::Token`].
#[derive(Clone, Copy)]
pub(crate) struct Token;

/// See [`Right::Visible`].
#[derive(Clone, Copy)]
pub(crate) struct Visible;

impl Requirement for Public {
    type Caller = ApiState;

    fn right(self) -> Right {
        Right::Public
    }

    fn admit(api: &ApiState, _: &HeaderMap) -> Result<ApiState> {
        Ok(api.clone())
    }
}

impl Requirement for SecretInPath {
    type Caller = ApiState;

    fn right(self) -> Right {
        Right::SecretInPath
    }

    fn admit(api: &ApiState, _: &HeaderMap) -> Result<ApiState> {
        Ok(api.clone())
    }
}

impl Requirement for Token {
    type Caller = Reader;

    fn right(self) -> Right {
        Right::Token
    }

    fn admit(api: &ApiState, headers: &HeaderMap) -> Result<Reader> {
        Ok(Reader { api: api.clone(), user: User::admit(api, headers)? })
    }
}

impl Requirement for Visible {
    type Caller = Reader;

    fn right(self) -> Right {
        Right::Visible
    }

    fn admit(api: &ApiState, headers: &HeaderMap) -> Result<Reader> {
        Token::admit(api, headers)
    }
}

impl Requirement for Action {
    type Caller = Reader;

    fn right(self) -> Right {
        Right::In(self)
    }

    fn admit(api: &ApiState, headers: &HeaderMap) -> Result<Reader> {
        Token::admit(api, headers)
    }
}
