//! The command line, for people and for scripts.
//!
//! What was asked for goes to stdout, what is said about it to stderr. Text that came from elsewhere is made safe
//! to show ([`terminal`]) before it reaches a terminal. With `--json` the shapes of [`json_output`] are printed, one document,
//! or one a line for what is followed.

pub(crate) mod args;
mod backup;
pub(crate) mod check;
mod complete;
pub(crate) mod context;
pub(crate) mod credentials;
mod doctor;
mod encryption;
pub(crate) mod failure;
pub(crate) mod follow;
mod init;
mod json_output;
mod login;
mod logs;
mod names;
mod next_steps;
mod one_dash;
pub(crate) mod output;
mod outputs;
pub(crate) mod paint;
mod review;
mod run;
#[cfg(test)]
mod sample;
mod sentinel;
mod state;
mod table;
mod telemetry;
mod terminal;
mod time;
pub(crate) mod token;
mod variable;
mod verbs;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use tracing_subscriber::filter::LevelFilter;

use self::sentinel::SentinelCommand;
use args::{Cli, Command, ConfigCommand, DEFAULT_ADDRESS, EncryptionCommand, Global, TokenCommand};
use context::Context;
use credentials::Credentials;
use failure::{Exit, Failure};
use output::Output;

/// Does what the command line says.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // a shell asks what could come next, and ends here
    clap_complete::CompleteEnv::with_factory(Cli::command).complete();
    // help, version and usage errors end here, with status 0, 0 and 2
    let Cli { global, command } = match parse(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // the reader may have gone away
            let _ = error.print();
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let level = if matches!(command, Command::Serve(_)) { LevelFilter::INFO } else { LevelFilter::WARN };
    telemetry::init(global.log_format, level);
    let output = Output::new(&global);
    let done = match command {
        Command::Serve(args) => serve(&args, output),
        Command::Demo(args) => demo(&args, output),
        Command::Init(args) => init::run(&args, output).map(|()| Exit::Success.into()),
        Command::Config(ConfigCommand::Check { file }) => check::run(&file, output).map(Into::into),
        Command::Token(TokenCommand::New { user }) => {
            token::new(&user, output).map(|()| Exit::Success.into())
        }
        Command::Encryption(EncryptionCommand::Key) => encryption::key(output).map(|()| Exit::Success.into()),
        Command::Encryption(EncryptionCommand::Rotate { config }) => {
            encryption::rotate(&config, output).map(Into::into)
        }
        Command::Backup { file, config } => {
            run_async(backup::back_up(&file, &config, output)).map(Into::into)
        }
        Command::Restore { file, config } => {
            run_async(backup::restore(&file, &config, output)).map(Into::into)
        }
        Command::Doctor { config, deep } => run_async(doctor::run(&config, deep, output)).map(Into::into),
        Command::Completions { shell } => completions(shell, output).map(|()| Exit::Success.into()),
        Command::Workspace(command) => with_daemon(&global, output, async |context| {
            workspace::run(command, context).await.map(|()| Exit::Success)
        }),
        Command::State(command) => with_daemon(&global, output, async |context| {
            state::run(command, context).await.map(|()| Exit::Success)
        }),
        Command::Output(args) => with_daemon(&global, output, async |context| {
            outputs::run(&args, context).await.map(|()| Exit::Success)
        }),
        Command::Login { daemon } => {
            let address = daemon.or_else(|| global.address()).unwrap_or_else(|| DEFAULT_ADDRESS.to_owned());
            run_async(login::login(&address, &global, output)).map(|()| Exit::Success.into())
        }
        Command::Logout { daemon } => meant_daemon(daemon, &global)
            .and_then(|address| login::logout(&address, output))
            .map(|()| Exit::Success.into()),
        Command::Version => output
            .print(concat!("signalbox ", env!("CARGO_PKG_VERSION"), "\n"))
            .map(|()| Exit::Success.into()),
        Command::Run(command) => {
            with_daemon(&global, output, async |context| run::run(command, context).await)
        }
        Command::Sentinel(SentinelCommand::Mocks(args)) if args.run_id().is_some() => {
            with_daemon(&global, output, async |context| sentinel::mocks::of_run(&args, context).await)
        }
        Command::Sentinel(command) => sentinel::run(&command, output).map(Into::into),
        Command::Logs(args) => with_daemon(&global, output, async |context| logs::run(args, context).await),
    };
    done.unwrap_or_else(|failure| {
        if !failure.is_closed_output() {
            output.failure(&failure);
        }
        failure.exit().into()
    })
}

/// Understands the command line.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(one_dash::with_two_dashes(Cli::command, arguments)?).map_err(verbs::explained)
}

/// A command that asks a daemon.
fn with_daemon(
    global: &Global,
    output: Output,
    command: impl AsyncFnOnce(&Context) -> Result<Exit, Failure>,
) -> Result<ExitCode, Failure> {
    let context = Context::new(global, output)?;
    run_async(command(&context)).map(Into::into)
}

fn run_async<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Local(format!("can't start: {error}")))?;
    runtime.block_on(work)
}

/// The daemon that is named, or else the one that is meant.
fn meant_daemon(named: Option<String>, global: &Global) -> Result<String, Failure> {
    match named.or_else(|| global.address()) {
        Some(address) => Ok(address),
        None => Ok(Credentials::read()?.address.unwrap_or_else(|| DEFAULT_ADDRESS.to_owned())),
    }
}

fn serve(args: &args::ServeArgs, output: Output) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Local(format!("can't start: {error}")))?;
    runtime
        .block_on(crate::daemon::serve::run(&args.config, output.notes.colour()))
        .map_err(|error| Failure::Local(format!("{error:#}")))
}

fn demo(args: &args::DemoArgs, output: Output) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Local(format!("can't start: {error}")))?;
    runtime.block_on(crate::demo::run(args, output)).map_err(|error| Failure::Local(format!("{error:#}")))
}

fn completions(shell: clap_complete::Shell, output: Output) -> Result<(), Failure> {
    let shells = clap_complete::env::Shells::builtins();
    let name = shell.to_string();
    let completer =
        shells.completer(&name).ok_or_else(|| Failure::usage("no such shell", "try bash, zsh or fish"))?;
    let mut script = Vec::new();
    // the shell asks this program what could come next, and this program the daemon
    completer.write_registration("COMPLETE", "signalbox", "signalbox", "signalbox", &mut script)?;
    output.print(&String::from_utf8_lossy(&script))
}
