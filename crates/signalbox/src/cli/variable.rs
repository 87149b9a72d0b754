//! `--var NAME=VALUE`. The API takes values as HCL literals.

use client::RunVariable;

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
    Ok(RunVariable { key: name.to_owned(), value: literal(value) })
}

fn literal(value: &str) -> String {
    if value.starts_with(['[', '{', '"']) { value.to_owned() } else { quoted(value) }
}

/// The text as an HCL string that stands for exactly it.
fn quoted(text: &str) -> String {
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
    fn what_names_no_variable_is_refused() {
        for argument in ["region", "=x", "1a=x", "a b=x", "a.b=x"] {
            assert!(parse(argument).is_err(), "{argument}");
        }
    }

    proptest! {
        #[test]
        fn a_quoted_text_stands_for_itself(text in "[a-z$%{}\"\\\\\n\r\t ä✓~#/*]{0,16}") {
            let read = hcl_reader::literal(&quoted(&text), 1 << 20);
            prop_assert_eq!(read, Ok(serde_json::Value::from(text)));
        }
    }
}
