//! What the real terraform makes of a configuration that was taken.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Place, taken};
use source::{StateKept, TakeRequest};

fn terraform(root: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new("terraform")
        .args(arguments)
        .arg("-no-color")
        .current_dir(root)
        .env_remove("TF_CLI_CONFIG_FILE")
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_IN_AUTOMATION", "1")
        .env("TF_INPUT", "0")
        .output()
        .unwrap();
    let words = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&words).into_owned())
}

fn must(root: &Path, arguments: &[&str]) -> String {
    let (success, words) = terraform(root, arguments);
    assert!(success, "terraform {arguments:?}: {words}");
    words
}

const RESOURCE: &str = "resource \"terraform_data\" \"a\" {\n  input = \"one\"\n}\n";

/// Applies a first run, then takes the configuration again with the state that it left: nothing is to be done.
fn state_is_carried_from_run_to_run(files: &[(&str, &str)]) {
    let place = Place::new();
    place.write("main.tf", RESOURCE);
    for (name, content) in files {
        place.write(name, content);
    }
    let (report, _) = taken(&place.directory());
    assert_eq!(report.state, StateKept::ByDaemon, "{files:?}");
    must(&report.root, &["init", "-input=false"]);
    must(&report.root, &["apply", "-auto-approve", "-input=false"]);
    let state = place.path("kept.tfstate");
    fs::rename(report.root.join("terraform.tfstate"), &state).unwrap();

    let (report, _) = taken(&TakeRequest { state: Some(state), ..place.directory() });
    must(&report.root, &["init", "-input=false"]);
    let plan = must(&report.root, &["plan", "-input=false", "-detailed-exitcode", "-out=plan.tfplan"]);
    assert!(plan.contains("No changes"), "{files:?}: {plan}");
}

#[test]
fn the_state_is_kept_without_a_backend() {
    state_is_carried_from_run_to_run(&[]);
}

#[test]
fn the_state_is_kept_in_place_of_a_cloud_block() {
    let cloud = "terraform {\n  cloud {\n    organization = \"acme\"\n    workspaces {\n      name = \"w\"\n    }\n  }\n}\n";
    state_is_carried_from_run_to_run(&[("cloud.tf", cloud)]);
    // also of one in an override file that sorts late, and beside a state that the source still has
    state_is_carried_from_run_to_run(&[
        ("zzz_override.tf", cloud),
        ("terraform.tfstate", "{\"version\": 4}"),
    ]);
    state_is_carried_from_run_to_run(&[("zz_signalbox_override.tf", cloud)]);
    state_is_carried_from_run_to_run(&[(
        "~_override.tf.json",
        r#"{"terraform": {"cloud": {"organization": "acme", "workspaces": {"name": "w"}}}}"#,
    )]);
}

#[test]
fn the_state_is_kept_in_place_of_the_remote_and_a_relative_local_backend() {
    let remote = "terraform {\n  backend \"remote\" {\n    organization = \"acme\"\n    workspaces {\n      name = \"w\"\n    }\n  }\n}\n";
    state_is_carried_from_run_to_run(&[("backend.tf", remote)]);
    let local = "terraform {\n  backend \"local\" {\n    path = \"state/x.tfstate\"\n  }\n}\n";
    state_is_carried_from_run_to_run(&[("backend.tf", local)]);
}

#[test]
fn an_absolute_local_backend_is_left_alone() {
    let place = Place::new();
    place.write("main.tf", RESOURCE);
    let state = place.path("elsewhere.tfstate");
    place.write(
        "backend.tf",
        &format!("terraform {{\n  backend \"local\" {{\n    path = \"{}\"\n  }}\n}}\n", state.display()),
    );
    let (report, _) = taken(&place.directory());
    assert_eq!(report.state, StateKept::ByBackend { kind: "local".into() });
    must(&report.root, &["init", "-input=false"]);
    must(&report.root, &["apply", "-auto-approve", "-input=false"]);
    assert!(state.exists());
    assert!(!report.root.join("terraform.tfstate").exists());
}

/// Terraform names a backend that it does not know: so it can be asked which one it sees, without any network.
#[test]
fn terraform_sees_the_same_backend() {
    let native = "terraform {\n  backend \"one\" {}\n}\n";
    let other = "terraform {\n  backend \"two\" {}\n}\n";
    let none = "locals {\n  x = 1\n}\n";
    let table: &[&[(&str, &str)]] = &[
        &[("main.tf", native)],
        &[("main.tf", none)],
        &[("main.tf", "terraform {\n  backend one {}\n}\n")],
        &[("main.tf", native), ("override.tf", other)],
        &[("main.tf", native), ("a_override.tf", other), ("b_override.tf", none)],
        &[
            ("main.tf", native),
            ("a_override.tf", other),
            ("a_override.tf.json", "{\"terraform\":{\"backend\":{\"three\":{}}}}"),
        ],
        &[("main.tf", native), ("override.tf.json", "{\"terraform\":[{\"backend\":[{\"three\":[{}]}]}]}")],
        &[("main.tf.json", "[{\"terraform\":{\"backend\":{\"one\":{}}}}]")],
        &[("main.tf.json", "{\"terraform\":{\"backend\":{\"one\":null}}}")],
        &[(
            "main.tf.json",
            "{\"terraform\":{\"backend\":{\"one\":{}}},\"terraform\":{\"required_version\":\">= 1\"}}",
        )],
        &[("main.tf.json", "{\"terraform\":{\"\\u0062ackend\":{\"one\":{}}}}")],
        &[("main.tf.json", "{\"locals\":{\"terraform\":{\"backend\":{\"one\":{}}}}}")],
        &[("main.tf", none), (".main.tf", native), ("main.tf~", native), ("#main.tf#", native)],
        &[(
            "main.tf",
            "locals {\n  x = <<-EOT\n  {\n  ${\"}\"} $${\n  EOT\n  y = \"$$${{\"\n}\nterraform {\n  backend \"one\" {}\n}\n",
        )],
        &[("main.tf", "locals {\n  x = <<EOT\nterraform {\n  backend \"one\" {}\n}\nEOT\n}\n")],
        &[(
            "main.tf",
            "locals {\n  x = provider::terraform::encode_expr({ a = \"}\" }) # {\n}\nterraform { // {\n  backend \"one\" {} /* } */\n}\n",
        )],
    ];
    for files in table {
        let place = Place::new();
        for (name, content) in *files {
            place.write(name, content);
        }
        let (report, _) = taken(&place.directory());
        let (_, words) = terraform(&report.root, &["init", "-input=false"]);
        let seen = words
            .split_once("no backend type named \"")
            .map(|(_, rest)| rest.split('"').next().unwrap().to_owned());
        let read = match report.state {
            StateKept::ByBackend { kind } => Some(kind),
            StateKept::ByDaemon => None,
        };
        assert_eq!(read, seen, "{files:?}: {words}");
        assert_eq!(seen.is_none(), words.contains("successfully initialized"), "{files:?}: {words}");
    }
}
