//! Values of terraform variables that come with a run: HCL literals (tfe-api.md 2.18).

use hcl::eval::{Context, Evaluate};
use hcl::expr::{Expression, ObjectKey, Operation, UnaryOp, UnaryOperator};
use hcl::template::{Element, Template};
use serde_json::Value;

/// The value that an HCL literal stands for: `"\"abc\""` is the text abc, `"[1, 2]"` a list.
///
/// # Errors
/// In words, when the text is no expression, or is more than a literal.
pub(crate) fn literal(text: &str) -> Result<Value, String> {
    // the parser takes twice as long for each bracket behind two operators, and so hours for a few hundred bytes
    if let Some(character) = of_no_literal(text) {
        return Err(format!("is no HCL literal: a value has no `{character}` but in a string in quotes"));
    }
    let expression: Expression = hcl::parse(&format!("value = {text}\n"))
        .map_err(|error| format!("is no HCL literal (a string needs its quotes): {}", first_line(&error)))
        .and_then(|body| match body.attributes().count() {
            1 => Ok(body.into_iter().next()),
            _ => Err("is more than one HCL literal".to_owned()),
        })?
        .and_then(|structure| structure.into_attribute())
        .map(|attribute| attribute.expr)
        .ok_or_else(|| "is no HCL literal".to_owned())?;
    // an expression of a few bytes can take hours and all the memory there is
    if !is_literal(&expression) {
        return Err("is no HCL literal: it has to be a value, not something to work out".to_owned());
    }
    let value = expression
        .evaluate(&Context::new())
        .map_err(|error| format!("is no HCL literal: {}", first_line(&error)))?;
    serde_json::to_value(value).map_err(|error| format!("can't be written as JSON: {error}"))
}

/// What can only belong to an operator, a comment or a heredoc.
fn of_no_literal(text: &str) -> Option<char> {
    let mut in_string = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match character {
            '\\' if in_string => drop(characters.next()),
            '"' => in_string = !in_string,
            _ if in_string => {}
            // a sign of a number or of its exponent, or a part of a key
            '-' | '+' if next.is_some_and(char::is_alphanumeric) => {}
            '=' if next == Some('=') => return Some(character),
            '*' | '/' | '%' | '+' | '-' | '&' | '|' | '?' | '!' | '<' | '>' | '#' => return Some(character),
            _ => {}
        }
    }
    None
}

/// Whether there is nothing to work out in it: its value is not larger than its text.
fn is_literal(expression: &Expression) -> bool {
    match expression {
        Expression::Null | Expression::Bool(_) | Expression::Number(_) | Expression::String(_) => true,
        Expression::Array(items) => items.iter().all(is_literal),
        Expression::Object(object) => object.iter().all(|(key, value)| {
            let key = match key {
                ObjectKey::Expression(key) => is_literal(key),
                _ => true,
            };
            key && is_literal(value)
        }),
        Expression::TemplateExpr(text) => Template::from_expr(text)
            .is_ok_and(|text| text.elements().iter().all(|element| matches!(element, Element::Literal(_)))),
        Expression::Parenthesis(inner) => is_literal(inner),
        Expression::Operation(operation) => matches!(
            &**operation,
            Operation::Unary(UnaryOp { operator: UnaryOperator::Neg, expr: Expression::Number(_) })
        ),
        _ => false,
    }
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
            ("-3", json!(-3)),
            ("(0.5)", json!(0.5)),
            (r#""a $${b} %%{c}""#, json!("a ${b} %{c}")),
            (r#""/* \" - ( */""#, json!("/* \" - ( */")),
            ("1.5e+3", json!(1500)),
            (r#"["a", 2]"#, json!(["a", 2])),
            (r#"{ "a b" = 1, (2) = 3, c-d = 4 }"#, json!({"a b": 1, "2": 3, "c-d": 4})),
            (r#"{ a = { b = "c" } }"#, json!({"a": {"b": "c"}})),
        ] {
            assert_eq!(literal(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_is_refused_in_words() {
        for text in [
            "abc",
            "",
            "var.x",
            "file(\"/etc/passwd\")",
            "1\nother = 2",
            "\"open",
            "a = 1",
            // each can be made as large as one likes
            "[for a in [1] : a]",
            "{for a in [1] : a => a}",
            "1 + 1",
            "true ? 1 : 2",
            "[1][0]",
            "[[1]][*]",
            r#""${1}""#,
            r#""%{for a in [1]}x%{endfor}""#,
            "<<END\nx\nEND",
        ] {
            assert!(literal(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_text_keeps_the_parser_busy() {
        let started = std::time::Instant::now();
        for operator in ["/", "-", " - ", "==", " == ", "+", "*"] {
            for opening in ["(", "[", "{a="] {
                let text = format!("1{operator}2{operator}{opening}").repeat(30) + "a!*";
                assert!(literal(&text).is_err(), "{text}");
            }
        }
        // each alone would take longer than anybody waits
        assert!(started.elapsed() < std::time::Duration::from_secs(10));
    }

    #[test]
    fn only_names_that_terraform_takes() {
        assert!(is_name("region") && is_name("_a-1"));
        assert!(!is_name("") && !is_name("1a") && !is_name("a=b") && !is_name("a b"));
    }
}
