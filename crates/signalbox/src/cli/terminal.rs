//! Text from elsewhere on a person's terminal: colours pass, and nothing else can drive it.
//!
//! The log of a run holds whatever a provider or a script printed. Sequences that move the cursor, set the title,
//! write the clipboard or rewrite lines that were shown already are made visible instead of being obeyed.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdin, stdout};

use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

/// How wide the terminal is that stdout is.
pub(crate) fn columns() -> Option<usize> {
    let size = tcgetwinsize(stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Forgets what was typed on the terminal and not read yet.
pub(crate) fn forget_typed() {
    if stdin().is_terminal() {
        // a terminal that went away has nothing left to forget
        let _ = tcflush(stdin(), QueueSelector::IFlush);
    }
}

/// The longest colour sequence that passes.
const SGR_LIMIT: usize = 64;

/// Makes a stream of bytes safe. What comes out is UTF-8 with line breaks, tabs and, if wanted, colours
/// (`ESC [ … m`), and has no other control character, wherever the stream is cut into pieces.
#[derive(Debug)]
pub(crate) struct Filter {
    colour: bool,
    state: State,
    /// The start of a character that is not complete yet.
    partial: Vec<u8>,
    /// A colour was switched on and not off again.
    coloured: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Ground,
    /// A carriage return, which is part of a line break if a line feed follows.
    Return,
    /// `ESC`, and what may yet become a colour sequence.
    Escape(String),
}

impl Filter {
    /// `colour`: whether colours pass or are taken out.
    pub(crate) const fn new(colour: bool) -> Self {
        Self { colour, state: State::Ground, partial: Vec::new(), coloured: false }
    }

    /// Takes a piece, and gives what of it, and of what came before, is safe to show now.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let mut out = String::with_capacity(bytes.len());
        let joined;
        let mut rest = if self.partial.is_empty() {
            bytes
        } else {
            joined = [&*std::mem::take(&mut self.partial), bytes].concat();
            &*joined
        };
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text(text, &mut out);
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.text(std::str::from_utf8(valid).unwrap_or_default(), &mut out);
                    let Some(length) = error.error_len() else {
                        self.partial = after.to_vec();
                        break;
                    };
                    self.char(char::REPLACEMENT_CHARACTER, &mut out);
                    rest = &after[length..];
                }
            }
        }
        out
    }

    /// The end of the stream: what is left, and the end of a colour that is still on.
    pub(crate) fn finish(&mut self) -> String {
        let mut out = String::new();
        if !std::mem::take(&mut self.partial).is_empty() {
            self.char(char::REPLACEMENT_CHARACTER, &mut out);
        }
        self.settle(&mut out);
        if std::mem::take(&mut self.coloured) {
            out.push_str("\x1b[0m");
        }
        out
    }

    fn text(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Ground {
                let plain =
                    rest.bytes().take_while(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')).count();
                out.push_str(&rest[..plain]);
                rest = &rest[plain..];
            }
            if let Some(char) = rest.chars().next() {
                self.char(char, out);
                rest = &rest[char.len_utf8()..];
            }
        }
    }

    fn char(&mut self, char: char, out: &mut String) {
        match &mut self.state {
            State::Ground => self.ground(char, out),
            // several returns before a line feed are one line break
            State::Return if char == '\r' => {}
            State::Return => {
                self.settle(out);
                if char != '\n' {
                    self.ground(char, out);
                }
            }
            State::Escape(sequence) => {
                let fits = match (sequence.len(), char) {
                    (0, '[') => true,
                    (0, _) => false,
                    (length, '0'..='9' | ';' | ':') => length < SGR_LIMIT,
                    (_, 'm') => return self.colour(out),
                    _ => false,
                };
                if fits {
                    sequence.push(char);
                } else {
                    self.settle(out);
                    self.ground(char, out);
                }
            }
        }
    }

    fn ground(&mut self, char: char, out: &mut String) {
        match char {
            '\x1b' => self.state = State::Escape(String::new()),
            '\r' => self.state = State::Return,
            _ => out.push(visible(char)),
        }
    }

    /// Shows what was held back, since it did not become what it might have become.
    fn settle(&mut self, out: &mut String) {
        match std::mem::replace(&mut self.state, State::Ground) {
            State::Ground => {}
            State::Return => out.push('\n'),
            State::Escape(sequence) => {
                out.push('\u{241B}');
                out.push_str(&sequence);
            }
        }
    }

    fn colour(&mut self, out: &mut String) {
        if let State::Escape(sequence) = std::mem::replace(&mut self.state, State::Ground)
            && self.colour
        {
            self.coloured = !matches!(sequence.as_str(), "[" | "[0");
            // writing into a string can't fail
            let _ = write!(out, "\x1b{sequence}m");
        }
    }
}

/// The character itself, or one that shows that it was there.
fn visible(char: char) -> char {
    match char {
        '\n' | '\t' => char,
        // the pictures of the control characters stand in their order
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(char)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        char if text::is_steering(char) => char::REPLACEMENT_CHARACTER,
        char => char,
    }
}

/// Text without colours and safe to show, its lines as they are.
pub(crate) fn text(text: &str) -> String {
    let mut filter = Filter::new(false);
    filter.push(text.as_bytes()) + &filter.finish()
}

/// Text for one line: safe to show, and with blanks for its line breaks and tabs.
pub(crate) fn line(given: &str) -> String {
    text(given).trim().split(['\n', '\t']).map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filtered(colour: bool, pieces: &[&[u8]]) -> String {
        let mut filter = Filter::new(colour);
        let mut out: String = pieces.iter().map(|piece| filter.push(piece)).collect();
        out.push_str(&filter.finish());
        out
    }

    #[test]
    fn what_is_harmless_passes_and_all_else_is_made_visible() {
        let table: &[(&[u8], &str)] = &[
            (b"plan: 1 to add\n\tindented\n", "plan: 1 to add\n\tindented\n"),
            ("größe ✓ 大".as_bytes(), "größe ✓ 大"),
            (b"\x1b[1m\x1b[38;5;12mbold\x1b[0m", "\x1b[1m\x1b[38;5;12mbold\x1b[0m"),
            (b"\x1b[38:2::1:2:3mx\x1b[m", "\x1b[38:2::1:2:3mx\x1b[m"),
            // a colour that is not switched off does not colour the prompt
            (b"\x1b[31mred", "\x1b[31mred\x1b[0m"),
            // cursor, screen, title, clipboard, hyperlink, device control, character set, reset
            (b"\x1b[2J\x1b[1;1H", "␛[2J␛[1;1H"),
            (b"\x1b]0;title\x07", "␛]0;title␇"),
            (b"\x1b]52;c;eA==\x1b\\", "␛]52;c;eA==␛\\"),
            (b"\x1bP$q\x1b\\", "␛P$q␛\\"),
            (b"\x1b(0\x1bc", "␛(0␛c"),
            // looks like a colour and is none
            (b"\x1b[?25h\x1b[>4;2m\x1b[1 m\x1b[1\x1b[2m", "␛[?25h␛[>4;2m␛[1 m␛[1\x1b[2m\x1b[0m"),
            (b"\x1b[", "␛["),
            (b"\x1b", "␛"),
            (b"a\0b\x08c\x7f", "a␀b␈c␡"),
            // the control characters of eight bits, encoded and raw
            ("\u{9b}2J\u{85}".as_bytes(), "\u{fffd}2J\u{fffd}"),
            (b"\x9b2J\xff", "\u{fffd}2J\u{fffd}"),
            (b"cut \xe2\x82", "cut \u{fffd}"),
            // text that reads from right to left, or pretends to
            ("a\u{202e}b\u{2066}c".as_bytes(), "a\u{fffd}b\u{fffd}c"),
            // a line that would overwrite another
            (b"50%\r100%\r\ndone\r", "50%\n100%\ndone\n"),
            (b"a\r\r\nb", "a\nb"),
        ];
        for (bytes, shown) in table {
            assert_eq!(filtered(true, &[bytes]), *shown, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_pipe_gets_no_colours() {
        assert_eq!(filtered(false, &[b"\x1b[1mbold\x1b[0m \x1b[2J"]), "bold ␛[2J");
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line(" a\nb\tc\x1b[31m\r\n\x07 "), "a b c ␇");
    }

    /// Independent of the filter: the output is cut at its colour sequences, and the rest has no control character.
    fn is_safe(text: &str, colour: bool) -> bool {
        let mut rest = text;
        while let Some(start) = rest.find('\x1b') {
            let Some(length) = rest[start..].find('m') else { return false };
            let parameters = &rest[start + 1..start + length];
            let is_sgr = parameters.strip_prefix('[').is_some_and(|parameters| {
                parameters.chars().all(|char| char.is_ascii_digit() || ";:".contains(char))
            });
            if !colour || !is_sgr || rest[..start].chars().any(is_unsafe) {
                return false;
            }
            rest = &rest[start + length + 1..];
        }
        !rest.chars().any(is_unsafe)
    }

    fn is_unsafe(char: char) -> bool {
        (char.is_control() && char != '\n' && char != '\t') || "\u{202e}\u{2067}\u{200f}".contains(char)
    }

    /// Bytes that are likely to be trouble.
    fn trouble() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..6),
            "[ -~]{0,8}".prop_map(String::into_bytes),
            proptest::sample::select(vec![
                &b"\x1b"[..],
                b"\x1b[",
                b"\x1b[31m",
                b"\x1b[0m",
                b"\x1b[2J",
                b"\x1b]0;",
                b"\x07",
                b"\r",
                b"\n",
                b"\r\n",
                b"\xc2\x9b",
                b"\xe2\x80\xae",
                b"\xf0\x9f",
                b"31m",
                b";",
                b"m",
                b"\x9c",
            ])
            .prop_map(<[u8]>::to_vec),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn what_comes_out_is_safe(bytes in trouble(), colour in any::<bool>()) {
            let shown = filtered(colour, &[&bytes]);
            prop_assert!(is_safe(&shown, colour), "{:?}", shown);
        }

        #[test]
        fn where_the_stream_is_cut_makes_no_difference(
            bytes in trouble(),
            colour in any::<bool>(),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(filtered(colour, &pieces), filtered(colour, &[&bytes]));
        }

        #[test]
        fn text_without_controls_passes_as_it_is(text in "[a-zA-Z0-9 äöü✓大\n\t.:/{}\"'-]{0,64}") {
            prop_assert_eq!(filtered(true, &[text.as_bytes()]), text);
        }

        #[test]
        fn a_line_never_has_a_line_break(text in any::<String>()) {
            prop_assert!(!line(&text).contains(['\n', '\r', '\t', '\x1b']));
        }
    }
}
