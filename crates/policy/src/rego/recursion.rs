//! Functions that call themselves. OPA refuses them when it compiles; regorus recurses until the stack ends, and the
//! process with it. (Of rules that depend on themselves regorus makes an error when it comes to them.)

use std::collections::{BTreeMap, BTreeSet};

use regorus::unstable::{Expr, Literal, Module, Query, Ref, Rule, RuleHead, Span};

use super::source::RegoFile;
use crate::{Mistake, Place};

/// A call inside a function.
struct Call {
    to: String,
    file: String,
    place: Place,
}

/// Each function's calls of other functions, under its path.
type Calls = BTreeMap<String, Vec<Call>>;

/// A mistake for each circle of functions, at one of its calls.
pub(super) fn find(modules: &[Ref<Module>], files: &[RegoFile]) -> Vec<Mistake> {
    let mut calls = Calls::new();
    for module in modules {
        let package =
            path_of(&module.package.refr).map(|path| format!("data.{}", path.join("."))).unwrap_or_default();
        for rule in &module.policy {
            if let Rule::Spec { head: head @ RuleHead::Func { refr, .. }, bodies, .. } = rule.as_ref() {
                let Some(name) = path_of(refr) else { continue };
                let own = calls.entry(format!("{package}.{}", name.join("."))).or_default();
                let mut collect = |call: &Expr, span: &Span| {
                    let Some(path) = path_of(call) else { return };
                    let (file, place) =
                        (span.source.get_path().to_owned(), Place { line: span.line, column: span.col });
                    own.push(Call { to: absolute(&path, &package, module), file, place });
                };
                if let RuleHead::Func { assign: Some(assign), .. } = head {
                    expression(&assign.value, &mut collect);
                }
                for body in bodies {
                    body.assign.iter().for_each(|assign| expression(&assign.value, &mut collect));
                    query(&body.query, &mut collect);
                }
            }
        }
    }
    circles(&calls)
        .into_iter()
        .map(|(function, call)| {
            let message = match call.to == function {
                true => format!("the function {function} calls itself"),
                false => format!("the function {function} calls itself by way of {}", call.to),
            };
            match files.iter().find(|file| file.name == call.file) {
                Some(file) => Mistake::at(&call.file, &file.text, call.place, message),
                None => Mistake::of_file(&call.file, message),
            }
            .help("Rego has no recursion: use a comprehension, walk or graph.reachable")
        })
        .collect()
}

/// For each circle the first of its functions, and the call in it that leads around.
fn circles(calls: &Calls) -> Vec<(&str, &Call)> {
    let mut known = BTreeSet::new();
    let mut circles = Vec::new();
    for (function, own) in calls {
        let around = own
            .iter()
            .map(|call| (call, reachable(calls, &call.to)))
            .find(|(_, all)| all.contains(function.as_str()));
        if let Some((call, all)) = around {
            if !known.contains(function.as_str()) {
                circles.push((function.as_str(), call));
            }
            known.extend(all.into_iter().filter(|other| reachable(calls, other).contains(function.as_str())));
        }
    }
    circles
}

/// A function with all that it comes to call.
fn reachable<'a>(calls: &'a Calls, function: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![function];
    while let Some(function) = open.pop() {
        if found.insert(function) {
            open.extend(calls.get(function).into_iter().flatten().map(|call| call.to.as_str()));
        }
    }
    found
}

/// The full path of what a call names: by an import, in `data`, or in the package itself.
fn absolute(path: &[String], package: &str, module: &Module) -> String {
    let import = module.imports.iter().find_map(|import| {
        let target = path_of(&import.refr)?;
        let alias =
            import.r#as.as_ref().map(|span| span.text().to_owned()).or_else(|| target.last().cloned())?;
        (alias == path[0]).then_some(target)
    });
    match import {
        Some(target) => [&target, &path[1..]].concat().join("."),
        None if path[0] == "data" => path.join("."),
        None => format!("{package}.{}", path.join(".")),
    }
}

/// The words of a path such as `a.b["c"]`; none for anything else.
fn path_of(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Var { span, .. } => Some(vec![span.text().to_owned()]),
        Expr::RefDot { refr, field, .. } => {
            let mut path = path_of(refr)?;
            path.push(field.0.text().to_owned());
            Some(path)
        }
        Expr::RefBrack { refr, index, .. } => {
            let mut path = path_of(refr)?;
            let Expr::String { span, .. } = index.as_ref() else { return None };
            path.push(span.text().trim_matches('"').to_owned());
            Some(path)
        }
        _ => None,
    }
}

/// Tells `found` of every call in a query, with what is called and where.
fn query(query_: &Query, found: &mut dyn FnMut(&Expr, &Span)) {
    for statement in &query_.stmts {
        match &statement.literal {
            Literal::SomeVars { .. } => {}
            Literal::SomeIn { key, value, collection, .. } => {
                key.iter().chain([value, collection]).for_each(|e| expression(e, found));
            }
            Literal::Expr { expr, .. } | Literal::NotExpr { expr, .. } => expression(expr, found),
            Literal::Every { domain, query: inner, .. } => {
                expression(domain, found);
                query(inner, found);
            }
        }
        statement.with_mods.iter().for_each(|with| expression(&with.r#as, found));
    }
}

fn expression(expr: &Expr, found: &mut dyn FnMut(&Expr, &Span)) {
    match expr {
        Expr::String { .. }
        | Expr::RawString { .. }
        | Expr::Number { .. }
        | Expr::Bool { .. }
        | Expr::Null { .. }
        | Expr::Var { .. } => {}
        Expr::Array { items, .. } | Expr::Set { items, .. } => {
            items.iter().for_each(|e| expression(e, found))
        }
        Expr::Object { fields, .. } => {
            fields.iter().flat_map(|(_, key, value)| [key, value]).for_each(|e| expression(e, found));
        }
        Expr::ArrayCompr { term, query: inner, .. } | Expr::SetCompr { term, query: inner, .. } => {
            expression(term, found);
            query(inner, found);
        }
        Expr::ObjectCompr { key, value, query: inner, .. } => {
            [key, value].into_iter().for_each(|e| expression(e, found));
            query(inner, found);
        }
        Expr::Call { span, fcn, params, .. } => {
            found(fcn, span);
            params.iter().for_each(|e| expression(e, found));
        }
        Expr::UnaryExpr { expr, .. } => expression(expr, found),
        Expr::RefDot { refr, .. } => expression(refr, found),
        Expr::RefBrack { refr, index, .. } => [refr, index].into_iter().for_each(|e| expression(e, found)),
        Expr::BinExpr { lhs, rhs, .. }
        | Expr::BoolExpr { lhs, rhs, .. }
        | Expr::ArithExpr { lhs, rhs, .. }
        | Expr::AssignExpr { lhs, rhs, .. } => [lhs, rhs].into_iter().for_each(|e| expression(e, found)),
        Expr::Membership { key, value, collection, .. } => {
            key.iter().chain([value, collection]).for_each(|e| expression(e, found));
        }
    }
}
