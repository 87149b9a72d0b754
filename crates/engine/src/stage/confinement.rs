//! What of the machine the code of a run sees (docs/isolation.md): all that its user may read, but for the daemon's data,
//! of which it sees what is its own run's, the config file, the files that its secrets come from, and the tokens of its user; and
//! it writes where its configuration lies, to what terraform is handed, and to what belongs to everybody.

use std::path::PathBuf;

use config::IsolationMode;
use executor::Confinement;

use crate::RunDir;
use crate::context::Context;
use crate::place::Place;

/// Where everybody may write.
const OF_EVERYBODY: [&str; 2] = ["/tmp", "/var/tmp"];

/// For commands of terraform, which run what the configuration says. `plugin_cache`: where providers are kept.
pub(super) fn of_terraform(
    context: &Context,
    run_dir: &RunDir,
    place: &Place,
    plugin_cache: Option<&str>,
) -> Option<Confinement> {
    let own = [place.directory().to_owned(), run_dir.exchange()];
    confinement(context, Vec::new(), own.into_iter().chain(plugin_cache.map(PathBuf::from)).collect())
}

/// For what we run ourselves, with files of this run alone: `visible` are those of it that lie elsewhere in the data
/// directory.
pub(super) fn of_our_own(
    context: &Context,
    run_dir: &RunDir,
    place: Option<&Place>,
    visible: Vec<PathBuf>,
) -> Option<Confinement> {
    let place = place.map(|place| place.directory().to_owned());
    confinement(context, visible, place.into_iter().chain([run_dir.root().to_owned()]).collect())
}

/// The config file, and those that its secrets and keys come from, as the kernel sees them: links are followed. What lies in
/// the directory of a configuration is no part of it.
pub(super) fn hidden_files(context: &Context) -> Vec<PathBuf> {
    let config = context.config();
    let files = context.hidden.iter().chain(&config.secret_files);
    files.filter_map(|file| std::fs::canonicalize(file).ok()).collect()
}

fn confinement(context: &Context, visible: Vec<PathBuf>, own: Vec<PathBuf>) -> Option<Confinement> {
    let config = context.config();
    if config.server.isolation == IsolationMode::Off {
        return None;
    }
    let hidden = [context.data_dir.clone()].into_iter().chain(hidden_files(context)).collect();
    let of_everybody = OF_EVERYBODY.into_iter().map(PathBuf::from);
    let writable = own.into_iter().chain(of_everybody).chain(config.server.writable_paths.clone()).collect();
    Some(Confinement { hidden, visible, writable })
}
