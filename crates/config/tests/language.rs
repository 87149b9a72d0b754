//! What a file without mistakes means.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::FakeHost;
use config::{Config, Diagnostics, Loaded, Source, TokenDigest};
use lifecycle::{AccessLevel, WorkspaceRights};
use serde_json::json;

/// The example of the product's description, with digests in their places.
const EXAMPLE: &str = r##"
server {
  listen              = "127.0.0.1:8080"
  data_dir            = "/var/lib/signalbox"
  max_concurrent_runs = 4
  terraform           = "terraform"     # binary, by name or path; a workspace may name its own
  cancel_grace        = "2m"            # between the interrupt and the kill
}
organization = "acme"

user "owner"    { token_sha256 = "4c1029697ee358715d3a14a2add817c4b01651440de808371f78165ac90dc581" }
user "operator" { token_sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }
team "owners"   { members = ["owner"] }
team "platform" { members = ["operator"] }

policy_set "baseline" {
  path       = "./policies"
  policies_path = "./baseline/"
  workspaces = ["network-*"]
  time_limit = "30s"
  http_hosts = ["API.example.com", "10.0.0.1:8443"]
  parameters = { sizes = ["small", 3] }
  sensitive_parameters = { token = env("DB_PASSWORD") }
}

workspace "network-prod" {
  source "git" {                      # or: source "directory" { path = "./infra/network" }
    url  = "https://git.example/infra.git"
    ref  = "main"
    path = "network"
  }
  auto_apply          = false
  variables           = { region = "eu-west-1" }
  sensitive_variables = { db_password = env("DB_PASSWORD") }
  environment         = { AWS_PROFILE = "prod" }
  access              = { platform = "write" }   # read, plan, write, admin; owners may do all
}
"##;

fn parse(text: &str) -> Result<Loaded, Diagnostics> {
    Config::parse(text, Path::new("/etc/signalbox/signalbox.hcl"), &FakeHost::new())
}

fn workspace(body: &str) -> config::WorkspaceConfig {
    let text = format!(
        "organization = \"acme\"\nworkspace \"main\" {{\n  source \"directory\" {{ path = \"main\" }}\n{body}\n}}\n"
    );
    match parse(&text) {
        Ok(loaded) => loaded.config.workspaces["main"].clone(),
        Err(diagnostics) => panic!("{}", diagnostics.render(false)),
    }
}

fn variable(expression: &str) -> serde_json::Value {
    workspace(&format!("  variables = {{ value = {expression} }}")).variables["value"].clone()
}

#[test]
fn the_example_loads_without_a_warning() {
    let loaded = parse(EXAMPLE).unwrap();
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let config = loaded.config;
    assert_eq!(config.organization, "acme");
    assert_eq!(config.file, Path::new("/etc/signalbox/signalbox.hcl"));
    assert_eq!(config.server.listen, "127.0.0.1:8080".parse().unwrap());
    assert_eq!(config.server.data_dir, Path::new("/var/lib/signalbox"));
    assert_eq!(config.server.max_concurrent_runs, 4);
    assert_eq!(config.server.terraform, Path::new("terraform"));
    assert_eq!(config.server.cancel_grace, Duration::from_secs(120));
    assert_eq!(config.users.keys().collect::<Vec<_>>(), ["owner", "operator"]);
    assert_eq!(config.policy_sets["baseline"].path, Path::new("/etc/signalbox/policies"));
    assert_eq!(config.policy_sets["baseline"].policies_path, "baseline");

    let workspace = &config.workspaces["network-prod"];
    let Source::Git(git) = &workspace.source else { panic!("{:?}", workspace.source) };
    assert_eq!(workspace.working_directory, "network");
    assert_eq!((git.url.as_str(), git.reference.as_str()), ("https://git.example/infra.git", "main"));
    assert_eq!(workspace.variables["region"], json!("eu-west-1"));
    assert_eq!(workspace.sensitive_variables["db_password"].expose(), &json!("hunter2"));
    assert_eq!(workspace.environment["AWS_PROFILE"], "prod");
    assert_eq!(workspace.access["platform"], AccessLevel::Write);
    assert_eq!((workspace.defined_at.0.line, workspace.defined_at.0.column), (26, 1));
    assert!(!workspace.auto_apply);
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn whatever_is_left_out_has_its_default() {
    let loaded = parse("organization = \"acme\"").unwrap();
    let server = loaded.config.server;
    assert_eq!(server.listen, "127.0.0.1:8080".parse().unwrap());
    assert_eq!(server.data_dir, Path::new("/etc/signalbox/data"));
    assert_eq!(server.max_concurrent_runs, 4);
    assert_eq!(server.terraform, Path::new("terraform"));
    assert_eq!(server.cancel_grace, Duration::from_secs(120));
    assert_eq!(server.force_cancel_after, Duration::from_secs(10));
    assert_eq!(server.public_url, None);

    let bare = workspace("");
    assert_eq!(bare.source, Source::Directory { path: "/etc/signalbox/main".into() });
    assert!(bare.description.is_none() && bare.terraform.is_none() && !bare.auto_apply);
    assert!(bare.variables.is_empty() && bare.environment.is_empty() && bare.access.is_empty());

    let text = "organization = \"acme\"\nworkspace \"w\" {\n  source \"git\" { url = \"./infra.git\" }\n}\n\
                policy_set \"p\" { path = \"policies/baseline\" }";
    let config = parse(text).unwrap().config;
    let Source::Git(git) = &config.workspaces["w"].source else { panic!() };
    assert_eq!((git.url.as_str(), git.reference.as_str()), ("/etc/signalbox/infra.git", "HEAD"));
    assert_eq!(config.workspaces["w"].working_directory, "");
    assert!(config.policy_sets["p"].applies_to("anything"));
}

#[test]
fn the_public_url_is_where_it_listens_unless_it_is_given() {
    let url = |server: &str, bound: &str| {
        let config = parse(&format!("organization = \"acme\"\nserver {{\n{server}\n}}")).unwrap().config;
        config.server.public_url(bound.parse().unwrap()).to_string()
    };
    assert_eq!(url("", "127.0.0.1:4711"), "http://127.0.0.1:4711/");
    assert_eq!(url("", "[::1]:4711"), "http://[::1]:4711/");
    assert_eq!(url("", "0.0.0.0:4711"), "http://127.0.0.1:4711/");
    assert_eq!(url("", "[::]:4711"), "http://[::1]:4711/");
    assert_eq!(
        url("public_url = \"https://signalbox.example.com\"", "0.0.0.0:1"),
        "https://signalbox.example.com/"
    );
}

#[test]
fn paths_start_at_the_files_directory() {
    let terraform = |path: &str| workspace(&format!("  terraform = \"{path}\"")).terraform.unwrap();
    assert_eq!(terraform("terraform-1.11"), PathBuf::from("terraform-1.11"));
    assert_eq!(terraform("./bin/terraform"), PathBuf::from("/etc/signalbox/bin/terraform"));
    assert_eq!(terraform("../bin/terraform"), PathBuf::from("/etc/signalbox/../bin/terraform"));
    assert_eq!(terraform("/opt/terraform"), PathBuf::from("/opt/terraform"));
}

#[test]
fn variables_take_any_value() {
    assert_eq!(variable("[1, -2, 0.5, true, null, \"x\"]"), json!([1, -2, 0.5, true, null, "x"]));
    assert_eq!(variable("18446744073709551615"), json!(u64::MAX));
    assert_eq!(variable("-9223372036854775808"), json!(i64::MIN));
    assert_eq!(variable("{ a = { \"b c\" = [] }, (\"d\") : 1 }"), json!({"a": {"b c": []}, "d": 1}));
    assert_eq!(variable("\"tab\\t \\\"quoted\\\" $${x} é\""), json!("tab\t \"quoted\" ${x} é"));
    assert_eq!(variable("<<-EOT\n    two\n      lines\n    EOT\n"), json!("two\n  lines\n"));
}

#[test]
fn a_template_is_the_text_that_terraform_makes_of_its_parts() {
    assert_eq!(variable("\"a${\"b\"}c\""), json!("abc"));
    assert_eq!(variable("\"${\"${\"a\"}b\"}\""), json!("ab"));
    assert_eq!(variable("\"${1.50}-${-1e3}-${true}\""), json!("1.5--1000-true"));
    assert_eq!(variable("{ 1.50 = 1, (true) = 2 }"), json!({"1.5": 1, "true": 2}));
    assert_eq!(variable("<<-EOT\n    a ${\"b\"}\n      c\n    EOT\n"), json!("a b\n  c\n"));
}

#[test]
fn terraform_runs_in_a_folder_of_any_source() {
    assert_eq!(workspace("  working_directory = \"./live//prod/\"").working_directory, "live/prod");
    let git = |attributes: &str| {
        let source = format!("  source \"git\" {{\n    url = \"./infra.git\"\n{attributes}\n  }}\n");
        let text = format!(
            "organization = \"acme\"\nworkspace \"w\" {{\n{source}  working_directory = \"live\"\n}}\n"
        );
        parse(&text).map(|loaded| loaded.config.workspaces["w"].working_directory.clone())
    };
    assert_eq!(git("").unwrap(), "live");
    assert!(git("    path = \"live\"").unwrap_err().to_string().contains("set twice"));
}

#[test]
fn a_password_of_a_repository_from_the_environment_is_where_it_belongs() {
    let with = |password: &str| {
        let url = format!("https://user:{password}@git.example/x.git");
        let source = format!("source \"git\" {{\n    url = \"{url}\"\n  }}");
        parse(&format!("organization = \"acme\"\nworkspace \"w\" {{\n  {source}\n}}\n"))
            .unwrap()
            .warnings
            .to_string()
    };
    assert!(with("pw").contains("exposed-secret"), "{}", with("pw"));
    assert!(!with("${env(\"DB_PASSWORD\")}").contains("exposed-secret"));
}

#[test]
fn env_and_file_stand_wherever_a_value_may() {
    assert_eq!(variable("env(\"DB_PASSWORD\")"), json!("hunter2"));
    assert_eq!(variable("\"<${env(\"DB_PASSWORD\")}>\""), json!("<hunter2>"));
    assert_eq!(variable("[(env(\"DB_PASSWORD\"))]"), json!(["hunter2"]));
    assert_eq!(variable("{ a = [\"${env(\"DB_PASSWORD\")}\"] }"), json!({"a": ["hunter2"]}));
    assert_eq!(variable("file(\"secret\")"), json!("from a file"));
    assert_eq!(variable("file(\"./secret\")"), json!("from a file"));
    assert_eq!(variable("<<EOT\n${file(\"${\"sec\"}ret\")}\nEOT\n"), json!("from a file\n"));
}

#[test]
fn a_value_from_outside_is_never_read_as_a_template() {
    let tricky = "${file(\"/etc/shadow\")} %{ if true }\"\\\n";
    assert_eq!(variable("env(\"TRICKY\")"), json!(tricky));
    assert_eq!(variable("\"<${env(\"TRICKY\")}>\""), json!(format!("<{tricky}>")));
    assert_eq!(variable("\"<${\"${env(\"TRICKY\")}\"}>\""), json!(format!("<{tricky}>")));
    assert_eq!(variable("<<EOT\n${env(\"TRICKY\")}\nEOT\n"), json!(format!("{tricky}\n")));
}

#[test]
fn access_is_the_highest_level_of_the_users_teams() {
    let text = format!(
        "{EXAMPLE}\nuser \"both\" {{ token_sha256 = \"{}\" }}\nuser \"none\" {{ token_sha256 = \"{}\" }}\n\
         team \"low\" {{ members = [\"both\"] }}\nteam \"high\" {{ members = [\"both\"] }}\n\
         workspace \"w\" {{\n  source \"directory\" {{ path = \"x\" }}\n  access = {{ high = \"admin\", low = \"read\" }}\n}}",
        "1".repeat(64),
        "2".repeat(64)
    );
    let config = parse(&text).unwrap().config;
    let never = BTreeMap::new();
    assert_eq!(config.access("owner", "w", &never), WorkspaceRights::OWNER);
    assert_eq!(config.access("both", "w", &never), WorkspaceRights::ADMIN);
    assert_eq!(config.access("operator", "network-prod", &never), WorkspaceRights::WRITE);
    assert_eq!(config.access("operator", "w", &never), WorkspaceRights::NONE);
    assert_eq!(config.access("none", "w", &never), WorkspaceRights::NONE);
    assert_eq!(config.access("nobody", "w", &never), WorkspaceRights::NONE);
    assert_eq!(config.access("both", "unknown", &never), WorkspaceRights::NONE);
    assert_eq!(config.access("owner", "unknown", &never), WorkspaceRights::OWNER);
    // what was said last counts for a workspace that is in the file no more, and for no other
    let last = [("low".to_owned(), AccessLevel::Plan)].into();
    assert_eq!(config.access("both", "unknown", &last), WorkspaceRights::PLAN);
    assert_eq!(config.access("none", "unknown", &last), WorkspaceRights::NONE);
    assert_eq!(config.access("both", "w", &last), WorkspaceRights::ADMIN);
    assert_eq!(config.access("both", "network-prod", &last), WorkspaceRights::NONE);
}

#[test]
fn a_token_leads_to_its_user() {
    let config = parse(EXAMPLE).unwrap().config;
    let user = |token| config.user_by_token(&TokenDigest::of(token)).map(|user| user.name.as_str());
    assert_eq!(user("owner"), Some("owner"));
    assert_eq!(user("test"), Some("operator"));
    assert_eq!(user("guess"), None);
    assert_eq!(user(""), None);
}

#[test]
fn policy_sets_find_their_workspaces() {
    let config = parse(EXAMPLE).unwrap().config;
    let names = |workspace| config.policy_sets_of(workspace).map(|set| set.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names("network-prod"), ["baseline"]);
    assert_eq!(names("compute-prod"), Vec::<&str>::new());
    let set = &config.policy_sets["baseline"];
    assert_eq!(set.time_limit.as_secs(), 30);
    let hosts: Vec<_> = set.http_hosts.iter().map(config::HttpHost::as_str).collect();
    assert_eq!(hosts, ["api.example.com", "10.0.0.1:8443"]);
    assert_eq!(set.parameters["sizes"], json!(["small", 3]));
    assert_eq!(set.sensitive_parameters["token"].expose(), &json!("hunter2"));
}

#[test]
fn what_only_moved_is_unchanged() {
    let before = parse(EXAMPLE).unwrap().config;
    let moved = parse(&format!("# a comment\n\n{EXAMPLE}")).unwrap().config;
    assert_eq!(before, moved);
    assert_ne!(before.workspaces[0].defined_at.0, moved.workspaces[0].defined_at.0);

    for (from, to) in [
        ("ref  = \"main\"", "ref  = \"next\""),
        ("region = \"eu-west-1\"", "region = \"eu-west-2\""),
        ("auto_apply          = false", "auto_apply          = true"),
        ("env(\"DB_PASSWORD\")", "\"another\""),
        ("platform = \"write\" }   #", "platform = \"plan\" }   #"),
    ] {
        assert!(EXAMPLE.contains(from), "{from}");
        let changed = parse(&EXAMPLE.replace(from, to)).unwrap().config;
        assert_ne!(before.workspaces, changed.workspaces, "{to}");
        assert_eq!(before.users, changed.users);
    }
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    let windows = format!("\u{feff}{}", EXAMPLE.replace('\n', "\r\n"));
    assert_eq!(parse(&windows).unwrap().config, parse(EXAMPLE).unwrap().config);
}

#[test]
fn the_shipped_file_loads_as_it_is_and_with_all_of_its_settings_on() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/signalbox.hcl");
    let text = std::fs::read_to_string(&path).unwrap();

    let nothing = FakeHost::default();
    let loaded = Config::parse(&text, Path::new("/etc/signalbox/signalbox.hcl"), &nothing);
    let loaded = loaded.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let defaults = parse("organization = \"acme\"").unwrap().config.server;
    assert_eq!(loaded.config.server, defaults, "the file claims to show the defaults");

    let on = |line: &str| match line.trim_start().strip_prefix('#') {
        Some(setting) if !setting.starts_with(' ') || setting.starts_with("  ") => {
            line.replacen('#', "", 1) + "\n"
        }
        _ => format!("{line}\n"),
    };
    let all: String = text.lines().map(on).collect();
    let mut host = FakeHost::new();
    host.env.insert("AWS_SECRET_ACCESS_KEY".into(), "x".into());
    host.env.insert("API_TOKEN".into(), "x".into());
    host.files.insert("/etc/signalbox/api-key".into(), b"x\n".to_vec());
    let key = || seal::Key::generate().unwrap();
    host.env.insert("OLD_KEY".into(), key().into());
    host.files.insert("/etc/signalbox/encryption.key".into(), format!("{}\n", key()).into_bytes());
    let loaded = Config::parse(&all, Path::new("/etc/signalbox/signalbox.hcl"), &host);
    let loaded = loaded.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let config = loaded.config;
    let workspace = &config.workspaces["network-prod"];
    assert_eq!(config.server.encryption.ids().count(), 2);
    // what is not secret may be for runs to read as well
    let secret = ["/etc/signalbox/api-key", "/etc/signalbox/encryption.key"].map(std::path::PathBuf::from);
    assert!(config.secret_files.iter().eq(&secret), "{:?}", config.secret_files);
    assert!(config.server.public_url.is_some() && config.policy_sets.contains_key("baseline"));
    assert!(workspace.sensitive_variables.contains_key("api_key"));
    assert!(workspace.sensitive_environment.contains_key("AWS_SECRET_ACCESS_KEY"));
}
