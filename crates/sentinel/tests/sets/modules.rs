//! Modules, static imports, mocks, globals.

use std::sync::Arc;

use sentinel::{Data, Environment, Outcome, compile};

use crate::support::{check_in, run_in};

fn with(modules: &[(&str, &str)]) -> Environment {
    let mut environment = Environment::default();
    for (name, text) in modules {
        environment.set_module(*name, Arc::new(compile(format!("{name}.sentinel"), *text).unwrap()));
    }
    environment
}

fn check(modules: &[(&str, &str)], source: &str, expected: &str) {
    check_in(source, expected, &with(modules));
}

#[test]
fn a_module_has_values_functions_and_rules() {
    let module = "x = 5\ndouble = func(n) { return n * 2 }\nbig = rule { x > 3 }";
    check(&[("m", module)], "import \"m\" ;; [m.x, m.double(4), m.big]", "[5, 8, true]");
}

#[test]
fn a_module_needs_no_main() {
    check(&[("m", "x = 1")], "import \"m\" ;; m.x", "1");
}

#[test]
fn what_a_module_lacks_is_undefined() {
    check(&[("m", "x = 1")], "import \"m\" ;; [m.y, m.f(1), m.y else 2]", "[undefined, undefined, 2]");
}

#[test]
fn a_module_cannot_have_parameters() {
    check(&[("m", "param p default 1")], "import \"m\" ;; 1", "error: a module cannot have parameters");
}

#[test]
fn data_of_a_module_is_handed_out_as_a_copy() {
    let module = "list = [1]\nget = func() { return list }";
    check(
        &[("m", module)],
        "import \"m\"\nl = m.list\nappend(l, 2) ;; [l, m.list, m.get()]",
        "[[1, 2], [1], [1]]",
    );
    check(&[("m", module)], "import \"m\"\nl = m.get()\nappend(l, 2) ;; [l, m.list]", "[[1, 2], [1]]");
    check(
        &[("m", "x = {\"a\": {\"b\": 1}}")],
        "import \"m\"\ny = m.x\ny[\"a\"][\"b\"] = 2 ;; [y, m.x]",
        "[{\"a\": {\"b\": 2}}, {\"a\": {\"b\": 1}}]",
    );
    check(
        &[("m", "l = []\nappend(l, {\"a\": 1})")],
        "import \"m\"\ny = m.l\ny[0][\"a\"] = 2 ;; m.l",
        "[{\"a\": 1}]",
    );
}

#[test]
fn data_that_leaves_a_module_by_any_way_is_a_copy() {
    let module = "state = {\"n\": 0}\nget = func() { return state }\n\
        obj = {\"get\": get, \"rule\": rule { state }}\nr = rule { state }\n\
        each = func(f) { return f(state) }";
    for way in [
        "y = m.state",
        "y = m.get()",
        "y = m.r",
        "y = m.obj.get()",
        "o = m.obj\ny = o.get()",
        "f = m.get\ny = f()",
        "f = m.obj[\"get\"]\ny = f()",
        "y = m.obj.rule",
        "y = m.obj.rule\ny = m.obj.rule",
        "o = m.obj\ny = o[\"rule\"]",
        "y = {}\nm.each(func(s) { y = s\nreturn true })",
        "import_of = func(g) { return g() }\ny = import_of(m.get)",
        "y = (map [1] as x { m.get() })[0]",
        "y = collection.reduce([1], m.reduce, {})",
    ] {
        let module = format!("{module}\nreduce = func(value, item) {{ return state }}");
        check(
            &[("m", &module)],
            &format!("import \"m\"\nimport \"collection\"\n{way}\ny[\"n\"] = 500 ;; [m.state.n, y.n]"),
            "[0, 500]",
        );
    }
}

#[test]
fn modules_hand_out_copies_to_modules_too() {
    let modules = [
        ("inner", "state = {\"n\": 0}\nobj = {\"get\": func() { return state }}"),
        (
            "outer",
            "import \"inner\"\nbreak_in = func() { y = inner.obj.get()\ny[\"n\"] = 1\nreturn inner.state.n }",
        ),
    ];
    check(&modules, "import \"outer\" ;; outer.break_in()", "0");
}

#[test]
fn what_a_module_is_given_is_the_collection_itself() {
    // so that a module's function can fill it, as any other function can
    let modules = [
        ("inner", "add = func(l) { append(l, 1)\nreturn true }"),
        (
            "outer",
            "import \"inner\"\nfill = func(l) { inner.add(l)\nreturn true }\nown = func() { l = []\ninner.add(l)\nreturn l }\neach = func(f) { f([1])\nreturn true }",
        ),
    ];
    let source = "import \"outer\"\nl = []\nouter.fill(l)\nk = []\nouter.each(func(x) { append(k, x)\nreturn true }) ;; [l, outer.own(), k]";
    check(&modules, source, "[[1], [1], [[1]]]");
}

#[test]
fn a_module_cannot_be_assigned_through() {
    check(
        &[("m", "x = {}")],
        "import \"m\"\nm.x[\"a\"] = 1 ;; 1",
        "error: `m` is an import, its data cannot be assigned to",
    );
}

#[test]
fn functions_of_a_module_change_its_state() {
    let module = "count = 0\nseen = []\nadd = func(x) { count += 1\nappend(seen, x)\nreturn count }";
    check(
        &[("m", module)],
        "import \"m\"\nm.add(\"a\")\nm.add(\"b\") ;; [m.count, m.seen]",
        "[2, [\"a\", \"b\"]]",
    );
}

#[test]
fn a_function_of_a_module_changes_a_collection_it_is_given() {
    let module = "add = func(l) { append(l, 1)\nreturn undefined }";
    check(&[("m", module)], "import \"m\"\nl = []\nm.add(l) ;; l", "[1]");
}

#[test]
fn a_module_is_one_in_all_that_import_it() {
    let modules = [
        ("state", "n = 0\nadd = func() { n += 1\nreturn n }"),
        ("a", "import \"state\"\nadd = func() { return state.add() }"),
        ("b", "import \"state\" as s\nadd = func() { return s.add() }"),
    ];
    check(
        &modules,
        "import \"a\"\nimport \"b\"\nimport \"state\"\nx = a.add()\ny = b.add() ;; [x, y, state.n]",
        "[1, 2, 2]",
    );
}

#[test]
fn modules_that_import_each_other_are_an_error() {
    let modules = [("a", "import \"b\""), ("b", "import \"a\"")];
    check(&modules, "import \"a\" ;; 1", "error: the import `a` imports itself");
}

#[test]
fn modules_do_not_see_the_variables_of_policies() {
    check(
        &[("m", "f = func() { return secret }")],
        "import \"m\"\nsecret = 1 ;; m.f()",
        "error: unknown identifier `secret`",
    );
}

#[test]
fn callbacks_see_their_own_scope() {
    let module = "factor = 10\napply = func(f) { return f(2) }";
    check(&[("m", module)], "import \"m\"\nfactor = 3 ;; m.apply(func(x) { return x * factor })", "6");
}

#[test]
fn modules_may_use_standard_imports_and_mocks() {
    let mut environment = with(&[(
        "m",
        "import \"strings\"\nimport \"tfplan/v2\" as p\nup = func() { return strings.to_upper(p.name) }",
    )]);
    environment.set_data("tfplan/v2", Data::map([("name", "x".into())]));
    check_in("import \"m\" ;; m.up()", "\"X\"", &environment);
}

#[test]
fn a_mock_stands_in_for_a_standard_import() {
    check(&[("time", "now = {\"hour\": 9}")], "import \"time\" ;; time.now.hour", "9");
}

#[test]
fn an_error_in_a_module_has_its_place() {
    let environment = with(&[("m", "x = 1\nf = func(a) {\n  return a / 0\n}")]);
    let outcome = run_in("import \"m\"\nmain = m.f(1)", &environment, &[]).unwrap().outcome;
    let Outcome::Errored(error) = outcome else { panic!("no error") };
    assert_eq!(error.to_string(), "m.sentinel:3:10: division by zero");
}

#[test]
fn rules_of_modules_are_not_in_the_trace() {
    let environment = with(&[("m", "r = rule { true }")]);
    let trace = run_in("import \"m\"\nmain = rule { m.r }", &environment, &[]).unwrap().trace;
    assert!(trace.rule("main").is_some() && trace.rule("r").is_none());
}

#[test]
fn a_static_import_is_a_value() {
    let mut environment = Environment::default();
    environment.set_data("people", Data::list([Data::map([("role", "Admin".into())])]));
    check_in(
        "import \"people\" ;; filter people as p { p.role is \"Admin\" }",
        "[{\"role\": \"Admin\"}]",
        &environment,
    );
    check_in("import \"people\" ;; length(people)", "1", &environment);
    check_in(
        "import \"people\"\npeople = 1 ;; 1",
        "error: `people` is an import and cannot be assigned to",
        &environment,
    );
}

#[test]
fn a_static_import_can_be_gone_into_at_its_import() {
    let mut environment = Environment::default();
    let dogs = Data::map([("big", Data::list(["Labrador".into()]))]);
    environment.set_data("animals", Data::map([("dogs", dogs)]));
    check_in("import \"animals\".dogs.big as big ;; big", "[\"Labrador\"]", &environment);
    check_in("import \"animals\".dogs ;; dogs.big[0]", "\"Labrador\"", &environment);
    for imports in
        ["import \"animals\"\nimport \"animals\".dogs", "import \"animals\".dogs\nimport \"animals\""]
    {
        check_in(&format!("{imports} ;; animals.dogs is dogs"), "true", &environment);
    }
    let reserved = "error: `rule` is reserved: the import needs another name, `as NAME`";
    check_in("import \"animals\".dogs.rule ;; 1", reserved, &environment);
    check_in(
        "import \"animals\".cats ;; 1",
        "error: the static import `animals` has no member `cats`",
        &environment,
    );
}

#[test]
fn only_static_imports_can_be_gone_into() {
    check(&[("m", "x = {}")], "import \"m\".x ;; 1", "error: only a static import can be gone into");
}

#[test]
fn data_of_a_static_import_is_copied_when_it_is_changed() {
    let mut environment = Environment::default();
    environment.set_data("s", Data::map([("a", Data::list([Data::Int(1)]))]));
    check_in("import \"s\"\nx = s.a\nappend(x, 2) ;; [x, s.a]", "[[1, 2], [1]]", &environment);
}

#[test]
fn globals_are_seen_without_an_import() {
    let mut environment = Environment::default();
    environment.set_global("day", "monday".into());
    check_in("day", "\"monday\"", &environment);
    check_in("day = \"sunday\" ;; day", "\"sunday\"", &environment);
}

#[test]
fn a_change_of_a_global_is_there_when_it_is_looked_at_again() {
    let mut environment = Environment::default();
    environment.set_global("list", Data::list([Data::Int(1)]));
    environment.set_global("nested", Data::map([("a", Data::map([("b", Data::Int(1))]))]));
    environment.set_global("count", Data::Int(1));
    check_in("append(list, 2)\nnested[\"a\"][\"b\"] = 5 ;; [list, nested.a.b]", "[[1, 2], 5]", &environment);
    check_in("count += 1\nlist += [3] ;; [count, list]", "[2, [1, 3]]", &environment);
    check_in("f = func() { count += 1\nreturn count }\nx = f() ;; [x, count]", "[2, 1]", &environment);
    // the next evaluation starts anew
    check_in("[list, nested.a.b, count]", "[[1], 1, 1]", &environment);
}

#[test]
fn a_null_of_a_static_import_is_null() {
    let mut environment = Environment::default();
    environment.set_data("s", Data::map([("n", Data::Null), ("e", Data::map::<&str>([]))]));
    check_in(
        "import \"s\" ;; [s.n is null, s.n is defined, s.e.x, s.e is empty]",
        "[true, true, undefined, true]",
        &environment,
    );
}

#[test]
fn an_unknown_import_gets_a_hint() {
    let environment = with(&[("tfplan-functions", "x = 1")]);
    let Outcome::Errored(error) =
        run_in("import \"tfplan-function\" as p\nmain = true", &environment, &[]).unwrap().outcome
    else {
        panic!("no error")
    };
    assert_eq!(error.notes(), ["did you mean `tfplan-functions`?"]);
}

#[test]
fn a_namespace_of_the_host_has_data_and_functions() {
    struct Host(Data);
    impl sentinel::Import for Host {
        fn data(&self) -> &Data {
            &self.0
        }
        fn functions(&self) -> &'static [&'static str] {
            &["twice"]
        }
        fn call(&self, _: &str, args: &[Data]) -> Result<Data, String> {
            match args {
                [Data::Int(n)] => Ok(Data::Int(n * 2)),
                _ => Err("twice needs an int".into()),
            }
        }
    }
    let mut environment = Environment::default();
    environment.set_import("host", Arc::new(Host(Data::map([("x", Data::Int(1))]))));
    check_in("import \"host\" ;; [host.x, host.twice(4), host.y]", "[1, 8, undefined]", &environment);
    check_in("import \"host\" ;; host.twice(\"a\")", "error: twice needs an int", &environment);
    check_in(
        "import \"host\" ;; host.twice(func() { return 1 })",
        "error: `twice` cannot be given a func",
        &environment,
    );
}
