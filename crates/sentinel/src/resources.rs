//! That no member of the language makes more work or more memory than the limits allow, whatever it is
//! given. Each group of them runs in a process of its own, whose peak of memory can be asked for.

#![allow(clippy::unwrap_used, reason = "this is a test")]

use std::collections::{BTreeSet, HashMap};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::builtins::Builtin;
use crate::imports::Std;
use crate::value::Receiver;
use crate::{Data, Environment, ErrorKind, FixedHost, Limit, Limits, Outcome, compile, evaluate};

/// The size of a large argument. There is memory for a few of them.
const LARGE: usize = 128 << 10;

/// Names the group of members that a process is for.
const GROUP: &str = "SENTINEL_GROUP";

/// What a member may take over its arguments and its limit: the allocator's, the test's, and a
/// few times the largest argument, which is not counted because the application gave it.
const PEAK: usize = 2 << 20;

/// A call that ends within its limits takes far less; one that does work that is not counted, far more.
const TIME: Duration = Duration::from_secs(10);

/// What may be given three arguments; for all others a third is one too many.
const THREE: [&str; 6] = ["range", "print", "strings.replace", "collection.reduce", "maps.get", "maps.set"];

/// Arguments that are large in every way that matters to somebody.
fn arguments() -> Vec<(&'static str, Data)> {
    let text = |piece: &str| Data::from(piece.repeat(LARGE / piece.len()));
    let numbers = || Data::list((0..7_500).map(Data::Int));
    let mut nested = numbers();
    for _ in 0..100 {
        nested = Data::list([nested]);
    }
    vec![
        ("a", text("a")),
        ("b", text("b")),
        ("late", Data::from("a".repeat(LARGE / 2) + "b")),
        ("dots", text(".")),
        ("numbers", text("1.")),
        ("digits", text("1")),
        ("quotes", text("\u{1}\"")),
        ("list", numbers()),
        ("texts", Data::list((0..125).map(|_| Data::from("long text ".repeat(100))))),
        ("entries", Data::map((0..4_000).map(|at| (format!("key {at}"), Data::Int(at))))),
        ("nested", nested),
        ("brackets", Data::from(format!("[{}0]", "[],".repeat(LARGE / 3)))),
    ]
}

/// Every member that can be called, as it is written before its arguments.
fn members() -> Vec<String> {
    let mut members: Vec<String> = Builtin::ALL.map(|builtin| builtin.name().to_owned()).to_vec();
    for path in Std::NAMES {
        let std = Std::lookup(path).unwrap();
        let functions = std.functions().iter();
        members.extend(functions.map(|function| format!("{}.{function}", alias(path))));
    }
    let receivers = [
        ("time.now", Receiver::Timespace),
        ("decimal.new(7)", Receiver::Decimal),
        ("version.new(\"1.2.3\")", Receiver::Version),
        ("http.client", Receiver::HttpClient),
        ("http.request(\"https://example.com\")", Receiver::HttpRequest),
    ];
    for (receiver, methods) in receivers {
        members.extend(methods.methods().iter().map(|method| format!("{receiver}.{method}")));
    }
    for operator in
        ["+", "-", "*", "/", "%", "is", "is not", "<", "contains", "in", "matches", "else", "[", "[1:"]
    {
        members.push(operator.to_owned());
    }
    members
}

/// Members of one import or object are a group, and so are all others.
fn group_of(member: &str) -> &str {
    member.rsplit_once('.').map_or("", |(group, _)| group)
}

fn alias(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The expressions that give a member all combinations of up to three arguments, or as many as there are
/// for an operator.
fn expressions(member: &str, names: &[&str]) -> Vec<String> {
    let pairs = || names.iter().flat_map(|a| names.iter().map(move |b| (*a, *b)));
    match member {
        "[" => pairs().map(|(a, b)| format!("{a}[{b}]")).collect(),
        "[1:" => names.iter().map(|a| format!("{a}[1:]")).collect(),
        operator if !operator.contains('.') && Builtin::lookup(operator).is_none() => {
            pairs().map(|(a, b)| format!("{a} {operator} {b}")).collect()
        }
        function => {
            let mut calls = vec![format!("{function}()")];
            for a in names {
                calls.push(format!("{function}({a})"));
                for b in [a, "late", "list", "\"a\"", "\"\"", "\",\"", "[\"a.*\"]", "f", "g", "2"] {
                    calls.push(format!("{function}({a}, {b})"));
                    if function.starts_with("maps.") {
                        calls.push(format!("{function}({{\"a\": {a}}}, {b})"));
                    } else if !function.contains("(") {
                        calls.push(format!("{function}({b}, {a})"));
                    }
                    if THREE.contains(&function) {
                        calls.push(format!("{function}({a}, {b}, {a})"));
                    }
                }
            }
            calls
        }
    }
}

fn policy(expression: &str, names: &[&str]) -> String {
    let used = Std::NAMES.into_iter().filter(|path| expression.starts_with(&format!("{}.", alias(path))));
    let imports: String = used.map(|path| format!("import \"{path}\" as {}\n", alias(path))).collect();
    let params: String = names.iter().map(|name| format!("param {name}\n")).collect();
    let functions = "f = func(x) { return x }\ng = func(x, y) { return x }\n";
    let is_statement = ["append", "delete", "print", "error"].iter().any(|name| expression.starts_with(name));
    let statement = if is_statement { expression.to_owned() } else { format!("x = {expression}") };
    format!("{imports}{params}{functions}for range(3) as _ {{ {statement} }}\nmain = true")
}

/// A size in the status of this process, in bytes.
fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

/// Runs, and tells how much more memory the process had at most meanwhile.
fn grown<T>(run: impl FnOnce() -> T) -> (T, usize) {
    // sets the peak to what there is now
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS:");
    let result = run();
    (result, status("VmHWM:").saturating_sub(before))
}

/// The process of one group.
#[test]
#[ignore = "is run by the test below, for one group at a time"]
fn of_one_group() {
    let group = std::env::var(GROUP).unwrap();
    let arguments = arguments();
    let names: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
    let params: HashMap<String, Data> =
        arguments.iter().map(|(name, data)| ((*name).to_owned(), data.clone())).collect();
    let limits = Limits { steps: 12_500, memory: 4 * LARGE as u64, time: TIME, ..Limits::default() };
    let members = members().into_iter().filter(|member| group_of(member) == group);
    for expression in members.flat_map(|member| expressions(&member, &names)) {
        let unit = Arc::new(compile("p.sentinel", policy(&expression, &names)).unwrap());
        let host = FixedHost { now: 1_700_000_000 };
        let environment = Environment::default();
        let start = Instant::now();
        let (result, grown) = grown(|| evaluate(&unit, &environment, &params, limits, &host));
        assert!(grown < PEAK, "{expression} took {} MiB", grown >> 20);
        assert!(start.elapsed() < TIME, "{expression} took {:?}", start.elapsed());
        if let Outcome::Errored(error) = result.outcome {
            assert!(error.kind() != ErrorKind::Limit(Limit::Time), "{expression} is not counted");
            assert!(error.message().len() < 20 << 10, "{expression} repeats what it was given");
        }
    }
}

#[test]
fn no_member_makes_more_than_its_limits_allow_of_large_arguments() {
    let program = std::env::current_exe().unwrap();
    let groups: BTreeSet<String> = members().iter().map(|member| group_of(member).to_owned()).collect();
    for group in groups {
        let output = Command::new(&program)
            .args(["resources::of_one_group", "--exact", "--ignored", "--nocapture"])
            .env(GROUP, &group)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{group}: {} {said}", output.status);
    }
}
