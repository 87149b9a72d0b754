//! The parser: declarations and statements. Expressions are in `parse_expr`.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::{
    BinaryOp, Expr, ExprKind, File, Func, Import, LoopNames, Name, Param, Stmt, StmtKind, Target,
};
use super::lexer::{Comment, Lexer};
use super::token::{Kw, Op, Tok, Token};
use crate::error::{Error, ErrorKind};
use crate::source::{Source, Span};
use crate::value::Data;

/// How deep blocks and expressions may be nested.
pub(super) const MAX_NESTING: u32 = 400;

/// Parameters of a function.
const MAX_PARAMS: usize = 1000;

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

pub(super) struct Parser<'s> {
    pub(super) source: &'s Source,
    lexer: Lexer<'s>,
    pub(super) token: Token,
    /// End of the last token taken.
    pub(super) last: Span,
    comments: Vec<Comment>,
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

    // --- tokens ---

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
    fn peek_two(&self) -> Result<(Token, Token), Error> {
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
            let error = self.unexpected(what);
            return Err(match self.token.tok {
                Tok::Keyword(word) => error.note(format!("`{word}` is reserved and cannot be a name")),
                _ => error,
            });
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
        let result = stacker::maybe_grow(64 * 1024, 1024 * 1024, || parse(self));
        self.depth -= 1;
        result
    }

    // --- declarations ---

    fn file(&mut self) -> Result<File, Error> {
        let mut file = File { imports: Vec::new(), params: Vec::new(), body: Vec::new(), description: None };
        let start = self.skip_semicolons()?;
        file.description = self.description(start);
        while self.is_kw(Kw::Import) {
            file.imports.push(self.import()?);
            self.end_statement()?;
        }
        while self.is_kw(Kw::Param) {
            file.params.push(self.param()?);
            self.end_statement()?;
        }
        while self.token.tok != Tok::Eof {
            if self.is_kw(Kw::Import) {
                return Err(self
                    .error(self.token.span, "an import must be at the top of the file")
                    .note("imports come first, then parameters, then everything else"));
            }
            if self.is_kw(Kw::Param) {
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

    fn skip_semicolons(&mut self) -> Result<Span, Error> {
        while matches!(self.token.tok, Tok::Semicolon { .. }) {
            self.advance()?;
        }
        Ok(self.token.span)
    }

    /// The end of a statement: a semicolon, or the end of what it is in.
    fn end_statement(&mut self) -> Result<(), Error> {
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
            ExprKind::Const(Data::Null | Data::Undefined) => Err(refused(expr.span)),
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

    // --- statements ---

    pub(super) fn block(&mut self) -> Result<(Vec<Stmt>, Span), Error> {
        self.expect_op(Op::LBrace, "`{`")?;
        let statements = self.nested(|parser| parser.statements(|token| *token == Tok::Op(Op::RBrace)))?;
        let end = self.expect_op(Op::RBrace, "a statement or `}`")?;
        Ok((statements, end))
    }

    fn statements(&mut self, ends: impl Fn(&Tok) -> bool) -> Result<Vec<Stmt>, Error> {
        let mut statements = Vec::new();
        self.skip_semicolons()?;
        while !ends(&self.token.tok) && self.token.tok != Tok::Eof {
            statements.push(self.statement()?);
            self.end_statement()?;
        }
        Ok(statements)
    }

    fn statement(&mut self) -> Result<Stmt, Error> {
        let start = self.token.span;
        let kind = match self.token.tok {
            Tok::Keyword(Kw::If) => self.if_statement()?,
            Tok::Keyword(Kw::For) => self.for_statement()?,
            Tok::Keyword(Kw::Case) => self.case_statement()?,
            Tok::Keyword(Kw::Break) => {
                self.advance()?;
                StmtKind::Break
            }
            Tok::Keyword(Kw::Continue) => {
                self.advance()?;
                StmtKind::Continue
            }
            Tok::Keyword(Kw::Return) => {
                self.advance()?;
                let ends = matches!(self.token.tok, Tok::Semicolon { .. } | Tok::Op(Op::RBrace) | Tok::Eof);
                StmtKind::Return(if ends { None } else { Some(self.expr()?) })
            }
            Tok::Keyword(Kw::Func) if self.peek()?.tok == Tok::Ident => {
                self.advance()?;
                let name = self.name("the name of the function")?;
                StmtKind::Func { name, func: Box::new(self.func_rest()?) }
            }
            _ => self.simple_statement(start)?,
        };
        Ok(Stmt { kind, span: start.to(self.last) })
    }

    fn simple_statement(&mut self, start: Span) -> Result<StmtKind, Error> {
        let target = self.expr()?;
        let op = match self.token.tok {
            Tok::Op(Op::Assign) => None,
            Tok::Op(Op::PlusAssign) => Some(BinaryOp::Add),
            Tok::Op(Op::MinusAssign) => Some(BinaryOp::Sub),
            Tok::Op(Op::StarAssign) => Some(BinaryOp::Mul),
            Tok::Op(Op::SlashAssign) => Some(BinaryOp::Div),
            Tok::Op(Op::PercentAssign) => Some(BinaryOp::Rem),
            _ => return Ok(StmtKind::Expr(target)),
        };
        let doc = self.doc_above(start);
        let span = target.span;
        let target = match target.kind {
            ExprKind::Name(text) => Target::Name(Name { text, span }),
            ExprKind::Index { base, index } => Target::Index { base: *base, index: *index },
            ExprKind::Select { .. } => {
                return Err(self
                    .error(span, "a selector cannot be assigned to")
                    .note("write `map[\"key\"] = value` to set a key of a map"));
            }
            ExprKind::Const(Data::Bool(_) | Data::Null | Data::Undefined) => {
                return Err(self.error(span, "a predeclared constant cannot be assigned to"));
            }
            _ => return Err(self.error(span, "only a name or an index expression can be assigned to")),
        };
        self.advance()?;
        let value = self.expr()?;
        Ok(StmtKind::Assign { target, op, value, doc })
    }

    fn if_statement(&mut self) -> Result<StmtKind, Error> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        self.advance()?;
        loop {
            let condition = self.expr()?;
            let (body, _) = self.block()?;
            branches.push((condition, body));
            // `else` may stand on the line after the brace; but `else:` belongs to a `case`
            if matches!(self.token.tok, Tok::Semicolon { written: false }) {
                let (first, second) = self.peek_two()?;
                let continues = matches!(second.tok, Tok::Op(Op::LBrace) | Tok::Keyword(Kw::If));
                if first.tok == Tok::Keyword(Kw::Else) && continues {
                    self.advance()?;
                }
            }
            if !self.is_kw(Kw::Else) {
                break;
            }
            self.advance()?;
            if self.take_kw(Kw::If)? {
                continue;
            }
            if !self.is_op(Op::LBrace) {
                return Err(self.unexpected("`if` or `{` after `else`"));
            }
            otherwise = Some(self.block()?.0);
            break;
        }
        Ok(StmtKind::If { branches, otherwise })
    }

    pub(super) fn loop_names(&mut self) -> Result<LoopNames, Error> {
        if !self.take_kw(Kw::As)? {
            return Err(self.unexpected("`as` and a name"));
        }
        let first = self.name("a name")?;
        let second = if self.take_op(Op::Comma)? { Some(self.name("a second name")?) } else { None };
        Ok(LoopNames { first, second })
    }

    fn for_statement(&mut self) -> Result<StmtKind, Error> {
        self.advance()?;
        let over = self.expr()?;
        let names = self.loop_names()?;
        let (body, _) = self.block()?;
        Ok(StmtKind::For { over, names, body })
    }

    fn case_statement(&mut self) -> Result<StmtKind, Error> {
        self.advance()?;
        // `case {` has no subject: a map cannot stand here without parentheses
        let subject = if self.is_op(Op::LBrace) { None } else { Some(self.expr()?) };
        self.expect_op(Op::LBrace, "`{`")?;
        let mut clauses = Vec::new();
        let mut otherwise = None;
        self.skip_semicolons()?;
        while !self.is_op(Op::RBrace) {
            let start = self.token.span;
            self.mark(Mark::Clause);
            let values = if self.take_kw(Kw::When)? {
                let mut values = vec![self.expr()?];
                while self.take_op(Op::Comma)? {
                    values.push(self.expr()?);
                }
                Some(values)
            } else if self.take_kw(Kw::Else)? {
                None
            } else {
                return Err(self.unexpected("`when`, `else` or `}`"));
            };
            self.mark(Mark::ClauseColon);
            self.expect_op(Op::Colon, "`:`")?;
            let ends = |tok: &Tok| {
                matches!(tok, Tok::Op(Op::RBrace) | Tok::Keyword(Kw::When) | Tok::Keyword(Kw::Else))
            };
            let body = self.nested(|parser| parser.statements(ends))?;
            match values {
                Some(values) => clauses.push((values, body)),
                None if otherwise.is_some() => {
                    return Err(self.error(start, "a `case` can have one `else`"));
                }
                None => otherwise = Some(body),
            }
        }
        self.expect_op(Op::RBrace, "`}`")?;
        Ok(StmtKind::Case { subject, clauses, otherwise })
    }

    /// Parameters and body of a function, after `func` and its name.
    pub(super) fn func_rest(&mut self) -> Result<Func, Error> {
        self.mark(Mark::Postfix);
        self.expect_op(Op::LParen, "`(`")?;
        let mut params: Vec<Name> = Vec::new();
        while !self.is_op(Op::RParen) {
            let name = self.name("the name of a parameter or `)`")?;
            // `_` is for what is not used, so it may be repeated
            if &*name.text != "_" && params.iter().any(|param| param.text == name.text) {
                return Err(self.error(name.span, format!("the parameter `{}` is named twice", name.text)));
            }
            params.push(name);
            if params.len() > MAX_PARAMS {
                return Err(self.error(self.last, format!("a function has at most {MAX_PARAMS} parameters")));
            }
            if !self.take_op(Op::Comma)? {
                break;
            }
        }
        self.expect_op(Op::RParen, "`,` or `)`")?;
        let (body, end) = self.block()?;
        Ok(Func { params, body, end })
    }

    // --- comments ---

    /// The comment lines that end on the line above a statement.
    fn doc_above(&self, start: Span) -> Option<String> {
        let mut line = self.source.position(start.start).line;
        let mut taken = Vec::new();
        for comment in self.comments.iter().rev().filter(|c| c.span.end <= start.start) {
            let last = self.source.position(comment.span.end.saturating_sub(1)).line;
            let first = self.source.position(comment.span.start);
            let before = &self.source.line(first.line)[..first.column - 1];
            if last + 1 != line || !before.trim().is_empty() {
                break;
            }
            taken.push(comment.span);
            line = first.line;
        }
        taken.reverse();
        comment_text(taken.into_iter().map(|span| self.text(span)))
    }

    /// The comment at the top of the file, when a blank line separates it from the code.
    fn description(&self, code: Span) -> Option<String> {
        let mut end = None;
        let mut taken = Vec::new();
        for comment in self.comments.iter().filter(|c| c.span.end <= code.start) {
            let first = self.source.position(comment.span.start).line;
            if end.is_some_and(|end| first > end + 1) {
                break;
            }
            end = Some(self.source.position(comment.span.end.saturating_sub(1)).line);
            taken.push(comment.span);
        }
        let code_line = self.source.position(code.start).line;
        let at_end = code.start as usize >= self.source.text().len();
        if !at_end && code_line <= end? + 1 {
            return None;
        }
        comment_text(taken.into_iter().map(|span| self.text(span)))
    }
}

/// The text of comments without their marks.
fn comment_text<'t>(comments: impl Iterator<Item = &'t str>) -> Option<String> {
    let mut lines = Vec::new();
    for comment in comments {
        if let Some(block) = comment.strip_prefix("/*") {
            let block = block.strip_suffix("*/").unwrap_or(block);
            lines.extend(block.lines().map(|line| line.trim().trim_start_matches('*').trim().to_owned()));
        } else {
            let line = comment.trim_start_matches('/').trim_start_matches('#');
            lines.push(line.trim().to_owned());
        }
    }
    let text = lines.join("\n").trim_matches('\n').trim_end().to_owned();
    (!text.is_empty()).then_some(text)
}
