//! What is to be taken, from where, and to where: the contents of the request file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::report::StateKept;

/// The version of request and report that this build writes and reads.
pub const FORMAT: u32 = 3;

/// One configuration to take. Paths are best absolute; a relative one is taken from the process's directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeRequest {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Where the configuration lies. It is taken whole, since modules are often referred to as `../modules/x`.
    pub source: Source,
    /// The folder of it in which terraform runs, with `/` between its parts; empty for its root.
    #[serde(default)]
    pub working_directory: String,
    /// The directory that will hold it, created 0700. One that exists is emptied first.
    pub work: PathBuf,
    /// A directory for what is needed only meanwhile, such as a repository that is fetched.
    pub scratch: PathBuf,
    /// Where to write what was taken, as a `.tar.gz` (0600); replaced if it exists.
    #[serde(default)]
    pub archive: Option<PathBuf>,
    /// The current state of the workspace, if the daemon keeps one. Put where terraform looks for it, unless the
    /// configuration names a backend of its own.
    #[serde(default)]
    pub state: Option<PathBuf>,
    /// The workspace's name, for the commands that a refusal gives.
    #[serde(default)]
    pub workspace: String,
    /// Who kept the state in the workspace's last run, as far as that is known.
    #[serde(default)]
    pub kept: Option<StateKept>,
    /// A person said that a state which is found elsewhere is of no use.
    #[serde(default)]
    pub allow_new_state: bool,
    /// Where to write the [`TakeReport`](crate::TakeReport) (0600), once all else is done.
    pub report: PathBuf,
    /// Files of a directory source that are never taken, absolute and without links: the daemon's own, which its runs don't
    /// see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leave_out: Vec<PathBuf>,
    /// What a configuration may measure.
    #[serde(default)]
    pub limits: Limits,
}

/// Where a configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// A directory on this machine.
    Directory {
        /// The directory; may be a symbolic link to it.
        path: PathBuf,
    },
    /// A git repository.
    Git {
        /// What `git fetch` takes.
        url: String,
        /// A branch, tag, full ref, commit (also abbreviated), or `HEAD` for the repository's own default.
        reference: String,
    },
    /// A `.tar.gz` on this machine, as the Terraform CLI uploads it.
    Archive {
        /// The file.
        path: PathBuf,
    },
}

/// How large a configuration may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The sum of its files' sizes, in bytes.
    pub max_bytes: u64,
    /// Files, directories and symbolic links together.
    pub max_files: u64,
}

impl Default for Limits {
    /// 512 MiB in 50,000 files.
    fn default() -> Self {
        Self { max_bytes: 512 * 1024 * 1024, max_files: 50_000 }
    }
}
