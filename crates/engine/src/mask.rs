//! Keeps the values of sensitive variables out of logs.
//!
//! Terraform hides them in plans, but not everywhere: of a value that fails a validation it quotes the line of the file
//! and the value itself, whatever way it came. So known values are starred out where a log is read, byte for byte,
//! which leaves every offset as it is; and in the file when its stage has ended, since logs outlive the settings.
//!
//! What terraform itself does to a value is followed: it quotes, as its own language and as JSON, shows what is JSON as a
//! structure, and texts by lines, which it breaks where they are long.
//!
//! It is a net and no wall: a value that a configuration encodes, splits or prints as a part of something else is not
//! found, and one of less than [`LEAST`] bytes is not looked for, since it would star out half of every log.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use aho_corasick::{AhoCorasick, MatchKind};
use lifecycle::RunVariable;
use serde_json::Value;
use store::Settings;

use crate::variables;

/// Values of fewer bytes are not looked for, and neither are lines of values.
const LEAST: usize = 6;
/// At most so many spaces of a value are tried as the place where terraform breaks a line.
const MOST_BREAKS: usize = 64;
/// What is read at once when a file is masked.
const PIECE: usize = 1024 * 1024;

/// The values that are not to be seen in what a run prints, and in documents about it.
pub struct Mask {
    patterns: AhoCorasick,
    values: Vec<Vec<u8>>,
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask(of {})", self.values.len())
    }
}

impl Mask {
    /// The sensitive values that a run is made with, its own for variables that are sensitive included. `None` if there
    /// is nothing to look for.
    pub(crate) fn new(settings: &Settings, own: &[RunVariable]) -> Option<Self> {
        let mut texts = Vec::new();
        settings.sensitive_variables.values().for_each(|value| leaves(value, &mut texts));
        texts.extend(settings.sensitive_environment.values().cloned());
        for variable in own.iter().filter(|own| settings.sensitive_variables.contains_key(&own.key)) {
            if let Ok(value) = variables::literal(&variable.value) {
                leaves(&value, &mut texts);
            }
        }
        Self::of(texts.iter().flat_map(|text| spellings(text)).collect())
    }

    fn of(mut values: Vec<Vec<u8>>) -> Option<Self> {
        values.retain(|value| value.len() >= LEAST);
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            return None;
        }
        // overlapping matches are found whatever was read before
        let patterns = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&values);
        let patterns = patterns
            .inspect_err(|error| tracing::error!(%error, "sensitive values can't be looked for in logs"))
            .ok()?;
        Some(Self { patterns, values })
    }

    /// How many bytes before and after a piece have to be known to mask it.
    pub(crate) fn margin(&self) -> usize {
        self.patterns.max_pattern_len() - 1
    }

    /// Stars out what is found in `bytes`, and says whether anything was. At its ends something may begin or go on that
    /// is not found.
    pub(crate) fn apply(&self, bytes: &mut [u8]) -> bool {
        let found: Vec<Range<usize>> =
            self.patterns.find_overlapping_iter(&*bytes).map(|found| found.range()).collect();
        for range in &found {
            bytes[range.clone()].fill(b'*');
        }
        !found.is_empty()
    }

    /// Whether one of them stands in a JSON text.
    pub fn is_in(&self, json: &str) -> bool {
        self.patterns.find(json).is_some()
    }

    /// Stars out what is found in a JSON document, which stays one, of the same length: a number becomes `null`. Says
    /// whether anything was.
    pub(crate) fn apply_to_json(&self, json: &mut [u8]) -> bool {
        let found: Vec<Range<usize>> =
            self.patterns.find_overlapping_iter(&*json).map(|found| found.range()).collect();
        if found.is_empty() {
            return false;
        }
        let strings = strings(json);
        for range in found {
            // the first string that ends behind its beginning
            let next = strings.partition_point(|string| string.end <= range.start);
            match strings.get(next).filter(|string| string.start <= range.start) {
                Some(string) => json[range.start..range.end.min(string.end)].fill(b'*'),
                None => no_number(json, range.start),
            }
        }
        true
    }

    /// How many bytes at the end of a log that is still written could be the beginning of a value.
    pub(crate) fn unfinished(&self, tail: &[u8]) -> usize {
        let starts = |length: &usize| {
            self.values.iter().any(|value| value.len() > *length && tail.ends_with(&value[..*length]))
        };
        (1..=self.margin().min(tail.len())).rev().find(starts).unwrap_or(0)
    }

    /// Stars the values out of a file that nobody writes to any more.
    ///
    /// # Errors
    /// When it can't be read or written; what was done so far stays.
    pub(crate) fn rewrite(&self, file: &File) -> io::Result<()> {
        let length = file.metadata()?.len();
        let mut offset = 0;
        let mut piece = Vec::new();
        while offset < length {
            let wanted = usize::try_from(length - offset).unwrap_or(usize::MAX).min(PIECE + self.margin());
            piece.resize(wanted, 0);
            file.read_exact_at(&mut piece, offset)?;
            if self.apply(&mut piece) {
                file.write_all_at(&piece, offset)?;
            }
            offset += PIECE as u64;
        }
        Ok(())
    }
}

/// Every text and number in a value.
fn leaves(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => texts.push(number.to_string()),
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, texts)),
        Value::Object(entries) => entries.values().for_each(|entry| leaves(entry, texts)),
    }
}

/// How a text may stand in what terraform prints: as it is, as JSON and as terraform's language quote it, by its lines, and
/// with a line broken at one of its spaces. A text that is JSON is shown as a structure as well, by what is in it.
fn spellings(text: &str) -> Vec<Vec<u8>> {
    let mut texts = vec![text.to_owned()];
    if let Ok(value @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text) {
        leaves(&value, &mut texts);
    }
    let mut all = Vec::new();
    for text in texts {
        all.extend(text.match_indices(' ').take(MOST_BREAKS).map(|(at, _)| {
            let mut broken = text.clone();
            broken.replace_range(at..=at, "\n");
            broken
        }));
        all.extend(text.lines().filter(|_| text.contains('\n')).flat_map(|line| quoted(line.trim())));
        all.extend(quoted(&text));
    }
    all.into_iter().map(String::into_bytes).collect()
}

/// A text as it is, and in each way in which terraform quotes it.
fn quoted(text: &str) -> [String; 5] {
    let json = Value::from(text).to_string();
    let json = json[1..json.len() - 1].to_owned();
    // as Go writes JSON, by default and in plans
    let go = json
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    let template = |text: &str| text.replace("${", "$${").replace("%{", "%%{");
    [text.to_owned(), template(&json), template(&go), json, go]
}

/// Where the strings of a JSON document are, without their quotes.
fn strings(json: &[u8]) -> Vec<Range<usize>> {
    let mut strings = Vec::new();
    let mut open = None;
    let mut escaped = false;
    for (at, byte) in json.iter().enumerate() {
        match (open, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(start), b'"') => {
                strings.push(start..at);
                open = None;
            }
            (None, b'"') => open = Some(at + 1),
            _ => {}
        }
    }
    strings
}

/// Makes the number that has a digit here `null`, if it has room for that.
fn no_number(json: &mut [u8], at: usize) {
    let of_a_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let start = json[..at].iter().rposition(|byte| !of_a_number(byte)).map_or(0, |before| before + 1);
    let end = json[at..].iter().position(|byte| !of_a_number(byte)).map_or(json.len(), |after| at + after);
    if let Some((null, rest)) = json[start..end].split_at_mut_checked(4) {
        null.copy_from_slice(b"null");
        rest.fill(b' ');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mask(values: &[&str]) -> Mask {
        Mask::of(values.iter().flat_map(|value| spellings(value)).collect()).unwrap()
    }

    fn masked(values: &[&str], text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        mask(values).apply(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_value_is_starred_out_in_every_way_that_terraform_quotes_it() {
        let table = [
            ("hunter2", r#"var.a is "hunter2""#, r#"var.a is "*******""#),
            ("a\"b${c}d", r#"is "a\"b$${c}d""#, r#"is "**********""#),
            ("a\"b${c}d", r#"{"a": "a\"b${c}d"}"#, r#"{"a": "*********"}"#),
            ("line of a key 01\nline of a key 02", "  line of a key 02\n", "  ****************\n"),
            (
                "ada:pa55word1\nbob:hunter22",
                "+ ada:pa55word1\n+ bob:hunter22",
                "+ *************\n+ ************",
            ),
            ("a<b>&c;d", r#"{"x":"a\u003cb\u003e\u0026c;d"}"#, r#"{"x":"***********************"}"#),
            (
                r#"{"user":"ada-ada","n":[1234567]}"#,
                "+ user = \"ada-ada\"\n+ 1234567,",
                "+ user = \"*******\"\n+ *******,",
            ),
            ("correct horse battery", "is correct horse\nbattery.", "is *********************."),
            ("abcabc", "abcabcabc", "*********"),
            ("hunter2", "hunter", "hunter"),
        ];
        for (value, text, expected) in table {
            assert_eq!(masked(&[value], text), expected);
        }
    }

    #[test]
    fn numbers_and_parts_of_values_are_looked_for_and_short_ones_are_not() {
        let mut texts = Vec::new();
        leaves(
            &serde_json::json!({ "pin": 123_456, "on": true, "list": ["secret-1", null, "no"] }),
            &mut texts,
        );
        assert_eq!(texts, ["secret-1", "no", "123456"]);
        assert!(Mask::of(vec![b"short".to_vec(), Vec::new()]).is_none());
    }

    #[test]
    fn what_may_become_a_value_is_held_back() {
        let mask = mask(&["hunter2", "secret"]);
        for (tail, held) in [
            ("is hunt", 4),
            ("is hunter", 6),
            ("is hunter2", 0),
            ("s", 1),
            ("secre", 5),
            ("", 0),
            ("is x", 0),
        ] {
            assert_eq!(mask.unfinished(tail.as_bytes()), held, "{tail}");
        }
    }

    #[test]
    fn a_json_document_stays_one() {
        let mask = mask(&["hunter2", "a\"b<c>d", "1234567"]);
        let table = [
            (r#"{"a":"hunter2","hunter2":1}"#, r#"{"a":"*******","*******":1}"#),
            (r#"{"a":"xhunter2x\\"}"#, r#"{"a":"x*******x\\"}"#),
            (r#"["a\"b\u003cc\u003ed"]"#, r#"["******************"]"#),
            (
                r#"{"a":1234567,"b":-1234567.5e3 ,"c":"1234567"}"#,
                r#"{"a":null   ,"b":null         ,"c":"*******"}"#,
            ),
            (r#"{"a":7}"#, r#"{"a":7}"#),
        ];
        for (document, expected) in table {
            let mut bytes = document.as_bytes().to_vec();
            mask.apply_to_json(&mut bytes);
            assert_eq!(String::from_utf8(bytes).unwrap(), expected);
            serde_json::from_str::<Value>(expected).unwrap();
        }
    }

    #[test]
    fn a_mask_does_not_show_its_values() {
        assert_eq!(format!("{:?}", mask(&["hunter2"])), "Mask(of 1)");
    }

    proptest! {
        /// However a log is cut into pieces, what comes out is the whole log masked at once.
        #[test]
        fn a_value_is_found_across_the_borders_of_pieces(
            text in "[abc]{0,80}",
            values in prop::collection::vec("[abc]{6,9}", 1..4),
            size in 1_usize..20,
        ) {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let mask = mask(&values);
            let mut whole = text.clone().into_bytes();
            mask.apply(&mut whole);
            let bytes = text.as_bytes();
            let mut pieces = Vec::new();
            for start in (0..bytes.len()).step_by(size) {
                let end = (start + size).min(bytes.len());
                let (from, to) = (start.saturating_sub(mask.margin()), (end + mask.margin()).min(bytes.len()));
                let mut window = bytes[from..to].to_vec();
                mask.apply(&mut window);
                pieces.extend_from_slice(&window[start - from..end - from]);
            }
            prop_assert_eq!(&pieces, &whole);
        }
    }

    /// Whatever stands at the borders of what is read at once.
    #[test]
    fn a_file_is_masked_in_place() {
        for before in 0..9 {
            let file = tempfile::tempfile().unwrap();
            let mut content = vec![b'x'; PIECE - before];
            content.extend_from_slice(b"hunter2 hunter2");
            file.write_all_at(&content, 0).unwrap();
            mask(&["hunter2"]).rewrite(&file).unwrap();
            let mut left = vec![0; content.len()];
            file.read_exact_at(&mut left, 0).unwrap();
            assert!(left.ends_with(b"x******* *******"), "{before}");
        }
    }
}
