//! Regular expressions: RE2's syntax, run by `regex-automata`.
//!
//! A pattern is rewritten before it is compiled ([`translate`]). The text is rewritten too when it is not UTF-8.

mod translate;

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as _;

use regex_automata::hybrid::dfa::{self, Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::{Input, util::syntax};

use crate::error::Error;
use crate::limits::Meter;
use crate::stack;
use crate::value::{Str, show};

pub(crate) use translate::translate;

/// Compiled patterns of one evaluation. Their memory is bounded: many small ones are kept, and a few
/// large ones; a policy that makes more of them pays for compiling anew.
#[derive(Default)]
pub(crate) struct Regexps {
    small: HashMap<Str, Pattern>,
    large: HashMap<Str, Pattern>,
}

/// The bytes of a small pattern and of a large one, and how many of each are kept.
const SMALL: (usize, usize) = (256 << 10, 256);
const LARGE: (usize, usize) = (4 << 20, 8);

/// The bytes of a pattern's text: parsing takes some hundred times as much memory.
const MAX_PATTERN: usize = 64 << 10;

/// What compiling a pattern counts as: at least, and for each byte of its text.
const COMPILE: usize = 5_000;
const COMPILE_BYTE: usize = 4;

impl Regexps {
    /// Whether a pattern is found in a text. The work counts as it is done.
    pub(crate) fn is_match(&mut self, pattern: &Str, text: &[u8], meter: &Meter) -> Result<bool, Error> {
        meter.scan(pattern.len())?;
        let text = &characters(text, meter)?;
        if let Some(known) = self.small.get_mut(pattern) {
            return known.is_match(text, meter);
        }
        if let Some(known) = self.large.get_mut(pattern) {
            return known.is_match(text, meter);
        }
        if pattern.len() > MAX_PATTERN {
            let message =
                format!("a pattern has at most {MAX_PATTERN} bytes, and this one has {}", pattern.len());
            return Err(Error::runtime(message));
        }
        meter.steps(COMPILE + COMPILE_BYTE * pattern.len())?;
        let refused = |why: String| {
            let text = show::excerpt_of(&pattern.to_text());
            Error::runtime(format!("`{text}` is not a regular expression: {why}"))
        };
        let text_of = pattern.as_str().ok_or_else(|| Error::runtime("the pattern is not UTF-8"))?;
        let translated = translate(text_of).map_err(refused)?;
        let build = |size| stack::foreign(|| Pattern::build(&translated, size));
        let (built, kept, most) = match build(SMALL.0) {
            Err(Refused::TooLarge) => (build(LARGE.0), &mut self.large, LARGE.1),
            built => (built, &mut self.small, SMALL.1),
        };
        let built = built.map_err(|error| match error {
            Refused::TooLarge => refused("it is too large when it is compiled".into()),
            Refused::Because(why) => refused(why),
        })?;
        if kept.len() >= most {
            kept.clear();
        }
        kept.entry(pattern.clone()).or_insert(built).is_match(text, meter)
    }
}

/// A text as RE2 reads it: each byte that belongs to no character is the replacement character.
fn characters<'t>(text: &'t [u8], meter: &Meter) -> Result<Cow<'t, [u8]>, Error> {
    meter.scan(text.len())?;
    if std::str::from_utf8(text).is_ok() {
        return Ok(Cow::Borrowed(text));
    }
    meter.read(text.len())?;
    meter.room(text.len() * 3)?;
    let mut read = Vec::with_capacity(text.len() * 3);
    for chunk in text.utf8_chunks() {
        read.extend_from_slice(chunk.valid().as_bytes());
        for _ in chunk.invalid() {
            read.extend_from_slice("\u{FFFD}".as_bytes());
        }
    }
    Ok(Cow::Owned(read))
}

/// A compiled pattern: an automaton whose states are made when they are first needed, in a cache of a
/// fixed size. A search never takes another way, so that its work is known: at worst each byte of the text
/// is a new state, which takes time in proportion to the states of the pattern.
struct Pattern {
    dfa: DFA,
    cache: Cache,
    /// The states of the pattern before they are combined.
    states: usize,
}

/// Why a pattern was not compiled.
enum Refused {
    TooLarge,
    Because(String),
}

/// A search counts a step for this many bytes times states.
const SEARCHED: usize = 1024;

/// The part of the search that does not depend on the pattern, in states.
const BYTE: usize = 64;

/// Steps between two looks at the meter in one search.
const SLICE: usize = 4096;

impl Pattern {
    fn build(pattern: &str, size: usize) -> Result<Pattern, Refused> {
        // the text is bytes to it, though `characters` has seen to it that they are UTF-8
        let nfa = thompson::Compiler::new()
            .syntax(syntax::Config::new().utf8(false))
            .configure(
                thompson::Config::new()
                    .utf8(false)
                    .which_captures(WhichCaptures::None)
                    .nfa_size_limit(Some(size)),
            )
            .build(pattern)
            .map_err(|error| reason(&error))?;
        let states = nfa.states().len();
        let dfa = DFA::builder()
            .configure(dfa::Config::new().cache_capacity(size).skip_cache_capacity_check(true))
            .build_from_nfa(nfa)
            .map_err(|error| Refused::Because(error.to_string()))?;
        let cache = dfa.create_cache();
        Ok(Pattern { dfa, cache, states })
    }

    fn is_match(&mut self, text: &[u8], meter: &Meter) -> Result<bool, Error> {
        let failed = |_| Error::runtime("the pattern needs more states than there is room for");
        let cost = BYTE + self.states;
        let Pattern { dfa, cache, .. } = self;
        let mut state = dfa
            .start_state_forward(cache, &Input::new(text))
            .map_err(|_| Error::runtime("the pattern has no start"))?;
        for slice in text.chunks((SLICE * SEARCHED / cost).max(1)) {
            meter.steps(1 + slice.len() * cost / SEARCHED)?;
            for byte in slice {
                state = dfa.next_state(cache, state, *byte).map_err(failed)?;
                if state.is_tagged() {
                    if state.is_match() {
                        return Ok(true);
                    }
                    if state.is_dead() {
                        return Ok(false);
                    }
                }
            }
        }
        // a match is known one byte after its end
        Ok(dfa.next_eoi_state(cache, state).map_err(failed)?.is_match())
    }
}

/// The last line of the parser's message says what is wrong; the others show a translated pattern that
/// nobody wrote.
fn reason(error: &thompson::BuildError) -> Refused {
    if error.size_limit().is_some() {
        return Refused::TooLarge;
    }
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let last = text.lines().last().unwrap_or_default();
    Refused::Because(last.trim_start_matches("error: ").to_owned())
}
