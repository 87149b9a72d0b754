use std::fmt;

use sha2::{Digest, Sha256};
use url::Url;

use crate::text::{Fault, FromText};

/// What the tokens of `signalbox token new` begin with, so that they are easy to find where they should not be.
pub const TOKEN_PREFIX: &str = "signalbox_";

/// The SHA-256 of a bearer token. Tokens are 256 random bits, so the digest gives nothing away and needs no salt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// The digest of a token as a client sends it.
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    pub(crate) fn parse(hex: &str) -> Option<Self> {
        let mut digest = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (byte, pair) in digest.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let [high, low] = pair else { return None };
            let digit = |char: u8| char::from(char).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(digest))
    }
}

/// 64 hexadecimal digits in lower case.
impl fmt::Display for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromText for TokenDigest {
    fn from_text(text: &str, _: &std::path::Path) -> Result<Self, Fault> {
        const HELP: &str = "`signalbox token new USER` makes a token and prints the line that belongs here";
        match Self::parse(text) {
            Some(digest) if digest == Self::of("") => {
                Err(Fault::new("this is the digest of an empty token", HELP))
            }
            Some(digest) => Ok(digest),
            None if text.starts_with(TOKEN_PREFIX) => Err(Fault::new(
                "this is a token, and not the SHA-256 of one",
                "take it out of the file and make a new one, since it was readable here: `signalbox token new USER` prints \
                 both, and the line that belongs here",
            )),
            None => Err(Fault::new("a SHA-256 is 64 hexadecimal digits", HELP)),
        }
    }
}

/// A pattern for workspace names: `*` stands for any characters, `?` for one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern for every workspace.
    pub(crate) fn any() -> Self {
        Self("*".into())
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the name matches as a whole.
    pub fn matches(&self, name: &str) -> bool {
        // both are ASCII, see `from_text` and the rule for names; other names match no pattern but `*` and `?`
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut at, mut seen) = (0, 0);
        let mut star = None;
        while seen < name.len() {
            match pattern.get(at) {
                Some(b'*') => {
                    star = Some((at + 1, seen));
                    at += 1;
                }
                Some(&byte) if byte == b'?' || Some(&byte) == name.get(seen) => {
                    at += 1;
                    seen += 1;
                }
                _ => {
                    // the last star takes one more
                    let Some((after, taken)) = star else { return false };
                    star = Some((after, taken + 1));
                    (at, seen) = (after, taken + 1);
                }
            }
        }
        pattern.iter().skip(at).all(|&byte| byte == b'*')
    }
}

impl FromText for Pattern {
    fn from_text(text: &str, _: &std::path::Path) -> Result<Self, Fault> {
        let legal = |char: char| char.is_ascii_alphanumeric() || "-_*?".contains(char);
        if text.is_empty() || !text.chars().all(legal) {
            return Err(Fault::new(
                "no workspace name can match this",
                "names have letters, digits, `-` and `_`; in a pattern `*` stands for any of them, `?` for one",
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

/// A host that policies may reach: a name or an address, which stands for the scheme's own port, or either with a
/// port. An IPv6 address stands in brackets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HttpHost(String);

impl HttpHost {
    /// In lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for HttpHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_text(text, std::path::Path::new(""))
            .map_err(|fault| format!("{}; {}", fault.what, fault.help))
    }
}

impl FromText for HttpHost {
    fn from_text(text: &str, _: &std::path::Path) -> Result<Self, Fault> {
        const HELP: &str =
            "write \"api.example.com\", or \"api.example.com:8443\" for another port than the usual one";
        let url = Url::parse(&format!("http://{text}"));
        // what the parser took for something else than a host and a port, or wrote in another way, is no host
        let same = |url: &Url| {
            let host = url.host_str().unwrap_or_default();
            let port = text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
            let whole = match port {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            };
            // the parser lets `*` pass, which stands for no host
            whole.eq_ignore_ascii_case(text) && !text.contains('*')
        };
        match url {
            Ok(url) if same(&url) => Ok(Self(text.to_ascii_lowercase())),
            _ => Err(Fault::new("not a host", HELP)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_digest_is_read_in_either_case_and_written_in_lower() {
        let hex = "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08";
        let digest = TokenDigest::from_text(hex, Path::new("")).ok().unwrap();
        assert_eq!(digest, TokenDigest::of("test"));
        assert_eq!(digest.to_string(), hex.to_lowercase());
    }

    #[test]
    fn what_is_no_digest_of_a_token_is_refused() {
        let long = "0".repeat(65);
        let odd = "é".repeat(32);
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for text in ["", "…", "9f86", &"0".repeat(63), &long, &odd, &"g".repeat(64), empty] {
            assert!(TokenDigest::from_text(text, Path::new("")).is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_are_names_and_addresses_with_or_without_a_port() {
        let read = |text: &str| HttpHost::from_text(text, Path::new("")).ok().map(|host| host.0);
        for text in
            ["api.example.com", "API.example.com:8443", "localhost", "10.0.0.1:80", "[::1]", "[::1]:8080"]
        {
            assert_eq!(read(text), Some(text.to_ascii_lowercase()));
        }
        for text in [
            "",
            "*.example.com/",
            "https://api.example.com",
            "api.example.com/v1",
            "user@host",
            "a b",
            "host:",
            "host:99999",
            ":80",
            "host?x",
            "host#x",
            "::1",
            "*",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        let matches = |pattern: &str, name| Pattern(pattern.into()).matches(name);
        for (pattern, name) in [
            ("*", ""),
            ("*", "a"),
            ("network-*", "network-"),
            ("network-*", "network-prod"),
            ("*-prod", "network-prod"),
            ("n*k-p*d", "network-prod"),
            ("?", "a"),
            ("a?c", "abc"),
            ("*a*b", "aab-ab"),
            ("**", "x"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("network-*", "network"), ("network", "network-prod"), ("?", ""), ("?", "ab"), ("*a*b", "aab-a")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    fn matches_by_definition(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, _) => name.is_empty(),
            (Some((b'*', rest)), None) => matches_by_definition(rest, name),
            (Some((b'*', rest)), Some((_, tail))) => {
                matches_by_definition(rest, name) || matches_by_definition(pattern, tail)
            }
            (Some((byte, rest)), Some((first, tail))) => {
                (*byte == b'?' || byte == first) && matches_by_definition(rest, tail)
            }
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_its_definition(pattern in "[ab*?]{0,8}", name in "[ab]{0,8}") {
            prop_assert_eq!(
                Pattern(pattern.clone()).matches(&name),
                matches_by_definition(pattern.as_bytes(), name.as_bytes())
            );
        }
    }
}
