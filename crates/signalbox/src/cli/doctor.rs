//! `signalbox doctor`: what is wrong with a config file, its data and this machine, and what to do.

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

use config::{Checked, Config, Severity, SystemHost};
use executor::Isolation;
use rustix::process::{Resource, getrlimit};
use serde::Serialize;
use serde_json::json;

use super::check::{check_policy_sets, check_surroundings};
use super::failure::{Exit, Failure};
use super::output::Output;
use super::{paint, terminal};

/// Descriptors below which a busy daemon runs short.
const OPEN_FILES: u64 = 4096;

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Good,
    Warning,
    Bad,
}

/// Something that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    health: Health,
    /// What was found.
    found: String,
    /// What to do about it.
    advice: Option<String>,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn good(&mut self, what: &'static str, found: impl Into<String>) {
        self.0.push(Finding { what, health: Health::Good, found: found.into(), advice: None });
    }

    fn warn(&mut self, what: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.0.push(Finding {
            what,
            health: Health::Warning,
            found: found.into(),
            advice: Some(advice.into()),
        });
    }

    fn bad(&mut self, what: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.0.push(Finding { what, health: Health::Bad, found: found.into(), advice: Some(advice.into()) });
    }
}

pub(crate) async fn run(file: &Path, deep: bool, output: Output) -> Result<Exit, Failure> {
    let mut findings = Findings::default();
    let config = look_at_config(file, &mut findings);
    if let Some(config) = &config {
        look_at_surroundings(config, &mut findings);
        look_at_data(config, deep, &mut findings).await;
        look_at_address(config, &mut findings);
    }
    look_at_git(&mut findings);
    look_at_kernel(&mut findings);
    let Findings(all) = findings;
    let is_bad = all.iter().any(|finding| finding.health == Health::Bad);
    if output.json {
        output.document(&json!({ "healthy": !is_bad, "findings": all }), false)?;
    } else {
        output.print(&shown(&all, output))?;
    }
    Ok(if is_bad { Exit::Errored } else { Exit::Success })
}

fn shown(all: &[Finding], output: Output) -> String {
    let mut text = String::new();
    for Finding { what, health, found, advice } in all {
        let mark = match health {
            Health::Good => output.paint.with(paint::GOOD, "ok  "),
            Health::Warning => output.paint.with(paint::WAITS, "warn"),
            Health::Bad => output.paint.with(paint::BAD, "bad "),
        };
        text += &format!("{mark}  {what:<12} {}\n", terminal::line(found));
        if let Some(advice) = advice {
            text +=
                &format!("      {:<12} {}\n", "", output.paint.with(paint::FAINT, &terminal::line(advice)));
        }
    }
    text
}

fn look_at_config(file: &Path, findings: &mut Findings) -> Option<Config> {
    let Checked { findings: found, config } = Config::check(file, &SystemHost);
    let (errors, warnings) = (found.count(Severity::Error), found.count(Severity::Warning));
    let advice = format!("signalbox config check {}", file.display());
    match (&config, errors) {
        (Some(config), 0) => {
            let counts = format!(
                "{}, {}",
                text::count(config.workspaces.len(), "workspace"),
                text::count(config.users.len(), "user")
            );
            match warnings {
                0 => findings.good("config", counts),
                warnings => {
                    findings.warn("config", format!("{counts}; {}", text::count(warnings, "warning")), advice)
                }
            }
        }
        _ => findings.bad("config", text::count(errors.max(1), "mistake"), advice),
    }
    config
}

fn look_at_surroundings(config: &Config, findings: &mut Findings) {
    let missing = check_surroundings(config);
    if missing.is_empty() {
        findings.good("sources", "every directory and program that the file names is there");
    }
    for what in missing {
        findings.warn("sources", what, "runs of it end errored until it is there");
    }
    let sets = check_policy_sets(config);
    for broken in sets.broken {
        findings.bad("policies", broken, "it fails every run that it applies to");
    }
    let names: std::collections::BTreeSet<_> = config
        .workspaces
        .values()
        .map(|workspace| workspace.terraform.as_ref().unwrap_or(&config.server.terraform))
        .chain([&config.server.terraform])
        .collect();
    let path = std::env::var("PATH").unwrap_or_default();
    for name in names {
        let Some(program) = engine::find_program(name, &path) else {
            findings.bad(
                "terraform",
                format!("{} is not there", name.display()),
                "install it, or name another with `terraform` in the server block",
            );
            continue;
        };
        match version(&program, &["version"]) {
            Some(version) => findings.good("terraform", format!("{version} ({})", program.display())),
            None => findings.bad(
                "terraform",
                format!("{} does not say its version", program.display()),
                "call it by hand: what does it say?",
            ),
        }
    }
}

/// The first line of what a program says of itself.
fn version(program: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).env("CHECKPOINT_DISABLE", "1").env_remove("TF_CLI_CONFIG_FILE");
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    text.lines().next().map(str::to_owned)
}

async fn look_at_data(config: &Config, deep: bool, findings: &mut Findings) {
    let data_dir = &config.server.data_dir;
    let shown = data_dir.display();
    let metadata = match std::fs::metadata(data_dir) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            findings.good("data", format!("{shown} is not there yet: the daemon makes it"));
            return;
        }
        Err(error) => {
            findings.bad("data", format!("{shown}: {error}"), "let the daemon's user read and write it");
            return;
        }
    };
    let user = rustix::process::geteuid();
    if !user.is_root() && metadata.uid() != user.as_raw() {
        findings.bad(
            "data",
            format!("{shown} belongs to user {}", metadata.uid()),
            "call this as the user that the daemon runs as",
        );
        return;
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        findings.warn("data", format!("others can look into {shown}"), format!("chmod 700 {shown}"));
    }
    match executor::space_left(data_dir) {
        Ok(free) if free < config.server.min_free_space => findings.bad(
            "space",
            format!(
                "{} are free, and {} have to be",
                text::bytes(free),
                text::bytes(config.server.min_free_space)
            ),
            "make space: no run starts until then (docs/years.md)",
        ),
        Ok(free) => findings.good("space", format!("{} are free", text::bytes(free))),
        Err(error) => findings.warn("space", error.to_string(), "see how much is free by hand"),
    }
    if !data_dir.join("signalbox.db").exists() {
        findings.good("data", format!("{shown} is empty: the daemon begins with it"));
        return;
    }
    match store::examine(data_dir, &config.server.encryption, deep).await {
        Ok(examined) if examined.problems.is_empty() => {
            let how = if deep { "each as it should be" } else { "all there" };
            findings.good(
                "data",
                format!("{}, {}: {how}", text::count(examined.files, "file"), text::bytes(examined.bytes)),
            );
        }
        Ok(examined) => {
            for problem in examined.problems {
                findings.bad(
                    "data",
                    problem,
                    "bring a backup back (`signalbox restore`), or the key that is missing",
                );
            }
        }
        Err(error) => findings.bad("data", error.to_string(), "bring a backup back with `signalbox restore`"),
    }
    match config.server.encryption.writes_with() {
        Some(key) => findings.good("encryption", format!("on, with key {key}")),
        None => findings.warn(
            "encryption",
            "off: states and configurations lie in clear",
            "`signalbox encryption key` makes a key (docs/encryption.md)",
        ),
    }
}

fn look_at_address(config: &Config, findings: &mut Findings) {
    let listen = config.server.listen;
    match TcpListener::bind(listen) {
        Ok(_) => findings.good("address", format!("{listen} is free for the daemon")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            findings.good("address", format!("something listens on {listen}: the daemon, if it runs"));
        }
        Err(error) => findings.bad(
            "address",
            format!("{listen}: {error}"),
            "let `listen` name an address of this machine",
        ),
    }
}

fn look_at_git(findings: &mut Findings) {
    match version(Path::new("git"), &["--version"]) {
        Some(version) => findings.good("git", version),
        None => findings.warn("git", "it is not there", "install it: workspaces with a git source need it"),
    }
}

fn look_at_kernel(findings: &mut Findings) {
    const NEWER: &str = "Linux 6.12 with Landlock keeps it (docs/isolation.md)";
    match Isolation::of_this_kernel() {
        Isolation::Full => findings.good("isolation", "the kernel keeps all of it"),
        Isolation::WithoutSignals => {
            findings.warn("isolation", "a run can signal processes of the same user", NEWER);
        }
        Isolation::None => findings.warn("isolation", "a run can read the daemon's data", NEWER),
    }
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if limit < OPEN_FILES {
        findings.warn(
            "open files",
            format!("at most {limit}"),
            format!("`ulimit -n {OPEN_FILES}`, or LimitNOFILE in the unit: connections are limited by it"),
        );
    }
}
