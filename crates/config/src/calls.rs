//! The functions: `env` and `file`.

use ::text::nearest;
use hcl_reader::Call;

use crate::context::{Context, Issue, Span};
use crate::diagnostic::Code;
use crate::expression::evaluate;
use crate::node::Value;
use crate::suggest::{listed, quoted};

const FUNCTIONS: [&str; 2] = ["env", "file"];

/// The call's value; `None` if why it has none was reported.
pub(crate) fn call(call: &Call<'_>, span: &Span, context: &mut Context<'_>) -> Option<String> {
    // whatever the function: there may be something to report
    let arguments: Vec<_> = call.arguments.iter().map(|argument| evaluate(argument, context)).collect();
    let name = call.name.as_str();
    if !FUNCTIONS.contains(&name) {
        context.report(unknown_function(name, &call.name.span));
        return None;
    }
    let example = if name == "env" { "env(\"NAME\")" } else { "file(\"path\")" };
    let fault = |message: String| {
        Issue::error(Code::InvalidCall, span, message).help(format!("write it as `{example}`"))
    };
    let [argument] = arguments.as_slice() else {
        context.report(fault(format!("`{name}` takes one argument, not {}", arguments.len())));
        return None;
    };
    let text = match &argument.value {
        Value::String(text) => text.clone(),
        Value::Invalid => return None,
        _ => {
            context.report(fault(format!("`{name}` takes a string")));
            return None;
        }
    };
    let argument = Argument { text, quotable: argument.literal };
    let value = if name == "env" { env(&argument, span, context) } else { file(&argument, span, context) };
    value.map_err(|issue| context.report(issue)).ok()
}

fn unknown_function(name: &str, span: &Span) -> Issue {
    let functions = format!("the functions are {}", listed(FUNCTIONS, "and"));
    let help = match name {
        "try" | "can" => {
            format!(
                "a config file has to say what it means: use {name} in terraform's own files; {functions}"
            )
        }
        _ => match nearest(name, FUNCTIONS) {
            Some(near) => format!("did you mean `{near}`? {functions}"),
            None => functions,
        },
    };
    Issue::error(Code::UnknownFunction, span, format!("there is no function {}", quoted(name))).help(help)
}

/// What a function is called with.
struct Argument {
    text: String,
    /// Whether it stands in the file, and does not come from another call.
    quotable: bool,
}

/// A secret in a file nearly always ends in a line break that is not part of it.
fn without_last_line_break(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

fn env(Argument { text, quotable }: &Argument, span: &Span, context: &Context<'_>) -> Result<String, Issue> {
    let legal = !text.is_empty() && !text.contains(['=', '\0']);
    let value = legal.then(|| context.host.env(text)).flatten();
    let name = if *quotable { quoted(text) } else { "of this name".into() };
    let issue = |what| {
        Issue::error(Code::MissingEnvironment, span, format!("the environment variable {name} is {what}"))
    };
    match value.map(std::ffi::OsString::into_string) {
        Some(Ok(value)) => Ok(value),
        Some(Err(_)) => Err(issue("not UTF-8").help("encode its value, in base64 for instance")),
        None => Err(issue("not set").label("not set").help("set it in the environment of the daemon")),
    }
}

fn file(
    Argument { text, quotable }: &Argument,
    span: &Span,
    context: &mut Context<'_>,
) -> Result<String, Issue> {
    let issue = |message| Issue::error(Code::UnreadableFile, span, message);
    let path = crate::text::resolve(text, context.base)
        .map_err(|fault| issue(format!("invalid path: {}", fault.what)).help(fault.help))?;
    let shown = if *quotable { quoted(&path.to_string_lossy()) } else { "the file".into() };
    let content = context.host.read_file(&path).map_err(|error| {
        let help =
            "the path is relative to the config file's directory, and the daemon must be able to read it";
        issue(format!("can't read {shown}: {error}")).help(help)
    })?;
    context.has_read(span, path);
    String::from_utf8(content)
        .map(without_last_line_break)
        .map_err(|_| issue(format!("{shown} is not UTF-8 text")).help("encode it, in base64 for instance"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_break_at_the_end_is_dropped() {
        let dropped = |text: &str| without_last_line_break(text.into());
        assert_eq!(dropped("secret"), "secret");
        assert_eq!(dropped("secret\n"), "secret");
        assert_eq!(dropped("secret\r\n"), "secret");
        assert_eq!(dropped("secret\n\n"), "secret\n");
        assert_eq!(dropped(" secret\r"), " secret\r");
    }
}
