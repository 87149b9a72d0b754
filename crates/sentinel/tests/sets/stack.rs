//! The stack: no policy overflows it, on a thread as small as threads usually are.

use std::collections::HashMap;
use std::sync::Arc;

use sentinel::{Environment, ErrorKind, Evaluation, Limit, Limits, Outcome, Secrets, compile, evaluate};

use crate::support::host;

/// Evaluates on a thread with two MiB of stack; an overflow ends the whole test binary.
fn on_small_stack(source: String, limits: Limits) -> Evaluation {
    let run = move || {
        let unit = Arc::new(compile("p.sentinel", source).unwrap());
        let result = evaluate(&unit, &Environment::default(), &HashMap::new(), limits, &host());
        // what is made of a result looks into its values too
        let result = result.masked(&Secrets::new(["hidden text".to_owned()]));
        assert!(!result.text().is_empty());
        assert!(!result.json().is_null());
        result
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap()
}

/// A recursion that, at its end, does something with values that are nested as deep as they may be. The
/// depths are so close to each other that one of them leaves hardly any stack.
fn at_all_depths(setup: &str, last: &str) -> String {
    format!(
        "import \"json\"\nimport \"strings\"\nimport \"collection\"\nimport \"collection/maps\" as maps\n\
         a = [1]\nb = [1]\nm = {{\"k\": 1}}\nn = {{\"k\": 1}}\npath = \"k\"\n\
         for range(480) as _ {{ a = [a]\nb = [b]\nm = {{\"k\": m}}\nn = {{\"k\": n}}\npath += \".k\" }}\n{setup}\n\
         func at(left) {{ if left is 0 {{ return {last} }}\n\treturn at(left - 1) }}\n\
         for range(1, 400, 3) as d {{ x = at(d) }}\nmain = true"
    )
}

#[test]
fn values_are_looked_into_with_enough_stack_at_any_depth_of_calls() {
    let brackets = "json.unmarshal(text) is not empty";
    for (setup, last) in [
        ("", "a is b"),
        ("", "m is n"),
        ("", "[a] contains b"),
        ("", "json.marshal(m)"),
        ("", "strings.join(a, \"\")"),
        ("", "maps.get(m, path)"),
        ("", "maps.set(m, path, 1)"),
        ("", "maps.unset(m, path)"),
        ("", "maps.pick(m, [path])"),
        ("", "collection.matches([m], n)"),
        ("", "print(a)"),
        ("r = func() { x = rule { a }\nreturn x }", "r()"),
        ("text = \"1\"\nfor range(100) as _ { text = \"[\" + text + \"]\" }", brackets),
        ("p = \"a\"\nfor range(100) as _ { p = \"(\" + p + \")*\" }", "\"a\" matches (p + string(left))"),
    ] {
        let result = on_small_stack(at_all_depths(setup, last), Limits::default());
        assert!(result.outcome.passed(), "{last}: {:?}", result.outcome);
    }
}

#[test]
fn a_result_that_is_nested_as_deep_as_it_may_be_is_shown() {
    let source = "a = [\"hidden text\"]\nfor range(480) as _ { a = [a] }\nr = rule { a }\nmain = rule { r }";
    assert!(matches!(on_small_stack(source.to_owned(), Limits::default()).outcome, Outcome::Failed(_)));
}

/// Expressions that are nested in each call of a deep recursion need stack, which is memory.
#[test]
fn the_stack_of_deep_calls_counts_as_memory() {
    let nested = "not ".repeat(200);
    let source =
        format!("func at(n) {{ if n is 0 {{ return true }}\n\treturn {nested} at(n - 1) }}\nmain = at(1900)");
    let limits = Limits { memory: 32 << 20, ..Limits::default() };
    let Outcome::Errored(error) = on_small_stack(source, limits).outcome else { panic!("it passed") };
    assert_eq!(error.kind(), ErrorKind::Limit(Limit::Memory));
}
