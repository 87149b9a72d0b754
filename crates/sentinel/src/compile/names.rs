//! Scopes while compiling.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::ir::Slot;
use crate::syntax::ast::{Stmt, StmtKind, Target};

/// One scope: its names and their slots.
#[derive(Default)]
pub(super) struct Scope {
    names: HashMap<Arc<str>, u16>,
    /// Names that exist from the start of the scope: parameters and loop variables.
    declared: HashSet<Arc<str>>,
    pub(super) size: usize,
    /// Whether `break` and `continue` mean a loop here.
    pub(super) in_loop: bool,
    /// Whether `return` may stand here.
    pub(super) in_func: bool,
}

impl Scope {
    pub(super) fn of_loop(in_func: bool) -> Scope {
        Scope { in_loop: true, in_func, ..Scope::default() }
    }

    pub(super) fn of_func() -> Scope {
        Scope { in_func: true, ..Scope::default() }
    }

    /// A name that exists from the start, in the next slot.
    pub(super) fn declare(&mut self, name: &Arc<str>) {
        let slot = self.size as u16;
        self.size += 1;
        self.names.insert(name.clone(), slot);
        self.declared.insert(name.clone());
    }

    /// Names that statements of this scope assign to. `if` and `case` make no scope; loops and
    /// functions do.
    pub(super) fn collect(&mut self, statements: &[Stmt]) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Assign { target: Target::Name(name), .. } | StmtKind::Func { name, .. }
                    if !self.names.contains_key(&name.text) =>
                {
                    self.names.insert(name.text.clone(), self.size as u16);
                    self.size += 1;
                }
                StmtKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.collect(body));
                    otherwise.iter().for_each(|body| self.collect(body));
                }
                StmtKind::Case { clauses, otherwise, .. } => {
                    clauses.iter().for_each(|(_, body)| self.collect(body));
                    otherwise.iter().for_each(|body| self.collect(body));
                }
                _ => {}
            }
        }
    }

    pub(super) fn slot(&self, name: &str) -> Option<u16> {
        self.names.get(name).copied()
    }

    pub(super) fn declares(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    pub(super) fn into_names(self) -> HashMap<Arc<str>, u16> {
        self.names
    }
}

/// The slots a name may be in, innermost first.
pub(super) fn slots(scopes: &[Scope], name: &str) -> Box<[Slot]> {
    scopes
        .iter()
        .rev()
        .enumerate()
        .filter_map(|(out, scope)| scope.slot(name).map(|at| Slot { out: out as u16, at }))
        .collect()
}
