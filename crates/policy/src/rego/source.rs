//! The Rego files of a set, and what regorus has to say about them.

use std::ops::Range;

use regorus::unstable::{Expr, Rule, RuleHead};

use super::{
    manifest::RegoVersion,
    metadata::{self, Annotation},
    new_engine,
    tokens::{keyword_without_import, tokens},
};
use crate::{Mistake, Place, SetFolder};

/// A file that parses.
pub(super) struct RegoFile {
    pub(super) name: String,
    pub(super) version: RegoVersion,
    /// The file as people wrote it.
    pub(super) text: String,
    /// The same, with names of their own for the calls of `rego.metadata.rule()`. Places are the same in both.
    pub(super) compiled_text: String,
}

/// The Rego files of a set.
#[derive(Default)]
pub(super) struct Rego {
    pub(super) files: Vec<RegoFile>,
    pub(super) annotations: Vec<Annotation>,
    /// The paths of the rules, for suggestions.
    rules: Vec<String>,
}

impl Rego {
    /// What would be right instead of a query that names no rule.
    pub(super) fn nearest(&self, query: &str) -> String {
        if self.rules.iter().any(|rule| rule == query) {
            return "what it names is not a set: write RULE contains MESSAGE if { … }, or RULE := [ … ]"
                .to_owned();
        }
        match text::nearest(query, self.rules.iter().map(String::as_str)) {
            Some(rule) => format!("did you mean {rule}?"),
            None => "write the path of a rule, data.PACKAGE.RULE".to_owned(),
        }
    }
}

/// Parses every policy file of the folder, in `version` or in the version that each is written in.
pub(super) fn read(folder: &SetFolder, version: Option<RegoVersion>, mistakes: &mut Vec<Mistake>) -> Rego {
    let mut rego = Rego::default();
    let is_policy = |name: &str| name.ends_with(".rego") && !name.ends_with("_test.rego");
    let mut found = false;
    for file in folder.files().iter().filter(|file| is_policy(&file.name)) {
        found = true;
        let added = folder.read(file).and_then(|text| add(&mut rego, &file.name, text, version));
        mistakes.extend(added.err());
    }
    if !found {
        mistakes.push(
            Mistake::of_file("", "the set has no .rego file").help("add the file with the policies' rules"),
        );
    }
    rego
}

fn add(rego: &mut Rego, name: &str, text: String, version: Option<RegoVersion>) -> Result<(), Mistake> {
    let Parsed { version, spans, rules } = match version {
        Some(version) => parse(name, &text, version)?,
        None => parse(name, &text, RegoVersion::V1)
            .or_else(|as_v1| parse(name, &text, RegoVersion::V0).map_err(|as_v0| meant(as_v1, as_v0)))?,
    };
    let compiled_text = metadata::resolve(name, &text, &spans, &mut rego.annotations)?;
    rego.rules.extend(rules);
    rego.files.push(RegoFile { name: name.to_owned(), version, text, compiled_text });
    Ok(())
}

/// The error of a file that is Rego in no version: from the version in which it is written, as far as one can tell.
fn meant(as_v1: Mistake, as_v0: Mistake) -> Mistake {
    let misses_keyword = as_v1.message.contains("keyword is required");
    match misses_keyword || as_v0.place > as_v1.place {
        true => as_v0,
        false => as_v1,
    }
}

struct Parsed {
    version: RegoVersion,
    /// Where each rule stands.
    spans: Vec<Range<usize>>,
    /// The path of each rule.
    rules: Vec<String>,
}

fn parse(name: &str, text: &str, version: RegoVersion) -> Result<Parsed, Mistake> {
    if version == RegoVersion::V0
        && let Some((word, span)) = keyword_without_import(&tokens(name, text))
    {
        let message = format!("the keyword {word} is not imported (read as Rego v0)");
        return Err(Mistake::at_span(name, text, Some(span), message)
            .help(format!("add import future.keywords.{word}, or have the file read as Rego v1")));
    }
    let mut engine = new_engine();
    engine.set_rego_v0(version == RegoVersion::V0);
    engine.add_policy(name.to_owned(), text.to_owned()).map_err(|error| {
        let message = format!("{} (read as Rego {})", message_of(&error), version.as_str());
        match place_in(&error) {
            Some((_, place)) => Mistake::at(name, text, place, message),
            None => Mistake::of_file(name, message),
        }
    })?;
    let offset = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    let mut parsed = Parsed { version, spans: Vec::new(), rules: Vec::new() };
    for module in engine.get_modules() {
        let package = module.package.refr.span().text().to_owned();
        for rule in &module.policy {
            parsed.spans.push(offset(rule.span().start)..offset(rule.span().end));
            let head = head_of(rule).span().text();
            let head = head.split('[').next().unwrap_or(head);
            parsed.rules.push(format!("data.{package}.{head}"));
        }
    }
    parsed.spans.sort_by_key(|span| span.start);
    Ok(parsed)
}

fn head_of(rule: &Rule) -> &Expr {
    match rule {
        Rule::Spec { head, .. } => match head {
            RuleHead::Compr { refr, .. } | RuleHead::Set { refr, .. } | RuleHead::Func { refr, .. } => refr,
        },
        Rule::Default { refr, .. } => refr,
    }
}

/// regorus puts the place of an error into its text, above the line and a caret.
const ARROW: &str = "\n--> ";

/// The file and the place that an error of regorus names.
pub(super) fn place_in(error: &anyhow::Error) -> Option<(String, Place)> {
    let text = error.to_string();
    let (_, after) = text.split_once(ARROW)?;
    let mut parts = after.lines().next()?.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some((parts.next()?.to_owned(), Place { line, column }))
}

/// What an error says, without the excerpt of the source.
pub(super) fn message_of(error: &anyhow::Error) -> String {
    let text = error.to_string();
    let message = text.split_once("\nerror: ").map_or(text.as_str(), |(_, message)| message);
    let message = message.split(ARROW).next().unwrap_or(message);
    message.trim().trim_end_matches([':', '.']).to_owned()
}

/// An error of an evaluation in one line.
pub(super) fn describe(error: &anyhow::Error) -> String {
    match place_in(error) {
        Some((file, Place { line, column })) => format!("{file}:{line}:{column}: {}", message_of(error)),
        None => message_of(error),
    }
}

/// An error of the files together as a mistake.
pub(super) fn mistake(error: &anyhow::Error, files: &[RegoFile]) -> Mistake {
    let message = message_of(error);
    match place_in(error) {
        Some((name, place)) => match files.iter().find(|file| file.name == name) {
            Some(file) => Mistake::at(name, &file.text, place, message),
            None => Mistake { place: Some(place), ..Mistake::of_file(name, message) },
        },
        None => Mistake::of_file("", message),
    }
}
