//! What a policy has the evaluator do counts by its size, before it is done.

use std::sync::Arc;
use std::time::Duration;

use sentinel::{Data, Environment, ErrorKind, Evaluation, Limit, Limits, Outcome, compile, evaluate};

use crate::support::host;

fn run(source: &str, limits: Limits, params: &[(&str, Data)]) -> Evaluation {
    let unit = Arc::new(compile("p.sentinel", source).unwrap_or_else(|error| panic!("{}", error.render())));
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    evaluate(&unit, &Environment::default(), &params, limits, &host())
}

fn kind_of(source: &str, limits: Limits, params: &[(&str, Data)]) -> Option<ErrorKind> {
    match run(source, limits, params).outcome {
        Outcome::Errored(error) => Some(error.kind()),
        _ => None,
    }
}

/// Each of these looks at all of a large argument, and is done so often that the policy could not come to
/// its end in time if that took one step.
#[test]
fn a_look_at_something_large_takes_steps_by_its_size() {
    let text = "a".repeat(1 << 18);
    let list: Vec<Data> = (0..20_000).map(Data::Int).collect();
    let entries = |value: i64| {
        Data::map((0..10_000).map(|at| (format!("{at:05}"), Data::Int(if at == 9_999 { value } else { at }))))
    };
    let params = [
        ("t", Data::from(text.clone() + "b")),
        ("u", Data::from(text.clone() + "c")),
        ("bad", Data::Str([b"\xff", text.as_bytes()].concat().into())),
        ("digits", Data::from("1".repeat(1 << 18))),
        ("l", Data::list(list.clone())),
        ("k", Data::list(list.into_iter().take(19_999).chain([Data::Int(1)]))),
        ("m", entries(1)),
        ("n", entries(2)),
        ("names", Data::map([(text, Data::Int(1))])),
        ("ts", Data::list((0..100).map(|at| Data::from(format!("{at}{}", "a".repeat(3_000)))))),
    ];
    for expression in [
        "t is u",
        "t < u",
        "compare(t, u)",
        "[t] contains u",
        "[t] is [u]",
        "t contains \"x\"",
        "bad contains \"\\xfe\"",
        "u in t",
        "t + \"\"",
        "t[1:]",
        "l[1:]",
        "l + l",
        "t matches \"x\"",
        "t matches \"a{9}x\"",
        "l contains 1.5",
        "l is k",
        "m is n",
        "[m] contains n",
        "any l as x { false }",
        "keys(m)",
        "values(m)",
        "int(digits)",
        "float(digits)",
        "print(t)",
        "print(l)",
        "names[t]",
        "names contains t",
        "strings.has_prefix(t, u)",
        "strings.has_suffix(t, t)",
        "strings.trim_prefix(t, \"a\")",
        "strings.trim_suffix(t, \"b\")",
        "strings.trim_left(t, \"a\")",
        "strings.trim_right(t, \"b\")",
        "strings.trim(t, \"c\")",
        "strings.trim_space(t)",
        "strings.to_upper(t)",
        "strings.to_lower(t)",
        "strings.split(t, \"c\")",
        "strings.split(bad, \"c\")",
        "strings.replace(t, \"c\", \"d\")",
        "strings.join(ts, \"\")",
        "lists.sum(l)",
        "lists.concat(l, l)",
        "lists.difference(l, [])",
        "collection.filter(l, func(x) { return false })",
        "collection.matches([m, m], n)",
        "maps.get(names, t)",
        "maps.has({\"a\": l}, \"a.*\")",
        "maps.set(m, \"a\", 1)",
        "maps.unset(m, \"00001\")",
        "maps.omit(m, [\"00001\"])",
        "maps.pick(m, [\"00001\"])",
        "maps.pick({\"a\": l}, [\"a.1\"])",
        "json.marshal(t)",
        "json.marshal(l)",
        "json.valid(t)",
        "base64.encode(t)",
        "http.request(t)",
        "http.client.accept_status_codes(map l as _ { 200 })",
        "1\nappend(view(), 1)",
        "1\ndelete(entries(), \"00001\")",
    ] {
        // what is made is let go again, and the memory is not what this is about
        let source = format!(
            "import \"strings\"\nimport \"json\"\nimport \"base64\"\nimport \"http\"\nimport \"collection\"\n\
             import \"collection/maps\" as maps\nimport \"collection/lists\" as lists\nparam t\nparam u\nparam bad\n\
             param digits\nparam l\nparam k\nparam m\nparam n\nparam names\nparam ts\n\
             view = func() {{ x = [{list}]\nreturn x }}\nentries = func() {{ x = {{{map}}}\nreturn x }}\n\
             for range(10000) as _ {{ x = {expression} }}\nmain = true",
            list = "1, ".repeat(300),
            map = (0..300).map(|at| format!("\"{at:05}\": 1, ")).collect::<String>(),
        );
        let limits =
            Limits { steps: 300_000, memory: u64::MAX, time: Duration::from_secs(60), ..Limits::default() };
        let kind = kind_of(&source, limits, &params);
        assert_eq!(kind, Some(ErrorKind::Limit(Limit::Steps)), "{expression}");
    }
}

/// `s` doubled so many times.
fn doubled(name: &str, seed: &str, times: u32) -> String {
    format!("{name} = {seed}\nfor range({times}) as _ {{ {name} += {name} }}\n")
}

#[test]
fn a_search_in_bytes_that_are_no_text_is_linear() {
    let source = doubled("a", "\"a\"", 18)
        + "main = (\"\\xff\" + a + a) contains (\"\\xfe\" + a + \"b\") or (a + \"\\xff\") contains (a + \"\\xfe\")";
    let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
    assert_eq!(kind_of(&source, limits, &[]), None);
}

#[test]
fn a_text_of_many_parts_is_split_in_one_pass() {
    let source = format!(
        "import \"strings\"\n{}main = length(strings.split(s, \",\")) is 262145",
        doubled("s", "\"a,\"", 18)
    );
    let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
    assert!(run(&source, limits, &[]).outcome.passed());
}

#[test]
fn a_large_set_of_characters_to_trim_is_looked_at_once() {
    let source = format!(
        "import \"strings\"\n{}main = strings.trim_left(s, s + \"b\") is empty",
        doubled("s", "\"a\"", 18)
    );
    let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
    assert!(run(&source, limits, &[]).outcome.passed());
}

/// A pattern whose states cannot be known in advance: a search for it can take as much for each byte as
/// the pattern has states. It ends in time, wherever it is then.
#[test]
fn a_search_for_a_large_pattern_ends_in_time() {
    let mut random = 1_u32;
    let text: String = (0..1 << 20)
        .map(|_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if random >> 31 == 0 { 'a' } else { 'b' }
        })
        .collect();
    let source = "param t\nmain = t + t + t + t matches \"a[ab]{900}c\"";
    let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
    let result = run(source, limits, &[("t", Data::from(text))]);
    let Outcome::Errored(error) = &result.outcome else { panic!("it ended in {:?}", result.duration) };
    assert!(matches!(error.kind(), ErrorKind::Limit(Limit::Time | Limit::Steps)), "{error}");
    assert!(result.duration < Duration::from_secs(10), "{:?}", result.duration);
}

#[test]
fn a_pattern_is_of_a_size_that_can_be_read() {
    let source = doubled("p", "\"a.\"", 18) + "main = \"a\" matches p";
    let Outcome::Errored(error) = run(&source, Limits::default(), &[]).outcome else { panic!("it passed") };
    assert_eq!(error.message(), "a pattern has at most 65536 bytes, and this one has 524288");
}

/// What these keep is of many small pieces, or is a copy that a write made.
#[test]
fn what_is_kept_counts_as_memory_however_it_is_made() {
    let limits = Limits { memory: 4 << 20, ..Limits::default() };
    let list = "1, ".repeat(1_000);
    let map: String = (0..1_000).map(|at| format!("{at}: 1, ")).collect();
    for body in [
        format!("x = [{list}]\nappend(x, 1)\nappend(keep, x)"),
        format!("x = [{list}]\nx[0] = 2\nappend(keep, x)"),
        format!("x = {{{map}}}\nx[0] = 2\nappend(keep, x)"),
        format!("x = {{{map}}}\ndelete(x, 0)\nappend(keep, x)"),
        "for range(100) as _ { append(keep, []) }".into(),
        "for range(100) as _ { append(keep, {}) }".into(),
        "for range(100) as i { append(keep, string(i)) }".into(),
        "for \"0123456789abcdef\" as _ { append(keep, \"abc\"[1]) }"
            .replace("\"0123456789abcdef\"", "range(100)"),
        format!("x = [{}]\nfor x as _ {{ }}\nappend(keep, x)", "[], ".repeat(300)),
        "append(keep, strings.split(\"a b c d e f g h i j k l m n o p q\", \" \"))".into(),
        "append(keep, strings.split(\"abcdefghijklmnopq\", \"\"))".into(),
    ] {
        let source = format!("import \"strings\"\nkeep = []\nfor range(5000) as _ {{ {body} }}\nmain = true");
        assert_eq!(kind_of(&source, limits, &[]), Some(ErrorKind::Limit(Limit::Memory)), "{body}");
    }
}

#[test]
fn a_rule_that_is_evaluated_again_and_again_is_in_the_trace_once() {
    let source = "f = func(x) {\n// what it is for\nr = rule { x }\nreturn r }\nfor range(1000) as i { f(i) }\nmain = true";
    let trace = run(source, Limits::default(), &[]).trace;
    assert_eq!(trace.rules.len(), 1);
    assert_eq!(trace.rules[0].description, "what it is for");
    assert_eq!(trace.rules[0].value, Data::Int(999));
}

#[test]
fn the_log_of_a_policy_has_an_end() {
    let rules: String = (0..200).map(|at| format!("r{at} = rule {{ s }}\n")).collect();
    let used: String = (0..200).map(|at| format!("r{at} is s and ")).collect();
    for main in [format!("{used}true"), "map range(200) as _ { s }".into()] {
        let source = format!("{}{rules}main = {main}", doubled("s", "\"a\"", 20));
        let result = run(&source, Limits::default(), &[]);
        assert!(result.text().len() < 64 << 20, "{}", result.text().len());
        assert!(result.json().to_string().len() < 64 << 20);
    }
}

#[test]
fn an_error_does_not_repeat_all_of_what_was_given() {
    let text = Data::from("x".repeat(1 << 20));
    for expression in [
        "decimal.new(t)",
        "sockaddr.is_ipv4(t)",
        "time.load(t)",
        "version.new(t)",
        "version.new(\"1.2.3\").satisfies(t)",
        "\"a\" matches (\"(\" + t[:60000])",
        "maps.set({\"l\": []}, \"l.\" + t, 1)",
        "http.request(\"https://example.com\").with_method(t)",
        "error(t)",
    ] {
        let source = format!(
            "import \"decimal\"\nimport \"sockaddr\"\nimport \"time\"\nimport \"version\"\nimport \"http\"\n\
             import \"collection/maps\" as maps\nparam t\nx = {expression}\nmain = true"
        );
        let Outcome::Errored(error) = run(&source, Limits::default(), &[("t", text.clone())]).outcome else {
            panic!("{expression} passed")
        };
        let most = if expression == "error(t)" { 20_000 } else { 500 };
        assert!(error.message().len() < most, "{expression}: {} bytes", error.message().len());
        assert!(error.notes().iter().all(|note| note.len() < 500), "{expression}");
    }
}

/// The distance of two names takes the product of their lengths.
#[test]
fn a_long_name_is_not_compared_with_others() {
    let long = "x".repeat(1 << 20);
    for source in [format!("{long} = 1\nmain = {long}y"), format!("{long} = 1\nmain = xy")] {
        let Outcome::Errored(error) = run(&source, Limits::default(), &[]).outcome else {
            panic!("it passed")
        };
        assert!(error.message().starts_with("unknown identifier"), "{error}");
        assert!(error.message().len() < 20_000);
    }
    let source = format!("import \"{long}\" as x\nmain = true");
    assert!(kind_of(&source, Limits::default(), &[]).is_some());
    let policy = format!("policy \"a\" {{\n {} = 1\n}}", "x".repeat(1 << 19));
    assert!(sentinel::Config::parse("s.hcl", &policy).is_err());
}
