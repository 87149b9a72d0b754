//! `signalbox demo`: from nothing to three runs, and nothing left behind.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use client::{Client, NewRun, RunVariable};
use config::{Config, Host, SystemHost, TokenDigest};
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::args::DemoArgs;
use crate::cli::context::Context;
use crate::cli::failure::Exit;
use crate::cli::follow::{self, Answer};
use crate::cli::output::Output;
use crate::cli::{paint, token};
use crate::daemon::Daemon;

/// The files of `config/demo`, which are part of the binary.
const FILES: [(&str, &str); 4] = [
    ("signalbox.hcl", include_str!("../../../config/demo/signalbox.hcl")),
    ("harbour/main.tf", include_str!("../../../config/demo/harbour/main.tf")),
    ("policies/policies.hcl", include_str!("../../../config/demo/policies/policies.hcl")),
    ("policies/harbour.rego", include_str!("../../../config/demo/policies/harbour.rego")),
];

const WORKSPACE: &str = "harbour";
/// How long runs that are left half-way may take to end.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn run(args: &DemoArgs, output: Output) -> anyhow::Result<ExitCode> {
    if !cfg!(feature = "rego") {
        anyhow::bail!("the demo has policies in Rego, which this build of signalbox can't evaluate");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    if engine::find_program(Path::new("terraform"), &path).is_none() {
        anyhow::bail!(
            "terraform is not on the PATH, and the demo runs the real one; \
             https://developer.hashicorp.com/terraform/install tells how to get it"
        );
    }
    if !args.yes && !output.can_ask {
        anyhow::bail!("the demo asks before it applies: run it at a terminal, or with --yes");
    }
    // listened to before there is anything to leave behind
    let (mut terminate, mut hangup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    let told_to_end = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    };
    let dir = tempfile::Builder::new().prefix("signalbox-demo-").tempdir()?;
    let token = token::generate()?;
    let config = lay_out(&dir, &token)?;
    let daemon = Daemon::start(config, Vec::new()).await?;
    let address = daemon.public_url().to_string();
    let client = Client::new(&address, &token)?;
    let show = Show {
        context: Context { client, output },
        answer: if args.yes { Answer::Yes } else { Answer::Person },
    };
    show.say(&format!(
        "A daemon listens on {address} and keeps everything in {}, for as long as this takes.",
        dir.path().display()
    ));
    let shown = tokio::select! {
        shown = show.three_runs() => shown,
        () = told_to_end => Ok(Exit::Interrupted),
    };
    let ended = show.end_what_is_left().await;
    daemon.stop().await;
    dir.close().context("the demo's directory can't be removed")?;
    ended?;
    let exit = shown?;
    if exit == Exit::Success {
        show.say_what_was_shown();
    }
    Ok(exit.into())
}

struct Show {
    context: Context,
    answer: Answer,
}

impl Show {
    async fn three_runs(&self) -> anyhow::Result<Exit> {
        let runs = [
            (
                "First run: two berths. Terraform plans them, two policies look at the plan, and you confirm it.",
                NewRun { message: Some("Build the harbour".into()), ..NewRun::default() },
            ),
            (
                "Second run: the same again. Nothing differs, so it ends with No Changes and asks nobody.",
                NewRun { message: Some("Is everything as it should be?".into()), ..NewRun::default() },
            ),
            (
                "Third run: five berths. A soft-mandatory policy stops it, until an owner overrides it (you are one).",
                NewRun {
                    message: Some("Five berths, whatever the rules say".into()),
                    variables: vec![RunVariable { key: "berths".into(), value: "5".into() }],
                    ..NewRun::default()
                },
            ),
        ];
        let workspace = self.context.client.workspace(WORKSPACE).await?;
        for (words, run) in runs {
            self.say(words);
            let run = self.context.client.create_run(&workspace.id, &run).await?;
            let options = follow::Options { answer: self.answer, ..follow::Options::default() };
            let exit = follow::follow(&run.id, options, &self.context).await?;
            if exit != Exit::Success {
                self.say("The demo ends here.");
                return Ok(exit);
            }
        }
        Ok(Exit::Success)
    }

    /// The daemon would leave terraform running, as it should; a demo should not.
    async fn end_what_is_left(&self) -> anyhow::Result<()> {
        let client = &self.context.client;
        let left = async || -> anyhow::Result<Vec<client::Run>> {
            let page = client.runs(&client::RunFilter::default(), 1, 100).await?;
            Ok(page.items.into_iter().filter(|run| !run.is_final()).collect())
        };
        for run in left().await? {
            // one that ends by itself meanwhile is as good
            let _ = client.act_on_run(&run.id, client::RunAction::Cancel, None).await;
        }
        let gone = async {
            while !left().await?.is_empty() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Ok(())
        };
        tokio::time::timeout(PATIENCE, gone).await.context("a run of the demo did not end in time")?
    }

    fn say(&self, words: &str) {
        let output = self.context.output;
        output.note(&format!("\n{}\n", output.notes.with(paint::HEADING, words)));
    }

    fn say_what_was_shown(&self) {
        self.say("That was the whole life of a run, three times:");
        self.context.output.note(
            "  Pending, Planning, Policy Check, Policy Checked, Applying, Applied\n  \
             Pending, Planning, No Changes\n  \
             Pending, Planning, Policy Check, Policy Override, Policy Checked, Applying, Applied\n\n\
             Each stage ran in a process of its own: had the daemon died, terraform would have gone on, and the next\n\
             daemon would have found it. The daemon is stopped, and its directory is gone.\n\n\
             To go on:\n  \
             signalbox token new YOU                         a token, and its line for the config file\n  \
             signalbox config check config/signalbox.hcl     every setting, with comments\n  \
             signalbox serve --config config/signalbox.hcl   the daemon\n  \
             signalbox run start WORKSPACE --follow          your first run",
        );
    }
}

/// Writes the embedded files and reads them back as any config file.
fn lay_out(dir: &TempDir, token: &str) -> anyhow::Result<Config> {
    for (name, content) in FILES {
        let path = dir.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, content).with_context(|| format!("can't write {}", path.display()))?;
    }
    let host = DemoHost { token_sha256: TokenDigest::of(token).to_string() };
    let loaded = Config::load(&dir.path().join("signalbox.hcl"), &host);
    Ok(loaded.map_err(|mistakes| anyhow::anyhow!("{}", mistakes.render(false)))?.config)
}

/// The machine, with the demo's token in its environment.
struct DemoHost {
    token_sha256: String,
}

impl Host for DemoHost {
    fn env(&self, name: &str) -> Option<OsString> {
        match name {
            "SIGNALBOX_DEMO_TOKEN_SHA256" => Some(self.token_sha256.clone().into()),
            other => SystemHost.env(other),
        }
    }

    fn is_dir(&self, path: &Path) -> bool {
        SystemHost.is_dir(path)
    }

    fn read_file(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        SystemHost.read_file(path)
    }
}
