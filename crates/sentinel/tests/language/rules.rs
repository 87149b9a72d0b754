//! Rules, `main`, the trace.

use sentinel::{Data, Outcome};

use crate::spec;
use crate::support::run;

spec! {
    a_rule_has_the_value_of_its_body: "r = rule { 1 < 2 } ;; r" => "true";
    a_rule_may_have_other_values: "a = rule { \"x\" }\nb = rule { 1 }\nc = rule { 1.5 }\nd = rule { [1] }\ne = rule { {\"k\": 1} } ;; [a, b, c, d, e]"
        => "[\"x\", 1, 1.5, [1], {\"k\": 1}]";
    a_rule_may_be_undefined: "r = rule { undefined } ;; r" => "undefined";
    /// Release note of 0.24.4: null values are printed as values of rules.
    a_rule_may_be_null: "r = rule { null } ;; r" => "null";
    a_rule_cannot_be_a_function: "r = rule { func() { return 1 } } ;; r" => "error: the value of a rule cannot be a func";
    a_rule_is_evaluated_when_it_is_needed: "a = 1\nb = rule { a == 1 }\na = 2 ;; b" => "false";
    a_rule_is_not_evaluated_without_need: "r = rule { nowhere } ;; 1" => "1";
    a_rule_is_evaluated_once: "n = []\nf = func() { append(n, 1)\nreturn true }\nr = rule { f() }\nx = r\ny = r ;; n" => "[1]";
    a_rule_keeps_its_first_value: "a = 1\nr = rule { a }\nx = r\na = 2 ;; [x, r]" => "[1, 1]";
    an_undefined_rule_is_evaluated_once: "n = []\nf = func() { append(n, 1)\nreturn undefined }\nr = rule { f() }\nx = r\ny = r ;; n" => "[1]";
    assigning_a_rule_to_another_name_evaluates_it: "a = 1\nr = rule { a }\ns = r\na = 2 ;; [s, r]" => "[1, 1]";
    when_true_evaluates_the_body: "r = rule when true { false } ;; r" => "false";
    when_false_is_true_without_the_body: "r = rule when false { nowhere } ;; r" => "true";
    /// Whether the rule applies is unknown then, and "true" would be a pass without a check.
    when_undefined_is_undefined: "r = rule when undefined { true } ;; r" => "undefined";
    when_is_lazy_too: "a = false\nr = rule when a { false }\na = true ;; r" => "false";
    when_is_evaluated_once: "n = []\nf = func() { append(n, 1)\nreturn true }\nr = rule when f() { true }\nx = r\ny = r ;; n" => "[1]";
    a_rule_that_needs_itself_is_an_error: "r = rule { r } ;; r" => "error: a rule needs its own value";
    two_rules_that_need_each_other_are_an_error: "a = rule { b }\nb = rule { a } ;; a" => "error: a rule needs its own value";
    a_rule_in_a_function_sees_the_functions_variables: "f = func(x) { r = rule { x > 1 }\nreturn r } ;; [f(1), f(2)]" => "[false, true]";
    a_rule_in_a_list_is_evaluated_by_its_index: "a = 1\nl = [rule { a }]\na = 2 ;; l[0]" => "2";
    a_rule_in_a_map_is_evaluated_by_its_selector: "m = {\"r\": rule { 1 < 2 }} ;; m.r" => "true";
    a_rule_that_is_put_into_a_map_is_evaluated_when_it_is_needed: "m = {}\na = 1\nm[\"r\"] = rule { a }\nm[\"e\"] = rule { error(\"x\") }\na = 2 ;; [m.r, length(m)]" => "[2, 2]";
    a_rule_that_is_put_into_a_list_is_evaluated_when_it_is_needed: "l = [0]\na = 1\nl[0] = rule { a }\nappend(l, rule { a + 1 })\nappend(l, rule { error(\"x\") })\na = 2 ;; [l[0], l[1], length(l)]" => "[2, 3, 3]";
    a_rule_that_is_an_argument_is_evaluated_when_it_is_needed: "f = func(r, x) { if x { return r }\nreturn 0 } ;; [f(rule { error(\"x\") }, false), f(rule { 5 }, true)]" => "[0, 5]";
    a_rule_that_is_calculated_with_is_evaluated: "m = {\"a\": rule { 1 }, \"b\": 1}\nm[\"a\"] += 1\nm[\"b\"] += rule { 1 } ;; m" => "{\"a\": 2, \"b\": 2}";
    functions_that_look_at_a_rule_evaluate_it: "import \"strings\"\nimport \"collection\"\nf = strings.to_upper ;; [length(rule { [1] }), string(rule { 5 }), strings.to_upper(rule { \"a\" }), f(rule { \"a\" }), collection.find(rule { [1, 2] }, func(x) { return x > 1 })]" => "[1, \"5\", \"A\", \"A\", 2]";
    append_evaluates_a_rule_that_is_the_list: "append(rule { [1] }, 2) ;; 1" => "1";
    a_rule_body_may_end_with_a_line_end: "r = rule {\n\ttrue and\n\tfalse\n} ;; r" => "false";
    rules_may_use_quantifiers: "r = rule { all [1, 2] as x { x > 0 } } ;; r" => "true";
}

fn outcome(source: &str) -> Outcome {
    run(source).unwrap().outcome
}

#[test]
fn main_passes_when_nothing_is_wrong() {
    for source in ["true", "0", "0.0", "\"\"", "[]", "{}", "rule { true }", "rule { [] }", "rule { 0 }"] {
        assert!(matches!(outcome(&format!("main = {source}")), Outcome::Passed(_)), "{source}");
    }
}

#[test]
fn main_fails_when_something_is_wrong() {
    for source in
        ["false", "1", "-1", "0.5", "\"x\"", "[false]", "{\"a\": 1}", "rule { false }", "rule { [1] }"]
    {
        assert!(matches!(outcome(&format!("main = {source}")), Outcome::Failed(_)), "{source}");
    }
}

#[test]
fn a_main_that_is_no_result_is_an_error() {
    for source in ["null", "func() { return true }", "rule { null }", "length"] {
        assert!(matches!(outcome(&format!("main = {source}")), Outcome::Errored(_)), "{source}");
    }
}

#[test]
fn a_policy_without_main_is_an_error() {
    assert!(matches!(outcome("x = 1"), Outcome::Errored(_)));
}

#[test]
fn an_undefined_main_says_where_the_undefined_came_into_being() {
    let Outcome::Undefined(Some(place)) = outcome("m = {}\nx = m.missing\nmain = rule { x and true }") else {
        panic!("main is not undefined")
    };
    assert_eq!(place.position.to_string(), "policy.sentinel:2:5");
}

#[test]
fn an_undefined_has_the_place_of_the_first_that_decides() {
    for (source, place) in [
        ("x = 1\nmain = undefined", "2:8"),
        // an `or` goes on, and what it first met stays the reason
        ("m = {}\na = m.a\nb = m.b\nmain = any [a, b] as x { x }", "2:5"),
        ("m = {}\na = m.a\nmain = all [1] as x { a }", "2:5"),
        // what is not a boolean is undefined where it is asked for one
        ("m = 1\nmain = all [1] as x {\n  m\n}", "3:3"),
    ] {
        let Outcome::Undefined(Some(found)) = outcome(source) else { panic!("{source} is not undefined") };
        assert_eq!(found.position.to_string(), format!("policy.sentinel:{place}"), "{source}");
    }
}

#[test]
fn the_origin_of_an_undefined_survives_functions_and_operators() {
    let source = "f = func(m) { return m[\"key\"] }\nx = f({\"a\": 1}) + 1\nmain = rule { x > 0 }";
    let Outcome::Undefined(Some(place)) = outcome(source) else { panic!("main is not undefined") };
    assert_eq!(place.position.to_string(), "policy.sentinel:1:22");
}

#[test]
fn main_is_the_last_value_it_has() {
    assert!(matches!(outcome("main = false\nmain = true"), Outcome::Passed(_)));
}

#[test]
fn error_ends_the_policy_as_an_error() {
    let evaluation = run("print(\"before\")\nerror(\"it is\", 5)\nmain = true").unwrap();
    let Outcome::Errored(error) = evaluation.outcome else { panic!("the policy did not fail") };
    assert_eq!(error.message(), "it is 5");
    assert_eq!(evaluation.trace.print, "before\nit is 5\n");
}

#[test]
fn the_trace_has_the_rules_that_were_evaluated() {
    let source = "# Is it small?\nsmall = rule { 1 < 2 }\nunused = rule { true }\n\n# Main.\n# Twice.\nmain = rule { small }";
    let trace = run(source).unwrap().trace;
    let idents: Vec<&str> = trace.rules.iter().map(|rule| rule.ident.as_str()).collect();
    assert_eq!(idents, ["small", "main"]);
    assert_eq!(trace.rules[0].description, "Is it small?");
    assert_eq!(trace.rules[1].description, "Main.\nTwice.");
    assert_eq!(trace.rules[0].position.to_string(), "policy.sentinel:2:1");
    assert_eq!(trace.rules[0].position.offset, 15);
    assert_eq!(trace.rule("main"), Some(&Data::Bool(true)));
    assert_eq!(trace.rule("unused"), None);
}

#[test]
fn the_description_of_a_policy_is_the_comment_at_its_top() {
    let trace = run("// Ensure that 42\n// is greater.\n\nmain = rule { true }").unwrap().trace;
    assert_eq!(trace.description, "Ensure that 42\nis greater.");
    let trace = run("// About the rule.\nmain = rule { true }").unwrap().trace;
    assert_eq!(trace.description, "");
    assert_eq!(trace.rules[0].description, "About the rule.");
}

#[test]
fn short_circuits_leave_rules_out_of_the_trace() {
    let trace = run("a = rule { true }\nb = rule { true }\nmain = rule { a or b }").unwrap().trace;
    assert!(trace.rule("a").is_some() && trace.rule("b").is_none());
}
