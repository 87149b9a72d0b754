//! Configuration files.

use sentinel::{Config, Data, EnforcementLevel, ErrorKind, ImportConfig, Mock, load_config};

use crate::support::MemFiles;

fn hcl(text: &str) -> Config {
    Config::parse("sentinel.hcl", text).unwrap()
}

fn refused(text: &str) -> String {
    Config::parse("sentinel.hcl", text).unwrap_err().to_string()
}

#[test]
fn a_policy_has_a_source_a_level_and_params() {
    let config = hcl(r#"
        policy "a" {
          source            = "./policies/a.sentinel"
          enforcement_level = "hard-mandatory"
          params = {
            "limit" = 3
            names   = ["x", "y"]
          }
        }
        policy "b" {}
    "#);
    let [a, b] = &config.policies[..] else { panic!("two policies") };
    assert_eq!(a.source, "./policies/a.sentinel");
    assert_eq!(a.enforcement_level, EnforcementLevel::HardMandatory);
    assert_eq!(a.params[0], ("limit".to_owned(), Data::Int(3)));
    assert_eq!(a.params[1].1, Data::list(["x".into(), "y".into()]));
    assert_eq!((b.source.as_str(), b.enforcement_level), ("b.sentinel", EnforcementLevel::Advisory));
}

#[test]
fn an_unknown_level_is_refused_with_its_place() {
    let message = refused("policy \"a\" {\n  enforcement_level = \"strict\"\n}");
    assert_eq!(message, "sentinel.hcl:2:3: unknown enforcement level");
}

#[test]
fn imports_have_three_kinds() {
    let config = hcl(r#"
        import "module" "m" { source = "m.sentinel" }
        import "static" "s" {
          source = "s.json"
          format = "json"
        }
        import "plugin" "time" { config = { "timezone": "Australia/Brisbane" } }
        module "old" { source = "old.sentinel" }
    "#);
    let names: Vec<&str> = config.imports.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["m", "s", "time", "old"]);
    assert!(matches!(&config.imports[0].1, ImportConfig::Module { source } if source == "m.sentinel"));
    assert!(matches!(&config.imports[1].1, ImportConfig::Static { source } if source == "s.json"));
    assert!(matches!(&config.imports[2].1, ImportConfig::Plugin { source: None, .. }));
    assert!(matches!(&config.imports[3].1, ImportConfig::Module { .. }));
}

#[test]
fn a_static_import_must_be_json() {
    assert!(
        refused("import \"static\" \"s\" {\n source = \"s\"\n format = \"yaml\"\n}")
            .contains("the format `yaml` is unknown")
    );
}

#[test]
fn a_standard_import_cannot_be_replaced_but_mocked() {
    assert!(refused("module \"time\" { source = \"t.sentinel\" }").contains("`time` is a standard import"));
    assert!(
        refused("import \"module\" \"strings\" { source = \"t.sentinel\" }").contains("cannot be replaced")
    );
    let config = hcl("mock \"time\" {\n  module {\n    source = \"t.sentinel\"\n  }\n}");
    assert!(matches!(&config.mocks[0].1, Mock::Module { source } if source == "t.sentinel"));
}

#[test]
fn a_mock_is_a_module_or_data() {
    let config = hcl(r#"
        mock "time" {
          data = {
            now = {
              hour   = 9
              minute = -4.5
              names  = [true, null]
            }
          }
        }
    "#);
    let Mock::Data(data) = &config.mocks[0].1 else { panic!("data") };
    assert_eq!(format!("{data:?}"), "{\"now\": {\"hour\": 9, \"minute\": -4.5, \"names\": [true, null]}}");
    assert!(refused("mock \"x\" {}").contains("needs `data` or a `module` block"));
}

#[test]
fn params_globals_and_tests() {
    let config = hcl(r#"
        param "p" { value = "x" }
        global "g" { value = { "a" = 1 } }
        test { rules = { main = false, days = [] } }
        sentinel { features = { terraform = true } }
    "#);
    assert_eq!(config.params, [("p".to_owned(), "x".into())]);
    assert_eq!(config.globals[0].1, Data::map([("a", Data::Int(1))]));
    let test = config.test.unwrap();
    assert!(
        test.contains(&("main".to_owned(), Data::Bool(false)))
            && test.contains(&("days".to_owned(), Data::list([])))
    );
    assert!(config.sentinel.is_some());
}

#[test]
fn rules_of_a_test_may_be_a_block() {
    let config = hcl("test {\n  rules {\n    main = true\n  }\n}");
    assert_eq!(config.test.unwrap(), [("main".to_owned(), Data::Bool(true))]);
}

#[test]
fn values_must_be_constant() {
    assert!(refused("param \"p\" { value = var.x }").contains("must be a constant"));
    assert!(refused("param \"p\" { value = upper(\"x\") }").contains("a function cannot be used here"));
    assert!(refused("param \"p\" { value = \"a${b}\" }").contains("an interpolation cannot be used here"));
    let config = hcl("param \"p\" {\n  value = <<EOT\na\nb\nEOT\n}");
    assert_eq!(config.params[0].1, "a\nb\n".into());
}

#[test]
fn blocks_inside_of_blocks_are_known_and_there_once() {
    let place = |text: &str| refused(text).replace("sentinel.hcl:", "");
    assert_eq!(place("test {\n  rule {}\n}"), "2:3: a `test` block has no `rule`");
    assert_eq!(place("policy \"a\" {\n  param {}\n}"), "2:3: a `policy` block has no `param`");
    assert_eq!(place("mock \"a\" {\n  modul {}\n}"), "2:3: a `mock` block has no `modul`");
    assert_eq!(place("param \"a\" {\n  value = 1\n  x {}\n}"), "3:3: a `param` block has no `x`");
    assert_eq!(place("module \"a\" {\n  source = \"x\"\n  y = 1\n}"), "3:3: a `module` block has no `y`");
    let twice = "mock \"a\" {\n  module {\n    source = \"x\"\n  }\n  module {\n    source = \"y\"\n  }\n}";
    assert_eq!(place(twice), "5:3: `module` is set twice");
    let both = "mock \"a\" {\n  data = {}\n  module {\n    source = \"x\"\n  }\n}";
    assert_eq!(place(both), "2:3: a `mock` block has `data` or `module`, not both");
    assert_eq!(
        place("mock \"a\" {\n  data {\n    x = 1\n  }\n}"),
        "2:3: the `data` of a mock is no block, but a value"
    );
    let other = "mock \"a\" {\n  module {\n    source = \"x\"\n    data = {}\n  }\n}";
    assert_eq!(place(other), "4:5: a `module` block has no `data`");
    let number = "mock \"a\" {\n  module = { source = 1 }\n}";
    assert_eq!(place(number), "2:3: `module` must be a map with a `source`, a string");
    assert_eq!(
        place("policy \"a\" {\n  params {\n    x {}\n  }\n}"),
        "3:5: `params` holds values, not blocks"
    );
    assert_eq!(place("test {}\ntest {}"), "2:1: there are two `test` blocks");
    assert_eq!(
        place("param \"a\" { value = 1 }\nparam \"a\" { value = 2 }"),
        "2:1: the param `a` is defined twice"
    );
    assert_eq!(
        place("global \"a\" { value = 1 }\nglobal \"a\" { value = 2 }"),
        "2:1: the global `a` is defined twice"
    );
    assert_eq!(
        place("mock \"a\" { data = {} }\nmock \"a\" { data = {} }"),
        "2:1: the mock `a` is defined twice"
    );
    assert_eq!(place("sentinel {}\nsentinel {}"), "2:1: there are two `sentinel` blocks");
    assert_eq!(place("sentinel \"a\" {}"), "1:1: a `sentinel` block has no label");
}

#[test]
fn blocks_of_the_settings_are_read_too() {
    let config = hcl("sentinel {\n  a = 1\n  features {\n    terraform = true\n  }\n}");
    let features = Data::map([("terraform", Data::Bool(true))]);
    assert_eq!(config.sentinel.unwrap(), Data::map([("a", Data::Int(1)), ("features", features)]));
}

#[test]
fn settings_that_nobody_knows_are_warned_about() {
    let warnings = |text: &str| hcl(text).unknown_settings();
    assert!(
        warnings("sentinel {\n  features = {\n    apply-all = true\n    terraform = true\n  }\n}").is_empty()
    );
    assert_eq!(
        warnings("sentinel {\n  feature = {}\n  features = { apply_all = true }\n}"),
        [
            "the setting `feature` of the `sentinel` block is unknown and has no effect",
            "the feature `apply_all` of the `sentinel` block is unknown and has no effect",
        ]
    );
    let changed = overridden("sentinel {}", "sentinel {\n  x = 1\n}").unwrap();
    assert_eq!(changed.unknown_settings().len(), 1);
}

/// A line break in one could forge lines of a log.
#[test]
fn names_have_no_control_characters() {
    let why = "has a control character, and must have none";
    for block in
        ["policy \"a\\nb\" {}", "mock \"a\\tb\" {\n data = 1\n}", "import \"plugin\" \"a\\u001bb\" {}"]
    {
        let message = refused(block);
        assert!(message.starts_with("sentinel.hcl:1:1: the name ") && message.contains(why), "{message}");
        assert!(!message.contains(char::is_control));
    }
    for text in ["{\"policy\": {\"a\\nb\": {}}}", "{\"modules\": {\"a\\nb\": {\"path\": \"x\"}}}"] {
        let error = Config::parse("sentinel.json", text).unwrap_err();
        assert_eq!(error.message(), format!("the name \"a\\nb\" {why}"));
    }
}

#[test]
fn a_mark_at_the_start_of_a_file_is_no_part_of_it() {
    let config = Config::parse("sentinel.hcl", "\u{feff}policy \"a\" {}").unwrap();
    assert_eq!(config.policies.len(), 1);
    assert_eq!(Config::parse("c.json", "\u{feff}{\"param\": {\"p\": 1}}").unwrap().params.len(), 1);
    let files = MemFiles::new(&[
        ("sentinel.hcl", "\u{feff}policy \"a\" {}"),
        ("override.hcl", "\u{feff}policy \"a\" {\n  x = 1\n}"),
    ]);
    assert_eq!(
        load_config(&files, "").unwrap_err().to_string(),
        "override.hcl:2:3: a `policy` block has no `x`"
    );
}

/// The reference reads the one and says nothing of the other.
#[test]
fn json_beside_hcl_is_warned_about_since_it_is_not_read() {
    let warning = |hcl| format!("sentinel.json is not read beside {hcl}; what it says has no effect");
    for hcl in ["sentinel.hcl", "other.hcl"] {
        let files = MemFiles::new(&[(hcl, "policy \"a\" {}"), ("sentinel.json", "broken")]);
        let config = load_config(&files, "").unwrap();
        assert_eq!((config.policies.len(), config.warnings), (1, vec![warning(hcl)]));
    }
    let files = MemFiles::new(&[("sentinel.hcl", "policy \"a\" {}"), ("sentinel.json", "{}")]);
    let set = sentinel::PolicySet::load(&files, "").unwrap();
    assert_eq!(set.warnings(), [warning("sentinel.hcl")]);
    let files = MemFiles::new(&[("sentinel.json", "{\"policy\": {\"a\": {}}}"), (".tflint.hcl", "x")]);
    let config = load_config(&files, "").unwrap();
    assert_eq!((config.policies.len(), config.warnings.len()), (1, 0));
}

#[test]
fn json_that_is_no_object_where_one_belongs_is_refused() {
    for text in ["{\"param\": 5}", "{\"mock\": \"x\"}", "{\"policy\": {\"a\": 1}}", "{\"modules\": 1}"] {
        let message = Config::parse("sentinel.json", text).unwrap_err().to_string();
        assert!(message.contains("must be an object"), "{text}: {message}");
    }
}

#[test]
fn mistakes_are_refused_with_a_hint() {
    assert!(refused("polices \"a\" {}").contains("unknown block `polices`"));
    let error = Config::parse("s.hcl", "policy \"a\" {\n  sorce = \"x\"\n}").unwrap_err();
    assert_eq!(error.to_string(), "s.hcl:2:3: a `policy` block has no `sorce`");
    assert_eq!(error.notes(), ["did you mean `source`?"]);
    assert!(refused("policy \"a\" {}\npolicy \"a\" {}").contains("defined twice"));
    assert!(refused("policy {}").contains("has one label"));
    assert!(refused("policy \"a\" { source = 5 }").contains("`source` must be a string"));
    assert!(refused("module \"m\" {}").contains("needs `source`"));
    assert!(refused("x = 1").contains("cannot stand at the top"));
    let error = Config::parse("s.hcl", "policy \"a\" {\n  source = \n}").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(error.place().unwrap().position.line, 2);
}

#[test]
fn plugins_that_are_programs_are_warned_about() {
    let config = hcl("import \"plugin\" \"p\" { source = \"/bin/p\" }");
    assert!(config.warnings[0].contains("programs are not run"));
}

#[test]
fn json_mirrors_hcl() {
    let config = Config::parse(
        "sentinel.json",
        r#"{
            "policy": {"a": {"source": "a.sentinel", "enforcement_level": "soft-mandatory"}},
            "import": {"module": {"m": {"source": "m.sentinel"}}},
            "mock": {"time": {"module": {"source": "t.sentinel"}}, "x": {"data": {"y": 1}}},
            "param": {"p": {"value": 3}},
            "test": {"rules": {"main": true}}
        }"#,
    )
    .unwrap();
    assert!(!config.legacy);
    assert_eq!(config.policies[0].enforcement_level, EnforcementLevel::SoftMandatory);
    assert!(matches!(&config.imports[0].1, ImportConfig::Module { source } if source == "m.sentinel"));
    assert_eq!(config.mocks.len(), 2);
    assert_eq!(config.params, [("p".to_owned(), Data::Int(3))]);
    assert_eq!(config.test.unwrap(), [("main".to_owned(), Data::Bool(true))]);
}

#[test]
fn json_of_before_0_16() {
    let config = Config::parse(
        "case.json",
        r#"{
            "mock": {"tfplan": "mock.sentinel", "time": {"now": {"hour": 9}}},
            "modules": {"m": {"path": "m.sentinel"}},
            "param": {"p": 3},
            "global": {"g": "x"},
            "test": {"main": false}
        }"#,
    )
    .unwrap();
    assert!(config.legacy);
    assert!(matches!(&config.mocks[0].1, Mock::Module { source } if source == "mock.sentinel"));
    assert!(matches!(&config.mocks[1].1, Mock::Data(_)));
    assert!(matches!(&config.imports[0].1, ImportConfig::Module { source } if source == "m.sentinel"));
    assert_eq!(config.params[0].1, Data::Int(3));
    assert_eq!(config.test.unwrap(), [("main".to_owned(), Data::Bool(false))]);
}

/// One bare value would make the module of a mock the data that it stands in with.
#[test]
fn json_of_two_forms_is_refused() {
    for (text, what) in [
        (r#"{"mock": {"m": {"module": {"source": "m.sentinel"}}}, "param": {"p": 5}}"#, "the mock `m`"),
        (r#"{"mock": {"m": {"module": "m.sentinel"}}, "test": {"main": false}}"#, "the mock `m`"),
        (r#"{"mock": {"m": "m.sentinel"}, "param": {"p": {"value": 5}}}"#, "the param `p`"),
        (r#"{"mock": {"m": "m.sentinel"}, "global": {"g": {"value": 5}}}"#, "the global `g`"),
        (r#"{"mock": {"m": "m.sentinel"}, "test": {"rules": {"main": false}}}"#, "the test"),
    ] {
        let error = Config::parse("case.json", text).unwrap_err();
        assert_eq!(
            error.message(),
            format!("{what} is of the form of 0.16 and later, and other parts of the file of the one before")
        );
    }
}

/// Imports have members of that name, such as `tfconfig`, and in this form a mock is the import itself.
#[test]
fn data_of_a_mock_of_before_0_16_is_a_member_with_a_warning() {
    let text = r#"{"mock": {"m": {"data": {"x": 1}}}, "test": {"main": false}}"#;
    let config = Config::parse("case.json", text).unwrap();
    let Mock::Data(mock) = &config.mocks[0].1 else { panic!("data") };
    assert_eq!(format!("{mock:?}"), r#"{"data": {"x": 1}}"#);
    let [warning] = &config.warnings[..] else { panic!("one warning: {:?}", config.warnings) };
    assert!(warning.contains("`data` of the mock `m` is a member of the import"), "{warning}");
    let later = r#"{"mock": {"m": {"data": {"x": 1}}}, "test": {"rules": {"main": false}}}"#;
    assert!(Config::parse("case.json", later).unwrap().warnings.is_empty());
}

#[test]
fn a_key_of_two_slashes_in_json_is_a_comment() {
    let config = Config::parse(
        "sentinel.json",
        r#"{
            "//": "all",
            "policy": {"//": "first", "a": {"//": "why", "params": {"//": "a value"}}},
            "import": {"module": {"//": "x", "m": {"//": "x", "source": "m.sentinel"}}},
            "mock": {"x": {"//": "x", "data": {"//": 1}}},
            "param": {"p": {"//": "x", "value": 3}},
            "test": {"//": "x", "rules": {"main": true}}
        }"#,
    )
    .unwrap();
    assert!(!config.legacy);
    assert_eq!((config.policies.len(), config.imports.len(), config.params.len()), (1, 1, 1));
    assert_eq!(config.policies[0].params, [("//".to_owned(), "a value".into())]);
    assert!(matches!(&config.mocks[0].1, Mock::Data(data) if data.get("//").is_some()));
    let old = Config::parse("c.json", r#"{"//": "x", "param": {"//": "y", "p": 3}}"#).unwrap();
    assert_eq!(old.params, [("p".to_owned(), Data::Int(3))]);
}

#[test]
fn broken_json_is_refused_with_its_place() {
    let error = Config::parse("case.json", "{\n  \"mock\": \n}").unwrap_err();
    assert_eq!(error.place().unwrap().position.line, 3);
}

#[test]
fn all_hcl_files_of_a_folder_are_one_configuration() {
    let files = MemFiles::new(&[
        ("set/sentinel.hcl", "policy \"a\" {}"),
        ("set/more.hcl", "policy \"b\" {}\nparam \"p\" { value = 1 }"),
        ("set/notes.txt", "not read"),
    ]);
    let config = load_config(&files, "set").unwrap();
    let mut names: Vec<&str> = config.policies.iter().map(|policy| policy.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(config.params.len(), 1);
}

#[test]
fn hidden_files_are_no_part_of_a_configuration() {
    let files = MemFiles::new(&[
        ("sentinel.hcl", "policy \"a\" {}"),
        (".terraform.lock.hcl", "provider {"),
        (".a_override.hcl", "policy \"b\" {}"),
    ]);
    assert_eq!(load_config(&files, "").unwrap().policies.len(), 1);
}

#[test]
fn a_policy_in_two_files_is_refused() {
    let files = MemFiles::new(&[("a.hcl", "policy \"a\" {}"), ("b.hcl", "policy \"a\" {}")]);
    assert!(load_config(&files, "").unwrap_err().message().contains("defined in two files"));
}

#[test]
fn override_files_change_what_is_defined() {
    let files = MemFiles::new(&[
        (
            "sentinel.hcl",
            "policy \"main\" {\n source = \"./main.sentinel\"\n enforcement_level = \"advisory\"\n}\nparam \"p\" { value = 1 }",
        ),
        ("a_override.hcl", "policy \"main\" { enforcement_level = \"soft-mandatory\" }"),
        ("override.hcl", "param \"p\" { value = 2 }"),
    ]);
    let config = load_config(&files, "").unwrap();
    assert_eq!(config.policies[0].source, "./main.sentinel");
    assert_eq!(config.policies[0].enforcement_level, EnforcementLevel::SoftMandatory);
    assert_eq!(config.params[0].1, Data::Int(2));
}

#[test]
fn an_override_file_is_as_strict_as_the_file_it_changes() {
    for (text, message) in [
        ("x = 1", "`x` cannot stand at the top of the file"),
        ("test {}\ntest {}", "there are two `test` blocks"),
        ("policy \"a\" {\n x {}\n}", "a `policy` block has no `x`"),
        ("policy \"a\" {}\npolicy \"a\" {}", "the policy `a` is defined twice"),
        ("module \"time\" { source = \"x\" }", "`time` is a standard import, which cannot be replaced"),
        (
            "import \"plugin\" \"time\" { config = { zone = \"UTC\" } }",
            "the import `time` has no setting `zone`",
        ),
    ] {
        let first = "policy \"a\" {}\nimport \"plugin\" \"time\" { config = {} }";
        let files = MemFiles::new(&[("sentinel.hcl", first), ("override.hcl", text)]);
        let error = load_config(&files, "").unwrap_err();
        assert_eq!(error.message(), message, "{text}");
    }
}

#[test]
fn settings_of_standard_imports_are_known() {
    let of = |import: &str, config: &str| {
        Config::parse("s.hcl", &format!("import \"plugin\" \"{import}\" {{ config = {{ {config} }} }}"))
    };
    for (import, config) in [
        ("time", "timezone = \"UTC\""),
        ("time", "fixed_time = 5"),
        ("time", "fixed_time = \"2020-01-01T00:00:00Z\""),
        ("http", "proxy_address = \"http://127.0.0.1\""),
        ("strings", ""),
    ] {
        assert!(of(import, config).is_ok(), "{import} {config}");
    }
    for (import, config, message, note) in [
        (
            "time",
            "timezon = \"UTC\"",
            "the import `time` has no setting `timezon`",
            "did you mean `timezone`?",
        ),
        ("http", "port = 5", "the import `http` has no setting `port`", "known are proxy_address"),
        ("strings", "a = 5", "the import `strings` has no setting `a`", "it has none"),
        ("time", "timezone = 5", "the setting `timezone` must be a string", ""),
        ("http", "proxy_address = 5", "the setting `proxy_address` must be a string", ""),
    ] {
        let error = of(import, config).unwrap_err();
        assert_eq!(error.to_string(), format!("s.hcl:1:1: {message}"));
        assert_eq!(error.notes().first().map_or("", String::as_str), note, "{import} {config}");
    }
    let json = "{\"imports\": {\"time\": {\"config\": {\"zone\": \"UTC\"}}}, \"mock\": {\"x\": \"y\"}}";
    assert!(Config::parse("s.json", json).unwrap_err().message().contains("has no setting `zone`"));
}

#[test]
fn settings_of_the_terraform_imports_are_known() {
    let of = |import: &str, config: &str| {
        Config::parse("s.hcl", &format!("import \"plugin\" \"{import}\" {{\n  {config}\n}}"))
    };
    for config in ["config = {}", "config = { plan_path = \"p.json\", schemas_path = \"s.json\" }"] {
        assert!(of("tfplan", config).is_ok(), "{config}");
    }
    for (import, config, message) in [
        ("tfplan/v2", "config = { plan = \"p\" }", "the import `tfplan/v2` has no setting `plan`"),
        ("tfstate", "config {\n plan_pth = \"p\"\n}", "the import `tfstate` has no setting `plan_pth`"),
        ("tfrun", "config = { plan_path = \"p\" }", "the import `tfrun` has no setting `plan_path`"),
        (
            "tfconfig",
            "config = { plan_path = 5 }",
            "the setting `plan_path` must be a string, the path of a file",
        ),
        (
            "tfplan",
            "config = { schemas_path = \"s\" }",
            "the import `tfplan` needs `plan_path`, the path of a plan",
        ),
    ] {
        assert_eq!(of(import, config).unwrap_err().to_string(), format!("s.hcl:2:3: {message}"));
    }
    let json = "{\"imports\": {\"tfplan\": {\"config\": {\"plan\": \"p\"}}}, \"mock\": {\"x\": \"y\"}}";
    assert!(Config::parse("s.json", json).unwrap_err().message().contains("has no setting `plan`"));
}

#[test]
fn override_files_cannot_define_anything() {
    let files = MemFiles::new(&[("sentinel.hcl", "policy \"a\" {}"), ("override.hcl", "policy \"b\" {}")]);
    assert!(load_config(&files, "").unwrap_err().message().contains("can only change what is defined"));
}

fn overridden(first: &str, change: &str) -> Result<Config, sentinel::Error> {
    load_config(&MemFiles::new(&[("sentinel.hcl", first), ("override.hcl", change)]), "")
}

/// "An attribute argument within an override block replaces any argument of the same name."
#[test]
fn an_override_replaces_arguments_as_a_whole() {
    let first = "policy \"a\" {\n  source = \"x.sentinel\"\n  params = { m = 1, n = 2 }\n}";
    for change in ["params = { n = 3 }", "params {\n    n = 3\n  }"] {
        let config = overridden(first, &format!("policy \"a\" {{\n  {change}\n}}")).unwrap();
        assert_eq!(config.policies[0].params, [("n".to_owned(), Data::Int(3))]);
        assert_eq!(config.policies[0].source, "x.sentinel");
    }
    let first = "import \"static\" \"s\" {\n  source = \"s.json\"\n  format = \"json\"\n}";
    let change = |text: &str| overridden(first, &format!("import \"static\" \"s\" {{\n  {text}\n}}"));
    let config = change("source = \"t.json\"").unwrap();
    assert!(matches!(&config.imports[0].1, ImportConfig::Static { source } if source == "t.json"));
    let config = change("format = \"json\"").unwrap();
    assert!(matches!(&config.imports[0].1, ImportConfig::Static { source } if source == "s.json"));
    assert!(change("format = \"yaml\"").unwrap_err().message().contains("the format `yaml` is unknown"));
    let first = "import \"plugin\" \"time\" { config = { timezone = \"UTC\" } }";
    let config = overridden(first, "import \"plugin\" \"time\" { config = { fixed_time = 5 } }").unwrap();
    let ImportConfig::Plugin { config, .. } = &config.imports[0].1 else { panic!("a plugin") };
    assert_eq!(*config, Data::map([("fixed_time", Data::Int(5))]));
}

/// Blocks are the same when type and labels are.
#[test]
fn an_override_of_a_block_with_another_header_is_refused() {
    for (first, change) in [
        (
            "import \"module\" \"x\" { source = \"a\" }",
            "import \"static\" \"x\" {\n source = \"b\"\n format = \"json\"\n}",
        ),
        ("import \"module\" \"x\" { source = \"a\" }", "module \"x\" { source = \"b\" }"),
        ("import \"plugin\" \"x\" {}", "import \"module\" \"x\" { source = \"b\" }"),
        ("mock \"x\" { data = 1 }", "module \"x\" { source = \"b\" }"),
        ("param \"x\" { value = 1 }", "global \"x\" { value = 1 }"),
        ("policy \"x\" {}", "sentinel {}"),
    ] {
        let error = overridden(first, change).unwrap_err();
        assert_eq!(
            error.to_string(),
            "override.hcl:1:1: an override file can only change what is defined already"
        );
    }
    assert!(overridden("sentinel {}", "sentinel {}").is_ok());
    assert!(overridden("policy \"x\" {}", "test { rules = { main = true } }").is_ok());
    let files = MemFiles::new(&[
        ("sentinel.json", "{\"modules\": {\"m\": {\"path\": \"a\"}}, \"param\": {\"p\": 1}}"),
        ("override.json", "{\"module\": {\"m\": {\"source\": \"b\"}}, \"param\": {\"p\": {\"value\": 2}}}"),
    ]);
    assert_eq!(load_config(&files, "").unwrap().params, [("p".to_owned(), Data::Int(2))]);
}

#[test]
fn a_folder_without_a_configuration_is_no_set() {
    let files = MemFiles::new(&[("p.sentinel", "main = true")]);
    assert!(load_config(&files, "").unwrap_err().message().contains("there is no sentinel.hcl"));
    assert!(load_config(&files, "../up").is_err());
}

#[test]
fn a_file_that_is_nested_without_end_is_refused() {
    for nest in ["[", "(", "{ a = ", "\"${"] {
        let text = format!("param \"p\" {{\n  value = {}", nest.repeat(100_000));
        assert!(Config::parse("s.hcl", &text).unwrap_err().message().contains("nested more than"), "{nest}");
    }
    let blocks = "a {\n".repeat(100_000);
    assert!(Config::parse("s.hcl", &blocks).is_err());
    let heredoc = format!("param \"p\" {{\n  value = <<E\n${{{}\nE\n}}", "[".repeat(100_000));
    assert!(Config::parse("s.hcl", &heredoc).is_err());
    assert!(Config::parse("s.json", &"[".repeat(100_000)).is_err());
    let signs = format!("param \"p\" {{\n  value = {}1\n}}", "!".repeat(100_000));
    assert!(Config::parse("s.hcl", &signs).is_err());
    let conditions = format!("param \"p\" {{\n  value = {}1\n}}", "true ? 1 : ".repeat(95_000));
    assert!(Config::parse("s.hcl", &conditions).is_err());
}

/// The parser takes twice as long for each: thirty would take longer than anybody waits.
#[test]
fn brackets_behind_operators_are_refused_before_they_are_parsed() {
    for operator in ["/", "-", " - ", "==", " && ", "+", "*", " - /* x */ "] {
        for opening in ["(", "[", "{a="] {
            let text = format!("p = {}a!*", format!("1{operator}2{operator}{opening}").repeat(30));
            let error = Config::parse("s.hcl", &text).unwrap_err();
            assert!(
                error.message().contains("an operator cannot be used here"),
                "{text}: {}",
                error.message()
            );
        }
    }
}

#[test]
fn brackets_in_strings_and_comments_are_not_nesting() {
    let text =
        format!("# {0}\nparam \"p\" {{\n  value = \"{0} \\\" {0}\" // {0}\n}}\n/* {0} */", "[".repeat(200));
    assert_eq!(hcl(&text).params.len(), 1);
    let text = "param \"p\" {\n  value = <<-EOT\n  [[[ \" $${x}\n  EOT\n}";
    assert_eq!(hcl(text).params.len(), 1);
}

/// Published sets have such keys, and the reference runs them.
#[test]
fn the_later_of_two_equal_keys_of_an_object_counts() {
    let config = hcl(
        "policy \"a\" {\n  params = {\n    x = 1\n    y = 2\n    x = 3\n    \"y\" = 4\n    x = 5\n  }\n}",
    );
    let mut params = config.policies[0].params.clone();
    params.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(params, [("x".to_owned(), Data::Int(5)), ("y".to_owned(), Data::Int(4))]);
    // an attribute of a block is another matter
    assert!(Config::parse("s.hcl", "policy \"a\" {\n source = \"x\"\n source = \"y\"\n}").is_err());
}

#[test]
fn what_a_configuration_has_once_is_not_in_two_of_its_files() {
    for (text, what) in [
        ("test {}", "a `test` block"),
        ("sentinel {}", "a `sentinel` block"),
        ("policy \"a\" {}", "the policy `a`"),
        ("param \"a\" { value = 1 }", "the param `a`"),
        ("global \"a\" { value = 1 }", "the global `a`"),
        ("mock \"a\" { data = {} }", "the mock `a`"),
        ("module \"a\" { source = \"x\" }", "the import `a`"),
    ] {
        let error =
            load_config(&MemFiles::new(&[("sentinel.hcl", text), ("other.hcl", text)]), "").unwrap_err();
        assert!(error.message().contains(what) && error.message().contains("two files"), "{error}");
    }
}

fn value_of(text: &str) -> Data {
    Config::parse("s.hcl", &format!("param \"p\" {{\n  value = {text}\n}}")).unwrap().params[0].1.clone()
}

#[test]
fn of_two_equal_keys_of_an_object_the_later_one_counts() {
    for (text, expected) in [
        ("{ a = 1, a = 2 }", vec![("a", 2)]),
        ("{\n a = 1 # one\n b = 3\n a = 2 // two\n}", vec![("a", 2), ("b", 3)]),
        ("{ \"a b\" = 1, \"a b\" = 2, \"a b\" = 3 }", vec![("a b", 3)]),
        ("{ \"a\": 1, \"b\": 2, \"a\": 3 }", vec![("a", 3), ("b", 2)]),
        ("{\n /* one */ a = 1\n /* two */ a = 2\n}", vec![("a", 2)]),
        ("{ repeated_key_a = 1, b = 2, b = 3 }", vec![("b", 3), ("repeated_key_a", 1)]),
        ("{ repeated_key_0_a = 1 }", vec![("repeated_key_0_a", 1)]),
    ] {
        let expected = Data::map(expected.into_iter().map(|(key, value)| (key, Data::Int(value))));
        assert_eq!(value_of(text), expected, "{text}");
    }
    let nested =
        "[{ a = { b = 1, b = 2 }, c = { b = 3 } }, { a = \"a = 1, a = 2\", d = <<E\n a = 1\n a = 2\nE\n }]";
    assert_eq!(
        format!("{:?}", value_of(nested)),
        r#"[{"a": {"b": 2}, "c": {"b": 3}}, {"a": "a = 1, a = 2", "d": " a = 1\n a = 2\n"}]"#
    );
    assert!(Config::parse("s.hcl", "param \"p\" {\n value = 1\n value = 2\n}").is_err());
}

#[test]
fn an_error_after_repeated_keys_is_at_its_place() {
    let text = "param \"p\" {\n  value = { a = 1, a = 2, a = 3, b = c }\n}";
    let place = Config::parse("s.hcl", text).unwrap_err().place().unwrap().clone();
    assert_eq!((place.position.line, place.position.column), (2, 38));
}

#[test]
fn a_file_with_thousands_of_repeated_keys_is_read_in_one_pass() {
    let keys: String = (0..1_900).map(|at| format!("k{} = {at}\n", at % 100)).collect();
    assert_eq!(value_of(&format!("{{\n{keys}}}")).entries().len(), 100);
}

#[test]
fn a_configuration_is_of_a_size_that_people_write() {
    let message = |text: &str| Config::parse("s.hcl", text).unwrap_err().message().to_owned();
    let keys: String = (0..20_000).map(|at| format!("k{at} = 1\n")).collect();
    assert!(message(&format!("param \"p\" {{\n value = {{\n{keys}}}\n}}")).contains("at most 2000 members"));
    assert!(message(&format!("sentinel {{\n{keys}}}")).contains("at most 2000 members"));
    assert!(message(&"# nothing\n".repeat(200_000)).contains("more than 1048576 bytes"));
    let blocks: String = (0..11_000).map(|at| format!("policy \"{at}\" {{}}\n")).collect();
    assert!(message(&blocks).contains("more than 10000 blocks"));
}
