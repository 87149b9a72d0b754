//! Mocks that carry `raw`, the plan they were made of: what is derived from it must equal the mock.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use sentinel::{
    Data, Documents, Environment, Evaluation, Import, Limits, Outcome, SystemHost, compile, evaluate, imports,
};

use crate::cases::entries;

/// How many values were compared and were equal, by import and member.
#[derive(Debug, Default)]
pub struct Derivation {
    mocks: usize,
    /// Mocks without a difference, themselves and what lies beside them.
    equal: usize,
    members: BTreeMap<String, (usize, usize)>,
    /// What differs, and in which file.
    pub differences: Vec<String>,
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "derivation: {} of {} mocks that carry their plan equal what is derived from it; of their members",
            self.equal, self.mocks
        )?;
        for (member, (equal, total)) in &self.members {
            writeln!(f, "  {member:<32} {equal:>6} of {total:>6} equal")?;
        }
        Ok(())
    }
}

const PLAN: [&str; 5] =
    ["terraform_version", "variables", "planned_values", "resource_changes", "output_changes"];
const CONFIG: [&str; 6] = ["providers", "resources", "provisioners", "variables", "outputs", "module_calls"];
const STATE: [&str; 2] = ["resources", "outputs"];
const OLD_PLAN: [&str; 4] = ["module_paths", "variables", "resources", "data"];
const OLD_CONFIG: [&str; 6] = ["module_paths", "variables", "resources", "data", "outputs", "modules"];

/// Compares every mock below a folder that carries its plan, and the mocks beside it, with what is derived.
///
/// # Errors
/// When a folder can't be read.
pub fn derivation(root: &Path) -> io::Result<Derivation> {
    let mut report = Derivation::default();
    let mut files = Vec::new();
    walk(root, &mut files)?;
    let mut seen = std::collections::HashSet::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        if !text.contains("\nraw = {") || !seen.insert(text.clone()) {
            continue;
        }
        let Some(mut members) = members(&text, &["raw", PLAN[0], PLAN[1], PLAN[2], PLAN[3], PLAN[4]]) else {
            continue;
        };
        let plan = members.remove(0);
        if plan.get("planned_values").is_none() {
            continue;
        }
        let known = report.differences.len();
        report.mocks += 1;
        let derived: HashMap<String, Arc<dyn Import>> =
            imports(&Documents { plan, schemas: None, run: None }).into_iter().collect();
        compare(&mut report, &file, "tfplan/v2", &PLAN, &members, derived["tfplan/v2"].data());
        compare_others(&mut report, &file, &derived);
        report.equal += usize::from(report.differences.len() == known);
    }
    Ok(report)
}

/// The other mocks of the bundle lie beside it under names that differ in the import only.
fn compare_others(report: &mut Derivation, file: &Path, derived: &HashMap<String, Arc<dyn Import>>) {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if !name.contains("tfplan-v2") {
        return;
    }
    let others: [(&str, &str, &[&str]); 4] = [
        ("tfconfig/v2", "tfconfig-v2", &CONFIG),
        ("tfstate/v2", "tfstate-v2", &STATE),
        ("tfplan", "tfplan", &OLD_PLAN),
        ("tfconfig", "tfconfig", &OLD_CONFIG),
    ];
    for (import, part, wanted) in others {
        let other = file.with_file_name(name.replace("tfplan-v2", part));
        let Ok(text) = std::fs::read_to_string(&other) else { continue };
        if let Some(found) = members(&text, wanted) {
            compare(report, &other, import, wanted, &found, derived[import].data());
        }
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            if !path.is_symlink() {
                walk(&path, files)?;
            }
        } else if path.extension().is_some_and(|end| end == "sentinel") {
            files.push(path);
        }
    }
    Ok(())
}

/// The values of members of a mock.
fn members(text: &str, names: &[&str]) -> Option<Vec<Data>> {
    let mut environment = Environment::default();
    environment.set_module("mock", Arc::new(compile("mock", text).ok()?));
    let list: Vec<String> = names.iter().map(|name| format!("mock.{name}")).collect();
    let policy = compile("policy", format!("import \"mock\"\nmain = [{}]", list.join(", "))).ok()?;
    let Evaluation { outcome, .. } =
        evaluate(&Arc::new(policy), &environment, &HashMap::new(), Limits::default(), &SystemHost);
    match outcome {
        Outcome::Failed(value) => Some(value.items().to_vec()),
        _ => None,
    }
}

fn compare(
    report: &mut Derivation,
    file: &Path,
    import: &str,
    names: &[&str],
    mock: &[Data],
    derived: &Data,
) {
    for (name, expected) in names.iter().zip(mock) {
        if matches!(expected, Data::Undefined) {
            continue;
        }
        let found = derived.get(name).unwrap_or(&Data::Undefined);
        let mut differences = Vec::new();
        differ(expected, found, String::new(), &mut differences);
        let count = report.members.entry(format!("{import} {name}")).or_default();
        count.1 += 1;
        if differences.is_empty() {
            count.0 += 1;
        }
        for difference in differences {
            report.differences.push(format!("{import} {name}{difference} in {}", file.display()));
        }
    }
}

/// A member that is undefined and one that is not there are the same to a policy.
fn differ(expected: &Data, found: &Data, path: String, differences: &mut Vec<String>) {
    match (expected, found) {
        (Data::Map(a), Data::Map(b)) => {
            let keys = a.entries().iter().chain(b.entries()).map(|(key, _)| key);
            let keys: std::collections::BTreeSet<_> = keys.collect();
            for key in keys {
                let value = |map: &sentinel::DataMap| {
                    map.entries().iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
                };
                let (x, y) = (value(a).unwrap_or(Data::Undefined), value(b).unwrap_or(Data::Undefined));
                differ(&x, &y, format!("{path}.{key:?}"), differences);
            }
        }
        (Data::List(a), Data::List(b)) if a.len() == b.len() => {
            for (at, (x, y)) in a.iter().zip(b.iter()).enumerate() {
                differ(x, y, format!("{path}[{at}]"), differences);
            }
        }
        (a, b) if a.same(b) => {}
        (a, b) => {
            let short = |data: &Data| format!("{data:?}").chars().take(60).collect::<String>();
            differences.push(format!("{path}: mock {}, derived {}", short(a), short(b)));
        }
    }
}
