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
    let (more, told) = found.iter().as_slice().split_last().unwrap();
    assert_eq!(told.len(), 1_000);
    assert!(told.iter().all(|finding| finding.code == Code::UnknownReference));
    assert_eq!(
        more.to_string(),
        "/etc/signalbox/f: error[too-many]: left out: 9000 more errors; mend the others first"
    );
    let shown = found.render(false);
    assert_eq!(shown.matches("did you mean `platform`?").count(), 1_000);
    assert!(shown.contains(":14003:27\n"), "{}", &shown[shown.len() - 1_000..]);
}

#[test]
fn an_error_behind_a_thousand_warnings_is_an_error() {
    let twice = "\"owner\", ".repeat(5_000);
    let text = format!(
        "organization = \"a\"\nuser \"owner\" {{ token_sha256 = \"{}\" }}\nteam \"owners\" {{ members = [{twice}] }}\n\
         workspace \"w\" {{\n}}\n",
        "1".repeat(64)
    );
    let found = Config::parse(&text, Path::new("/etc/signalbox/f"), &FakeHost::new()).unwrap_err();
    assert_eq!((found.count(Severity::Error), found.count(Severity::Warning)), (1, 4_999));
    assert!(found.iter().any(|finding| finding.code == Code::Missing));
    assert_eq!(found.iter().last().unwrap().severity, Severity::Warning);
}

/// Whatever looks at the line, at all names or at the whole text again for each mistake would take minutes here.
#[test]
fn a_text_that_is_made_to_keep_the_daemon_busy_ends_with_an_error() {
    const BYTES: usize = 1 << 18;
    let repeated = |piece: &str| piece.repeat(BYTES / piece.len());
    let value = |value: String| {
        format!(
            "organization = \"a\"\nworkspace \"w\" {{\n  source \"directory\" {{ path = \"x\" }}\n  variables = {{ v = {value} \
             }}\n}}\n"
        )
    };
    let numbered = |count: usize, block: fn(usize) -> String| -> String { (0..count).map(block).collect() };
    let users = |number| format!("user \"user{number}\" {{ token_sha256 = \"{number:064x}\" }}\n");
    for (text, code) in [
        (value(repeated("[")), Code::Syntax),
        (value(repeated("{ a = ")), Code::Syntax),
        (value(repeated("\"${")), Code::Syntax),
        (repeated("a {\n"), Code::Syntax),
        (repeated("/*"), Code::Syntax),
        (repeated("\0"), Code::Syntax),
        (value(format!("\"{}", repeated("x"))), Code::Syntax),
        (value(repeated("1")), Code::NumberPrecision),
        (value(format!("0.{}", repeated("1"))), Code::NumberPrecision),
        (value(format!("1{}", repeated("+1"))), Code::InvalidExpression),
        (value(format!("{}1", repeated("1 - 2 - (")) + &repeated(")")), Code::Syntax),
        (value(format!("{}1", repeated("true ? 1 : "))), Code::InvalidExpression),
        (value(format!("a{}", repeated(".a"))), Code::UndefinedVariable),
        (value(format!("\"{}\"", repeated("${a}"))), Code::TooMany),
        (value(format!("<<-E\n{}E\n", repeated("  ${a}\n"))), Code::TooMany),
        (value(format!("[{}]", repeated("a,"))), Code::TooMany),
        (value(format!("[{}]", repeated("f(1),"))), Code::TooMany),
        (value(format!("{{ {} }}", repeated("a = 1, "))), Code::TooMany),
        (repeated("a = 1\n"), Code::TooMany),
        (repeated("a {}\n"), Code::TooMany),
        (numbered(20_000, |number| format!("a{number} = 1\n")), Code::TooMany),
        (
            numbered(1_000, users)
                + &numbered(10_000, |number| {
                    format!("team \"t{number}\" {{ members = [\"usre{number}\"] }}\n")
                }),
            Code::TooMany,
        ),
        (
            format!("user \"u\" {{ token_sha256 = [{}] }}\n", repeated(&format!("\"{}\", ", "1".repeat(64)))),
            Code::TooMany,
        ),
    ] {
        let found = Config::parse(&text, Path::new("/etc/signalbox/f"), &FakeHost::new()).unwrap_err();
        assert!(found.iter().any(|finding| finding.code == code), "{text:.100}: {code:?}");
        assert!(found.len() <= 2_002);
        assert!(found.render(false).len() < 4 << 20, "{text:.100}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let text = "#\n".repeat((8 << 20) + 1);
    let found = Config::parse(&text, Path::new("/etc/signalbox/f"), &FakeHost::new()).unwrap_err();
    let said = found.to_string();
    assert!(said.contains("the text has more than 16777216 bytes"), "{said}");
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
