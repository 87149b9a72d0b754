//! `policies.hcl`: which rules of a Rego set are policies, and how strictly they are enforced.

use std::{collections::HashMap, ops::Range};

use hcl_reader::{Attribute, Block, Body, Constant};

use crate::{EnforcementLevel, Mistake, Place, Policy};

/// The file's name.
pub(super) const FILE: &str = "policies.hcl";

/// The bytes of a manifest.
const MAX_BYTES: usize = 1 << 20;

/// How many mistakes are told: each has the text of its line, and a file of one line may have as many as bytes.
const MAX_MISTAKES: usize = 50;

const POLICY_ARGUMENTS: &[&str] = &["query", "enforcement_level", "description"];

/// The version of the Rego language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegoVersion {
    /// The language before OPA 1.0: `deny[msg] { … }`.
    V0,
    /// The language since OPA 1.0: `deny contains msg if { … }`.
    V1,
}

impl RegoVersion {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::V0 => "v0",
            Self::V1 => "v1",
        }
    }
}

/// A policy and the rule that answers for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) policy: Policy,
    /// The path of a rule, `data.` and all.
    pub(super) rule: String,
    /// The query as it is written.
    pub(super) query: String,
    /// Where it stands in the manifest.
    pub(super) span: Option<Range<usize>>,
}

/// What the manifest says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) entries: Vec<Entry>,
    /// The language version of every file; if it is not given, each file is read as what it is.
    pub(super) version: Option<RegoVersion>,
}

/// Reads the manifest as far as it can be read, with every mistake in it.
pub(super) fn read(name: &str, text: &str) -> (Manifest, Vec<Mistake>) {
    let mut reader = Reader { name, text, mistakes: Vec::new(), untold: 0 };
    let (manifest, duplicates) = match hcl_reader::parse(text, MAX_BYTES) {
        Ok(document) => (reader.manifest(&document.body), document.duplicates),
        Err(broken) => {
            let kind = broken.error.kind;
            reader.mistake(Some(broken.error.span), kind.to_string(), kind.help());
            (Manifest::default(), broken.duplicates)
        }
    };
    for twice in duplicates {
        let message = || format!("{} is already set on line {}", twice.name, line(text, &twice.first));
        reader.mistake_with(Some(twice.again.clone()), message, "remove one of them");
    }
    if reader.untold > 0 {
        let all = reader.mistakes.len() + reader.untold;
        let message = format!("the file has {all} mistakes, of which {} are told", reader.mistakes.len());
        reader.mistakes.push(Mistake::of_file(name, message).help("mend those first"));
    }
    (manifest, reader.mistakes)
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    mistakes: Vec<Mistake>,
    /// How many more there are.
    untold: usize,
}

impl Reader<'_> {
    fn mistake(&mut self, span: Option<Range<usize>>, message: impl Into<String>, help: impl Into<String>) {
        self.mistake_with(span, || message.into(), help);
    }

    /// As [`mistake`](Self::mistake), with a message that is made if it is told.
    fn mistake_with(
        &mut self,
        span: Option<Range<usize>>,
        message: impl FnOnce() -> String,
        help: impl Into<String>,
    ) {
        if self.mistakes.len() == MAX_MISTAKES {
            self.untold += 1;
            return;
        }
        self.mistakes.push(Mistake::at_span(self.name, self.text, span, message()).help(help));
    }

    fn manifest(&mut self, body: &Body<'_>) -> Manifest {
        let mut manifest = Manifest::default();
        let mut seen: HashMap<String, Range<usize>> = HashMap::new();
        let mut blocks = 0;
        for attribute in once(body) {
            if attribute.name.as_str() == "rego_version" {
                manifest.version = self.version(attribute);
                continue;
            }
            self.mistake(
                Some(attribute.name.span.clone()),
                format!("unknown argument {}", attribute.name.as_str()),
                "a policy set has policy blocks and, if need be, a rego_version",
            );
        }
        for block in &body.blocks {
            if block.kind.as_str() != "policy" {
                self.mistake(
                    Some(block.kind.span.clone()),
                    format!("unknown block {}", block.kind.as_str()),
                    "write policy \"NAME\" { query = \"data.PACKAGE.RULE\" }",
                );
                continue;
            }
            blocks += 1;
            let Some(entry) = self.policy(block) else { continue };
            let span = block.labels.first().unwrap_or(&block.kind).span.clone();
            let name = &entry.policy.name;
            if let Some(first) = seen.get(name) {
                let text = self.text;
                let message =
                    || format!("policy \"{name}\" is already defined on line {}", line(text, first));
                self.mistake_with(Some(span), message, "give each policy of a set its own name");
                continue;
            }
            seen.insert(name.clone(), span);
            manifest.entries.push(entry);
        }
        if blocks == 0 {
            // a set that checks nothing would pass everything
            self.mistake(
                None,
                "the set has no policy",
                "write policy \"NAME\" { query = \"data.PACKAGE.RULE\" }",
            );
        }
        manifest
    }

    fn version(&mut self, attribute: &Attribute<'_>) -> Option<RegoVersion> {
        let (word, span) = self.string(attribute)?;
        match word.as_str() {
            "v0" => Some(RegoVersion::V0),
            "v1" => Some(RegoVersion::V1),
            other => {
                self.mistake(
                    span,
                    format!("unknown version of Rego \"{other}\""),
                    "write \"v0\" or \"v1\", or leave it out to have each file read as what it is",
                );
                None
            }
        }
    }

    fn policy(&mut self, block: &Block<'_>) -> Option<Entry> {
        let name = match block.labels.as_slice() {
            [label] if !label.as_str().trim().is_empty() => Some(label.as_str().to_owned()),
            [label] => {
                self.mistake(Some(label.span.clone()), "the policy's name is empty", "write policy \"NAME\"");
                None
            }
            labels => {
                self.mistake(
                    Some(labels.get(1).unwrap_or(&block.kind).span.clone()),
                    format!("a policy has one name, not {}", labels.len()),
                    "write policy \"NAME\"",
                );
                None
            }
        };
        let (mut query, mut level, mut description) = (None, Some(EnforcementLevel::default()), None);
        for attribute in once(&block.body) {
            match attribute.name.as_str() {
                "query" => query = Some(self.query(attribute)),
                "enforcement_level" => level = self.level(attribute),
                "description" => description = self.string(attribute).map(|(text, _)| text),
                other => self.unknown_argument(other, Some(attribute.name.span.clone())),
            }
        }
        for inner in &block.body.blocks {
            let message = format!("unknown block {}", inner.kind.as_str());
            self.mistake(Some(inner.kind.span.clone()), message, known_arguments());
        }
        if query.is_none() {
            self.mistake(
                Some(block.kind.span.clone()),
                "the policy has no query",
                "add query = \"data.PACKAGE.RULE\" with the rule that gives the set of violations",
            );
        }
        let (query, span) = query.flatten()?;
        let rule = rule_of(&query);
        Some(Entry { policy: Policy { name: name?, level: level?, description }, rule, query, span })
    }

    fn query(&mut self, attribute: &Attribute<'_>) -> Option<(String, Option<Range<usize>>)> {
        let (query, span) = self.string(attribute)?;
        let query = query.trim();
        if query.is_empty() {
            self.mistake(span, "the query is empty", "write the path of a rule, such as data.terraform.deny");
            return None;
        }
        Some((query.to_owned(), span))
    }

    fn level(&mut self, attribute: &Attribute<'_>) -> Option<EnforcementLevel> {
        let (word, span) = self.string(attribute)?;
        match word.parse::<EnforcementLevel>() {
            Ok(level) => Some(level),
            Err(_) => {
                self.mistake(
                    span,
                    format!("no enforcement level is called \"{word}\""),
                    "write \"advisory\", \"soft-mandatory\" (as which \"mandatory\" counts) or \"hard-mandatory\"",
                );
                None
            }
        }
    }

    fn unknown_argument(&mut self, name: &str, span: Option<Range<usize>>) {
        let help = match text::nearest(name, POLICY_ARGUMENTS.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => known_arguments(),
        };
        self.mistake(span, format!("unknown argument {name}"), help);
    }

    /// The value of an attribute that has to be a string without interpolation.
    fn string(&mut self, attribute: &Attribute<'_>) -> Option<(String, Option<Range<usize>>)> {
        let span = Some(attribute.value.span.clone());
        if let Ok(Constant::String(text)) = attribute.value.constant() {
            let is_heredoc =
                self.text.get(attribute.value.span.clone()).is_some_and(|text| text.starts_with("<<"));
            return Some((if is_heredoc { text.trim() } else { text }.to_owned(), span));
        }
        let name = attribute.name.as_str();
        self.mistake(span, format!("{name} is not a plain string"), format!("write {name} = \"…\""));
        None
    }
}

/// The line of a place. Reads the text up to there.
fn line(text: &str, span: &Range<usize>) -> u32 {
    Place::at(text, span.start).line
}

/// The attributes of a body; of two of one name the first, since the other is a mistake anyhow.
fn once<'b, 't>(body: &'b Body<'t>) -> impl Iterator<Item = &'b Attribute<'t>> {
    body.attributes.iter().filter(|attribute| !attribute.repeated)
}

/// The path of the rule that a query names. The form without `data.`, which policies made through the API of
/// Terraform Enterprise may have, is understood too.
fn rule_of(query: &str) -> String {
    match query == "data" || query.starts_with("data.") || query.starts_with("data[") {
        true => query.to_owned(),
        false => format!("data.{query}"),
    }
}

fn known_arguments() -> String {
    format!("a policy has the arguments {}", POLICY_ARGUMENTS.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_policies_with_levels_and_descriptions() {
        let (manifest, mistakes) = read(
            FILE,
            r#"
            rego_version = "v0"
            policy "a" {
              query             = "data.terraform.deny"
              enforcement_level = "hard-mandatory"
              description       = <<-EOT
                Nothing public,
                  not even this.
                EOT
            }
            policy "b" { query = "terraform.warn" }
            policy "c" {
              query             = "data.terraform[\"x-y\"].deny"
              enforcement_level = "mandatory"
            }
            "#,
        );
        assert_eq!(mistakes, []);
        assert_eq!(manifest.version, Some(RegoVersion::V0));
        let entries: Vec<_> = manifest
            .entries
            .iter()
            .map(|e| {
                (e.policy.name.as_str(), e.policy.level, e.policy.description.as_deref(), e.rule.as_str())
            })
            .collect();
        assert_eq!(
            entries,
            [
                (
                    "a",
                    EnforcementLevel::HardMandatory,
                    Some("Nothing public,\n  not even this."),
                    "data.terraform.deny"
                ),
                ("b", EnforcementLevel::Advisory, None, "data.terraform.warn"),
                ("c", EnforcementLevel::SoftMandatory, None, "data.terraform[\"x-y\"].deny"),
            ]
        );
    }

    #[test]
    fn every_mistake_of_a_manifest_is_named_with_its_place_and_what_would_be_right() {
        let text = r#"rego_version = "v2"
kind = "opa"
policy "a" {
  qury = "data.a.deny"
  enforcement_level = "strict"
}
policy "b" "c" { query = "data.a.deny" }
policy "d" { query = 5 }
policy "e" { query = "data.a.${x}" }
policy "f" { query = "data.a.deny" }
policy "f" { query = "data.a.deny" }
policy "" { query = "" }
policy { query = "data.a.deny" }
sentinel {}
policy "g" {
  query = "data.a.deny"
  rule {}
}
"#;
        let (_, mut mistakes) = read(FILE, text);
        mistakes.sort_by_key(|m| m.place);
        let found: Vec<String> = mistakes
            .iter()
            .map(|m| {
                let Place { line, column } = m.place.unwrap();
                format!("{line}:{column} {}; {}", m.message, m.help.as_deref().unwrap())
            })
            .collect();
        insta::assert_snapshot!(found.join("\n"));
    }

    #[test]
    fn an_argument_that_is_set_twice_is_a_mistake_at_its_second_place() {
        let (_, mistakes) = read(FILE, "policy \"a\" {\n  query = \"data.a.b\"\n  query = 5\n}\n");
        assert_eq!(mistakes.len(), 1);
        assert_eq!(mistakes[0].message, "query is already set on line 2");
        assert_eq!(mistakes[0].place, Some(Place { line: 3, column: 3 }));
    }

    #[test]
    fn of_more_mistakes_than_anybody_reads_some_are_told_and_all_are_counted() {
        let long_line = format!("x = {{ {} }}", "a = 1, ".repeat(100_000));
        for (text, all) in [
            // the name, the set that has no policy, and the keys but one
            (long_line, 100_001),
            ("x {}\n".repeat(100_000), 100_001),
            ("x = 1\n".repeat(100_000), 100_001),
            ("policy \"a\" { query = \"a\" }\n".repeat(30_000), 29_999),
        ] {
            let (_, mistakes) = read(FILE, &text);
            assert_eq!(mistakes.len(), MAX_MISTAKES + 1);
            let last = &mistakes[MAX_MISTAKES];
            assert_eq!(last.message, format!("the file has {all} mistakes, of which 50 are told"));
            assert_eq!(last.place, None);
        }
    }

    #[test]
    fn broken_hcl_and_a_set_without_policies_are_mistakes() {
        let (_, mistakes) = read(FILE, "policy \"a\" {\n  query = \n}\n");
        assert_eq!(mistakes.len(), 1);
        assert_eq!(mistakes[0].place.unwrap().line, 2);
        let endless = format!("policy \"a\" {{\n  query = {}1{}\n}}\n", "!(".repeat(60), ")".repeat(60));
        let (_, mistakes) = read(FILE, &endless);
        assert_eq!(mistakes[0].message, "query is not a plain string");
        assert_eq!(mistakes[0].place, Some(Place { line: 2, column: 11 }));
        let (_, mistakes) = read(FILE, &"policy {\n".repeat(100_000));
        assert_eq!(mistakes[0].message, "nested more than 100 deep");
        let (_, mistakes) = read(FILE, "# nothing yet\n");
        assert_eq!(mistakes[0].message, "the set has no policy");
    }
}
