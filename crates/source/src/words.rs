//! How things are named in the log.

use std::path::Path;

use text::escaped;

/// A path for a terminal: what could move its cursor or colour it is escaped.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".to_owned() } else { escaped(&path.to_string_lossy()) }
}

/// At most a dozen names, and how many more there are.
pub(crate) fn listed(names: &[String], none: &str) -> String {
    const MOST: usize = 12;
    if names.is_empty() {
        return none.to_owned();
    }
    let mut text = names.iter().take(MOST).map(|name| escaped(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}

/// The address of a repository without the user and password that may stand in it, fit for a terminal.
pub fn without_credentials(url: &str) -> String {
    let plain = escaped(url);
    let Some((scheme, rest)) = plain.split_once("://") else { return plain };
    let (authority, path) =
        rest.split_once('/').map_or((rest, None), |(authority, path)| (authority, Some(path)));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match path {
        Some(path) => format!("{scheme}://{host}/{path}"),
        None => format!("{scheme}://{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_steer_the_terminal() {
        assert_eq!(shown(Path::new("a\u{1b}[2J\nb")), "a\\u{1b}[2J\\nb");
        assert_eq!(shown(Path::new("")), ".");
    }

    #[test]
    fn no_credentials_are_shown() {
        let table = [
            ("https://user:s3cret@host/a.git", "https://host/a.git"),
            ("https://token@host", "https://host"),
            ("https://host/a@b.git", "https://host/a@b.git"),
            ("https://u:p@ss@host:8443/a", "https://host:8443/a"),
            ("git@host:a.git", "git@host:a.git"),
            ("ssh://git@host", "ssh://host"),
            ("/srv/a.git", "/srv/a.git"),
        ];
        for (url, expected) in table {
            assert_eq!(without_credentials(url), expected);
        }
    }

    #[test]
    fn a_long_list_says_how_much_longer_it_is() {
        let names: Vec<String> = (0..14).map(|number| format!("n{number}")).collect();
        assert!(listed(&names, "").ends_with("n11 and 2 more"));
        assert_eq!(listed(&[], "none"), "none");
    }
}
