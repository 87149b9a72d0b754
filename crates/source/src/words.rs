//! How things are named in the log.

use std::path::Path;

/// A path for a terminal: what could move its cursor or colour it is escaped.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".to_owned() } else { plain(&path.to_string_lossy()) }
}

/// A text for a terminal, on one line.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() { plain.extend(char.escape_default()) } else { plain.push(char) }
    }
    plain
}

/// Bytes in the largest unit that keeps a digit before the point.
pub(crate) fn amount(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let number = format!("{value:.1}");
    format!("{} {}", number.strip_suffix(".0").unwrap_or(&number), UNITS[unit])
}

/// At most a dozen names, and how many more there are.
pub(crate) fn listed(names: &[String], none: &str) -> String {
    const MOST: usize = 12;
    if names.is_empty() {
        return none.to_owned();
    }
    let mut text = names.iter().take(MOST).map(|name| plain(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}

/// The address of a repository without the user and password that may stand in it, fit for a terminal.
pub fn without_credentials(url: &str) -> String {
    let plain = plain(url);
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
    fn amounts_are_shown_in_the_unit_a_person_would_choose() {
        let table = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (512 * 1024 * 1024, "512 MiB"),
            (u64::MAX, "16777216 TiB"),
        ];
        for (bytes, words) in table {
            assert_eq!(amount(bytes), words);
        }
    }

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
