use super::*;

fn of(files: &[(&str, &str)]) -> Result<Keeping, Error> {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(root.path().join(name), text).unwrap();
    }
    keeping(root.path(), &terraform_files(root.path()).unwrap())
}

fn backend(kind: &str) -> Keeping {
    Keeping::Backend(kind.to_owned())
}

fn instead(of: Instead) -> Keeping {
    Keeping::DaemonInstead { of, file: OVERRIDE_NAME.into() }
}

fn local(path: &str) -> Keeping {
    instead(Instead::Local(Some(path.to_owned())))
}

const CLOUD: Instead = Instead::Cloud;
const REMOTE: Instead = Instead::Remote;
const LOCAL: Instead = Instead::Local(None);

#[test]
fn the_native_syntax_is_read_as_terraform_reads_it() {
    let table = [
        ("", Keeping::Daemon),
        ("terraform {}\n", Keeping::Daemon),
        ("terraform {\n  required_version = \">= 1\"\n}\n", Keeping::Daemon),
        ("terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n  }\n}\n", backend("s3")),
        ("terraform {\n  backend s3 {}\n}\n", backend("s3")),
        ("  terraform /* c */ { # c\n  backend \"gcs\" {}\n}", backend("gcs")),
        ("terraform {\r\n  backend \"s3\" {}\r\n}\r\n", backend("s3")),
        ("\u{feff}terraform {\n  backend \"s3\" {}\n}\n", backend("s3")),
        ("terraform {\n  cloud {\n    organization = \"o\"\n  }\n}\n", instead(CLOUD)),
        ("terraform {\n  backend \"remote\" {}\n}\n", instead(REMOTE)),
        ("terraform {\n  backend \"local\" {}\n}\n", instead(LOCAL)),
        ("terraform {\n  backend \"local\" {\n    path = \"state/x\"\n  }\n}\n", local("state/x")),
        ("terraform {\n  backend \"local\" {\n    path = null\n  }\n}\n", instead(LOCAL)),
        ("terraform {\n  backend \"local\" {\n    path = (\"a\")\n  }\n}\n", local("a")),
        ("terraform {\n  backend \"local\" {\n    path = \"/srv/x\"\n  }\n}\n", backend("local")),
        ("terraform {\n  backend \"local\" {\n    path = (\"\\u002fsrv\")\n  }\n}\n", backend("local")),
        ("terraform {\n  backend \"local\" {\n    path = \"/srv/${\"x\"}\"\n  }\n}\n", backend("local")),
        (
            "terraform {\n  required_providers {\n    a = { source = \"x\", source = \"y\" }\n  }\n  backend \"s3\" {}\n}\n",
            backend("s3"),
        ),
        (
            "terraform {\n  required_version = \">= ${1 + 1}\"\n  experiments = [a.b, c[0]]\n  backend \"s3\" {}\n}\n",
            backend("s3"),
        ),
        // spread over blocks
        ("terraform {\n  required_version = \"1\"\n}\nterraform {\n  backend \"s3\" {}\n}\n", backend("s3")),
        // things that look like it
        ("# terraform {\n#   backend \"s3\" {}\n# }\n", Keeping::Daemon),
        ("/*\nterraform {\n  backend \"s3\" {}\n}\n*/\n", Keeping::Daemon),
        ("// x /*\nterraform {\n  backend \"s3\" {}\n}\n", backend("s3")),
        ("locals {\n  x = <<EOT\nterraform {\n  backend \"s3\" {}\n}\nEOT\n}\n", Keeping::Daemon),
        ("locals {\n  x = {\nterraform {\n  backend \"s3\" {}\n}\n}\n}\n", Keeping::Daemon),
        ("terraform = {\n  backend = \"s3\"\n}\n", Keeping::Daemon),
        ("resource \"terraform_data\" \"backend\" {\n  input = \"cloud\"\n}\n", Keeping::Daemon),
        (
            "terraform {\n  required_providers {\n    cloud = {\n      source = \"a/backend\"\n    }\n  }\n}\n",
            Keeping::Daemon,
        ),
    ];
    for (text, expected) in table {
        assert_eq!(of(&[("main.tf", text)]).unwrap(), expected, "{text}");
    }
}

/// What stands before the block must neither hide it nor become it.
#[test]
fn the_block_is_found_behind_whatever_else_the_language_has() {
    let before = [
        "x = \"}\"",
        "x = \"{\"",
        "x = \"\\\"{\"",
        "x = \"\\\\\"",
        "x = \"$${\"",
        "x = \"$$${\"",
        "x = \"%%{\"",
        "x = \"a$\"",
        "x = \"${\"}\"}\"",
        "x = \"${ {\"a\" = \"}${\"b\"}\"}[\"a\"] }\"",
        "x = \"%{ if true }{%{ endif }\"",
        "x = 1 # {",
        "x = 1 // \"",
        "x = /* \" { */ 1",
        "x = <<EOT\n{ \" ${\"{\"} $${ \\\n  EOT2\nEOT",
        "x = <<-EOT\n    { \"\n    EOT",
        "x = <<A\n${<<B\n{\nA\nB\n}\nA",
        "x = <<EOT\nEOT",
        "x = [for k, v in { a = 1 } : \"${k}}\" if v > 0]",
        "x = provider::terraform::encode_tfvars({ a = 1 })",
        "x = a.0.b[*].c",
        "x = 1 < 2 ? \"<<EOT\" : \"x\"",
    ];
    for line in before {
        let text = format!("locals {{\n  {line}\n}}\n\nterraform {{\n  backend \"s3\" {{}}\n}}\n");
        assert_eq!(of(&[("main.tf", &text)]).unwrap(), backend("s3"), "{text}");
        let hidden = format!(
            "locals {{\n  {line}\n  y = {{\n    z = 1\nterraform {{\n  backend \"s3\" {{}}\n}}\n}}\n}}\n"
        );
        assert_eq!(of(&[("main.tf", &hidden)]).unwrap(), Keeping::Daemon, "{hidden}");
    }
}

#[test]
fn the_json_syntax_is_read_as_terraform_reads_it() {
    let table = [
        ("{}", Keeping::Daemon),
        ("[]", Keeping::Daemon),
        (r#"{"terraform": {"backend": {"s3": {"bucket": "b"}}}}"#, backend("s3")),
        (r#"{"terraform": [{"backend": [{"s3": [{}]}]}]}"#, backend("s3")),
        (r#"[{"terraform": {"backend": {"s3": {}}}}]"#, backend("s3")),
        (r#"{"terraform": {"\u0062ackend": {"s3": {}}}}"#, backend("s3")),
        (r#"{"terraform": {"backend": {"s3": null}}}"#, Keeping::Daemon),
        (r#"{"terraform": {"backend": null}}"#, Keeping::Daemon),
        (r#"{"terraform": {"cloud": {"organization": "o"}}}"#, instead(CLOUD)),
        (r#"{"terraform": {"cloud": [{}]}}"#, instead(CLOUD)),
        (r#"{"terraform": {"cloud": null}}"#, Keeping::Daemon),
        (r#"{"terraform": {"backend": {"remote": {}}}}"#, instead(REMOTE)),
        (r#"{"terraform": {"backend": {"local": {}}}}"#, instead(LOCAL)),
        (r#"{"terraform": {"backend": {"local": {"path": "x"}}}}"#, local("x")),
        (r#"{"terraform": {"backend": {"local": {"path": "/x"}}}}"#, backend("local")),
        // each of the same name is a block
        (
            r#"{"//": "c", "terraform": {"backend": {"s3": {}}}, "terraform": {"required_version": "1"}}"#,
            backend("s3"),
        ),
        (
            r#"{"terraform": {"backend": {"s3": {}}, "required_version": "1", "required_version": "1"}}"#,
            backend("s3"),
        ),
        (r#"{"locals": {"terraform": {"backend": {"s3": {}}}}}"#, Keeping::Daemon),
        (r#"{"locals": {"x": [1, 1.5, -1, true, null, "a"]}}"#, Keeping::Daemon),
    ];
    for (text, expected) in table {
        assert_eq!(of(&[("main.tf.json", text)]).unwrap(), expected, "{text}");
    }
}

#[test]
fn overrides_win_in_the_order_of_terraform() {
    let s3 = "terraform {\n  backend \"s3\" {}\n}\n";
    let gcs = "terraform {\n  backend \"gcs\" {}\n}\n";
    let json = r#"{"terraform": {"backend": {"azurerm": {}}}}"#;
    let cloud = "terraform {\n  cloud {}\n}\n";
    let none = "terraform {\n  required_version = \"1\"\n}\n";
    let table: &[(&[(&str, &str)], Keeping)] = &[
        (&[("main.tf", s3), ("a_override.tf", gcs)], backend("gcs")),
        (&[("z.tf", s3), ("override.tf", gcs)], backend("gcs")),
        (&[("main.tf", s3), ("override.tf", none)], backend("s3")),
        (&[("main.tf", s3), ("override.tf.json", json)], backend("azurerm")),
        (&[("main.tf", s3), ("a_override.tf", gcs), ("b_override.tf.json", json)], backend("azurerm")),
        (&[("main.tf", s3), ("b_override.tf", gcs), ("a_override.tf.json", json)], backend("gcs")),
        (&[("main.tf", cloud), ("override.tf", s3)], backend("s3")),
        (&[("main.tf", s3), ("override.tf", cloud)], instead(CLOUD)),
        // not an override, and not read at all
        (&[("main.tf", s3), ("myoverride.tf", none)], backend("s3")),
        (
            &[("main.tf", none), (".x.tf", s3), ("x.tf~", s3), ("#x.tf#", s3), ("x.tf.bak", s3)],
            Keeping::Daemon,
        ),
    ];
    for (files, expected) in table {
        assert_eq!(of(files).unwrap(), *expected, "{files:?}");
    }
}

#[test]
fn ours_comes_after_every_override_file_that_there_is() {
    let cloud = "terraform {\n  cloud {}\n}\n";
    for other in [
        "override.tf",
        "a_override.tf",
        "zz_override.tf",
        "zz_override.tf.json",
        "zzz_override.tf",
        "~_override.tf",
        "é_override.tf",
        "zz_signalbox_override.tf",
        "zz_signalbox_override.tf.json",
    ] {
        let text = if other.ends_with(".json") { "{}" } else { "" };
        let Keeping::DaemonInstead { file, .. } = of(&[("main.tf", cloud), (other, text)]).unwrap() else {
            panic!("{other}");
        };
        assert!(file.as_os_str() > OsStr::new(other), "{file:?} beside {other}");
        assert!(is_override(&file) && is_terraform_file(&file), "{file:?}");
    }
    let long = format!("zzz{}_override.tf", "z".repeat(230));
    assert!(matches!(of(&[("main.tf", cloud), (&long, "")]), Err(Error::OverrideName { .. })));
}

#[test]
fn what_could_name_a_backend_and_cannot_be_read_is_refused_with_its_place() {
    let table = [
        ("main.tf", "\n\nterraform {\n  backend \"s3\" {\n    bucket = = 1\n  }\n}\n", 5),
        ("main.tf", "\nterraform {\n  backend \"s3\" {\n", 3),
        ("main.tf", "terraform {\n  backend \"local\" {\n    path = \"${\"/x\"}\"\n  }\n}\n", 1),
        ("main.tf", "terraform {\n  backend \"local\" {\n    path = true ? \"/x\" : \"y\"\n  }\n}\n", 1),
        ("main.tf.json", "{\n  \"terraform\": {\"backend\": {\"s3\": {}}\n", 3),
        ("main.tf.json", "{\"terraform\": {\"\\u0062ackend\": {\"s3\": {}}", 1),
        ("main.tf.json", r#"{"terraform": {"backend": {"local": {"path": "${\"/x\"}"}}}}"#, 1),
    ];
    for (name, text, line) in table {
        match of(&[(name, text)]) {
            Err(Error::Backend { path, line: found, .. }) => {
                assert_eq!((path.to_str(), found), (Some(name), line), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    let deep = format!("terraform {{\n  backend \"s3\" {{}}\n  x = {}\n}}\n", "(".repeat(100_000));
    assert!(matches!(of(&[("main.tf", &deep)]), Err(Error::Backend { line: 3, .. })));
    let twice = "terraform {\n  backend \"local\" {\n    path = \"x\"\n    path = \"/x\"\n  }\n}\n";
    assert!(matches!(of(&[("main.tf", twice)]), Err(Error::Backend { line: 4, .. })));
}

#[test]
fn what_cannot_name_a_backend_and_cannot_be_read_is_left_to_terraform() {
    for (name, text) in [
        ("main.tf", "locals {\n  x = = 1\n}\n"),
        ("main.tf", "resource {{{\n"),
        ("main.tf", "terraform {\n  required_version = = 1\n}\n"),
        ("main.tf", "}}}\n\"\n"),
        ("main.tf.json", "{"),
        ("main.tf.json", ""),
    ] {
        assert_eq!(of(&[(name, text)]).unwrap(), Keeping::Daemon, "{text}");
    }
    // and does not hide what another file names
    let s3 = "terraform {\n  backend \"s3\" {}\n}\n";
    assert_eq!(of(&[("a.tf", "locals {{{ x = \"\n"), ("b.tf", s3)]).unwrap(), backend("s3"));
    assert_eq!(of(&[("a.tf", &format!("locals {{\n  x = = 1\n}}\n{s3}"))]).unwrap(), backend("s3"));
}
