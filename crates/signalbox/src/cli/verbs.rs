//! Words that people type who know terraform, and what is meant by them here.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The error for a command that does not exist, with the one that was probably meant.
pub(crate) fn explained(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(ContextValue::String(verb)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(instead) = instead_of(verb)
    {
        let hint = format!("that is `{instead}` here");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
        error.remove(ContextKind::SuggestedSubcommand);
    }
    error
}

/// What to type instead of a command that does not exist.
pub(crate) fn instead_of(verb: &str) -> Option<&'static str> {
    Some(match verb {
        "plan" => "signalbox run start WORKSPACE --plan-only --follow",
        "apply" => "signalbox run start WORKSPACE --follow",
        "destroy" => "signalbox run start WORKSPACE --destroy --follow",
        "refresh" => "signalbox run start WORKSPACE --refresh-only --follow",
        "approve" | "confirm" => "signalbox run confirm RUN",
        "discard" | "reject" | "decline" => "signalbox run discard RUN",
        "cancel" | "stop" | "abort" => "signalbox run cancel RUN",
        "override" => "signalbox run override RUN",
        "start" | "queue" => "signalbox run start WORKSPACE",
        "watch" | "follow" | "tail" | "log" => "signalbox logs -f RUN",
        "runs" | "list" | "ls" | "status" => "signalbox run list",
        "show" => "signalbox run show RUN",
        "workspaces" => "signalbox workspace list",
        "lock" => "signalbox workspace lock WORKSPACE",
        "unlock" | "force-unlock" => "signalbox workspace unlock WORKSPACE",
        "outputs" => "signalbox output WORKSPACE",
        "pull" => "signalbox state pull WORKSPACE",
        "push" => "signalbox state push WORKSPACE FILE",
        "server" | "daemon" | "agent" => "signalbox serve --config FILE",
        "validate" | "check" => "signalbox config check FILE",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn what_terraform_users_type_leads_to_a_command_that_exists() {
        for verb in ["plan", "apply", "destroy", "approve", "watch", "outputs", "workspaces", "lock", "push"]
        {
            let error = Cli::command().try_get_matches_from(["signalbox", verb]).unwrap_err();
            let words = explained(error).to_string();
            let instead = instead_of(verb).unwrap();
            assert!(words.contains(instead), "{words}");
            let typed = instead.split(' ').filter(|word| !word.contains("RUN")).map(|word| match word {
                "WORKSPACE" | "FILE" => "x",
                other => other,
            });
            let run = instead.contains("RUN").then_some("run-1");
            let parsed = Cli::command().try_get_matches_from(typed.chain(run));
            assert!(parsed.is_ok(), "{instead}: {:?}", parsed.err().map(|error| error.to_string()));
        }
        assert_eq!(instead_of("frobnicate"), None);
    }
}
