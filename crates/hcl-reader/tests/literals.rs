//! What is a literal, what it stands for, and what is said of anything else.

use hcl_reader::{MAX_DEPTH, literal};
use serde_json::{Value, json};

const LIMIT: usize = 1 << 20;

fn value(text: &str) -> Value {
    literal(text, LIMIT).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Line, column and words of the refusal.
fn refusal(text: &str) -> String {
    match literal(text, LIMIT) {
        Ok(value) => panic!("{text} is taken as {value}"),
        Err(error) => {
            let place = error.position(text);
            format!("{}:{} {error}", place.line, place.column)
        }
    }
}

#[test]
fn every_form_of_a_literal_is_read() {
    for (text, expected) in [
        ("null", json!(null)),
        ("true", json!(true)),
        ("false", json!(false)),
        ("3", json!(3)),
        ("-3", json!(-3)),
        ("- 3", json!(-3)),
        ("0.5", json!(0.5)),
        ("(((0.5)))", json!(0.5)),
        ("\"abc\"", json!("abc")),
        ("\"\"", json!("")),
        ("[]", json!([])),
        ("[1, [true,],\n\n null,\n]", json!([1, [true], null])),
        ("{}", json!({})),
        ("{ a = 1 }", json!({"a": 1})),
        ("{ a : 1, \"b c\" = 2, d-e = 3, é = 4 }", json!({"a": 1, "b c": 2, "d-e": 3, "é": 4})),
        (
            "{\n  a = 1 # one\n  b = { c = [2] } // two\n\n  /* three */ d = 3,\n}",
            json!({"a": 1, "b": {"c": [2]}, "d": 3}),
        ),
        ("\n [ # comment ]\n 1 ]\n", json!([1])),
        ("\u{feff}1", json!(1)),
        ("{ a = (\n1\n) }", json!({"a": 1})),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn a_key_is_the_text_that_terraform_makes_of_it() {
    assert_eq!(
        value("{ 1 = 1, (2) = 2, -3 = 3, 1.50 = 4, 1e3 = 5, true = 6, null = 7, (\"x\") = 8 }"),
        json!({"1": 1, "2": 2, "-3": 3, "1.5": 4, "1000": 5, "true": 6, "null": 7, "x": 8})
    );
    assert_eq!(
        refusal("{ [1] = 1 }"),
        "1:3 expected a string as the key, found a list; put the key in quotes"
    );
    assert_eq!(
        refusal("{ (null) = 1 }"),
        "1:3 expected a string as the key, found null; put the key in quotes"
    );
    assert_eq!(
        refusal("{ (a) = 1 }"),
        "1:3 a variable cannot be used here: the value must be a constant; for a string, put it in quotes"
    );
}

#[test]
fn a_key_that_stands_there_twice_is_refused_at_its_second_place() {
    let words = "this key is set twice; remove one of them";
    assert_eq!(refusal("{ a = 1, \"a\" = 2 }"), format!("1:10 {words}"));
    assert_eq!(refusal("{\n  1 = 1\n  \"1\" = 2\n}"), format!("3:3 {words}"));
    let many: String = (0..100).map(|number| format!("k{number} = 1\n")).collect();
    assert_eq!(refusal(&format!("{{\n{many}k7 = 2\n}}")), format!("102:1 {words}"));
}

#[test]
fn strings_have_the_escapes_of_the_language() {
    for (text, expected) in [
        (r#""\n\r\t\"\\""#, "\n\r\t\"\\"),
        (r#""\u00e9 \u00E9 \U0001F642""#, "é é 🙂"),
        (r#""a $${b} %%{c} $ % $$ %% {} $$x $$$${y}""#, "a ${b} %{c} $ % $$ %% {} $$x $$${y}"),
        (r#""$${""#, "${"),
        (r#""/* # // \\" "#, "/* # // \\"),
        ("\"é🙂\t\u{0}\"", "é🙂\t\u{0}"),
    ] {
        assert_eq!(value(text), json!(expected), "{text}");
    }
    for text in
        [r#""\q""#, r#""\u12""#, r#""\u12g4""#, r#""\ud800""#, r#""\U00110000""#, r#""\u+123""#, r#""\é""#]
    {
        assert!(
            refusal(text).starts_with("1:2 there is no such escape in a string; write `\\n`"),
            "{}",
            refusal(text)
        );
    }
    assert_eq!(literal("[\"ab\\q\"]", LIMIT).unwrap_err().span, 4..6);
}

#[test]
fn heredocs_are_text_without_escapes() {
    for (text, expected) in [
        ("<<EOT\na\nEOT\n", "a\n"),
        ("<<EOT\na\nEOT", "a\n"),
        ("<<EOT\nEOT\n", ""),
        ("<<EOT\n\n  EOT2\n a EOT\n  EOT  \n", "\n  EOT2\n a EOT\n"),
        ("<<E\n\\n \" $${x} %%{y} $ %\nE\n", "\\n \" ${x} %{y} $ %\n"),
        ("<<E-1\nx\nE-1\n", "x\n"),
        ("<<EOT\r\na\r\nEOT\r\n", "a\r\n"),
        ("<<-EOT\n    two\n      lines\n    EOT\n", "two\n  lines\n"),
        ("<<-EOT\n  a\n\n    \n b\n  EOT\n", " a\n\n    \nb\n"),
        ("<<-EOT\na\n  b\nEOT\n", "a\n  b\n"),
        ("<<-EOT\n  a $${x}\n  b\nEOT\n", "a ${x}\nb\n"),
    ] {
        assert_eq!(value(text), json!(expected), "{text:?}");
    }
    assert_eq!(value("[<<A\n[\nA\n, { b = <<B\n}\nB\n}]"), json!(["[\n", {"b": "}\n"}]));
}

#[test]
fn a_number_that_64_bits_would_round_is_refused_with_its_place() {
    let words = "this number has more digits than can be kept; put it in quotes: terraform turns the string into a number";
    assert_eq!(refusal("12345678901234567890123"), format!("1:1 {words}"));
    assert_eq!(refusal("[1,\n  0.1234567890123456789012345]"), format!("2:3 {words}"));
    assert_eq!(refusal("{ a = { b = -1e400 } }"), format!("1:13 {words}"));
    assert_eq!(refusal("{ 18446744073709551616 = 1 }"), format!("1:3 {words}"));
}

#[test]
fn what_would_have_to_be_worked_out_is_refused_with_its_kind_and_its_place() {
    for (text, place, what) in [
        ("abc", "1:1", "a variable"),
        ("var.x", "1:1", "a variable"),
        ("a[0].b", "1:1", "a variable"),
        ("[1, x]", "1:5", "a variable"),
        ("file(\"/etc/passwd\")", "1:1", "a function"),
        ("{ a = f(1, [2]...) }", "1:7", "a function"),
        ("\"${1}\"", "1:1", "an interpolation"),
        ("\"x${\"y\"}\"", "1:1", "an interpolation"),
        ("<<E\n${x}\nE\n", "1:1", "an interpolation"),
        ("\"%{for a in [1]}x%{endfor}\"", "1:1", "an interpolation"),
        ("1 + 1", "1:1", "an operator"),
        ("-(1)", "1:1", "an operator"),
        ("!true", "1:1", "an operator"),
        ("[1 == 1, 2]", "1:2", "an operator"),
        ("{ a = 1 && 2\n b = 3 }", "1:7", "an operator"),
        ("a::b(1)", "1:1", "an operator"),
        ("[1 <<2]", "1:2", "an operator"),
        ("true ? 1 : 2", "1:1", "a conditional"),
        ("{ a = true ? { b = 1 } : [2], c = 3 }", "1:7", "a conditional"),
        ("[for a in [1] : a]", "1:1", "a `for`"),
        ("{for k, v in {} : k => v}", "1:1", "a `for`"),
        ("{\nfor k, v in {} : k => v if true\n}", "1:1", "a `for`"),
        ("[1][0]", "1:1", "an index"),
        ("[[1]][*]", "1:1", "an index"),
        ("{ a = 1 }.a", "1:1", "an index"),
        ("{ a.b = 1 }", "1:3", "a variable"),
        ("{ 1 + 1 = 1 }", "1:3", "an operator"),
    ] {
        let expected = format!("{place} {what} cannot be used here: the value must be a constant");
        assert!(refusal(text).starts_with(&expected), "{text}: {}", refusal(text));
    }
}

#[test]
fn what_is_not_hcl_is_refused_with_what_would_be_right() {
    for (text, expected) in [
        (
            "",
            "1:1 expected a value, found the end of the text; a value is a string in double quotes, a number, true, false, null, a list or a map",
        ),
        (
            "1\nother = 2",
            "2:1 expected nothing more, found a name; write one value: a list or a map holds several",
        ),
        ("1 2", "1:3 expected nothing more, found a number; write one value: a list or a map holds several"),
        ("a = 1", "1:3 expected nothing more, found `=`; write one value: a list or a map holds several"),
        (
            "\"open",
            "1:1 a quoted string must end on the line it begins on; close the quote, write `\\n` for a line break, or use a heredoc: <<EOT",
        ),
        (
            "[\"a\nb\"]",
            "1:2 a quoted string must end on the line it begins on; close the quote, write `\\n` for a line break, or use a heredoc: <<EOT",
        ),
        ("'a'", "1:1 `'` means nothing here; strings stand in double quotes"),
        (
            "[1 2]",
            "1:4 expected `,` or the closing bracket, found a number; `,` stands between two items; is every `{`, `[` and `(` closed?",
        ),
        ("[1", "1:1 this `[` is not closed; is every `{`, `[` and `(` closed?"),
        ("[1,", "1:1 this `[` is not closed; is every `{`, `[` and `(` closed?"),
        ("(1", "1:1 this `(` is not closed; is every `{`, `[` and `(` closed?"),
        (
            "{ a = [1 }",
            "1:10 expected `,` or the closing bracket, found `}`; `,` stands between two items; is every `{`, `[` and `(` closed?",
        ),
        ("{ a = 1", "1:1 this `{` is not closed; is every `{`, `[` and `(` closed?"),
        ("[1 + (2, 3", "1:6 this `(` is not closed; is every `{`, `[` and `(` closed?"),
        ("[for x in y : (x", "1:1 this `[` is not closed; is every `{`, `[` and `(` closed?"),
        ("f(1", "1:2 this `(` is not closed; is every `{`, `[` and `(` closed?"),
        (
            "\"${ [1 }\"",
            "1:8 expected `,` or the closing bracket, found `}`; `,` stands between two items; is every `{`, `[` and `(` closed?",
        ),
        (
            "\"${1",
            "1:1 a quoted string must end on the line it begins on; close the quote, write `\\n` for a line break, or use a heredoc: <<EOT",
        ),
        (
            "\"${}\"",
            "1:4 expected a value, found `}`; a value is a string in double quotes, a number, true, false, null, a list or a map",
        ),
        ("{ a }", "1:5 expected `=` or `:`, found `}`; an entry of a map is `key = value`"),
        (
            "{ a = 1 b = 2 }",
            "1:9 expected `,`, a new line or `}`, found a name; `,` or a new line stands between two entries; is every `{`, `[` and `(` closed?",
        ),
        (
            "{ a =\n1 }",
            "1:6 expected a value, found the end of the line; a value is a string in double quotes, a number, true, false, null, a list or a map",
        ),
        ("{ a = 1,, b = 2 }", "1:9 expected a key or `}`, found `,`; an entry of a map is `key = value`"),
        (
            "[1,,2]",
            "1:4 expected a value, found `,`; a value is a string in double quotes, a number, true, false, null, a list or a map",
        ),
        ("/* 1", "1:1 this comment is not closed; write `*/` at its end"),
        ("<<EOT\nx\n", "1:1 this heredoc is not closed; repeat the word behind `<<` on a line of its own"),
        ("<< EOT\nx\nEOT", "1:1 an operator cannot be used here"),
        ("1;", "1:2 `;` means nothing here; nothing stands between two attributes but the end of the line"),
        ("\u{1b}", "1:1 `\\u{1b}` means nothing here; put it in a string in double quotes, or remove it"),
        ("1 \u{a0}", "1:3 `\\u{a0}` means nothing here; put it in a string in double quotes, or remove it"),
        ("1.", "1:1 an index cannot be used here"),
        ("0x10", "1:2 expected nothing more, found a name; write one value: a list or a map holds several"),
    ] {
        assert!(refusal(text).starts_with(expected), "{text}: {}", refusal(text));
    }
}

#[test]
fn a_text_is_as_large_and_as_deep_as_its_limits() {
    let long = format!("\"{}\"", "x".repeat(98));
    assert!(literal(&long, 100).is_ok());
    let error = literal(&format!("{long} "), 100).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the text has more than 100 bytes; split it, or leave out what nobody needs"
    );
    for (open, inner, close) in [("[", "1", "]"), ("(", "1", ")"), ("{ a = ", "1", "}")] {
        let nested = |depth| [&open.repeat(depth), inner, &close.repeat(depth)].concat();
        assert!(literal(&nested(MAX_DEPTH), LIMIT).is_ok());
        let refused = refusal(&nested(MAX_DEPTH + 1));
        let place = 1 + open.len() * (MAX_DEPTH + 1) - open.trim_start_matches(['[', '(', '{']).len() - 1;
        assert_eq!(refused, format!("1:{place} nested more than 100 deep; write it with fewer levels"));
    }
}
