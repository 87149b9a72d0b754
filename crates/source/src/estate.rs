//! Whether a state exists elsewhere than where a run would look for it.
//!
//! A run that plans on no state makes everything again that was made already. So a workspace that has no state yet is held
//! against what its source shows, and one that has a state against who kept it until now. What is found stops the run
//! before it plans: bringing a state in takes a command, and undoing an estate that was built twice takes a week.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use text::{count, escaped};

use crate::report::StateKept;
use crate::words::shown;

/// A state that lies in a source, as far as it can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundState {
    /// Where, as a person would name it.
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
}

/// What is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    State {
        serial: u64,
        resources: usize,
    },
    /// Neither resources nor outputs: nothing was made, or all of it was destroyed.
    Nothing,
    Unreadable(String),
}

/// More than that is no state that terraform could work with.
const MOST: u64 = 1 << 30;

impl Content {
    /// Reads a state, and keeps none of it.
    pub(crate) fn read(state: impl Read) -> Self {
        #[derive(Deserialize)]
        struct State {
            serial: u64,
            #[serde(default)]
            resources: Vec<IgnoredAny>,
            #[serde(default)]
            outputs: std::collections::BTreeMap<String, IgnoredAny>,
        }
        match serde_json::from_reader::<_, State>(std::io::BufReader::new(state.take(MOST))) {
            Ok(state) if state.resources.is_empty() && state.outputs.is_empty() => Self::Nothing,
            Ok(state) => Self::State { serial: state.serial, resources: state.resources.len() },
            // terraform empties a file whose state was moved to a backend
            Err(error) if error.is_eof() && error.line() <= 1 && error.column() == 0 => Self::Nothing,
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }
}

/// What shows that there is a state elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// A file of the source.
    File {
        /// As a person would name it.
        path: String,
        /// What is in it, as "serial 5, 3 resources".
        content: String,
    },
    /// The configuration keeps its state in HCP Terraform, Terraform Enterprise or what speaks like it.
    Remote {
        /// `cloud` block or backend `remote`.
        of: &'static str,
    },
    /// The directory was initialised with a backend that the configuration does not name any more.
    Initialised {
        /// Its kind.
        backend: String,
    },
    /// Signalbox has kept it until now, and the configuration names a backend.
    Signalbox {
        /// The backend's kind.
        backend: String,
    },
    /// A backend has kept it until now, and the configuration names another, or none.
    Backend {
        /// Its kind.
        backend: String,
        /// Who would keep it now.
        now: StateKept,
    },
}

/// The commands that bring a state in take these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The workspace's name.
    pub workspace: String,
    /// What was found.
    pub elsewhere: Elsewhere,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let w = &self.workspace;
        let push = |f: &mut fmt::Formatter<'_>, file: &str| write!(f, "`signalbox state push {w} {file}`");
        let pull = format!("`terraform state pull > {w}.tfstate`");
        let file = format!("{w}.tfstate");
        match &self.elsewhere {
            Elsewhere::File { path, content } => {
                write!(
                    f,
                    "the workspace has no state, and {path} ({content}) holds one: a run would make everything again; bring \
                     it in with "
                )?;
                push(f, path)?;
            }
            Elsewhere::Remote { of } => {
                write!(
                    f,
                    "the workspace has no state, and the configuration keeps its state elsewhere ({of}): a run would make \
                     everything again; where terraform is initialised with that, {pull}, then bring it in with "
                )?;
                push(f, &file)?;
            }
            Elsewhere::Initialised { backend } => {
                write!(
                    f,
                    "the workspace has no state, and the directory was initialised with the backend \"{}\", which the \
                     configuration does not name: a run would make everything again; where terraform is initialised with it, \
                     {pull}, then bring it in with ",
                    escaped(backend)
                )?;
                push(f, &file)?;
            }
            Elsewhere::Backend { backend, now: StateKept::ByDaemon } => {
                write!(
                    f,
                    "the backend \"{}\" has kept the state of this workspace until now, and the configuration does not name \
                     it any more: a run would make everything again; where terraform is initialised with it, {pull}, then bring \
                     it in with ",
                    escaped(backend)
                )?;
                push(f, &file)?;
            }
            Elsewhere::Backend { backend, now: StateKept::ByBackend { kind } } => write!(
                f,
                "the backend \"{}\" has kept the state of this workspace until now, and the configuration names \"{}\": a run \
                 would make everything again unless the state was moved (`terraform init -migrate-state`)",
                escaped(backend),
                escaped(kind)
            )?,
            Elsewhere::Signalbox { backend } => write!(
                f,
                "signalbox has kept the state of this workspace until now, and the configuration names the backend \"{}\": a \
                 run would make everything again unless the state was moved (`signalbox state pull {w} > {file}`, then \
                 `terraform state push {file}` where terraform is initialised with the backend)",
                escaped(backend)
            )?,
        }
        write!(
            f,
            "; if nothing of that is to be used, `signalbox run start {w} --allow-new-state` goes on without it, once"
        )
    }
}

/// What is known of a workspace's state before a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// The daemon has a state of the workspace.
    pub(crate) has_state: bool,
    /// Who kept it in the last run.
    pub(crate) kept: Option<&'a StateKept>,
    /// Who would keep it in this one.
    pub(crate) keeps: &'a StateKept,
    /// What the daemon would keep it in place of; not of an upload, since that is how terraform itself brings one.
    pub(crate) instead_of: Option<&'static str>,
    /// The backend that the directory was initialised with.
    pub(crate) initialised: Option<&'a str>,
    pub(crate) found: &'a [FoundState],
}

/// What has to be asked a person before a run may plan; `None` if there is nothing.
pub(crate) fn elsewhere(known: Known<'_>) -> Option<Elsewhere> {
    match (known.kept, known.keeps) {
        (Some(StateKept::ByBackend { kind: before }), StateKept::ByBackend { kind: now })
            if before == now =>
        {
            return None;
        }
        (Some(StateKept::ByBackend { kind }), StateKept::ByDaemon) if known.has_state => {
            // somebody has brought it in
            let _ = kind;
            return None;
        }
        (Some(StateKept::ByBackend { kind }), now) => {
            return Some(Elsewhere::Backend { backend: kind.clone(), now: now.clone() });
        }
        (_, StateKept::ByBackend { kind }) => {
            return known.has_state.then(|| Elsewhere::Signalbox { backend: kind.clone() });
        }
        (_, StateKept::ByDaemon) if known.has_state => return None,
        (_, StateKept::ByDaemon) => {}
    }
    let evidence = known.found.iter().find_map(|found| {
        let content = match &found.content {
            Content::Nothing => return None,
            Content::State { serial, resources } => {
                format!("serial {serial}, {}", count(*resources, "resource"))
            }
            Content::Unreadable(why) => format!("which can't be read: {why}"),
        };
        Some(Elsewhere::File { path: shown(&found.path), content })
    });
    evidence
        .or_else(|| known.instead_of.map(|of| Elsewhere::Remote { of }))
        .or_else(|| known.initialised.map(|kind| Elsewhere::Initialised { backend: kind.to_owned() }))
}

/// States that lie in a directory of this machine where terraform, run there, would use them, and the backend that it was
/// initialised with, unless that is the local one.
pub(crate) fn look_at(directory: &Path, local: Option<&str>) -> (Vec<FoundState>, Option<String>) {
    let mut found = Vec::new();
    let mut look = |path: PathBuf| {
        // what is neither a file nor readable is none that terraform would have made
        if let Ok(files::Found::File(file)) = files::open(&path) {
            found.push(FoundState { content: Content::read(file), path });
            return true;
        }
        false
    };
    if let Some(local) = local {
        look(directory.join(local));
    }
    look(directory.join("errored.tfstate"));
    if !look(directory.join("terraform.tfstate")) {
        look(directory.join("terraform.tfstate.backup"));
    }
    let others = std::fs::read_dir(directory.join("terraform.tfstate.d"));
    let mut others: Vec<PathBuf> =
        others.into_iter().flatten().flatten().map(|entry| entry.path().join("terraform.tfstate")).collect();
    others.sort();
    for path in others {
        look(path);
    }
    (found, initialised(directory))
}

fn initialised(directory: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Record {
        backend: Backend,
    }
    #[derive(Deserialize)]
    struct Backend {
        r#type: String,
    }
    let record =
        files::open(&directory.join(".terraform/terraform.tfstate")).and_then(files::Found::file).ok()?;
    let Record { backend } = serde_json::from_reader(record.take(MOST)).ok()?;
    (backend.r#type != "local").then_some(backend.r#type)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(kind: &str) -> StateKept {
        match kind {
            "" => StateKept::ByDaemon,
            kind => StateKept::ByBackend { kind: kind.to_owned() },
        }
    }

    fn found(content: Content) -> Vec<FoundState> {
        vec![FoundState { path: "terraform.tfstate".into(), content }]
    }

    #[test]
    fn a_workspace_without_state_stops_where_its_source_shows_one() {
        let state = || found(Content::State { serial: 5, resources: 3 });
        let file = Some(Elsewhere::File {
            path: "terraform.tfstate".into(),
            content: "serial 5, 3 resources".into(),
        });
        let remote = Some(Elsewhere::Remote { of: "the cloud block" });
        let s3 = Some(Elsewhere::Initialised { backend: "s3".into() });
        for (has_state, found, instead_of, initialised, expected) in [
            (false, vec![], None, None, None),
            (false, state(), None, None, file.clone()),
            (false, state(), Some("the cloud block"), Some("s3"), file),
            (false, found(Content::Nothing), None, None, None),
            (false, vec![], Some("the cloud block"), None, remote),
            (false, vec![], None, Some("s3"), s3),
            (true, state(), Some("the cloud block"), Some("s3"), None),
        ] {
            let (kept, keeps) = (None, &StateKept::ByDaemon);
            let known = Known { has_state, kept, keeps, instead_of, initialised, found: &found };
            assert_eq!(elsewhere(known), expected, "{known:?}");
        }
    }

    #[test]
    fn whoever_has_kept_the_state_keeps_it_or_a_person_is_asked() {
        for (kept, keeps, has_state, asked) in [
            (None, "s3", false, false),
            (None, "s3", true, true),
            (Some(""), "", false, false),
            (Some(""), "", true, false),
            (Some(""), "s3", true, true),
            (Some(""), "s3", false, false),
            (Some("s3"), "s3", false, false),
            (Some("s3"), "s3", true, false),
            (Some("s3"), "gcs", false, true),
            (Some("s3"), "", false, true),
            (Some("s3"), "", true, false),
        ] {
            let (kept, keeps) = (kept.map(by), by(keeps));
            let known = Known {
                has_state,
                kept: kept.as_ref(),
                keeps: &keeps,
                instead_of: None,
                initialised: None,
                found: &[],
            };
            assert_eq!(elsewhere(known).is_some(), asked, "{known:?}");
        }
    }

    #[test]
    fn a_state_tells_its_serial_and_how_much_is_in_it() {
        for (text, expected) in [
            (
                r#"{"version":4,"serial":7,"resources":[{"a":1},{}],"outputs":{}}"#,
                Content::State { serial: 7, resources: 2 },
            ),
            (
                r#"{"version":4,"serial":7,"resources":[],"outputs":{"a":{"value":1}}}"#,
                Content::State { serial: 7, resources: 0 },
            ),
            (r#"{"version":4,"serial":7,"resources":[],"outputs":{}}"#, Content::Nothing),
            ("", Content::Nothing),
        ] {
            assert_eq!(Content::read(text.as_bytes()), expected, "{text}");
        }
        for text in ["{", "[]", "not a state", r#"{"serial":"x"}"#] {
            assert!(matches!(Content::read(text.as_bytes()), Content::Unreadable(_)), "{text}");
        }
    }

    #[test]
    fn every_advice_says_the_command_and_the_way_past_it() {
        let advice = |elsewhere| Advice { workspace: "net".to_owned(), elsewhere }.to_string();
        let push = "`signalbox state push net ";
        for (elsewhere, command) in [
            (
                Elsewhere::File { path: "a/terraform.tfstate".into(), content: "x".into() },
                format!("{push}a/terraform.tfstate`"),
            ),
            (Elsewhere::Remote { of: "the cloud block" }, format!("{push}net.tfstate`")),
            (Elsewhere::Initialised { backend: "s3".into() }, format!("{push}net.tfstate`")),
            (Elsewhere::Backend { backend: "s3".into(), now: by("") }, format!("{push}net.tfstate`")),
            (
                Elsewhere::Backend { backend: "s3".into(), now: by("gcs") },
                "`terraform init -migrate-state`".to_owned(),
            ),
            (
                Elsewhere::Signalbox { backend: "s3".into() },
                "`signalbox state pull net > net.tfstate`".to_owned(),
            ),
        ] {
            let words = advice(elsewhere);
            assert!(words.contains(&command), "{words}");
            assert!(
                words.ends_with("`signalbox run start net --allow-new-state` goes on without it, once"),
                "{words}"
            );
        }
    }
}
