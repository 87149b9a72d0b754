use lifecycle::{Contradiction, Illegal, WorkspaceRights};

/// Why something that a person asked for was not done. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is no such thing, or they may not see it: which of these is not told.
    #[error("{what} not found, or you are not authorized to see it")]
    NotFound {
        /// "run run-…", "workspace network-prod".
        what: String,
    },
    /// They may see it, and may not do this.
    #[error("you are not authorized to do this in workspace {workspace}: it takes {}", needs.words())]
    NotAuthorized {
        /// Its name.
        workspace: String,
        /// The least access that is enough.
        needs: WorkspaceRights,
    },
    /// It is not legal in the state that the run is in.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// It is not possible now for another reason, in words.
    #[error("{0}")]
    Conflict(String),
    /// The request itself is not right.
    #[error("{detail}")]
    Invalid {
        /// What is wrong, as a JSON pointer into the API's document: `/data/attributes/target-addrs`.
        pointer: &'static str,
        /// Why, and what would be right.
        detail: String,
    },
    /// The daemon could not do it. It may work later.
    #[error("the request could not be recorded: {0}")]
    Failed(#[from] store::Error),
}

impl From<Contradiction> for Refusal {
    fn from(Contradiction { pointer, why }: Contradiction) -> Self {
        Self::Invalid { pointer, detail: why.to_owned() }
    }
}

impl Refusal {
    /// `what`: as it was asked for.
    pub fn not_found(what: impl std::fmt::Display) -> Self {
        Self::NotFound { what: what.to_string() }
    }
}
