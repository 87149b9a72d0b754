//! Terraform itself takes each literal for the value that is read here.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use hcl_reader::literal;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const LIMIT: usize = 1 << 20;

/// Forms that chance may not hit.
const FIXED: &[&str] = &[
    "null",
    "-0",
    "007",
    "1.50",
    "1e3",
    "1E+3",
    "1500e-3",
    "1e30",
    "-1e19",
    "5e-324",
    "1.7976931348623157e308",
    "18446744073709551615",
    "184467440737095516150e-1",
    "-9223372036854775808",
    "12345678901234567890.0",
    "0.1",
    "{ 1 = 1, -3 = 3, 1.50 = 4, 1e3 = 5, 1e30 = 5, 1e-7 = 6, true = 6, null = 7, (\"x\") = 8, (2) = 9, a-b : 10 }",
    r#""\n\r\t\"\\ \u00e9 \U0001F642 $${x} %%{y} $ % $$ %% $$$${z}""#,
    "<<E\n\\n \" $${x}\n\n  E2\n  E\n",
    "<<-E\n  a\n\n    \n b\n\t  c\n  E\n",
    "<<-E\nE\n",
    "<<E\r\na\r\n\r\nE\r\n",
    "<<-E\r\n  a\r\n    é\r\n  E\r\n",
    "[1,\r\n\"é🙂\" # €\r\n]\r\n",
    "[<<A\n[\nA\n, { b = <<-B\n  }\n  B\n}]",
    "{\n  a = 1 # one\n  b = { c = [2] } // two\n\n  /* three */ d = 3,\n}",
];

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?[0-9]{1,20}",
        "-?[0-9]{1,9}\\.[0-9]{1,9}",
        "-?[0-9]{1,3}(\\.[0-9]{1,15})?[eE][+-]?[0-9]{1,2}",
        any::<f64>()
            .prop_filter("JSON has no other", |float| float.is_finite())
            .prop_map(|float| float.to_string()),
    ]
}

fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zé🙂 #/*{}\\[\\]$%]{1,5}",
        r#"\\[nrt"\\]"#,
        r"\\u00[a-f0-9]{2}",
        Just("$${".to_owned())
    ];
    prop::collection::vec(piece, 0..5)
        .prop_map(|pieces| format!("\"{}\"", pieces.concat()))
        .prop_filter("templates are no literals", |text| literal(text, LIMIT).is_ok())
}

fn heredoc() -> impl Strategy<Value = String> {
    ("-?", prop::collection::vec("[ \t]{0,3}[a-z\"\\\\# ]{0,4}", 0..4), "[ ]{0,2}").prop_map(
        |(dash, lines, indent)| {
            let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
            format!("<<{dash}END\n{lines}{indent}END\n")
        },
    )
}

fn any_literal() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => number(),
        4 => string(),
        2 => heredoc(),
        1 => prop::sample::select(&["true", "false", "null"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("(\n{inner})")),
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[ # list\n{}]", items.join("\n,"))),
            prop::collection::btree_map(prop_oneof!["[a-z_][a-z0-9_-]{0,5}", string()], inner, 0..4)
                .prop_map(|entries| {
                    let entries: String = entries
                        .iter()
                        .map(|(key, value)| format!("{key} = {}\n", value.trim_end()))
                        .collect();
                    format!("{{\n{entries}}}")
                }),
        ]
    })
}

/// For each text whether terraform has the value for it.
fn compared(texts: &[String], values: &[Value]) -> Vec<bool> {
    let folder = tempfile::tempdir().unwrap();
    let mut written = String::new();
    for text in texts {
        write!(written, "  ({text}\n  ),\n").unwrap();
    }
    let main =
        format!("variable \"read\" {{\n  type = any\n}}\nlocals {{\n  written = [\n{written}  ]\n}}\n");
    std::fs::write(folder.path().join("main.tf"), main).unwrap();
    std::fs::write(folder.path().join("terraform.tfvars.json"), json!({ "read": values }).to_string())
        .unwrap();
    let mut console = Command::new("terraform")
        .arg("console")
        .current_dir(folder.path())
        .env_remove("TF_CLI_CONFIG_FILE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("terraform is on the PATH");
    let question = "jsonencode([for at, value in local.written : value == var.read[at]])\n";
    console.stdin.take().unwrap().write_all(question.as_bytes()).unwrap();
    let output = console.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let list: String = serde_json::from_str(said.trim())
        .unwrap_or_else(|_| panic!("{said}{}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(&list).unwrap()
}

#[test]
fn what_is_read_equals_what_terraform_reads() {
    let mut texts: Vec<String> = FIXED.iter().map(|&text| text.to_owned()).collect();
    let mut runner = TestRunner::deterministic();
    let any = any_literal();
    for _ in 0..400 {
        texts.push(any.new_tree(&mut runner).unwrap().current());
    }
    // what is refused has no value; of the fixed ones none is
    let (read, values): (Vec<String>, Vec<Value>) =
        texts.iter().filter_map(|text| Some((text.clone(), literal(text, LIMIT).ok()?))).unzip();
    assert!(FIXED.iter().all(|text| read.iter().any(|taken| taken == text)), "a fixed literal is refused");
    assert!(read.len() > 300, "only {} of {} are taken", read.len(), texts.len());
    let equal = compared(&read, &values);
    assert_eq!(equal.len(), read.len());
    for ((text, value), is_equal) in read.iter().zip(&values).zip(equal) {
        assert!(is_equal, "{text:?} is read as {value}");
    }
}

#[test]
fn the_comparison_tells_a_difference() {
    assert_eq!(compared(&["1e3".to_owned(), "\"a\"".to_owned()], &[json!(1001), json!("a")]), [false, true]);
}
