//! Evaluation: literals keep their own places, everything else is handed to hcl-rs and stands where it is written.

use hcl::eval::{Context as Scope, ErrorKind, Evaluate};
use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, Object, ObjectKey};
use hcl_edit::visit_mut::VisitMut;

use crate::calls::Resolver;
use crate::context::{Context, Issue, Span};
use crate::diagnostic::Code;
use crate::node::{Entry, Node, Value};
use crate::number;
use crate::suggest::quoted;

/// The value of an expression. Whatever has none is reported and becomes [`Value::Invalid`], its neighbours live on.
pub(crate) fn evaluate(expr: &Expression, outer: &Span, context: &mut Context<'_>) -> Node {
    let span = expr.span().unwrap_or_else(|| outer.clone());
    let literal = |value| Node { span: span.clone(), value, literal: true };
    match expr {
        Expression::Null(_) => literal(Value::Null),
        Expression::Bool(value) => literal(Value::Bool(*value.value())),
        Expression::String(_) if report_line_break(&span, context) => literal(Value::Invalid),
        Expression::String(value) => literal(Value::String(value.value().clone())),
        Expression::Number(value) if report_rounding(*value.value(), &span, context) => {
            literal(Value::Invalid)
        }
        Expression::Number(value) => literal(Value::Number(*value.value())),
        Expression::Parenthesis(inner) => evaluate(inner.inner(), &span, context),
        Expression::Array(array) => {
            let nodes = array.iter().map(|expr| evaluate(expr, &span, context)).collect();
            literal(Value::List(nodes))
        }
        Expression::Object(object) => literal(Value::Map(entries(object, &span, context))),
        _ => match compute(expr, &span, context) {
            Ok(value) => from_hcl(value, &span),
            Err(()) => Node { span, value: Value::Invalid, literal: false },
        },
    }
}

/// Whether the number would not be the one that was written; says so.
pub(crate) fn report_rounding(number: hcl_edit::Number, span: &Span, context: &mut Context<'_>) -> bool {
    let exact = number::is_exact(context.text(span), number);
    if !exact {
        context.report(
            Issue::error(Code::NumberPrecision, span, "this number has more digits than can be kept")
                .label("would be rounded")
                .help("put it in quotes: terraform turns the string into a number"),
        );
    }
    !exact
}

/// Whether a quoted string goes over lines, which HCL forbids and the parser takes; says so. As a rule a quote is
/// missing, and the string holds what should have been attributes.
pub(crate) fn report_line_break(span: &Span, context: &mut Context<'_>) -> bool {
    let written = context.text(span);
    let broken = written.starts_with('"') && written.contains('\n');
    if broken {
        context.report(
            Issue::error(Code::Syntax, span, "a quoted string must end on the line it begins on")
                .help("close the quote, write `\\n` for a line break, or use a heredoc: <<EOT"),
        );
    }
    broken
}

fn entries(object: &Object, span: &Span, context: &mut Context<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::with_capacity(object.len());
    for (key, value) in object {
        let key_span = key.span().unwrap_or_else(|| span.clone());
        if context.is_set_aside(&key_span) {
            continue;
        }
        let value = evaluate(value.expr(), &key_span, context);
        let Some(key) = entry_key(key, &key_span, context) else { continue };
        if let Some(first) = entries.iter().find(|entry| entry.key == key) {
            let issue = Issue::error(Code::Duplicate, &key_span, format!("{} is set twice", quoted(&key)))
                .label("again here")
                .related(&first.key_span, "first here")
                .help("remove one of them");
            context.report(issue);
            continue;
        }
        entries.push(Entry { key, key_span, value });
    }
    entries
}

fn entry_key(key: &ObjectKey, span: &Span, context: &mut Context<'_>) -> Option<String> {
    let expr = match key {
        ObjectKey::Ident(ident) => return Some(ident.as_str().to_owned()),
        ObjectKey::Expression(expr) => expr,
    };
    let node = evaluate(expr, span, context);
    match node.value {
        Value::String(key) => Some(key),
        Value::Invalid => None,
        _ => {
            let message = format!("expected a string as the key, found {}", node.kind());
            context.report(Issue::error(Code::WrongType, span, message).help("put the key in quotes"));
            None
        }
    }
}

fn compute(expr: &Expression, span: &Span, context: &mut Context<'_>) -> Result<hcl::Value, ()> {
    let mut expr = expr.clone();
    let mut resolver = Resolver::new(span, context);
    resolver.visit_expr_mut(&mut expr);
    let values = resolver.finish()?;
    let mut scope = Scope::new();
    for (name, value) in values {
        scope.declare_var(name, value);
    }
    hcl::Expression::from(expr).evaluate(&scope).map_err(|error| {
        let (message, help) = why(error.kind());
        context.report(Issue::error(Code::InvalidExpression, span, message).help(help));
    })
}

/// What went wrong, without the values: they may come from the environment.
fn why(kind: &ErrorKind) -> (String, String) {
    let help = "write a value, or an expression that has one".to_owned();
    match kind {
        ErrorKind::Unexpected(value, expected) => (
            format!("this expression has no value: {expected} is needed within it, not {}", kind_of(value)),
            help,
        ),
        ErrorKind::UnaryOp(operator, value) => {
            (format!("`{operator}` can't be applied to {}", kind_of(value)), help)
        }
        ErrorKind::BinaryOp(left, operator, right) => {
            (format!("`{operator}` can't be applied to {} and {}", kind_of(left), kind_of(right)), help)
        }
        ErrorKind::Index(index) => (
            format!("this expression has no value: the list has no element {index}"),
            "elements are counted from 0".into(),
        ),
        ErrorKind::NoSuchKey(_) => ("this expression has no value: the map has no such key".into(), help),
        ErrorKind::KeyExists(_) => (
            "this expression has no value: `for` makes a key twice".into(),
            "make the keys differ, or group the values with `...`".into(),
        ),
        ErrorKind::UndefinedVar(_)
        | ErrorKind::UndefinedFunc(_)
        | ErrorKind::FuncCall(..)
        | ErrorKind::Message(_) => ("this expression has no value".into(), help),
        _ => ("this expression has no value".into(), help),
    }
}

fn kind_of(value: &hcl::Value) -> &'static str {
    from_hcl(value.clone(), &(0..0)).kind()
}

fn from_hcl(value: hcl::Value, span: &Span) -> Node {
    let value = match value {
        hcl::Value::Null => Value::Null,
        hcl::Value::Bool(value) => Value::Bool(value),
        hcl::Value::Number(number) => Value::Number(number),
        hcl::Value::String(value) => Value::String(value),
        hcl::Value::Array(values) => {
            Value::List(values.into_iter().map(|value| from_hcl(value, span)).collect())
        }
        hcl::Value::Object(map) => Value::Map(
            map.into_iter()
                .map(|(key, value)| Entry { key, key_span: span.clone(), value: from_hcl(value, span) })
                .collect(),
        ),
    };
    Node { span: span.clone(), value, literal: false }
}
