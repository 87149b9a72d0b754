use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use client::{Client, ClientError, NewRun, Run, RunAction, RunEvent, Stage};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::{Daemon, Gate, processes, wait_for};

/// A world that is being made: the config file of its daemon, and the sources of its workspaces.
pub struct Setup {
    dir: TempDir,
    server: Vec<String>,
    blocks: Vec<String>,
}

/// A workspace of a world that is being made.
pub struct Workspace {
    name: String,
    settings: Vec<String>,
}

impl Workspace {
    /// A setting of its block, as HCL.
    #[must_use]
    pub fn with(mut self, setting: &str) -> Self {
        self.settings.push(setting.to_owned());
        self
    }
}

/// A daemon with its data, and clients for each kind of user.
///
/// `owner` may do everything, `operator` has write access, `planner` may plan, `reader` may read, `admin` is an
/// admin of every workspace, and `stranger` sees nothing.
pub struct World {
    dir: TempDir,
    daemon: Option<Daemon>,
}

/// A run that needs nobody's confirmation.
pub fn auto_apply() -> NewRun {
    NewRun { auto_apply: Some(true), ..NewRun::default() }
}

const USERS: [&str; 6] = ["owner", "operator", "planner", "reader", "admin", "stranger"];

impl Setup {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("signalbox-").tempdir().expect("a temporary directory");
        let mut blocks = vec!["organization = \"acme\"".to_owned()];
        for user in USERS {
            let digest = Sha256::digest(token(user)).iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            blocks.push(format!("user {user:?} {{\n  token_sha256 = {digest:?}\n}}"));
        }
        for (team, member) in [
            ("owners", "owner"),
            ("operators", "operator"),
            ("planners", "planner"),
            ("readers", "reader"),
            ("admins", "admin"),
        ] {
            blocks.push(format!("team {team:?} {{\n  members = [{member:?}]\n}}"));
        }
        std::fs::create_dir(dir.path().join("home")).expect("a home");
        Self { dir, server: Vec::new(), blocks }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn gate(&self, name: &str) -> Gate {
        Gate::new(self.path(), name)
    }

    /// A setting of the server block, as HCL.
    #[must_use]
    pub fn server(mut self, setting: &str) -> Self {
        self.server.push(setting.to_owned());
        self
    }

    /// A workspace whose source is a directory with this main.tf.
    #[must_use]
    pub fn workspace(self, name: &str, main_tf: &str) -> Self {
        self.workspace_with(name, main_tf, |workspace| workspace)
    }

    /// A world with a run in the middle of its apply: `terraform_data.first` is made, `terraform_data.second` waits
    /// at the gate.
    pub async fn applying(self) -> (World, Run, Gate) {
        let gate = self.gate("apply");
        let world = self.workspace("net", &super::terraform::gated_apply(&gate)).start();
        let run = world.queue_as("operator", "net", auto_apply()).await;
        gate.reached().await;
        (world, run, gate)
    }

    /// The same with settings of its own.
    #[must_use]
    pub fn workspace_with(
        mut self,
        name: &str,
        main_tf: &str,
        settings: impl FnOnce(Workspace) -> Workspace,
    ) -> Self {
        let source = self.path().join("sources").join(name);
        std::fs::create_dir_all(&source).expect("a source");
        std::fs::write(source.join("main.tf"), main_tf).expect("a configuration");
        let workspace = settings(Workspace { name: name.to_owned(), settings: Vec::new() });
        self.blocks.push(workspace_block(&workspace));
        self
    }

    /// A workspace that a terraform of one's own runs: a shell script that gets terraform's arguments, after which
    /// the real one takes over (`exec terraform "$@"` is appended).
    #[must_use]
    pub fn workspace_with_script(self, name: &str, main_tf: &str, script: &str) -> Self {
        self.workspace_with_script_and(name, main_tf, script, |workspace| workspace)
    }

    /// The same with settings of its own.
    #[must_use]
    pub fn workspace_with_script_and(
        self,
        name: &str,
        main_tf: &str,
        script: &str,
        settings: impl FnOnce(Workspace) -> Workspace,
    ) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path().join(format!("terraform-{name}"));
        std::fs::write(&path, format!("#!/bin/sh\n{script}\nexec terraform \"$@\"\n")).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        let setting = format!("terraform = {path:?}");
        self.workspace_with(name, main_tf, |workspace| settings(workspace.with(&setting)))
    }

    /// A policy set for the workspaces that match, with a `policies.hcl` and a Rego file.
    #[must_use]
    pub fn policy_set(self, name: &str, workspaces: &str, policies: &str, rego: &str) -> Self {
        self.policy_set_of(name, workspaces, "", &[("policies.hcl", policies), ("policy.rego", rego)])
    }

    /// A policy set for the workspaces that match, of these files, with a setting of its own as HCL.
    #[must_use]
    pub fn policy_set_of(
        mut self,
        name: &str,
        workspaces: &str,
        setting: &str,
        files: &[(&str, &str)],
    ) -> Self {
        let path = self.path().join("policies").join(name);
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
            std::fs::write(file, text).expect("a file of a policy set");
        }
        self.blocks.push(format!(
            "policy_set {name:?} {{\n  path = {path:?}\n  workspaces = [{workspaces:?}]\n  {setting}\n}}"
        ));
        self
    }

    /// Any other block, as HCL.
    #[must_use]
    pub fn block(mut self, block: &str) -> Self {
        self.blocks.push(block.to_owned());
        self
    }

    /// Writes the config file.
    pub fn write(&self) {
        let config = self.path().join("signalbox.hcl");
        std::fs::write(config, self.config()).expect("a config file");
    }

    fn config(&self) -> String {
        let mut server = vec![format!("data_dir = {:?}", self.path().join("data"))];
        let names = |setting: &str| setting.split('=').next().unwrap_or_default().trim().to_owned();
        for default in [
            "listen = \"127.0.0.1:0\"",
            "cancel_grace = \"30s\"",
            "force_cancel_after = \"100ms\"",
            "max_concurrent_runs = 8",
            "min_free_space = \"1 MiB\"",
        ]
        .map(str::to_owned)
        {
            if !self.server.iter().any(|setting| names(setting) == names(&default)) {
                server.push(default);
            }
        }
        server.extend(self.server.iter().cloned());
        let indented: String = server.iter().map(|setting| format!("  {setting}\n")).collect();
        format!("server {{\n{indented}}}\n\n{}\n", self.blocks.join("\n\n"))
    }

    /// Starts the daemon as an ordinary user, whoever runs the tests.
    pub fn start_as_nobody(self) -> World {
        self.write();
        let daemon = Daemon::start_as_nobody(&self.path().join("signalbox.hcl"), &self.path().join("home"));
        World { dir: self.dir, daemon: Some(daemon) }
    }

    /// A world whose daemon is still to be started.
    pub fn at_rest(self) -> World {
        self.write();
        World { dir: self.dir, daemon: None }
    }

    /// Starts the daemon.
    pub fn start(self) -> World {
        self.write();
        let daemon = Daemon::start(&self.path().join("signalbox.hcl"), &self.path().join("home"));
        World { dir: self.dir, daemon: Some(daemon) }
    }
}

fn workspace_block(workspace: &Workspace) -> String {
    let name = &workspace.name;
    let mut settings = format!("  source \"directory\" {{\n    path = \"./sources/{name}\"\n  }}\n");
    for setting in &workspace.settings {
        let _ = writeln!(settings, "  {setting}");
    }
    format!(
        "workspace {name:?} {{\n{settings}  access = {{\n    operators = \"write\"\n    planners = \"plan\"\n    \
         readers = \"read\"\n    admins = \"admin\"\n  }}\n}}"
    )
}

pub fn token(user: &str) -> String {
    format!("token-of-{user}")
}

impl World {
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn data_dir(&self) -> PathBuf {
        self.path().join("data")
    }

    pub fn config_file(&self) -> PathBuf {
        self.path().join("signalbox.hcl")
    }

    /// Changes the config file, and waits until that is taken over.
    pub async fn change_config(&self, change: impl FnOnce(String) -> String) {
        let times = || self.daemon().log().matches("taken over").count();
        let (file, before) = (self.config_file(), times());
        let changed = change(std::fs::read_to_string(&file).expect("a config file"));
        std::fs::write(file, changed).expect("a config file");
        wait_for("the file is taken over", async || (times() > before).then_some(())).await;
    }

    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// The source directory of a workspace.
    pub fn source(&self, workspace: &str) -> PathBuf {
        self.path().join("sources").join(workspace)
    }

    pub fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().expect("the daemon runs")
    }

    /// `kill -9` of the daemon.
    pub fn kill_daemon(&mut self) {
        self.daemon.take().expect("the daemon runs").kill();
    }

    /// Starts a daemon on the same data.
    pub fn start_daemon(&mut self) {
        assert!(self.daemon.is_none(), "the daemon runs already");
        self.daemon = Some(Daemon::start(&self.config_file(), &self.home()));
    }

    /// Asks the daemon to stop, and waits until it has.
    pub fn stop_daemon(&mut self) -> std::process::ExitStatus {
        self.daemon.take().expect("the daemon runs").stop()
    }

    /// Arms a fault: who passes the point panics, as many times as it says.
    pub fn arm(&self, point: &str, times: u32) {
        let faults = self.data_dir().join("faults");
        std::fs::create_dir_all(&faults).expect("a folder");
        std::fs::write(faults.join(point), times.to_string()).expect("a fault");
    }

    /// Whether a fault has struck as often as it was to.
    pub fn has_struck(&self, point: &str) -> bool {
        !self.data_dir().join("faults").join(point).exists()
    }

    pub fn client(&self, user: &str) -> Client {
        Client::new(&self.daemon().address, &token(user)).expect("a client")
    }

    /// The binary as a command line of this user.
    pub fn cli(&self, user: &str) -> std::process::Command {
        let mut command = super::command(&self.home());
        command.env_remove("RUST_LOG").env("SIGNALBOX_TOKEN", token(user));
        if let Some(daemon) = &self.daemon {
            command.env("SIGNALBOX_ADDRESS", &daemon.address);
        }
        command
    }

    pub async fn workspace(&self, name: &str) -> client::Workspace {
        let client = self.client("owner");
        // the daemon may still be reading its config file
        wait_for(&format!("there is a workspace {name}"), async || client.workspace(name).await.ok()).await
    }

    /// Queues a run as the operator, who may apply.
    pub async fn queue(&self, workspace: &str) -> Run {
        self.queue_as("operator", workspace, NewRun::default()).await
    }

    pub async fn queue_as(&self, user: &str, workspace: &str, run: NewRun) -> Run {
        self.try_queue(user, workspace, run).await.expect("the run is queued")
    }

    pub async fn try_queue(&self, user: &str, workspace: &str, run: NewRun) -> Result<Run, ClientError> {
        let workspace = self.workspace(workspace).await;
        self.client(user).create_run(&workspace.id, &run).await
    }

    /// The run as it is now.
    pub async fn run(&self, run: &Run) -> Run {
        self.client("owner").run(&run.id).await.expect("the run can be read")
    }

    /// Waits until the run has this name of a state; fails at once when it is over with another.
    pub async fn reaches(&self, run: &Run, state: &str) -> Run {
        wait_for(&format!("the run is {state}"), async || {
            let now = self.run(run).await;
            if now.state_name() == state {
                return Some(now);
            }
            assert!(
                !now.is_final(),
                "the run ended as {} instead of {state}: {:?}\n{}",
                now.state_name(),
                now.error(),
                self.logs(run).await
            );
            None
        })
        .await
    }

    /// Waits until the run is over, whatever its state.
    pub async fn ends(&self, run: &Run) -> Run {
        wait_for("the run is over", async || Some(self.run(run).await).filter(Run::is_final)).await
    }

    pub async fn act(&self, user: &str, run: &Run, action: RunAction) -> Result<(), ClientError> {
        self.client(user).act_on_run(&run.id, action, None).await
    }

    pub async fn confirm(&self, run: &Run) {
        self.act("operator", run, RunAction::Apply).await.expect("the plan is confirmed");
    }

    pub async fn cancel(&self, run: &Run) {
        self.act("operator", run, RunAction::Cancel).await.expect("the run is cancelled");
    }

    /// Overrides the run's failed policies.
    pub async fn override_policies(&self, user: &str, run: &Run) -> Result<(), ClientError> {
        let id = run.id.replace("run-", "polchk-");
        self.client(user).override_policy_check(&id, Some("I take it on me")).await.map(drop)
    }

    pub async fn log(&self, run: &Run, stage: Stage) -> String {
        let run = self.run(run).await;
        let bytes = self.client("owner").log(&run, stage).await.expect("the log can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    async fn logs(&self, run: &Run) -> String {
        let mut all = String::new();
        for stage in [Stage::Plan, Stage::PolicyCheck, Stage::Apply] {
            let log = self.log(run, stage).await;
            let _ = write!(all, "--- {stage:?} ---\n{log}\n");
        }
        all
    }

    /// What the API says of the run's policy checks, every word of it.
    pub async fn policy_check_document(&self, run: &Run) -> serde_json::Value {
        let url = format!("{}/api/v2/runs/{}/policy-checks", self.daemon().address, run.id);
        let answer = reqwest::Client::new().get(url).bearer_auth(token("owner")).send().await;
        answer.expect("an answer").json().await.expect("a document")
    }

    pub async fn events(&self, run: &Run) -> Vec<RunEvent> {
        self.client("owner").run_events(&run.id).await.expect("the events can be read")
    }

    /// The workspace's current state, as terraform wrote it; `None` if it has none.
    pub async fn state(&self, workspace: &str) -> Option<serde_json::Value> {
        let workspace = self.workspace(workspace).await;
        let bytes =
            self.client("owner").current_state(&workspace.id).await.expect("the state can be read")?;
        Some(serde_json::from_slice(&bytes).expect("a state is JSON"))
    }

    /// The addresses of the resources in the workspace's state, in order.
    pub async fn resources(&self, workspace: &str) -> Vec<String> {
        let Some(state) = self.state(workspace).await else { return Vec::new() };
        let mut names: Vec<String> = state["resources"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|resource| {
                format!("{}.{}", resource["type"].as_str().unwrap(), resource["name"].as_str().unwrap())
            })
            .collect();
        names.sort();
        names
    }

    /// The process that executes a stage of the run, as its claim says: it can't be inspected by others of its user.
    pub fn executor(&self, run: &Run, stage: Stage) -> u32 {
        let directory = self.data_dir().join("runs").join(&run.id).join(stage.to_string());
        let claim = std::fs::read_to_string(directory.join("claim.json")).expect("it is claimed");
        let claim: serde_json::Value = serde_json::from_str(&claim).expect("a claim");
        claim["executor"]["pid"].as_u64().and_then(|pid| pid.try_into().ok()).expect("a process")
    }

    /// Waits until nothing that a run started is alive. When a run is final this must hold at once; the daemon
    /// itself is not counted.
    pub fn assert_nothing_is_left(&self) {
        let daemon = self.daemon.as_ref().map(Daemon::pid);
        let mut left = processes::alive_below(self.path(), daemon);
        // the daemon asks each terraform for its version, of its own accord
        left.retain(|process| !process.command.contains(" version -json"));
        assert!(left.is_empty(), "left behind: {left:#?}");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        drop(self.daemon.take());
        // executors outlive a daemon by design, and must not outlive a test
        for process in processes::alive_below(self.dir.path(), None) {
            if let Some(pid) = rustix::process::Pid::from_raw(process.pid.cast_signed()) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}
