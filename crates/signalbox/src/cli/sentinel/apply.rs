//! `signalbox sentinel apply`.

use std::collections::HashMap;
use std::path::Path;

use sentinel::{
    Config, Data, EnforcementLevel, Error, ErrorKind, Files, Inputs, Limits, PolicyOutcome, PolicySet,
    SetOutcome, Sources, evaluate, find_config, load_config, parse_param, read_config,
};
use serde_json::{Value as Json, json};

use super::args::ApplyArgs;
use super::desk::{BesideOrHere, DeskFiles, DeskHost};
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::paint;
use crate::cli::safe;

/// What the names of environment variables that are parameters begin with.
const PARAM_VARIABLE: &str = "SENTINEL_PARAM_";

pub(super) fn run(args: &ApplyArgs, output: Output) -> Result<Exit, Failure> {
    let mut warnings = Vec::new();
    let done = apply(args, output, &mut warnings);
    // a program that reads the document finds in it why there is nothing else
    if let Err(failure) = &done
        && output.json
        && !failure.is_closed_output()
    {
        let nothing = SetOutcome::default().json();
        output.document(&document(nothing, false, Some(failure), &warnings), false)?;
    }
    done
}

fn apply(args: &ApplyArgs, output: Output, warnings: &mut Vec<String>) -> Result<Exit, Failure> {
    let Configured { mut config, folder, files } = configuration(args.config.as_deref())?;
    let sources = Sources::new(files);
    warnings.clone_from(&config.warnings);
    warnings.extend(config.unknown_settings());
    if !output.json {
        for warning in warnings.iter() {
            output.note(&format!("{} {}", output.notes.with(paint::WAITS, "warning:"), safe::line(warning)));
        }
    }
    for (name, value) in &args.global {
        config.globals.retain(|(known, _)| known != name);
        config.globals.push((name.clone(), parse_param(value)));
    }
    match &args.policy {
        Some(policy) => one(policy, &config, &sources, &folder, args, output, warnings),
        None => all(config, files, &folder, args, output, warnings),
    }
}

/// The outcome as JSON, with what else there is to say.
fn document(mut outcome: Json, result: bool, failure: Option<&Failure>, warnings: &[String]) -> Json {
    outcome["result"] = result.into();
    outcome["error"] = failure.map(Failure::message).into();
    outcome["warnings"] = if warnings.is_empty() { Json::Null } else { json!(warnings) };
    outcome
}

/// The configuration, and where what it names is.
struct Configured {
    config: Config,
    /// What its paths are relative to.
    folder: String,
    files: &'static dyn Files,
}

fn configuration(path: Option<&str>) -> Result<Configured, Failure> {
    let of = |config, folder: &str| Configured { config, folder: folder.to_owned(), files: &DeskFiles };
    let Some(path) = path else {
        return Ok(of(find_config(&DeskFiles, "")?.unwrap_or_default(), ""));
    };
    if Path::new(path).is_dir() {
        return Ok(of(load_config(&DeskFiles, path)?, path));
    }
    let config = read_config(&DeskFiles, path)?;
    let folder = DeskFiles.resolve(path, "..").unwrap_or_default();
    config.check_paths(|path| require_one(&folder, path))?;
    Ok(Configured { config, folder, files: &BesideOrHere })
}

/// Refuses a path that means a file beside the configuration and another file in the working directory, which
/// is the one that the reference takes.
fn require_one(folder: &str, path: &str) -> Result<(), Error> {
    let beside = DeskFiles.resolve(folder, path).unwrap_or_default();
    let here = DeskFiles.resolve("", path).unwrap_or_default();
    let is_file = |path: &str| Path::new(path).is_file();
    if beside == here || !is_file(&beside) || !is_file(&here) {
        return Ok(());
    }
    match (DeskFiles.read(&beside), DeskFiles.read(&here)) {
        (Ok(one), Ok(other)) if one != other => Err(Error::new(
            ErrorKind::Config,
            format!("`{path}` is `{beside}` beside the configuration and `{here}` in the working directory"),
        )
        .note("remove or rename one of them, or write the path in another way")),
        _ => Ok(()),
    }
}

/// The values of parameters that the environment and, above it, the options give.
fn params(args: &ApplyArgs) -> HashMap<String, Data> {
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?.strip_prefix(PARAM_VARIABLE)?.to_owned();
        Some((name, parse_param(value.to_str()?)))
    });
    let options = args.param.iter().map(|(name, value)| (name.clone(), parse_param(value)));
    variables.chain(options).collect()
}

fn one(
    policy: &str,
    config: &Config,
    sources: &Sources<'_>,
    folder: &str,
    args: &ApplyArgs,
    output: Output,
    warnings: &[String],
) -> Result<Exit, Failure> {
    let known = config.policies.iter().find(|known| known.name == policy);
    let unit = match known {
        Some(known) => sources.unit(folder, &known.source)?,
        None if Path::new(policy).is_dir() => {
            return Err(Failure::usage(
                format!("{policy} is a folder, and no policy"),
                format!(
                    "all policies of its configuration are evaluated by: signalbox sentinel apply -config={policy}"
                ),
            ));
        }
        None if Path::new(policy).exists() => sources.unit_at(policy)?,
        None => sources.unit("", policy)?,
    };
    let has = |name: &str| unit.params().any(|(param, _)| param == name);
    if let Some((name, _)) = args.param.iter().find(|(name, _)| !has(name)) {
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
    let params: HashMap<String, Data> =
        config.params.iter().chain(own).cloned().chain(params(args)).collect();
    let environment = sources.environment(config, folder);
    let evaluation =
        evaluate(&unit, &environment, &params, Limits::default(), &DeskHost::new(&args.http_host));
    let passed = evaluation.outcome.passed();
    if output.json {
        let level = known.map_or_else(EnforcementLevel::default, |known| known.enforcement_level);
        let outcome =
            SetOutcome { policies: vec![PolicyOutcome { name: policy.to_owned(), level, evaluation }] };
        // of one policy it is its own, whatever its level
        output.document(&document(outcome.json(), passed, None, warnings), false)?;
    } else {
        let mut text = headline(passed, policy, output);
        if args.trace || !passed {
            text.push('\n');
            text.push_str(&safe::text(&evaluation.text()));
        }
        output.print(&text)?;
        for (name, _) in unit.params().filter(|(name, needed)| *needed && !params.contains_key(*name)) {
            output.note(&format!("a value can be given by: -param {}=…", safe::line(name)));
        }
    }
    Ok(exit(passed))
}

fn all(
    config: Config,
    files: &dyn Files,
    folder: &str,
    args: &ApplyArgs,
    output: Output,
    warnings: &[String],
) -> Result<Exit, Failure> {
    if config.policies.is_empty() {
        return Err(Failure::usage(
            "there is no policy to evaluate",
            "name one, or a configuration that has some: signalbox sentinel apply -config=sentinel.hcl",
        ));
    }
    let inputs = Inputs { params: params(args), ..Inputs::default() };
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let set = PolicySet::of(config, files, folder);
    if let Some((name, _)) = args.param.iter().find(|(name, _)| !set.may_have_param(name)) {
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
        output.document(&document(outcome.json(), outcome.result(), None, warnings), false)?;
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
