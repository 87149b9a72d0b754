//! Errors as people see them.

use sentinel::{Error, Outcome, compile};

use crate::support::run;

fn syntax(source: &str) -> Error {
    compile("p.sentinel", source).unwrap_err()
}

fn runtime(source: &str) -> Error {
    match run(source).unwrap().outcome {
        Outcome::Errored(error) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_syntax_error_is_shown_with_its_line_and_a_caret() {
    let shown = syntax("x = 1\nmain = rule { x is }\n").render();
    let expected = "\
error: expected an expression, found `}`
 --> p.sentinel:2:20
  |
2 | main = rule { x is }
  |                    ^ expected an expression";
    assert_eq!(shown, expected);
}

#[test]
fn a_line_that_ends_too_early_is_explained() {
    let error = syntax("x = [1,\n2\n]");
    assert_eq!(error.to_string(), "p.sentinel:2:2: expected `,` or `]`, found the end of the line");
    assert!(error.notes()[0].contains("a line that goes on"));
}

#[test]
fn a_runtime_error_has_the_place_of_the_expression() {
    let error = runtime("x = {\"a\": 1}\nmain = rule {\n  1 + x\n}");
    assert_eq!(error.to_string(), "policy.sentinel:3:3: `+` is not defined for int and map");
    assert!(error.render().contains("3 |   1 + x\n  |   ^^^^^"), "{}", error.render());
}

#[test]
fn an_operand_of_not_that_is_no_bool_gets_a_word_on_how_not_binds() {
    let note = |source: &str| runtime(source).notes().to_vec();
    let binds = "`not` binds tighter than any other operator: use parentheses";
    assert_eq!(note("x = 1\nmain = not x is 1"), [binds]);
    assert_eq!(note("x = \"a\"\nmain = -x"), Vec::<String>::new());
}

#[test]
fn an_error_about_an_undefined_says_where_it_came_from() {
    let error = runtime("m = {}\nx = m.missing\nfor x as y { }\nmain = true");
    assert_eq!(error.message(), "`for` needs a list or a map, not undefined");
    assert_eq!(error.notes(), ["the undefined value came into being at policy.sentinel:2:5"]);
}

#[test]
fn an_error_in_a_line_with_wide_characters_points_at_the_right_place() {
    let error = runtime("main = \"日本語\" + 1");
    assert_eq!(error.place().unwrap().position.column, 8);
    assert!(error.render().contains("^^^"));
}

#[test]
fn a_message_counts_characters_as_what_is_shown_does() {
    let error = runtime("main = [\"日本語\", 1 / 0]");
    let column = error.to_string().split(':').nth(2).unwrap().to_owned();
    assert!(
        error.render().contains(&format!("--> policy.sentinel:1:{column}\n")),
        "{error}\n{}",
        error.render()
    );
    // three bytes are a character
    assert!(error.place().unwrap().position.column == column.parse::<usize>().unwrap() + 6, "{error}");
}

/// Only the start of a long line is kept.
#[test]
fn a_place_far_in_a_line_is_told_without_the_line() {
    let error = runtime(&format!("main = [\"{}\", 1 / 0]", "é".repeat(5_000)));
    let (column, rendered) = (error.to_string().split(':').nth(2).unwrap().to_owned(), error.render());
    assert!(column.parse::<usize>().unwrap() > 5_000, "{error}");
    assert!(rendered.ends_with(&format!("\n --> policy.sentinel:1:{column}")), "{rendered}");
}

#[test]
fn an_undefined_result_is_shown_with_its_origin() {
    let evaluation = run("m = {}\nmain = rule { m.a.b }").unwrap();
    let text = evaluation.text();
    let expected = "\
error: the result of `main` is undefined
 --> policy.sentinel:2:15
  |
2 | main = rule { m.a.b }
  |               ^ the undefined value came into being here";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn errors_without_a_place_are_shown_too() {
    let error = sentinel::Config::parse("x.json", "[]").unwrap_err();
    assert!(error.render().starts_with("error: the file must be a JSON object"));
}

#[test]
fn a_reserved_word_is_explained_where_a_name_can_stand() {
    for word in [
        "all", "any", "as", "break", "case", "continue", "default", "else", "empty", "filter", "for", "func",
        "if", "import", "map", "param", "return", "rule", "when", "in", "and", "not",
    ] {
        for source in [format!("{word} = 1"), format!("{word} += 1"), format!("x = 1\n{word} = 1")] {
            let error = syntax(&source);
            assert_eq!(
                error.notes(),
                [format!("`{word}` is reserved and cannot be a name")],
                "{source}: {error}"
            );
        }
    }
    assert_eq!(syntax("x = 1 + when").notes(), ["`when` is reserved and cannot be a name"]);
    assert_eq!(syntax("if = 1").to_string(), "p.sentinel:1:1: expected a statement, found the keyword `if`");
}

#[test]
fn an_unknown_name_is_explained_by_the_nearest_known_one() {
    for (source, near) in [
        ("resources = 1\nmain = resourcs", "resources"),
        ("import \"strings\"\nmain = string_s", "strings"),
        ("main = lenght([])", "length"),
        ("f = func(x) { return allowed_type }\nallowed_types = []\nmain = f(1)", "allowed_types"),
    ] {
        assert_eq!(runtime(source).notes(), [format!("did you mean `{near}`?")], "{source}");
    }
    for (source, near) in [("main = True", "true"), ("main = nul", "null"), ("main = undefned", "undefined")]
    {
        assert_eq!(runtime(source).notes(), [format!("did you mean `{near}`?")], "{source}");
    }
    // a short name is near to every other one
    assert!(runtime("ab = 1\nmain = xy").notes().is_empty());
    assert!(runtime("main = nowhere_at_all").notes().is_empty());
}

#[test]
fn a_name_without_a_value_is_not_explained_by_itself() {
    for source in
        ["print(later)\nlater = 1\nmain = true", "f = func() { return later }\nx = f()\nlater = 1\nmain = x"]
    {
        let error = runtime(source);
        assert_eq!(error.message(), "unknown identifier `later`");
        assert_eq!(
            error.notes(),
            ["`later` is assigned in this file, but has no value yet where it is read"]
        );
    }
}
