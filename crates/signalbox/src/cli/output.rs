//! Where words go: what was asked for to stdout, what is said about it to stderr.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use super::args::{Color, Global};
use super::failure::Failure;
use super::paint::{self, Paint};
use super::terminal;

/// The two streams, and what they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Documents for programs instead of text for people.
    pub(crate) json: bool,
    /// Of stdout.
    pub(crate) paint: Paint,
    /// Of stderr.
    pub(crate) notes: Paint,
    /// A person sees both, so that a spinner may stand beneath what is shown.
    pub(crate) is_watched: bool,
    /// The columns of the terminal that stdout is.
    pub(crate) width: Option<usize>,
    /// A person can answer.
    pub(crate) can_ask: bool,
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        let (stdin, stdout, stderr) =
            (io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal());
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let plain = is_set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = |terminal| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !plain,
        };
        Self {
            json: global.json,
            paint: Paint::new(colour(stdout) && !global.json),
            notes: Paint::new(colour(stderr)),
            width: if stdout { terminal::columns() } else { None },
            is_watched: stdout && stderr && !global.json,
            can_ask: stdin && stderr && !global.json,
        }
    }

    /// Writes what was asked for.
    pub(crate) fn print(self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }

    /// Writes a document for programs, on one line if it is one of several.
    pub(crate) fn document(self, value: &impl Serialize, one_of_several: bool) -> Result<(), Failure> {
        let text =
            if one_of_several { serde_json::to_string(value) } else { serde_json::to_string_pretty(value) };
        let text = text.map_err(|error| Failure::Local(format!("can't write JSON: {error}")))?;
        self.print(&(without_controls(&text) + "\n"))
    }

    /// Says something about it. Nobody may be there to hear it.
    pub(crate) fn note(self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Asks something; the answer is typed behind it.
    pub(crate) fn ask(self, question: &str) {
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "{}", self.notes.with(paint::WAITS, question));
        let _ = stderr.flush();
    }

    /// Says why it failed.
    pub(crate) fn failure(self, failure: &Failure) {
        if self.json {
            let error = serde_json::json!({ "error": failure.message(), "help": failure.help() });
            self.note(&without_controls(&error.to_string()));
            return;
        }
        if let Some(text) = failure.rendered() {
            self.note(&text);
            return;
        }
        let name = self.notes.with(paint::BAD, "error:");
        self.note(&format!("{name} {}", failure.message()));
        if let Some(help) = failure.help() {
            self.note(&format!("  {} {help}", self.notes.with(paint::FAINT, "help:")));
        }
    }
}

/// JSON escapes most control characters by itself; what it leaves as it is could drive a terminal too.
fn without_controls(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for char in json.chars() {
        if text::is_steering(char) && char != '\n' {
            out.push_str(&format!("\\u{:04x}", u32::from(char)));
        } else {
            out.push(char);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_control_characters_and_means_the_same() {
        let value = serde_json::json!({ "text": "a\u{7f}\u{9b}2J\u{1b}\u{202e}\n" });
        let json = without_controls(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!json.chars().any(|char| text::is_steering(char) && char != '\n'), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }
}
