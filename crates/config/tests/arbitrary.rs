//! Whatever the text, there is an answer, and it points into the text.

mod common;

use std::path::Path;

use common::FakeHost;
use config::{Config, Severity};
use proptest::prelude::*;

const SHIPPED: &str = include_str!("../../../config/signalbox.hcl");

/// Pieces of the language, so that random texts get past the parser.
const PIECES: &[&str] = &[
    "server",
    "user",
    "team",
    "policy_set",
    "workspace",
    "source",
    "organization",
    "listen",
    "members",
    "access",
    "variables",
    "sensitive_variables",
    "environment",
    "sensitive_environment",
    "token_sha256",
    "path",
    "url",
    "ref",
    "auto_apply",
    " {\n",
    "}\n",
    "}",
    "{",
    " = ",
    "=",
    "\n",
    "\n",
    "\n",
    "\"a\"",
    "\"git\"",
    "\"directory\"",
    "\"owners\"",
    "\"${",
    "}\"",
    "env(\"DB_PASSWORD\")",
    "env(\"TRICKY\")",
    "file(\"secret\")",
    "env(",
    ")",
    "[",
    "]",
    ", ",
    "1",
    "-1",
    "0.1",
    "1e9",
    "18446744073709551616",
    "true",
    "null",
    "foo",
    "value_0",
    "<<EOT\n",
    "EOT\n",
    "for x in ",
    " : ",
    " => ",
    " ? ",
    "!",
    " + ",
    " % ",
    " && ",
    ".a",
    "[0]",
    "[*]",
    "...",
    "# c\n",
    "/*",
    "*/",
    "\u{feff}",
    "é",
    "🙂",
    "\\",
    "\"",
    "\0",
    "\r\n",
    "\t",
    "%{ for x in [1] }",
    "%{ endfor }",
    "%{ if true }",
    "%{ endif }",
];

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

fn workspaces_with_values() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..12).prop_map(|pieces| {
        let value = pieces.concat();
        format!(
            "organization = \"a\"\nworkspace \"w\" {{\n  source \"directory\" {{ path = \"x\" }}\n  variables = {{ v = {value} \
             }}\n  sensitive_variables = {{ s = {value} }}\n}}\n"
        )
    })
}

/// The shipped file with some of its characters replaced by a piece.
fn damaged() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..12_usize, prop::sample::select(PIECES));
    prop::collection::vec(change, 1..5).prop_map(|changes| {
        let mut chars: Vec<char> = SHIPPED.chars().collect();
        for (at, length, piece) in changes {
            let at = at.index(chars.len());
            let end = (at + length).min(chars.len());
            chars.splice(at..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

fn answers(text: &str) -> Result<(), TestCaseError> {
    let found = match Config::parse(text, Path::new("/etc/signalbox/f"), &FakeHost::new()) {
        Ok(loaded) => {
            prop_assert_eq!(loaded.warnings.count(Severity::Error), 0);
            loaded.warnings
        }
        Err(diagnostics) => {
            prop_assert!(diagnostics.count(Severity::Error) > 0);
            diagnostics
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.split('\n').count();
    for finding in &found {
        let places = finding.location.iter().chain(finding.related.iter().map(|related| &related.location));
        for place in places {
            prop_assert!(
                text.get(place.span.clone()).is_some(),
                "{:?} of {}: {}",
                place,
                text.len(),
                finding
            );
            prop_assert!((1..=lines).contains(&place.line), "{:?}", place);
            let line = text.split('\n').nth(place.line - 1).unwrap_or_default();
            prop_assert!(place.column >= 1 && place.column <= line.chars().count() + 1, "{:?}", place);
        }
        prop_assert!(
            !finding.message.is_empty() && !finding.message.contains(char::is_control),
            "{}",
            finding
        );
        prop_assert!(finding.help.is_some(), "no help: {}", finding);
        prop_assert!(!finding.to_string().contains("hunter2"), "{}", finding);
    }
    prop_assert_eq!(found.is_empty(), found.render(false).is_empty());
    found.render(true);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_gets_an_answer(text in "\\PC*") {
        answers(&text)?;
    }

    #[test]
    fn any_characters_get_an_answer(text in prop::collection::vec(any::<char>(), 0..60)) {
        answers(&text.into_iter().collect::<String>())?;
    }

    #[test]
    fn pieces_of_the_language_get_an_answer(text in pieces()) {
        answers(&text)?;
    }

    #[test]
    fn any_value_gets_an_answer(text in workspaces_with_values()) {
        answers(&text)?;
    }

    #[test]
    fn a_damaged_file_gets_an_answer(text in damaged()) {
        answers(&text)?;
    }
}

#[test]
fn deep_nesting_gets_an_answer() {
    for depth in [10, 60, 63, 64, 65, 1000, 20_000] {
        for (open, inner, close) in [
            ("[", "1", "]"),
            ("{ a = ", "1", "}"),
            ("(", "1", ")"),
            ("\"${", "1", "}\""),
            ("!", "true", ""),
            ("-", "1", ""),
            ("true ? ", "1", " : 2"),
            ("1 == ", "1", ""),
            ("[for x in [1] : ", "x", "]"),
            ("env(", "\"DB_PASSWORD\"", ")"),
            ("", "[]", "[0]"),
            ("", "{}", ".a"),
        ] {
            let value = [&open.repeat(depth), inner, &close.repeat(depth)].concat();
            let text = format!(
                "organization = \"a\"\nworkspace \"w\" {{\n  source \"directory\" {{ path = \"x\" }}\n  variables = \
                 {{ v = {value} }}\n}}\n"
            );
            answers(&text).unwrap_or_else(|error| panic!("{open} {depth}: {error}"));
        }
        answers(&"server {\n".repeat(depth)).unwrap();
        answers(&["server {\n".repeat(depth), "}\n".repeat(depth)].concat()).unwrap();
    }
}
