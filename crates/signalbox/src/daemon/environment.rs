//! Surroundings that would break the promise that an apply survives the daemon.

use std::time::Duration;

/// Warns about what can be known at start.
pub(super) async fn warn_about_surroundings() {
    if std::process::id() == 1 {
        tracing::warn!(
            "signalbox is process 1 of its container: when it ends, the kernel kills everything in the container, \
             running applies too. Put an init such as tini before it and keep the container alive on upgrades, or \
             expect runs to end as lost"
        );
    }
    if let Some(unit) = systemd_unit()
        && let Some(mode) = kill_mode(&unit).await
        && mode != "process"
        && mode != "none"
    {
        tracing::warn!(
            %unit,
            "systemd would kill running applies together with the daemon (KillMode={mode}): \
             set KillMode=process in the [Service] section"
        );
    }
}

/// The service that this process is the main process of, if systemd started it.
fn systemd_unit() -> Option<String> {
    std::env::var_os("INVOCATION_ID")?;
    unit_of(&std::fs::read_to_string("/proc/self/cgroup").ok()?)
}

fn unit_of(cgroup: &str) -> Option<String> {
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    path.rsplit('/').find(|part| part.ends_with(".service")).map(str::to_owned)
}

async fn kill_mode(unit: &str) -> Option<String> {
    let asked = tokio::process::Command::new("systemctl")
        .args(["show", "--property=KillMode", "--value", "--"])
        .arg(unit)
        .stdin(std::process::Stdio::null())
        .output();
    let output = tokio::time::timeout(Duration::from_secs(2), asked).await.ok()?.ok()?;
    let mode = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!mode.is_empty()).then_some(mode)
}

#[cfg(test)]
mod tests {
    use super::unit_of;

    #[test]
    fn the_unit_is_read_from_the_control_group() {
        assert_eq!(unit_of("0::/system.slice/signalbox.service\n").as_deref(), Some("signalbox.service"));
        assert_eq!(unit_of("0::/system.slice/signalbox.service/sub\n").as_deref(), Some("signalbox.service"));
        assert_eq!(unit_of("0::/user.slice/session-1.scope\n"), None);
        assert_eq!(unit_of("1:name=x:/a.service\n"), None);
    }
}
