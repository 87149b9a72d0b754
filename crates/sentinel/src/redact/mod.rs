//! Masking of sensitive values in what a policy says.
//!
//! A policy may print whatever it is given, so what it prints is searched for the texts of sensitive
//! values: those of the plan that `after_sensitive` and its like mark, and the values of sensitive
//! parameters. A text is masked wherever it stands, and as often as it may be quoted: as a string of the
//! language, as JSON, as JSON inside of JSON. Of a text of several lines each line is a secret of its own,
//! because text is often taken apart by lines; short lines are not, because they would stand everywhere.
//! A text that is shorter than four bytes is masked only where it is the whole of a value, for the same
//! reason.
//!
//! A number is masked in the forms in which policies write it. Of the keys of a sensitive map those are secrets
//! that are no words, as the names of attributes are: a message could say nothing without them.
//!
//! Messages repeat excerpts of values: of a secret that was cut, the beginning is masked where the cut is.
//!
//! What a policy makes of a secret is not known to be one: parts of a line, other cases of its letters,
//! base64. Masking prevents accidents; it does not keep a secret from a policy that is written to tell it.

mod patterns;
mod spelling;

use std::ops::Range;
use std::sync::Arc;

use self::patterns::{Patterns, parts, replace};
use self::spelling::{other_spellings, quoted, quoted_as_json, without_backslashes};
use crate::value::{Data, Key, show};

/// What a masked value is shown as.
pub const MASK: &str = "(sensitive value)";

/// Texts shorter than this are masked only where they are a whole value.
const SHORTEST: usize = 4;

/// Beginnings of secrets that are shorter than this are not masked where a text was cut: words begin like them.
const SHORTEST_CUT: usize = 8;

/// Lines shorter than this are no secrets of their own.
const SHORTEST_LINE: usize = 8;

/// Keys shorter than this are no secrets.
const SHORTEST_KEY: usize = 8;

/// Whether a key of a sensitive map is a text of its own, and not the name of an attribute.
pub(crate) fn is_secret_key(key: &str) -> bool {
    key.chars().count() >= SHORTEST_KEY && !key.chars().all(|c| c.is_ascii_alphabetic() || "_-".contains(c))
}

/// Sensitive texts. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// As they are given, the longest first.
    texts: Arc<[String]>,
    as_they_are: Patterns,
    /// To be found in text without its backslashes.
    bare: Patterns,
}

impl Secrets {
    /// Secrets of these texts.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Secrets {
        let mut texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        texts.dedup();
        let mut as_they_are = Vec::new();
        let mut bare = Vec::new();
        for part in texts.iter().flat_map(|text| parts(text)) {
            as_they_are.push(part.to_owned());
            // a quoted text that is quoted again differs in its backslashes alone, but for the one control
            // character that JSON leaves as it is
            let json = quoted_as_json(part);
            for once in [quoted(part), quoted(&json), json] {
                let left = without_backslashes(&once).text;
                if left.len() >= SHORTEST {
                    bare.push(left);
                } else {
                    // what is left would be found everywhere: being quoted twice must do
                    as_they_are.extend([quoted(&once), once]);
                }
            }
        }
        let as_they_are = Patterns::new(as_they_are, None);
        let bare = Patterns::new(bare, Some(&as_they_are));
        Secrets { texts: texts.into(), as_they_are, bare }
    }

    /// The texts of data that is sensitive as a whole: those of its values, and keys that are no words.
    pub fn collect(data: &Data, texts: &mut Vec<String>) {
        match data {
            Data::Str(text) => texts.push(text.to_text().into_owned()),
            Data::Int(_) => texts.push(show::show_data(data)),
            Data::Float(float) => {
                texts.push(show::show_data(data));
                texts.extend(other_spellings(*float));
            }
            Data::List(items) => items.iter().for_each(|item| Secrets::collect(item, texts)),
            Data::Map(map) => {
                for (key, item) in map.entries() {
                    texts.extend(Some(show::show_key(key)).filter(|key| is_secret_key(key)));
                    Secrets::collect(item, texts);
                }
            }
            Data::Undefined | Data::Null | Data::Bool(_) => {}
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Masks the secrets in a text.
    pub fn mask(&self, text: &str) -> String {
        self.mask_found(text, Patterns::find)
    }

    /// Masks the secrets in a message, of which parts may have been cut off: what is left of a secret is
    /// masked, too.
    pub(crate) fn mask_message(&self, text: &str) -> String {
        self.mask_found(text, |patterns, text| {
            let mut found = patterns.find(text);
            found.extend(patterns.find_cut(text));
            found
        })
    }

    fn mask_found(&self, text: &str, find: impl Fn(&Patterns, &str) -> Vec<Range<usize>>) -> String {
        if self.texts.is_empty() {
            return text.to_owned();
        }
        let mut found = find(&self.as_they_are, text);
        if text.contains('\\') {
            let bare = without_backslashes(text);
            found.extend(find(&self.bare, &bare.text).into_iter().map(|range| bare.origin(range)));
        }
        found.sort_by_key(|range| range.start);
        let masked = replace(text, &found);
        let lines = masked.split('\n').map(|line| if self.is_secret(line) { MASK } else { line });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn is_secret(&self, text: &str) -> bool {
        self.texts
            .binary_search_by(|known| text.len().cmp(&known.len()).then_with(|| known.as_str().cmp(text)))
            .is_ok()
    }

    /// Masks the secrets in data.
    pub fn mask_data(&self, data: &Data) -> Data {
        if self.is_empty() {
            return data.clone();
        }
        match data {
            Data::Str(text) => {
                let text = text.to_text();
                if self.is_secret(&text) { MASK.into() } else { self.mask(&text).into() }
            }
            Data::Int(_) | Data::Float(_) if self.is_secret(&show::show_data(data)) => MASK.into(),
            Data::List(items) => Data::list(items.iter().map(|item| self.mask_data(item))),
            Data::Map(map) => Data::map(map.entries().iter().map(|(key, item)| {
                let key = match key {
                    Key::Str(text) => Key::from(self.mask(&text.to_text())),
                    other if self.is_secret(&show::show_key(other)) => Key::from(MASK),
                    other => other.clone(),
                };
                (key, self.mask_data(item))
            })),
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cut_left_of_a_secret_is_masked() {
        let secrets = secrets(&[
            "correct horse battery staple",
            "corral\n-----BEGIN KEY-----\nMIIEvQIBADANBgkq",
            "ab\"cd\"ef, gh",
        ]);
        for (text, masked) in [
            ("was given `correct horse ba ...`", "was given `(sensitive value) ...`"),
            ("x-correct horse battery staple, correct  ...", "x-(sensitive value), (sensitive value) ..."),
            ("key: MIIEvQIB ...", "key: (sensitive value) ..."),
            ("[\"a\", \"ab\\\"cd\\\"ef, g\\ ...", "[\"a\", \"(sensitive value)\\ ..."),
            ("a correct ...", "a correct ..."),
            ("correct horse ba, a ...", "correct horse ba, a ..."),
            ("correct horse ba...", "correct horse ba..."),
        ] {
            assert_eq!(secrets.mask_message(text), masked);
        }
    }

    #[test]
    fn a_secret_that_has_the_mark_of_a_cut_is_masked() {
        let secrets = secrets(&["wait ... and see ... later"]);
        for text in
            ["wait ... and see ...", "wait ... and see ... late ...", "wait ... and see ... later ..."]
        {
            assert!(secrets.mask_message(text).starts_with(&format!("{MASK} ...")), "{text}");
        }
    }

    fn secrets(texts: &[&str]) -> Secrets {
        Secrets::new(texts.iter().map(|text| (*text).to_owned()))
    }

    #[test]
    fn a_secret_is_masked_inside_of_other_text() {
        assert_eq!(secrets(&["hunter2"]).mask("password=hunter2!"), "password=(sensitive value)!");
    }

    #[test]
    fn the_longer_of_two_secrets_with_one_start_is_masked_whole() {
        assert_eq!(secrets(&["hunter", "hunter2"]).mask("hunter2"), "(sensitive value)");
    }

    #[test]
    fn a_short_secret_is_masked_only_where_it_is_a_whole_value() {
        let secrets = secrets(&["1"]);
        assert_eq!(secrets.mask("10 of 21"), "10 of 21");
        assert_eq!(secrets.mask("1"), MASK);
        let data = Data::list([Data::Int(1), Data::Int(21), "1".into()]);
        assert_eq!(secrets.mask_data(&data), Data::list([MASK.into(), Data::Int(21), MASK.into()]));
    }

    #[test]
    fn secrets_without_a_pattern_are_masked_too() {
        let mut secrets = secrets(&["hunter2", "hunter", "a\"bc"]);
        let texts: Vec<String> = ["hunter2", "hunter", "a\"bc"].map(str::to_owned).to_vec();
        secrets.as_they_are = Patterns { texts: texts.clone().into(), automaton: None };
        secrets.bare = Patterns { texts: texts.into(), automaton: None };
        assert_eq!(secrets.mask("x hunter2 y a\\\"bc z a\"bc"), format!("x {MASK} y {MASK} z {MASK}"));
    }

    #[test]
    fn a_secret_that_repeats_itself_holds_nothing_up() {
        let zeros = "A".repeat(100_000);
        let secrets = secrets(&[&zeros, &format!("{zeros}{}", "xyz".repeat(20_000))]);
        assert_eq!(secrets.mask(&format!("x{zeros}y")), format!("x{MASK}y"));
        let message = format!("{}b{} ...", &zeros[..8_000], &zeros[..8_000]);
        assert_eq!(secrets.mask_message(&message), format!("{}b{MASK} ...", &zeros[..8_000]));
    }

    #[test]
    fn words_are_no_secrets_where_they_are_keys() {
        let mut texts = Vec::new();
        let data: Data =
            serde_json::from_str(r#"{"adminPassword": 1, "storage-class": 2, "a.b@example.com": 3}"#)
                .unwrap();
        Secrets::collect(&data, &mut texts);
        texts.retain(|text| text.parse::<i64>().is_err());
        assert_eq!(texts, ["a.b@example.com"]);
    }

    #[test]
    fn many_secrets_are_masked_in_time() {
        let secrets = Secrets::new((0..50_000).map(|at| format!("secret-number-{at:08}")));
        let text = "nothing to see ".repeat(1000) + "secret-number-00031337";
        assert!(secrets.mask(&text).ends_with(MASK));
    }

    #[test]
    fn a_secret_with_quotes_is_masked_in_its_quoted_form_too() {
        assert_eq!(secrets(&["a\"b c"]).mask(r#"["a\"b c"]"#), r#"["(sensitive value)"]"#);
    }

    fn json(text: &str) -> String {
        serde_json::Value::from(text).to_string()
    }

    fn literal(text: &str) -> String {
        format!("\"{}\"", quoted(text))
    }

    #[test]
    fn a_secret_is_masked_however_often_it_is_quoted() {
        for secret in [
            "hunter2\"x\nline two",
            "C:\\new\\table",
            "a\u{1}b\tcé\u{7f}",
            "\\\"\\\"",
            "\\\\\\\\",
            "{\"a\": \"\\n\"}",
        ] {
            let secrets = secrets(&[secret]);
            for quoting in ["l", "j", "jl", "jj", "jjl", "jjj", "ljl"] {
                let text = quoting.chars().fold(secret.to_owned(), |text, kind| match kind {
                    'l' => literal(&text),
                    _ => json(&text),
                });
                let masked = secrets.mask(&format!("x{text}y"));
                // two times are what is promised for a text that is hardly more than backslashes
                if quoting.len() <= 2 || without_backslashes(secret).text.len() >= SHORTEST {
                    let around = masked.split(MASK).collect::<Vec<_>>();
                    assert_eq!(around.len(), 2, "{quoting} {text} {masked}");
                    let quotes = |part: &str| part.trim_matches(['\\', '"']).to_owned();
                    assert_eq!((quotes(around[0]), quotes(around[1])), ("x".into(), "y".into()), "{masked}");
                }
            }
        }
    }

    #[test]
    fn a_secret_after_a_backslash_is_masked() {
        assert_eq!(secrets(&["nuclear"]).mask("C:\\nuclear"), format!("C:\\{MASK}"));
        assert_eq!(secrets(&["clear"]).mask("C:\\nclear, \\tclear"), format!("C:\\n{MASK}, \\t{MASK}"));
    }

    #[test]
    fn text_around_a_secret_stays_as_it_is() {
        let text = "\\\\a\\n\\x41 \\u12 \\";
        assert_eq!(secrets(&["hunter2"]).mask(text), text);
        assert_eq!(
            secrets(&["hunter2"]).mask(&format!("{text}hunter2{text}")),
            format!("{text}{MASK}{text}")
        );
        assert_eq!(
            secrets(&["hun\"ter2"]).mask(&format!("{text} hun\\\"ter2 {text}")),
            format!("{text} {MASK} {text}")
        );
    }

    #[test]
    fn each_line_of_a_secret_is_masked() {
        let secrets =
            secrets(&["-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\n  hkiG9w0BAQEF\nAB==\n-----END KEY-----"]);
        let masked = secrets.mask("[\"MIIEvQIBADANBgkq\", \"hkiG9w0BAQEF\"] AB==");
        assert_eq!(masked, format!("[\"{MASK}\", \"{MASK}\"] AB=="));
    }

    fn collected(json: &str) -> Secrets {
        let mut texts = Vec::new();
        Secrets::collect(&serde_json::from_str(json).unwrap(), &mut texts);
        Secrets::new(texts)
    }

    #[test]
    fn keys_of_a_sensitive_map_are_secrets_unless_they_are_words_or_short() {
        let secrets = collected(
            r#"{"alice@example.com": 1, "AKIA1234": [{"hunter2-hunter2": null}], "client_certificate": 2, "a-b": 3}"#,
        );
        let text = "alice@example.com has AKIA1234 hunter2-hunter2, no client_certificate, no a-b";
        assert_eq!(secrets.mask(text), format!("{MASK} has {MASK} {MASK}, no client_certificate, no a-b"));
    }

    /// Rego writes numbers without an exponent and holds all that have 64 bits; Sentinel's `string` has six decimals.
    #[test]
    fn a_number_is_masked_in_all_its_spellings() {
        for (number, spellings) in [
            ("1e-9", &["1e-9", "0.000000001"][..]),
            ("1234.5678", &["1234.5678", "1234.567800"]),
            ("1.5e300", &["1.5e300", &1.5e300.to_string()]),
            ("1234567890123456789012", &["1.2345678901234568e21", "1234567890123456800000"]),
            ("9223372036854775808", &["9223372036854775808", "9.223372036854776e18"]),
        ] {
            for spelling in spellings {
                let masked = collected(number).mask(&format!("is {spelling}!"));
                assert!(masked.starts_with(&format!("is {MASK}")), "{number}: {masked}");
            }
        }
        // the last digits are those that other numbers have, too
        assert_eq!(
            collected("18446744073709551615").mask("is 18446744073709551615!"),
            format!("is {MASK}1615!")
        );
        assert_eq!(collected("0.5").mask("is 0.500000, 15.25!"), "is 0.500000, 15.25!");
    }

    #[test]
    fn a_key_that_is_a_secret_is_masked() {
        let data = Data::map([(Key::Int(77), Data::Int(1)), (Key::from("a77"), Data::Int(2))]);
        let masked = secrets(&["77"]).mask_data(&data);
        assert_eq!(masked, Data::map([(Key::from(MASK), Data::Int(1)), (Key::from("a77"), Data::Int(2))]));
    }

    proptest::proptest! {
        #[test]
        fn no_secret_of_some_length_is_shown(secret in "[a-n\\\\\"\n\té]{6,12}", before in "[a-n\\\\\"\n]{0,4}", after in "[a-n\\\\\"\n]{0,4}", quoting in proptest::collection::vec(proptest::bool::ANY, 0..4)) {
            let text = quoting.iter().fold(format!("{before}{secret}{after}"), |text, as_json| if *as_json { json(&text) } else { literal(&text) });
            let mask = secrets(&[&secret]);
            proptest::prop_assume!(without_backslashes(&secret).text.len() >= SHORTEST);
            proptest::prop_assert!(mask.mask(&text).contains(MASK), "{secret:?} in {text:?}");
            // nothing but backslashes and what was around it is left
            let left: String = mask.mask(&text).split(MASK).collect();
            let around = without_backslashes(&quoted(&format!("{before}{after}"))).text;
            let bare = without_backslashes(&left).text;
            let bare = bare.replace('\n', "n").replace('\t', "t");
            proptest::prop_assert!(bare.len() <= around.len() + 2 * quoting.len(), "{left:?} of {text:?}");
        }
    }
}
