//! Limits: a policy that never ends, or wants too much, ends as an error.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sentinel::{Environment, ErrorKind, Limit, Limits, Outcome, compile, evaluate};

use crate::support::host;

fn limit_of(source: &str, limits: Limits) -> ErrorKind {
    let unit = Arc::new(compile("p.sentinel", source).unwrap());
    match evaluate(&unit, &Environment::default(), &HashMap::new(), limits, &host()).outcome {
        Outcome::Errored(error) => {
            assert!(error.place().is_some(), "{error} has no place");
            error.kind()
        }
        other => panic!("{source} ended as {other:?}"),
    }
}

const ENDLESS: &str = "f = func() { for range(1000) as a { for range(1000) as b { for range(1000) as c { x = a } } }\nreturn 1 }\nmain = f() is 1";

#[test]
fn steps_are_limited() {
    let limits = Limits { steps: 10_000, ..Limits::default() };
    assert_eq!(limit_of(ENDLESS, limits), ErrorKind::Limit(Limit::Steps));
}

#[test]
fn time_is_limited() {
    let limits = Limits { time: Duration::from_millis(50), steps: u64::MAX, ..Limits::default() };
    let start = Instant::now();
    assert_eq!(limit_of(ENDLESS, limits), ErrorKind::Limit(Limit::Time));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn calls_are_limited_in_depth() {
    for source in [
        "f = func(n) { return f(n + 1) }\nmain = f(0)",
        "f = func(n) { return [f(n + 1)] }\nmain = f(0)",
        "f = func(n) { g = rule { f(n + 1) }\nreturn g }\nmain = f(0)",
        "f = func(n) { for [1] as x { if true { return any [n] as y { f(y) } } }\nreturn 1 }\nmain = f(0)",
        "import \"collection\"\nf = func(n) { return collection.filter([1], f) }\nmain = f(0)",
    ] {
        assert_eq!(limit_of(source, Limits::default()), ErrorKind::Limit(Limit::Depth), "{source}");
    }
}

#[test]
fn the_depth_of_calls_is_counted_exactly() {
    let source = "f = func(n) { if n is 0 { return 0 }\nreturn f(n - 1) }\nmain = f(9) is 0";
    let ends = |depth| {
        let unit = Arc::new(compile("p.sentinel", source).unwrap());
        let limits = Limits { depth, ..Limits::default() };
        evaluate(&unit, &Environment::default(), &HashMap::new(), limits, &host()).outcome
    };
    // ten calls: f(9) to f(0)
    assert!(matches!(ends(10), Outcome::Passed(_)));
    assert!(matches!(ends(9), Outcome::Errored(error) if error.kind() == ErrorKind::Limit(Limit::Depth)));
}

#[test]
fn memory_is_limited() {
    let limits = Limits { memory: 1 << 18, ..Limits::default() };
    for body in [
        "append(l, i)",
        "l += [i]",
        "m[i] = i",
        "m[i] = m",
        "s += \"0123456789\"",
        "l = [l]",
        "m = {\"a\": m}",
        "print(\"a long line of text that is printed again and again\")",
        "s = strings.join([s, s], \"\")",
        "s = strings.replace(s, \"\", \"ab\")",
        "s = json.marshal([s, s])",
        "l = map l as e { [e] }",
        "append(l, func() { return i })",
        "append(l, rule { i })",
        "l = [l, filter r as e { true }]",
        "l = [l, filter q as k, v { true }]",
        "l = [l, map q as k, v { v }]",
        "l = [l, r[1:]]",
        "l = [l, keys(q)]",
        "l = [l, values(q)]",
        "l = [l, maps.get(z, \"r.*\")]",
        "l = [l, maps.omit(z, [\"r.1\"])]",
        "l = [l, collection.filter(r, f)]",
        "l = [l, lists.concat(r, r)]",
        "l = [l, strings.split(\"a b c d e f g h i j k l\", \" \")]",
    ] {
        let source = filled(body);
        assert_eq!(limit_of(&source, limits), ErrorKind::Limit(Limit::Memory), "{source}");
    }
    for source in
        ["x = range(10000000)\nmain = true", "x = map range(100000) as i { [i, i, i] }\nmain = true"]
    {
        assert_eq!(limit_of(source, limits), ErrorKind::Limit(Limit::Memory), "{source}");
    }
}

#[test]
fn literals_count_by_their_elements_and_walks_by_what_they_walk() {
    let ends = |source: &str, memory| {
        let unit = Arc::new(compile("p.sentinel", source).unwrap());
        let limits = Limits { memory, ..Limits::default() };
        evaluate(&unit, &Environment::default(), &HashMap::new(), limits, &host()).outcome
    };
    let list = format!("x = 0\nl = [{}]\nmain = true", "x,".repeat(5_000));
    let map =
        format!("x = 0\nm = {{{}}}\nmain = true", (0..5_000).map(|n| format!("{n}:x,")).collect::<String>());
    // many times the number of elements, and less than their size
    for source in [list.as_str(), map.as_str()] {
        assert!(matches!(ends(source, 1 << 20), Outcome::Passed(_)));
        assert_eq!(
            limit_of(source, Limits { memory: 50_000, ..Limits::default() }),
            ErrorKind::Limit(Limit::Memory)
        );
    }
    // what is walked is held for as long as the walk, beside the collection
    let walk = "l = range(10000)\nmain = all l as i { true }";
    let alone = "l = range(10000)\nmain = true";
    let enough = (1..).map(|n| n * 10_000).find(|memory| matches!(ends(alone, *memory), Outcome::Passed(_)));
    let enough = enough.unwrap();
    assert_eq!(
        limit_of(walk, Limits { memory: enough + 300_000, ..Limits::default() }),
        ErrorKind::Limit(Limit::Memory)
    );
    assert!(matches!(ends(walk, enough + 1_000_000), Outcome::Passed(_)));
    // a slice counts by its own length, wherever it is
    let least = |slice: &str| {
        let text = "s = strings.join(map range(1000) as i { \"0123456789\" }, \"\")";
        let source = format!("import \"strings\"\n{text}\nl = range(10000)\nx = {slice}\nmain = true");
        (1..).map(|n| n * 1_000).find(|memory| matches!(ends(&source, *memory), Outcome::Passed(_))).unwrap()
    };
    for of in ["s", "l"] {
        let (first, last) = (least(&format!("{of}[:1]")), least(&format!("{of}[9999:]")));
        assert!(first.abs_diff(last) < 5_000, "{of}: {first} and {last}");
        assert!(least(&format!("{of}[:9999]")) > first + 5_000, "{of}: the whole costs more than a part");
    }
}

#[test]
fn functions_and_rules_count_more_than_their_places_in_a_list() {
    let limits = Limits { memory: 1 << 18, ..Limits::default() };
    let source =
        |item: &str| format!("for range(300) as i {{ l = [{}] }}\nmain = true", [item; 20].join(", "));
    for item in ["func() { return i }", "rule { i }"] {
        assert_eq!(limit_of(&source(item), limits), ErrorKind::Limit(Limit::Memory), "{item}");
    }
    let unit = Arc::new(compile("p.sentinel", source("i")).unwrap());
    assert!(evaluate(&unit, &Environment::default(), &HashMap::new(), limits, &host()).outcome.passed());
}

#[test]
fn what_holds_no_memory_counts_as_none() {
    let limits = Limits { memory: 1 << 18, ..Limits::default() };
    for body in ["n = i", "n = i * 2 + 1", "n = i in [] or i is 7", "n = f(i)"] {
        let unit = Arc::new(compile("p.sentinel", filled(body)).unwrap());
        let outcome = evaluate(&unit, &Environment::default(), &HashMap::new(), limits, &host()).outcome;
        assert!(matches!(outcome, Outcome::Passed(_)), "{body}: {outcome:?}");
    }
}

/// A policy that does something ninety thousand times; the list it goes over is small.
fn filled(body: &str) -> String {
    format!(
        "import \"strings\"\nimport \"json\"\nimport \"collection\"\n\
         import \"collection/maps\" as maps\nimport \"collection/lists\" as lists\nr = range(300)\n\
         q = {{}}\nfor r as k {{ q[k] = k }}\nz = {{\"r\": r}}\nf = func(x) {{ return x }}\n\
         l = [0]\nm = {{}}\ns = \"a\"\nn = 0\n\
         for r as a {{ for r as b {{ i = a * 300 + b\n{body} }} }}\nmain = true"
    )
}

#[test]
fn values_are_limited_in_depth() {
    let nest = "l = []\nfor range(100000) as i { l = [l] }\n";
    let maps = "m = {}\nfor range(100000) as i { m = {1: m} }\n";
    for (nest, main) in [(nest, "l == [l]"), (maps, "m == {1: m}")] {
        let source = format!("{nest}main = {main}");
        assert_eq!(limit_of(&source, Limits::default()), ErrorKind::Limit(Limit::Depth), "{source}");
    }
    let json = format!("import \"json\"\n{nest}main = json.marshal(l)");
    assert_eq!(limit_of(&json, Limits::default()), ErrorKind::Limit(Limit::Depth));
}

#[test]
fn a_value_nested_without_end_is_dropped_without_trouble() {
    let unit = Arc::new(compile("p.sentinel", "l = []\nfor range(100000) as i { l = [l] }\nm = {}\nfor range(100000) as i { m = {\"m\": m} }\nmain = true").unwrap());
    let result = evaluate(&unit, &Environment::default(), &HashMap::new(), Limits::default(), &host());
    assert!(result.outcome.passed(), "{:?}", result.outcome);
}

#[test]
fn a_chain_of_closures_is_dropped_without_trouble() {
    let source = "wrap = func(inner) { return func() { return inner } }\nf = undefined\nfor range(100000) as i { f = wrap(f) }\nmain = true";
    let unit = Arc::new(compile("p.sentinel", source).unwrap());
    let result = evaluate(&unit, &Environment::default(), &HashMap::new(), Limits::default(), &host());
    assert!(result.outcome.passed(), "{:?}", result.outcome);
}

/// Forty lists can have more text than there is memory, when each holds the one before it twice.
#[test]
fn a_small_value_with_endless_text_is_shown_in_part() {
    let source = "l = [1]\nfor range(40) as i { l = [l, l] }\nprint(l)\nmain = true";
    let unit = Arc::new(compile("p.sentinel", source).unwrap());
    let result = evaluate(&unit, &Environment::default(), &HashMap::new(), Limits::default(), &host());
    assert!(result.outcome.passed(), "{:?}", result.outcome);
    assert!(result.trace.print.len() < 5 << 20);
    let source = "l = [1]\nfor range(40) as i { l = [l, l] }\nr = rule { l }\nmain = r is []";
    let limits = Limits { steps: 1_000_000, ..Limits::default() };
    assert_eq!(limit_of(source, limits), ErrorKind::Limit(Limit::Steps));
}

#[test]
fn patterns_that_are_made_anew_again_and_again_cost_steps() {
    let source = "for range(100000) as i { x = \"a\" matches (string(i) + \"(a{20}){20}\") }\nmain = true";
    let limits = Limits { steps: 2_000_000, ..Limits::default() };
    assert_eq!(limit_of(source, limits), ErrorKind::Limit(Limit::Steps));
}

#[test]
fn a_rule_with_a_huge_value_is_not_carried_in_the_trace() {
    let unit = Arc::new(
        compile("p.sentinel", "big = rule { range(300000) }\nmain = rule { big is not empty }").unwrap(),
    );
    let result = evaluate(&unit, &Environment::default(), &HashMap::new(), Limits::default(), &host());
    assert!(result.outcome.passed());
    assert_eq!(result.trace.rule("big").unwrap().as_str(), Some("(too large to be shown)"));
}

#[test]
fn cycles_are_let_go() {
    // the test is that the memory of the process does not grow; what can be checked here is that
    // cycles of every kind end without trouble
    let source = "l = []\nappend(l, l)\nm = {}\nm[\"m\"] = m\nm[\"l\"] = l\nappend(l, m)\nf = func() { g = func() { return g }\nreturn g }\nm[\"f\"] = f()\nr = rule { m }\nm[\"r\"] = func() { return r }\nmain = true";
    for _ in 0..1000 {
        let unit = Arc::new(compile("p.sentinel", source).unwrap());
        let result = evaluate(&unit, &Environment::default(), &HashMap::new(), Limits::default(), &host());
        assert!(result.outcome.passed());
    }
}

#[test]
fn a_pattern_costs_steps_by_its_text() {
    let source = "s = \"aaaaaaaaaaaaaaaa\"\nfor range(13) as i { s += s }\nfor range(1000000) as i { x = s matches \"(a|b)*c\" }\nmain = true";
    let limits = Limits { steps: 1_000_000, ..Limits::default() };
    assert_eq!(limit_of(source, limits), ErrorKind::Limit(Limit::Steps));
}

#[test]
fn a_policy_within_its_limits_is_not_disturbed() {
    let unit = Arc::new(
        compile(
            "p.sentinel",
            "f = func(n) { if n is 0 { return 0 }\nreturn 1 + f(n - 1) }\nmain = f(1500) is 1500",
        )
        .unwrap(),
    );
    let result = evaluate(&unit, &Environment::default(), &HashMap::new(), Limits::default(), &host());
    assert!(result.outcome.passed(), "{:?}", result.outcome);
}
