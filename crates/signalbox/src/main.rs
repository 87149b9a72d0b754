//! One binary: the daemon, the command line, and what the daemon starts itself again as.

mod cli;
mod daemon;
mod demo;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// What an executor's steps begin as: an argument, and nothing but the work.
type Part = fn(&Path) -> ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    if arguments.nth(1).is_some_and(|part| part == "confine") {
        return executor::confine(arguments);
    }
    let mut arguments = std::env::args_os();
    if let (Some(part), Some(argument), None) =
        (arguments.nth(1).as_deref().and_then(part), arguments.next(), arguments.next())
    {
        return part(Path::new(&argument));
    }
    cli::main(std::env::args_os())
}

/// The parts that the daemon starts. They come before everything else: they have to be small, and to have no
/// thread and no runtime when they detach or limit themselves.
fn part(name: &OsStr) -> Option<Part> {
    match name.to_str()? {
        "executor" => Some(executor::run),
        "policy-check" => Some(policy::run_check),
        "take-configuration" => Some(source::run_take),
        _ => None,
    }
}
