//! Lowers the syntax tree, with the semantic checks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::ir::{self, Expr, Func, ImportDecl, Kind, Link, Otherwise, ParamDecl, Rule, Unit, Var};
use super::names::{Scope, slots};
use crate::builtins::Builtin;
use crate::error::{Error, ErrorKind};
use crate::source::{Source, Span};
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind, LoopNames, Name, Stmt, StmtKind, Target};
use crate::syntax::letters::is_name;

/// The names of constants.
pub(crate) const PREDECLARED: [&str; 4] = ["true", "false", "null", "undefined"];

/// Slots are 16 bits wide; a file that needs more names is refused.
const MAX_NAMES: usize = u16::MAX as usize;

/// Imports of one file.
const MAX_DECLARED: usize = 1000;

pub(super) fn lower(source: Source, file: ast::File) -> Result<Unit, Error> {
    let mut lowering = Lowering {
        source: &source,
        imports: Vec::new(),
        import_names: HashMap::new(),
        scopes: vec![Scope::default()],
    };
    lowering.imports(file.imports)?;
    let params = lowering.params(file.params)?;
    lowering.scopes[0].collect(&file.body);
    lowering.check_size(Span::default())?;
    let body = lowering.statements(file.body)?;
    let imports = lowering.imports;
    let scope = lowering.scopes.remove(0);
    Ok(Unit {
        imports,
        params,
        body,
        frame: scope.size,
        names: scope.into_names(),
        description: file.description,
        source,
    })
}

struct Lowering<'s> {
    source: &'s Source,
    imports: Vec<ImportDecl>,
    import_names: HashMap<Arc<str>, u16>,
    scopes: Vec<Scope>,
}

impl Lowering<'_> {
    fn error(&self, span: Span, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Semantic, message).at(self.source, span)
    }

    fn check_size(&self, span: Span) -> Result<(), Error> {
        match self.scopes.last() {
            Some(scope) if scope.size > MAX_NAMES => {
                Err(self.error(span, format!("more than {MAX_NAMES} names in one scope")))
            }
            _ => Ok(()),
        }
    }

    fn imports(&mut self, imports: Vec<ast::Import>) -> Result<(), Error> {
        let mut whole = HashSet::new();
        for import in imports {
            let name: Arc<str> = match (import.alias, import.members.last()) {
                (Some(alias), _) => alias.text,
                (None, Some(member)) => member.text.clone(),
                (None, None) => Arc::from(import.path.as_str()),
            };
            if is_reserved(&name) {
                return Err(self.error(
                    import.span,
                    format!("`{name}` is reserved: the import needs another name, `as NAME`"),
                ));
            }
            if !is_name(&name) {
                return Err(self
                    .error(import.span, format!("the import `{}` needs a name: `as NAME`", import.path))
                    .note("a path that is not an identifier cannot be the name of an import"));
            }
            if let Some(other) = self.import(&name).map(|at| &self.imports[at as usize]) {
                // the same line twice changes nothing, and published policies have it
                if other.path == import.path && import.members.is_empty() && other.members.is_empty() {
                    continue;
                }
                return Err(self.error(
                    import.span,
                    format!("`{name}` is the name of the import `{}` already", other.path),
                ));
            }
            // of its members each is a value of its own
            if import.members.is_empty() && !whole.insert(import.path.clone()) {
                return Err(self.error(import.span, format!("`{}` is imported twice", import.path)));
            }
            if self.imports.len() >= MAX_DECLARED {
                return Err(self.error(import.span, format!("more than {MAX_DECLARED} imports")));
            }
            self.import_names.insert(name.clone(), self.imports.len() as u16);
            self.imports.push(ImportDecl {
                path: import.path,
                members: import.members.into_iter().map(|member| member.text).collect(),
                name,
                span: import.span,
            });
        }
        Ok(())
    }

    fn import(&self, name: &str) -> Option<u16> {
        self.import_names.get(name).copied()
    }

    fn params(&mut self, params: Vec<ast::Param>) -> Result<Vec<ParamDecl>, Error> {
        let mut declared = Vec::new();
        for param in params {
            let Name { text, span } = param.name;
            if self.import(&text).is_some() {
                return Err(self.error(span, format!("the parameter `{text}` has the name of an import")));
            }
            if PREDECLARED.contains(&&*text) || Builtin::lookup(&text).is_some() {
                return Err(self.error(span, format!("the parameter `{text}` has a predeclared name")));
            }
            if self.scopes[0].slot(&text).is_some() {
                return Err(self.error(span, format!("the parameter `{text}` is declared twice")));
            }
            let slot = self.scopes[0].size as u16;
            self.scopes[0].declare(&text);
            declared.push(ParamDecl { name: text, slot, default: param.default, span });
        }
        Ok(declared)
    }

    /// Runs `lower` in a new scope and returns what it made and the size of the scope's frame.
    fn scoped<T>(
        &mut self,
        span: Span,
        scope: Scope,
        lower: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<(T, usize), Error> {
        if self.scopes.len() >= MAX_NAMES {
            return Err(self.error(span, "scopes are nested too deep"));
        }
        self.scopes.push(scope);
        let result = self.check_size(span).and_then(|()| lower(self));
        let size = self.scopes.pop().map_or(0, |scope| scope.size);
        Ok((result?, size))
    }

    // --- statements ---

    fn statements(&mut self, statements: Vec<Stmt>) -> Result<Vec<ir::Stmt>, Error> {
        statements.into_iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: Stmt) -> Result<ir::Stmt, Error> {
        let span = statement.span;
        let kind = crate::stack::deeper(|| self.statement_kind(statement))?;
        Ok(ir::Stmt { kind, span })
    }

    fn statement_kind(&mut self, statement: Stmt) -> Result<ir::StmtKind, Error> {
        let span = statement.span;
        let scope = &self.scopes[self.scopes.len() - 1];
        Ok(match statement.kind {
            StmtKind::Expr(expr) => ir::StmtKind::Expr(self.expr_in(expr, true)?),
            StmtKind::Assign { target: Target::Name(name), op, value, doc } => {
                self.assignable(&name)?;
                let value = match value.kind {
                    ExprKind::Rule { when, body } => {
                        let rule = self.rule(when, *body, Some(name.text.clone()), doc, span)?;
                        Expr { kind: Kind::Rule(Arc::new(rule)), span: value.span }
                    }
                    _ => self.expr(value)?,
                };
                let slots = slots(&self.scopes, &name.text);
                ir::StmtKind::Assign { name: name.text, slots, op, value }
            }
            StmtKind::Assign { target: Target::Index { base, index }, op, value, .. } => {
                let root = self.not_through_import(&base)?;
                let value = self.expr(value)?;
                ir::StmtKind::AssignIndex {
                    root,
                    base: self.expr(base)?,
                    index: self.expr(index)?,
                    op,
                    value,
                }
            }
            StmtKind::Func { name, func } => {
                self.assignable(&name)?;
                let Some(slot) = scope.slot(&name.text) else {
                    return Err(self.error(name.span, "the name of the function has no place"));
                };
                ir::StmtKind::Define { slot, func: Arc::new(self.func(*func, span)?) }
            }
            StmtKind::If { branches, otherwise } => ir::StmtKind::If {
                branches: branches
                    .into_iter()
                    .map(|(condition, body)| Ok((self.expr(condition)?, self.statements(body)?)))
                    .collect::<Result<_, Error>>()?,
                otherwise: self.statements(otherwise.unwrap_or_default())?,
            },
            StmtKind::Case { subject, clauses, otherwise } => ir::StmtKind::Case {
                subject: subject.map(|subject| self.expr(subject)).transpose()?,
                clauses: clauses
                    .into_iter()
                    .map(|(values, body)| {
                        let values = values.into_iter().map(|value| self.expr(value));
                        Ok((values.collect::<Result<_, Error>>()?, self.statements(body)?))
                    })
                    .collect::<Result<_, Error>>()?,
                otherwise: self.statements(otherwise.unwrap_or_default())?,
            },
            StmtKind::For { over, names, body } => {
                let over = self.expr(over)?;
                let mut inner = Scope::of_loop(self.in_func());
                let two = declare(&mut inner, &names);
                inner.collect(&body);
                let (body, frame) = self.scoped(span, inner, |lowering| lowering.statements(body))?;
                ir::StmtKind::For { over, two, frame, body }
            }
            StmtKind::Break | StmtKind::Continue if !scope.in_loop => {
                let word = if matches!(statement.kind, StmtKind::Break) { "break" } else { "continue" };
                return Err(self.error(span, format!("`{word}` is outside of a loop")));
            }
            StmtKind::Break => ir::StmtKind::Break,
            StmtKind::Continue => ir::StmtKind::Continue,
            StmtKind::Return(_) if !scope.in_func => {
                return Err(self.error(span, "`return` is outside of a function"));
            }
            StmtKind::Return(value) => ir::StmtKind::Return(value.map(|value| self.expr(value)).transpose()?),
        })
    }

    fn in_func(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.in_func)
    }

    /// Refuses an assignment to the name of an import in the file's own scope. In a function and in a loop the
    /// assignment makes a variable that hides the import.
    fn assignable(&self, name: &Name) -> Result<(), Error> {
        if self.scopes.len() == 1 && self.import(&name.text).is_some() {
            return Err(
                self.error(name.span, format!("`{}` is an import and cannot be assigned to", name.text))
            );
        }
        Ok(())
    }

    /// Whether a name is hidden from the start of a scope on, by a parameter or a variable of a loop.
    fn is_declared(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.declares(name))
    }

    /// Refuses an assignment to something inside of an import. Where an assignment may have hidden the import, the
    /// variable that does so is returned: whether it has a value is known only when the policy runs.
    fn not_through_import(&self, target: &ast::Expr) -> Result<Option<Var>, Error> {
        let mut root = target;
        while let ExprKind::Select { base, .. } | ExprKind::Index { base, .. } = &root.kind {
            root = base;
        }
        let ExprKind::Name(name) = &root.kind else { return Ok(None) };
        if self.import(name).is_none() || self.is_declared(name) {
            return Ok(None);
        }
        let var = self.var(name.clone());
        if var.slots.is_empty() {
            return Err(super::through_import(ErrorKind::Semantic, name).at(self.source, target.span));
        }
        Ok(Some(var))
    }

    // --- functions and rules ---

    fn func(&mut self, func: ast::Func, span: Span) -> Result<Func, Error> {
        let mut scope = Scope::of_func();
        let params = func.params.len();
        for param in &func.params {
            scope.declare(&param.text);
        }
        scope.collect(&func.body);
        let (body, frame) = self.scoped(span, scope, |lowering| lowering.statements(func.body))?;
        Ok(Func { params, frame, body, end: func.end })
    }

    fn rule(
        &mut self,
        when: Option<Box<ast::Expr>>,
        body: ast::Expr,
        name: Option<Arc<str>>,
        doc: Option<String>,
        span: Span,
    ) -> Result<Rule, Error> {
        let when = when.map(|when| self.expr(*when)).transpose()?;
        Ok(Rule { when, body: self.expr(body)?, name, doc, span })
    }

    // --- expressions ---

    fn expr(&mut self, expr: ast::Expr) -> Result<Expr, Error> {
        self.expr_in(expr, false)
    }

    fn boxed(&mut self, expr: ast::Expr) -> Result<Box<Expr>, Error> {
        self.expr(expr).map(Box::new)
    }

    fn exprs(&mut self, exprs: Vec<ast::Expr>) -> Result<Vec<Expr>, Error> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    /// `discarded` is true for an expression that is a statement.
    fn expr_in(&mut self, expr: ast::Expr, discarded: bool) -> Result<Expr, Error> {
        let span = expr.span;
        if let ExprKind::Const(data) = expr.kind {
            return Ok(Expr { kind: Kind::Const(data), span });
        }
        let kind = crate::stack::deeper(|| self.kind(expr, discarded))?;
        Ok(Expr { kind, span })
    }

    fn kind(&mut self, expr: ast::Expr, discarded: bool) -> Result<Kind, Error> {
        let span = expr.span;
        Ok(match expr.kind {
            ExprKind::Const(data) => Kind::Const(data),
            ExprKind::Name(name) => Kind::Var(self.var(name)),
            ExprKind::List(items) => Kind::List(self.exprs(items)?),
            ExprKind::Map(entries) => Kind::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| Ok((self.expr(key)?, self.expr(value)?)))
                    .collect::<Result<_, Error>>()?,
            ),
            ExprKind::Func(func) => Kind::Func(Arc::new(self.func(*func, span)?)),
            ExprKind::Rule { when, body } => Kind::Rule(Arc::new(self.rule(when, *body, None, None, span)?)),
            ExprKind::Unary(op, operand) => Kind::Unary(op, self.boxed(*operand)?),
            ExprKind::Chain { first, links } => {
                let first = self.boxed(*first)?;
                let links = links.into_iter().map(|link| match link {
                    ast::Link::Binary { op, right } => Ok(Link::Binary { op, right: self.expr(right)? }),
                    ast::Link::Test { test, span } => Ok(Link::Test { test, span }),
                });
                Kind::Chain { first, links: links.collect::<Result<_, Error>>()? }
            }
            ExprKind::Select { base, name } => {
                if let ExprKind::Name(import) = &base.kind
                    && let (Some(at), false) = (self.import(import), self.is_declared(import))
                {
                    let slots = slots(&self.scopes, import);
                    return Ok(Kind::ImportMember { import: at, slots, name });
                }
                Kind::Select { base: self.boxed(*base)?, name }
            }
            ExprKind::Index { base, index } => {
                Kind::Index { base: self.boxed(*base)?, index: self.boxed(*index)? }
            }
            ExprKind::Slice { base, low, high } => Kind::Slice {
                base: self.boxed(*base)?,
                low: low.map(|low| self.boxed(*low)).transpose()?,
                high: high.map(|high| self.boxed(*high)).transpose()?,
            },
            ExprKind::Call { callee, args } => {
                let callee = self.boxed(*callee)?;
                if let Kind::Var(Var { otherwise: Otherwise::Builtin(Builtin::Append), slots, .. }) =
                    &callee.kind
                    && slots.is_empty()
                    && !discarded
                {
                    return Err(self
                        .error(span, "`append` returns nothing that could be used")
                        .note("it appends to the list in place; write it as a statement of its own"));
                }
                Kind::Call { callee, args: self.exprs(args)? }
            }
            ExprKind::Quantifier { kind, over, names, body } => {
                let over = self.boxed(*over)?;
                let mut scope = Scope::default();
                let two = declare(&mut scope, &names);
                let (body, _) = self.scoped(span, scope, |lowering| lowering.boxed(*body))?;
                Kind::Quantifier { kind, over, two, body }
            }
        })
    }

    fn var(&self, name: Arc<str>) -> Var {
        let otherwise = match (self.import(&name), Builtin::lookup(&name)) {
            (Some(import), _) => Otherwise::Import(import),
            (None, Some(builtin)) => Otherwise::Builtin(builtin),
            (None, None) => Otherwise::Global,
        };
        Var { slots: slots(&self.scopes, &name), name, otherwise }
    }
}

/// Declares the names of a loop; whether there are two. The frame's first slots are theirs.
fn declare(scope: &mut Scope, names: &LoopNames) -> bool {
    scope.declare(&names.first.text);
    if let Some(second) = &names.second {
        scope.declare(&second.text);
    }
    names.second.is_some()
}

fn is_reserved(text: &str) -> bool {
    crate::syntax::token::Kw::lookup(text.as_bytes()).is_some()
}
