//! `signalbox sentinel …`: the real binary over real files, and over plans of the real terraform.

mod apply;
mod fmt;
mod mocks;
mod test;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::command;

/// A directory with policies, and somebody who works in it.
struct Desk {
    dir: tempfile::TempDir,
}

struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Done {
    fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    fn said(self, words: &str) -> Self {
        assert!(self.err.contains(words), "{words:?} is not in stderr:\n{}", self.err);
        self
    }

    #[track_caller]
    fn shown(self, words: &str) -> Self {
        assert!(self.out.contains(words), "{words:?} is not in stdout:\n{}", self.out);
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {}", self.out))
    }
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let desk = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(desk.dir.path().join("work")).unwrap();
        for (name, text) in files {
            desk.write(name, text);
        }
        desk
    }

    /// The working directory.
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, line: &str) -> Command {
        let mut command = command(self.dir.path());
        command.current_dir(self.path("")).arg("sentinel").args(line.split_whitespace());
        command
    }

    fn run(&self, line: &str) -> Done {
        Done::of(&mut self.command(line))
    }
}

const POLICY: &str =
    "param limit default 3\n\n// Few are few.\nfew = rule { limit < 5 }\nmain = rule { few }\n";
const GOOD: &str = "test {\n  rules = { main = true }\n}\n";
const BAD: &str = "param \"limit\" {\n  value = 7\n}\n";

fn policies() -> Desk {
    Desk::new(&[
        ("few.sentinel", POLICY),
        ("test/few/good.hcl", GOOD),
        ("test/few/bad.hcl", BAD),
        ("other.sentinel", "main = rule { true }\n"),
        ("test/other/old.json", "{\"test\": {\"main\": true}}"),
    ])
}

#[test]
fn mistakes_are_shown_as_a_compiler_shows_them() {
    let desk = Desk::new(&[
        ("syntax.sentinel", "x = 1\nmain = rule { x is }\n"),
        ("test/syntax/a.hcl", ""),
        ("runtime.sentinel", "m = {}\nx = m.gone\nfor x as y { }\nmain = true\n"),
        ("test/runtime/a.hcl", ""),
        ("undefined.sentinel", "m = {}\nx = m.gone\nmain = rule { x is 1 }\n"),
        ("test/undefined/a.hcl", ""),
        ("case.sentinel", "main = true\n"),
        ("test/case/a.hcl", "param {\n"),
    ]);
    let syntax = "error: expected an expression, found `}`\n --> syntax.sentinel:2:20\n  |\n2 | main = rule { x is }\n  |                    ^ expected an expression\n";
    let indented: String = syntax.lines().map(|line| format!("    {line}\n")).collect();
    desk.run("test -run=syntax").ended(1).shown(&indented).said("1 could not be run");
    desk.run("apply syntax.sentinel").ended(1).said(syntax);
    desk.run("fmt syntax.sentinel").ended(1).said(syntax);
    for arguments in ["test -run=runtime", "apply runtime.sentinel"] {
        desk.run(arguments)
            .ended(1)
            .shown("`for` needs a list or a map, not undefined")
            .shown("--> runtime.sentinel:3:5")
            .shown("3 | for x as y { }")
            .shown("the undefined value came into being at runtime.sentinel:2:5");
    }
    for arguments in ["test -run=undefined", "apply undefined.sentinel"] {
        desk.run(arguments)
            .ended(1)
            .shown("the result of `main` is undefined")
            .shown("--> undefined.sentinel:2:5")
            .shown("^ the undefined value came into being here");
    }
    desk.run("test -run=case").ended(1).shown("--> test/case/a.hcl:");
}

#[test]
fn shells_complete_the_commands_and_their_options() {
    let desk = Desk::new(&[]);
    for shell in ["bash", "zsh", "fish"] {
        let script = Done::of(command(desk.dir.path()).args(["completions", shell])).ended(0).out;
        assert!(script.contains("COMPLETE"), "{shell}: {script}");
    }
    // as the script of bash asks
    let offered = |words: &[&str]| {
        let mut command = command(desk.dir.path());
        command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
        let done = Done::of(command.env("_CLAP_IFS", "\n").arg("--").args(words)).ended(0);
        done.out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(offered(&["signalbox", "sent"]), ["sentinel"]);
    for (words, word) in [(["signalbox", "sentinel", "m"], "mocks"), (["signalbox", "sentinel", "f"], "fmt")]
    {
        assert!(offered(&words).contains(&word.to_owned()), "{words:?}");
    }
    assert!(offered(&["signalbox", "sentinel", "test", "--verb"]).contains(&"--verbose".to_owned()));
    assert!(offered(&["signalbox", "sentinel", "mocks", "--f"]).contains(&"--force".to_owned()));
}
