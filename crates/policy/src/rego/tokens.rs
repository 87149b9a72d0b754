//! Rego source as tokens, for what can be said before or without parsing it.

use std::ops::Range;

use regorus::{
    Source,
    unstable::{Lexer, TokenKind},
};

/// A token of a Rego file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Its text; for strings without the quotes.
    pub(super) text: &'a str,
    pub(super) span: Range<usize>,
    /// Whether it is a word or a sign, not a string or a number.
    pub(super) is_code: bool,
}

/// The tokens of a file up to the first place that is not Rego.
pub(super) fn tokens<'a>(file: &str, text: &'a str) -> Vec<Token<'a>> {
    let source = Source::from_contents_with_limits(
        file.to_owned(),
        text.to_owned(),
        super::MAX_BYTES,
        super::MAX_LINES,
    );
    let Ok(source) = source else { return Vec::new() };
    let mut lexer = Lexer::new(&source);
    lexer.set_max_col(super::MAX_COLUMNS);
    let mut tokens = Vec::new();
    while let Ok(token) = lexer.next_token() {
        let offset = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        let span = offset(token.1.start)..offset(token.1.end);
        match (token.0, text.get(span.clone())) {
            (TokenKind::Eof, _) | (_, None) => break,
            (kind, Some(text)) => {
                let is_code = matches!(kind, TokenKind::Ident | TokenKind::Symbol);
                tokens.push(Token { text, span, is_code });
            }
        }
    }
    tokens
}

/// The first word that is meant as a keyword of later Rego and is none in v0 without an import. regorus would take
/// it for a variable and read another policy than the one that was written.
pub(super) fn keyword_without_import<'a>(tokens: &[Token<'a>]) -> Option<(&'a str, Range<usize>)> {
    const KEYWORDS: [&str; 4] = ["contains", "if", "in", "every"];
    let is = |index: usize, word: &str| tokens.get(index).is_some_and(|t| t.is_code && t.text == word);
    let mut imported = Vec::new();
    for index in 0..tokens.len() {
        if is(index, "import") && is(index + 1, "rego") && is(index + 3, "v1") {
            return None;
        }
        if is(index, "import") && is(index + 1, "future") && is(index + 3, "keywords") {
            match is(index + 4, ".") {
                true => imported.extend(tokens.get(index + 5).map(|t| t.text)),
                false => return None,
            }
        }
    }
    if imported.contains(&"every") {
        imported.push("in");
    }
    let meant = |index: usize, token: &Token<'_>| {
        token.is_code
            && KEYWORDS.contains(&token.text)
            && !imported.contains(&token.text)
            // a field of that name, and OPA's function `contains`
            && !(index > 0 && is(index - 1, "."))
            && !(token.text == "contains" && is(index + 1, "("))
    };
    tokens
        .iter()
        .enumerate()
        .find(|(index, token)| meant(*index, token))
        .map(|(_, token)| (token.text, token.span.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        keyword_without_import(&tokens("a.rego", text)).map(|(word, _)| word)
    }

    #[test]
    fn keywords_of_later_rego_are_found_where_they_are_not_imported() {
        assert_eq!(found("package a\ndeny contains \"x\" if input.x"), Some("contains"));
        assert_eq!(
            found("package a\nimport future.keywords.contains\ndeny contains \"x\" if input.x"),
            Some("if")
        );
        assert_eq!(found("package a\ndeny[m] { some m in input.x }"), Some("in"));
        assert_eq!(found("package a\nimport future.keywords\ndeny contains \"x\" if input.x"), None);
        assert_eq!(found("package a\nimport rego.v1\ndeny contains \"x\" if input.x"), None);
        assert_eq!(found("package a\nimport future.keywords.every\nd { every x in y { x } }"), None);
        assert_eq!(found("package a\ndeny[\"if\"] { contains(input.in, \"in\") } # if"), None);
    }
}
