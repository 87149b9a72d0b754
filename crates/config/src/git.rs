//! What `git` is given. It is started with these as arguments, so none may pass for an option.

use std::path::Path;

use url::Url;

use crate::text::{Fault, FromText, resolve};

/// What `git clone` takes.
#[derive(Debug)]
pub(crate) struct RepositoryUrl(pub(crate) String);

impl FromText for RepositoryUrl {
    fn from_text(text: &str, base: &Path) -> Result<Self, Fault> {
        const FORMS: &str = "write \"https://host/path.git\", \"ssh://git@host/path.git\", \"git@host:path.git\", \
                             or a path that begins with `/`, `./` or `../`";
        let fault = |what: &str| Err(Fault::new(what, FORMS));
        if text.starts_with('-') {
            return fault("it must not begin with `-`: git would take it for an option");
        }
        if text.chars().any(char::is_control) {
            return fault("it must not hold control characters");
        }
        if text.starts_with("./") || text.starts_with("../") {
            return Ok(Self(resolve(text, base)?.to_string_lossy().into_owned()));
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            if !matches!(scheme, "https" | "http" | "ssh" | "git" | "file" | "git+ssh" | "ssh+git") {
                return fault("git does not know this scheme");
            }
            let (login, host) = rest.rsplit_once('@').unwrap_or(("", rest));
            if scheme.contains("ssh") && login.contains(':') {
                return fault("it holds a password, which ssh does not take: use an SSH key");
            }
            if host.starts_with('-') || host.is_empty() {
                return fault("no host");
            }
            if scheme.starts_with("http") && cuts_its_password(text, rest) {
                return Err(Fault::new(
                    "its user or password holds `/`, `?`, `#` or `@`, which end it for git",
                    "percent-encode them: `/` as %2F, `?` as %3F, `#` as %23, `@` as %40",
                ));
            }
            return Ok(Self(text.to_owned()));
        }
        if text.starts_with('/') {
            return Ok(Self(text.to_owned()));
        }
        // `ext::command` and its kind run programs: they are no addresses
        match text.split_once(':') {
            Some((host, path))
                if !host.is_empty()
                    && !host.contains('/')
                    && !host.rsplit('@').any(|part| part.is_empty() || part.starts_with('-'))
                    && !path.is_empty()
                    && !path.starts_with(':') =>
            {
                Ok(Self(text.to_owned()))
            }
            _ => fault("not the address of a repository"),
        }
    }
}

/// Whether what was meant as a password may be read as host, port or path: then it would be shown as such, too.
fn cuts_its_password(url: &str, after_scheme: &str) -> bool {
    let (authority, rest) =
        after_scheme.find(['/', '?', '#']).map_or((after_scheme, ""), |end| after_scheme.split_at(end));
    let cut = !authority.contains('@') && authority.contains(':') && rest.contains('@');
    cut || authority.matches('@').count() > 1 || Url::parse(url).is_err()
}

impl RepositoryUrl {
    /// Whether a password stands in it.
    pub(crate) fn holds_password(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| url.password().is_some())
    }
}

/// A branch, tag, full ref or commit: what `git check-ref-format` allows, and not a refspec.
#[derive(Debug)]
pub(crate) struct Reference(pub(crate) String);

impl FromText for Reference {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        let fault = |what: String| {
            Err(Fault::new(
                what,
                "write a branch, a tag, a full ref such as \"refs/heads/main\", or a commit",
            ))
        };
        if text.starts_with('-') {
            return fault("it must not begin with `-`: git would take it for an option".into());
        }
        if text.chars().any(|char| char.is_control() || char.is_whitespace()) {
            return fault("it must not hold white space or control characters".into());
        }
        if let Some(char) = text.chars().find(|char| "~^:?*[\\+".contains(*char)) {
            return fault(format!("it must not hold `{char}`"));
        }
        let parts_are_legal = text
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock"));
        if !parts_are_legal
            || text.contains("..")
            || text.contains("@{")
            || text.ends_with('.')
            || text == "@"
        {
            return fault("not the name of a ref".into());
        }
        Ok(Self(text.to_owned()))
    }
}

/// A folder within another, with `/` between its parts; empty for that one itself.
#[derive(Debug)]
pub(crate) struct InnerFolder(pub(crate) String);

impl FromText for InnerFolder {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        let fault = |what: &str| Err(Fault::new(what, "write a folder within, such as \"network/prod\""));
        if text.starts_with('/') {
            return fault("it must not be absolute");
        }
        if text.chars().any(char::is_control) {
            return fault("it must not hold control characters");
        }
        let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.contains(&"..") {
            return fault("it must not lead outside");
        }
        if parts.first() == Some(&".git") {
            return fault("`.git` is not part of what is checked out");
        }
        let path = parts.join("/");
        if path.starts_with('-') {
            return fault("it must not begin with `-`: git would take it for an option");
        }
        Ok(Self(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Option<String> {
        RepositoryUrl::from_text(text, Path::new("/etc/signalbox")).ok().map(|url| url.0)
    }

    #[test]
    fn addresses_that_git_knows_are_taken_as_they_are() {
        for text in [
            "https://git.example/infra.git",
            "https://user:pw@git.example/infra.git",
            "https://user:p%23w@git.example:8443/infra.git",
            "https://git.example:8443/infra.git",
            "https://git.example/~me@work/infra.git",
            "ssh://git@git.example:2222/infra.git",
            "git@git.example:infra/network.git",
            "git.example:infra.git",
            "file:///srv/git/infra.git",
            "/srv/git/infra.git",
        ] {
            assert_eq!(url(text).as_deref(), Some(text));
        }
        assert_eq!(url("./infra.git").as_deref(), Some("/etc/signalbox/infra.git"));
        assert_eq!(url("../infra.git").as_deref(), Some("/etc/signalbox/../infra.git"));
    }

    #[test]
    fn what_could_be_an_option_or_a_command_is_no_address() {
        for text in [
            "",
            "-u",
            "--upload-pack=touch /tmp/x",
            "ext::sh -c touch% /tmp/x",
            "ssh://-oProxyCommand=x/y",
            "ssh://git@-oProxyCommand=x/y",
            "ssh://git:pw@host/x",
            "-oProxyCommand=x:y",
            "git@-oProxyCommand=x:y",
            "ftp2://host/x",
            "https://",
            // a password that ends early would be taken for something that may be shown
            "https://user:pa#ss@host/x.git",
            "https://user:12#3@host/x.git",
            "https://user:12/3@host/x.git",
            "https://user:12?3@host/x.git",
            "https://user:p@ss@host/x.git",
            "https://user:pw@host:port/x.git",
            "infra",
            "infra/network",
            "https://host/a\nb",
            "a\0b:c",
        ] {
            assert_eq!(url(text), None, "{text:?}");
        }
    }

    #[test]
    fn refs_are_what_git_calls_well_formed() {
        let legal = |text| Reference::from_text(text, Path::new("")).is_ok();
        for text in ["HEAD", "main", "v1.2.3", "feature/x-1", "refs/heads/main", "0a1b2c3d", "user@host"] {
            assert!(legal(text), "{text}");
        }
        for text in [
            "", "-x", "--all", "a b", "a\0", "main~1", "main^", "a:b", "+main", "a..b", "a//b", "/a", "a/",
            ".a", "a/.b", "a.lock", "a@{1}", "a.", "@", "*", "a?", "[a", "a\\b",
        ] {
            assert!(!legal(text), "{text:?}");
        }
    }

    #[test]
    fn a_folder_stays_within_its_source() {
        let path = |text| InnerFolder::from_text(text, Path::new("")).ok().map(|path| path.0);
        assert_eq!(path(""), Some(String::new()));
        assert_eq!(path("."), Some(String::new()));
        assert_eq!(path("./network//prod/"), Some("network/prod".into()));
        assert_eq!(path("..."), Some("...".into()));
        for text in ["/etc", "..", "a/../../b", ".git", "./.git/hooks", "a\nb", "./-x"] {
            assert_eq!(path(text), None, "{text:?}");
        }
    }
}
