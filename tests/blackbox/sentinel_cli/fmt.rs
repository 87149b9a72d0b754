//! `signalbox sentinel fmt`.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Desk, Done};

const UGLY: &str = "# why\nmain=rule{ 1 is 1 } // here\n/* the end */\n";
const PRETTY: &str = "# why\nmain = rule { 1 is 1 } // here\n/* the end */\n";

#[test]
fn fmt_rewrites_what_is_not_formatted_and_names_it() {
    let desk = Desk::new(&[("a.sentinel", UGLY), ("b.sentinel", PRETTY), ("c.sentinel", "x = \n")]);
    let mode = |name: &str| desk.path(name).metadata().unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(desk.path("a.sentinel"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("a.sentinel", desk.path("link.sentinel")).unwrap();

    assert_eq!(desk.run("fmt -check link.sentinel b.sentinel").ended(1).out, "link.sentinel\n");
    assert_eq!(desk.run("fmt -write=false a.sentinel b.sentinel").ended(0).out, PRETTY.repeat(2));
    assert_eq!(desk.read("a.sentinel"), UGLY, "nothing was to be written");

    assert_eq!(desk.run("fmt link.sentinel b.sentinel").ended(0).out, "link.sentinel\n");
    assert_eq!(desk.read("a.sentinel"), PRETTY);
    assert_eq!(mode("a.sentinel"), 0o640);
    assert!(desk.path("link.sentinel").symlink_metadata().unwrap().is_symlink());
    assert_eq!(desk.run("fmt a.sentinel b.sentinel").ended(0).out, "");
    desk.run("fmt --check a.sentinel").ended(0);

    desk.write("a.sentinel", UGLY);
    let json = desk.run("fmt --json a.sentinel c.sentinel b.sentinel").ended(1).json();
    assert_eq!(json["unformatted"], serde_json::json!(["a.sentinel"]));
    assert_eq!(desk.read("a.sentinel"), PRETTY, "a mistake in another file changes nothing");
    assert_eq!(desk.read("c.sentinel"), "x = \n");
    let left: Vec<_> =
        std::fs::read_dir(desk.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn fmt_checks_whether_or_not_it_may_write() {
    let desk = Desk::new(&[("a.sentinel", UGLY)]);
    for options in ["-check -write=false", "-write=false -check", "-check -write=0", "-check"] {
        assert_eq!(desk.run(&format!("fmt {options} a.sentinel")).ended(1).out, "a.sentinel\n", "{options}");
    }
    assert_eq!(desk.read("a.sentinel"), UGLY);
}

#[test]
fn fmt_as_json_has_the_text_that_is_written_nowhere_else() {
    let desk = Desk::new(&[("a.sentinel", UGLY)]);
    let json = desk.run("fmt -json -write=false a.sentinel").ended(0).json();
    assert_eq!((&json["formatted"]["a.sentinel"], &json["written"]), (&PRETTY.into(), &false.into()));
    assert!(desk.run("fmt -json a.sentinel").ended(0).json().get("formatted").is_none());
}

/// A file that has other names keeps them, and one of somebody else stays theirs.
#[test]
fn fmt_keeps_what_a_file_is() {
    let desk = Desk::new(&[("a.sentinel", UGLY), ("folder/b.sentinel", UGLY)]);
    std::fs::hard_link(desk.path("a.sentinel"), desk.path("other")).unwrap();
    desk.run("fmt a.sentinel").ended(0);
    assert_eq!((desk.read("a.sentinel"), desk.read("other")), (PRETTY.to_owned(), PRETTY.to_owned()));

    // as root any owner can be set, as anybody else none but one's own
    let (file, owner) = (desk.path("folder/b.sentinel"), |path: &Path| {
        let metadata = path.metadata().unwrap();
        (metadata.uid(), metadata.gid())
    });
    let _ = chown(&file, Some(4321), Some(1234));
    let before = owner(&file);
    desk.run("fmt folder/b.sentinel").ended(0);
    assert_eq!((desk.read("folder/b.sentinel"), owner(&file)), (PRETTY.to_owned(), before));
}

/// Room for the longer text is seen to before anything is written.
#[test]
fn fmt_leaves_a_file_as_it_is_if_there_is_no_room_for_the_new_text() {
    // indentation makes it longer, past what a file may have
    let ugly = format!("main = rule {{\n{}true\n}}\n", "true and\n".repeat(900));
    let desk = Desk::new(&[("a.sentinel", &ugly)]);
    // in place of files with other names no other one is put
    std::fs::hard_link(desk.path("a.sentinel"), desk.path("other")).unwrap();
    let fmt = desk.command("fmt a.sentinel");
    let mut limited = Command::new("sh");
    let blocks = ugly.len().div_ceil(512);
    limited.args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"", &blocks.to_string()]);
    limited.arg(fmt.get_program()).args(fmt.get_args()).current_dir(desk.path(""));
    Done::of(&mut limited).ended(1).said("can't write a.sentinel: File too large");
    assert!(desk.read("a.sentinel") == ugly, "the file has changed");
}

/// A new file would be somebody else's, of another group.
#[test]
fn fmt_by_one_of_the_group_leaves_the_file_to_owner_and_group() {
    let desk = Desk::new(&[("a.sentinel", UGLY)]);
    let file = desk.path("a.sentinel");
    // only root can be somebody else
    if chown(&file, Some(4321), Some(1234)).is_err() {
        return;
    }
    let allow =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    allow(&file, 0o664);
    allow(desk.dir.path(), 0o755);
    allow(&desk.path(""), 0o777);
    let mut fmt = desk.command("fmt a.sentinel");
    match fmt.uid(5678).gid(1234).output() {
        // the binary may be where nobody else gets at it
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return,
        done => assert!(done.unwrap().status.success()),
    }
    let metadata = file.metadata().unwrap();
    assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o777), (4321, 1234, 0o664));
    assert_eq!(desk.read("a.sentinel"), PRETTY);
    assert_eq!(std::fs::read_dir(desk.path("")).unwrap().count(), 1);
}

#[test]
fn fmt_leaves_alone_what_it_can_not_format() {
    let desk = Desk::new(&[("a.sentinel", "x = \n"), ("folder/b.sentinel", "")]);
    desk.run("fmt a.sentinel").ended(1).said("--> a.sentinel:2:1");
    assert_eq!(desk.read("a.sentinel"), "x = \n");
    desk.run("fmt gone.sentinel").ended(2).said("can't read gone.sentinel");
    desk.run("fmt folder").ended(2).said("can't read folder");
    std::fs::write(desk.path("bytes.sentinel"), b"x = \"\xff\"").unwrap();
    desk.run("fmt bytes.sentinel").ended(2).said("UTF-8");
    desk.run("fmt").ended(2);
}

#[test]
fn fmt_reads_stdin() {
    let desk = Desk::new(&[]);
    let formatted = |line: &str, text: &str| {
        let mut command = desk.command(line);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(formatted("fmt -", UGLY), (Some(0), PRETTY.to_owned()));
    assert_eq!(formatted("fmt -check -", UGLY), (Some(1), "-\n".to_owned()));
    assert_eq!(formatted("fmt -", "x ="), (Some(1), String::new()));
}
