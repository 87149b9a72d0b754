//! `signalbox init`: from a directory with terraform configurations to a daemon's first config file.

mod discover;
mod file;

use std::collections::BTreeSet;
use std::fs;
use std::io::BufRead as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use config::{Config, SystemHost, TokenDigest};
use serde_json::json;
use source::Elsewhere;

use super::args::{InitArgs, InitSource};
use super::credentials::Credentials;
use super::failure::Failure;
use super::output::Output;
use super::{paint, terminal, token};
use discover::{Repository, RootModule};
use file::{Plan, name_of};

/// Ports that are tried, the usual one first.
const PORTS: std::ops::Range<u16> = 8080..8100;

/// Something to type next, and what it does.
struct Step {
    command: String,
    does: String,
}

pub(crate) fn run(args: &InitArgs, output: Output) -> Result<(), Failure> {
    let base = fs::canonicalize(&args.directory).map_err(|error| {
        Failure::usage(
            format!("can't look into {}: {error}", terminal::line(&args.directory.display().to_string())),
            "name the directory of your terraform configurations",
        )
    })?;
    let path = args.output.clone().unwrap_or_else(|| base.join("signalbox.hcl"));
    if path.exists() {
        return Err(Failure::refused(
            format!("{} exists already, and stays as it is", path.display()),
            "--output names another file",
        ));
    }
    let modules = discover::root_modules(&base);
    if modules.is_empty() {
        return Err(Failure::refused(
            format!("there is no terraform configuration in {}", base.display()),
            "name the directory of one; `signalbox demo` shows what it is about without any",
        ));
    }
    let repository = discover::repository(&base);
    let repository = chosen(args, repository.as_ref(), &modules, output)?;

    let own = base.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let organization = name_of(&own, "main");
    let named = named(&modules, &organization);
    let user = args.user.clone().or_else(current_user).unwrap_or_else(|| "admin".to_owned());
    let user = name_of(&user, "admin");
    let listen = match args.listen {
        Some(listen) => listen.to_string(),
        None => free_address(),
    };
    let data_dir = match &args.data_dir {
        Some(directory) => std::path::absolute(directory).unwrap_or_else(|_| directory.clone()),
        None => data_dir(&organization)?,
    };
    let own_token = token::generate()?;
    let plan = Plan {
        listen: listen.clone(),
        data_dir: &data_dir,
        organization,
        user: &user,
        token_sha256: TokenDigest::of(&own_token).to_string(),
        repository,
        base: &base,
        modules: named.iter().map(|(name, module)| (name.clone(), *module)).collect(),
    };
    write(&path, &plan.text())?;

    let address = format!("http://{listen}");
    let mut credentials = Credentials::read()?;
    credentials.keep(&address, &own_token);
    let kept_in = credentials.write()?;
    let steps = steps(&path, &named);
    if output.json {
        let workspaces: Vec<_> = named.iter().map(|(name, _)| name).collect();
        let next: Vec<_> = steps.iter().map(|step| &step.command).collect();
        return output.document(
            &json!({ "file": path, "workspaces": workspaces, "user": user, "address": address,
                "token_file": kept_in, "next": next }),
            false,
        );
    }
    let heading = |text: &str| output.paint.with(paint::HEADING, text);
    let mut text = format!("{}\n", heading(&format!("Wrote {}", path.display())));
    for (name, module) in &named {
        let of =
            if module.path.as_os_str().is_empty() { ".".into() } else { module.path.display().to_string() };
        text += &format!("  workspace {name}  {}\n", output.paint.with(paint::FAINT, &terminal::line(&of)));
    }
    text += &format!(
        "  user {user}, an owner; the token for {address} is kept in {}\n\n{}\n",
        kept_in.display(),
        heading("Next")
    );
    for Step { command, does } in &steps {
        text += &format!("  {}\n      {}\n", terminal::line(command), output.paint.with(paint::FAINT, does));
    }
    output.print(&text)
}

/// Where the configurations come from. A person is asked where both ways are open.
fn chosen<'r>(
    args: &InitArgs,
    repository: Option<&'r Repository>,
    modules: &[RootModule],
    output: Output,
) -> Result<Option<&'r Repository>, Failure> {
    match (args.source, repository) {
        (Some(InitSource::Directory), _) | (None, None) => Ok(None),
        (Some(InitSource::Git), Some(repository)) => Ok(Some(repository)),
        (Some(InitSource::Git), None) => Err(Failure::refused(
            "the directory belongs to no git repository with a remote called origin",
            "--source directory takes it as it lies here",
        )),
        (None, Some(repository)) if output.can_ask && !args.yes => {
            output.note(&format!(
                "Found {} of terraform, in a git repository.",
                text::count(modules.len(), "root module")
            ));
            output.ask(&format!(
                "Should runs take them from this directory as it lies here, or from {}, branch {}? [directory/git] ",
                terminal::line(&repository.url),
                terminal::line(&repository.branch)
            ));
            let mut answer = String::new();
            std::io::stdin().lock().read_line(&mut answer)?;
            match answer.trim() {
                "git" | "g" => Ok(Some(repository)),
                "" | "directory" | "d" => Ok(None),
                _ => Err(Failure::refused("nothing was written", "answer directory or git, or say --source")),
            }
        }
        (None, Some(_)) => Ok(None),
    }
}

/// Each with a name of its own.
fn named<'m>(modules: &'m [RootModule], otherwise: &str) -> Vec<(String, &'m RootModule)> {
    let mut taken = BTreeSet::new();
    let mut named = Vec::new();
    for module in modules {
        let name = name_of(&module.path.to_string_lossy(), otherwise);
        let mut unique = name.clone();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name}-{number}");
            number += 1;
        }
        named.push((unique, module));
    }
    named
}

fn current_user() -> Option<String> {
    ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()).filter(|name| !name.is_empty())
}

/// An address of this machine on which nothing listens yet.
fn free_address() -> String {
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = PORTS.into_iter().find(free).unwrap_or(PORTS.start);
    format!("127.0.0.1:{port}")
}

/// Outside of the repository, which runs take as a whole.
fn data_dir(name: &str) -> Result<PathBuf, Failure> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let data = data.or_else(|| set("HOME").map(|home| home.join(".local").join("share")));
    let none = || Failure::usage("there is no place for the daemon's data", "set HOME, or say --data-dir");
    Ok(data.ok_or_else(none)?.join("signalbox").join(name))
}

/// The file as a whole, once it is known that a daemon would take it.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::Local(format!("can't write {}: {error}", path.display()));
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut draft = tempfile::Builder::new()
        .prefix(".signalbox-")
        .suffix(".hcl")
        .tempfile_in(directory)
        .map_err(cannot)?;
    std::io::Write::write_all(&mut draft, text.as_bytes()).map_err(cannot)?;
    let checked = Config::check(draft.path(), &SystemHost);
    if checked.config.is_none() {
        return Err(Failure::Local(format!(
            "what would be written is no config file, which is a mistake of signalbox:\n{}",
            checked.findings.render(false)
        )));
    }
    draft.persist_noclobber(path).map_err(|error| cannot(error.error))?;
    Ok(())
}

fn steps(path: &Path, named: &[(String, &RootModule)]) -> Vec<Step> {
    let step = |command: String, does: &str| Step { command, does: does.to_owned() };
    let mut steps = vec![step(
        format!("signalbox serve --config {}", path.display()),
        "runs the daemon; the rest goes into another terminal",
    )];
    for (name, module) in named {
        match &module.elsewhere {
            Some(Elsewhere::File { path, content }) => steps.push(step(
                format!("signalbox state push {name} {path}"),
                &format!("brings the state of {name} in ({content}), before its first run"),
            )),
            Some(_) => steps.push(step(
                format!(
                    "terraform state pull > {name}.tfstate && signalbox state push {name} {name}.tfstate"
                ),
                &format!(
                    "brings the state of {name} in, from where it is kept now; call it in {}",
                    if module.path.as_os_str().is_empty() {
                        ".".into()
                    } else {
                        module.path.display().to_string()
                    }
                ),
            )),
            None => {}
        }
    }
    if let Some((name, module)) = named.first() {
        let does = match &module.backend {
            Some(kind) => format!("plans and asks; the backend \"{kind}\" keeps the state as before"),
            None => "plans, shows what would change, and asks".to_owned(),
        };
        steps.push(Step { command: format!("signalbox run start {name} --follow"), does });
    }
    steps
}
