use std::fmt;

use url::Url;

/// One thing that an answer finds fault with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, in the daemon's words.
    pub detail: String,
    /// Where: a JSON pointer into the document that was sent (`/data/attributes/variables`), or the name of a query
    /// parameter.
    pub place: Option<String>,
}

/// All that an answer finds fault with. `Display` joins them in one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the daemon gives no reason");
        }
        for (index, Problem { detail, place }) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "; " })?;
            f.write_str(detail)?;
            if let Some(place) = place {
                write!(f, " (at {place})")?;
            }
        }
        Ok(())
    }
}

/// Why a request did not do what it was for.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// 401: the token is not that of a user.
    #[error("the daemon at {address} does not accept the token")]
    Unauthorized {
        /// The daemon's address.
        address: String,
    },
    /// 403: something else has to be done first.
    #[error("{0}")]
    Forbidden(Problems),
    /// 404: there is no such thing, or the user may not see it, or may not do this. Which of these is not told.
    #[error("{0}")]
    NotFound(Problems),
    /// 409: not possible in the state that it is in. Nothing was changed.
    #[error("{0}")]
    Conflict(Problems),
    /// 400, 408, 413, 415, 422: the request is not right.
    #[error("{0}")]
    Invalid(Problems),
    /// A file of this machine can't be read.
    #[error("can't read {}: {why}", path.display())]
    File {
        /// Which.
        path: std::path::PathBuf,
        /// In the words of the operating system.
        why: String,
    },
    /// No answer.
    #[error("can't reach the daemon at {address}: {why}")]
    Unreachable {
        /// The daemon's address.
        address: String,
        /// What happened instead of an answer.
        why: String,
    },
    /// 5xx, 429: the daemon can't do it, perhaps only for now.
    #[error("the daemon failed ({status}): {problems}")]
    Server {
        /// The HTTP status.
        status: u16,
        /// Its words.
        problems: Problems,
    },
    /// An answer that is not one of this API.
    #[error("{url} does not answer as a signalbox daemon does: {why}")]
    Unexpected {
        /// What was asked.
        url: Url,
        /// What is wrong with the answer.
        why: String,
    },
    /// The address can't be one.
    #[error("{address:?} is not the address of a daemon: {why}")]
    BadAddress {
        /// As it was given.
        address: String,
        /// Why not.
        why: String,
    },
    /// The token has characters that no token has.
    #[error("the token has characters that can't be sent: it is printable ASCII without blanks")]
    BadToken,
}

impl ClientError {
    /// What a person can do about it, if that is known.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Unauthorized { .. } => Some(
                "the daemon knows a token by `token_sha256` in its config file; `signalbox token new USER` makes one",
            ),
            Self::Unreachable { .. } => Some(
                "is `signalbox serve` running there? --address or SIGNALBOX_ADDRESS names another address",
            ),
            Self::BadAddress { .. } => Some("an address is like http://127.0.0.1:8080"),
            Self::Server { .. } => Some("the daemon's own log says more"),
            Self::Unexpected { .. } => {
                Some("does something else listen at this address, or a much older release?")
            }
            Self::Forbidden(_)
            | Self::NotFound(_)
            | Self::Conflict(_)
            | Self::Invalid(_)
            | Self::File { .. }
            | Self::BadToken => None,
        }
    }

    /// Whether asking again later may work.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Server { .. })
    }
}

/// The innermost reason, which is the one that helps: the outer ones only say that a request failed.
pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
