//! Options with one dash, below `signalbox sentinel`.
//!
//! The reference's command line has them as Go programs do: `-run=x`, `-trace`, `-check=false`. Scripts that call
//! `sentinel test -run=…` can call `signalbox sentinel test -run=…`. Two dashes mean the same, and every other
//! command is untouched.

use std::ffi::OsString;

use clap::{Arg, Command};

/// The subcommand below which options may have one dash.
const BELOW: &str = "sentinel";

/// The arguments with two dashes for each option of `command` that has one.
pub(crate) fn with_two_dashes(
    command: impl FnOnce() -> Command,
    arguments: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // nothing else is rewritten, and need not wait for all commands to be described
    if !arguments.iter().any(|argument| argument == BELOW) {
        return arguments;
    }
    let mut command = command();
    command.build();
    let mut arguments = arguments.into_iter();
    // the name of the program
    let mut out: Vec<OsString> = arguments.next().into_iter().collect();
    let (mut at, mut is_below) = (&command, false);
    while let Some(argument) = arguments.next() {
        let Some(text) = argument.to_str().map(str::to_owned) else {
            out.push(argument);
            continue;
        };
        if text == "--" {
            out.push(argument);
            break;
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text.as_str(), None),
        };
        let option = if let Some(name) = name.strip_prefix("--") {
            out.push(argument);
            long(at, name)
        } else if let Some(name) = name.strip_prefix('-') {
            let one_dash = long(at, name).filter(|_| is_below && name.len() > 1);
            match (one_dash, value) {
                // a switch may have a value that says whether it is on
                (Some(option), Some("true")) if !takes_value(option) => out.push(format!("--{name}").into()),
                (Some(option), Some("false")) if !takes_value(option) => {}
                (Some(_), _) => out.push(format!("-{text}").into()),
                (None, _) => out.push(argument),
            }
            one_dash.or_else(|| short(at, name))
        } else {
            if let Some(found) = at.find_subcommand(&text) {
                is_below |= found.get_name() == BELOW;
                at = found;
            }
            out.push(argument);
            None
        };
        // what is the value of an option is no option
        if value.is_none()
            && option.is_some_and(|option| takes_value(option) && !option.is_require_equals_set())
        {
            out.extend(arguments.next());
        }
    }
    out.extend(arguments);
    out
}

fn long<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(name))
}

fn short<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let mut chars = name.chars();
    let (letter, None) = (chars.next()?, chars.next()) else { return None };
    command.get_arguments().find(|arg| arg.get_short() == Some(letter))
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
        let out = with_two_dashes(Cli::command, arguments);
        let out: Vec<_> = out.iter().skip(1).map(|argument| argument.to_str().unwrap()).collect();
        out.join(" ")
    }

    #[test]
    fn options_below_sentinel_may_have_one_dash() {
        for (given, meant) in [
            ("sentinel test -run=a/b -verbose p", "sentinel test --run=a/b --verbose p"),
            ("sentinel test -run -verbose p", "sentinel test --run -verbose p"),
            ("sentinel test -json -help", "sentinel test --json --help"),
            ("sentinel apply -trace=true -param a=-b p", "sentinel apply --trace --param a=-b p"),
            ("sentinel apply -trace=false p", "sentinel apply p"),
            ("sentinel fmt -check - x", "sentinel fmt --check - x"),
            ("sentinel fmt -write=false x", "sentinel fmt --write=false x"),
            ("sentinel fmt -write x", "sentinel fmt --write x"),
            ("sentinel mocks -o -force p", "sentinel mocks -o -force p"),
            ("--address http://x sentinel test -json", "--address http://x sentinel test --json"),
        ] {
            assert_eq!(rewritten(given), meant, "{given}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for line in [
            "run list -limit 5",
            "run start sentinel -message -f",
            "run start -m sentinel w -follow",
            "--token sentinel run list -state x",
            "sentinel test -- -run=x",
            "sentinel test -unknown=1 -v",
            "sentinel test --run=-json",
            "logs -f",
            "",
        ] {
            assert_eq!(rewritten(line), line);
        }
    }
}
