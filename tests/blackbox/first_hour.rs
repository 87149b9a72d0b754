//! From a repository and nothing else to a reviewed apply, by the commands that are told.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Daemon, Terminal, binary, command, terraform, wait_for};

/// A new account on a machine, with an estate that terraform has made.
struct Account {
    home: tempfile::TempDir,
}

impl Account {
    fn new() -> Self {
        Self { home: tempfile::Builder::new().prefix("signalbox-").tempdir().unwrap() }
    }

    fn command(&self) -> Command {
        let mut command = command(self.home.path());
        command.env_remove("RUST_LOG").env("USER", "ada").current_dir(self.infra());
        command
    }

    fn signalbox(&self, line: &str) -> Output {
        self.command().args(line.split_whitespace()).output().unwrap()
    }

    fn done(&self, line: &str) -> String {
        let output = self.signalbox(line);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {stderr}\n{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stdout).unwrap()
    }

    fn infra(&self) -> std::path::PathBuf {
        self.home.path().join("infra")
    }

    /// A root module that terraform has applied by itself: its directory.
    fn estate(&self) -> std::path::PathBuf {
        let network = self.infra().join("network");
        std::fs::create_dir_all(&network).unwrap();
        std::fs::write(network.join("main.tf"), terraform::SIMPLE).unwrap();
        self.terraform(&network, "init -input=false");
        self.terraform(&network, "apply -input=false -auto-approve");
        network
    }

    fn terraform(&self, directory: &Path, line: &str) {
        let mut terraform = Command::new("terraform");
        terraform.current_dir(directory).env_remove("TF_CLI_CONFIG_FILE").args(line.split_whitespace());
        let output = terraform.output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        for process in crate::support::processes::alive_below(self.home.path(), None) {
            if let Some(pid) = rustix::process::Pid::from_raw(process.pid.cast_signed()) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// `init` takes the first port that is free, and another could take the same before its daemon listens.
static PORTS: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// The commands below "Next", in their order.
fn next(said: &str) -> Vec<String> {
    let next = said.split("Next\n").nth(1).expect("it says what comes next");
    next.lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn an_estate_that_exists_comes_in_and_is_changed_by_the_commands_that_init_says() {
    let _alone = PORTS.lock().await;
    let account = Account::new();
    let network = account.estate();

    let said = account.done("init");
    let steps = next(&said);
    assert_eq!(steps.len(), 3, "{said}");
    assert!(
        steps[0].starts_with("signalbox serve --config ") && said.contains("user ada, an owner"),
        "{said}"
    );
    let again = account.signalbox("init");
    assert!(!again.status.success(), "what is there stays as it is");

    let daemon = Daemon::start(&account.infra().join("signalbox.hcl"), account.home.path());
    // without the second step nothing is built twice
    let run = steps[2].strip_prefix("signalbox ").unwrap();
    let stopped = account.signalbox(run);
    let words = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert!(stopped.status.code() == Some(1) && words.contains("has no state"), "{words}");
    account.done(steps[1].strip_prefix("signalbox ").unwrap());
    let log = account.done(run);
    assert!(log.contains("No changes."), "{log}");

    // a change, reviewed and confirmed at a terminal
    let main = terraform::SIMPLE.replace("\"small\"", "\"large\"");
    std::fs::write(network.join("main.tf"), main).unwrap();
    let mut follow = account.command();
    follow.args(run.split_whitespace());
    let mut terminal = Terminal::start(follow);
    terminal.shows("Only \"yes\" does it", 1).await;
    assert!(terminal.screen().contains("~ terraform_data.thing"), "{}", terminal.screen());
    terminal.types("yes\n");
    assert!(terminal.ends().await.success(), "{}", terminal.screen());
    assert_eq!(account.done("output network size"), "\"large\"\n");
    drop(daemon);
}

/// The commands of a page, in their order: the lines of its blocks of shell, without what explains them.
fn commands(text: &'static str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let lines = blocks.flat_map(str::lines).map(|line| line.split("  #").next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[tokio::test]
async fn the_page_about_the_first_apply_is_true_word_by_word() {
    let _alone = PORTS.lock().await;
    let account = Account::new();
    account.estate();
    // where a shell finds it
    let bin = account.home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(binary(), bin.join("signalbox")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut daemon = None;
    let mut said = std::collections::BTreeMap::new();
    for line in commands(include_str!("../../docs/first-apply.md")) {
        if line.starts_with("signalbox serve") {
            daemon = Some(Daemon::start(&account.infra().join("signalbox.hcl"), account.home.path()));
            continue;
        }
        if line.starts_with("signalbox run show") || line.starts_with("signalbox run confirm") {
            // a person takes longer to type it
            wait_for("the plan waits for somebody", async || {
                account.done("run list network -n 1").contains("Needs Confirmation").then_some(())
            })
            .await;
        }
        let mut shell = command(account.home.path());
        let output =
            shell.current_dir(account.infra()).env("PATH", &path).env("USER", "ada").env_remove("RUST_LOG");
        let mut through = Command::new("sh");
        through.env_clear().envs(output.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = through.current_dir(account.infra()).arg("-ec").arg(&line).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{line}: {text}{}", String::from_utf8_lossy(&output.stderr));
        said.insert(line, text);
    }
    let of = |begin: &str| {
        said.iter().find(|(line, _)| line.starts_with(begin)).map(|(_, text)| text.as_str()).unwrap()
    };
    assert!(of("signalbox run start network --plan-only").contains("No changes."));
    assert!(of("signalbox state list").contains("terraform_data.thing"));
    assert!(
        of("signalbox run show network").contains("~ terraform_data.thing"),
        "{}",
        of("signalbox run show network")
    );
    assert_eq!(of("signalbox output"), "size = \"large\"\n");
    assert!(daemon.is_some(), "the page has a daemon");
}

#[test]
fn init_takes_a_git_repository_where_that_is_asked_for_and_says_what_is_wrong_otherwise() {
    let account = Account::new();
    std::fs::create_dir_all(account.infra().join("live/prod")).unwrap();
    let nothing = account.signalbox("init");
    let words = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(words.contains("no terraform configuration") && words.contains("signalbox demo"), "{words}");
    std::fs::write(account.infra().join("live/prod/main.tf"), terraform::SIMPLE).unwrap();
    let no_git = account.signalbox("init --source git");
    assert!(
        !no_git.status.success() && String::from_utf8_lossy(&no_git.stderr).contains("no git repository")
    );
    for line in ["init --quiet -b main", "remote add origin git@git.example.com:acme/infra.git"] {
        let git = Command::new("git").arg("-C").arg(account.infra()).args(line.split_whitespace()).status();
        assert!(git.unwrap().success());
    }
    account.done("init --source git --output first.hcl --data-dir data --listen 127.0.0.1:0");
    let text = std::fs::read_to_string(account.infra().join("first.hcl")).unwrap();
    for line in [
        "url = \"git@git.example.com:acme/infra.git\"",
        "ref = \"main\"",
        "working_directory = \"live/prod\"",
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&account.done("init -json -o second.hcl")).unwrap();
    assert_eq!(json["workspaces"], serde_json::json!(["live-prod"]));
}
