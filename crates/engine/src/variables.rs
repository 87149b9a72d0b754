//! Variables of terraform that come with a run.

use serde_json::Value;

/// The bytes of a value.
const MAX_BYTES: usize = 1 << 20;

/// The value that an HCL literal stands for: `"\"abc\""` is the text abc, `"[1, 2]"` a list.
///
/// # Errors
/// In words, behind which the text is not quoted: when it is more than a literal, or a number in it would be rounded.
pub(crate) fn literal(text: &str) -> Result<Value, String> {
    hcl_reader::literal(text, MAX_BYTES)
        .map_err(|error| format!("can't be used, {}: {error}", error.position(text)))
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
            ("<<END\nx\n  y\nEND", json!("x\n  y\n")),
            (r#"{ a = { b = "c" } }"#, json!({"a": {"b": "c"}})),
        ] {
            assert_eq!(literal(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_is_refused_with_its_place() {
        for (text, place, why) in [
            ("abc", "line 1, column 1", "a variable cannot be used here"),
            ("", "line 1, column 1", "expected a value"),
            ("file(\"/etc/passwd\")", "line 1, column 1", "a function cannot be used here"),
            ("1\nother = 2", "line 2, column 1", "expected nothing more"),
            ("\"open", "line 1, column 1", "a quoted string must end on the line it begins on"),
            ("a = 1", "line 1, column 3", "expected nothing more"),
            ("[1, 1 + 1]", "line 1, column 5", "an operator cannot be used here"),
            (r#""${1}""#, "line 1, column 1", "an interpolation cannot be used here"),
            ("{ a = 1, a = 2 }", "line 1, column 10", "this key is set twice"),
            // each can be made as large as one likes
            ("[for a in [1] : a]", "line 1, column 1", "a `for` cannot be used here"),
            (r#""%{for a in [1]}x%{endfor}""#, "line 1, column 1", "an interpolation cannot be used here"),
        ] {
            let refusal = literal(text).unwrap_err();
            assert!(refusal.starts_with(&format!("can't be used, {place}: {why}")), "{text}: {refusal}");
        }
    }

    #[test]
    fn a_number_reaches_terraform_as_it_is_written_or_not_at_all() {
        assert_eq!(literal("[18446744073709551615, 0.1]").unwrap().to_string(), "[18446744073709551615,0.1]");
        assert_eq!(
            literal("[1,\n  12345678901234567890123, 0.1234567890123456789012345]"),
            Err("can't be used, line 2, column 3: this number has more digits than can be kept; put it in quotes: \
                 terraform turns the string into a number"
                .to_owned())
        );
        assert!(literal("0.1234567890123456789012345").is_err());
    }

    #[test]
    fn only_names_that_terraform_takes() {
        assert!(is_name("region") && is_name("_a-1"));
        assert!(!is_name("") && !is_name("1a") && !is_name("a=b") && !is_name("a b"));
    }
}
