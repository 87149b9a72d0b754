//! Strings that stand for something: how each is read, and what would be right where it can't be.

use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use ::text::nearest;
use jiff::SignedDuration;
use lifecycle::AccessLevel;
use url::Url;

use crate::model::IsolationMode;
use crate::suggest::listed;

/// Why a string is not the value that it should be. Neither text quotes it: it may be a secret.
#[derive(Debug)]
pub(crate) struct Fault {
    /// A fragment: "not a duration".
    pub(crate) what: String,
    /// What would be right.
    pub(crate) help: String,
}

impl Fault {
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into() }
    }
}

/// A value written as a string.
pub(crate) trait FromText: Sized {
    /// Reads it; relative paths start at `base`, the config file's directory.
    fn from_text(text: &str, base: &Path) -> Result<Self, Fault>;

    /// The text that was probably meant by a bare number, where a number alone says too little.
    fn of_number(_: &str) -> Option<String> {
        None
    }
}

/// The most characters that a name may have, as in Terraform Enterprise.
const NAME_LIMIT: usize = 90;

/// The name of an organization, a workspace, a team…
#[derive(Debug)]
pub(crate) struct Name(pub(crate) String);

impl FromText for Name {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        let help = "a name has letters, digits, `-` and `_`";
        if text.is_empty() {
            return Err(Fault::new("a name must not be empty", help));
        }
        if let Some(char) = text.chars().find(|char| !char.is_ascii_alphanumeric() && !"-_".contains(*char)) {
            return Err(Fault::new(format!("a name must not hold {}", shown(char)), help));
        }
        if text.starts_with('-') {
            return Err(Fault::new(
                "a name must not begin with `-`",
                "the command line would take it for an option",
            ));
        }
        if text.len() > NAME_LIMIT {
            return Err(Fault::new(
                format!("a name must not be longer than {NAME_LIMIT} characters"),
                format!("this one has {}", text.len()),
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

fn shown(char: char) -> String {
    match char {
        ' ' => "a space".into(),
        char if char.is_control() || char.is_whitespace() => format!("U+{:04X}", u32::from(char)),
        char => format!("`{char}`"),
    }
}

/// A line of text without control characters.
#[derive(Debug)]
pub(crate) struct Line(pub(crate) String);

impl FromText for Line {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        if text.chars().any(char::is_control) {
            return Err(Fault::new("must be one line, without control characters", "leave them out"));
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromText for SocketAddr {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        // what people write for this machine only
        let address = match text.split_once(':') {
            Some(("localhost", port)) => format!("127.0.0.1:{port}"),
            _ => text.to_owned(),
        };
        address.parse().map_err(|_| {
            let port = text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
            let help = match (text.rsplit_once(':'), port) {
                (Some(("" | "*", _)), Some(port)) => {
                    format!("write \"127.0.0.1:{port}\" for this machine only, \"0.0.0.0:{port}\" for all")
                }
                _ => "write it as \"127.0.0.1:8080\" or \"[::1]:8080\"".into(),
            };
            Fault::new("not an IP address with a port", help)
        })
    }
}

impl FromText for Url {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        const HELP: &str = "write it as \"https://signalbox.example.com\"";
        let fault = |what: &str| Err(Fault::new(what, HELP));
        let url = match Self::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url,
            Ok(_) => return fault("the scheme must be http or https"),
            Err(_) => return fault("not an absolute URL"),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return fault("it must not hold a user or a password: it is shown to every client");
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return fault("nothing may follow host and port: terraform looks for the API at the root");
        }
        Ok(url)
    }
}

/// From 0 to 24 hours.
impl FromText for Duration {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        const HELP: &str = "write it as \"90s\", \"2m\" or \"1h30m\"";
        let Ok(duration) = text.parse::<SignedDuration>() else {
            return Err(Fault::new("not a duration", HELP));
        };
        match Self::try_from(duration) {
            Err(_) => Err(Fault::new("a duration can't be negative", HELP)),
            Ok(duration) if duration > Self::from_secs(24 * 60 * 60) => {
                Err(Fault::new("longer than a day", "the most is \"24h\""))
            }
            Ok(duration) => Ok(duration),
        }
    }

    fn of_number(number: &str) -> Option<String> {
        Some(format!("{number}s"))
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl FromText for Size {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        const UNITS: [(&str, u32); 4] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
        let fault = |what: &str| Fault::new(what, "write it as \"64 MiB\" or \"2 GiB\"");
        let (number, shift) = UNITS
            .into_iter()
            .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)))
            .ok_or_else(|| fault("not a size"))?;
        let number: u64 = number.trim_end().parse().map_err(|_| fault("not a size"))?;
        match number.checked_mul(1 << shift) {
            Some(0) => Err(fault("nothing would fit")),
            Some(bytes) if bytes <= 1 << 50 => Ok(Self(bytes)),
            _ => Err(fault("too large")),
        }
    }

    fn of_number(number: &str) -> Option<String> {
        Some(format!("{number} MiB"))
    }
}

/// How long something is kept, in days; none: for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days(pub(crate) Option<u32>);

impl FromText for Days {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        const HELP: &str = "write it as \"90d\", or \"forever\"";
        if text == "forever" {
            return Ok(Self(None));
        }
        let days = text.strip_suffix('d').and_then(|days| days.trim_end().parse().ok());
        match days {
            Some(0) => Err(Fault::new("nothing would be kept", HELP)),
            Some(days @ ..=36_500) => Ok(Self(Some(days))),
            Some(_) => Err(Fault::new("longer than a hundred years", HELP)),
            None => Err(Fault::new("not a number of days", HELP)),
        }
    }

    fn of_number(number: &str) -> Option<String> {
        Some(format!("{number}d"))
    }
}

/// Never repeated in a message: see the section that reads it.
impl FromText for seal::Key {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        Self::parse(text).map_err(|_| {
            Fault::new(
                "not a key",
                "a key is 32 bytes in base64: `signalbox encryption key` prints a new one",
            )
        })
    }
}

/// A path, made absolute.
#[derive(Debug)]
pub(crate) struct LocalPath(pub(crate) PathBuf);

impl FromText for LocalPath {
    fn from_text(text: &str, base: &Path) -> Result<Self, Fault> {
        Ok(Self(resolve(text, base)?))
    }
}

/// A path against a base, without `.` parts. A `..` stays: what it leads to depends on symbolic links.
pub(crate) fn resolve(text: &str, base: &Path) -> Result<PathBuf, Fault> {
    const HELP: &str = "write an absolute path, or one relative to the config file's directory";
    if text.is_empty() {
        return Err(Fault::new("a path must not be empty", HELP));
    }
    if text.contains('\0') {
        return Err(Fault::new("a path must not hold a NUL", HELP));
    }
    if text == "~" || text.starts_with("~/") {
        return Err(Fault::new(
            "`~` is a shell's word for a home directory",
            "write the path in full, or as \"${env(\"HOME\")}/…\"",
        ));
    }
    Ok(base.join(text).components().filter(|part| *part != Component::CurDir).collect())
}

impl FromText for IsolationMode {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        match text {
            "on" => Ok(Self::On),
            "required" => Ok(Self::Required),
            "off" => Ok(Self::Off),
            _ => Err(Fault::new(
                "no mode of isolation",
                "write \"on\", \"required\" (the daemon does not start where the kernel can't) or \"off\"",
            )),
        }
    }
}

/// A binary: a bare name to be looked up in `PATH`, or a path, made absolute.
#[derive(Debug)]
pub(crate) struct Program(pub(crate) PathBuf);

impl FromText for Program {
    fn from_text(text: &str, base: &Path) -> Result<Self, Fault> {
        let path = resolve(text, base)?;
        if text.contains('/') {
            return Ok(Self(path));
        }
        if matches!(text, "." | "..") || text.trim() != text || text.contains(char::is_whitespace) {
            return Err(Fault::new(
                "not the name of a binary",
                "write a name such as \"terraform\", or a path; arguments have no place here",
            ));
        }
        Ok(Self(text.into()))
    }
}

impl FromText for AccessLevel {
    fn from_text(text: &str, _: &Path) -> Result<Self, Fault> {
        if let Some(level) = Self::ALL.into_iter().find(|level| level.as_str() == text) {
            return Ok(level);
        }
        let names = Self::ALL.map(Self::as_str);
        let levels = format!("the levels are {}", listed(names, "and"));
        let help = match nearest(text, names) {
            Some(near) => format!("did you mean \"{near}\"? {levels}"),
            None => levels,
        };
        Err(Fault::new("not an access level", help))
    }
}
