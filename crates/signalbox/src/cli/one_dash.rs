//! Options with one dash.
//!
//! terraform and the reference of Sentinel have them as Go programs do: `-target=x`, `-run=x`, `-trace`, `-check=false`. Who
//! types `terraform plan -var-file=…` or scripts `sentinel test -run=…` types the same here. Two dashes mean the same.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use clap::error::ErrorKind;
use clap::{Arg, Command};

/// The option that is a switch for the reference and has words here.
const COLOR: &str = "color";

/// The arguments with two dashes for each option of `command` that has one.
pub(crate) fn with_two_dashes(
    command: impl FnOnce() -> Command,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Vec<OsString>, clap::Error> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // nothing else is rewritten, and need not wait for all commands to be described
    let has_one_dash = |argument: &OsString| {
        let bytes = argument.as_bytes();
        bytes.len() > 2 && bytes.starts_with(b"-") && !bytes.starts_with(b"--")
    };
    let has_switch_with_value =
        |argument: &OsString| argument.as_bytes().starts_with(b"--") && argument.as_bytes().contains(&b'=');
    if !arguments.iter().any(|argument| has_one_dash(argument) || has_switch_with_value(argument)) {
        return Ok(arguments);
    }
    let mut command = command();
    command.build();
    let mut arguments = arguments.into_iter();
    // the name of the program
    let mut out: Vec<OsString> = arguments.next().into_iter().collect();
    let mut at = &command;
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            out.push(argument);
            break;
        }
        // only values need not be UTF-8: those of options that take paths
        let (typed, value) = at_equals(&argument);
        let typed = typed.to_string_lossy();
        let (name, dashes) = match (typed.strip_prefix("--"), typed.strip_prefix('-')) {
            (Some(name), _) => (name, 2),
            (None, Some(name)) => (name, 1),
            (None, None) => {
                if let Some(found) = at.find_subcommand(&argument) {
                    at = found;
                }
                out.push(argument);
                continue;
            }
        };
        let may_be_long = dashes == 2 || name.len() > 1;
        let long = long(at, name).filter(|_| may_be_long);
        let option = long.or_else(|| short(at, name).filter(|_| dashes == 1));
        // what is the value of an option is no option
        let next = match option {
            Some(option) if value.is_none() && takes_next(option, name, dashes) => arguments.next(),
            _ => None,
        };
        match (long, next) {
            (_, Some(next)) => match option.and_then(Arg::get_long) {
                Some(name) => out.push(assigned(name, &next)),
                None => out.extend([argument, next]),
            },
            (Some(option), None) => out.extend(rewritten(option, name, value, dashes)),
            (None, None) if may_be_long && dashes == 1 && !name.starts_with(|first| has_short(at, first)) => {
                return Err(unknown(at, &typed));
            }
            (_, None) => out.push(argument),
        }
    }
    out.extend(arguments);
    Ok(out)
}

/// What is before and behind the first `=`.
fn at_equals(argument: &OsStr) -> (&OsStr, Option<&OsStr>) {
    let bytes = argument.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => (OsStr::from_bytes(&bytes[..at]), Some(OsStr::from_bytes(&bytes[at + 1..]))),
        None => (argument, None),
    }
}

/// An option and its value in one argument, so that a dash at the start of the value makes no option of it.
fn assigned(name: &str, value: &OsStr) -> OsString {
    let mut argument = OsString::from(format!("--{name}="));
    argument.push(value);
    argument
}

/// Whether the argument behind an option without `=` is its value, whatever it looks like.
fn takes_next(option: &Arg, name: &str, dashes: u8) -> bool {
    // of the reference it is a switch
    let is_switch = dashes == 1 && name == COLOR;
    takes_value(option) && !option.is_require_equals_set() && !is_switch
}

/// An option with two dashes; none for a switch that is off.
fn rewritten(option: &Arg, name: &str, value: Option<&OsStr>, dashes: u8) -> Option<OsString> {
    let is_on = value.and_then(OsStr::to_str).and_then(truth);
    Some(match (value, is_on) {
        // of the reference it takes no value, so that what follows is none
        (None, _) if name == COLOR && dashes == 1 => format!("--{name}=always").into(),
        (None, _) => format!("--{name}").into(),
        // a switch may have a value that says whether it is on
        (_, Some(true)) if !takes_value(option) => format!("--{name}").into(),
        (_, Some(false)) if !takes_value(option) => return None,
        (_, Some(is_on)) if name == COLOR || option.is_require_equals_set() => {
            format!("--{name}={is_on}").into()
        }
        (Some(value), _) => assigned(name, value),
    })
}

/// What Go programs take for true and false.
fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// Named as it was typed: read as letters of one dash each it would be one that nobody wrote.
fn unknown(command: &Command, typed: &str) -> clap::Error {
    let message = format!("unexpected argument '{typed}' found");
    command.clone().error(ErrorKind::UnknownArgument, message)
}

fn long<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let aliased = |arg: &&Arg| arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name));
    command.get_arguments().find(|arg| arg.get_long() == Some(name) || aliased(arg))
}

fn short<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let mut chars = name.chars();
    let (letter, None) = (chars.next()?, chars.next()) else { return None };
    command.get_arguments().find(|arg| arg.get_short() == Some(letter))
}

fn has_short(command: &Command, letter: char) -> bool {
    command.get_arguments().any(|arg| arg.get_short() == Some(letter))
}

fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::args::Cli;

    fn rewritten(line: &str) -> String {
        let arguments = std::iter::once("signalbox").chain(line.split_whitespace()).map(OsString::from);
        let out = with_two_dashes(Cli::command, arguments).unwrap();
        let out: Vec<_> = out.iter().skip(1).map(|argument| argument.to_str().unwrap()).collect();
        out.join(" ")
    }

    #[test]
    fn options_may_have_one_dash() {
        for (given, meant) in [
            ("sentinel test -run=a/b -verbose p", "sentinel test --run=a/b --verbose p"),
            ("sentinel test -run -verbose p", "sentinel test --run=-verbose p"),
            ("sentinel test -json -help", "sentinel test --json --help"),
            ("sentinel apply -trace=true -param a=-b p", "sentinel apply --trace --param=a=-b p"),
            ("sentinel apply -trace=false p", "sentinel apply p"),
            ("sentinel fmt -check - x", "sentinel fmt --check - x"),
            ("sentinel fmt -write=false x", "sentinel fmt --write=false x"),
            ("sentinel fmt -write x", "sentinel fmt --write x"),
            ("sentinel fmt -check -write=0 x", "sentinel fmt --check --write=false x"),
            ("sentinel test --verbose=true -json=1", "sentinel test --verbose --json"),
            ("sentinel apply --trace=F -json=0 p", "sentinel apply p"),
            ("sentinel apply -trace=maybe p", "sentinel apply --trace=maybe p"),
            ("sentinel test -color p", "sentinel test --color=always p"),
            ("sentinel test -color=0 --color never p", "sentinel test --color=false --color=never p"),
            ("sentinel mocks -omocks plan.json", "sentinel mocks -omocks plan.json"),
            ("sentinel mocks -o -force p", "sentinel mocks --output=-force p"),
            ("sentinel test -run --", "sentinel test --run=--"),
            ("sentinel test -run", "sentinel test --run"),
            ("--address http://x sentinel test -json", "--address=http://x sentinel test --json"),
            ("run list -limit 5", "run list --limit=5"),
            ("run start w -target=a.b -var x=-1 -follow", "run start w --target=a.b --var=x=-1 --follow"),
            ("run start w -destroy=true -auto-approve", "run start w --destroy --auto-approve"),
            ("run start -m sentinel w -follow", "run start --message=sentinel w --follow"),
        ] {
            assert_eq!(rewritten(given), meant, "{given}");
        }
    }

    #[test]
    fn values_need_not_be_utf_8_and_options_are_named_as_far_as_they_are() {
        let of = |bytes: &[u8]| {
            let arguments = ["signalbox", "sentinel", "mocks"].map(OsString::from).into_iter();
            with_two_dashes(Cli::command, arguments.chain([OsStr::from_bytes(bytes).to_owned()]))
        };
        for (given, meant) in [
            (&b"-output=\xff"[..], &b"--output=\xff"[..]),
            (b"--output=\xff", b"--output=\xff"),
            (b"-o\xff", b"-o\xff"),
            (b"\xff", b"\xff"),
        ] {
            assert_eq!(of(given).unwrap().last().unwrap().as_bytes(), meant);
        }
        let error = of(b"-run\xff=x").unwrap_err().to_string();
        assert!(error.contains("unexpected argument '-run\u{fffd}' found"), "{error}");
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for line in [
            "run start w -f",
            "run list -n5",
            "sentinel test -- -run=x",
            "sentinel test -v",
            "sentinel test --run=-json",
            "logs -f",
            "",
        ] {
            assert_eq!(rewritten(line), line);
        }
    }

    #[test]
    fn an_unknown_option_is_named_as_it_was_typed() {
        for line in
            ["sentinel test -unknown=1", "sentinel apply -maxConcurrency 3 p", "sentinel -json=1 -x1 fmt"]
        {
            let arguments = std::iter::once("signalbox").chain(line.split_whitespace()).map(OsString::from);
            let error = with_two_dashes(Cli::command, arguments).unwrap_err().to_string();
            let typed =
                line.split([' ', '=']).find(|word| matches!(*word, "-unknown" | "-maxConcurrency" | "-x1"));
            assert!(error.contains(&format!("unexpected argument '{}' found", typed.unwrap())), "{error}");
        }
    }
}
