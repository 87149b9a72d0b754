//! Values of terraform variables that come with a run: HCL literals (tfe-api.md 2.18).

use hcl::eval::{Context, Evaluate};
use serde_json::Value;

/// The value that an HCL literal stands for: `"\"abc\""` is the text abc, `"[1, 2]"` a list.
///
/// # Errors
/// In words, when the text is no expression, or is more than a literal.
pub(crate) fn literal(text: &str) -> Result<Value, String> {
    let expression: hcl::Expression = hcl::parse(&format!("value = {text}\n"))
        .map_err(|error| format!("is no HCL literal (a string needs its quotes): {}", first_line(&error)))
        .and_then(|body| match body.attributes().count() {
            1 => Ok(body.into_iter().next()),
            _ => Err("is more than one HCL literal".to_owned()),
        })?
        .and_then(|structure| structure.into_attribute())
        .map(|attribute| attribute.expr)
        .ok_or_else(|| "is no HCL literal".to_owned())?;
    let value = expression
        .evaluate(&Context::new())
        .map_err(|error| format!("is no HCL literal: {}", first_line(&error)))?;
    serde_json::to_value(value).map_err(|error| format!("can't be written as JSON: {error}"))
}

fn first_line(error: &impl std::fmt::Display) -> String {
    error.to_string().lines().next_back().unwrap_or_default().trim_start_matches("= ").to_owned()
}

/// Whether terraform takes this as the name of a variable.
pub(crate) fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn literals_of_every_type_are_read() {
        for (text, value) in [
            (r#""abc""#, json!("abc")),
            ("3", json!(3)),
            ("true", json!(true)),
            ("null", json!(null)),
            (r#"["a", 2]"#, json!(["a", 2])),
            (r#"{ a = { b = "c" } }"#, json!({"a": {"b": "c"}})),
        ] {
            assert_eq!(literal(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_is_refused_in_words() {
        for text in ["abc", "", "var.x", "file(\"/etc/passwd\")", "1\nother = 2", "\"open", "a = 1"] {
            assert!(literal(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_names_that_terraform_takes() {
        assert!(is_name("region") && is_name("_a-1"));
        assert!(!is_name("") && !is_name("1a") && !is_name("a=b") && !is_name("a b"));
    }
}
