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

    proptest! {
        #[test]
        fn nothing_that_steers_is_left(text in any::<String>()) {
            prop_assert!(!escaped(&text).contains(is_steering));
        }
    }
}
