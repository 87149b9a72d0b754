//! Sentinel policy sets against plans of the real terraform.

use client::Stage;

use crate::support::{Setup, World, terraform, wait_for};

/// A policy for each level; what they object to depends on the size of the thing.
const LEVELS: &str = r#"
policy "creates-only" {
  source            = "./policies/creates-only.sentinel"
  enforcement_level = "hard-mandatory"
}
policy "size-is-small" {
  source            = "./policies/size-is.sentinel"
  enforcement_level = "soft-mandatory"
  params            = { size = "small" }
}
policy "size-is-tiny" {
  source            = "./policies/size-is.sentinel"
  enforcement_level = "advisory"
  params            = { size = "tiny" }
}
import "module" "things" {
  source = "./lib/things.sentinel"
}
"#;
const CREATES_ONLY: &str = r#"// Nothing is destroyed here.

import "tfplan/v2" as tfplan

// Every change makes something new.
creates = rule {
	all tfplan.resource_changes as _, change { change.change.actions is ["create"] }
}

main = rule { creates }
"#;
const SIZE_IS: &str = r#"import "things"
import "tfrun"

param size

print(tfrun.created_by, "wants", things.sizes)

sizes = rule { things.sizes }
main = rule { all sizes as s { s is size } }
"#;
const THINGS: &str = r#"import "tfplan/v2" as tfplan

sizes = map tfplan.resource_changes as _, change { change.change.after.input }
"#;
const FILES: [(&str, &str); 4] = [
    ("sentinel.hcl", LEVELS),
    ("policies/creates-only.sentinel", CREATES_ONLY),
    ("policies/size-is.sentinel", SIZE_IS),
    ("lib/things.sentinel", THINGS),
];

/// A workspace `net` whose plans a set of one policy is against.
fn one_policy(level: &str, setting: &str, sentinel: &str) -> World {
    let manifest = format!("policy \"one\" {{\n  enforcement_level = \"{level}\"\n}}\n");
    let files = [("sentinel.hcl", manifest.as_str()), ("one.sentinel", sentinel)];
    Setup::new().workspace("net", terraform::SIMPLE).policy_set_of("set", "net", setting, &files).start()
}

#[tokio::test]
async fn a_policy_at_each_level_passes_is_shown_waits_for_an_override_or_ends_the_run() {
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .workspace_with("big", terraform::SIMPLE, |workspace| {
            workspace.with("variables = { size = \"big\" }")
        })
        .policy_set_of("levels", "*", "", &FILES)
        .start();

    // small: the advisory policy alone objects
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Checked").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    for words in [
        "# Policy Set: levels (Sentinel)",
        "## Policy 1: creates-only (hard-mandatory)\n\nResult: true\n\nDescription:\n  Nothing is destroyed here.\n",
        "TRUE - policies/creates-only.sentinel:10:1 - Rule \"main\"\n  Value:\n    true\n",
        "- Rule \"creates\"\n  Description:\n    Every change makes something new.\n\n  Value:\n    true\n",
        "## Policy 3: size-is-tiny (advisory)\n\nResult: false\n",
        "Print output:\n  operator wants [\"small\"]\n",
        "- Rule \"sizes\"\n  Value:\n    [\n      \"small\",\n    ]\n",
    ] {
        assert!(log.contains(words), "{words:?} is not in:\n{log}");
    }
    let check = &world.client("owner").policy_checks(&run.id).await.unwrap()[0];
    let counts = check.result.as_ref().unwrap();
    assert_eq!((counts.passed, counts.advisory_failed, counts.soft_failed), (2, 1, 0));
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;

    // big in place of small: an update, which the hard-mandatory policy forbids
    std::fs::write(world.source("net").join("main.tf"), terraform::SIMPLE.replace("small", "big")).unwrap();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Plan Errored").await;
    assert!(
        run.error().is_some_and(|why| why.contains("policy levels/creates-only failed (hard-mandatory)"))
    );

    // big from the start: the soft-mandatory policy objects
    let run = world.queue("big").await;
    let run = world.reaches(&run, "Policy Override").await;
    world.override_policies("owner", &run).await.unwrap();
    let run = world.reaches(&run, "Policy Checked").await;
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn a_failed_soft_mandatory_policy_is_overridden_and_applied() {
    let world = one_policy("soft-mandatory", "", "// Nobody gets through.\n\nmain = rule { false }\n");
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Override").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    assert!(log.contains("FALSE - one.sentinel:3:1 - Rule \"main\""), "{log}");
    let show = |arguments: &[&str]| {
        let output = world.cli("owner").args(["run", "show", &run.id]).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = show(&[]);
    assert!(text.contains("set/one  failed (soft-mandatory)  Nobody gets through."), "{text}");
    let json: serde_json::Value = serde_json::from_str(&show(&["--json"])).unwrap();
    let policy = &json["policy_checks"][0]["sets"][0]["policies"][0];
    assert_eq!(
        (policy["result"].as_str(), policy["rules"][0]["value"].as_bool()),
        (Some("failed"), Some(false))
    );
    assert!(world.override_policies("operator", &run).await.is_err(), "only owners override");
    world.override_policies("owner", &run).await.unwrap();
    let run = world.reaches(&run, "Policy Checked").await;
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, ["terraform_data.thing"]);
}

#[tokio::test]
async fn an_error_inside_a_policy_is_its_failure_and_its_place_is_shown() {
    let world =
        one_policy("hard-mandatory", "", "import \"tfrun\"\n\nmain = rule { tfrun.message + 3 is 3 }\n");
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Plan Errored").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    assert!(log.contains("Result: error") && log.contains("one.sentinel:3:"), "{log}");
}

#[tokio::test]
async fn a_policy_that_never_ends_is_ended_and_counts_as_failed() {
    let sentinel = "for range(1000) as a {\n\tfor range(1000) as b {\n\t\tfor range(1000) as c {\n\t\t\td = a * b * c\n\t\t}\n\t}\n}\nmain = true\n";
    let world = one_policy("soft-mandatory", "time_limit = \"200ms\"", sentinel);
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Override").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    // the second is said when a busy machine leaves the policy no time to end by itself
    let said = ["ran longer than 0.2 seconds", "time limit of 200ms"];
    assert!(said.iter().any(|words| log.contains(words)), "{log}");
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn a_set_with_a_syntax_error_ends_the_run_errored_with_the_place_and_the_daemon_lives() {
    let world = one_policy("advisory", "", "main = rule {\n\t1 is\n}\n");
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Plan Errored").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    assert!(log.contains("one.sentinel:3:1: ") && log.contains("\n      }\n      ^\n"), "{log}");
    let again = world.queue("net").await;
    world.reaches(&again, "Plan Errored").await;

    let check = world.cli("owner").args(["config", "check"]).arg(world.config_file()).output().unwrap();
    let told = String::from_utf8_lossy(&check.stderr).into_owned();
    assert!(!check.status.success() && told.contains("one.sentinel:3:1: "), "{told}");
}

#[tokio::test]
async fn sets_of_both_languages_count_into_one_outcome() {
    let rego = "package rules\nimport rego.v1\nnever contains \"no\" if {\n  input.run.workspace.name == \"soft\"\n}\n";
    let policies =
        "policy \"never\" {\n  query = \"data.rules.never\"\n  enforcement_level = \"soft-mandatory\"\n}\n";
    let sentinel = "import \"tfrun\"\nmain = rule { tfrun.workspace.name is not \"hard\" }\n";
    let manifest = "policy \"one\" {\n  enforcement_level = \"hard-mandatory\"\n}\n";
    let world = Setup::new()
        .workspace("passing", terraform::SIMPLE)
        .workspace("soft", terraform::SIMPLE)
        .workspace("hard", terraform::SIMPLE)
        .policy_set("in-rego", "*", policies, rego)
        .policy_set_of("in-sentinel", "*", "", &[("sentinel.hcl", manifest), ("one.sentinel", sentinel)])
        .start();
    for (workspace, state) in
        [("passing", "Policy Checked"), ("soft", "Policy Override"), ("hard", "Plan Errored")]
    {
        let run = world.queue(workspace).await;
        let run = world.reaches(&run, state).await;
        let log = world.log(&run, Stage::PolicyCheck).await;
        assert!(log.contains("# Policy Set: in-rego (Rego)"), "{log}");
        assert!(log.contains("# Policy Set: in-sentinel (Sentinel)"), "{log}");
        assert!(log.contains("2 policies evaluated."), "{log}");
    }
}

#[tokio::test]
async fn sensitive_values_are_in_no_log_no_report_and_no_answer_of_the_api() {
    const SECRET: &str = "correct-horse-battery";
    let main_tf = "variable \"token\" {\n  type = string\n}\nresource \"terraform_data\" \"thing\" {\n  input = sensitive(var.token)\n}\n";
    let sentinel = r#"import "tfplan/v2" as tfplan
token = tfplan.variables.token.value
print(token, tfplan.resource_changes)
inputs = rule { map tfplan.resource_changes as _, change { change.change.after.input } }
main = rule { inputs is [] or error("the token is " + token) }
"#;
    let variables = format!("sensitive_variables = {{\n    token = {SECRET:?}\n  }}");
    let manifest = "policy \"one\" {\n  enforcement_level = \"soft-mandatory\"\n}\n";
    let world = Setup::new()
        .workspace_with("net", main_tf, |workspace| workspace.with(&variables))
        .policy_set_of("set", "net", "", &[("sentinel.hcl", manifest), ("one.sentinel", sentinel)])
        .start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Override").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    assert!(log.contains("the token is (sensitive value)") && !log.contains(SECRET), "{log}");
    let show = world.cli("owner").args(["run", "show", "--json", &run.id]).output().unwrap();
    assert!(show.status.success() && !String::from_utf8_lossy(&show.stdout).contains(SECRET));
    let report = world.policy_check_document(&run).await;
    let report = report["data"][0]["attributes"]["result"]["sentinel"].to_string();
    assert!(report.contains("(sensitive value)") && !report.contains(SECRET), "{report}");
}

#[tokio::test]
async fn a_policy_sees_the_whole_run() {
    let sentinel = r#"import "tfrun"
import "types"

for {
	"id": types.type_of(tfrun.id),
	"created_at": types.type_of(tfrun.created_at),
	"created_by": types.type_of(tfrun.created_by),
	"message": types.type_of(tfrun.message),
	"commit_sha": types.type_of(tfrun.commit_sha),
	"is_destroy": types.type_of(tfrun.is_destroy),
	"refresh": types.type_of(tfrun.refresh),
	"refresh_only": types.type_of(tfrun.refresh_only),
	"replace_addrs": types.type_of(tfrun.replace_addrs),
	"speculative": types.type_of(tfrun.speculative),
	"target_addrs": types.type_of(tfrun.target_addrs),
	"project": types.type_of(tfrun.project),
	"variables": types.type_of(tfrun.variables),
	"organization": types.type_of(tfrun.organization),
	"workspace": types.type_of(tfrun.workspace),
} as key, kind {
	print(key, "is", kind)
}
for {
	"id": types.type_of(tfrun.workspace.id),
	"name": types.type_of(tfrun.workspace.name),
	"created_at": types.type_of(tfrun.workspace.created_at),
	"description": types.type_of(tfrun.workspace.description),
	"execution_mode": types.type_of(tfrun.workspace.execution_mode),
	"auto_apply": types.type_of(tfrun.workspace.auto_apply),
	"tags": types.type_of(tfrun.workspace.tags),
	"tag_bindings": types.type_of(tfrun.workspace.tag_bindings),
	"working_directory": types.type_of(tfrun.workspace.working_directory),
	"vcs_repo": types.type_of(tfrun.workspace.vcs_repo),
} as key, kind {
	print("workspace", key, "is", kind)
}
print(tfrun.variables)
print(tfrun.target_addrs, types.type_of(tfrun.cost_estimate))
main = true
"#;
    let manifest = "policy \"one\" {}\n";
    let settings = "variables = { size = \"big\" }\n  environment = { PLACE = \"here\" }";
    let world = Setup::new()
        .workspace_with("net", terraform::SIMPLE, |workspace| workspace.with(settings))
        .policy_set_of("set", "net", "", &[("sentinel.hcl", manifest), ("one.sentinel", sentinel)])
        .start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Checked").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    for words in [
        "id is string",
        "created_at is string",
        "commit_sha is null",
        "is_destroy is bool",
        "replace_addrs is null",
        "project is map",
        "workspace auto_apply is bool",
        "workspace tag_bindings is list",
        "workspace vcs_repo is null",
        "\"PLACE\": {\"category\": \"env\", \"sensitive\": false}",
        "\"size\": {\"category\": \"terraform\", \"sensitive\": false}",
        "null undefined",
    ] {
        assert!(log.contains(words), "{words:?} is not in:\n{log}");
    }
    assert!(!log.contains("is undefined"), "{log}");
}

#[tokio::test]
async fn a_policy_has_the_parameters_and_reaches_the_hosts_that_the_configuration_gives() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let read = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nsmall").unwrap();
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    let settings = format!(
        "http_hosts = [\"{host}\"]\n  parameters = {{ path = \"sizes\" }}\n  sensitive_parameters = {{ token = \"tell-nobody\" }}"
    );
    let sentinel = format!(
        r#"import "http"
import "tfplan/v2" as tfplan

param path
param token

request = http.request("http://{host}/" + path).with_header("Authorization", token)
allowed = http.get(request).body
print("with", token, "only", allowed)
main = rule {{ all tfplan.resource_changes as _, change {{ change.change.after.input is allowed }} }}
"#
    );
    let world = one_policy("hard-mandatory", &settings, &sentinel);
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Checked").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    assert!(log.contains("with (sensitive value) only small"), "{log}");
    let asked = served.join().unwrap();
    assert!(asked.starts_with("GET /sizes HTTP/1.1") && asked.contains("tell-nobody"), "{asked}");
}

#[tokio::test]
async fn a_set_in_a_folder_of_a_repository_uses_the_modules_beside_it() {
    let files = [
        (
            "aws/sentinel.hcl",
            "policy \"small\" {}\nimport \"module\" \"things\" {\n  source = \"../lib/things.sentinel\"\n}\n",
        ),
        (
            "aws/small.sentinel",
            "import \"things\"\nmain = rule { all things.sizes as s { s is \"small\" } }\n",
        ),
        ("lib/things.sentinel", THINGS),
    ];
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .policy_set_of("rules", "net", "policies_path = \"aws\"", &files)
        .start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Checked").await;
    assert!(world.log(&run, Stage::PolicyCheck).await.contains("## Policy 1: small (advisory)"));
}

#[tokio::test]
async fn a_policy_set_whose_folder_has_gone_fails_its_runs_and_does_not_keep_the_daemon_from_starting() {
    let files = [("sentinel.hcl", "policy \"p\" {}\n"), ("p.sentinel", "main = true\n")];
    let mut world =
        Setup::new().workspace("net", terraform::SIMPLE).policy_set_of("rules", "net", "", &files).start();
    world.kill_daemon();
    std::fs::remove_dir_all(world.path().join("policies/rules")).unwrap();
    world.start_daemon();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Plan Errored").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    assert!(log.contains("cannot read the policy set"), "{log}");
}

#[tokio::test]
async fn a_check_that_takes_long_says_what_it_is_at_and_keeps_that_when_it_is_canceled() {
    let manifest = "policy \"first\" {}\npolicy \"endless\" {}\n";
    let endless =
        "for range(100000) as a {\n\tfor range(100000) as b {\n\t\tc = a * b\n\t}\n}\nmain = true\n";
    let files =
        [("sentinel.hcl", manifest), ("first.sentinel", "main = false\n"), ("endless.sentinel", endless)];
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .policy_set_of("rules", "net", "time_limit = \"60s\"", &files)
        .start();
    let run = world.queue("net").await;
    wait_for("the log says what the check is at", async || {
        world.log(&run, Stage::PolicyCheck).await.contains("policy 2 of 2: endless …").then_some(())
    })
    .await;
    world.cancel(&run).await;
    let run = world.reaches(&run, "Canceled").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    assert!(log.contains("Policy set rules, policy 1 of 2: first: false\n"), "{log}");
    assert!(!log.contains("memory limit"), "{log}");
    world.assert_nothing_is_left();
}
