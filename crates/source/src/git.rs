//! A git repository as a source.
//!
//! The commit is fetched into a bare repository in a scratch directory, without its history where the server allows
//! it, and written out by `git archive`: no work tree, so no hook runs and nothing is written through a link of the
//! repository. The result passes the same filter as an uploaded archive. Git speaks for itself in the log.
//!
//! What lies there is what `git clone --recurse-submodules` would have checked out, or the configuration is refused: other
//! repositories that it is made of are fetched as well ([`crate::submodules`]), and a file of which only the pointer of Git LFS
//! is there is none.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use tempfile::TempDir;
use text::escaped;

use crate::error::Error;
use crate::ignore::{self, IgnoreRules};
use crate::remote::{Remote, Variables};
use crate::report::Commit;
use crate::unpack::{self, Taking};
use crate::words::without_credentials;

/// Characters of a commit's message that are kept.
const MESSAGE_LIMIT: usize = 2_000;

/// What is asked for, checked.
#[derive(Debug)]
pub(crate) struct GitSource<'a> {
    pub(crate) remote: Remote,
    reference: &'a str,
}

/// A commit on this machine, as long as this lives.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) repository: Repository,
    pub(crate) commit: Commit,
    pub(crate) ignore: IgnoreRules,
}

impl<'a> GitSource<'a> {
    pub(crate) fn new(url: &str, reference: &'a str) -> Result<Self, Error> {
        let wrong = |reason| Error::Git { what: "url", value: without_credentials(url), reason };
        if let Some(reason) = wrong_url(url) {
            return Err(wrong(reason));
        }
        let remote = Remote::new(url).map_err(wrong)?;
        if let Some(reason) = wrong_reference(reference) {
            return Err(Error::Git { what: "ref", value: escaped(reference), reason });
        }
        Ok(Self { remote, reference })
    }

    /// A commit of another repository that this one is made of. It is let in where this one is.
    pub(crate) fn submodule(&self, url: &str, commit: &'a str) -> Result<Self, Error> {
        let Self { remote, reference } = Self::new(url, commit)?;
        Ok(Self { remote: remote.let_in_as(&self.remote), reference })
    }

    /// Brings the commit here. What git needs for that lies in `scratch`, and is gone when the result is dropped.
    pub(crate) fn fetch(&self, scratch: &Path, log: &mut dyn Write) -> Result<Fetched, Error> {
        let repository = Repository::create(scratch, &self.remote)?;
        let revision = self.bring(&repository, log)?;
        let commit =
            repository.commit(revision).map_err(|failure| failure.while_doing(&self.doing("read")))?;
        let listed = repository
            .output(&["ls-tree", "-z", &commit.sha, "--", ignore::FILE_NAME])
            .map_err(|failure| failure.while_doing(&self.doing("read")))?;
        let mode_of = |name: &str| {
            listed.split(|byte| *byte == 0).find_map(|line| {
                let line = std::str::from_utf8(line).ok()?;
                let (attributes, path) = line.split_once('\t')?;
                (path == name).then(|| attributes.split(' ').next().unwrap_or_default().to_owned())
            })
        };
        let ignore_file = || {
            let file = format!("{}:{}", commit.sha, ignore::FILE_NAME);
            repository
                .output(&["cat-file", "blob", &file])
                .map_err(|failure| failure.while_doing(&self.doing("read")))
        };
        let ignore = match mode_of(ignore::FILE_NAME).as_deref() {
            Some("100644" | "100755") => ignore::read(ignore_file()?.as_slice())?,
            Some("120000") => {
                let target = OsString::from_vec(ignore_file()?);
                return Err(ignore::must_be_a_file(Path::new(&target)));
            }
            _ => IgnoreRules::default(),
        };
        Ok(Fetched { repository, commit, ignore })
    }

    /// Fetches what is asked for, and says under which name it can be found.
    fn bring(&self, repository: &Repository, log: &mut dyn Write) -> Result<&'a str, Error> {
        const FETCHED: &str = "FETCH_HEAD";
        let url = &*self.remote.url;
        let shallow =
            ["fetch", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, self.reference];
        if !could_be_a_commit(self.reference) {
            return match repository.run(&shallow).or_else(|failure| self.without_depth(repository, failure)) {
                Ok(()) => Ok(FETCHED),
                Err(Failure::Start(cause)) => Err(Failure::Start(cause).while_doing("")),
                Err(failure) => {
                    Err(self.missing(repository).unwrap_or_else(|| failure.while_doing(&self.doing("fetch"))))
                }
            };
        }
        // a server may know it as a branch, or give a commit by its full name; if not, that is no news for the log
        match repository.output(&shallow) {
            Ok(_) => return Ok(FETCHED),
            Err(Failure::Start(cause)) => return Err(Failure::Start(cause).while_doing("")),
            Err(Failure::Status(_)) => {}
        }
        let _ = writeln!(log, "Looking for {} in the whole history.", escaped(self.reference));
        let everything = [
            "fetch",
            "--no-tags",
            "--no-recurse-submodules",
            "--",
            url,
            "+refs/heads/*:refs/heads/*",
            "+refs/tags/*:refs/tags/*",
        ];
        repository.run(&everything).map_err(|failure| failure.while_doing(&self.doing("fetch")))?;
        match repository.output(&[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("{}^{{commit}}", self.reference),
        ]) {
            Ok(_) => Ok(self.reference),
            Err(failure) => {
                Err(self.missing(repository).unwrap_or_else(|| failure.while_doing(&self.doing("fetch"))))
            }
        }
    }

    /// A server of plain files has all of the history or none. Any other says the same again.
    fn without_depth(&self, repository: &Repository, failure: Failure) -> Result<(), Failure> {
        let of_files = matches!(failure, Failure::Status(_)) && self.remote.url.starts_with("http");
        if !of_files || self.missing(repository).is_some() {
            return Err(failure);
        }
        let fetch = ["fetch", "--no-tags", "--no-recurse-submodules", "--", &self.remote.url, self.reference];
        repository.run(&fetch)
    }

    /// If the repository can be reached and has nothing of the name, that is what is wrong.
    fn missing(&self, repository: &Repository) -> Option<Error> {
        let listed = repository.output(&["ls-remote", "--", &self.remote.url]).ok()?;
        let listed = String::from_utf8_lossy(&listed);
        let refs: Vec<&str> =
            listed.lines().filter_map(|line| line.split_once('\t')).map(|(_, name)| name).collect();
        // where git looks for it, in its order
        let meant = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"]
            .map(|folder| format!("{folder}{}", self.reference));
        if refs.iter().any(|name| meant.iter().any(|meant| meant == name)) {
            return None;
        }
        let known = refs
            .iter()
            .filter(|name| !name.ends_with("^{}"))
            .filter_map(|name| name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/tags/")));
        Some(Error::NoSuchReference {
            url: without_credentials(&self.remote.url),
            reference: self.reference.to_owned(),
            known: known.map(str::to_owned).collect(),
        })
    }

    pub(crate) fn doing(&self, what: &str) -> String {
        format!("{what} {} from {}", escaped(self.reference), without_credentials(&self.remote.url))
    }
}

impl Repository {
    /// Writes a commit out.
    pub(crate) fn unpack(
        &self,
        source: &GitSource<'_>,
        commit: &Commit,
        below: &Path,
        taking: &mut Taking<'_>,
    ) -> Result<(), Error> {
        let doing = || source.doing("write out");
        // with the address at hand, filters such as that of git-lfs can fetch what they need
        let remote = format!("remote.origin.url={}", source.remote.url);
        let mut command =
            self.command(&["-c", &remote, "-c", "tar.umask=0022", "archive", "--format=tar", &commit.sha]);
        let mut child = Killed(
            command
                .stdout(Stdio::piped())
                .spawn()
                .map_err(|cause| Failure::Start(cause).while_doing(&doing()))?,
        );
        let Some(stream) = child.0.stdout.take() else {
            return Err(Failure::Start(io::ErrorKind::BrokenPipe.into()).while_doing(&doing()));
        };
        match unpack::tar(Path::new("the repository"), below, stream, None, taking) {
            Err(error @ Error::Archive { .. }) => {
                let status = child.0.wait().map_err(|cause| Failure::Start(cause).while_doing(&doing()))?;
                Err(if status.success() { error } else { Failure::Status(status).while_doing(&doing()) })
            }
            Err(error) => Err(error),
            Ok(()) => {
                let status = child.0.wait().map_err(|cause| Failure::Start(cause).while_doing(&doing()))?;
                if status.success() { Ok(()) } else { Err(Failure::Status(status).while_doing(&doing())) }
            }
        }
    }
}

fn wrong_url(url: &str) -> Option<&'static str> {
    match () {
        () if url.is_empty() => {
            Some("is empty; write `https://host/path.git`, `git@host:path.git` or an absolute path")
        }
        () if url.starts_with('-') => {
            Some("begins with `-`, which git would take for an option; write an address")
        }
        () if url.chars().any(char::is_control) => Some("holds control characters; write them as `%XX`"),
        () => None,
    }
}

/// By the rules of `git check-ref-format`, which a refspec and a revision such as `main~1` do not meet.
fn wrong_reference(reference: &str) -> Option<&'static str> {
    let forbidden =
        |char: char| char.is_control() || matches!(char, ' ' | ':' | '~' | '^' | '?' | '*' | '[' | '\\');
    let wrong = reference.is_empty()
        || reference.starts_with(['-', '+', '/'])
        || reference.ends_with(['/', '.'])
        || reference.contains(forbidden)
        || ["..", "@{", "//", "/."].iter().any(|part| reference.contains(part));
    wrong.then_some(
        "is not a name of one; write a branch, a tag, a full ref such as `refs/heads/main`, or a commit",
    )
}

/// A full or abbreviated name of a commit; a branch may look like one, too.
fn could_be_a_commit(reference: &str) -> bool {
    (4..=64).contains(&reference.len()) && reference.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(crate) enum Failure {
    Start(io::Error),
    Status(ExitStatus),
}

impl Failure {
    pub(crate) fn while_doing(self, doing: &str) -> Error {
        match self {
            Self::Start(cause) if cause.kind() == io::ErrorKind::NotFound => {
                let path = std::env::var_os("PATH").unwrap_or_default().to_string_lossy().into_owned();
                Error::NoGit { path: escaped(&path) }
            }
            Self::Start(cause) => Error::GitFailed { doing: doing.to_owned(), status: cause.to_string() },
            Self::Status(status) => Error::GitFailed { doing: doing.to_owned(), status: status.to_string() },
        }
    }
}

/// A child that does not outlive the interest in it.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A bare repository for one commit.
#[derive(Debug)]
pub(crate) struct Repository {
    directory: TempDir,
    /// How git gets in where it fetches from.
    environment: Variables,
}

impl Repository {
    fn create(scratch: &Path, remote: &Remote) -> Result<Self, Error> {
        let unwritable = |cause| Error::Unwritable { path: scratch.to_owned(), cause };
        let directory = tempfile::Builder::new().prefix(".git-").tempdir_in(scratch).map_err(unwritable)?;
        let repository = Self { directory, environment: remote.environment() };
        repository
            .run(&["init", "--quiet", "--bare", "--template="])
            .map_err(|failure| failure.while_doing("start"))?;
        // what is meant for people who download an archive is not meant for terraform
        let info = repository.directory.path().join("info");
        fs::create_dir_all(&info).map_err(unwritable)?;
        fs::write(info.join("attributes"), "* -export-ignore -export-subst\n").map_err(unwritable)?;
        Ok(repository)
    }

    fn commit(&self, revision: &str) -> Result<Commit, Failure> {
        let revision = format!("{revision}^{{commit}}");
        let format = "--format=%H%n%an%n%B";
        let shown = self.output(&["log", "-1", "--no-show-signature", format, &revision, "--"])?;
        let shown = String::from_utf8_lossy(&shown);
        let mut parts = shown.splitn(3, '\n');
        let sha = parts.next().unwrap_or_default().to_owned();
        let mut some = || parts.next().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let (author, message) = (some(), some());
        Ok(Commit { sha, message: message.map(|text| text.chars().take(MESSAGE_LIMIT).collect()), author })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(["-c", "protocol.ext.allow=never", "-c", "core.hooksPath=/dev/null"]);
        command.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
        command.arg("--git-dir").arg(self.directory.path()).args(arguments);
        // its own configuration stays: it names the credentials; but no other repository may be meant
        for name in [
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_OBJECT_DIRECTORY",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            "GIT_COMMON_DIR",
            "GIT_NAMESPACE",
            "GIT_SHALLOW_FILE",
        ] {
            command.env_remove(name);
        }
        command.envs(self.environment.0.iter().map(|(name, value)| (name, value)));
        command.env("GIT_TERMINAL_PROMPT", "0").current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    /// Runs it with its words in the log.
    fn run(&self, arguments: &[&str]) -> Result<(), Failure> {
        match self.command(arguments).status().map_err(Failure::Start)? {
            status if status.success() => Ok(()),
            status => Err(Failure::Status(status)),
        }
    }

    /// Runs it for what it prints; why it fails is lost.
    pub(crate) fn output(&self, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        let output = self.command(arguments).stderr(Stdio::null()).output().map_err(Failure::Start)?;
        if output.status.success() { Ok(output.stdout) } else { Err(Failure::Status(output.status)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_would_take_for_an_option_or_a_refspec_is_refused() {
        for url in ["", "--upload-pack=touch /tmp/x", "-u", "https://host/\u{1b}"] {
            assert!(matches!(GitSource::new(url, "main"), Err(Error::Git { what: "url", .. })), "{url:?}");
        }
        for reference in
            ["", "-x", "+main", "a:b", "main~1", "main^", "a b", "a..b", "main@{1}", "/a", "a/", "a//b", "*"]
        {
            let found = GitSource::new("/r", reference);
            assert!(matches!(found, Err(Error::Git { what: "ref", .. })), "{reference:?}");
        }
        assert!(GitSource::new("git@host:a.git", "refs/heads/x").is_ok());
    }

    #[test]
    fn a_password_is_not_repeated_in_an_error() {
        let error = GitSource::new("https://u:s3cret@host/a", "-x").unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
        let error = GitSource::new("https://u:s3cret@host/\u{7}", "main").unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }
}
