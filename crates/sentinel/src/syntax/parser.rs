//! The parser: its walk over the tokens, and the declarations of a file. Statements are in `parse_stmt`, expressions in
//! `parse_expr`, comments in `comments`.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::{Expr, ExprKind, File, Import, Name, Param};
use super::lexer::{Comment, Lexer};
use super::token::{Kw, Op, Tok, Token};
use crate::error::{Error, ErrorKind};
use crate::source::{Source, Span};
use crate::value::Data;

/// How deep blocks and expressions may be nested.
pub(super) const MAX_NESTING: u32 = 400;

/// Parses a file.
pub(crate) fn parse(source: &Source) -> Result<File, Error> {
    let mut parser = Parser::new(source)?;
    parser.file()
}

/// What tokens mean where their text does not say it: for the formatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The `{` or `}` of a map.
    MapBrace,
    /// The `(` of a call or of parameters, the `[` of an index.
    Postfix,
    /// A `+`, `-` or `!` with one operand.
    Unary,
    /// The `:` of a slice.
    SliceColon,
    /// The `when` or `else` of a `case`.
    Clause,
    /// The `:` that ends a clause.
    ClauseColon,
}

/// Parses a file and returns the marks by the offsets of their tokens.
pub(crate) fn marks(source: &Source) -> Result<HashMap<u32, Mark>, Error> {
    let mut parser = Parser::new(source)?;
    parser.marks = Some(HashMap::new());
    parser.file()?;
    Ok(parser.marks.unwrap_or_default())
}

/// Whether data can be the default of a parameter: there is no null in it, at any depth.
fn is_literal(data: &Data) -> bool {
    !matches!(data, Data::Null | Data::Undefined)
        && data.items().iter().all(is_literal)
        && data.entries().iter().all(|(_, item)| is_literal(item))
}

pub(super) struct Parser<'s> {
    pub(super) source: &'s Source,
    lexer: Lexer<'s>,
    pub(super) token: Token,
    /// End of the last token taken.
    pub(super) last: Span,
    pub(super) comments: Vec<Comment>,
    names: HashMap<&'s str, Arc<str>>,
    depth: u32,
    marks: Option<HashMap<u32, Mark>>,
}

impl<'s> Parser<'s> {
    fn new(source: &'s Source) -> Result<Parser<'s>, Error> {
        let mut comments = Vec::new();
        let mut lexer = Lexer::new(source)?;
        let token = lexer.next(Some(&mut comments))?;
        Ok(Parser {
            source,
            lexer,
            token,
            last: Span::default(),
            comments,
            names: HashMap::new(),
            depth: 0,
            marks: None,
        })
    }

    pub(super) fn advance(&mut self) -> Result<Token, Error> {
        let next = self.lexer.next(Some(&mut self.comments))?;
        let token = std::mem::replace(&mut self.token, next);
        self.last = token.span;
        Ok(token)
    }

    /// Whether the current token is the end of a line and the next line starts with `.name`.
    pub(super) fn before_selector(&self) -> bool {
        matches!(self.token.tok, Tok::Semicolon { written: false }) && self.lexer.before_selector()
    }

    /// The token after the current one.
    pub(super) fn peek(&self) -> Result<Token, Error> {
        self.lexer.clone().next(None)
    }

    /// The two tokens after the current one.
    pub(super) fn peek_two(&self) -> Result<(Token, Token), Error> {
        let mut lexer = self.lexer.clone();
        Ok((lexer.next(None)?, lexer.next(None)?))
    }

    /// The second token after the current one.
    pub(super) fn peek_second(&self) -> Result<Token, Error> {
        Ok(self.peek_two()?.1)
    }

    pub(super) fn is_op(&self, op: Op) -> bool {
        self.token.tok == Tok::Op(op)
    }

    pub(super) fn is_kw(&self, word: Kw) -> bool {
        self.token.tok == Tok::Keyword(word)
    }

    pub(super) fn take_op(&mut self, op: Op) -> Result<bool, Error> {
        let found = self.is_op(op);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn take_kw(&mut self, word: Kw) -> Result<bool, Error> {
        let found = self.is_kw(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn expect_op(&mut self, op: Op, what: &str) -> Result<Span, Error> {
        if self.is_op(op) {
            return Ok(self.advance()?.span);
        }
        Err(self.unexpected(what))
    }

    /// An error at the current token: what was found, what is expected.
    pub(super) fn unexpected(&self, expected: &str) -> Error {
        let mut error = Error::new(
            ErrorKind::Syntax,
            format!("expected {expected}, found {}", self.token.tok.describe()),
        )
        .label(format!("expected {expected}"));
        if matches!(self.token.tok, Tok::Semicolon { written: false }) {
            error =
                error.note("a line that goes on must end with an operator, a comma or an opening bracket");
        }
        error.at(self.source, self.token.span)
    }

    /// The error of a place where a name can stand, but none does.
    pub(super) fn no_name(&self, expected: &str) -> Error {
        let error = self.unexpected(expected);
        match self.token.tok {
            Tok::Keyword(word) => error.note(format!("`{word}` is reserved and cannot be a name")),
            _ => error,
        }
    }

    pub(super) fn error(&self, span: Span, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Syntax, message).at(self.source, span)
    }

    /// Marks the current token.
    pub(super) fn mark(&mut self, mark: Mark) {
        if let Some(marks) = &mut self.marks {
            marks.insert(self.token.span.start, mark);
        }
    }

    pub(super) fn text(&self, span: Span) -> &'s str {
        &self.source.text()[span.start as usize..span.end as usize]
    }

    pub(super) fn intern(&mut self, span: Span) -> Arc<str> {
        let text = self.text(span);
        self.names.entry(text).or_insert_with(|| Arc::from(text)).clone()
    }

    pub(super) fn name(&mut self, what: &str) -> Result<Name, Error> {
        if self.token.tok != Tok::Ident {
            return Err(self.no_name(what));
        }
        let span = self.advance()?.span;
        Ok(Name { text: self.intern(span), span })
    }

    /// Runs a part of the parser one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.depth >= MAX_NESTING {
            return Err(self.error(self.token.span, format!("nested more than {MAX_NESTING} deep")));
        }
        self.depth += 1;
        let result = crate::stack::deeper(|| parse(self));
        self.depth -= 1;
        result
    }

    fn file(&mut self) -> Result<File, Error> {
        let mut file = File { imports: Vec::new(), params: Vec::new(), body: Vec::new(), description: None };
        let start = self.skip_semicolons()?;
        file.description = self.description(start);
        while self.is_kw(Kw::Import) && !self.is_assigned()? {
            file.imports.push(self.import()?);
            self.end_statement()?;
        }
        while self.is_kw(Kw::Param) && !self.is_assigned()? {
            file.params.push(self.param()?);
            self.end_statement()?;
        }
        while self.token.tok != Tok::Eof {
            if self.is_kw(Kw::Import) && !self.is_assigned()? {
                return Err(self
                    .error(self.token.span, "an import must be at the top of the file")
                    .note("imports come first, then parameters, then everything else"));
            }
            if self.is_kw(Kw::Param) && !self.is_assigned()? {
                return Err(self
                    .error(self.token.span, "a parameter must be at the top of the file")
                    .note("imports come first, then parameters, then everything else"));
            }
            let statement = self.statement()?;
            file.body.push(statement);
            self.end_statement()?;
        }
        Ok(file)
    }

    pub(super) fn skip_semicolons(&mut self) -> Result<Span, Error> {
        while matches!(self.token.tok, Tok::Semicolon { .. }) {
            self.advance()?;
        }
        Ok(self.token.span)
    }

    /// The end of a statement: a semicolon, or the end of what it is in.
    pub(super) fn end_statement(&mut self) -> Result<(), Error> {
        match self.token.tok {
            Tok::Semicolon { .. } => {
                self.skip_semicolons()?;
                Ok(())
            }
            Tok::Eof | Tok::Op(Op::RBrace) => Ok(()),
            _ => Err(self.unexpected("the end of the statement")),
        }
    }

    fn import(&mut self) -> Result<Import, Error> {
        let start = self.advance()?.span;
        let Tok::Str(path) = &self.token.tok else {
            return Err(self.unexpected("the name of an import in quotes"));
        };
        let path = path.to_text().into_owned();
        self.advance()?;
        let mut members = Vec::new();
        while self.take_op(Op::Dot)? {
            members.push(self.name("a member of the import")?);
        }
        let alias = if self.take_kw(Kw::As)? { Some(self.name("a name for the import")?) } else { None };
        Ok(Import { path, members, alias, span: start.to(self.last) })
    }

    fn param(&mut self) -> Result<Param, Error> {
        self.advance()?;
        let name = self.name("the name of a parameter")?;
        let default = if self.take_kw(Kw::Default)? {
            let value = self.expr()?;
            Some(self.constant(value)?)
        } else {
            None
        };
        Ok(Param { name, default })
    }

    /// The default of a parameter: literals, signed numbers, lists and maps of these.
    fn constant(&self, expr: Expr) -> Result<Data, Error> {
        let refused = |span| {
            self.error(span, "the default of a parameter must be a literal")
                .note("strings, numbers, `true`, `false`, and lists and maps of these")
        };
        match expr.kind {
            ExprKind::Const(data) if !is_literal(&data) => Err(refused(expr.span)),
            ExprKind::Const(data) => Ok(data),
            ExprKind::Name(name) if &*name == "true" => Ok(Data::Bool(true)),
            ExprKind::Name(name) if &*name == "false" => Ok(Data::Bool(false)),
            ExprKind::List(items) => items
                .into_iter()
                .map(|item| self.constant(item))
                .collect::<Result<Vec<_>, _>>()
                .map(Data::list),
            _ => Err(refused(expr.span)),
        }
    }
}
