use std::collections::HashMap;

use indexmap::IndexMap;

use crate::model::{TeamConfig, UserConfig};
use crate::values::TokenDigest;

/// What requests look up, so that none of them walks through users or teams. It follows from the rest of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Names of users by the digests of their tokens.
    pub(crate) users_by_token: HashMap<TokenDigest, String>,
    /// Names of the teams of each user.
    teams_by_member: HashMap<String, Vec<String>>,
}

impl Index {
    pub(crate) fn of(users: &IndexMap<String, UserConfig>, teams: &IndexMap<String, TeamConfig>) -> Self {
        let mut index = Self::default();
        for user in users.values() {
            index.users_by_token.extend(user.tokens.iter().map(|token| (*token, user.name.clone())));
        }
        for team in teams.values() {
            for member in &team.members {
                index.teams_by_member.entry(member.clone()).or_default().push(team.name.clone());
            }
        }
        index
    }

    /// The names of the user's teams.
    pub(crate) fn teams(&self, user: &str) -> impl Iterator<Item = &str> {
        self.teams_by_member.get(user).into_iter().flatten().map(String::as_str)
    }
}
