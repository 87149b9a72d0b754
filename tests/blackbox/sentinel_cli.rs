//! `signalbox sentinel …`: the real binary over real files, and over plans of the real terraform.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Setup, World, command};

/// A directory with policies, and somebody who works in it.
struct Desk {
    dir: tempfile::TempDir,
}

struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Done {
    fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    fn said(self, words: &str) -> Self {
        assert!(self.err.contains(words), "{words:?} is not in stderr:\n{}", self.err);
        self
    }

    #[track_caller]
    fn shown(self, words: &str) -> Self {
        assert!(self.out.contains(words), "{words:?} is not in stdout:\n{}", self.out);
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {}", self.out))
    }
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let desk = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(desk.dir.path().join("work")).unwrap();
        for (name, text) in files {
            desk.write(name, text);
        }
        desk
    }

    /// The working directory.
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, line: &str) -> Command {
        let mut command = command(self.dir.path());
        command.current_dir(self.path("")).arg("sentinel").args(line.split_whitespace());
        command
    }

    fn run(&self, line: &str) -> Done {
        Done::of(&mut self.command(line))
    }
}

const POLICY: &str =
    "param limit default 3\n\n// Few are few.\nfew = rule { limit < 5 }\nmain = rule { few }\n";
const GOOD: &str = "test {\n  rules = { main = true }\n}\n";
const BAD: &str = "param \"limit\" {\n  value = 7\n}\n";

fn policies() -> Desk {
    Desk::new(&[
        ("few.sentinel", POLICY),
        ("test/few/good.hcl", GOOD),
        ("test/few/bad.hcl", BAD),
        ("other.sentinel", "main = rule { true }\n"),
        ("test/other/old.json", "{\"test\": {\"main\": true}}"),
    ])
}

#[test]
fn test_runs_the_cases_of_every_policy_and_fails_with_a_trace() {
    let done = policies().run("test").ended(1).said("2 passed, 1 failed");
    let expected = "\
FAIL - few.sentinel
  FAIL - test/few/bad.hcl
    expected \"main\" to be true, got: false

    trace:
      FALSE - few.sentinel:5:1 - Rule \"main\"
        Value:
          false

      FALSE - few.sentinel:4:1 - Rule \"few\"
        Description:
          Few are few.

        Value:
          false

  PASS - test/few/good.hcl
PASS - other.sentinel
  PASS - test/other/old.json
";
    assert_eq!(done.out, expected);
}

#[test]
fn test_runs_what_it_is_asked_for_as_the_reference_is_asked() {
    let desk = policies();
    let good = "PASS - few.sentinel\n  PASS - test/few/good.hcl\n";
    assert_eq!(desk.run("test -run=few/good").ended(0).out, good);
    assert_eq!(desk.run("test --run ^few$/^good$ few.sentinel").ended(0).out, good);
    desk.run("test -run /old -verbose .").ended(0).shown("Rule \"main\"");
    let parent = desk.path("..").canonicalize().unwrap();
    let done = Done::of(desk.command("test work").current_dir(&parent)).ended(1);
    assert!(done.out.contains("FAIL - work/test/few/bad.hcl"), "{}", done.out);
    let json = desk.run("test -json").ended(1).json();
    let case = &json["policies"]["few.sentinel"]["cases"]["test/few/bad.hcl"];
    assert_eq!(case["status"], "FAIL");
    assert_eq!(case["rule_detail"]["main"]["expected"], true);
    assert_eq!(case["trace"]["rules"]["few"]["position"]["line"], 4);
    let coloured = desk.run("test --color always -run=few/good").ended(0).out;
    assert_eq!(coloured, good.replace("PASS", "\u{1b}[32mPASS\u{1b}[0m"));
}

#[test]
fn modules_may_lie_anywhere_in_ones_own_files() {
    let desk = Desk::new(&[
        ("p.sentinel", "import \"m\"\nmain = rule { m.one is 1 }\n"),
        ("test/p/a.hcl", "module \"m\" {\n  source = \"../../../shared/m.sentinel\"\n}\n"),
        ("../shared/m.sentinel", "one = 1\n"),
    ]);
    desk.run("test").ended(0);
    let absolute = desk.path("p.sentinel");
    desk.run(&format!("test {}", absolute.display())).ended(0).shown("PASS");
}

#[test]
fn a_test_run_that_tests_nothing_is_no_success() {
    let desk = policies();
    desk.write("empty/notes.txt", "");
    desk.run("test empty").ended(2).said("there is no policy in empty").said("end with .sentinel");
    desk.run("test nowhere").ended(2).said("cannot list `nowhere`");
    desk.run("test gone.sentinel").ended(2).said("cannot read `gone.sentinel`");
    desk.run("test -run=nobody").ended(2).said("no policy and no case matches `nobody`");
    desk.run("test -run=/nothing").ended(2).said("no policy and no case matches `/nothing`");
    desk.run("test -run=(").ended(2).said("`(` is no regular expression");
    let said: Value = serde_json::from_str(&desk.run("test --json nowhere").ended(2).err).unwrap();
    assert!(said["error"].as_str().unwrap().contains("nowhere"));
    // the reference's answer to a policy that nobody has tested yet
    desk.write("new/p.sentinel", "main = true\n");
    desk.run("test new").ended(0).shown("? - new/p.sentinel [no test files]").said("no test cases");
}

#[test]
fn mistakes_are_shown_as_a_compiler_shows_them() {
    let desk = Desk::new(&[
        ("syntax.sentinel", "x = 1\nmain = rule { x is }\n"),
        ("test/syntax/a.hcl", ""),
        ("runtime.sentinel", "m = {}\nx = m.gone\nfor x as y { }\nmain = true\n"),
        ("test/runtime/a.hcl", ""),
        ("undefined.sentinel", "m = {}\nx = m.gone\nmain = rule { x is 1 }\n"),
        ("test/undefined/a.hcl", ""),
        ("case.sentinel", "main = true\n"),
        ("test/case/a.hcl", "param {\n"),
    ]);
    let syntax = "error: expected an expression, found `}`\n --> syntax.sentinel:2:20\n  |\n2 | main = rule { x is }\n  |                    ^ expected an expression\n";
    let indented: String = syntax.lines().map(|line| format!("    {line}\n")).collect();
    desk.run("test -run=syntax").ended(1).shown(&indented).said("1 could not be run");
    desk.run("apply syntax.sentinel").ended(1).said(syntax);
    desk.run("fmt syntax.sentinel").ended(1).said(syntax);
    for arguments in ["test -run=runtime", "apply runtime.sentinel"] {
        desk.run(arguments)
            .ended(1)
            .shown("`for` needs a list or a map, not undefined")
            .shown("--> runtime.sentinel:3:5")
            .shown("3 | for x as y { }")
            .shown("the undefined value came into being at runtime.sentinel:2:5");
    }
    for arguments in ["test -run=undefined", "apply undefined.sentinel"] {
        desk.run(arguments)
            .ended(1)
            .shown("the result of `main` is undefined")
            .shown("--> undefined.sentinel:2:5")
            .shown("^ the undefined value came into being here");
    }
    desk.run("test -run=case").ended(1).shown("--> test/case/a.hcl:");
}

#[test]
fn apply_evaluates_one_policy() {
    let desk = policies();
    assert_eq!(desk.run("apply few.sentinel").ended(0).out, "Pass - few.sentinel\n");
    desk.run("apply -trace few.sentinel").ended(0).shown("TRUE - few.sentinel:4:1 - Rule \"few\"");
    desk.run("apply -param limit=7 few.sentinel")
        .ended(1)
        .shown("Fail - few.sentinel\n")
        .shown("FALSE - few.sentinel:4:1 - Rule \"few\"");
    let json = desk.run("apply -json -param=limit=7 few.sentinel").ended(1).json();
    assert_eq!(json["result"], false);
    assert_eq!(json["trace"]["rules"]["few"]["value"], false);
    desk.run("apply -param limits=7 few.sentinel")
        .ended(2)
        .said("the policy has no parameter `limits`")
        .said("it has limit");
    desk.run("apply gone.sentinel").ended(2).said("cannot read `gone.sentinel`");
    desk.run("apply -config=gone.hcl few.sentinel").ended(2).said("cannot read `gone.hcl`");
    desk.run("apply").ended(2).said("there is no policy to evaluate");
    desk.write(
        "net.sentinel",
        "import \"http\"\nmain = rule { http.get(\"https://example.com\").status_code is 200 }\n",
    );
    desk.run("apply net.sentinel").ended(1).shown("no host may be reached").shown("--http-host allows one");
    desk.run("apply -http-host=elsewhere.example net.sentinel").ended(1).shown("is none of");
    desk.run("apply -http-host=https://example.com/ net.sentinel").ended(2).said("not a host");
}

#[test]
fn a_policy_reaches_the_hosts_that_are_named() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let answering = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = server.accept().unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").unwrap();
        }
    });
    let policy =
        format!("import \"http\"\nmain = rule {{ http.get(\"http://{address}/\").body is \"ok\" }}\n");
    let desk = Desk::new(&[("net.sentinel", &policy), ("test/net/case.hcl", GOOD)]);
    desk.run(&format!("apply -http-host={address} net.sentinel")).ended(0);
    desk.run(&format!("test -http-host={address}")).ended(0);
    answering.join().unwrap();
    desk.run("test").ended(1).shown("no host may be reached");
    desk.write("remote.sentinel", "import \"m\"\nmain = m.x\n");
    desk.write("test/remote/a.hcl", "module \"m\" {\n  source = \"http://example.com/m.sentinel\"\n}\n");
    desk.run("test remote.sentinel").ended(1).shown("is not fetched over https").shown("checksum=sha256");
}

#[test]
fn apply_takes_its_configuration_from_where_it_is_said() {
    let desk = policies();
    desk.write(
        "set/sentinel.hcl",
        "policy \"few\" {\n  source = \"../few.sentinel\"\n  enforcement_level = \"hard-mandatory\"\n}\n\
         policy \"own\" {}\nparam \"limit\" {\n  value = 9\n}\nglobal \"word\" {\n  value = \"a\"\n}\n",
    );
    desk.write("set/own.sentinel", "main = rule { word is \"b\" }\n");
    for config in ["set", "set/sentinel.hcl"] {
        desk.run(&format!("apply -config={config} few")).ended(1).shown("Fail - few");
        desk.run(&format!("apply -config={config} -param limit=1 few")).ended(0);
        desk.run(&format!("apply -config {config} -global word=b own")).ended(0);
        // relative to where one stands, since it is no name of the configuration
        desk.run(&format!("apply -config={config} few.sentinel")).ended(1);
    }
    desk.run("apply -config=set")
        .ended(1)
        .shown("Fail - few (hard-mandatory)\nFail - own (advisory)\n")
        .shown("Sentinel Result: false");
    desk.run("apply -config=set -param limit=1")
        .ended(0)
        .shown("Pass - few (hard-mandatory)\nFail - own (advisory)");
    let json = desk.run("apply -config=set -json").ended(1).json();
    assert_eq!(json["policies"][0]["policy"], "few");
    // the one of the working directory needs not be named
    let done = Done::of(desk.command("apply few").current_dir(desk.path("set"))).ended(1);
    assert!(done.out.contains("FALSE - ../few.sentinel:5:1"), "{}", done.out);
    desk.write("broken.hcl", "policy \"few\" {\n  enforcement_level = \"hard\"\n}\n");
    desk.run("apply -config=broken.hcl few").ended(2).said("--> broken.hcl:2:");
}

const UGLY: &str = "# why\nmain=rule{ 1 is 1 } // here\n/* the end */\n";
const PRETTY: &str = "# why\nmain = rule { 1 is 1 } // here\n/* the end */\n";

#[test]
fn fmt_rewrites_what_is_not_formatted_and_names_it() {
    let desk = Desk::new(&[("a.sentinel", UGLY), ("b.sentinel", PRETTY), ("c.sentinel", "x = \n")]);
    let mode = |name: &str| desk.path(name).metadata().unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(desk.path("a.sentinel"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("a.sentinel", desk.path("link.sentinel")).unwrap();

    assert_eq!(desk.run("fmt -check link.sentinel b.sentinel").ended(1).out, "link.sentinel\n");
    assert_eq!(desk.run("fmt -write=false a.sentinel b.sentinel").ended(0).out, PRETTY.repeat(2));
    assert_eq!(desk.read("a.sentinel"), UGLY, "nothing was to be written");

    assert_eq!(desk.run("fmt link.sentinel b.sentinel").ended(0).out, "link.sentinel\n");
    assert_eq!(desk.read("a.sentinel"), PRETTY);
    assert_eq!(mode("a.sentinel"), 0o640);
    assert!(desk.path("link.sentinel").symlink_metadata().unwrap().is_symlink());
    assert_eq!(desk.run("fmt a.sentinel b.sentinel").ended(0).out, "");
    desk.run("fmt --check a.sentinel").ended(0);

    desk.write("a.sentinel", UGLY);
    let json = desk.run("fmt --json a.sentinel c.sentinel b.sentinel").ended(1).json();
    assert_eq!(json["unformatted"], serde_json::json!(["a.sentinel"]));
    assert_eq!(desk.read("a.sentinel"), PRETTY, "a mistake in another file changes nothing");
    assert_eq!(desk.read("c.sentinel"), "x = \n");
    let left: Vec<_> =
        std::fs::read_dir(desk.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn fmt_leaves_alone_what_it_can_not_format() {
    let desk = Desk::new(&[("a.sentinel", "x = \n"), ("folder/b.sentinel", "")]);
    desk.run("fmt a.sentinel").ended(1).said("--> a.sentinel:2:1");
    assert_eq!(desk.read("a.sentinel"), "x = \n");
    desk.run("fmt gone.sentinel").ended(2).said("can't read gone.sentinel");
    desk.run("fmt folder").ended(2).said("can't read folder");
    std::fs::write(desk.path("bytes.sentinel"), b"x = \"\xff\"").unwrap();
    desk.run("fmt bytes.sentinel").ended(2).said("UTF-8");
    desk.run("fmt").ended(2);
}

#[test]
fn fmt_reads_stdin() {
    let desk = Desk::new(&[]);
    let formatted = |line: &str, text: &str| {
        let mut command = desk.command(line);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(formatted("fmt -", UGLY), (Some(0), PRETTY.to_owned()));
    assert_eq!(formatted("fmt -check -", UGLY), (Some(1), "-\n".to_owned()));
    assert_eq!(formatted("fmt -", "x ="), (Some(1), String::new()));
}

const MAIN: &str = r#"
variable "size" {
  default = "small"
}

variable "password" {
  default   = "hunter2-hunter2"
  sensitive = true
}

variable "is_secret" {
  type      = bool
  default   = true
  sensitive = true
}

resource "terraform_data" "server" {
  count = 2
  input = {
    size     = var.size
    password = var.password
    secret   = var.is_secret
  }
}

output "password" {
  value     = var.password
  sensitive = true
}
"#;

/// Servers of a size that one may have.
const SIZES: &str = r#"import "tfplan/v2" as tfplan
import "tfconfig/v2" as tfconfig
import "tfrun"

servers = filter tfplan.resource_changes as _, rc {
	rc.type is "terraform_data" and rc.change.actions contains "create"
}

small = rule { all servers as _, s { s.change.after.input.size is "small" } }
counted = rule { length(servers) is 2 and length(tfconfig.resources) is 1 }
masked = rule {
	all servers as _, s {
		s.change.after.input.password is "(sensitive value)" and
			s.change.after.input.secret is "(sensitive value)"
	} and
		tfplan.variables.is_secret.value is "(sensitive value)" and
		tfplan.planned_values.outputs.password.value is "(sensitive value)"
}
known = rule { tfrun.variables.password.sensitive and not tfrun.variables.size.sensitive }
main = rule { small and counted and masked and known }
"#;

fn terraform(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("terraform")
        .args(arguments)
        .current_dir(folder)
        .env_remove("TF_CLI_CONFIG_FILE")
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .expect("terraform is on the path");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[track_caller]
fn assert_masked(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("hunter2"), "{}", path.display());
    }
}

#[test]
fn mocks_of_a_plan_can_be_tested_with_at_once() {
    let desk = Desk::new(&[("main.tf", MAIN), ("sizes.sentinel", SIZES)]);
    terraform(&desk.path(""), &["init", "-input=false"]);
    terraform(&desk.path(""), &["plan", "-input=false", "-out=plan"]);
    std::fs::write(desk.path("plan.json"), terraform(&desk.path(""), &["show", "-json", "plan"])).unwrap();

    desk.run("mocks plan.json -o mocks")
        .ended(0)
        .shown("mocks/sentinel.hcl\n")
        .said("sensitive values are masked")
        .said("tfrun has what a plan tells");
    assert_masked(&desk.path("mocks"));
    desk.run("apply -config=mocks/sentinel.hcl sizes.sentinel").ended(0);
    let mock = |import: &str, file: &str| {
        format!(
            "mock \"{import}\" {{\n  module {{\n    source = \"../../mocks/mock-{file}.sentinel\"\n  }}\n}}\n"
        )
    };
    let mocks =
        ["tfplan-v2", "tfconfig-v2", "tfrun"].map(|file| mock(&file.replace("-v2", "/v2"), file)).concat();
    desk.write("test/sizes/real.hcl", &mocks);
    desk.write("test/sizes/not.hcl", &(mocks + "test {\n  rules = { small = false }\n}\n"));
    desk.run("test").ended(1).shown("PASS - test/sizes/real.hcl").shown("FAIL - test/sizes/not.hcl");
    // what was written is formatted, so that it may be kept beside the policy
    let files = desk.run("mocks --json plan.json -o again").ended(0).json()["files"].clone();
    for file in
        files.as_array().unwrap().iter().filter_map(Value::as_str).filter(|file| file.ends_with("sentinel"))
    {
        desk.run(&format!("fmt -check {file}")).ended(0);
    }

    std::fs::write(desk.path("mocks/mock-tfrun.sentinel"), "changed by hand").unwrap();
    desk.run("mocks plan.json -o mocks").ended(2).said("is there already").said("--force");
    assert_eq!(desk.read("mocks/mock-tfrun.sentinel"), "changed by hand");
    desk.run("mocks plan.json -o mocks --force").ended(0);
    desk.run("apply -config=mocks sizes.sentinel").ended(0);
}

#[test]
fn what_is_no_plan_has_no_mocks() {
    let desk = Desk::new(&[("state.json", "{\"format_version\": \"1.0\"}"), ("broken.json", "{")]);
    desk.run("mocks gone.json -o m")
        .ended(2)
        .said("gone.json is no plan: No such file")
        .said("terraform show -json");
    desk.run("mocks broken.json -o m").ended(2).said("broken.json is no plan: EOF");
    desk.run("mocks state.json -o m").ended(2).said("it has no `planned_values`");
    desk.run("mocks run-4444444444444444 -o m").ended(2).said("there is no token");
    assert!(!desk.path("m").exists());
}

fn mocks_of(world: &World, user: &str, run: &str, desk: &Desk) -> Done {
    tokio::task::block_in_place(|| {
        Done::of(world.cli(user).current_dir(desk.path("")).args(["sentinel", "mocks", run, "-o", "mocks"]))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn mocks_of_a_run_are_what_its_policies_see_and_are_for_admins() {
    let world = Setup::new()
        .workspace("net", MAIN)
        .workspace("broken", crate::support::terraform::BROKEN_PLAN)
        .start();
    let new_run = client::NewRun { message: Some("by hand".to_owned()), ..client::NewRun::default() };
    let run = world.queue_as("operator", "net", new_run).await;
    world.reaches(&run, "Needs Confirmation").await;
    let desk = Desk::new(&[("sizes.sentinel", &SIZES.replace("known = rule { ", "known = rule { true or "))]);

    mocks_of(&world, "operator", &run.id, &desk).ended(1).said("of which you are an admin");
    mocks_of(&world, "stranger", &run.id, &desk).ended(1).said("of which you are an admin");
    assert!(!desk.path("mocks").exists());
    mocks_of(&world, "admin", &run.id, &desk).ended(0).said("sensitive values are masked");
    assert_masked(&desk.path("mocks"));
    desk.run("apply -config=mocks sizes.sentinel").ended(0);
    let rule = format!(
        "import \"tfrun\"\nmain = rule {{ tfrun.id is \"{}\" and tfrun.workspace.name is \"net\" and tfrun.message is \"by hand\" and tfrun.organization.name is \"acme\" and not tfrun.is_destroy }}\n",
        run.id
    );
    desk.write("run.sentinel", &rule);
    desk.run("apply -config=mocks run.sentinel").ended(0);

    let broken = world.queue("broken").await;
    world.reaches(&broken, "Plan Errored").await;
    mocks_of(&world, "admin", &broken.id, &desk).ended(1).said("the run has to have a plan");
}

#[test]
fn shells_complete_the_commands_and_their_options() {
    let desk = Desk::new(&[]);
    for shell in ["bash", "zsh", "fish"] {
        let script = Done::of(command(desk.dir.path()).args(["completions", shell])).ended(0).out;
        for word in ["sentinel", "mocks", "fmt", "verbose", "force"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
