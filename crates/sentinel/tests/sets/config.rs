//! Configuration files.

use sentinel::{Config, Data, EnforcementLevel, ErrorKind, ImportConfig, Mock, load_config};

use crate::config_overrides::overridden;
use crate::support::MemFiles;

pub(crate) fn hcl(text: &str) -> Config {
    Config::parse("sentinel.hcl", text).unwrap()
}

pub(crate) fn refused(text: &str) -> String {
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
        "2:3: the `data` of a mock is not a block, but a value"
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
fn a_folder_without_a_configuration_is_no_set() {
    let files = MemFiles::new(&[("p.sentinel", "main = true")]);
    assert!(load_config(&files, "").unwrap_err().message().contains("there is no sentinel.hcl"));
    assert!(load_config(&files, "../up").is_err());
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
