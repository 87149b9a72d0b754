//! Whatever the text, reading it takes a number of steps that its length bounds.

use proptest::prelude::*;

use crate::lexer::{Kind, Lexer};
use crate::parser::Parser;
use crate::{cut_blocks, literal, parse};

/// How often a byte may be looked at, at most, and the cost of each token, which has one byte at least.
const STEPS_PER_BYTE: usize = 8;

/// What a text is made of to keep a reader busy: openings of all kinds, operators that could go on, ends that do not
/// come, names that are the same.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{a=",
    "{\n",
    "}\n",
    "\"",
    "\"${",
    "}\"",
    "${",
    "%{",
    "%{ if x }",
    "$${",
    "\\",
    "\\u00",
    "<<E\n",
    "<<-E\n",
    "\nE\n",
    "E",
    "\n",
    "\n  E",
    "/*",
    "*/",
    "# ",
    "//",
    "a",
    "a ",
    "a = ",
    "a {",
    " \"l\" {\n",
    "1",
    "1.",
    "1e",
    "0.0",
    ",",
    "=",
    ":",
    "?",
    "true ? ",
    "1/2/(",
    "1-2-(",
    "1==2=={a=",
    "!(",
    "- ",
    "f(",
    "a.",
    "a[",
    "[*]",
    "...",
    "=>",
    "for ",
    "[for x in ",
    "{for x in [] : ",
    "~}",
    "${~",
    "::",
    "\t",
    "\r\n",
    "é",
    "🙂",
    "\u{feff}",
    "\u{0}",
    "'",
    "null",
];

/// Some pieces, again and again: what makes each of them dearer than the last shows.
fn adversarial() -> impl Strategy<Value = String> {
    let pieces =
        |most| prop::collection::vec(prop::sample::select(PIECES), 0..most).prop_map(|some| some.concat());
    (pieces(4), pieces(5), 1..2_000_usize, pieces(4), 0..2_000_usize, pieces(4)).prop_map(
        |(before, first, firsts, second, seconds, after)| {
            [before, first.repeat(firsts), second.repeat(seconds), after].concat()
        },
    )
}

fn bound(text: &str) -> usize {
    STEPS_PER_BYTE * text.len() + 16
}

fn is_linear(text: &str) -> Result<(), TestCaseError> {
    let mut file = Parser::new(text);
    drop(file.file());
    let mut value = Parser::new(text);
    drop(value.value());
    let steps = file.steps().max(value.steps());
    prop_assert!(steps <= bound(text), "{steps} steps for {} bytes: {text:.200}", text.len());
    let mut lexer = Lexer::new(text);
    let mut tokens = 0;
    while lexer.next().kind != Kind::End {
        tokens += 1;
    }
    // an open string is a quote, and a token without bytes where its line ends
    prop_assert!(tokens <= 2 * text.len(), "{tokens} tokens: {text:.200}");
    prop_assert!(lexer.steps() <= bound(text), "{} steps: {text:.200}", lexer.steps());
    cut_blocks(text, "a");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn texts_that_are_made_to_keep_the_reader_busy_do_not(text in adversarial()) {
        is_linear(&text)?;
    }

    #[test]
    fn any_text_is_read_within_its_bounds(text in "\\PC{0,80}", any in prop::collection::vec(any::<char>(), 0..60)) {
        is_linear(&text)?;
        is_linear(&any.into_iter().collect::<String>())?;
    }

    #[test]
    fn every_span_is_in_the_text(text in adversarial()) {
        let spans = match parse(&text, usize::MAX) {
            Ok(document) => document.duplicates,
            Err(broken) => {
                prop_assert!(text.get(broken.error.span.clone()).is_some(), "{:?}", broken);
                prop_assert!(!broken.error.to_string().contains(char::is_control), "{}", broken);
                broken.duplicates
            }
        };
        for twice in spans {
            prop_assert!(twice.first.end <= twice.again.start);
            prop_assert!(text.get(twice.first.clone()).is_some() && text.get(twice.again.clone()).is_some());
        }
        if let Err(error) = literal(&text, usize::MAX) {
            prop_assert!(text.get(error.span.clone()).is_some(), "{:?}", error);
        }
    }
}

#[test]
fn each_piece_alone_again_and_again_is_read_within_its_bounds() {
    for before in ["", "a = ", "a = 1 + ", "a = \"${", "a = <<E\n", "{", "a {\n"] {
        for piece in PIECES {
            let text = before.to_owned() + &piece.repeat((1 << 14) / piece.len());
            is_linear(&text).unwrap_or_else(|error| panic!("{before}{piece}…: {error}"));
        }
    }
}
