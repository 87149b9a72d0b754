//! Evaluation: what stands in the file, and what `env`, `file` and `${…}` make of it.

use std::borrow::Cow;

use hcl_reader::{Constant, ErrorKind, Expression, Kind, Part, What};

use crate::calls::call;
use crate::context::{Context, Issue};
use crate::diagnostic::Code;
use crate::node::{Entry, Node, Value};
use crate::suggest::quoted;

/// The value of an expression. Whatever has none is reported and becomes [`Value::Invalid`], its neighbours live on.
pub(crate) fn evaluate(expression: &Expression<'_>, context: &mut Context<'_>) -> Node {
    let (value, literal) = match &expression.kind {
        Kind::Template(parts) => (template(parts, context).map(Value::String), false),
        Kind::Call(function) => (call(function, &expression.span, context).map(Value::String), false),
        _ => (literal(expression, context), true),
    };
    Node { span: expression.span.clone(), value: value.unwrap_or(Value::Invalid), literal }
}

/// One level of a literal; what is within it need not be one.
fn literal(expression: &Expression<'_>, context: &mut Context<'_>) -> Option<Value> {
    Some(match expression.constant() {
        Ok(Constant::Null) => Value::Null,
        Ok(Constant::Bool(value)) => Value::Bool(value),
        Ok(Constant::Number(number)) => Value::Number(number),
        Ok(Constant::String(text)) => Value::String(text.to_owned()),
        Ok(Constant::List(items)) => Value::List(items.iter().map(|item| evaluate(item, context)).collect()),
        Ok(Constant::Map(entries)) => Value::Map(map(entries, context)),
        Err(error) => {
            let issue = why(expression, error.kind, context);
            context.report(issue);
            return None;
        }
    })
}

/// Why an expression is not a value that a config file may have.
fn why(expression: &Expression<'_>, kind: ErrorKind, context: &Context<'_>) -> Issue {
    match (&expression.kind, kind) {
        (Kind::Variable(name), _) => {
            let (message, help) = match context.is_hidden(&expression.span) {
                // a secret without its quotes
                true => ("this name is not defined".into(), "for a string, put it in quotes".into()),
                false => (
                    format!("nothing is called {}", quoted(name)),
                    format!("for a string, put it in quotes: \"{name}\""),
                ),
            };
            Issue::error(Code::UndefinedVariable, &expression.span, message).label("not defined").help(help)
        }
        (Kind::Computed(computed), _) => {
            let help = match computed.what {
                What::Operator => "write the result",
                What::For => "write the list or the map itself",
                What::Directive | What::TrimMarker => "write the text itself",
                _ => "write the value itself",
            };
            let message = format!("`{}` is not part of this language", computed.sign);
            Issue::error(Code::InvalidExpression, &expression.span, message).help(help)
        }
        (_, ErrorKind::Precision) => {
            let issue = Issue::error(Code::NumberPrecision, &expression.span, kind.to_string());
            issue.label("would be rounded").help(kind.help())
        }
        (_, kind) => {
            Issue::error(Code::InvalidExpression, &expression.span, kind.to_string()).help(kind.help())
        }
    }
}

/// The text of a string with `${…}` in it; `None` if that was reported.
fn template(parts: &[Part<'_>], context: &mut Context<'_>) -> Option<String> {
    let mut whole = Some(String::new());
    for part in parts {
        let text = match part {
            Part::Text(text) => Some(Cow::Borrowed(&**text)),
            Part::Value(value) => part_text(value, context),
        };
        // also behind a part without a value: there may be more to report
        whole = whole.zip(text).map(|(whole, text)| whole + &text);
    }
    whole
}

/// What stands in `${…}`: a string, or the text that terraform makes of a number or a boolean.
fn part_text<'e>(value: &'e Expression<'_>, context: &mut Context<'_>) -> Option<Cow<'e, str>> {
    if let Kind::Template(_) | Kind::Call(_) = value.kind {
        return match evaluate(value, context).value {
            Value::String(text) => Some(Cow::Owned(text)),
            _ => None,
        };
    }
    let refuse = |error: hcl_reader::Error| {
        let issue = match error.kind {
            ErrorKind::Key { found } => {
                let message = format!("{found} can't be a part of a string");
                Issue::error(Code::WrongType, &value.span, message).help("write text, or a number")
            }
            kind => why(value, kind, context),
        };
        context.report(issue);
    };
    value.key().map_err(refuse).ok()
}

/// The entries of a map, each key once; of two the second has been reported.
fn map(entries: &[hcl_reader::Entry<'_>], context: &mut Context<'_>) -> Vec<Entry> {
    let entries = entries.iter().filter(|entry| !entry.repeated).filter_map(|entry| {
        let value = evaluate(&entry.value, context);
        let key = key(&entry.key).map_err(|issue| context.report(issue)).ok()?;
        Some(Entry { key, key_span: entry.key.span.clone(), value })
    });
    entries.collect()
}

/// A key stands in the file as it is: messages quote it, and must not quote what came from the environment or a file.
fn key(key: &Expression<'_>) -> Result<String, Issue> {
    key.key().map(Cow::into_owned).map_err(|error| match error.kind {
        ErrorKind::Key { .. } => {
            Issue::error(Code::WrongType, &key.span, error.kind.to_string()).help(error.kind.help())
        }
        ErrorKind::Precision => Issue::error(Code::NumberPrecision, &key.span, error.kind.to_string())
            .help("put the key in quotes"),
        _ => Issue::error(Code::InvalidExpression, &key.span, "a key must be a constant")
            .help("write the key itself"),
    })
}
