/// Whether a character does something to the text around it: it moves the cursor of a terminal, begins another line, or
/// changes the direction in which the text is read.
pub fn is_steering(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text on one line and fit for a terminal: what [is steering](is_steering) is written as `\n` or `\u{1b}`.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if is_steering(char) { shown.extend(char.escape_debug()) } else { shown.push(char) }
    }
    shown
}

/// Without the escape sequences by which terraform and others colour what they print: `ESC [ … m` and its kin.
pub fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        // one that is cut off has no end
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |end| end + 1);
        plain.push_str(&part[end..]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_is_made_visible_and_all_else_stays() {
        let table = [
            ("größe \"x\" \\ ✓ 大", "größe \"x\" \\ ✓ 大"),
            ("a\u{1b}[2J\r\nb\t", "a\\u{1b}[2J\\r\\nb\\t"),
            ("\u{9b}\u{7f}\0", "\\u{9b}\\u{7f}\\0"),
            ("a\u{202e}b\u{2066}c\u{200f}", "a\\u{202e}b\\u{2066}c\\u{200f}"),
        ];
        for (text, shown) in table {
            assert_eq!(escaped(text), shown);
        }
    }

    #[test]
    fn colours_go_and_what_they_colour_stays() {
        for (text, plain) in [
            ("\u{1b}[31m│\u{1b}[0m \u{1b}[1;31mError: \u{1b}[0mno", "│ Error: no"),
            ("plain", "plain"),
            ("cut off\u{1b}[1;3", "cut off"),
            ("a\u{1b}[2Kb\u{1b}[", "ab"),
        ] {
            assert_eq!(without_colours(text), plain);
        }
    }

    proptest! {
        #[test]
        fn nothing_that_steers_is_left(text in any::<String>()) {
            prop_assert!(!escaped(&text).contains(is_steering));
        }
    }
}
