//! Annotations of rules, and `rego.metadata.rule()`, which answers with those of the rule that calls it.
//!
//! regorus reads `# METADATA` blocks as mere comments, and tells a function that stands in for `rego.metadata.rule`
//! nothing of its caller. So each call is given a name of its own before the file is compiled (`rule` becomes, say,
//! `r00a`: just as long, so that no place moves), and a function of that name that knows the caller's annotations.
//! An empty answer for every rule would not do: a field of it would be undefined, and with it the violation.

use std::ops::Range;

use regorus::Value;

use super::tokens::tokens;
use crate::Mistake;

/// Digits of the names that calls are given, and how many names that makes.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const MAX_CALLS: usize = 36 * 36 * 36;

/// The answer to one call of `rego.metadata.rule()`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Annotation {
    /// The name that the call was given, below `rego.metadata`.
    pub(super) function: String,
    /// The annotations of the rule in which it stands; an empty object if there are none.
    pub(super) value: Value,
}

/// A `# METADATA` block.
struct Block {
    /// The offset of the first character after it.
    end: usize,
    value: Value,
}

/// Gives every call of `rego.metadata.rule()` in `text` its own name, and adds their answers to `annotations`.
/// `rules` are the byte ranges of the file's rules, in order.
pub(super) fn resolve(
    file: &str,
    text: &str,
    rules: &[Range<usize>],
    annotations: &mut Vec<Annotation>,
) -> Result<String, Mistake> {
    let calls = calls(file, text);
    let mut resolved = text.to_owned();
    if calls.is_empty() {
        return Ok(resolved);
    }
    let blocks = blocks(file, text, rules)?;
    for call in calls {
        let Some(rule) = rules.iter().rposition(|rule| rule.start <= call.start) else { continue };
        let after = rule.checked_sub(1).map_or(0, |before| rules[before].end);
        let own = blocks.iter().rfind(|block| (after..=rules[rule].start).contains(&block.end));
        if annotations.len() == MAX_CALLS {
            return Err(Mistake::at_span(
                file,
                text,
                Some(call),
                "the set calls rego.metadata.rule() too often",
            ));
        }
        let function = name_of_call(annotations.len());
        resolved.replace_range(call, &function);
        let value = own.map_or_else(Value::new_object, |block| block.value.clone());
        annotations.push(Annotation { function, value });
    }
    Ok(resolved)
}

/// `r` and three digits: as long as `rule`.
fn name_of_call(number: usize) -> String {
    let digit = |n: usize| char::from(DIGITS[n % 36]);
    ['r', digit(number / 1296), digit(number / 36), digit(number)].iter().collect()
}

/// Where the word `rule` of each call stands.
fn calls(file: &str, text: &str) -> Vec<Range<usize>> {
    const CALL: [&str; 7] = ["rego", ".", "metadata", ".", "rule", "(", ")"];
    tokens(file, text)
        .windows(CALL.len())
        .filter(|window| window.iter().zip(CALL).all(|(token, word)| token.is_code && token.text == word))
        .map(|window| window[4].span.clone())
        .collect()
}

/// The blocks of rule scope that stand between rules: a line `# METADATA`, then YAML in comments.
fn blocks(file: &str, text: &str, rules: &[Range<usize>]) -> Result<Vec<Block>, Mistake> {
    let mut blocks = Vec::new();
    let mut offset = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = offset;
        offset += line.len();
        let inside_rule = rules.iter().any(|rule| rule.contains(&start));
        if inside_rule || comment(line).is_none_or(|comment| comment.trim() != "METADATA") {
            continue;
        }
        let mut yaml = String::new();
        while let Some(comment) = lines.peek().and_then(|line| comment(line)) {
            yaml.push_str(comment);
            yaml.push('\n');
            offset += lines.next().map_or(0, str::len);
        }
        let value =
            Value::from_yaml_str(&yaml).ok().filter(|value| value.as_object().is_ok()).ok_or_else(|| {
                Mistake::at_span(file, text, Some(start..offset), "the metadata is not a YAML mapping")
                    .help("write one key: value in each comment line below # METADATA")
            })?;
        let scope = match &value["scope"] {
            Value::String(scope) => Some(scope.to_string()),
            _ => None,
        };
        if scope.as_deref().is_some_and(|scope| scope != "rule") {
            continue;
        }
        let mut value = value;
        if let Ok(fields) = value.as_object_mut() {
            fields.insert("scope".into(), "rule".into());
        }
        blocks.push(Block { end: offset, value });
    }
    Ok(blocks)
}

/// What follows the `#` of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    line.trim().strip_prefix('#')
}
