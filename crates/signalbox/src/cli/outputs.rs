//! `signalbox output`.

use client::StateOutput;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::args::OutputArgs;
use super::context::Context;
use super::failure::Failure;
use super::{names, terminal};

/// The outputs of the workspace's current state, or one of them, as `terraform output` prints them.
pub(crate) async fn run(args: &OutputArgs, context: &Context) -> Result<(), Failure> {
    let workspace = names::workspace(&args.workspace.workspace, context).await?;
    let name = terminal::line(&workspace.name);
    let outputs = context.client.current_outputs(&workspace.id).await?.ok_or_else(|| {
        Failure::refused(
            format!("{name} has no state, so it has no outputs"),
            format!("`signalbox run start {name}` queues a run"),
        )
    })?;
    match &args.name {
        Some(wanted) => one(&name, &outputs, wanted, args.raw, context).await,
        None => all(&name, &outputs, context),
    }
}

fn all(workspace: &str, outputs: &[StateOutput], context: &Context) -> Result<(), Failure> {
    if context.output.json {
        let shape = outputs.iter().map(|output| {
            let (sensitive, kind) = (output.sensitive, &output.detailed_type);
            let shape =
                json!({ "sensitive": sensitive, "type": kind, "value": json_value(output.value.as_deref()) });
            (output.name.clone(), shape)
        });
        return context.output.document(&shape.collect::<Map<String, Value>>(), false);
    }
    if outputs.is_empty() {
        context.output.note(&format!("{workspace} has no outputs"));
    }
    let lines = outputs.iter().map(|output| {
        let value = if output.sensitive { "<sensitive>".to_owned() } else { shown(output.value.as_deref()) };
        format!("{} = {value}\n", terminal::line(&output.name))
    });
    context.output.print(&lines.collect::<String>())
}

async fn one(
    workspace: &str,
    outputs: &[StateOutput],
    wanted: &str,
    raw: bool,
    context: &Context,
) -> Result<(), Failure> {
    let Some(found) = outputs.iter().find(|output| output.name == wanted) else {
        let names = || outputs.iter().map(|output| output.name.as_str());
        let help = match text::nearest(wanted, names()) {
            Some(near) => format!("did you mean {}?", terminal::line(near)),
            None if outputs.is_empty() => "it has none at all".to_owned(),
            None => format!("there are {}", terminal::line(&names().collect::<Vec<_>>().join(", "))),
        };
        return Err(Failure::refused(format!("{workspace} has no output {}", terminal::line(wanted)), help));
    };
    // who asks for one by its name wants to see it: lists leave out what is sensitive
    let found = context.client.output(&found.id).await?;
    let value = found.value.as_deref();
    if context.output.json {
        return context.output.document(&value, false);
    }
    if !raw {
        return context.output.print(&format!("{}\n", shown(value)));
    }
    match json_value(value) {
        // as it is: it is for a program
        Value::String(text) => context.output.print(&text),
        Value::Number(_) | Value::Bool(_) => context.output.print(value.map_or("", RawValue::get)),
        _ => Err(Failure::refused(
            format!("{} is no text, number or boolean", terminal::line(wanted)),
            "--json prints it",
        )),
    }
}

fn json_value(value: Option<&RawValue>) -> Value {
    value.and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default()
}

/// Digit by digit as terraform wrote it, over several lines where it is a structure.
fn shown(value: Option<&RawValue>) -> String {
    let text = value.map_or("null", RawValue::get);
    let structured = matches!(json_value(value), Value::Array(_) | Value::Object(_));
    let pretty = if structured { serde_json::to_string_pretty(&json_value(value)).ok() } else { None };
    terminal::text(pretty.as_deref().unwrap_or(text))
}
