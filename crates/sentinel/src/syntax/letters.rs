//! Characters: which may be in a name, and how one is told that may not.

use std::sync::LazyLock;

use regex::Regex;

/// Letters and decimal digits, by their categories: the standard library counts `Ⅷ` and `²` to them too.
static LETTERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\pL$").ok());
static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{Nd}$").ok());

fn is_of(category: &LazyLock<Option<Regex>>, c: char) -> bool {
    category.as_ref().is_some_and(|category| category.is_match(c.encode_utf8(&mut [0; 4])))
}

/// Whether a name may start with this.
pub(crate) fn starts_name(c: char) -> bool {
    c == '_' || if c.is_ascii() { c.is_ascii_alphabetic() } else { is_of(&LETTERS, c) }
}

/// Whether this may stand in a name, after its start.
pub(crate) fn continues_name(c: char) -> bool {
    starts_name(c) || if c.is_ascii() { c.is_ascii_digit() } else { is_of(&DIGITS, c) }
}

/// Whether a text is a name, or a reserved word.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(starts_name) && text.chars().all(continues_name)
}

/// A character as a message shows it: one that cannot be seen by its number.
pub(super) fn shown(c: char) -> String {
    let is_seen = c.escape_debug().len() == 1 || c.is_ascii_graphic();
    if is_seen { format!("`{c}`") } else { format!("the character U+{:04X}", u32::from(c)) }
}
