//! Override files.

use sentinel::{Config, Data, EnforcementLevel, ImportConfig, load_config};

use crate::support::MemFiles;

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
fn override_files_cannot_define_anything() {
    let files = MemFiles::new(&[("sentinel.hcl", "policy \"a\" {}"), ("override.hcl", "policy \"b\" {}")]);
    assert!(load_config(&files, "").unwrap_err().message().contains("can only change what is defined"));
}

pub(crate) fn overridden(first: &str, change: &str) -> Result<Config, sentinel::Error> {
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
