//! `signalbox logs`.

use client::{ClientError, Progress, Stage, Update};
use futures::StreamExt as _;
use serde_json::json;

use super::args::LogsArgs;
use super::context::Context;
use super::failure::{Exit, Failure};
use super::follow::{self, Answer, Options};
use super::terminal;

pub(crate) async fn run(mut args: LogsArgs, context: &Context) -> Result<Exit, Failure> {
    args.run.resolve(context).await?;
    let id = &args.run.run;
    match (args.follow, args.stage) {
        (true, None) => {
            follow::follow(id, Options { answer: Answer::Nobody, ..Options::default() }, context).await
        }
        (true, Some(stage)) => follow_stage(id, stage.into(), context).await,
        (false, stage) => print(id, stage.map(Stage::from), context).await,
    }
}

/// What is there now.
async fn print(id: &str, only: Option<Stage>, context: &Context) -> Result<Exit, Failure> {
    let run = context.client.run(id).await?;
    let begun = Stage::EXECUTED
        .into_iter()
        .filter(|stage| only.is_none_or(|only| only == *stage) && run.progress(*stage) == Progress::Begun);
    let output = context.output;
    let mut documents = Vec::new();
    let mut empty = true;
    for stage in begun {
        let log = context.client.log(&run, stage).await?;
        empty &= log.is_empty();
        if output.json {
            documents.push(
                json!({ "stage": stage.as_str(), "text": terminal::text(&String::from_utf8_lossy(&log)) }),
            );
        } else {
            let mut filter = terminal::Filter::new(output.paint.colour());
            output.print(&(filter.push(&log) + &filter.finish()))?;
        }
    }
    if output.json {
        output.document(&json!({ "run": run.id, "logs": documents }), false)?;
    } else if empty {
        let what = only.map_or_else(|| "log".to_owned(), |stage| format!("{stage} log"));
        output.note(&format!("{id} has no {what}: it is {}", terminal::line(run.state_name())));
    }
    Ok(Exit::Success)
}

/// One stage as it is written, until its end.
async fn follow_stage(id: &str, stage: Stage, context: &Context) -> Result<Exit, Failure> {
    let mut view = follow::view(id, context);
    let mut log = context.client.follow_log(id, stage, 0);
    let mut lost: Option<ClientError> = None;
    while let Some(update) = log.next().await {
        let shown = match update? {
            Update::New(chunk) => {
                if lost.take().is_some() {
                    view.note("connected again");
                }
                view.log(stage, &chunk.bytes)
            }
            Update::Interrupted(why) => {
                view.note(&follow::lost(&why));
                lost = Some(why);
                Ok(())
            }
        };
        match shown {
            Err(failure) if failure.is_closed_output() => return Ok(Exit::OutputClosed),
            other => other?,
        }
    }
    view.log_end(stage)?;
    Ok(Exit::Success)
}
