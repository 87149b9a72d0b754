//! Every row of the table has a test that is named after it, in which that row was recorded.

use std::collections::BTreeSet;

use lifecycle::{Event, Facts, Rule, State, step};

const TESTS: [&str; 4] = [
    include_str!("rows_plan.rs"),
    include_str!("rows_policy.rs"),
    include_str!("rows_apply.rs"),
    include_str!("rows_of_any_stage.rs"),
];

/// What the names of a row's tests begin with. A test that is named so fails unless its daemons have recorded that row.
const fn name(rule: Rule) -> &'static str {
    match rule {
        Rule::T1 => "t01_",
        Rule::T2 => "t02_",
        Rule::T3 => "t03_",
        Rule::T4 => "t04_",
        Rule::T5 => "t05_",
        Rule::T6 => "t06_",
        Rule::T7 => "t07_",
        Rule::T8 => "t08_",
        Rule::T9 => "t09_",
        Rule::T10 => "t10_",
        Rule::T11 => "t11_",
        Rule::T12 => "t12_",
        Rule::T13 => "t13_",
        Rule::T14 => "t14_",
        Rule::T15 => "t15_",
        Rule::T16 => "t16_",
        Rule::T17 => "t17_",
        Rule::T18 => "t18_",
        Rule::T19 => "t19_",
        Rule::T20 => "t20_",
        Rule::Launched => "launched_",
        Rule::Fetched => "fetched_",
        Rule::CancelRequested => "cancel_requested_",
        Rule::ForceCancelRequested => "force_cancel_requested_",
        Rule::PlanOnlyEnded => "plan_only_ended_",
        Rule::PolicyCheckCanceled => "policy_check_canceled_",
        Rule::CanceledAtRest => "canceled_at_rest_",
    }
}

/// The rows that the table has, found by trying everything.
fn table() -> BTreeSet<Rule> {
    let mut rows = BTreeSet::new();
    for facts in Facts::all() {
        for state in State::all() {
            let steps = Event::all().into_iter().filter_map(|event| step(state, facts, event).ok());
            rows.extend(steps.map(|transition| transition.rule));
        }
    }
    rows
}

/// The row that the test of this thread is named after. None if it has no name: with `--test-threads=1` tests run in the
/// main thread.
pub fn of_this_test() -> Option<Rule> {
    let thread = std::thread::current();
    let (module, test) = thread.name()?.split_once("::")?;
    if !module.starts_with("rows_") {
        return None;
    }
    table().into_iter().find(|rule| test.starts_with(name(*rule)))
}

#[test]
fn every_row_of_the_table_has_a_test_that_is_named_after_it() {
    for rule in table() {
        let test = format!("#[test]\nfn {}", name(rule));
        assert!(TESTS.iter().any(|tests| tests.contains(&test)), "no test is named after {rule}");
    }
}

#[test]
fn every_test_of_rows_is_named_after_one() {
    let names: Vec<_> = table().into_iter().map(name).collect();
    for test in TESTS.iter().flat_map(|tests| tests.split("#[test]\nfn ").skip(1)) {
        assert!(
            names.iter().any(|name| test.starts_with(name)),
            "{}",
            test.lines().next().unwrap_or_default()
        );
    }
}
