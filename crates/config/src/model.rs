use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use lifecycle::retention::Retention;
use lifecycle::{AccessLevel, OrganizationRights, WorkspaceRights};
use url::Url;

use crate::index::Index;
use seal::Keyring;

use crate::sensitive::Sensitive;
use crate::source::DefinedAt;
use crate::values::{HttpHost, Pattern, TokenDigest};

/// The name of the team whose members may do everything.
pub const OWNERS: &str = "owners";

/// A whole configuration. Every map is in the order of the file.
///
/// Two are equal if they say the same, wherever in their files they say it.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The absolute path of the file; relative paths in it are resolved against its directory.
    pub file: PathBuf,
    /// The daemon's own settings.
    pub server: ServerConfig,
    /// The organization that all workspaces belong to.
    pub organization: String,
    /// Who may come in, by name.
    pub users: IndexMap<String, UserConfig>,
    /// Teams by name.
    pub teams: IndexMap<String, TeamConfig>,
    /// Policy sets by name.
    pub policy_sets: IndexMap<String, PolicySetConfig>,
    /// Workspaces by name.
    pub workspaces: IndexMap<String, WorkspaceConfig>,
    /// The files that sensitive values and keys were read from: no code of a run is to see them.
    pub secret_files: BTreeSet<PathBuf>,
    pub(crate) index: Index,
}

/// Whether the code of runs is kept from what is not theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IsolationMode {
    /// As far as the kernel can.
    #[default]
    On,
    /// Wholly: the daemon does not start where the kernel can't.
    Required,
    /// Not at all.
    Off,
}

/// The `server` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Where to listen; port 0 picks a free one.
    pub listen: SocketAddr,
    /// The directory of all that the daemon keeps, absolute.
    pub data_dir: PathBuf,
    /// How many stages of terraform may run at once.
    pub max_concurrent_runs: usize,
    /// How many configurations may be fetched from elsewhere at once.
    pub max_concurrent_fetches: usize,
    /// How many policy checks may run at once.
    pub max_concurrent_policy_checks: usize,
    /// How long each command of a plan may take, `terraform init` included.
    pub plan_time_limit: Duration,
    /// How long `terraform apply` may take.
    pub apply_time_limit: Duration,
    /// How long the fetching of a configuration may take.
    pub fetch_time_limit: Duration,
    /// How long an upload may take.
    pub upload_time_limit: Duration,
    /// The most bytes of a configuration, unpacked.
    pub max_configuration_size: u64,
    /// The most files and directories of a configuration.
    pub max_configuration_files: u64,
    /// Where Prometheus reads how the daemon is, without a token; nowhere if it is not set.
    pub metrics_listen: Option<SocketAddr>,
    /// What is kept of workspaces that say nothing else.
    pub retention: Retention,
    /// Below so many bytes of free space no run starts.
    pub min_free_space: u64,
    /// The most bytes of a state that is uploaded. What an apply leaves is kept, whatever its size.
    pub max_state_size: u64,
    /// How many connections there may be from one address.
    pub max_connections_per_address: usize,
    /// What is kept is encrypted with the first of these, if there is one, and read with any.
    pub encryption: Keyring,
    /// Whether the code of runs is kept from what is not theirs.
    pub isolation: IsolationMode,
    /// What the code of runs may write to, beside its own.
    pub writable_paths: Vec<PathBuf>,
    /// Terraform's binary: a bare name to be looked up in `PATH`, or an absolute path.
    pub terraform: PathBuf,
    /// From the interrupt that a cancel sends to the kill of what is still alive.
    pub cancel_grace: Duration,
    /// From a cancel to the moment when a force-cancel becomes legal.
    pub force_cancel_after: Duration,
    /// The address under which clients reach the daemon, if it is not the one it listens on. See
    /// [`public_url`](Self::public_url).
    pub public_url: Option<Url>,
}

/// A `user` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserConfig {
    /// Unique.
    pub name: String,
    /// The digests of the tokens that authenticate this user, at least one. No two users share one.
    pub tokens: Vec<TokenDigest>,
    /// The block's header.
    pub defined_at: DefinedAt,
}

/// A `team` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamConfig {
    /// Unique; [`OWNERS`] may do everything.
    pub name: String,
    /// Names of users that are defined.
    pub members: Vec<String>,
    /// The block's header.
    pub defined_at: DefinedAt,
}

/// A `policy_set` block.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicySetConfig {
    /// Unique.
    pub name: String,
    /// The folder that holds it and all that it uses, absolute.
    pub path: PathBuf,
    /// Where in that folder the set is, with `/` between its parts and no `..`; empty for the folder itself.
    pub policies_path: String,
    /// The workspaces it applies to: those that match any.
    pub workspaces: Vec<Pattern>,
    /// Wall time for each of its policies.
    pub time_limit: Duration,
    /// Parameters of its Sentinel policies; they win over those of the set's own files.
    pub parameters: IndexMap<String, serde_json::Value>,
    /// Parameters that must not be seen. No name is in both maps.
    pub sensitive_parameters: IndexMap<String, Sensitive<serde_json::Value>>,
    /// The hosts that its policies may reach over HTTP; none is the default.
    pub http_hosts: Vec<HttpHost>,
    /// The block's header.
    pub defined_at: DefinedAt,
}

/// A `workspace` block.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspaceConfig {
    /// Unique.
    pub name: String,
    /// A line for people.
    pub description: Option<String>,
    /// Where its terraform configuration comes from.
    pub source: Source,
    /// The folder of the source in which terraform runs, with `/` between its parts and no `..`; empty for its root.
    /// The whole source is taken, so that modules may lie beside it.
    pub working_directory: String,
    /// Its own terraform binary, if not the server's; as there.
    pub terraform: Option<PathBuf>,
    /// Whether runs that can be auto-applied are.
    pub auto_apply: bool,
    /// Terraform variables.
    pub variables: IndexMap<String, serde_json::Value>,
    /// Terraform variables that must not be seen. No name is in both maps.
    pub sensitive_variables: IndexMap<String, Sensitive<serde_json::Value>>,
    /// Environment variables for terraform.
    pub environment: IndexMap<String, String>,
    /// Environment variables that must not be seen. No name is in both maps.
    pub sensitive_environment: IndexMap<String, Sensitive<String>>,
    /// What each team may do here; the teams are defined.
    pub access: IndexMap<String, AccessLevel>,
    /// What is kept of it.
    pub retention: Retention,
    /// The block's header.
    pub defined_at: DefinedAt,
}

/// A `source` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A commit of a Git repository.
    Git(GitSource),
    /// A directory on this machine.
    Directory {
        /// Absolute. Whether it is there is found out when a run takes it.
        path: PathBuf,
    },
}

/// `source "git"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSource {
    /// What `git clone` takes; never begins with `-`. A relative path is made absolute.
    pub url: String,
    /// A branch, tag, full ref or commit; a legal ref name that never begins with `-`. The attribute is `ref`.
    pub reference: String,
}

impl ServerConfig {
    /// The base of the URLs that are given to clients, once the daemon knows where it listens.
    ///
    /// Without a `public_url`, an address that stands for all (`0.0.0.0`, `::`) becomes the loopback one: it is the
    /// only one known to lead here.
    pub fn public_url(&self, bound: SocketAddr) -> Url {
        if let Some(url) = &self.public_url {
            return url.clone();
        }
        let ip = match bound.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        let reachable = SocketAddr::new(ip, bound.port());
        #[expect(clippy::expect_used, reason = "an IP address with a port is a URL's authority")]
        Url::parse(&format!("http://{reachable}/")).expect("a URL")
    }
}

impl TeamConfig {
    /// Whether its members may do everything.
    pub fn is_owners(&self) -> bool {
        self.name == OWNERS
    }
}

impl PolicySetConfig {
    /// The folder of the set itself.
    pub fn folder(&self) -> PathBuf {
        self.path.join(&self.policies_path).components().collect()
    }

    /// Whether its policies are checked for runs of that workspace.
    pub fn applies_to(&self, workspace: &str) -> bool {
        self.workspaces.iter().any(|pattern| pattern.matches(workspace))
    }
}

impl Config {
    /// What the user may do in the workspace: what they have through the organization and through their teams adds up.
    /// `last` is what the teams could do in a workspace that is in the file no more, as far as that still stands.
    pub fn access(
        &self,
        user: &str,
        workspace: &str,
        last: &BTreeMap<String, AccessLevel>,
    ) -> WorkspaceRights {
        let here = self.workspaces.get(workspace).map(|workspace| &workspace.access);
        let level = |team: &str| match here {
            Some(access) => access.get(team),
            None => last.get(team),
        };
        let teams = self.index.teams(user).filter_map(level).map(|level| level.rights());
        teams.fold(self.organization_rights(user).in_workspaces(), WorkspaceRights::union)
    }

    /// What the user may do in the organization.
    pub fn organization_rights(&self, user: &str) -> OrganizationRights {
        if self.is_owner(user) { OrganizationRights::OWNER } else { OrganizationRights::MEMBER }
    }

    /// The terraform binary of the workspace's runs: its own, or else the server's.
    pub fn terraform<'a>(&'a self, workspace: &'a WorkspaceConfig) -> &'a Path {
        workspace.terraform.as_deref().unwrap_or(&self.server.terraform)
    }

    /// The names of the user's teams.
    pub fn teams(&self, user: &str) -> impl Iterator<Item = &str> {
        self.index.teams(user)
    }

    /// Whether the user is a member of the owners team.
    pub fn is_owner(&self, user: &str) -> bool {
        self.index.teams(user).any(|team| team == OWNERS)
    }

    /// The user whom the token authenticates, by the token's SHA-256.
    pub fn user_by_token(&self, digest: &TokenDigest) -> Option<&UserConfig> {
        self.users.get(self.index.users_by_token.get(digest)?)
    }

    /// The policy sets that apply to the workspace, in the order of the file.
    pub fn policy_sets_of<'a>(&'a self, workspace: &'a str) -> impl Iterator<Item = &'a PolicySetConfig> {
        self.policy_sets.values().filter(move |set| set.applies_to(workspace))
    }
}
