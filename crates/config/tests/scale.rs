//! Configurations that are large.

mod common;
#[path = "common/many.rs"]
mod many;

use std::path::Path;

use common::FakeHost;
use config::{Code, Config, Severity};

/// `cargo run --release -p config --example load` measures it. Whatever compares each of them with all others would take
/// minutes here.
#[test]
fn ten_thousand_workspaces_are_read_and_their_secrets_hidden() {
    let text = many::many(10_000);
    let loaded = Config::parse(&text, Path::new("/etc/signalbox/f"), &FakeHost::new()).unwrap();
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    assert_eq!(loaded.config.workspaces.len(), 10_000);
    let last = &loaded.config.workspaces["network-9999"];
    assert_eq!((&last.variables["size"], last.working_directory.as_str()), (&9999.into(), "network/9999"));

    let wrong = text.replace("access              = { platform", "access              = { platfrom");
    let found = Config::parse(&wrong, Path::new("/etc/signalbox/f"), &FakeHost::new()).unwrap_err();
    assert_eq!(found.count(Severity::Error), 10_000);
    assert!(found.iter().all(|finding| finding.code == Code::UnknownReference));
    let shown = found.render(false);
    assert_eq!(shown.matches("did you mean `platform`?").count(), 10_000);
    assert!(shown.contains(":109992:27\n"), "{}", &shown[shown.len() - 1_000..]);
}

#[test]
fn a_large_map_is_compared_with_another_by_its_names() {
    let variables = |kind: &str| -> String {
        (0..50_000).map(|number| format!("    {kind}{number} = \"1\"\n")).collect()
    };
    let text = format!(
        "organization = \"a\"\nworkspace \"w\" {{\n  source \"directory\" {{ path = \"x\" }}\n  variables = {{\n{}  }}\n  \
         sensitive_variables = {{\n{}    a7 = 1\n  }}\n  environment = {{\n{}    TF_VAR_a8 = \"1\"\n  }}\n}}\n",
        variables("a"),
        variables("b"),
        variables("TF_VAR_c"),
    );
    let found = Config::parse(&text, Path::new("/etc/signalbox/f"), &FakeHost::new()).unwrap_err();
    let said = found.to_string();
    assert!(
        said.contains("the variable `a7` is set twice") && said.contains("the variable `a8` is set twice"),
        "{said}"
    );
    assert_eq!(found.iter().filter(|finding| finding.code == Code::Duplicate).count(), 2);
}
