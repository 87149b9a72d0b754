//! What the results of a check mean for the run: T11, T12 and T15 as one function.

use serde::{Deserialize, Serialize};

use crate::{EnforcementLevel, PolicyResult};

/// The outcome of a policy check, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyOutcome {
    /// No mandatory policy failed: the run goes on to Policy Checked (T15).
    Passed,
    /// A soft-mandatory policy failed and no hard-mandatory one: Policy Override (T12).
    SoftFailed,
    /// A hard-mandatory policy failed: Plan Errored (T11).
    HardFailed,
}

impl PolicyOutcome {
    /// The outcome's word, as the API's policy check status has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::SoftFailed => "soft_failed",
            Self::HardFailed => "hard_failed",
        }
    }
}

/// The outcome that a failure at this level leads to.
const fn of_failure_at(level: EnforcementLevel) -> PolicyOutcome {
    match level {
        EnforcementLevel::Advisory => PolicyOutcome::Passed,
        EnforcementLevel::SoftMandatory => PolicyOutcome::SoftFailed,
        EnforcementLevel::HardMandatory => PolicyOutcome::HardFailed,
    }
}

/// The outcome of these results; of none it is [`PolicyOutcome::Passed`].
///
/// An errored policy counts as a failed one (T11).
pub fn outcome<'a>(results: impl IntoIterator<Item = &'a PolicyResult>) -> PolicyOutcome {
    results
        .into_iter()
        .filter(|result| !result.verdict.is_passed())
        .map(|result| of_failure_at(result.level))
        .max()
        .unwrap_or(PolicyOutcome::Passed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Verdict;
    use EnforcementLevel::{Advisory, HardMandatory, SoftMandatory};

    fn passed() -> Verdict {
        Verdict::Passed
    }
    fn failed() -> Verdict {
        Verdict::Failed { messages: vec!["no".into()] }
    }
    fn errored() -> Verdict {
        Verdict::Errored { error: "broken".into() }
    }
    fn result(level: EnforcementLevel, verdict: Verdict) -> PolicyResult {
        PolicyResult {
            name: "p".into(),
            level,
            description: None,
            verdict,
            prints: vec![],
            trace: String::new(),
            rules: vec![],
            duration_ms: 0,
        }
    }

    #[test]
    fn t11_t12_t15_outcome_of_every_pair_of_policies() {
        use PolicyOutcome::{HardFailed, Passed, SoftFailed};
        let alone = [
            (Advisory, passed(), Passed),
            (Advisory, failed(), Passed),
            (Advisory, errored(), Passed),
            (SoftMandatory, passed(), Passed),
            (SoftMandatory, failed(), SoftFailed),
            (SoftMandatory, errored(), SoftFailed),
            (HardMandatory, passed(), Passed),
            (HardMandatory, failed(), HardFailed),
            (HardMandatory, errored(), HardFailed),
        ];
        assert_eq!(outcome([]), Passed);
        for (level, verdict, expected) in &alone {
            let first = result(*level, verdict.clone());
            assert_eq!(outcome([&first]), *expected, "{level} {verdict:?}");
            for (other_level, other_verdict, other) in &alone {
                let second = result(*other_level, other_verdict.clone());
                assert_eq!(outcome([&first, &second]), (*expected).max(*other));
            }
        }
    }

    fn any_result() -> impl Strategy<Value = PolicyResult> {
        let level = prop::sample::select(EnforcementLevel::ALL.to_vec());
        let verdict = prop_oneof![Just(passed()), Just(failed()), Just(errored())];
        (level, verdict).prop_map(|(level, verdict)| result(level, verdict))
    }

    proptest! {
        #[test]
        fn outcome_is_monotone_and_blind_to_order(
            mut results in prop::collection::vec(any_result(), 1..8),
            index in any::<prop::sample::Index>(),
            level in prop::sample::select(EnforcementLevel::ALL.to_vec()),
            rotation in 0_usize..8,
        ) {
            let before = outcome(&results);
            let with = |change: &dyn Fn(&mut PolicyResult)| {
                let mut changed = results.clone();
                change(&mut changed[index.index(results.len())]);
                outcome(&changed)
            };
            prop_assert!(with(&|r| r.verdict = errored()) >= before);
            prop_assert!(with(&|r| r.verdict = failed()) >= before);
            prop_assert!(with(&|r| r.verdict = passed()) <= before);
            prop_assert!(with(&|r| r.level = r.level.max(level)) >= before);
            let mut more = results.clone();
            more.push(result(level, failed()));
            prop_assert!(outcome(&more) >= before);
            let steps = rotation % results.len();
            results.rotate_left(steps);
            prop_assert_eq!(outcome(&results), before);
        }
    }
}
