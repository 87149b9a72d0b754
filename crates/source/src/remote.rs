//! Where git fetches from, and the user and password for it.
//!
//! Everybody on the machine can read a command line, and git hands addresses on to programs of its own. So what stands
//! in an `https://user:password@host/…` never becomes an argument: git gets the address without it, and asks a
//! credential helper that reads the environment, which only processes of the same user can see.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

/// Prints what the environment has when git asks for it, and keeps nothing.
const HELPER: &str = r#"!f() { if test "$1" = get; then printf 'username=%s\npassword=%s\n' "$SIGNALBOX_GIT_USERNAME" "$SIGNALBOX_GIT_PASSWORD"; fi; }; f"#;

/// An address with what is needed to be let in there.
#[derive(Debug)]
pub(crate) struct Remote {
    /// Without user and password, where they are given in another way.
    pub(crate) url: String,
    login: Option<Login>,
}

#[derive(Clone)]
struct Login {
    /// `https://host:port`: nobody else gets it, wherever the server sends git.
    scope: String,
    user: OsString,
    password: Option<OsString>,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("scope", &self.scope).finish_non_exhaustive()
    }
}

impl Remote {
    /// Takes the address apart. For all but `http` and `https` it stays as it is: a user belongs to it there, and a
    /// password is of no use.
    ///
    /// # Errors
    /// Why user and password can't be given to git.
    pub(crate) fn new(url: &str) -> Result<Self, &'static str> {
        let Some((scheme, login, rest)) = web_login(url) else {
            return Ok(Self { url: url.to_owned(), login: None });
        };
        let host = rest.split('/').next().unwrap_or_default();
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(decoded(password)?)),
            None => (login, None),
        };
        let login = Login { scope: format!("{scheme}://{host}"), user: decoded(user)?, password };
        Ok(Self { url: format!("{scheme}://{rest}"), login: Some(login) })
    }

    /// The same address, let in as another one where both are of the same host and nothing else is said.
    pub(crate) fn let_in_as(self, other: &Self) -> Self {
        let of_same_host =
            |login: &&Login| self.url.strip_prefix(&login.scope).is_some_and(|rest| rest.starts_with('/'));
        let login = self.login.clone().or_else(|| other.login.as_ref().filter(of_same_host).cloned());
        Self { login, ..self }
    }

    /// Whether it lies on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.url.starts_with('/') || self.url.starts_with("file://")
    }

    /// The variables by which git finds user and password, added to what configuration the environment gives already.
    pub(crate) fn environment(&self) -> Variables {
        let Some(Login { scope, user, password }) = &self.login else { return Variables(Vec::new()) };
        let mut settings: Vec<(&str, OsString)> = Vec::new();
        let mut variables: Vec<(String, OsString)> = Vec::new();
        match password {
            // the address says it all: no other helper is asked, and none is told
            Some(password) => {
                settings.extend([("helper", OsString::new()), ("helper", HELPER.into())]);
                variables.push(("SIGNALBOX_GIT_USERNAME".to_owned(), user.clone()));
                variables.push(("SIGNALBOX_GIT_PASSWORD".to_owned(), password.clone()));
            }
            None => settings.push(("username", user.clone())),
        }
        let given =
            std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(0_usize);
        variables.push(("GIT_CONFIG_COUNT".to_owned(), (given + settings.len()).to_string().into()));
        for (index, (name, value)) in (given..).zip(settings) {
            variables.push((format!("GIT_CONFIG_KEY_{index}"), format!("credential.{scope}.{name}").into()));
            variables.push((format!("GIT_CONFIG_VALUE_{index}"), value));
        }
        Variables(variables)
    }
}

/// Variables for git, whose values are not shown.
pub(crate) struct Variables(pub(crate) Vec<(String, OsString)>);

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Scheme, user and password, and the rest of an address of the web that has them.
fn web_login(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let authority = rest.split('/').next().unwrap_or_default();
    let (login, host) = authority.rsplit_once('@')?;
    Some((scheme, login, &rest[authority.len() - host.len()..]))
}

/// Without its percent-encoding, as git reads it: a `%` that no two hex digits follow stands for itself.
fn decoded(text: &str) -> Result<OsString, &'static str> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let encoded = match after {
            [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        bytes.push(encoded.map_or(*first, |(high, low)| high << 4 | low));
        rest = if encoded.is_some() { &after[2..] } else { after };
    }
    if bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0)) {
        return Err("holds a user or password with a line break, which git can't take");
    }
    Ok(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(url: &str) -> (String, Option<(String, String, Option<String>)>) {
        let Remote { url, login } = Remote::new(url).unwrap();
        let text = |text: OsString| text.into_string().unwrap();
        (url, login.map(|login| (login.scope, text(login.user), login.password.map(text))))
    }

    #[test]
    fn user_and_password_are_taken_out_of_addresses_of_the_web_alone() {
        let login = |scope: &str, user: &str, password: Option<&str>| {
            Some((scope.to_owned(), user.to_owned(), password.map(str::to_owned)))
        };
        let table = [
            ("https://u:p@host/a.git", "https://host/a.git", login("https://host", "u", Some("p"))),
            ("http://u:p@host:8080/a", "http://host:8080/a", login("http://host:8080", "u", Some("p"))),
            ("https://token@host/a", "https://host/a", login("https://host", "token", None)),
            ("https://u:a%40b%25@host/a", "https://host/a", login("https://host", "u", Some("a@b%"))),
            ("https://u:p@ss@host/a@b", "https://host/a@b", login("https://host", "u", Some("p@ss"))),
            ("https://u:100%@host/a", "https://host/a", login("https://host", "u", Some("100%"))),
            ("https://:p@host", "https://host", login("https://host", "", Some("p"))),
            ("https://host/a@b.git", "https://host/a@b.git", None),
            ("ssh://git@host/a.git", "ssh://git@host/a.git", None),
            ("git@host:a.git", "git@host:a.git", None),
            ("/srv/a.git", "/srv/a.git", None),
        ];
        for (url, without, expected) in table {
            assert_eq!(parts(url), (without.to_owned(), expected), "{url}");
        }
    }

    #[test]
    fn what_git_could_not_take_is_refused_without_being_repeated() {
        let error = Remote::new("https://u:s3cret%0a@host/a").unwrap_err();
        assert!(!error.contains("s3cret"), "{error}");
        assert!(!format!("{:?}", Remote::new("https://u:s3cret@host/a").unwrap()).contains("s3cret"));
    }
}
