//! Mocks of a run.

use std::sync::Arc;

use sentinel::{Data, Documents, Environment, Secrets, compile, format, imports, mocks, secrets};

use super::derived::{documents, environment};
use crate::support::{check_in, result_in};

fn mocked(documents: &Documents) -> Environment {
    let files = mocks(documents).files;
    let mut mocked = Environment::default();
    for (name, file) in [
        ("tfplan/v2", "mock-tfplan-v2.sentinel"),
        ("tfconfig/v2", "mock-tfconfig-v2.sentinel"),
        ("tfstate/v2", "mock-tfstate-v2.sentinel"),
        ("tfplan", "mock-tfplan.sentinel"),
        ("tfconfig", "mock-tfconfig.sentinel"),
        ("tfstate", "mock-tfstate.sentinel"),
        ("tfrun", "mock-tfrun.sentinel"),
    ] {
        let text = &files.iter().find(|(name, _)| name == file).unwrap().1;
        assert_eq!(&format(file, text).unwrap(), text, "{file} is not formatted");
        mocked.set_module(name, Arc::new(compile(file, text.as_str()).unwrap()));
    }
    mocked
}

/// What the imports give and what the written mocks give must be the same to every policy.
#[test]
fn mocks_say_what_the_imports_say() {
    let plain = Documents { plan: without_secrets(&documents().plan), ..documents() };
    let mut real = Environment::default();
    for (name, import) in imports(&plain) {
        real.set_import(name, import);
    }
    let mocked = mocked(&plain);
    for expr in [
        "import \"tfplan/v2\" as t ;; [t.resource_changes, t.planned_values, t.variables, t.output_changes, t.raw, t.terraform_version]",
        "import \"tfconfig/v2\" as t ;; [t.resources, t.providers, t.variables, t.outputs, t.module_calls, t.provisioners]",
        "import \"tfconfig/v2\" as t ;; map [\"a[0].b\", \"m[\\\"x.y]\\\"].r\", \"plain\"] as a { t.strip_index(a) }",
        "import \"tfstate/v2\" as t ;; [t.resources, t.outputs, t.terraform_version]",
        "import \"tfplan\" as t ;; [t.resources, t.data, t.path, t.module_paths, t.variables, t.config.resources, t.state.outputs]",
        "import \"tfplan\" as t ;; [t.config.module([]).resources, t.config.module([\"net\", \"deep\"]), t.config.module([\"x\"]), map t.state.module_paths as p { t.state.module(p) }]",
        "import \"tfplan\" as t ;; map t.module_paths as p { t.module(p).resources }",
        "import \"tfplan\" as t ;; t.module([\"nowhere\"])",
        "import \"tfplan\" as t ;; map [t.module, t.config.module, t.state.module] as of { of([1]) }",
        "import \"tfplan\" as t ;; map [t.module, t.config.module, t.state.module] as of { of([undefined]) }",
        "import \"tfplan\" as t ;; [t.module(undefined), t.config.module(undefined), t.state.module(t.none)]",
        "import \"tfconfig\" as t ;; [t.resources, t.module([\"net\", \"deep\"]), t.module([]).providers, t.module([\"x\"])]",
        "import \"tfstate\" as t ;; [t.resources, t.outputs, t.data]",
        "import \"tfrun\" as t ;; [t.id, t.workspace, t.variables, t.organization]",
    ] {
        assert_eq!(result_in(expr, &mocked), result_in(expr, &real), "{expr}");
    }
}

/// A key in an address may hold whatever a string may, quotes and brackets included.
#[test]
fn mocks_strip_indexes_as_the_import_does() {
    let mocked = mocked(&documents());
    for (address, expected) in [
        (r#"module.a[0].t.b["k"]"#, "module.a.t.b"),
        (r#"t.b["x].y["].c"#, "t.b.c"),
        (r#"m["a\"]\\"].r[0]"#, "m.r"),
        (r#"a["c\\"]d[0]e"#, "ade"),
        (r#"a"["]"]"b"#, r#"a""b"#),
        (r"a[\]b", "ab"),
    ] {
        let literal = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let source = format!("import \"tfconfig/v2\" as t ;; t.strip_index({})", literal(address));
        check_in(&source, &literal(expected), &environment());
        check_in(&source, &literal(expected), &mocked);
    }
}

/// Who has a plan alone may yet have policies that look at the name of the workspace.
#[test]
fn a_plan_tells_of_a_run_with_a_refresh_in_some_workspace() {
    let plan = documents().plan;
    let run = Some(sentinel::run_of_plan(&plan));
    check_in(
        "import \"tfrun\" as t ;; [t.refresh, t.refresh_only, t.workspace.name, t.workspace.id]",
        "[true, false, \"workspace\", null]",
        &mocked(&Documents { plan, schemas: None, run }),
    );
}

fn without_secrets(plan: &Data) -> Data {
    Secrets::new(secrets(plan)).mask_data(plan)
}

#[test]
fn mocks_have_a_configuration_and_no_secrets() {
    let files = mocks(&documents()).files;
    let config = &files.iter().find(|(name, _)| name == "sentinel.hcl").unwrap().1;
    assert!(
        config
            .contains("mock \"tfplan/v2\" {\n  module {\n    source = \"mock-tfplan-v2.sentinel\"\n  }\n}\n")
    );
    assert_eq!(sentinel::Config::parse("sentinel.hcl", config).unwrap().mocks.len(), 10);
    for (name, text) in &files {
        for secret in secrets(&documents().plan) {
            assert!(secret.len() < 4 || !text.contains(&secret), "{name} has {secret}");
        }
    }
}
