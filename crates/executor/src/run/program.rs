//! Which file a step's program is.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::spec::Spec;

/// The absolute path of the program, or what is wrong with it and how to put it right.
pub(crate) fn resolve(spec: &Spec, program: &Path) -> Result<PathBuf, String> {
    let is_bare_name =
        program.components().count() == 1 && program.is_relative() && !program.starts_with(".");
    if !is_bare_name {
        let path = spec.resolve(program);
        return match runnable(&path) {
            Ok(()) => Ok(path),
            Err(why) => Err(format!("the program {} {why}: install it, or name another", path.display())),
        };
    }
    let name = program.display();
    let Some(search) = spec.environment.get("PATH").filter(|search| !search.is_empty()) else {
        return Err(format!(
            "the program {name:?} cannot be looked up, since the environment has no PATH: give an absolute path"
        ));
    };
    let mut unusable = None;
    for folder in std::env::split_paths(search) {
        let path = spec.resolve(&folder).join(program);
        match runnable(&path) {
            Ok(()) => return Ok(path),
            Err(why) if path.exists() => unusable = unusable.or(Some(format!("{} {why}", path.display()))),
            Err(_) => {}
        }
    }
    let found = unusable.map(|found| format!(" ({found})")).unwrap_or_default();
    Err(format!(
        "the program {name:?} was not found in PATH {search:?}{found}: install it there, or give an absolute path"
    ))
}

fn runnable(path: &Path) -> Result<(), String> {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => Err("is not a file".to_owned()),
        Ok(_) if access(path, Access::EXEC_OK).is_err() => Err("is not executable".to_owned()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err("does not exist".to_owned()),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn spec(path: Option<&str>, working_dir: &Path) -> Spec {
        let mut spec = Spec::new("test", working_dir);
        spec.environment.extend(path.map(|path| ("PATH".to_owned(), path.to_owned())));
        spec
    }

    #[test]
    fn a_bare_name_is_looked_up_in_the_path_of_the_spec_alone() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path();
        assert_eq!(resolve(&spec(Some("/none:/bin"), folder), Path::new("sh")), Ok(PathBuf::from("/bin/sh")));
        let why = resolve(&spec(Some("/none"), folder), Path::new("sh")).unwrap_err();
        assert_eq!(
            why,
            "the program \"sh\" was not found in PATH \"/none\": install it there, or give an absolute path"
        );
        assert!(resolve(&spec(None, folder), Path::new("sh")).unwrap_err().contains("has no PATH"));
    }

    #[test]
    fn what_cannot_be_run_is_said_with_the_reason() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path();
        let file = folder.join("tool");
        let search = folder.to_str();
        assert!(resolve(&spec(None, folder), Path::new("./tool")).unwrap_err().contains("does not exist"));
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        assert!(resolve(&spec(None, folder), &file).unwrap_err().contains("is not executable"));
        assert!(
            resolve(&spec(search, folder), Path::new("tool"))
                .unwrap_err()
                .contains("tool is not executable)")
        );
        assert!(resolve(&spec(None, folder), folder).unwrap_err().contains("is not a file"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(resolve(&spec(None, folder), Path::new("./tool")), Ok(folder.join("./tool")));
        assert_eq!(resolve(&spec(search, folder), Path::new("tool")), Ok(file));
    }
}
