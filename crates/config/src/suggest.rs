//! Words for messages: the name that was probably meant, lists, quotations.

/// The candidate that the name was probably meant to be: another case, or few enough slips for its length.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let limit = (name.chars().count().max(3) / 3).min(4);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

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
    let mut shown = String::new();
    for char in text.chars().take(LIMIT) {
        match char {
            '"' | '\'' | '\\' => shown.push(char),
            _ => shown.extend(char.escape_debug()),
        }
    }
    if text.chars().nth(LIMIT).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_forgiven_by_the_length_of_the_name() {
        let names = ["listen", "data_dir", "terraform"];
        assert_eq!(nearest("lisen", names), Some("listen"));
        assert_eq!(nearest("Listen", names), Some("listen"));
        assert_eq!(nearest("teraform", names), Some("terraform"));
        assert_eq!(nearest("datadir", names), Some("data_dir"));
        assert_eq!(nearest("x", names), None);
        assert_eq!(nearest("retention", names), None);
        assert_eq!(nearest("listen", names), None, "what is right needs no suggestion");
    }

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
