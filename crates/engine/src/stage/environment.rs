//! The environment of a run's processes, built from nothing: what the daemon happens
//! to have in its own would change what a plan means, or leak.

use std::collections::BTreeMap;

use lifecycle::id::RunId;
use store::Settings;

use crate::HostEnvironment;

/// The whole environment of a run's terraform, git and provisioners.
pub(super) fn of_run(
    host: &HostEnvironment,
    organization: &str,
    workspace: &str,
    settings: &Settings,
    run: RunId,
) -> BTreeMap<String, String> {
    let mut environment = minimal(host);
    for (name, value) in [
        ("TFC_RUN_ID", run.to_string()),
        ("TFC_WORKSPACE_NAME", workspace.to_owned()),
        ("TFC_WORKSPACE_SLUG", format!("{organization}/{workspace}")),
    ] {
        environment.insert(name.to_owned(), value);
    }
    let own = settings.environment.iter().chain(&settings.sensitive_environment);
    environment.extend(own.map(|(name, value)| (name.clone(), value.clone())));
    // after the workspace's own: no setting may make a child wait for an answer that nobody can give
    for (name, value) in [
        ("TF_IN_AUTOMATION", "1"),
        ("TF_INPUT", "0"),
        ("CHECKPOINT_DISABLE", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ] {
        environment.insert(name.to_owned(), value.to_owned());
    }
    environment
}

/// What any process needs, and nothing of anybody's.
pub(super) fn minimal(host: &HostEnvironment) -> BTreeMap<String, String> {
    [("PATH", host.path.as_str()), ("HOME", host.home.as_str()), ("LANG", "C.UTF-8")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}
