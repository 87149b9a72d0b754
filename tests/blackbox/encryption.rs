//! Encryption of what is kept: nothing of it lies in clear, whatever happens meanwhile, and keys can be changed.

use std::path::{Path, PathBuf};

use client::Stage;
use seal::Key;

use crate::support::{Setup, World, auto_apply, wait_for};

/// What a configuration, a state, a plan and a log have in them.
const SECRET: &str = "correct-horse-battery-staple";

fn main_tf() -> String {
    format!(
        "variable \"password\" {{}}\nresource \"terraform_data\" \"thing\" {{\n  input = \"{SECRET}\"\n  provisioner \"local-exec\" {{\n    \
         command = \"echo made {SECRET}\"\n  }}\n}}\noutput \"secret\" {{\n  value = var.password\n}}\n"
    )
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
        // a link leads to what is found by itself
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found
}

/// The files of the data directory that hold this text.
fn in_clear(world: &World, text: &str) -> Vec<PathBuf> {
    let holds = |file: &PathBuf| {
        let bytes = std::fs::read(file).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    files(&world.data_dir()).into_iter().filter(holds).collect()
}

fn setup(keys: &str) -> Setup {
    Setup::new().server(keys).workspace_with("net", &main_tf(), |workspace| {
        workspace.with("sensitive_variables = { password = \"hidden-in-settings\" }")
    })
}

fn with_keys(world: &World, keys: &str) {
    let text = std::fs::read_to_string(world.config_file()).unwrap();
    let kept: String = text
        .lines()
        .filter(|line| !line.contains("encryption_key"))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(world.config_file(), kept.replacen("server {\n", &format!("server {{\n{keys}\n"), 1))
        .unwrap();
}

fn rotate(world: &World) -> (Option<i32>, String) {
    let mut command = world.cli("admin");
    let done = command.args(["encryption", "rotate", "--config"]).arg(world.config_file()).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
    (done.status.code(), said)
}

fn key_line(key: &str) -> String {
    format!("  encryption_key = {key:?}")
}

async fn readable(world: &World, run: &client::Run) {
    assert!(world.log(run, Stage::Apply).await.contains(SECRET));
    assert!(world.state("net").await.unwrap().to_string().contains(SECRET));
}

#[tokio::test]
async fn with_a_key_nothing_that_is_kept_lies_in_clear() {
    let key = Key::generate().unwrap();
    let mut world = setup(&key_line(&key)).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Applied").await;
    wait_for("the run is cleaned up", async || in_clear(&world, SECRET).is_empty().then_some(())).await;
    assert_eq!(in_clear(&world, "hidden-in-settings"), Vec::<PathBuf>::new());
    readable(&world, &run).await;

    // a run that waits has in clear what terraform works on, and its settings sealed
    let waiting =
        world.queue_as("operator", "net", client::NewRun { is_destroy: true, ..Default::default() }).await;
    let waiting = world.reaches(&waiting, "Needs Confirmation").await;
    let run_dir = world.data_dir().join("runs").join(&waiting.id);
    for file in ["settings.json", "stages.json"] {
        let bytes = std::fs::read(run_dir.join(file)).unwrap();
        assert!(bytes.starts_with(b"signalbox\0"), "{file}");
    }
    // nobody needs the daemon's memory for that
    world.kill_daemon();
    world.start_daemon();
    world.confirm(&waiting).await;
    world.reaches(&waiting, "Applied").await;
    wait_for("all of it is cleaned up", async || in_clear(&world, SECRET).is_empty().then_some(())).await;
}

#[tokio::test]
async fn a_key_is_taken_up_changed_and_given_up_while_the_daemon_runs() {
    let (first, second) = (Key::generate().unwrap(), Key::generate().unwrap());
    let mut world = setup("").start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Applied").await;
    assert!(world.daemon().log().contains("lie in clear"));
    assert!(!in_clear(&world, SECRET).is_empty());
    let previous = |key: &str| format!("  previous_encryption_keys = [{key:?}]");
    let steps = [
        (key_line(&first), false),
        (format!("{}\n{}", key_line(&second), previous(&first)), false),
        (previous(&second), true),
    ];
    for (keys, clear) in steps {
        with_keys(&world, &keys);
        if !clear {
            let (status, said) = rotate(&world);
            assert!(status == Some(1) && said.contains("restart it first"), "{said}");
        }
        world.stop_daemon();
        world.start_daemon();
        let (status, said) = rotate(&world);
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(in_clear(&world, SECRET).is_empty(), !clear, "{said}");
        readable(&world, &run).await;
        // the other keys are needed no more
        let alone: String = keys.lines().filter(|line| !line.contains("previous")).collect();
        with_keys(&world, &alone);
        world.stop_daemon();
        world.start_daemon();
        readable(&world, &run).await;
        let next = world.queue_as("operator", "net", auto_apply()).await;
        world.reaches(&next, "No Changes").await;
    }
}

#[tokio::test]
async fn a_daemon_without_the_key_does_not_start_and_says_which_it_needs() {
    let key = Key::generate().unwrap();
    let id = Key::parse(&key).unwrap().id().to_string();
    let mut world = setup(&key_line(&key)).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    world.stop_daemon();
    for keys in [String::new(), key_line(&Key::generate().unwrap())] {
        with_keys(&world, &keys);
        let refused =
            world.cli("admin").args(["serve", "--config"]).arg(world.config_file()).output().unwrap();
        let words = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{words}");
        assert!(words.contains(&id) && words.contains("previous_encryption_keys"), "{words}");
        assert!(!words.contains(&key), "{words}");
        let (status, words) = rotate(&world);
        assert!(status == Some(1) && words.contains(&id), "{words}");
    }
    with_keys(&world, "  encryption_key = \"hunter2\"");
    let refused = world.cli("admin").args(["config", "check"]).arg(world.config_file()).output().unwrap();
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(words.contains("signalbox encryption key") && !words.contains("hunter2"), "{words}");
}

#[test]
fn a_new_key_can_be_written_into_a_file_as_it_is() {
    let world = Setup::new().workspace("net", "").start();
    let made = world.cli("admin").args(["encryption", "key"]).output().unwrap();
    let text = String::from_utf8(made.stdout).unwrap();
    assert!(Key::parse(&text).is_ok() && text.ends_with('\n') && text.lines().count() == 1, "{text}");
}
