//! Ends of steps in words that can be shown to a person as they are.

use std::time::Duration;

use crate::result::StepEnd;
use crate::spec::Step;

/// Why this end of the step fails the execution; `None` if it is a good one. `peak_memory`: see
/// [`StepResult::peak_memory_bytes`](crate::StepResult::peak_memory_bytes).
pub(crate) fn failure(step: &Step, ended: &StepEnd, killed_here: bool, peak_memory: u64) -> Option<String> {
    let name = &step.name;
    let why = match ended {
        StepEnd::Exited { code } if step.continue_on.contains(code) => return None,
        StepEnd::Exited { code } => format!("{name} exited with {code}"),
        StepEnd::Signaled { signal: 9 } if !killed_here => {
            format!(
                "{name} was killed by signal 9 (SIGKILL), perhaps by the kernel's out-of-memory killer: its largest \
                 process had used {} MiB of memory",
                peak_memory.div_ceil(1 << 20)
            )
        }
        StepEnd::Signaled { signal } => {
            let why = format!("{name} was killed by {}", describe_signal(*signal));
            // what a program meets that gets no more memory; any other signal was sent by somebody
            return Some(if matches!(signal, 5 | 6 | 7 | 9 | 11) { with_limits(step, why) } else { why });
        }
        StepEnd::TimeLimit => {
            let limit = step.time_limit.unwrap_or_default();
            let setting =
                step.time_limit_setting.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
            return Some(format!(
                "{name} was stopped: its time limit of {}{setting} was exceeded",
                describe_duration(limit)
            ));
        }
        StepEnd::NotStarted { why } => return Some(why.clone()),
    };
    Some(with_limits(step, why))
}

/// Out of memory looks different in every program, and like an ordinary failure in most; so the limit is mentioned.
pub(crate) fn with_limits(step: &Step, why: String) -> String {
    match step.memory_limit {
        Some(limit) => format!("{why} (its memory limit was {})", text::bytes(limit)),
        None => why,
    }
}

/// As "signal 9 (SIGKILL)".
pub(crate) fn describe_signal(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

/// As "1h 30m", "30s" or "250ms".
fn describe_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if duration.subsec_millis() != 0 {
        return if seconds == 0 {
            format!("{}ms", duration.subsec_millis())
        } else {
            format!("{}.{:03}s", seconds, duration.subsec_millis())
        };
    }
    let parts: Vec<String> = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    if parts.is_empty() { "0s".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_words() {
        let mut step = Step::new("terraform plan", "terraform");
        step.continue_on = vec![0, 2];
        step.time_limit = Some(Duration::from_secs(30));
        let exited = |code| StepEnd::Exited { code };
        let killed = StepEnd::Signaled { signal: 9 };
        assert_eq!(failure(&step, &exited(0), false, 0), None);
        assert_eq!(failure(&step, &exited(2), false, 0), None);
        let table = [
            (exited(1), false, "terraform plan exited with 1"),
            (
                killed.clone(),
                false,
                "terraform plan was killed by signal 9 (SIGKILL), perhaps by the kernel's out-of-memory killer: its \
                 largest process had used 84 MiB of memory",
            ),
            (killed, true, "terraform plan was killed by signal 9 (SIGKILL)"),
            (StepEnd::Signaled { signal: 11 }, false, "terraform plan was killed by signal 11 (SIGSEGV)"),
            (StepEnd::Signaled { signal: 40 }, false, "terraform plan was killed by signal 40"),
            (StepEnd::TimeLimit, true, "terraform plan was stopped: its time limit of 30s was exceeded"),
            (StepEnd::NotStarted { why: "no such program".into() }, false, "no such program"),
        ];
        for (ended, killed_here, words) in table {
            assert_eq!(failure(&step, &ended, killed_here, (83 << 20) + 1).as_deref(), Some(words));
        }
        step.memory_limit = Some(512 << 20);
        assert_eq!(
            failure(&step, &exited(1), false, 0).as_deref(),
            Some("terraform plan exited with 1 (its memory limit was 512 MiB)")
        );
        // a program that gets no more memory aborts; one that was interrupted was interrupted by somebody
        for (signal, words) in [
            (6, "terraform plan was killed by signal 6 (SIGABRT) (its memory limit was 512 MiB)"),
            (2, "terraform plan was killed by signal 2 (SIGINT)"),
        ] {
            let ended = StepEnd::Signaled { signal };
            assert_eq!(failure(&step, &ended, false, 0).as_deref(), Some(words));
        }
    }

    #[test]
    fn durations_are_short() {
        for (milliseconds, words) in [
            (0, "0s"),
            (250, "250ms"),
            (1_500, "1.500s"),
            (30_000, "30s"),
            (5_400_000, "1h 30m"),
            (3_601_000, "1h 1s"),
        ] {
            assert_eq!(describe_duration(Duration::from_millis(milliseconds)), words);
        }
    }
}
