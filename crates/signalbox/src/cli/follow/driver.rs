use std::time::Duration;

use client::{ClientError, LogChunk, Run, RunAction, RunState, Stage, Update};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use review::Review;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::next_steps::next_steps;
use super::super::terminal;
use super::log_order::{Next, Plot};
use super::prompt::{Answers, Decision, Question, Typed};
use super::{Answer, Options, View, lost};

/// How long a run that can be auto-applied may look as if it waited for a person before anybody is asked.
const SETTLING: Duration = Duration::from_secs(2);

type Updates<T> = BoxStream<'static, Result<Update<T>, ClientError>>;

/// See the module.
pub(super) struct Driver<'a> {
    id: &'a str,
    options: Options,
    context: &'a Context,
    plot: Plot,
    run: Option<Run>,
    runs: Updates<Run>,
    log: Option<(Stage, Updates<LogChunk>)>,
    connected: bool,
    told_cancel: bool,
    /// The name of the state that was shown last, and what the run waited for in it.
    shown: Option<(String, Option<String>)>,
    waiting: Waiting,
    answers: Answers,
    /// What the plan would do, once that was needed.
    review: Option<Review>,
}

/// How far we are with a run that waits for a person.
enum Waiting {
    /// It does not.
    No,
    /// It does, but may go on by itself.
    Settling(Instant),
    /// Somebody sits before this question.
    Asked(RunState, Question),
    /// It was said, or decided here.
    Told(RunState),
}

impl<'a> Driver<'a> {
    pub(super) fn new(id: &'a str, options: Options, context: &'a Context) -> Self {
        Self {
            id,
            options,
            context,
            plot: Plot::new(options.first),
            run: None,
            runs: context.client.follow_run(id),
            log: None,
            connected: true,
            told_cancel: false,
            shown: None,
            waiting: Waiting::No,
            answers: Answers::default(),
            review: None,
        }
    }

    pub(super) async fn run(mut self, view: &mut dyn View) -> Result<Exit, Failure> {
        let mut interrupts = signal(SignalKind::interrupt())
            .map_err(|error| Failure::Local(format!("can't listen for Ctrl-C: {error}")))?;
        loop {
            if let Some(exit) = self.go_on(view).await? {
                return Ok(exit);
            }
            match self.next(&mut interrupts).await {
                Happened::Interrupt => {
                    view.close();
                    self.context.output.note(&self.left());
                    return Ok(Exit::Interrupted);
                }
                Happened::Run(update) => self.run_update((*update)?, view)?,
                Happened::RunsOver => {
                    if !self.run.as_ref().is_some_and(Run::is_final) {
                        let message = format!("the daemon says nothing more about {}", self.id);
                        return Err(Failure::Local(message));
                    }
                }
                Happened::Log(stage, Some(update)) => self.log_update(stage, update?, view)?,
                Happened::Log(stage, None) => {
                    self.log = None;
                    view.log_end(stage)?;
                }
                Happened::Answer(answer) => self.answered(answer, view).await?,
                Happened::Settled => {}
            }
        }
    }

    /// What is said to who leaves a run that is not over.
    fn left(&self) -> String {
        let mut text = format!("\n{}: not followed any more; ", self.id);
        match &self.run {
            Some(run) if run.waits_for_person() => {
                text.push_str("it waits for a decision:");
                for step in next_steps(run) {
                    text.push_str(&format!("\n  {}  ({})", terminal::line(&step.command), step.does));
                }
            }
            _ => text.push_str(&format!("the run goes on. Stop it with: signalbox run cancel {}", self.id)),
        }
        text
    }

    /// Does what is due now. `Some`: the run is over, and all of it was shown.
    async fn go_on(&mut self, view: &mut dyn View) -> Result<Option<Exit>, Failure> {
        // what comes after a log is shown after it
        let (Some(run), None) = (self.run.clone(), &self.log) else { return Ok(None) };
        if matches!(&self.waiting, Waiting::Asked(state, _) if *state != run.signalbox.state) {
            self.waiting = Waiting::No;
            self.tell_who_decided(view).await;
        }
        let shown = (run.state_name().to_owned(), run.waits_for().map(str::to_owned));
        if self.shown.as_ref() != Some(&shown) {
            self.shown = Some(shown);
            view.state(&run)?;
        }
        match self.plot.next(&run) {
            Next::Log(stage) => {
                self.log = Some((stage, self.context.client.follow_log(self.id, stage, 0)));
                Ok(None)
            }
            Next::Done => {
                let exit = Exit::of(&run);
                view.end(&run, exit)?;
                view.close();
                Ok(Some(exit))
            }
            Next::Wait => {
                self.wait(&run, view).await?;
                Ok(None)
            }
        }
    }

    /// Says that the run waits for a person, or asks.
    async fn wait(&mut self, run: &Run, view: &mut dyn View) -> Result<(), Failure> {
        if !run.waits_for_person() {
            self.waiting = Waiting::No;
            return Ok(());
        }
        match &self.waiting {
            Waiting::Asked(state, _) | Waiting::Told(state) if *state == run.signalbox.state => return Ok(()),
            Waiting::Settling(until) if *until > Instant::now() => return Ok(()),
            Waiting::No | Waiting::Told(_) if run.auto_apply && !run.waits_for_override() => {
                self.waiting = Waiting::Settling(Instant::now() + SETTLING);
                return Ok(());
            }
            Waiting::No | Waiting::Told(_) | Waiting::Settling(_) | Waiting::Asked(..) => {}
        }
        self.waiting = Waiting::Told(run.signalbox.state.clone());
        if self.review.is_none() {
            // a decision does not fail for want of it: the log says the same
            self.review = self.context.client.review(self.id).await.ok().flatten();
            if let Some(review) = &self.review {
                view.review(review)?;
            }
        }
        match (Question::of(run), self.options.answer) {
            (Some(question), Answer::Yes) => self.decide(question.yes(), run, view).await,
            (Some(question), Answer::Person) if self.context.output.can_ask => {
                self.ask(question, run, view);
                Ok(())
            }
            _ => view.waits(run),
        }
    }

    fn ask(&mut self, question: Question, run: &Run, view: &mut dyn View) {
        self.answers.expect();
        view.ask(&question.text(run, self.review.as_ref()));
        self.waiting = Waiting::Asked(run.signalbox.state.clone(), question);
    }

    /// Somebody else was faster than who sits here.
    async fn tell_who_decided(&self, view: &mut dyn View) {
        let events = self.context.client.run_events(self.id).await.unwrap_or_default();
        let decided = events.iter().rev().find(|event| event.actor.is_some());
        let what = decided.map(|event| match &event.comment {
            Some(comment) => format!(": {} “{comment}”", event.description),
            None => format!(": {}", event.description),
        });
        let text = format!("it was decided elsewhere{}", what.unwrap_or_default());
        view.note(&format!("\n{}", terminal::line(&text)));
    }

    async fn answered(&mut self, answer: Option<Typed>, view: &mut dyn View) -> Result<(), Failure> {
        let (Waiting::Asked(_, question), Some(run)) = (&self.waiting, self.run.clone()) else {
            return Ok(());
        };
        let question = *question;
        self.waiting = Waiting::Told(run.signalbox.state.clone());
        let decision = answer.map(|answer| match answer {
            Typed::Line(line) => question.decision(&line),
            Typed::End => Decision::Unclear,
        });
        match decision {
            // nobody is there to answer any more
            None => view.waits(&run),
            Some(Decision::Unclear) => {
                view.note(&format!("\n{}", question.hint()));
                self.ask(question, &run, view);
                Ok(())
            }
            Some(decision) => self.decide(decision, &run, view).await,
        }
    }

    async fn decide(&self, decision: Decision, run: &Run, view: &mut dyn View) -> Result<(), Failure> {
        let client = &self.context.client;
        let decided = match (decision, run.policy_check_id()) {
            (Decision::Confirm, _) => client.act_on_run(self.id, RunAction::Apply, None).await,
            (Decision::Discard, _) => client.act_on_run(self.id, RunAction::Discard, None).await,
            (Decision::Override, Some(check)) => client.override_policy_check(check, None).await.map(drop),
            (Decision::Override, None) | (Decision::Unclear, _) => Ok(()),
        };
        match decided {
            // somebody else was faster
            Err(error @ ClientError::Conflict(_)) => {
                view.note(&terminal::line(&error.to_string()));
                Ok(())
            }
            other => Ok(other?),
        }
    }

    fn run_update(&mut self, update: Update<Run>, view: &mut dyn View) -> Result<(), Failure> {
        match update {
            Update::New(run) => {
                self.is_connected(view);
                view.update(&run)?;
                if run.is_canceling() && !std::mem::replace(&mut self.told_cancel, true) {
                    view.note("cancel requested: terraform is told to stop, and ends what it has begun");
                }
                self.run = Some(run);
            }
            Update::Interrupted(why) => self.is_lost(&why, view),
        }
        Ok(())
    }

    fn log_update(
        &mut self,
        stage: Stage,
        update: Update<LogChunk>,
        view: &mut dyn View,
    ) -> Result<(), Failure> {
        match update {
            Update::New(chunk) => {
                self.is_connected(view);
                view.log(stage, &chunk.bytes)?;
            }
            Update::Interrupted(why) => self.is_lost(&why, view),
        }
        Ok(())
    }

    /// There are two connections, and one outage.
    fn is_lost(&mut self, why: &ClientError, view: &mut dyn View) {
        if std::mem::replace(&mut self.connected, false) {
            view.note(&lost(why));
        }
    }

    fn is_connected(&mut self, view: &mut dyn View) {
        if !std::mem::replace(&mut self.connected, true) {
            view.note("connected again");
        }
    }

    /// Waits until something happens.
    async fn next(&mut self, interrupts: &mut Signal) -> Happened {
        let is_over = self.run.as_ref().is_some_and(Run::is_final);
        let settled = match &self.waiting {
            Waiting::Settling(until) if self.log.is_none() => Some(*until),
            _ => None,
        };
        let is_asked = matches!(self.waiting, Waiting::Asked(..));
        tokio::select! {
            _ = interrupts.recv() => Happened::Interrupt,
            update = self.runs.next(), if !is_over => update.map_or(Happened::RunsOver, |update| Happened::Run(Box::new(update))),
            (stage, update) = next_of(&mut self.log), if self.log.is_some() => Happened::Log(stage, update),
            answer = self.answers.next(), if is_asked => Happened::Answer(answer),
            () = tokio::time::sleep_until(settled.unwrap_or_else(Instant::now)), if settled.is_some() => Happened::Settled,
        }
    }
}

/// What a driver waits for.
enum Happened {
    Interrupt,
    Run(Box<Result<Update<Run>, ClientError>>),
    RunsOver,
    Log(Stage, Option<Result<Update<LogChunk>, ClientError>>),
    Answer(Option<Typed>),
    Settled,
}

async fn next_of(
    log: &mut Option<(Stage, Updates<LogChunk>)>,
) -> (Stage, Option<Result<Update<LogChunk>, ClientError>>) {
    match log {
        Some((stage, log)) => (*stage, log.next().await),
        None => std::future::pending().await,
    }
}
