//! Texts as patterns of `LIKE … ESCAPE '\'`.

/// A text as a pattern that only matches itself.
pub(super) fn literal(text: &str) -> String {
    text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_")
}
