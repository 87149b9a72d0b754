//! `signalbox sentinel mocks`.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use client::ClientError;
use sentinel::{DocumentError, Documents, MASK, Mocks, mocks, read_document, require_plan, run_of_plan};
use serde_json::json;

use super::args::MocksArgs;
use crate::cli::context::Context;
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::terminal;

/// Mocks of a plan in a file.
pub(crate) fn of_plan(args: &MocksArgs, output: Output) -> Result<Exit, Failure> {
    let source = &args.source;
    let no_plan = |why: String| {
        Failure::usage(
            format!("{source} is not a plan: {why}"),
            "it is the id of a run, or a file made by: terraform plan -out=plan && terraform show -json plan > plan.json",
        )
    };
    let bytes = fs::read(source).map_err(|error| no_plan(error.to_string()))?;
    let plan =
        read_document(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).map_err(
            |error| match error {
                DocumentError::NotJson(error) => no_plan(error.to_string()),
                number @ DocumentError::NumberTooLarge { .. } => Failure::usage(
                    format!("{source} has no mocks: {number}"),
                    "policies end with an error on such a plan",
                ),
            },
        )?;
    require_plan(&plan).map_err(|why| no_plan(why.to_owned()))?;
    let run = run_of_plan(&plan);
    write(args, &Documents { plan, schemas: None, run: Some(run) }, None, output)?;
    output.note("tfrun has what a plan tells of its run, its variables and when it was made; refresh is true, the workspace is named \"workspace\", and the rest is null or false");
    Ok(Exit::Success)
}

/// Mocks of a run, as the policy stage sees it.
pub(crate) async fn of_run(args: &MocksArgs, context: &Context) -> Result<Exit, Failure> {
    let id = &args.source;
    let json = match context.client.plan_json(id).await {
        Err(ClientError::NotFound(problems)) => {
            return Err(Failure::refused(
                problems.to_string(),
                "the run has to have a plan, and to belong to a workspace of which you are an admin; mocks can be \
                 made of a plan in a file, too",
            ));
        }
        Ok(None) => {
            return Err(Failure::refused(
                format!("{id} has no plan yet"),
                format!("wait until it has planned: signalbox logs --follow {id}"),
            ));
        }
        Ok(Some(json)) => json,
        Err(error) => return Err(error.into()),
    };
    let run = context.client.tfrun(id).await?;
    let parsed = |what: &str, json: &[u8]| {
        read_document(json).map_err(|error| {
            Failure::Local(format!("the daemon gave for {what} of {id} what cannot be read: {error}"))
        })
    };
    let documents =
        Documents { plan: parsed("the plan", &json)?, schemas: None, run: Some(parsed("tfrun", &run)?) };
    write(args, &documents, Some(id), context.output)?;
    Ok(Exit::Success)
}

fn write(args: &MocksArgs, documents: &Documents, run: Option<&str>, output: Output) -> Result<(), Failure> {
    let Mocks { files, masked_elsewhere } = mocks(documents);
    let folder = &args.output;
    if !args.force
        && let Some((name, _)) = files.iter().find(|(name, _)| folder.join(name).exists())
    {
        return Err(Failure::usage(
            format!("{} is there already", folder.join(name).display()),
            "choose another folder, or replace it with --force",
        ));
    }
    let can_not =
        |path: &Path, error: io::Error| Failure::Local(format!("can't write {}: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| can_not(folder, error))?;
    for (name, text) in &files {
        let path = folder.join(name);
        write_one(&path, text, args.force).map_err(|error| can_not(&path, error))?;
    }
    let names: Vec<String> = files.iter().map(|(name, _)| folder.join(name).display().to_string()).collect();
    if output.json {
        output.document(&json!({ "run": run, "files": names }), false)?;
        return Ok(());
    }
    output.print(&names.iter().map(|name| terminal::line(name) + "\n").collect::<String>())?;
    output.note(&format!("sensitive values are masked as \"{MASK}\""));
    if masked_elsewhere > 0 {
        let (texts, are) = if masked_elsewhere == 1 { ("text", "is") } else { ("texts", "are") };
        output.note(&format!(
            "{masked_elsewhere} {texts} that the plan does not mark {are} masked too, for holding the text of a sensitive value"
        ));
    }
    Ok(())
}

fn write_one(path: &Path, text: &str, replace: bool) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    if replace {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    options.open(path)?.write_all(text.as_bytes())
}
