//! Blocks by their brackets alone.

use crate::lexer::{Kind, Lexer};

/// A block, from its type to its closing bracket, or to the end of the text if that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment<'t> {
    /// The block.
    pub text: &'t str,
    /// Where it begins in the whole text.
    pub start: usize,
}

/// All blocks of a type that have no label and stand at the top of a text, whatever else is in it: nothing that
/// [`parse`](crate::parse) would refuse, somewhere in a large file, keeps them from being found. Where they end is told
/// by what HCL's own scanner knows: comments, strings, heredocs, and the code that `${…}` has in them.
pub fn cut_blocks<'t>(text: &'t str, kind: &str) -> Vec<Fragment<'t>> {
    let mut lexer = Lexer::new(text);
    let mut found = Vec::new();
    let mut fresh = true;
    let mut named = None;
    let mut begun = None;
    let mut fragment = |start: usize, end: usize| {
        if let Some(text) = text.get(start..end) {
            found.push(Fragment { text, start });
        }
    };
    loop {
        let outside = lexer.depth() == 0;
        let token = lexer.next();
        match (token.kind, begun) {
            (Kind::End, Some(start)) => fragment(start, text.len()),
            (Kind::Close(_), Some(start)) if lexer.depth() == 0 => {
                fragment(start, token.span.end);
                begun = None;
            }
            (Kind::Open(b'{'), None) => begun = named,
            _ => {}
        }
        if token.kind == Kind::End {
            return found;
        }
        let is_name = token.kind == Kind::Name && text.get(token.span.clone()) == Some(kind);
        named = (outside && fresh && is_name).then_some(token.span.start);
        // behind a string that its line leaves open a line begins as well
        fresh = lexer.depth() == 0 && token.kind == Kind::Newline;
    }
}
