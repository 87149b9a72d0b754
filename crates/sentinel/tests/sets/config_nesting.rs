//! What a configuration file may not be: nested without end, or with more than people write.

use sentinel::{Config, Data};

use crate::config::hcl;

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

/// A parser of expressions may take twice as long for each.
#[test]
fn operators_are_refused_however_many_brackets_stand_behind_them() {
    for operator in ["/", "-", " - ", "==", " && ", "+", "*", " - /* x */ "] {
        for (opening, closing) in [("(", ")"), ("[", "]"), ("{a=", "}")] {
            let opened = format!("1{operator}2{operator}{opening}").repeat(1_000);
            let error =
                Config::parse("s.hcl", &format!("p = {opened}a{}", closing.repeat(1_000))).unwrap_err();
            assert_eq!(error.message(), "an operator cannot be used here: the value must be a constant");
            assert_eq!(error.place().unwrap().position.column, 5);
            let error = Config::parse("s.hcl", &format!("p = {opened}a!*")).unwrap_err();
            assert!(error.message().contains("is not closed"), "{opened}: {}", error.message());
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
fn a_number_is_exact_or_refused() {
    for (text, expected) in [
        ("9223372036854775807", Data::Int(i64::MAX)),
        ("-9223372036854775808", Data::Int(i64::MIN)),
        ("9223372036854775808", Data::Float(9_223_372_036_854_775_808.0)),
        ("1.50", Data::Float(1.5)),
        ("0.1", Data::Float(0.1)),
        ("1e3", Data::Int(1000)),
    ] {
        assert_eq!(value_of(text), expected, "{text}");
    }
    for text in
        ["9223372036854775809", "18446744073709551615", "12345678901234567890123", "0.12345678901234567891"]
    {
        let error = Config::parse("s.hcl", &format!("param \"p\" {{\n  value = [{text}]\n}}")).unwrap_err();
        assert_eq!(error.to_string(), "s.hcl:2:12: this number has more digits than can be kept", "{text}");
    }
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
