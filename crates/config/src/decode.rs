//! From values to types.

use crate::context::{Context, Issue, Span};
use crate::diagnostic::Code;
use crate::node::{Node, Value};
use crate::suggest::quoted;
use crate::text::FromText;

/// A type that an attribute may have.
pub(crate) trait Decode: Sized {
    /// Reads the value of the attribute `name`. `None` means that why not has been reported.
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self>;
}

/// Reports that the value has the wrong type.
pub(crate) fn mismatch<T>(node: &Node, name: &str, expected: &str, context: &mut Context<'_>) -> Option<T> {
    if node.is_invalid() {
        return None;
    }
    let message = format!("{}: expected {expected}, found {}", quoted(name), node.kind());
    let help = conversion(node, expected, context).unwrap_or_else(|| {
        let example = match expected {
            "a string" => ": \"…\"",
            "a list of strings" => ": [\"…\"]",
            "a map" => ": { name = value }",
            _ => "",
        };
        format!("write {expected}{example}")
    });
    context.report(Issue::error(Code::WrongType, &node.span, message).label(node.kind()).help(help));
    None
}

/// How to make what is written into what is expected.
fn conversion(node: &Node, expected: &str, context: &Context<'_>) -> Option<String> {
    let written = context.quotable(node)?;
    match (expected, &node.value) {
        ("a string" | "a list of strings", Value::Bool(_) | Value::Number(_)) => {
            Some(format!("put it in quotes: \"{written}\""))
        }
        ("true or false", Value::String(text)) if matches!(text.as_str(), "true" | "false") => {
            Some(format!("write it without quotes: {text}"))
        }
        ("a number", Value::String(text)) if text.parse::<u64>().is_ok() => {
            Some(format!("write it without quotes: {text}"))
        }
        ("a list of strings", Value::String(_)) => Some(format!("put it in brackets: [{written}]")),
        ("a string", Value::List(nodes)) if nodes.len() == 1 => Some("write it without brackets".into()),
        _ => None,
    }
}

impl Decode for String {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        match &node.value {
            Value::String(text) => Some(text.clone()),
            _ => mismatch(node, name, "a string", context),
        }
    }
}

impl Decode for bool {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        match node.value {
            Value::Bool(value) => Some(value),
            _ => mismatch(node, name, "true or false", context),
        }
    }
}

impl<T: FromText> Decode for T {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        if let Value::Number(_) = &node.value
            && let Some(meant) = context.quotable(node).and_then(|written| T::of_number(written))
        {
            let message = format!("{}: expected a string, found {}", quoted(name), node.kind());
            let help = format!("say of what, in quotes: \"{meant}\"");
            context.report(Issue::error(Code::WrongType, &node.span, message).label(node.kind()).help(help));
            return None;
        }
        let text = String::decode(node, name, context)?;
        T::from_text(&text, context.base)
            .map_err(|fault| {
                if text.contains("://") && text.contains('@') {
                    // a URL may hold a password
                    context.hide(&node.span);
                }
                let value = context.quotable(node).map(|_| format!(" {}", quoted(&text))).unwrap_or_default();
                let message = format!("invalid {}{value}: {}", quoted(name), fault.what);
                context.report(Issue::error(Code::InvalidValue, &node.span, message).help(fault.help));
            })
            .ok()
    }
}

/// A string, or a list of them.
pub(crate) struct OneOrMore<T>(pub(crate) Vec<(T, Span)>);

impl<T: Decode> Decode for OneOrMore<T> {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        match &node.value {
            Value::List(_) => List::decode(node, name, context).map(|list| Self(list.0)),
            _ => Some(Self(vec![(T::decode(node, name, context)?, node.span.clone())])),
        }
    }
}

/// A list, each element with its place. An element that can't be read is reported and left out.
pub(crate) struct List<T>(pub(crate) Vec<(T, Span)>);

impl<T: Decode> Decode for List<T> {
    fn decode(node: &Node, name: &str, context: &mut Context<'_>) -> Option<Self> {
        let Value::List(nodes) = &node.value else {
            return mismatch(node, name, "a list of strings", context);
        };
        let decoded =
            nodes.iter().filter_map(|node| Some((T::decode(node, name, context)?, node.span.clone())));
        Some(Self(decoded.collect()))
    }
}
