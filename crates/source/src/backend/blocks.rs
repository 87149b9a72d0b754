//! The `terraform` blocks of a file, cut out by their brackets.
//!
//! Only they are given to a parser of the language. So nothing that a parser may not know, somewhere in a large file,
//! can keep the backend from being found. What has to be known to find the end of a block is what terraform's own
//! scanner knows: comments, quoted templates, heredocs, and the interpolations that nest code in them again.

/// A block, from its name to its closing bracket, or to the end of the file if that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TerraformBlock<'a> {
    pub(super) text: &'a str,
    /// Where it begins, from 1.
    pub(super) line: usize,
    /// How deep things in it lie in each other, at most.
    pub(super) depth: usize,
}

enum Open<'a> {
    Bracket,
    Quote,
    Heredoc { marker: &'a [u8] },
    Interpolation,
}

/// All blocks of the type `terraform` at the top of a file.
pub(super) fn terraform_blocks(text: &str) -> Vec<TerraformBlock<'_>> {
    Scan {
        text,
        bytes: text.as_bytes(),
        at: 0,
        open: Vec::new(),
        fresh: true,
        begun: None,
        found: Vec::new(),
    }
    .run()
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    open: Vec<Open<'a>>,
    /// Whether nothing but white space and comments came since the line began, outside of everything.
    fresh: bool,
    /// Where the block that is open begins, and its depth so far.
    begun: Option<(usize, usize)>,
    found: Vec<TerraformBlock<'a>>,
}

impl<'a> Scan<'a> {
    fn run(mut self) -> Vec<TerraformBlock<'a>> {
        while self.at < self.bytes.len() {
            match self.open.last() {
                None | Some(Open::Bracket | Open::Interpolation) => self.code(),
                Some(Open::Quote) => self.quote(),
                Some(Open::Heredoc { marker }) => {
                    let marker = *marker;
                    self.heredoc(marker);
                }
            }
        }
        if let Some((begin, depth)) = self.begun {
            self.block(begin, self.bytes.len(), depth);
        }
        self.found
    }

    fn code(&mut self) {
        let rest = &self.bytes[self.at..];
        match rest {
            [b'\n', ..] => {
                self.fresh = true;
                self.at += 1;
            }
            [b' ' | b'\t' | b'\r', ..] => self.at += 1,
            [b'#', ..] | [b'/', b'/', ..] => self.at += line_length(rest),
            [b'/', b'*', ..] => self.at += find(rest, b"*/").map_or(rest.len(), |end| end + 2),
            [b'"', ..] => self.enter(Open::Quote, 1),
            [b'<', b'<', ..] => match heredoc_marker(rest) {
                Some((marker, length)) => {
                    self.enter(Open::Heredoc { marker }, length);
                    self.heredoc_line(marker);
                }
                None => self.other(2),
            },
            [b'(' | b'[' | b'{', ..] => self.enter(Open::Bracket, 1),
            [b')' | b']' | b'}', ..] => self.close(),
            _ => {
                let length = identifier_length(rest).max(1);
                if self.fresh
                    && self.open.is_empty()
                    && &rest[..length] == b"terraform"
                    && opens_block(&rest[length..])
                {
                    self.begun = Some((self.at, 0));
                }
                self.other(length);
            }
        }
    }

    fn quote(&mut self) {
        match &self.bytes[self.at..] {
            [b'\\', _, ..] => self.at += 2,
            [b'"', ..] => self.leave(1),
            // the language does not allow it; whatever was meant, the next line is code again
            [b'\n', ..] => self.leave(0),
            rest => self.template(rest),
        }
    }

    fn heredoc(&mut self, marker: &[u8]) {
        match &self.bytes[self.at..] {
            [b'\n', ..] => {
                self.at += 1;
                self.heredoc_line(marker);
            }
            rest => self.template(rest),
        }
    }

    /// At the beginning of a line of a heredoc: the marker alone ends it.
    fn heredoc_line(&mut self, marker: &[u8]) {
        let rest = &self.bytes[self.at..];
        let length = line_length(rest);
        if rest[..length].trim_ascii() == marker {
            self.leave(length);
        }
    }

    fn template(&mut self, rest: &[u8]) {
        match rest {
            [b'$', b'$', b'{', ..] | [b'%', b'%', b'{', ..] => self.at += 3,
            [b'$' | b'%', b'{', ..] => self.enter(Open::Interpolation, 2),
            _ => self.at += 1,
        }
    }

    fn other(&mut self, length: usize) {
        self.fresh = false;
        self.at += length;
    }

    fn enter(&mut self, open: Open<'a>, length: usize) {
        self.open.push(open);
        if let Some((_, depth)) = &mut self.begun {
            *depth = (*depth).max(self.open.len());
        }
        self.other(length);
    }

    fn leave(&mut self, length: usize) {
        self.open.pop();
        self.at += length;
    }

    fn close(&mut self) {
        self.open.pop();
        self.other(1);
        if let (Some((begin, depth)), true) = (self.begun, self.open.is_empty()) {
            self.block(begin, self.at, depth);
            self.begun = None;
        }
    }

    fn block(&mut self, begin: usize, end: usize, depth: usize) {
        let line = 1 + self.bytes[..begin].iter().filter(|byte| **byte == b'\n').count();
        self.found.push(TerraformBlock { text: &self.text[begin..end], line, depth });
    }
}

fn line_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len())
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn identifier_length(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || !byte.is_ascii())
        .count()
}

/// Whether a bracket follows, on the same line.
fn opens_block(mut rest: &[u8]) -> bool {
    loop {
        match rest {
            [b' ' | b'\t', after @ ..] => rest = after,
            [b'/', b'*', ..] => match find(rest, b"*/") {
                Some(end) => rest = &rest[end + 2..],
                None => return false,
            },
            [b'{', ..] => return true,
            _ => return false,
        }
    }
}

/// For a text that begins with `<<`: the marker, and the length up to the first line of the content.
fn heredoc_marker(rest: &[u8]) -> Option<(&[u8], usize)> {
    let begin = if rest.get(2) == Some(&b'-') { 3 } else { 2 };
    let marker = &rest[begin..begin + identifier_length(&rest[begin..])];
    let end = begin + marker.len();
    let length = match &rest[end..] {
        [b'\n', ..] => end + 1,
        [b'\r', b'\n', ..] => end + 2,
        _ => return None,
    };
    (!marker.is_empty()).then_some((marker, length))
}
