//! Mocks of a run: files with which a policy can be written against a plan of one's own.

use std::fmt::Write;

use super::build::MODULES;
use super::mask::Masking;
use super::{Documents, Functions, config, config_v1, plan, plan_v1, state, state_v1, tfrun};
use crate::value::{Data, Key, show};

/// The mocks of a run.
#[derive(Debug)]
pub struct Mocks {
    /// Name and content of each file. `sentinel.hcl` maps the imports to the others.
    pub files: Vec<(String, String)>,
    /// How many texts of plan and run were masked although the plan does not mark them: they are or hold the
    /// text of a value that it marks elsewhere.
    pub masked_elsewhere: usize,
}

/// Makes the mocks of a run.
///
/// What the plan marks as sensitive is masked where it stands; such a masked value is a text, whatever it was.
/// Keys of such a value that are no names of attributes have a number in their place. Texts of such values that
/// are long enough to be no ordinary words are masked wherever else they stand. Names, numbers, addresses and
/// other words of the plan's format are those of the plan.
pub fn mocks(documents: &Documents) -> Mocks {
    let mut masking = Masking::of(&documents.plan);
    let plan = masking.plan(&documents.plan);
    let mut bundle: Vec<(&str, &[&str], Data, Functions)> = vec![
        ("tfconfig", &["tfconfig", "tfconfig/v1"], config_v1::derive(&plan), Functions::Module),
        ("tfconfig-v2", &["tfconfig/v2"], config::derive(&plan), Functions::StripIndex),
        (
            "tfplan",
            &["tfplan", "tfplan/v1"],
            plan_v1::derive(&plan, documents.schemas.as_ref()),
            Functions::Module,
        ),
        ("tfplan-v2", &["tfplan/v2"], plan::derive(&plan), Functions::None),
        ("tfstate", &["tfstate", "tfstate/v1"], state_v1::derive(&plan), Functions::Module),
        ("tfstate-v2", &["tfstate/v2"], state::derive(&plan), Functions::None),
    ];
    if let Some(run) = &documents.run {
        bundle.push(("tfrun", &["tfrun"], masking.run(&tfrun(run)), Functions::None));
    }
    let mut files = Vec::new();
    let mut config = String::new();
    for (name, imports, data, functions) in bundle {
        let file = format!("mock-{name}.sentinel");
        for import in imports {
            let _ =
                write!(config, "mock \"{import}\" {{\n  module {{\n    source = \"{file}\"\n  }}\n}}\n\n");
        }
        files.push((file, source(&data, functions)));
    }
    files.push(("sentinel.hcl".to_owned(), config.trim_end().to_owned() + "\n"));
    Mocks { files, masked_elsewhere: masking.elsewhere }
}

const MODULE: &str = "
_module = func(modules, path) {
	if types.type_of(path) is \"undefined\" {
		return undefined
	}
	if types.type_of(path) is not \"list\" {
		error(\"expected list, got\", types.type_of(path))
	}

	address = []
	for path as name {
		if types.type_of(name) is not \"string\" {
			return null
		}
		append(address, \"module.\" + name)
	}

	return modules[strings.join(address, \".\")] else null
}

module = func(path) {
	return _module(_modules, path)
}
";

/// The function of an import whose data is a member.
const MODULE_OF: &str = "
NAME[\"module\"] = func(path) {
	return _module(NAME[\"\\x00modules\"], path)
}
";

const STRIP_INDEX: &str = "
strip_index = func(address) {
	plain = \"\"
	inside = false
	quoted = false
	escaped = false
	for strings.split(address, \"\") as char {
		if not inside and char is not \"[\" {
			plain += char
		}
		if not inside {
			inside = char is \"[\"
		} else if escaped {
			escaped = false
		} else if char is \"\\\\\" {
			escaped = quoted
		} else if char is \"\\\"\" {
			quoted = not quoted
		} else if char is \"]\" {
			inside = quoted
		}
	}

	return plain
}
";

fn source(data: &Data, functions: Functions) -> String {
    let mut out = String::new();
    match functions {
        Functions::None => {}
        Functions::StripIndex => out.push_str("import \"strings\"\n"),
        Functions::Module => out.push_str("import \"strings\"\nimport \"types\"\n"),
    }
    for (key, value) in data.entries() {
        let name = match key.as_str() {
            Some(MODULES) => "_modules",
            Some(name) => name,
            None => continue,
        };
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = write!(out, "{name} = ");
        literal(&mut out, value, 0);
        out.push('\n');
    }
    match functions {
        Functions::None => {}
        Functions::StripIndex => out.push_str(STRIP_INDEX),
        Functions::Module => {
            out.push_str(MODULE);
            let inner = data.entries().iter().filter(|(_, value)| value.get(MODULES).is_some());
            for name in inner.filter_map(|(key, _)| key.as_str()) {
                out.push_str(&MODULE_OF.replace("NAME", name));
            }
        }
    }
    out
}

/// Writes data as a literal of the language, formatted as `fmt` does.
fn literal(out: &mut String, data: &Data, depth: usize) {
    let indent = "\t".repeat(depth + 1);
    match data {
        Data::List(items) if !items.is_empty() => {
            out.push_str("[\n");
            for item in items.iter() {
                out.push_str(&indent);
                literal(out, item, depth + 1);
                out.push_str(",\n");
            }
            out.push_str(&"\t".repeat(depth));
            out.push(']');
        }
        Data::Map(map) if !map.is_empty() => {
            out.push_str("{\n");
            let mut rest = map.entries();
            while let Some(first) = rest.first() {
                // values that follow each other on lines of their own stand below each other
                let run = rest.iter().take_while(|(_, value)| is_short(value)).count().max(1);
                let (group, after) = rest.split_at(run);
                let aligned = is_short(&first.1);
                let width = group.iter().map(|(key, _)| key_text(key).chars().count()).max().unwrap_or(0);
                for (key, value) in group {
                    let key = key_text(key);
                    let pad = if aligned { width - key.chars().count() } else { 0 };
                    let _ = write!(out, "{indent}{key}: {:pad$}", "");
                    literal(out, value, depth + 1);
                    out.push_str(",\n");
                }
                rest = after;
            }
            out.push_str(&"\t".repeat(depth));
            out.push('}');
        }
        Data::Float(float) if float.is_finite() => {
            let text = show::show_float(*float);
            let is_float = text.contains(['.', 'e']);
            out.push_str(&text);
            if !is_float {
                out.push_str(".0");
            }
        }
        other => out.push_str(&show::show_data(other)),
    }
}

fn is_short(data: &Data) -> bool {
    !matches!(data, Data::List(items) if !items.is_empty())
        && !matches!(data, Data::Map(map) if !map.is_empty())
}

fn key_text(key: &Key) -> String {
    match key {
        Key::Str(text) => {
            let mut out = String::new();
            show::quote(&mut out, &text.to_text());
            out
        }
        other => show::show_key(other),
    }
}
