//! The command line as `--help` shows it.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use client::{NewRun, PlanOptions, RunVariable};

use super::context::Context;
use super::failure::Failure;
use super::run::StateFilter;
use super::sentinel::SentinelCommand;
use super::{complete, names, token, variable};

const AFTER_HELP: &str = "\
Exit status:
  0    done; a followed run was applied, or had nothing to apply
  1    failed: a followed run errored, or the daemon refused or can't be reached
  2    called or configured wrongly
  3    a followed run was discarded or canceled
  130  Ctrl-C while following: the run goes on
  141  the reader of the output went away while following: the run goes on

Output is for people on a terminal and plain in a pipe. With --json it is one JSON document, or, of
what is followed, one a line. Errors and remarks go to stderr.";

/// Self-hosted run orchestrator for Terraform.
#[derive(Debug, Parser)]
#[command(name = "signalbox", version, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Address of the daemon; if not given, SIGNALBOX_ADDRESS, the last that you logged in to, or else
    /// http://127.0.0.1:8080
    #[arg(long, global = true, value_name = "URL", value_hint = ValueHint::Url)]
    address: Option<String>,
    /// Your token; if not given, SIGNALBOX_TOKEN or what `login` kept, which are safer, since others can see command lines
    #[arg(long, global = true, value_name = "TOKEN")]
    token: Option<String>,
    /// JSON instead of text for people
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Form of the program's own log, which goes to stderr; RUST_LOG says how much of it
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t, hide_short_help = true)]
    pub(crate) log_format: LogFormat,
    /// Colours, terraform's included
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, hide_short_help = true)]
    pub(crate) color: Color,
}

// looked up here and not by clap, whose usage lines show what the environment gives as if it had to be typed
impl Global {
    /// The address of the daemon, where one is named.
    pub(crate) fn address(&self) -> Option<String> {
        given(self.address.as_deref(), "SIGNALBOX_ADDRESS")
    }

    /// The user's token, where one is named.
    pub(crate) fn token(&self) -> Option<String> {
        given(self.token.as_deref(), "SIGNALBOX_TOKEN")
    }
}

/// Where a daemon listens that is told nothing else.
pub(crate) const DEFAULT_ADDRESS: &str = "http://127.0.0.1:8080";

/// What stands on the command line, or else in the environment; nothing there is as good as absent.
fn given(argument: Option<&str>, variable: &str) -> Option<String> {
    let value = argument.map(str::to_owned).or_else(|| std::env::var(variable).ok());
    value.filter(|value| !value.is_empty())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    #[value(alias = "true")]
    Always,
    #[value(alias = "false")]
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the daemon
    Serve(ServeArgs),
    /// Show what it does: a daemon, a workspace and three runs, on this machine and without a trace
    Demo(DemoArgs),
    /// Write a first config file for the terraform configurations of a directory
    ///
    /// There is a workspace for each root module, and you as an owner; your token is kept as by `login`. A state that exists
    /// already is found, and the command is said that brings it in.
    Init(InitArgs),
    /// Look at a config file
    #[command(subcommand)]
    Config(ConfigCommand),
    /// See, lock and unlock workspaces
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// Start, see and decide on runs
    #[command(subcommand)]
    Run(RunCommand),
    /// Print the log of a run, the stages one after the other
    ///
    /// With --follow and without --stage it goes on until the run has ended, and the exit status says how.
    Logs(LogsArgs),
    /// Print the outputs of a workspace, or one of them
    Output(OutputArgs),
    /// Test, try and format Sentinel policies, and get mocks for them; no daemon is needed but for mocks of a run
    #[command(subcommand)]
    Sentinel(SentinelCommand),
    /// Read and write the states of workspaces
    #[command(subcommand)]
    State(StateCommand),
    /// Keep your token for a daemon, so that no variable has to be set; it is asked for, or read from a pipe
    Login {
        /// The daemon, as http://127.0.0.1:8080; it is the one that is meant from now on
        #[arg(value_hint = ValueHint::Url)]
        daemon: Option<String>,
    },
    /// Forget your token for a daemon
    Logout {
        /// The daemon; if not given, the one that is meant
        #[arg(value_hint = ValueHint::Url)]
        daemon: Option<String>,
    },
    /// Make tokens for users
    #[command(subcommand)]
    Token(TokenCommand),
    /// Copy all that the daemon keeps into a file, while it runs or not
    ///
    /// The file is there as a whole or not at all. The config file and its keys are no part of it, and neither are the files
    /// that runs work on.
    Backup {
        /// The file to write, a .tar.gz
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// The daemon's config file
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        config: PathBuf,
    },
    /// Bring a backup back to the data directory that the config file names, which has to be empty
    ///
    /// Runs that were under way when the backup was taken are ended: nobody knows what became of them. A workspace in which an
    /// apply was going on is locked.
    Restore {
        /// The backup
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// The daemon's config file
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        config: PathBuf,
    },
    /// Look at a config file, its data and this machine, and say what is wrong and what to do
    ///
    /// Exit status 0 if nothing is wrong, warnings or not, else 1.
    Doctor {
        /// The daemon's config file
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        config: PathBuf,
        /// Read every file that is kept, and hold it against its name
        #[arg(long)]
        deep: bool,
    },
    /// Encrypt what the daemon keeps
    #[command(subcommand)]
    Encryption(EncryptionCommand),
    /// Print the completions of a shell: `source <(signalbox completions bash)`
    ///
    /// Names of workspaces and ids of runs are completed too, by asking the daemon.
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the version
    Version,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    /// The config file; it is taken over anew whenever it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: PathBuf,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DemoArgs {
    /// Answer every question with yes
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct InitArgs {
    /// The directory
    #[arg(default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
    /// Where runs take the configurations from: the directory as it lies here, or its git repository
    #[arg(long, value_name = "SOURCE", value_enum)]
    pub(crate) source: Option<InitSource>,
    /// Your name as a user; if not given, that of your account
    #[arg(long, value_name = "NAME", value_parser = token::user_name)]
    pub(crate) user: Option<String>,
    /// The file to write; if not given, signalbox.hcl in the directory
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Where the daemon keeps what it knows; if not given, a place in your home
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data_dir: Option<PathBuf>,
    /// Where the daemon listens; if not given, the first free port of 127.0.0.1 from 8080 on
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Ask nothing
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitSource {
    Directory,
    Git,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Report every mistake in a config file, each with its place and what would be right
    ///
    /// Exit status 0 if the file can be used, warnings or not, else 2.
    Check {
        /// The config file
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    /// List the workspaces with the run that holds each, or else its newest
    List,
    /// Show one workspace
    Show {
        #[command(flatten)]
        workspace: WorkspaceArg,
    },
    /// Lock it: its runs stay pending until it is unlocked
    Lock {
        #[command(flatten)]
        workspace: WorkspaceArg,
        /// Why, for others to read
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Release your lock
    Unlock {
        #[command(flatten)]
        workspace: WorkspaceArg,
        /// Release somebody else's lock
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// List the resources in the current state of a workspace
    List {
        #[command(flatten)]
        workspace: WorkspaceArg,
    },
    /// Print the current state of a workspace as terraform wrote it
    Pull {
        #[command(flatten)]
        workspace: WorkspaceArg,
    },
    /// Make a state file the new state version of a workspace
    ///
    /// For a state that a run left and that could not be kept: it ends the lock that signalbox set for that. A
    /// workspace that is not locked is locked meanwhile; one that you locked stays locked.
    Push {
        #[command(flatten)]
        workspace: WorkspaceArg,
        /// The state file; - reads it from the standard input
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Take it also if it is of another lineage, or another state with the same serial
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct WorkspaceArg {
    /// Name of the workspace
    #[arg(value_name = "WORKSPACE", add = ArgValueCompleter::new(complete::workspaces))]
    pub(crate) workspace: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Queue a run
    ///
    /// With --follow on a terminal you are asked to confirm or to override when the run waits for that. In a
    /// pipe it is said on stderr that it waits, with the commands, and it is followed until somebody has decided.
    Start(Box<StartArgs>),
    /// List runs, newest first
    List(ListArgs),
    /// Show one run: its state, what happened to it, and what can be done next
    Show {
        #[command(flatten)]
        run: RunArg,
    },
    /// Apply the plan that waits for it
    ///
    /// On a terminal it shows what the plan would do, and asks.
    Confirm {
        #[command(flatten)]
        action: ActionArgs,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
        /// Show the log until the run has ended
        #[arg(long, short)]
        follow: bool,
    },
    /// Decline the plan, or take a pending run out of the queue
    Discard {
        #[command(flatten)]
        action: ActionArgs,
    },
    /// Stop a run: terraform gets one interrupt, and is killed after the grace period
    Cancel {
        #[command(flatten)]
        action: ActionArgs,
        /// Kill it. Cancels first if that has not happened, and waits until killing is allowed
        #[arg(long)]
        force: bool,
    },
    /// Override failed soft-mandatory policies; for owners
    Override {
        #[command(flatten)]
        action: ActionArgs,
        /// Show the log until the run has ended
        #[arg(long, short)]
        follow: bool,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct StartArgs {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArg,
    /// Why, for others to read
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Plan to destroy everything
    #[arg(long, conflicts_with_all = ["refresh_only", "replace"])]
    pub(crate) destroy: bool,
    /// Make a plan that can't be applied, beside the queue
    #[arg(long, conflicts_with_all = ["auto_apply", "allow_empty_apply"])]
    pub(crate) plan_only: bool,
    /// Only bring the state up to date with the real objects
    #[arg(long, conflicts_with_all = ["no_refresh", "replace"])]
    pub(crate) refresh_only: bool,
    /// Plan without reading the real objects first
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// The same as terraform has it: =false
    #[arg(long, hide = true, value_name = "BOOL", require_equals = true, conflicts_with = "no_refresh")]
    pub(crate) refresh: Option<bool>,
    /// Plan only this resource or module and what it depends on; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<String>,
    /// Plan to replace this resource; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,
    /// A variable for this run alone; may be repeated. A value that begins with [, { or " is an HCL literal,
    /// any other is text
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable::parse)]
    pub(crate) var: Vec<RunVariable>,
    /// A file of variables for this run alone, as terraform's .tfvars or .tfvars.json; may be repeated. Later files win over
    /// earlier ones, and --var over all of them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) var_file: Vec<PathBuf>,
    /// Apply without asking, if you may apply, a destroy plan too; =false asks even where the workspace says otherwise
    #[arg(long, alias = "auto-approve", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) auto_apply: Option<bool>,
    /// Let a plan without changes be applied
    #[arg(long)]
    pub(crate) allow_empty_apply: bool,
    /// Begin with a new state, although the run before said that there is another one
    #[arg(long)]
    pub(crate) allow_new_state: bool,
    /// Show the log until the run has ended; the exit status says how
    #[arg(long, short)]
    pub(crate) follow: bool,
}

impl StartArgs {
    /// The run that they ask for.
    ///
    /// # Errors
    /// A file of variables that can't be read, with its place.
    pub(crate) fn new_run(&self) -> Result<NewRun, Failure> {
        Ok(NewRun {
            options: PlanOptions {
                refresh: self.refresh.unwrap_or(!self.no_refresh),
                refresh_only: self.refresh_only,
                target_addrs: self.target.clone(),
                replace_addrs: self.replace.clone(),
            },
            message: self.message.clone(),
            is_destroy: self.destroy,
            plan_only: Some(self.plan_only),
            auto_apply: self.auto_apply,
            allow_empty_apply: self.allow_empty_apply,
            allow_new_state: self.allow_new_state,
            variables: variable::together(&self.var_file, &self.var)?,
            ..NewRun::default()
        })
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Only of this workspace
    #[arg(value_name = "WORKSPACE", add = ArgValueCompleter::new(complete::workspaces))]
    workspace: Option<String>,
    /// The same
    #[arg(
        long = "workspace",
        short = 'w',
        value_name = "WORKSPACE",
        hide = true,
        conflicts_with = "workspace"
    )]
    workspace_option: Option<String>,
    /// Only in this state; may be repeated
    #[arg(long, short, value_name = "STATE", value_parser = StateFilter::parser(), ignore_case = true)]
    pub(crate) state: Vec<StateFilter>,
    /// At most so many
    #[arg(long, short = 'n', value_name = "NUMBER", default_value = "20", value_parser = at_least_one)]
    pub(crate) limit: NonZeroUsize,
}

impl ListArgs {
    /// The workspace whose runs are listed; none for all.
    pub(crate) fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref().or(self.workspace_option.as_deref())
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArg {
    /// The run: its id or the beginning of it, `latest`, or a workspace, of which the run that holds it or else the newest
    /// is meant
    #[arg(value_name = "RUN", value_parser = names::means_run, add = ArgValueCompleter::new(complete::runs))]
    pub(crate) run: String,
}

impl RunArg {
    /// Puts the id in the place of what was typed.
    pub(crate) async fn resolve(&mut self, context: &Context) -> Result<(), Failure> {
        self.run = names::run_id(&self.run, context).await?;
        Ok(())
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArg,
    /// Only this one, also if it is sensitive
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A text, number or boolean as it is, for scripts
    #[arg(long, requires = "name")]
    pub(crate) raw: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ActionArgs {
    #[command(flatten)]
    pub(crate) run: RunArg,
    /// Why; kept in the history of the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct LogsArgs {
    #[command(flatten)]
    pub(crate) run: RunArg,
    /// Go on as the log is written, over restarts of the daemon, until its end
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only of this stage
    #[arg(long, value_name = "STAGE", value_enum)]
    pub(crate) stage: Option<StageArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StageArg {
    Plan,
    PolicyCheck,
    Apply,
}

impl From<StageArg> for client::Stage {
    fn from(stage: StageArg) -> Self {
        match stage {
            StageArg::Plan => Self::Plan,
            StageArg::PolicyCheck => Self::PolicyCheck,
            StageArg::Apply => Self::Apply,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token for a user: it is shown this once, and its digest goes into the config file
    New {
        /// Name of the user
        #[arg(value_parser = token::user_name)]
        user: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum EncryptionCommand {
    /// Print a new key, which goes into a file that only the daemon's user may read, or into its environment
    Key,
    /// Have all that is kept lie as the config file says: encrypted with its key, or in clear without one
    ///
    /// The daemon may run meanwhile, once it was restarted with the new key. When this is done, no other key is needed.
    /// Exit status 1 if something could not be read: then the old keys have to stay.
    Rotate {
        /// The daemon's config file
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        config: PathBuf,
    },
}

fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "it has to be a number from 1 on".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        super::super::parse(std::iter::once("signalbox").chain(line.split_whitespace()).map(Into::into))
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_is_understood() {
        for line in [
            "serve --config signalbox.hcl",
            "demo --yes",
            "config check signalbox.hcl --json",
            "init",
            "init infra --yes --source git --user ada --output s.hcl --data-dir data --listen 127.0.0.1:9000",
            "workspace list --address https://tools.example --color never",
            "workspace show network-prod",
            "workspace lock network-prod --reason maintenance",
            "workspace unlock network-prod --force",
            "run start network-prod --message why --target a.b --target c.d --replace e.f --var a=b -f",
            "run start network-prod --auto-apply --follow",
            "run start network-prod --destroy --no-refresh --auto-apply=false",
            "run start network-prod --allow-empty-apply",
            "run list --workspace network-prod --state applied --state needs-confirmation --limit 5",
            "run show run-CZcmD7eagjhyX1vN",
            "run confirm run-CZcmD7eagjhyX1vN --comment fine --yes --follow",
            "run discard run-CZcmD7eagjhyX1vN",
            "run cancel run-CZcmD7eagjhyX1vN --force",
            "run override run-CZcmD7eagjhyX1vN --comment fine",
            "logs -f --stage policy-check run-CZcmD7eagjhyX1vN",
            "sentinel test",
            "sentinel test policies more/p.sentinel -run=p/^a$ -verbose -json -color=false",
            "sentinel apply p.sentinel",
            "sentinel apply -config=mocks/sentinel.hcl -param region=eu -param zones=[1] -global g=1 -trace p",
            "sentinel fmt p.sentinel q.sentinel -check",
            "sentinel fmt -write=false -",
            "sentinel mocks run-CZcmD7eagjhyX1vN -o mocks",
            "sentinel mocks plan.json --output mocks --force",
            "token new operator",
            "backup signalbox.tar.gz --config signalbox.hcl",
            "restore signalbox.tar.gz --config signalbox.hcl",
            "doctor --config signalbox.hcl --deep",
            "run show network-prod",
            "run list network-prod -n 5",
            "run list --state Applied",
            "run list -limit 5",
            "run start network-prod -target=a.b -var x=1 -var-file=a.tfvars -refresh=false -auto-approve -destroy",
            "run start network-prod -refresh-only -message why -f",
            "logs -follow network-prod",
            "output network-prod url --raw",
            "output network-prod -json",
            "state list network-prod",
            "state push network-prod -",
            "login https://tools.example",
            "logout",
            "version",
            "completions zsh",
        ] {
            assert!(parse(line).is_ok(), "{line}: {:?}", parse(line).err().map(|error| error.to_string()));
        }
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_error() {
        for line in [
            "",
            "serve",
            "run start",
            "run start w --plan-only --auto-apply",
            "run start w --plan-only --allow-empty-apply",
            "run start w --destroy --refresh-only",
            "run start w --destroy --replace a.b",
            "run start w --refresh-only --no-refresh",
            "run start w --refresh-only --replace a.b",
            "run start w --var region",
            "run start w --auto-apply maybe",
            "run show run-../../x",
            "run list --state finished",
            "run list --limit 0",
            "run list network-prod --workspace network-test",
            "output network-prod --raw",
            "logs --stage init run-CZcmD7eagjhyX1vN",
            "sentinel",
            "sentinel test --run",
            "sentinel test -trace",
            "sentinel apply a.sentinel b.sentinel",
            "sentinel apply -param region p.sentinel",
            "sentinel fmt",
            "sentinel fmt --write=perhaps p.sentinel",
            "sentinel mocks plan.json",
            "sentinel mocks -o mocks",
            "token new -x",
            "token new a.b",
            "completions cmd",
        ] {
            assert_eq!(parse(line).err().map(|error| error.exit_code()), Some(2), "{line}");
        }
    }

    #[test]
    fn a_word_after_auto_apply_is_not_its_value() {
        let Ok(Cli { command: Command::Run(RunCommand::Start(start)), .. }) =
            parse("run start --auto-apply w")
        else {
            panic!("not understood");
        };
        assert_eq!((start.auto_apply, start.workspace.workspace.as_str()), (Some(true), "w"));
    }

    /// The help of each command, as it is printed in a pipe.
    #[test]
    fn the_help_of_every_command_is_as_agreed() {
        let mut pages = Vec::new();
        collect(Cli::command().term_width(100), &mut pages);
        insta::assert_snapshot!("help", pages.join(&format!("\n{}\n\n", "─".repeat(80))));
    }

    fn collect(mut command: clap::Command, pages: &mut Vec<String>) {
        command.build();
        walk(&command, pages);
    }

    fn walk(command: &clap::Command, pages: &mut Vec<String>) {
        let mut page = command.clone().term_width(100);
        // the global options are the same everywhere, and are shown once
        if !pages.is_empty() {
            for name in ["address", "token", "json", "log_format", "color"] {
                page = page.mut_arg(name, |arg| arg.hide(true));
            }
        }
        pages.push(page.render_long_help().to_string());
        for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
            walk(subcommand, pages);
        }
    }
}
