//! Words for messages: lists and quotations.

/// "`a`", "`a` and `b`", "`a`, `b` and `c`"; at most ten, then how many more.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>, and: &str) -> String {
    let mut names: Vec<String> = names.into_iter().map(quoted).collect();
    if names.len() > 10 {
        let more = names.len() - 9;
        names.truncate(9);
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        None => "none".into(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} {and} {last}", others.join(", ")),
    }
}

/// A text from the file, fit to stand in a message: one line, no control characters, not too long.
pub(crate) fn quoted(text: &str) -> String {
    const LIMIT: usize = 100;
    let mut shown = ::text::escaped(&text.chars().take(LIMIT).collect::<String>());
    if text.chars().nth(LIMIT).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_prose() {
        assert_eq!(listed(["a"], "and"), "`a`");
        assert_eq!(listed(["a", "b", "c"], "or"), "`a`, `b` or `c`");
        assert_eq!(listed([], "and"), "none");
        assert_eq!(
            listed(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "x"], "and"),
            "`0`, `1`, `2`, `3`, `4`, `5`, `6`, `7`, `8` and 2 more"
        );
    }

    #[test]
    fn quotations_stay_on_their_line_and_say_nothing_to_a_terminal() {
        assert_eq!(quoted("a\n\u{1b}[31m\"b\""), "`a\\n\\u{1b}[31m\"b\"`");
        assert_eq!(quoted(&"x".repeat(200)).chars().count(), 103);
    }
}
