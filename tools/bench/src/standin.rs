//! Stand-ins for terraform, so that what is left to measure is signalbox.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Ends at once: a plan without changes.
pub(crate) fn at_once(dir: &Path) -> std::io::Result<PathBuf> {
    script(
        dir,
        "at-once",
        r#"case "$1" in
plan) for a; do case "$a" in -out=*) echo plan > "${a#-out=}";; esac; done;;
show) echo '{"terraform_version":"1.11.4","resource_changes":[]}';;
version) echo '{"terraform_version":"1.11.4"}';;
esac
exit 0"#,
    )
}

/// Plans a change, and notes the time at which the apply begins, in nanoseconds since the epoch. Its apply leaves a newer
/// state, without which a run would take its workspace out of service.
pub(crate) fn noting(dir: &Path, note: &Path) -> std::io::Result<PathBuf> {
    let body = format!(
        r#"case "$1" in
apply) now=$(date +%s%N); echo $now > {}
echo '{{"version":4,"terraform_version":"1.11.4","serial":'$now',"lineage":"bench","outputs":{{}},"resources":[]}}' > terraform.tfstate;;
plan) for a; do case "$a" in -out=*) echo plan > "${{a#-out=}}";; esac; done; exit 2;;
show) echo '{{"terraform_version":"1.11.4","resource_changes":[]}}';;
version) echo '{{"terraform_version":"1.11.4"}}';;
esac
exit 0"#,
        note.display()
    );
    script(dir, "noting", &body)
}

fn script(dir: &Path, name: &str, body: &str) -> std::io::Result<PathBuf> {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n"))?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}
