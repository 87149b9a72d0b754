//! `signalbox sentinel apply`.

use std::collections::HashMap;
use std::path::Path;

use sentinel::{
    Config, Data, EnforcementLevel, Error, ErrorKind, Files, Inputs, Limits, PolicyOutcome, PolicySet,
    SetOutcome, Sources, Unit, evaluate, find_config, load_config, parse_param, read_config,
};
use serde_json::{Value as Json, json};

use super::args::ApplyArgs;
use super::local::{BesideOrHere, DeskFiles, DeskHost};
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::paint;
use crate::cli::terminal;

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
    let known = config.warnings.iter().cloned().chain(config.unknown_settings());
    known.for_each(|warning| warn(warning, output, warnings));
    for (name, value) in &args.global {
        config.globals.retain(|(known, _)| known != name);
        config.globals.push((name.clone(), parse_param(value)));
    }
    match &args.policy {
        Some(policy) => one(policy, &config, &sources, &folder, args, output, warnings),
        None => all(config, files, &folder, args, output, warnings),
    }
}

/// Says it at once, unless a program reads what is said: then it is in the document.
fn warn(warning: String, output: Output, warnings: &mut Vec<String>) {
    if !output.json {
        output.note(&format!("{} {}", output.notes.with(paint::WAITS, "warning:"), terminal::line(&warning)));
    }
    warnings.push(warning);
}

/// Values for parameters that no policy has do nothing. The configuration is not refused for them: published ones
/// have such values, and the reference says nothing.
fn warn_of_params(errors: impl IntoIterator<Item = Error>, output: Output, warnings: &mut Vec<String>) {
    for error in errors {
        let notes = error.notes().iter().map(|note| format!("; {note}")).collect::<String>();
        warn(format!("{error}{notes}"), output, warnings);
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
fn params(args: &ApplyArgs) -> Result<HashMap<String, Data>, Failure> {
    let mut params = HashMap::new();
    for (variable, value) in std::env::vars_os() {
        let Some(name) = variable.to_str().and_then(|name| name.strip_prefix(PARAM_VARIABLE)) else {
            continue;
        };
        let value = value.to_str().ok_or_else(|| {
            Failure::usage(
                format!("the environment variable {PARAM_VARIABLE}{name} is not UTF-8"),
                "the value of a parameter is JSON or text, in UTF-8",
            )
        })?;
        params.insert(name.to_owned(), parse_param(value));
    }
    params.extend(args.param.iter().map(|(name, value)| (name.clone(), parse_param(value))));
    Ok(params)
}

/// `param` blocks that neither the policy that is evaluated has nor another of the configuration.
fn unused_params(
    config: &Config,
    policy: &str,
    unit: &Unit,
    sources: &Sources<'_>,
    folder: &str,
) -> Vec<Error> {
    if config.unused_params(&[unit]).is_empty() {
        return Vec::new();
    }
    // nothing is fetched for a warning; and what cannot be had may have any parameter
    let others =
        config.policies.iter().filter(|other| other.name != policy).map(|other| match other.is_remote() {
            true => None,
            false => sources.unit(folder, &other.source).ok(),
        });
    let Some(others) = others.collect::<Option<Vec<_>>>() else { return Vec::new() };
    let units: Vec<&Unit> = std::iter::once(unit).chain(others.iter().map(|other| &**other)).collect();
    config.unused_params(&units)
}

fn one(
    policy: &str,
    config: &Config,
    sources: &Sources<'_>,
    folder: &str,
    args: &ApplyArgs,
    output: Output,
    warnings: &mut Vec<String>,
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
    let surplus = known.map(|known| config.surplus_params(known, &unit)).unwrap_or_default();
    let unused = unused_params(config, policy, &unit, sources, folder);
    warn_of_params(surplus.into_iter().chain(unused), output, warnings);
    let params: HashMap<String, Data> =
        config.params.iter().chain(own).cloned().chain(params(args)?).collect();
    let environment = sources.environment(config, folder);
    let limits = Limits::default();
    let evaluation = evaluate(&unit, &environment, &params, limits, &DeskHost::new(&args.http_host, limits));
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
            text.push_str(&terminal::text(&evaluation.text()));
        }
        output.print(&text)?;
        for (name, _) in unit.params().filter(|(name, needed)| *needed && !params.contains_key(*name)) {
            output.note(&format!("a value can be given by: -param {}=…", terminal::line(name)));
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
    warnings: &mut Vec<String>,
) -> Result<Exit, Failure> {
    if config.policies.is_empty() {
        return Err(Failure::usage(
            "there is no policy to evaluate",
            "name one, or a configuration that has some: signalbox sentinel apply -config=sentinel.hcl",
        ));
    }
    let inputs = Inputs { params: params(args)?, ..Inputs::default() };
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let set = PolicySet::of(config, files, folder);
    if let Some((name, _)) = args.param.iter().find(|(name, _)| !set.may_have_param(name)) {
        return Err(Failure::usage(
            format!("no policy has a parameter `{name}`"),
            "the name of a parameter is what stands behind `param` at the top of a policy",
        ));
    }
    warn_of_params(set.surplus_params().chain(set.unused_params()), output, warnings);
    let limits = Limits::default();
    let outcome = set.evaluate_on(threads, &inputs, limits, &DeskHost::new(&args.http_host, limits));
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
            text.push_str(&terminal::text(&outcome.log()));
        }
        output.print(&text)?;
    }
    Ok(exit(outcome.result()))
}

fn headline(passed: bool, name: &str, output: Output) -> String {
    let (style, word) = if passed { (paint::GOOD, "Pass") } else { (paint::BAD, "Fail") };
    format!("{} - {}\n", output.paint.with(style, word), terminal::line(name))
}

fn exit(passed: bool) -> Exit {
    if passed { Exit::Success } else { Exit::Errored }
}
