//! Syntax. A syntax error hides what comes after it, but a name that stands there twice need not: the second is set
//! aside, and the rest is looked at.

use hcl_edit::Span as _;
use hcl_edit::expr::{Object, ObjectKey};
use hcl_edit::parser::{Error, parse_body};
use hcl_edit::structure::Body;
use hcl_edit::visit::{self, Visit};

use crate::context::{Context, Issue, Span};
use crate::diagnostic::Code;
use crate::suggest::quoted;

/// How often a name may be set aside: each time the file is parsed again.
const ATTEMPTS: usize = 256;

/// Parses the file. `None` if that failed; what was wrong has been reported, and names that stand there twice.
///
/// Those are renamed to something of the same length, so that all places hold, and set aside in the context.
pub(crate) fn parse(text: &str, context: &mut Context<'_>) -> Option<Body> {
    let mut text = text.to_owned();
    let mut twice: Vec<(Span, String)> = Vec::new();
    for attempt in 0..ATTEMPTS {
        let error = match parse_body(&text) {
            Ok(body) => {
                First { twice: &twice, context }.visit_body(&body);
                return Some(body);
            }
            Err(error) => error,
        };
        let offset = offset_of(&error, &text);
        let Some(span) = redefined(&error, &text, offset) else {
            report_syntax(&error, &text, offset, context);
            break;
        };
        if twice.last().is_none_or(|(last, _)| *last != span) {
            twice.push((span.clone(), text.get(span.clone()).unwrap_or_default().to_owned()));
        }
        text.replace_range(span.clone(), &substitute(span.len(), attempt));
    }
    for (span, name) in twice {
        context.report(redefinition(&span, &name));
    }
    None
}

/// The parser reports the end of the text as its last byte, one column further.
fn offset_of(error: &Error, text: &str) -> usize {
    let location = error.location();
    let offset = text.floor_char_boundary(location.offset());
    let line_start = text.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let column = text.get(line_start..offset).map_or(0, |before| before.chars().count()) + 1;
    if location.offset() + 1 == text.len() && location.column() > column { text.len() } else { offset }
}

/// The name at the offset, if that is what the error is about. Without the quotes.
fn redefined(error: &Error, text: &str, offset: usize) -> Option<Span> {
    if !error.message().contains("redefined") {
        return None;
    }
    let rest = text.get(offset..)?;
    let (start, length) = match rest.strip_prefix('"') {
        Some(quoted) => (offset + 1, quoted.find(['"', '\\', '$', '%'])?),
        None => (offset, rest.find(|char: char| !char.is_alphanumeric() && !"_-".contains(char))?),
    };
    (length > 0).then_some(start..start + length)
}

/// A name of that many bytes, another one for each number as far as there are enough.
fn substitute(length: usize, mut number: usize) -> String {
    const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut name = String::with_capacity(length);
    for _ in 0..length {
        name.push(char::from(LETTERS[number % LETTERS.len()]));
        number /= LETTERS.len();
    }
    name
}

fn redefinition(span: &Span, name: &str) -> Issue {
    Issue::error(Code::Duplicate, span, format!("{} is set twice", quoted(name)))
        .label("again here")
        .help("remove one of them")
}

/// Finds the first of two with the same name, reports both, and sets the second aside.
struct First<'t, 'c, 'x> {
    twice: &'t [(Span, String)],
    context: &'c mut Context<'x>,
}

impl First<'_, '_, '_> {
    fn look(&mut self, keys: &[(Span, &str)]) {
        for (span, name) in self.twice {
            // a quoted key's span has the quotes
            let is_here = |key: &Span| key.start <= span.start && span.end <= key.end;
            let Some((here, _)) = keys.iter().find(|(key, _)| is_here(key)) else { continue };
            let mut issue = redefinition(span, name);
            if let Some((first, _)) = keys.iter().find(|(_, other)| other == name) {
                issue = issue.related(first, "first here");
            }
            self.context.report(issue);
            self.context.set_aside(here);
        }
    }
}

impl Visit for First<'_, '_, '_> {
    fn visit_body(&mut self, body: &Body) {
        let keys: Vec<(Span, &str)> = body
            .attributes()
            .filter_map(|attribute| Some((attribute.key.span()?, attribute.key.as_str())))
            .collect();
        self.look(&keys);
        visit::visit_body(self, body);
    }

    fn visit_object(&mut self, object: &Object) {
        let keys = object.iter().filter_map(|(key, _)| {
            let name = match key {
                ObjectKey::Ident(ident) => ident.as_str(),
                ObjectKey::Expression(expr) => expr.as_str()?,
            };
            Some((key.span()?, name))
        });
        let keys: Vec<(Span, &str)> = keys.collect();
        self.look(&keys);
        visit::visit_object(self, object);
    }
}

fn report_syntax(error: &Error, text: &str, offset: usize, context: &mut Context<'_>) {
    let next = text.get(offset..).and_then(|rest| rest.chars().next()).filter(|char| *char != '\n');
    let end = offset + next.map_or(0, char::len_utf8);
    let issue = Issue::error(Code::Syntax, &(offset..end), format!("this is not HCL: {}", error.message()));
    context.report(issue.help(advice(error.message(), text, offset)));
}

/// What is most often behind a syntax error.
fn advice(message: &str, text: &str, offset: usize) -> String {
    let line = text.get(..offset).map_or(0, |before| before.matches('\n').count());
    let lines: Vec<&str> = text.split('\n').collect();
    // a quote that is not closed takes the following lines in, up to the next quote
    let open = (line.saturating_sub(20)..=line)
        .rev()
        .find(|&line| lines.get(line).is_some_and(|line| has_open_quote(line)));
    if let Some(open) = open {
        return format!("is the string on line {} closed?", open + 1);
    }
    let rest = text.get(offset..).unwrap_or_default();
    if rest.starts_with('\'') {
        return "strings stand in double quotes".into();
    }
    if message.starts_with("expected newline") && rest.starts_with([',', ';']) {
        return "nothing stands between two attributes but the end of the line".into();
    }
    if message.starts_with("invalid block body") && lines.get(line).is_some_and(|line| line.contains('{')) {
        return "a block on one line holds one attribute at most: give each a line of its own".into();
    }
    let open_bracket = ["invalid block body", "expected `]`", "expected `)`", "expected `}`"];
    if open_bracket.iter().any(|start| message.starts_with(start)) || rest.is_empty() {
        return "is every `{`, `[` and `(` closed?".into();
    }
    if message == "unexpected token" {
        return "what begins here is neither `name = value` nor `name { … }`, or is not complete".into();
    }
    "an attribute is `name = value`, a block `name \"label\" { … }`, each on lines of its own".into()
}

fn has_open_quote(line: &str) -> bool {
    let mut open = false;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => open = !open,
            '\\' if open => {
                chars.next();
            }
            '#' if !open => break,
            _ => {}
        }
    }
    open
}
