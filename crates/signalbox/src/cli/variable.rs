//! `--var NAME=VALUE` and `--var-file FILE`. The API takes values as HCL literals.

use std::path::{Path, PathBuf};

use client::RunVariable;
use serde_json::Value;

use super::failure::Failure;

/// The most of a file of variables. The daemon takes no more either.
const MAX_BYTES: usize = 1 << 20;

/// Name and literal. A value that begins with `[`, `{` or `"` is a literal already; any other is text, which
/// terraform converts to a number or a boolean where the variable's type is one.
///
/// # Errors
/// In words.
pub(crate) fn parse(argument: &str) -> Result<RunVariable, String> {
    let (name, value) = argument.split_once('=').ok_or("it has to be NAME=VALUE")?;
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_alphabetic() || first == '_');
    if !begins || !letters.all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-') {
        return Err(format!("{name:?} is not the name of a variable"));
    }
    let value = literal(value);
    if let Err(error) = hcl_reader::literal(&value, MAX_BYTES) {
        let column = error.position(&value).column;
        return Err(format!("at character {column} of the value: {error}"));
    }
    Ok(RunVariable { key: name.to_owned(), value })
}

/// Those of the files, and those that are given one by one. What comes later wins, and files come first.
///
/// # Errors
/// A file that can't be read, or is none of variables, with the place.
pub(crate) fn together(files: &[PathBuf], given: &[RunVariable]) -> Result<Vec<RunVariable>, Failure> {
    let mut all: Vec<RunVariable> = Vec::new();
    let mut add = |variable: RunVariable| match all.iter_mut().find(|known| known.key == variable.key) {
        Some(known) => *known = variable,
        None => all.push(variable),
    };
    for file in files {
        of_file(file)?.into_iter().for_each(&mut add);
    }
    given.iter().cloned().for_each(&mut add);
    Ok(all)
}

fn of_file(path: &Path) -> Result<Vec<RunVariable>, Failure> {
    let shown = super::terminal::line(&path.display().to_string());
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("can't read {shown}: {error}"), "name a .tfvars file"))?;
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let variables = if is_json { of_json(&text) } else { of_hcl(&text) };
    variables.map_err(|(place, why)| {
        let place = place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        Failure::usage(
            format!("{shown}{place}: {why}"),
            "a file of variables has lines like `size = \"large\"`; values are literals",
        )
    })
}

/// Where it is, if that is known, and what is wrong.
type Mistake = (Option<(usize, usize)>, String);

fn of_hcl(text: &str) -> Result<Vec<RunVariable>, Mistake> {
    let at = |error: &hcl_reader::Error| {
        let position = error.position(text);
        (Some((position.line, position.column)), error.to_string())
    };
    let document = hcl_reader::parse(text, MAX_BYTES).map_err(|broken| at(&broken.error))?;
    if let Some(block) = document.body.blocks.first() {
        let position = hcl_reader::position(text, block.kind.span.start);
        let why = "a file of variables has no blocks".to_owned();
        return Err((Some((position.line, position.column)), why));
    }
    let variable = |attribute: &hcl_reader::Attribute<'_>| {
        // refused here, where its place is known
        attribute.value.to_json().map_err(|error| at(&error))?;
        Ok(RunVariable {
            key: attribute.name.as_str().to_owned(),
            value: text[attribute.value.span.clone()].to_owned(),
        })
    };
    document.body.attributes.iter().map(variable).collect()
}

fn of_json(text: &str) -> Result<Vec<RunVariable>, Mistake> {
    let read: Value = serde_json::from_str(text)
        .map_err(|error| (Some((error.line(), error.column())), error.to_string()))?;
    let Value::Object(members) = read else { return Err((None, "it is not a JSON object".to_owned())) };
    Ok(members.into_iter().map(|(key, value)| RunVariable { key, value: of_value(&value) }).collect())
}

/// A JSON value as an HCL literal.
fn of_value(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(all) => format!("[{}]", all.iter().map(of_value).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{} = {}", quoted(key), of_value(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn literal(value: &str) -> String {
    if value.starts_with(['[', '{', '"']) { value.to_owned() } else { quoted(value) }
}

/// The text as an HCL string that stands for exactly it.
pub(super) fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            // `${` and `%{` would begin a template; doubling escapes them
            '$' | '%' if characters.peek() == Some(&'{') => literal.extend([character, character]),
            _ => literal.push(character),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_quoted_and_literals_are_not() {
        let table = [
            ("region=eu-west-1", "region", r#""eu-west-1""#),
            ("count=3", "count", r#""3""#),
            ("empty=", "empty", r#""""#),
            ("filter=a=b", "filter", r#""a=b""#),
            ("zones=[\"a\", \"b\"]", "zones", r#"["a", "b"]"#),
            ("tags={ a = 1 }", "tags", "{ a = 1 }"),
            ("name=\"x\"", "name", "\"x\""),
            ("path=C:\\temp", "path", r#""C:\\temp""#),
            ("say=he said \"hi\"", "say", r#""he said \"hi\"""#),
            ("template=${x} %{y} $z 5%", "template", r#""$${x} %%{y} $z 5%""#),
            ("key=a\nb\tc", "key", r#""a\nb\tc""#),
        ];
        for (argument, name, value) in table {
            let expected = RunVariable { key: name.to_owned(), value: value.to_owned() };
            assert_eq!(parse(argument), Ok(expected), "{argument}");
        }
    }

    #[test]
    fn files_are_read_as_terraform_reads_them_and_what_comes_later_wins() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let first = file("a.tfvars", "# sizes\nsize = \"small\"\nzones = [\n  \"a\", 2,\n]\n");
        let second = file("b.tfvars.json", r#"{"size": "${x}", "more": {"a b": [1.5, null, true]}}"#);
        let all = together(&[first, second], &[parse("more=x").unwrap(), parse("own=1").unwrap()]).unwrap();
        let all: Vec<_> =
            all.iter().map(|variable| (variable.key.as_str(), variable.value.as_str())).collect();
        let zones = "[\n  \"a\", 2,\n]";
        assert_eq!(all, [("size", "\"$${x}\""), ("zones", zones), ("more", "\"x\""), ("own", "\"1\"")]);
        for (name, text, place) in [
            ("broken.tfvars", "size = \n", ":1:"),
            ("computed.tfvars", "a = 1\nsize = var.x\n", ":2:8"),
            ("block.tfvars", "a = 1\nvariable \"x\" {}\n", ":2:1: a file of variables has no blocks"),
            ("broken.json", "{\"a\": }", ":1:7"),
            ("list.json", "[]", "not a JSON object"),
        ] {
            let error = together(&[file(name, text)], &[]).unwrap_err().to_string();
            assert!(error.contains(place), "{error}");
        }
        assert!(together(&[dir.path().join("none")], &[]).unwrap_err().to_string().contains("can't read"));
    }

    #[test]
    fn what_names_no_variable_is_refused() {
        for argument in
            ["region", "=x", "1a=x", "a b=x", "a.b=x", "a=[1,", "a=[0.1, 12345678901234567890123]"]
        {
            assert!(parse(argument).is_err(), "{argument}");
        }
        assert!(parse("a=[1, 2").unwrap_err().starts_with("at character "));
    }

    proptest! {
        #[test]
        fn a_quoted_text_stands_for_itself(text in "[a-z$%{}\"\\\\\n\r\t ä✓~#/*]{0,16}") {
            let read = hcl_reader::literal(&quoted(&text), 1 << 20);
            prop_assert_eq!(read, Ok(serde_json::Value::from(text)));
        }
    }
}
