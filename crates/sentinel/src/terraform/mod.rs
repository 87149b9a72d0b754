//! The Terraform imports, derived from the document that `terraform show -json` prints of a plan.
//!
//! What each is made of is measured against mocks that HashiCorp's own service wrote. An import is
//! derived when the first policy asks for it, once for all policies and threads of a run.

mod build;
mod config;
mod config_v1;
mod document;
mod mask;
mod mocks;
mod plan;
mod plan_v1;
mod run;
mod secrets;
mod state;
mod state_v1;

use std::sync::{Arc, OnceLock};

pub(crate) use build::{MODULES, address_of};
pub use document::{DocumentError, read_document};
pub use mocks::{Mocks, mocks};
pub use secrets::secrets;

use crate::host::Import;
use crate::value::Data;

/// The documents that the imports are derived from.
#[derive(Clone)]
pub struct Documents {
    /// What `terraform show -json` prints of the plan.
    pub plan: Data,
    /// What `terraform providers schema -json` prints. Only the old `tfplan` looks at it, to tell
    /// lists and maps from other attributes where their values are not known.
    pub schemas: Option<Data>,
    /// The run, with the members that `tfrun` has; see [`tfrun`].
    pub run: Option<Data>,
}

/// The names of the Terraform imports that a run can give, `tfrun` included.
pub const TERRAFORM_IMPORTS: [&str; 10] = [
    "tfplan/v2",
    "tfconfig/v2",
    "tfstate/v2",
    "tfplan",
    "tfplan/v1",
    "tfconfig",
    "tfconfig/v1",
    "tfstate",
    "tfstate/v1",
    "tfrun",
];

/// All Terraform imports of a run, by name: `tfplan/v2`, `tfconfig/v2`, `tfstate/v2`, the old
/// `tfplan`, `tfconfig` and `tfstate` (also as `…/v1`), and `tfrun` when there is a run.
///
/// ```
/// use sentinel::{Data, Documents, imports};
/// let plan: Data = serde_json::from_str(r#"{"terraform_version": "1.11.4"}"#).unwrap();
/// let imports = imports(&Documents { plan, schemas: None, run: None });
/// let (name, tfplan) = &imports[0];
/// assert_eq!(name, "tfplan/v2");
/// assert_eq!(tfplan.data().get("terraform_version").unwrap().as_str(), Some("1.11.4"));
/// ```
pub fn imports(documents: &Documents) -> Vec<(String, Arc<dyn Import>)> {
    let mut imports: Vec<(String, Arc<dyn Import>)> = Vec::new();
    let derived: [(&[&str], Derive, Functions); 6] = [
        (&["tfplan/v2"], |d| plan::derive(&d.plan), Functions::None),
        (&["tfconfig/v2"], |d| config::derive(&d.plan), Functions::StripIndex),
        (&["tfstate/v2"], |d| state::derive(&d.plan), Functions::None),
        (&["tfplan", "tfplan/v1"], |d| plan_v1::derive(&d.plan, d.schemas.as_ref()), Functions::Module),
        (&["tfconfig", "tfconfig/v1"], |d| config_v1::derive(&d.plan), Functions::Module),
        (&["tfstate", "tfstate/v1"], |d| state_v1::derive(&d.plan), Functions::Module),
    ];
    let documents_shared = Arc::new(documents.clone());
    for (names, derive, functions) in derived {
        let import = Arc::new(Derived {
            documents: documents_shared.clone(),
            derive,
            data: OnceLock::new(),
            functions,
        });
        imports.extend(names.iter().map(|name| ((*name).to_owned(), import.clone() as Arc<dyn Import>)));
    }
    if let Some(run) = &documents.run {
        imports.push(("tfrun".to_owned(), Arc::new(tfrun(run))));
    }
    imports
}

/// What a plan alone tells of its run, for [`Documents::run`] where the run itself is not known.
pub fn run_of_plan(plan: &Data) -> Data {
    run::of_plan(plan)
}

/// The `tfrun` import: the members it has, of a document that may have more.
pub fn tfrun(run: &Data) -> Data {
    run::derive(run)
}

type Derive = fn(&Documents) -> Data;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Functions {
    None,
    /// `strip_index(address)` of `tfconfig/v2`.
    StripIndex,
    /// `module(path)` of the old imports.
    Module,
}

struct Derived {
    documents: Arc<Documents>,
    derive: Derive,
    data: OnceLock<Data>,
    functions: Functions,
}

impl Import for Derived {
    fn data(&self) -> &Data {
        self.data.get_or_init(|| (self.derive)(&self.documents))
    }

    fn functions(&self) -> &'static [&'static str] {
        match self.functions {
            Functions::None => &[],
            Functions::StripIndex => &["strip_index"],
            Functions::Module => &["module"],
        }
    }

    fn call(&self, function: &str, args: &[Data]) -> Result<Data, String> {
        match (function, args) {
            (_, [Data::Undefined]) => Ok(Data::Undefined),
            ("strip_index", [Data::Str(address)]) => Ok(strip_index(&address.to_text()).into()),
            ("strip_index", _) => Err("`strip_index` needs an address, a string".into()),
            ("module", [Data::List(path)]) => Ok(build::module_of(self.data(), path)),
            ("module", _) => Err("`module` needs the path of a module, a list of strings".into()),
            _ => Err(format!("there is no function `{function}`")),
        }
    }
}

/// An address without the indexes of its modules and of its resource.
fn strip_index(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    let mut chars = address.chars();
    while let Some(c) = chars.next() {
        if c != '[' {
            out.push(c);
            continue;
        }
        // a key in quotes may hold brackets of its own
        let mut quoted = false;
        while let Some(c) = chars.next() {
            match c {
                '\\' if quoted => drop(chars.next()),
                '"' => quoted = !quoted,
                ']' if !quoted => break,
                _ => {}
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Documents, TERRAFORM_IMPORTS, imports, strip_index};
    use crate::value::Data;

    #[test]
    fn a_run_gives_the_imports_that_are_named() {
        let empty = Data::map::<&str>([]);
        let documents = Documents { plan: empty.clone(), schemas: None, run: Some(empty) };
        let names: Vec<String> = imports(&documents).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, TERRAFORM_IMPORTS);
    }

    #[test]
    fn indexes_are_stripped_from_every_part_of_an_address() {
        assert_eq!(strip_index("module.a[0].null_resource.b[\"k\"]"), "module.a.null_resource.b");
        assert_eq!(strip_index("null_resource.b[\"x].y[\"]"), "null_resource.b");
        assert_eq!(strip_index("null_resource.b[\"a\\\"]\"]"), "null_resource.b");
        assert_eq!(strip_index("null_resource.b"), "null_resource.b");
    }
}
