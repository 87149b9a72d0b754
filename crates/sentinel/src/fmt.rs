//! The formatter: tabs by nesting, one space where one belongs, values of maps below each other, line
//! ends of Unix. Where lines break is the writer's decision and stays.

use std::collections::HashMap;

use crate::error::Error;
use crate::source::{Source, Span};
use crate::syntax::lexer::Lexer;
use crate::syntax::token::{Kw, Op, Tok};
use crate::syntax::{Mark, marks};

/// Formats a source. The name is for errors: what cannot be parsed is not formatted.
///
/// ```
/// let text = sentinel::format("p.sentinel", "main=rule{\nx==1 and\n y==2\n}").unwrap();
/// assert_eq!(text, "main = rule {\n\tx == 1 and\n\t\ty == 2\n}\n");
/// ```
pub fn format(name: &str, text: &str) -> Result<String, Error> {
    // of any number of carriage returns none is left, or the next pass would find one more end of Windows
    let lines_of_unix: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let source = Source::new(name, lines_of_unix.join("\n"));
    let marks = marks(&source)?;
    let pieces = pieces(&source, &marks)?;
    Ok(render(&lines(&pieces)))
}

/// A token or a comment.
struct Piece<'s> {
    text: &'s str,
    tok: Option<Tok>,
    mark: Option<Mark>,
    /// Line breaks before it.
    breaks: usize,
}

impl Piece<'_> {
    fn is(&self, op: Op) -> bool {
        self.tok == Some(Tok::Op(op))
    }

    fn is_kw(&self, word: Kw) -> bool {
        self.tok == Some(Tok::Keyword(word))
    }

    fn is_line_comment(&self) -> bool {
        self.tok.is_none() && !self.text.starts_with("/*")
    }

    fn opens(&self) -> bool {
        self.is(Op::LParen) || self.is(Op::LBracket) || self.is(Op::LBrace)
    }

    fn closes(&self) -> bool {
        self.is(Op::RParen) || self.is(Op::RBracket) || self.is(Op::RBrace)
    }

    /// Whether an expression that ends a line with this goes on in the next one.
    fn goes_on(&self) -> bool {
        match &self.tok {
            Some(Tok::Op(op)) => {
                !matches!(
                    op,
                    Op::LParen
                        | Op::LBracket
                        | Op::LBrace
                        | Op::RParen
                        | Op::RBracket
                        | Op::RBrace
                        | Op::Comma
                ) && self.mark != Some(Mark::ClauseColon)
            }
            Some(Tok::Keyword(word)) => matches!(
                word,
                Kw::And
                    | Kw::Or
                    | Kw::Xor
                    | Kw::Not
                    | Kw::In
                    | Kw::Is
                    | Kw::Contains
                    | Kw::Matches
                    | Kw::Else
                    | Kw::When
            ),
            _ => false,
        }
    }
}

fn pieces<'s>(source: &'s Source, marks: &HashMap<u32, Mark>) -> Result<Vec<Piece<'s>>, Error> {
    let mut lexer = Lexer::new(source)?;
    let mut comments = Vec::new();
    let mut spans: Vec<(Span, Option<Tok>)> = Vec::new();
    loop {
        let token = lexer.next(Some(&mut comments))?;
        match token.tok {
            Tok::Eof => break,
            Tok::Semicolon { written: false } => {}
            tok => spans.push((token.span, Some(tok))),
        }
    }
    spans.extend(comments.iter().map(|comment| (comment.span, None)));
    spans.sort_by_key(|(span, _)| span.start);
    let text = source.text();
    let mut last = 0;
    let piece = |(span, tok): (Span, Option<Tok>)| {
        let between = &text[last..span.start as usize];
        last = span.end as usize;
        Piece {
            text: text[span.start as usize..span.end as usize].trim_end_matches([' ', '\t', '\r']),
            tok,
            mark: marks.get(&span.start).copied(),
            breaks: between.matches('\n').count(),
        }
    };
    let all: Vec<Piece<'s>> = spans.into_iter().map(piece).collect();
    let mut pieces: Vec<Piece<'s>> = Vec::with_capacity(all.len());
    for piece in all.into_iter().rev() {
        let semicolon = |piece: &Piece<'_>| matches!(piece.tok, Some(Tok::Semicolon { .. }));
        match pieces.last_mut() {
            _ if !semicolon(&piece) => pieces.push(piece),
            // a semicolon at the end of a line is not needed, nor one before another
            None => {}
            Some(next) if next.breaks > 0 || next.is_line_comment() || semicolon(next) => {
                next.breaks = next.breaks.max(piece.breaks);
            }
            Some(_) => pieces.push(piece),
        }
    }
    pieces.reverse();
    Ok(pieces)
}

struct Line {
    indent: usize,
    blank_before: bool,
    text: String,
    /// Where the value of a map's entry starts, when the line is such an entry and nothing else.
    value_at: Option<usize>,
}

fn lines(pieces: &[Piece<'_>]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    // for each open bracket the line it was opened in (brackets of one line indent once), and whether it
    // only groups: then it indents instead of the operator that goes on
    let mut open: Vec<(usize, bool)> = Vec::new();
    let selects = selectors(pieces);
    let mut at = 0;
    let mut statement_goes_on = false;
    while at < pieces.len() {
        let mut end = at + 1;
        while end < pieces.len() && pieces[end].breaks == 0 && !pieces[end - 1].is_line_comment() {
            end += 1;
        }
        let line = &pieces[at..end];
        let leading = line.iter().take_while(|piece| piece.closes()).count();
        let inner = open.len() - leading.min(open.len());
        let mut indent = distinct(&open[..inner]);
        if line[0].mark == Some(Mark::Clause) {
            // the clauses of a `case` stand below its keyword
            indent = indent.saturating_sub(1);
        } else if selects[at]
            || statement_goes_on && leading == 0 && !open.last().is_some_and(|(_, groups)| *groups)
        {
            indent += 1;
        }
        let value_at = entry_value(line);
        lines.push(Line { indent, blank_before: line[0].breaks > 1, text: spaced(line), value_at });
        for piece in line {
            if piece.opens() {
                open.push((lines.len(), piece.is(Op::LParen) && piece.mark.is_none()));
            } else if piece.closes() {
                open.pop();
            }
        }
        statement_goes_on =
            line.iter().rev().find(|piece| piece.tok.is_some()).map_or(statement_goes_on, Piece::goes_on);
        at = end;
    }
    lines
}

/// For each piece whether a line that starts with it goes on with a selector: it is one, or a comment before one.
fn selectors(pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut selects = vec![false; pieces.len()];
    let mut next = false;
    for (piece, selects) in pieces.iter().zip(&mut selects).rev() {
        if piece.tok.is_some() {
            next = piece.is(Op::Dot);
        }
        *selects = next;
    }
    selects
}

fn distinct(open: &[(usize, bool)]) -> usize {
    let mut lines: Vec<usize> = open.iter().map(|(line, _)| *line).collect();
    lines.dedup();
    lines.len()
}

/// The text of one line with the spaces that belong between its pieces.
fn spaced(line: &[Piece<'_>]) -> String {
    let mut out = String::new();
    for (at, piece) in line.iter().enumerate() {
        if at > 0 && space_between(line, at) {
            out.push(' ');
        }
        out.push_str(piece.text);
    }
    out
}

fn space_between(line: &[Piece<'_>], at: usize) -> bool {
    let (left, right) = (&line[at - 1], &line[at]);
    if left.tok.is_none() || right.tok.is_none() {
        return true;
    }
    let map_brace = |piece: &Piece<'_>| piece.mark == Some(Mark::MapBrace);
    if left.is(Op::LParen) || left.is(Op::LBracket) || right.is(Op::RParen) || right.is(Op::RBracket) {
        return false;
    }
    if (left.is(Op::LBrace) && map_brace(left)) || (right.is(Op::RBrace) && map_brace(right)) {
        return false;
    }
    if left.is(Op::LBrace) && right.is(Op::RBrace) {
        return false;
    }
    if right.is(Op::Comma) || matches!(right.tok, Some(Tok::Semicolon { .. })) {
        return false;
    }
    if left.is(Op::Dot) || right.is(Op::Dot) {
        // `0 .a` without its blank would be a number that runs into a word
        return right.is(Op::Dot) && matches!(left.tok, Some(Tok::Int(_)));
    }
    if right.is(Op::Colon) || left.mark == Some(Mark::SliceColon) {
        return false;
    }
    if right.mark == Some(Mark::Postfix) {
        return false;
    }
    let sign = left.mark == Some(Mark::Unary) && !left.is_kw(Kw::Not);
    !sign
}

/// Where the value starts in a line that is `key: value,` and nothing else.
fn entry_value(line: &[Piece<'_>]) -> Option<usize> {
    let mut depth = 0i32;
    let mut colon = None;
    for (at, piece) in line.iter().enumerate() {
        if piece.opens() {
            depth += 1;
        } else if piece.closes() {
            depth -= 1;
        }
        if depth < 0 {
            return None;
        }
        if depth == 0 && piece.is(Op::Colon) && piece.mark.is_none() && colon.is_none() {
            colon = Some(at);
        }
    }
    let last = line.iter().rev().find(|piece| piece.tok.is_some())?;
    let whole = depth == 0 && (last.is(Op::Comma) || last.is(Op::RBrace) || !last.goes_on());
    let colon = colon.filter(|_| whole)?;
    Some(spaced(&line[..=colon]).len() + 1)
}

/// Keys up to this many characters are aligned with each other, however much they differ.
const SHORT_KEY: usize = 20;

/// Whether the value of an entry stands below that of the entry before it. Long keys do not push the
/// values of much shorter ones away: a key four times as long starts a new column.
fn aligned(first: &Line, second: &Line) -> bool {
    let (Some(_), Some(_)) = (first.value_at, second.value_at) else { return false };
    if first.indent != second.indent || second.blank_before {
        return false;
    }
    let (a, b) = (column(first) - 2, column(second) - 2);
    (a <= SHORT_KEY && b <= SHORT_KEY) || (a < 4 * b && b < 4 * a)
}

/// The column of the value of an entry, in characters.
fn column(line: &Line) -> usize {
    line.value_at.map_or(0, |value| line.text[..value].chars().count())
}

fn render(lines: &[Line]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < lines.len() {
        // entries of a map that follow each other, each on one line
        let run = match lines[at].value_at {
            None => 1,
            Some(_) => 1 + lines[at..].windows(2).take_while(|pair| aligned(&pair[0], &pair[1])).count(),
        };
        let group = &lines[at..at + run];
        let width = group.iter().map(column).max().unwrap_or(0);
        for line in group {
            if line.blank_before && !out.is_empty() {
                out.push('\n');
            }
            out.extend(std::iter::repeat_n('\t', line.indent));
            match line.value_at {
                Some(value) => {
                    out.push_str(&line.text[..value]);
                    out.extend(std::iter::repeat_n(' ', width - column(line)));
                    out.push_str(&line.text[value..]);
                }
                None => out.push_str(&line.text),
            }
            out.push('\n');
        }
        at += run;
    }
    out
}
