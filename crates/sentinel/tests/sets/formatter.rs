//! The formatter.

use proptest::prelude::*;
use sentinel::{compile, format};

fn check(source: &str, expected: &str) {
    assert_eq!(format("p.sentinel", source).unwrap(), expected);
    assert_eq!(format("p.sentinel", expected).unwrap(), expected, "it is not stable");
}

#[test]
fn spaces_between_tokens() {
    check("x=1+2*  3", "x = 1 + 2 * 3\n");
    check("y = [1,2 , 3]", "y = [1, 2, 3]\n");
    check("z={\"a\":1,\"b\" : 2}", "z = {\"a\": 1, \"b\": 2}\n");
    check("f ( a,b )", "f(a, b)\n");
    check("l [ 1 : 2 ]", "l[1:2]\n");
    check("m [ \"a\" ] . b", "m[\"a\"].b\n");
    check("x = 0 . a", "x = 0 .a\n");
    check("x = - 1", "x = -1\n");
    check("x = ! a and not  b", "x = !a and not b\n");
    check("x = (a  or b)", "x = (a or b)\n");
    check("x += 1", "x += 1\n");
    check("e = {}\nl = []", "e = {}\nl = []\n");
}

#[test]
fn blocks() {
    check("main=rule{a}", "main = rule { a }\n");
    check("f=func(a,b){return a}", "f = func(a, b) { return a }\n");
    check("func f(a){return a}", "func f(a) { return a }\n");
    check("r=rule when x{y}", "r = rule when x { y }\n");
    check("if a{b=1}else if c{b=2}else{b=3}", "if a { b = 1 } else if c { b = 2 } else { b = 3 }\n");
    check("x=filter l as i,v{v>1}", "x = filter l as i, v { v > 1 }\n");
}

#[test]
fn lines_are_indented_by_nesting() {
    check(
        "f = func(x) {\nif x {\nreturn [\n1,\n2,\n]\n}\nreturn g({\n\"a\": 1,\n})\n}",
        "f = func(x) {\n\tif x {\n\t\treturn [\n\t\t\t1,\n\t\t\t2,\n\t\t]\n\t}\n\treturn g({\n\t\t\"a\": 1,\n\t})\n}\n",
    );
}

#[test]
fn an_else_after_a_test_stays_where_it_is() {
    check("x = a.b is  empty else true", "x = a.b is empty else true\n");
    check("x = a.b is not defined else\ntrue", "x = a.b is not defined else\n\ttrue\n");
}

#[test]
fn a_line_that_goes_on_is_indented_once() {
    check("main = rule {\na and\nb and\nc\n}", "main = rule {\n\ta and\n\t\tb and\n\t\tc\n}\n");
    check("x = (a or\nb)", "x = (a or\n\tb)\n");
    check("x = a +\n# why\nb", "x = a +\n\t# why\n\tb\n");
}

#[test]
fn a_line_that_starts_with_a_dot_is_indented() {
    check("x = f(1)\n.g(2).\nh(3)", "x = f(1)\n\t.g(2).\n\th(3)\n");
    check(
        "x = f(1)\n# why\n// so\n.g(2)\n# end\ny = 1",
        "x = f(1)\n\t# why\n\t// so\n\t.g(2)\n# end\ny = 1\n",
    );
}

#[test]
fn clauses_of_a_case_stand_below_it() {
    check(
        "case x {\n  when 1,2:\n a = 1\n  else :\n a = 2\n}",
        "case x {\nwhen 1, 2:\n\ta = 1\nelse:\n\ta = 2\n}\n",
    );
}

#[test]
fn values_of_maps_stand_below_each_other() {
    check(
        "m = {\n\"a\": 1,\n\"long\": 2,\n\"n\": [\n1,\n],\n\"bb\": 3,\n\"c\": 4,\n}",
        "m = {\n\t\"a\":    1,\n\t\"long\": 2,\n\t\"n\": [\n\t\t1,\n\t],\n\t\"bb\": 3,\n\t\"c\":  4,\n}\n",
    );
}

#[test]
fn a_much_longer_key_starts_a_new_column() {
    check(
        "m = {\n\"id\": 1,\n\"a_key_that_is_very_long\": 2,\n}",
        "m = {\n\t\"id\": 1,\n\t\"a_key_that_is_very_long\": 2,\n}\n",
    );
}

#[test]
fn comments_stay() {
    check("# one\n\n\n\n// two\nx = 1 # three\n/* four */\n", "# one\n\n// two\nx = 1 # three\n/* four */\n");
    check("m = {\n  # about a\n  \"a\": 1, // one\n}", "m = {\n\t# about a\n\t\"a\": 1, // one\n}\n");
    check("#", "#\n");
}

#[test]
fn blank_lines_are_at_most_one() {
    check("\n\n\na = 1\n\n\n\nb = 2\n\n\n", "a = 1\n\nb = 2\n");
}

#[test]
fn line_ends_are_those_of_unix() {
    check("a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n");
    check("a = `1\r\r\n2`\r\r\n", "a = `1\n2`\n");
}

#[test]
fn semicolons_at_line_ends_go() {
    check("a = 1;\nb = 2; c = 3;", "a = 1\nb = 2; c = 3\n");
    check("a = 1;;;\nb = 2;; c = 3;; # three\n;;\nd = 4", "a = 1\nb = 2; c = 3 # three\nd = 4\n");
}

#[test]
fn strings_stay_as_they_are() {
    check("a = \"\\u00e9\\x41\"\nb = `raw\n  text`", "a = \"\\u00e9\\x41\"\nb = `raw\n  text`\n");
}

#[test]
fn what_cannot_be_parsed_is_not_formatted() {
    assert!(format("p.sentinel", "x = = 1").is_err());
}

/// Programs from a grammar of their own, with layout at random.
fn program() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        Just("x".to_owned()),
        Just("1".to_owned()),
        Just("-2.5".to_owned()),
        Just("\"s\"".to_owned()),
        Just("null".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
    ];
    let expr = atom.prop_recursive(4, 32, 3, |inner| {
        let gap = prop_oneof![Just(" "), Just("  "), Just("\n"), Just(" # c\n")];
        prop_oneof![
            (inner.clone(), gap, inner.clone()).prop_map(|(a, gap, b)| format!("{a} and{gap}{b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[{a},\n{b},\n]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{\"k\": {a},\n\"key\":{b}}}")),
            inner.clone().prop_map(|a| format!("f({a})[0].m")),
            inner.clone().prop_map(|a| format!("rule {{ {a} }}")),
            inner.clone().prop_map(|a| format!("func(a) {{\nreturn {a}\n}}")),
            inner.clone().prop_map(|a| format!("not {a}")),
            inner.clone().prop_map(|a| format!("any x as v {{\n{a} }}")),
        ]
    });
    proptest::collection::vec(expr, 1..6)
        .prop_map(|exprs| exprs.iter().map(|expr| format!("y = {expr}\n\n")).collect::<String>())
}

proptest! {
    #[test]
    fn formatting_is_stable_and_keeps_what_is_written(source in program()) {
        prop_assume!(compile("p", source.clone()).is_ok());
        let once = format("p", &source).unwrap();
        prop_assert_eq!(&format("p", &once).unwrap(), &once);
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(plain(&once), plain(&source));
        prop_assert!(compile("p", once).is_ok());
    }

    #[test]
    fn no_text_makes_the_parser_or_the_formatter_panic(text in "[-a-z0-9 \n\"'`(){}\\[\\].,:;=<>!#/*\\\\é]{0,80}") {
        let _ = compile("p", text.clone()).map_err(|error| error.render());
        let _ = format("p", &text);
    }
}
