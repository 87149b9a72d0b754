//! Configuration files in JSON, of both forms.

use sentinel::{Config, Data, EnforcementLevel, ImportConfig, Mock};

#[test]
fn json_that_is_no_object_where_one_belongs_is_refused() {
    for text in ["{\"param\": 5}", "{\"mock\": \"x\"}", "{\"policy\": {\"a\": 1}}", "{\"modules\": 1}"] {
        let message = Config::parse("sentinel.json", text).unwrap_err().to_string();
        assert!(message.contains("must be an object"), "{text}: {message}");
    }
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
