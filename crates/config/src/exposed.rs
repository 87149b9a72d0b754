//! Secrets where the structure of the file does not tell that they are: tokens anywhere, and strings in a file that is broken.

use std::ops::Range;

use crate::values::TOKEN_PREFIX;

/// Shorter words that begin so are names.
const LEAST_OF_A_TOKEN: usize = 32;

fn is_of_a_token(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_')
}

/// Where tokens stand, as `signalbox token new` makes them.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices(TOKEN_PREFIX).filter_map(|(start, _)| {
        let length = text[start..].find(|char| !is_of_a_token(char)).unwrap_or(text.len() - start);
        (length >= LEAST_OF_A_TOKEN).then_some(start..start + length)
    })
}

/// The same text without them.
pub(crate) fn star_out_tokens(text: &mut String) {
    let found: Vec<Range<usize>> = tokens(text).collect();
    for span in found {
        let stars = "*".repeat(span.len());
        text.replace_range(span, &stars);
    }
}

/// What may be a string: between quotes, or from a quote to the end of its line; and every line of a heredoc.
pub(crate) fn strings(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    let mut heredoc: Option<&str> = None;
    text.split_inclusive('\n').flat_map(move |line| {
        let start = at;
        at += line.len();
        let content = line.trim_end();
        if let Some(end) = heredoc {
            if content.trim() == end {
                heredoc = None;
                return Vec::new();
            }
            return std::iter::once(start..start + content.len()).collect();
        }
        heredoc = content.split_once("<<").map(|(_, end)| end.trim_start_matches('-').trim()).filter(|end| {
            !end.is_empty() && end.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '-'))
        });
        quoted(content).map(|span| start + span.start..start + span.end).collect()
    })
}

fn quoted(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut spans = Vec::new();
    let mut open = None;
    let mut escaped = false;
    for (at, char) in line.char_indices() {
        match (open, char) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(start), '"') => {
                spans.push(start..at);
                open = None;
            }
            (None, '"') => open = Some(at + 1),
            _ => {}
        }
    }
    spans.extend(open.map(|start| start..line.len()));
    spans.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "signalbox_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCde";

    #[test]
    fn a_token_is_found_wherever_it_stands() {
        let mut text = format!("user {TOKEN:?} and {TOKEN}, signalbox_service");
        star_out_tokens(&mut text);
        let stars = "*".repeat(TOKEN.len());
        assert_eq!(text, format!("user \"{stars}\" and {stars}, signalbox_service"));
    }

    #[test]
    fn every_string_of_a_broken_file_is_found() {
        let text = "a = \"one\" b = \"t\\\"wo\"\nc = \"open\nd = <<-END\n  line\n  END\ne = 1 # \"x\"\n";
        let found: Vec<&str> = strings(text).map(|span| &text[span]).collect();
        assert_eq!(found, ["one", "t\\\"wo", "open", "  line", "x"]);
    }
}
