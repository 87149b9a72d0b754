//! Masking of sensitive values in what a policy says.
//!
//! A policy may print whatever it is given, so what it prints is searched for the texts of sensitive
//! values: those of the plan that `after_sensitive` and its like mark, and the values of sensitive
//! parameters. A text is masked wherever it stands; one that is shorter than four bytes only where it
//! is the whole of a value, because it would stand everywhere by accident.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::value::{Data, Key};

/// What a masked value is shown as.
pub const MASK: &str = "(sensitive value)";

/// Texts shorter than this are masked only where they are a whole value.
const SHORTEST: usize = 4;

/// Sensitive texts. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    texts: Arc<[String]>,
    pattern: Option<AhoCorasick>,
}

impl Secrets {
    /// Secrets of these texts.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Secrets {
        let mut texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        // the longest first: a secret that starts with another one is masked whole
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        texts.dedup();
        let mut forms: Vec<String> = texts
            .iter()
            .filter(|text| text.len() >= SHORTEST)
            .flat_map(|text| [text.clone(), quoted(text)])
            .collect();
        forms.dedup();
        let pattern = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms).ok();
        Secrets { texts: texts.into(), pattern }
    }

    /// The texts of data that is sensitive as a whole.
    pub fn collect(data: &Data, texts: &mut Vec<String>) {
        match data {
            Data::Str(text) => texts.push(text.to_text().into_owned()),
            Data::Int(_) | Data::Float(_) => texts.push(crate::value::show::show_data(data)),
            Data::List(items) => items.iter().for_each(|item| Secrets::collect(item, texts)),
            Data::Map(map) => map.entries().iter().for_each(|(_, item)| Secrets::collect(item, texts)),
            Data::Undefined | Data::Null | Data::Bool(_) => {}
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Masks the secrets in a text.
    pub fn mask(&self, text: &str) -> String {
        let masked = match &self.pattern {
            Some(pattern) => {
                let mut masked = String::with_capacity(text.len());
                pattern.replace_all_with(text, &mut masked, |_, _, masked| {
                    masked.push_str(MASK);
                    true
                });
                masked
            }
            // too many for one pattern: slower, but nothing is shown
            None => self
                .texts
                .iter()
                .filter(|secret| secret.len() >= SHORTEST)
                .fold(text.to_owned(), |text, secret| {
                    text.replace(secret.as_str(), MASK).replace(&quoted(secret), MASK)
                }),
        };
        if self.texts.is_empty() {
            return masked;
        }
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
            Data::Int(_) | Data::Float(_) if self.is_secret(&crate::value::show::show_data(data)) => {
                MASK.into()
            }
            Data::List(items) => Data::list(items.iter().map(|item| self.mask_data(item))),
            Data::Map(map) => Data::map(map.entries().iter().map(|(key, item)| {
                let key = match key {
                    Key::Str(text) => Key::from(self.mask(&text.to_text())),
                    other => other.clone(),
                };
                (key, self.mask_data(item))
            })),
            other => other.clone(),
        }
    }
}

/// A text as it stands inside of a string literal.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    crate::value::show::quote(&mut quoted, text);
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let secrets = Secrets { texts: ["hunter2".into(), "a\"bc".into()].into(), pattern: None };
        assert_eq!(secrets.mask("x hunter2 y a\\\"bc z a\"bc"), format!("x {MASK} y {MASK} z {MASK}"));
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
}
