//! Identifiers as Terraform Enterprise writes them: a prefix for the kind, then 16 letters and digits.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

/// Letters and digits without `0OIl`, which people confuse.
const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const LENGTH: usize = 16;

/// What an [`Id`] names.
pub trait Kind {
    /// What the written form starts with, the hyphen included.
    const PREFIX: &'static str;
    /// What people call it: `configuration version`.
    const NAME: &'static str;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $id:ident $prefix:literal $name:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $kind {}
        impl Kind for $kind {
            const PREFIX: &'static str = $prefix;
            const NAME: &'static str = $name;
        }
        $(#[$doc])*
        pub type $id = Id<$kind>;
    )*};
}

kinds! {
    /// A workspace.
    Workspace WorkspaceId "ws-" "workspace";
    /// A run.
    Run RunId "run-" "run";
    /// The plan of a run.
    Plan PlanId "plan-" "plan";
    /// The apply of a run.
    Apply ApplyId "apply-" "apply";
    /// The policy check of a run.
    PolicyCheck PolicyCheckId "polchk-" "policy check";
    /// A configuration version.
    ConfigurationVersion ConfigurationVersionId "cv-" "configuration version";
    /// A state version.
    StateVersion StateVersionId "sv-" "state version";
    /// An entry of a run's journal.
    RunEvent RunEventId "re-" "run event";
    /// A user.
    User UserId "user-" "user";
    /// A team.
    Team TeamId "team-" "team";
}

/// An identifier of one kind. The kind is in the type, so that a plan is never looked up by a run's id.
pub struct Id<K> {
    suffix: [u8; LENGTH],
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Id<K> {
    /// A new identifier from the operating system's randomness: 93 bits, so that a collision is not a concern.
    ///
    /// # Panics
    /// When the operating system has no randomness, where nothing could go on safely.
    pub fn generate() -> Self {
        let mut entropy = [0; LENGTH];
        #[expect(clippy::expect_used, reason = "without randomness no identifier is safe")]
        getrandom::fill(&mut entropy).expect("the operating system gives random bytes");
        Self::from_entropy(entropy)
    }

    /// The identifier that these bytes spell: for tests, and for things that are named rather than made
    /// (a digest of the name gives the same id on every start).
    pub fn from_entropy(entropy: [u8; LENGTH]) -> Self {
        Self { suffix: entropy.map(|byte| ALPHABET[byte as usize % ALPHABET.len()]), kind: PhantomData }
    }

    /// The identifier of another kind that shares its suffix: a run's plan, apply and policy check.
    pub const fn sibling<L: Kind>(self) -> Id<L> {
        Id { suffix: self.suffix, kind: PhantomData }
    }

    /// What it names, in words: `run run-…`.
    pub fn described(self) -> String {
        format!("{} {self}", K::NAME)
    }

    fn suffix(&self) -> &str {
        std::str::from_utf8(&self.suffix).unwrap_or_default()
    }
}

impl Id<Run> {
    /// The id of its plan.
    pub const fn plan(self) -> PlanId {
        self.sibling()
    }

    /// The id of its apply.
    pub const fn apply(self) -> ApplyId {
        self.sibling()
    }

    /// The id of its policy check.
    pub const fn policy_check(self) -> PolicyCheckId {
        self.sibling()
    }
}

/// A text that is not an identifier of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an id of this kind: it would be {prefix:?} and {LENGTH} letters and digits")]
pub struct InvalidId {
    text: String,
    prefix: &'static str,
}

impl<K: Kind> FromStr for Id<K> {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix(K::PREFIX)
            .and_then(|suffix| <[u8; LENGTH]>::try_from(suffix.as_bytes()).ok())
            .filter(|suffix| suffix.iter().all(|byte| ALPHABET.contains(byte)))
            .map(|suffix| Self { suffix, kind: PhantomData })
            .ok_or_else(|| InvalidId { text: text.chars().take(64).collect(), prefix: K::PREFIX })
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::PREFIX)?;
        f.write_str(self.suffix())
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// by hand, since a derive would ask the same of `K`
impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.suffix == other.suffix
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.suffix.cmp(&other.suffix)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.suffix.hash(state);
    }
}

impl<K: Kind> serde::Serialize for Id<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K: Kind> serde::Deserialize<'de> for Id<K> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_as_it_was_written() {
        let id = RunId::generate();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.plan().to_string().replace("plan-", "run-"), id.to_string());
        assert_eq!(id.policy_check().described(), format!("policy check {}", id.policy_check()));
    }

    #[test]
    fn an_id_of_another_kind_or_shape_is_refused() {
        let plan = RunId::generate().plan().to_string();
        for text in [
            plan.as_str(),
            "run-",
            "run-short",
            "run-0000000000000000",
            "run-12345678901234567",
            "",
            "../etc",
        ] {
            assert!(text.parse::<RunId>().is_err(), "{text}");
        }
    }
}
