//! Names and calls within an expression: everything that hcl-rs could only complain about without a place.

use ::text::nearest;
use hcl::eval::{Context as Scope, Evaluate};
use hcl_edit::expr::{
    BinaryOp, BinaryOperator, Expression, ForExpr, FuncCall, Object, ObjectKey, UnaryOp, UnaryOperator,
};
use hcl_edit::template::ForDirective;
use hcl_edit::visit_mut::{self, VisitMut};
use hcl_edit::{Decorate, Decorated, Formatted, Ident, Number};

use crate::context::{Context, Issue, Span};
use crate::diagnostic::Code;
use crate::expression::{report_line_break, report_rounding};
use crate::suggest::{listed, quoted};

const FUNCTIONS: [&str; 2] = ["env", "file"];

/// Checks an expression and replaces each call by a variable that holds the call's value.
///
/// Variables rather than literals: hcl-rs keeps templates as text and parses them when it evaluates them, and a value
/// from the environment must never be parsed as a template.
pub(crate) struct Resolver<'a, 'b> {
    context: &'a mut Context<'b>,
    outer: Span,
    prefix: String,
    values: Vec<(hcl::Identifier, String)>,
    /// Names that a `for` around the place binds.
    bound: Vec<String>,
    failed: bool,
}

impl<'a, 'b> Resolver<'a, 'b> {
    pub(crate) fn new(outer: &Span, context: &'a mut Context<'b>) -> Self {
        let prefix = context.unused_prefix().to_owned();
        Self { context, outer: outer.clone(), prefix, values: Vec::new(), bound: Vec::new(), failed: false }
    }

    /// The variables that the expression now needs, unless something was reported.
    pub(crate) fn finish(self) -> Result<Vec<(hcl::Identifier, String)>, ()> {
        if self.failed { Err(()) } else { Ok(self.values) }
    }

    fn report(&mut self, issue: Issue) {
        self.failed = true;
        self.context.report(issue);
    }

    fn span_of(&self, node: &impl hcl_edit::Span) -> Span {
        node.span().unwrap_or_else(|| self.outer.clone())
    }

    fn within<'n>(
        &mut self,
        names: impl Iterator<Item = &'n Decorated<Ident>>,
        visit: impl FnOnce(&mut Self),
    ) {
        let before = self.bound.len();
        self.bound.extend(names.map(|name| name.as_str().to_owned()));
        visit(self);
        self.bound.truncate(before);
    }

    fn variable(&mut self, name: &Decorated<Ident>) {
        if self.bound.iter().any(|bound| bound == name.as_str()) || name.as_str().starts_with(&self.prefix) {
            return;
        }
        let span = self.span_of(name);
        let (message, help) = match self.context.is_hidden(&span) {
            // a secret without its quotes
            true => ("this name is not defined".into(), "for a string, put it in quotes".into()),
            false => (
                format!("nothing is called {}", quoted(name.as_str())),
                format!("for a string, put it in quotes: \"{}\"", name.as_str()),
            ),
        };
        self.report(Issue::error(Code::UndefinedVariable, &span, message).label("not defined").help(help));
    }

    /// The call's value; reports why it has none.
    fn call(&mut self, call: &FuncCall) -> Option<String> {
        let span = self.span_of(call);
        let name = call.name.name.as_str();
        if call.name.is_namespaced() || !FUNCTIONS.contains(&name) {
            self.unknown_function(call);
            return None;
        }
        let argument = self.argument(call, &span)?;
        if name == "env" { self.env(&argument, &span) } else { self.file(&argument, &span) }
    }

    fn unknown_function(&mut self, call: &FuncCall) {
        let span = self.span_of(&call.name.name);
        let name = call.name.name.as_str();
        let functions = format!("the functions are {}", listed(FUNCTIONS, "and"));
        let help = match name {
            "try" | "can" => {
                format!(
                    "a config file has to say what it means: use {name} in terraform's own files; {functions}"
                )
            }
            _ => match nearest(name, FUNCTIONS) {
                Some(near) if !call.name.is_namespaced() => format!("did you mean `{near}`? {functions}"),
                _ => functions,
            },
        };
        let message = format!("there is no function {}", quoted(name));
        self.report(Issue::error(Code::UnknownFunction, &span, message).help(help));
    }

    /// The one argument, a string that is known here.
    fn argument(&mut self, call: &FuncCall, span: &Span) -> Option<Argument> {
        let name = call.name.name.as_str();
        let example = if name == "env" { "env(\"NAME\")" } else { "file(\"path\")" };
        let fault = |message: String| {
            Issue::error(Code::InvalidCall, span, message).help(format!("write it as `{example}`"))
        };
        let mut arguments = call.args.iter();
        let (Some(argument), None) = (arguments.next(), arguments.next()) else {
            let count = call.args.len();
            self.report(fault(format!("`{name}` takes one argument, not {count}")));
            return None;
        };
        if self.failed {
            // the argument itself may be what failed, and need not be reported again
            return None;
        }
        let mut scope = Scope::new();
        for (name, value) in &self.values {
            scope.declare_var(name.clone(), value.clone());
        }
        match hcl::Expression::from(argument.clone()).evaluate(&scope) {
            Ok(hcl::Value::String(text)) => Some(Argument { text, quotable: argument.is_str() }),
            Ok(_) => {
                self.report(fault(format!("`{name}` takes a string")));
                None
            }
            Err(_) if !self.bound.is_empty() => {
                self.report(fault(format!("the argument of `{name}` can't depend on what `for` binds")));
                None
            }
            Err(_) => {
                self.report(fault(format!("the argument of `{name}` has no value")));
                None
            }
        }
    }

    fn env(&mut self, Argument { text, quotable }: &Argument, span: &Span) -> Option<String> {
        let legal = !text.is_empty() && !text.contains(['=', '\0']);
        let value = legal.then(|| self.context.host.env(text)).flatten();
        let name = if *quotable { quoted(text) } else { "of this name".into() };
        let issue = |what| {
            Issue::error(Code::MissingEnvironment, span, format!("the environment variable {name} is {what}"))
        };
        match value.map(std::ffi::OsString::into_string) {
            Some(Ok(value)) => return Some(value),
            Some(Err(_)) => self.report(issue("not UTF-8").help("encode its value, in base64 for instance")),
            None => {
                self.report(issue("not set").label("not set").help("set it in the environment of the daemon"))
            }
        }
        None
    }

    fn file(&mut self, Argument { text, quotable }: &Argument, span: &Span) -> Option<String> {
        let issue = |message| Issue::error(Code::UnreadableFile, span, message);
        let path = match crate::text::resolve(text, self.context.base) {
            Ok(path) => path,
            Err(fault) => {
                self.report(issue(format!("invalid path: {}", fault.what)).help(fault.help));
                return None;
            }
        };
        let shown = if *quotable { quoted(&path.to_string_lossy()) } else { "the file".into() };
        let content = match self.context.host.read_file(&path) {
            Ok(content) => content,
            Err(error) => {
                let help = "the path is relative to the config file's directory, and the daemon must be able to read it";
                self.report(issue(format!("can't read {shown}: {error}")).help(help));
                return None;
            }
        };
        let text = String::from_utf8(content).map(without_last_line_break);
        text.map_err(|_| {
            self.report(issue(format!("{shown} is not UTF-8 text")).help("encode it, in base64 for instance"))
        })
        .ok()
    }
}

/// What a function is called with.
struct Argument {
    text: String,
    /// Whether it stands in the file, and does not come from another call.
    quotable: bool,
}

/// A secret in a file nearly always ends in a line break that is no part of it.
fn without_last_line_break(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

impl VisitMut for Resolver<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expression) {
        match expr {
            Expression::Variable(name) => self.variable(name),
            Expression::FuncCall(call) => {
                let failed_before = std::mem::take(&mut self.failed);
                self.visit_func_args_mut(&mut call.args);
                let value = self.call(call);
                self.failed |= failed_before;
                let Some(value) = value else { return };
                let name = format!("{}{}", self.prefix, self.values.len());
                let decor = std::mem::take(call.decor_mut());
                self.values.push((hcl::Identifier::sanitized(&name), value));
                *expr = Expression::Variable(Decorated::new(Ident::new_sanitized(name))).decorated(decor);
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_number_mut(&mut self, number: &mut Formatted<Number>) {
        let span = self.span_of(number);
        self.failed |= report_rounding(*number.value(), &span, self.context);
    }

    fn visit_string_mut(&mut self, string: &mut Decorated<String>) {
        let span = self.span_of(string);
        self.failed |= report_line_break(&span, self.context);
    }

    fn visit_unary_op_mut(&mut self, op: &mut UnaryOp) {
        // the minus of a number is part of it
        if *op.operator.value() == UnaryOperator::Neg {
            let span = self.span_of(op);
            self.report(arithmetic("-", &span));
        }
        visit_mut::visit_unary_op_mut(self, op);
    }

    fn visit_binary_op_mut(&mut self, op: &mut BinaryOp) {
        use BinaryOperator::{Div, Minus, Mod, Mul, Plus};
        let operator = *op.operator.value();
        if matches!(operator, Plus | Minus | Mul | Div | Mod) {
            let span = self.span_of(op);
            self.report(arithmetic(operator.as_str(), &span));
        }
        visit_mut::visit_binary_op_mut(self, op);
    }

    fn visit_object_mut(&mut self, object: &mut Object) {
        // keys can't be visited in place
        let mut resolved = Object::with_capacity(object.len());
        *resolved.decor_mut() = std::mem::take(object.decor_mut());
        for (mut key, mut value) in std::mem::take(object) {
            if let ObjectKey::Expression(expr) = &mut key {
                self.visit_expr_mut(expr);
            }
            self.visit_object_value_mut(&mut value);
            resolved.insert(key, value);
        }
        *object = resolved;
    }

    fn visit_for_expr_mut(&mut self, expr: &mut ForExpr) {
        self.visit_expr_mut(&mut expr.intro.collection_expr);
        let names = [expr.intro.key_var.clone(), Some(expr.intro.value_var.clone())];
        self.within(names.iter().flatten(), |this| {
            if let Some(key) = &mut expr.key_expr {
                this.visit_expr_mut(key);
            }
            this.visit_expr_mut(&mut expr.value_expr);
            if let Some(cond) = &mut expr.cond {
                this.visit_expr_mut(&mut cond.expr);
            }
        });
    }

    fn visit_for_directive_mut(&mut self, directive: &mut ForDirective) {
        let intro = &mut directive.for_expr;
        self.visit_expr_mut(&mut intro.collection_expr);
        let names = [intro.key_var.clone(), Some(intro.value_var.clone())];
        self.within(names.iter().flatten(), |this| this.visit_template_mut(&mut intro.template));
    }
}

/// hcl-rs panics where a result leaves 64 bits or a divisor is zero; a config file can do without sums.
fn arithmetic(operator: &str, span: &Span) -> Issue {
    Issue::error(Code::InvalidExpression, span, format!("`{operator}` is not part of this language"))
        .label("arithmetic")
        .help("write the result")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_break_at_the_end_is_dropped() {
        let dropped = |text: &str| without_last_line_break(text.into());
        assert_eq!(dropped("secret"), "secret");
        assert_eq!(dropped("secret\n"), "secret");
        assert_eq!(dropped("secret\r\n"), "secret");
        assert_eq!(dropped("secret\n\n"), "secret\n");
        assert_eq!(dropped(" secret\r"), " secret\r");
    }
}
