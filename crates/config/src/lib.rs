//! The config file: its language, its mistakes, and what it says.
//!
//! ```text
//!  text ─ parse ─> body ─ fields ─> nodes (values with places) ─ decode, sections ─> Config
//!           │               │                                          │
//!           └───────────────┴──────── issues, all of them ─────────────┴──────────> Diagnostics
//! ```
//!
//! [`Config::load`] reads a file and gives either a [`Loaded`] (a [`Config`] that can be used, with warnings) or
//! [`Diagnostics`]: every mistake, each with file, line, column, what is wrong, and what would be right.
//!
//! # The language
//!
//! HCL, one file. Attributes are `name = value`; blocks are `name "label" { … }`. Relative paths start at the file's
//! directory. `null` is as good as not set. Names (of an organization, user, team, policy set, workspace) have
//! letters, digits, `-` and `_`, at most 90, and don't begin with `-`; no two blocks of one type have the same.
//!
//! | where | attribute or block | value | default |
//! |---|---|---|---|
//! | file | `organization` | name | required |
//! | file | `server`, `user "…"`, `team "…"`, `policy_set "…"`, `workspace "…"` | blocks; `server` at most once | |
//! | `server` | `listen` | IP address and port | `"127.0.0.1:8080"` |
//! | | `data_dir` | path | `"./data"` |
//! | | `max_concurrent_runs` | 1 to 1000 | `4` |
//! | | `max_concurrent_fetches` | 1 to 1000 | `4` |
//! | | `max_concurrent_policy_checks` | 1 to 1000 | `4` |
//! | | `plan_time_limit` | duration | `"2h"` |
//! | | `apply_time_limit` | duration | `"24h"` |
//! | | `fetch_time_limit` | duration | `"10m"` |
//! | | `upload_time_limit` | duration | `"1h"` |
//! | | `max_configuration_size` | size | `"512 MiB"` |
//! | | `max_configuration_files` | 1 to 10,000,000 | `50000` |
//! | | `max_state_size` | size | `"1 GiB"` |
//! | | `max_connections_per_address` | 1 to 100,000 | `512` |
//! | | `encryption_key` | key, from `env(…)` or `file(…)` | none |
//! | | `previous_encryption_keys` | list of such | `[]` |
//! | | `isolation` | `"on"`, `"required"` or `"off"` | `"on"` |
//! | | `writable_paths` | list of paths that the code of runs may write to | none |
//! | | `terraform` | name or path of a binary | `"terraform"` |
//! | | `metrics_listen` | IP address and port for Prometheus | none |
//! | | `min_free_space` | size: below it no run starts | `"256 MiB"` |
//! | | `keep_runs`, `keep_states` | number of the newest that are kept of each workspace | `1000`, `200` |
//! | | `keep_runs_for`, `keep_states_for` | days (`"90d"`) or `"forever"`; the newest 20 are kept whatever their age | `"365d"` |
//! | | `cancel_grace` | duration, 100 ms to a day | `"2m"` |
//! | | `force_cancel_after` | duration, up to a day | `"10s"` |
//! | | `public_url` | http or https URL without a path | where it listens |
//! | `user` | `token_sha256` | 64 hexadecimal digits, or a list of such | required |
//! | `team` | `members` | list of users | required |
//! | `policy_set` | `path` | path of a directory | required |
//! | | `policies_path` | folder within it that is the set, if its modules lie outside | its root |
//! | | `workspaces` | list of patterns with `*` and `?` | `["*"]` |
//! | | `time_limit` | duration for each policy, 100 ms to 5 minutes | `"10s"` |
//! | | `http_hosts` | list of `"host"` or `"host:port"` | `[]` |
//! | | `parameters`, `sensitive_parameters` | map of any values | `{}` |
//! | `workspace` | `source "git"` or `source "directory"` | exactly one block | required |
//! | | `description` | one line | |
//! | | `working_directory` | folder within the source, in which terraform runs | its root |
//! | | `terraform` | name or path of a binary | the server's |
//! | | `auto_apply` | true or false | `false` |
//! | | `variables`, `sensitive_variables` | map of any values | `{}` |
//! | | `environment`, `sensitive_environment` | map of strings | `{}` |
//! | | `keep_runs`, `keep_runs_for`, `keep_states`, `keep_states_for` | as in `server` | the server's |
//! | | `access` | map of teams to `"read"`, `"plan"`, `"write"` or `"admin"` | `{}` |
//! | `source "git"` | `url` | URL, `user@host:path`, or a path that begins with `/`, `./` or `../` | required |
//! | | `ref` | branch, tag, full ref or commit | `"HEAD"` |
//! | | `path` | short for the workspace's `working_directory` | |
//! | `source "directory"` | `path` | path | required |
//!
//! Durations are written `"90s"`, `"2m"`, `"1h30m"`, sizes `"64 MiB"`, `"2 GiB"`. The team [`OWNERS`] may do everything; a file in which nobody is
//! in it gets a warning.
//!
//! Refused in `environment`, since they would change what a plan means or break its isolation: `TF_CLI_ARGS*`,
//! `TF_WORKSPACE`, `TF_DATA_DIR`, `TF_IN_AUTOMATION`, `TF_INPUT`. Everything else may be set, `PATH`, `HOME`,
//! `TF_CLI_CONFIG_FILE`, `TF_LOG` and `TF_VAR_…` included.
//!
//! # Expressions
//!
//! Literals (strings, heredocs, numbers, booleans, null, lists, maps), strings with `${…}` in them, and two functions:
//!
//! - `env("NAME")`: the variable from the daemon's environment. One that is not set is a mistake.
//! - `file("path")`: the text of a file, without one line break at its end: that is how secrets are kept in files,
//!   and the line break is not part of them.
//!
//! A number or a boolean in `${…}`, or as a key of a map, is the text that terraform makes of it; keys are constants.
//! There are no other functions (`try` and `can` neither: what a file means must not depend on what fails), no
//! variables, and nothing to work out: no operators, conditionals, `for`, indices and `%{…}`. A file that has to be
//! computed can be written by a program. Numbers are 64 bits; one that would be rounded is refused.
//!
//! # Invariants
//!
//! - Finding one mistake hides no other, with two exceptions: behind a syntax error nothing is looked at, and of
//!   thousands one thousand is told and the rest counted.
//! - A mistake is reported once: what depends on something that was reported stays silent.
//! - No message holds a sensitive value or one that came from the environment or a file. [`Diagnostics::render`] shows
//!   lines of the file, with literals of sensitive attributes starred out (after a syntax error nobody can tell which
//!   those are); the one-line forms (`Display`) quote no line at all, and are the ones for logs.
//! - Two [`WorkspaceConfig`]s are equal if they say the same, wherever they stand: a reload compares them.
//! - The machine is asked only through [`Host`]. Whether a source or a terraform binary exists is not asked at all:
//!   that is found out by the run that needs it, and reported there.
//!
//! # Failure modes
//!
//! An unreadable file or one that is not UTF-8 is a diagnostic like any other. Nothing here panics on any text, or
//! waits: special files are not opened. The time it takes grows with the length of the file, but for the patterns of
//! policy sets, each of which is compared with the names of all workspaces: 10,000 workspaces take a tenth of a second.

mod calls;
mod context;
mod decode;
mod diagnostic;
mod exposed;
mod expression;
mod fields;
mod git;
mod host;
mod index;
mod load;
mod model;
mod node;
mod parse;
mod render;
mod schema;
mod sections;
mod sensitive;
mod source;
mod spans;
mod suggest;
mod text;
mod values;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Related, Severity};
pub use host::{Host, SystemHost};
pub use load::{Checked, Loaded};
pub use model::{
    Config, GitSource, IsolationMode, OWNERS, PolicySetConfig, ServerConfig, Source, TeamConfig, UserConfig,
    WorkspaceConfig,
};
pub use sensitive::Sensitive;
pub use source::{DefinedAt, Location};
pub use values::{HttpHost, Pattern, TOKEN_PREFIX, TokenDigest};
