//! Why a configuration was not taken. Each message names the thing and ends in what would be right.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::estate::Advice;
use crate::words::{listed, shown};

/// Why a configuration was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request file is missing, unreadable or no request.
    #[error("the request {} cannot be read: {reason}; give a JSON file as the daemon writes it", shown(.path))]
    Request {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The request was written for another build.
    #[error(
        "the request has format {found}, this signalbox reads {}: use the one that wrote it",
        crate::FORMAT
    )]
    Format {
        /// What the request says.
        found: u32,
    },
    /// Two places of the request are nested, so that filling one would destroy or swallow the other.
    #[error("{what} {} and the work directory {} are nested; {advice}", shown(.path), shown(.work))]
    Overlap {
        /// What the path is in the request, as `the source directory`.
        what: &'static str,
        /// That path.
        path: PathBuf,
        /// The work directory.
        work: PathBuf,
        /// What would be right.
        advice: &'static str,
    },
    /// The source, or something in it, could not be read.
    #[error("{} cannot be read: {cause}; {advice}", shown(.path))]
    Unreadable {
        /// What could not be read.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
        /// What would be right.
        advice: &'static str,
    },
    /// Something below the work directory, the archive or the report could not be written.
    #[error("{} cannot be written: {cause}; make room and see that signalbox may write there", shown(.path))]
    Unwritable {
        /// What could not be written.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// Reading or writing broke off in the middle of a file.
    #[error("{} cannot be copied: {cause}; see that it can be read and that there is room for it", shown(.path))]
    Copy {
        /// Its place in the configuration.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// Something that is neither file, directory nor symbolic link.
    #[error(
        "{} is {kind}: terraform could wait for it for ever; remove it, or leave it out with a line in .terraformignore",
        shown(.path)
    )]
    Kind {
        /// Its place in the configuration.
        path: PathBuf,
        /// What it is.
        kind: Kind,
    },
    /// A symbolic link that leads out of the configuration.
    #[error(
        "the symbolic link {} leads to {}, which is outside of the configuration; put the thing itself in its place, or \
         take a source that holds both",
        shown(.path), shown(.target)
    )]
    LinkLeaves {
        /// Its place in the configuration.
        path: PathBuf,
        /// What it holds.
        target: PathBuf,
    },
    /// A symbolic link where a file or directory proper has to be.
    #[error("{} is a symbolic link to {}; {advice}", shown(.path), shown(.target))]
    LinkNotFollowed {
        /// Its place in the configuration.
        path: PathBuf,
        /// What it holds.
        target: PathBuf,
        /// What would be right.
        advice: &'static str,
    },
    /// More bytes than the limit.
    #[error("the configuration is larger than {} (reached at {}); {LEAVE_OUT}, or raise max_configuration_size", text::bytes(*.limit), shown(.path))]
    TooLarge {
        /// Bytes.
        limit: u64,
        /// With what the limit was passed.
        path: PathBuf,
    },
    /// More entries than the limit.
    #[error("the configuration has more than {limit} files (reached at {}); {LEAVE_OUT}, or raise max_configuration_files", shown(.path))]
    TooMany {
        /// Files, directories and links.
        limit: u64,
        /// With what the limit was passed.
        path: PathBuf,
    },
    /// Directories in directories in directories.
    #[error("{} is more than {limit} directories deep; {LEAVE_OUT}", shown(.path))]
    TooDeep {
        /// Levels.
        limit: usize,
        /// What lies too deep.
        path: PathBuf,
    },
    /// A compressed archive that unpacks to something out of all proportion.
    #[error(
        "the archive unpacks to more than {limit} times its own size, as no terraform configuration does; pack the \
         configuration alone"
    )]
    Ratio {
        /// Unpacked bytes per packed byte.
        limit: u64,
    },
    /// An archive whose stream is too long, whatever its entries say.
    #[error("the archive unpacks to more than {}; pack the configuration alone, with no more than the limit", text::bytes(*.limit))]
    Stream {
        /// Bytes.
        limit: u64,
    },
    /// A file that is not an archive, or one that ends too early.
    #[error("{} is not a sound tar.gz archive: {cause}; pack it with `tar -czf FILE -C DIRECTORY .` and upload it again", shown(.path))]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        cause: io::Error,
    },
    /// An entry of an archive whose name leads out of it.
    #[error("the archive holds {}, a name that leads out of it; pack names below the configuration's own directory", shown(.path))]
    EntryLeaves {
        /// The name.
        path: PathBuf,
    },
    /// The same name twice, or a file where others have a directory.
    #[error("the archive holds {} twice, or once as a file and once as a directory; pack each name once", shown(.path))]
    Twice {
        /// The name.
        path: PathBuf,
    },
    /// A line of `.terraformignore` that is not a pattern.
    #[error(
        ".terraformignore:{line}: `{pattern}` is not a pattern: {reason}; write one as `build/`, `*.log` or `!keep.log`"
    )]
    Ignore {
        /// From 1.
        line: usize,
        /// The text of the line.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No `*.tf` and no `*.tf.json` where terraform is to run.
    #[error("{} holds no terraform files (*.tf or *.tf.json); {}", shown(.root), where_else(.found, "they"))]
    NoFiles {
        /// Where terraform was to run.
        root: PathBuf,
        /// Directories of the configuration that do hold some.
        found: Vec<String>,
    },
    /// A working directory that is not in the source.
    #[error("the source has no directory `{path}`; {}", where_else(.found, "terraform files"))]
    NoSuchPath {
        /// The working directory.
        path: String,
        /// Directories of the source that hold terraform files.
        found: Vec<String>,
    },
    /// A run would make again what was made already.
    #[error("{0}")]
    StateElsewhere(Box<Advice>),
    /// A repository that the configuration is made of can't be had.
    #[error(
        "the submodule {} can't be taken: {reason}; correct `.gitmodules`, or leave the folder out with .terraformignore",
        shown(.path)
    )]
    Submodule {
        /// Where it would lie.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Of a file only the pointer is there.
    #[error(
        "{} is kept in Git LFS, and what was checked out is only a pointer to it; install git-lfs, and `git lfs install` for the \
         user signalbox runs as, or leave the file out with .terraformignore",
        shown(.path)
    )]
    LfsPointer {
        /// The file.
        path: PathBuf,
    },
    /// A git source that cannot be what its author means.
    #[error("the {what} `{value}` of the git source {reason}")]
    Git {
        /// `url` or `ref`.
        what: &'static str,
        /// As given, without a password.
        value: String,
        /// What is wrong, and what would be right.
        reason: &'static str,
    },
    /// A working directory that leads elsewhere.
    #[error(
        "the working directory `{0}` leads out of the source; write a folder in it, as `network` or `live/network`"
    )]
    WorkingDirectory(String),
    /// There is no program `git`.
    #[error(
        "the source is a git repository, and there is no `git` on the PATH ({path}); install it (`apt install git`, `dnf install \
         git`, https://git-scm.com/downloads)"
    )]
    NoGit {
        /// Where it was looked for.
        path: String,
    },
    /// `git` failed, and said why in the log.
    #[error(
        "git could not {doing} ({status}; its own words are above); check the address and the access to it"
    )]
    GitFailed {
        /// As `fetch main from https://…`.
        doing: String,
        /// How it ended.
        status: String,
    },
    /// The repository does not have what was asked for.
    #[error("{url} has no branch, tag or commit `{reference}`; it has {}", listed(.known, "no branches and no tags"))]
    NoSuchReference {
        /// Without a password.
        url: String,
        /// As given.
        reference: String,
        /// Branches and tags that it has.
        known: Vec<String>,
    },
    /// It cannot be told where the configuration keeps its state, and guessing could lose it.
    #[error(
        "{}:{line}: the terraform block names a backend, but cannot be read: {reason}; correct it (`terraform validate` says \
         more), since where the state is kept must be certain",
        shown(.path)
    )]
    Backend {
        /// The file, in the configuration.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// An override file of the user that would win over the one that signalbox has to add.
    #[error("the override file {} has too long a name for another to come after it; shorten it to 200 bytes or less", shown(.path))]
    OverrideName {
        /// The file.
        path: PathBuf,
    },
}

const LEAVE_OUT: &str =
    "leave out what terraform does not need with .terraformignore, or name a smaller source";

fn where_else(found: &[String], what: &str) -> String {
    if found.is_empty() {
        "name the directory that terraform would be run in".to_owned()
    } else {
        format!("{what} are in {}", listed(found, ""))
    }
}

/// What an entry can be that no configuration may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A block or character device.
    Device,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A hard link of an archive.
    HardLink,
    /// A file with holes, or another special entry of an archive.
    Special,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Device => "a device",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::HardLink => "a hard link",
            Self::Special => "a special entry, neither file, directory nor symbolic link",
        })
    }
}
