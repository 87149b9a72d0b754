use std::time::Duration;

use client::{ClientError, Run, RunAction, Stage};
use jiff::Timestamp;

use super::super::args::ActionArgs;
use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::follow::prompt::{Answers, Decision, Question, Typed};
use super::super::follow::{self, Options};
use super::super::json_output::RunShape;
use super::super::next_steps::next_steps;
use super::super::review as reviewing;
use super::super::{terminal, time};
use super::show::Shown;

/// How often a run that is about to end is looked at.
const POLL: Duration = Duration::from_millis(250);
/// How often at most after a kill, which ends a run within a moment.
const SWEEP_POLLS: u32 = 40;

/// Confirms a plan. A person at a terminal reads what it would do before that, unless they said that they have.
pub(super) async fn confirm(
    args: &ActionArgs,
    yes: bool,
    follow: bool,
    context: &Context,
) -> Result<Exit, Failure> {
    if context.output.can_ask && !yes {
        let shown = Shown::fetch(&args.run.run, context).await?;
        // what can't be confirmed is refused by the daemon, in its words
        if let Some(question @ Question::Confirm { .. }) = Question::of(&shown.run) {
            match ask(question, &shown, context).await {
                Decision::Confirm => {}
                Decision::Discard => return discard(args, context).await,
                Decision::Override | Decision::Unclear => {
                    context.output.note(&format!("{}: nothing was decided", args.run.run));
                    return Ok(Exit::Declined);
                }
            }
        }
    }
    act(args, RunAction::Apply, context).await?;
    decided(args, "confirmed", follow, context).await
}

/// Shows what would be done, and waits for an answer that decides; unclear if there will be none.
async fn ask(question: Question, shown: &Shown, context: &Context) -> Decision {
    let output = context.output;
    let text = shown.for_decision(reviewing::BESIDE_A_QUESTION, Timestamp::now(), output.notes);
    output.note(&text);
    let mut answers = Answers::default();
    loop {
        answers.expect();
        output.ask(&question.text(&shown.run, shown.review.as_ref()));
        match answers.next().await {
            Some(Typed::Line(line)) => match question.decision(&line) {
                Decision::Unclear => output.note(&question.hint()),
                decision => return decision,
            },
            Some(Typed::End) | None => {
                output.note("");
                return Decision::Unclear;
            }
        }
    }
}

pub(super) async fn discard(args: &ActionArgs, context: &Context) -> Result<Exit, Failure> {
    act(args, RunAction::Discard, context).await?;
    done(args, "", context).await
}

pub(super) async fn cancel(args: &ActionArgs, context: &Context) -> Result<Exit, Failure> {
    act(args, RunAction::Cancel, context).await?;
    done(args, "cancel requested", context).await
}

pub(super) async fn override_policies(
    args: &ActionArgs,
    follow: bool,
    context: &Context,
) -> Result<Exit, Failure> {
    let id = &args.run.run;
    let checks = context.client.policy_checks(id).await?;
    let check = checks.iter().find(|check| check.actions.is_overridable).or(checks.first());
    let Some(check) = check else {
        return Err(Failure::Local(format!("{id} has no policy check that could be overridden")));
    };
    context.client.override_policy_check(&check.id, args.comment.as_deref()).await?;
    decided(args, "policies overridden", follow, context).await
}

/// Kills a run, after the cancel and the cool-off that have to come first.
pub(super) async fn force_cancel(args: &ActionArgs, context: &Context) -> Result<Exit, Failure> {
    let id = &args.run.run;
    let mut run = context.client.run(id).await?;
    if !run.permissions.can_force_cancel {
        let message = format!("killing {id} takes admin access to its workspace; nothing was changed");
        return Err(Failure::Local(message));
    }
    if run.is_final() {
        // refused by the daemon, in its words: nothing that is over can be killed
        return act(args, RunAction::ForceCancel, context).await.map(|()| Exit::Success);
    }
    if run.canceled_at.is_none() {
        act(args, RunAction::Cancel, context).await?;
        run = context.client.run(id).await?;
    }
    let mut told = false;
    while !run.is_final() && !run.actions.is_force_cancelable {
        let now = Timestamp::now();
        let left = run.force_cancel_available_at.map_or(Duration::ZERO, |at| time::between(now, at));
        if !std::mem::replace(&mut told, true) && !context.output.json {
            context.output.note(&format!(
                "{id}: canceled; it can be killed in {}, unless terraform ends before that: waiting",
                time::took(left)
            ));
        }
        // its end is noticed too, and a clock that differs from the daemon's does no harm
        tokio::time::sleep((left / 4).clamp(POLL, Duration::from_secs(5))).await;
        run = context.client.run(id).await?;
    }
    if run.is_final() {
        return done(args, "ended without being killed", context).await;
    }
    match act(args, RunAction::ForceCancel, context).await {
        Ok(()) => {
            for _ in 0..SWEEP_POLLS {
                if context.client.run(id).await?.is_final() {
                    break;
                }
                tokio::time::sleep(POLL).await;
            }
            done(args, "killed", context).await
        }
        // it ended in this very moment
        Err(Failure::Client(ClientError::Conflict(_))) if context.client.run(id).await?.is_final() => {
            done(args, "ended without being killed", context).await
        }
        Err(failure) => Err(failure),
    }
}

async fn act(args: &ActionArgs, action: RunAction, context: &Context) -> Result<(), Failure> {
    Ok(context.client.act_on_run(&args.run.run, action, args.comment.as_deref()).await?)
}

/// After a decision that lets the run go on.
async fn decided(args: &ActionArgs, what: &str, follow: bool, context: &Context) -> Result<Exit, Failure> {
    if !follow {
        return done(args, what, context).await;
    }
    if !context.output.json {
        context.output.note(&format!("{}: {what}", args.run.run));
    }
    // what led to the decision was read before it was made
    follow::follow(&args.run.run, Options { first: Stage::Apply, ..Options::default() }, context).await
}

async fn done(args: &ActionArgs, what: &str, context: &Context) -> Result<Exit, Failure> {
    let run = context.client.run(&args.run.run).await?;
    let output = context.output;
    if output.json {
        output.document(&RunShape::new(&run), false)?;
    } else {
        // where the state says it all, nothing is put before it
        let what = if what.is_empty() { String::new() } else { format!("{what}; ") };
        output.print(&format!("{}: {what}{}\n", run.id, output.paint.state(&run)))?;
        hint(&run, context);
    }
    Ok(Exit::Success)
}

fn hint(run: &Run, context: &Context) {
    if let Some(step) = next_steps(run).into_iter().next().filter(|_| !run.is_final()) {
        context.output.note(&terminal::line(&format!("{} with: {}", step.does, step.command)));
    }
}
