//! `signalbox sentinel apply`.

use std::collections::HashMap;
use std::path::Path;

use sentinel::{
    Config, Data, Files as _, Inputs, Limits, PolicySet, Sources, evaluate, find_config, load_config,
    parse_param, read_config,
};

use super::args::ApplyArgs;
use super::desk::{DeskFiles, DeskHost};
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::paint;
use crate::cli::safe;

pub(super) fn run(args: &ApplyArgs, output: Output) -> Result<Exit, Failure> {
    let (mut config, folder) = configuration(args.config.as_deref())?;
    for warning in &config.warnings {
        output.note(&format!("{} {}", output.notes.with(paint::WAITS, "warning:"), safe::line(warning)));
    }
    for (name, value) in &args.global {
        config.globals.retain(|(known, _)| known != name);
        config.globals.push((name.clone(), parse_param(value)));
    }
    let params = args.param.iter().map(|(name, value)| (name.clone(), parse_param(value))).collect();
    match &args.policy {
        Some(policy) => one(policy, &config, &folder, params, args, output),
        None => all(config, &folder, params, args, output),
    }
}

/// The configuration, and the folder that its paths are relative to.
fn configuration(path: Option<&str>) -> Result<(Config, String), Failure> {
    let Some(path) = path else {
        return Ok((find_config(&DeskFiles, "")?.unwrap_or_default(), String::new()));
    };
    if Path::new(path).is_dir() {
        return Ok((load_config(&DeskFiles, path)?, path.to_owned()));
    }
    Ok((read_config(&DeskFiles, path)?, DeskFiles.resolve(path, "..").unwrap_or_default()))
}

fn one(
    policy: &str,
    config: &Config,
    folder: &str,
    given: HashMap<String, Data>,
    args: &ApplyArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let sources = Sources::new(&DeskFiles);
    let known = config.policies.iter().find(|known| known.name == policy);
    let unit = match known {
        Some(known) => sources.unit(folder, &known.source)?,
        None => sources.unit("", policy)?,
    };
    if let Some(name) = given.keys().find(|name| !unit.params().any(|(param, _)| param == *name)) {
        let params: Vec<&str> = unit.params().map(|(param, _)| param).collect();
        let help = match params.as_slice() {
            [] => "it has none".to_owned(),
            params => format!("it has {}", params.join(", ")),
        };
        return Err(Failure::usage(format!("the policy has no parameter `{name}`"), help));
    }
    let own = known.map(|known| known.params.as_slice()).unwrap_or_default();
    if let Some(known) = known {
        config.require_params(known, &unit)?;
    }
    let params = config.params.iter().chain(own).cloned().chain(given).collect();
    let environment = sources.environment(config, folder);
    let evaluation =
        evaluate(&unit, &environment, &params, Limits::default(), &DeskHost::new(&args.http_host));
    let passed = evaluation.outcome.passed();
    if output.json {
        output.document(&evaluation.json(), false)?;
    } else {
        let mut text = headline(passed, policy, output);
        if args.trace || !passed {
            text.push('\n');
            text.push_str(&safe::text(&evaluation.text()));
        }
        output.print(&text)?;
    }
    Ok(exit(passed))
}

fn all(
    config: Config,
    folder: &str,
    params: HashMap<String, Data>,
    args: &ApplyArgs,
    output: Output,
) -> Result<Exit, Failure> {
    if config.policies.is_empty() {
        return Err(Failure::usage(
            "there is no policy to evaluate",
            "name one, or a configuration that has some: signalbox sentinel apply -config=sentinel.hcl",
        ));
    }
    let inputs = Inputs { params, ..Inputs::default() };
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let set = PolicySet::of(config, &DeskFiles, folder);
    if let Some(name) = inputs.params.keys().filter(|name| !set.may_have_param(name)).min() {
        return Err(Failure::usage(
            format!("no policy has a parameter `{name}`"),
            "the name of a parameter is what stands behind `param` at the top of a policy",
        ));
    }
    if let Some(error) = set.surplus_params().next() {
        return Err(error.into());
    }
    let outcome = set.evaluate_on(threads, &inputs, Limits::default(), &DeskHost::new(&args.http_host));
    if output.json {
        output.document(&outcome.json(), false)?;
    } else {
        let mut text = String::new();
        for policy in &outcome.policies {
            let name = format!("{} ({})", policy.name, policy.level);
            text.push_str(&headline(policy.evaluation.outcome.passed(), &name, output));
        }
        if args.trace || outcome.counts().total_failed > 0 {
            text.push('\n');
            text.push_str(&safe::text(&outcome.log()));
        }
        output.print(&text)?;
    }
    Ok(exit(outcome.result()))
}

fn headline(passed: bool, name: &str, output: Output) -> String {
    let (style, word) = if passed { (paint::GOOD, "Pass") } else { (paint::BAD, "Fail") };
    format!("{} - {}\n", output.paint.with(style, word), safe::line(name))
}

fn exit(passed: bool) -> Exit {
    if passed { Exit::Success } else { Exit::Errored }
}
