//! A git repository as a source: real repositories, the real git.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{MAIN, Place, found, refused, step, taken};
use source::{Error, Source, TakeRequest};

fn git(place: &Place, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgSign=false",
            "-c",
            "tag.gpgSign=false",
        ])
        .args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"])
        .arg("-C")
        .arg(place.source())
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(place: &Place, message: &str) -> String {
    git(place, &["add", "--all", "--force"]);
    git(place, &["commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", message]);
    git(place, &["rev-parse", "HEAD"])
}

/// A repository with a commit per line of this:
///
/// first (tag v1, annotated) - second (branch old) - third (main)
fn repository() -> (Place, [String; 3]) {
    let place = Place::new();
    git(&place, &["init", "--quiet"]);
    place.write("network/main.tf", MAIN);
    place.write("modules/x/main.tf", "# x\n");
    place.write("version", "1");
    let first = commit(&place, "The first");
    git(&place, &["tag", "-a", "v1", "-m", "one"]);
    place.write("version", "2");
    let second = commit(&place, "The second\n\nwith more to say");
    git(&place, &["branch", "old"]);
    place.write("version", "3");
    let third = commit(&place, "The third");
    (place, [first, second, third])
}

fn request(place: &Place, url: &str, reference: &str, path: &str) -> TakeRequest {
    let source = Source::Git { url: url.to_owned(), reference: reference.to_owned() };
    TakeRequest { working_directory: path.to_owned(), ..place.request(source) }
}

fn local(place: &Place, reference: &str, path: &str) -> TakeRequest {
    request(place, place.source().to_str().unwrap(), reference, path)
}

fn version(place: &Place) -> String {
    fs::read_to_string(place.work().join("version")).unwrap()
}

/// Everything beside the work directory that should not be there.
fn beside(place: &Place) -> Vec<PathBuf> {
    fs::read_dir(place.path("run"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| *path != place.work())
        .collect()
}

#[test]
fn branches_tags_commits_and_head_are_taken() {
    let (place, [first, second, third]) = repository();
    let path = place.source().to_str().unwrap().to_owned();
    let file = format!("file://{path}");
    for url in [&path, &file] {
        for (reference, sha, content) in [
            ("main", &third, "3"),
            ("HEAD", &third, "3"),
            ("refs/heads/old", &second, "2"),
            ("old", &second, "2"),
            ("v1", &first, "1"),
            ("refs/tags/v1", &first, "1"),
            (first.as_str(), &first, "1"),
            (second.as_str(), &second, "2"),
            (&first[..7], &first, "1"),
            (&second[..4], &second, "2"),
        ] {
            let (report, log) = taken(&request(&place, url, reference, "network"));
            assert_eq!(report.commit.as_ref().map(|commit| &commit.sha), Some(sha), "{reference} of {url}");
            assert_eq!(version(&place), content, "{reference} of {url}");
            assert!(log.contains(&format!("Commit: {sha} The ")), "{log}");
            assert_eq!(beside(&place), Vec::<PathBuf>::new());
        }
    }
}

#[test]
fn the_whole_repository_is_taken_and_terraform_runs_in_the_path() {
    let (place, [_, _, third]) = repository();
    place.write("network/terraform.tfstate", "{}");
    place.write("modules/x/terraform.tfstate", "{}");
    commit(&place, "With states");
    let (report, log) = taken(&local(&place, "main", "network"));
    assert_eq!(report.root, place.work().join("network"));
    assert!(place.work().join("modules/x/main.tf").exists());
    assert!(place.work().join("modules/x/terraform.tfstate").exists());
    assert!(!place.work().join("network/terraform.tfstate").exists());
    assert!(!place.work().join(".git").exists());
    assert!(log.contains("Left out network/terraform.tfstate"), "{log}");
    let commit = report.commit.unwrap();
    assert_eq!(commit.subject(), Some("With states"));
    assert_ne!(commit.sha, third);

    let current = place.path("current.tfstate");
    fs::write(&current, "{}").unwrap();
    let with_state = TakeRequest { state: Some(current), ..local(&place, "main", "./network/") };
    let (report, _) = taken(&with_state);
    assert_eq!(report.root, place.work().join("network"));
    assert!(place.work().join("network/terraform.tfstate").exists());
}

/// A server without this gives a commit only by a branch or a tag.
#[test]
fn a_commit_is_found_in_the_history_where_the_server_gives_only_what_has_a_name() {
    let (place, [first, ..]) = repository();
    let url = format!("file://{}", place.source().display());
    let old_protocol = place.path("gitconfig");
    fs::write(&old_protocol, "[protocol]\n\tversion = 0\n").unwrap();
    // through the environment of a process of its own: this one has other threads
    let (taken, log) = step(&place, &request(&place, &url, &first, "network"), |command| {
        command.env("GIT_CONFIG_GLOBAL", &old_protocol)
    });
    assert!(taken, "{log}");
    assert!(log.contains("in the whole history"), "{log}");
    assert_eq!(version(&place), "1");
}

#[test]
fn without_git_the_log_says_how_to_get_it() {
    let (place, _) = repository();
    let (taken, log) =
        step(&place, &local(&place, "main", "network"), |command| command.env("PATH", "/nonexistent"));
    assert!(!taken);
    assert!(log.contains("no `git` on the PATH (/nonexistent); install it"), "{log}");
    assert!(!place.path("report.json").exists());
}

#[test]
fn the_words_of_git_are_in_the_log() {
    let (place, _) = repository();
    let missing = request(&place, place.path("nothing").to_str().unwrap(), "main", "");
    let (taken, log) = step(&place, &missing, |command| command.env("LC_ALL", "C"));
    assert!(!taken);
    assert!(log.contains("fatal: "), "{log}");
    assert!(log.contains("git could not fetch main from"), "{log}");
}

#[test]
fn what_the_repository_does_not_have_is_told_with_what_it_has() {
    let (place, _) = repository();
    for reference in ["nope", "refs/heads/nope", "abcdef0", "0123456789012345678901234567890123456789"] {
        let error = refused(&local(&place, reference, "network"));
        assert!(matches!(&error, Error::NoSuchReference { .. }), "{reference}: {error}");
        assert!(error.to_string().ends_with("it has main, old, v1"), "{error}");
    }
    for path in ["nope", "network/nope", "version", "version/x"] {
        let error = refused(&local(&place, "main", path));
        assert!(matches!(&error, Error::NoSuchPath { path: found, .. } if found == path), "{path}: {error}");
        assert!(error.to_string().ends_with("terraform files are in modules/x, network"), "{error}");
    }
    let error = refused(&local(&place, "main", ""));
    assert!(matches!(&error, Error::NoFiles { .. }), "{error}");
    let error = refused(&local(&place, "main", "modules"));
    assert!(error.to_string().starts_with("modules holds no terraform files"), "{error}");
    assert_eq!(beside(&place), Vec::<PathBuf>::new());

    let empty = Place::new();
    git(&empty, &["init", "--quiet"]);
    let error = refused(&local(&empty, "main", ""));
    assert!(error.to_string().contains("no branches and no tags"), "{error}");
    let error = refused(&request(&empty, empty.path("missing").to_str().unwrap(), "main", ""));
    assert!(matches!(&error, Error::GitFailed { .. }), "{error}");
}

#[test]
fn what_would_be_an_option_of_git_is_refused() {
    let (place, _) = repository();
    let touched = place.path("touched");
    let option = format!("--upload-pack=touch {}", touched.display());
    assert!(matches!(refused(&request(&place, &option, "main", "")), Error::Git { what: "url", .. }));
    assert!(matches!(refused(&local(&place, &option, "")), Error::Git { what: "ref", .. }));
    let command = format!("ext::sh -c touch% {}", touched.display());
    assert!(matches!(refused(&request(&place, &command, "main", "")), Error::GitFailed { .. }));
    assert!(!touched.exists());
}

#[test]
fn a_link_of_the_repository_that_leaves_it_is_refused() {
    for target in ["/etc/passwd", "../../secret"] {
        let (place, _) = repository();
        place.link("network/secret.tf", target);
        commit(&place, "Malicious");
        let error = refused(&local(&place, "main", "network"));
        assert!(
            matches!(&error, Error::LinkLeaves { path, .. } if path == Path::new("network/secret.tf")),
            "{error}"
        );
    }
    // out of the path, but not out of the repository
    let (place, _) = repository();
    place.link("network/x", "../modules/x");
    place.link("prod", "network");
    commit(&place, "Links");
    taken(&local(&place, "main", "network"));
    assert!(place.work().join("network/x/main.tf").exists());
    fs::remove_file(place.path("report.json")).unwrap();
    let error = refused(&local(&place, "main", "prod"));
    assert!(matches!(&error, Error::LinkNotFollowed { .. }), "{error}");
}

#[test]
fn the_commit_is_taken_as_it_is() {
    let (place, _) = repository();
    place.write(".gitattributes", "hidden export-ignore\nsubst export-subst\n");
    place.write("hidden", "x");
    place.write("subst", "$Format:%H$");
    place.write(".terraformignore", "version\n");
    let script = place.write("run.sh", "#!/bin/sh\n");
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    commit(&place, "");
    // neither in the commit, nor of it
    place.write("untracked", "x");
    let (report, _) = taken(&local(&place, "main", "network"));
    let work = place.work();
    assert!(work.join("hidden").exists());
    assert_eq!(fs::read_to_string(work.join("subst")).unwrap(), "$Format:%H$");
    assert!(!work.join("version").exists());
    assert!(!work.join("untracked").exists());
    assert!(fs::metadata(work.join("run.sh")).unwrap().permissions().mode() & 0o100 != 0);
    assert_eq!(report.commit.unwrap().message, None);
}

/// A repository with a submodule that has one itself, and with much of what a checkout can do to files.
fn with_submodules() -> (Place, Place, Place) {
    let (inner, _) = repository();
    let (outer, _) = repository();
    let (place, _) = repository();
    inner.write("deep", "deep");
    commit(&inner, "Deep");
    git(&outer, &["submodule", "--quiet", "add", inner.source().to_str().unwrap(), "in/ner"]);
    commit(&outer, "With a submodule");
    git(&place, &["submodule", "--quiet", "add", outer.source().to_str().unwrap(), "sub"]);
    place.write(".gitattributes", "hidden export-ignore\n*.crlf text eol=crlf\nid ident\n");
    place.write("hidden", "x");
    place.write("lines.crlf", "a\nb\n");
    place.write("id", "$Id$\n");
    place.write("Case", "1");
    place.write("case", "2");
    place.write("with space and ünïcode", "x");
    let script = place.write("run.sh", "#!/bin/sh\n");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    place.link("current", "network");
    commit(&place, "All of it");
    (place, outer, inner)
}

#[test]
fn what_is_taken_is_what_git_would_have_checked_out_with_all_submodules() {
    let (place, _outer, _inner) = with_submodules();
    let (_, log) = taken(&local(&place, "main", "network"));
    assert!(log.contains("Submodule sub: ") && log.contains("Submodule sub/in/ner: "), "{log}");
    let clone = place.path("clone");
    let cloned = Command::new("git")
        .args(["-c", "protocol.file.allow=always", "clone", "--quiet", "--recurse-submodules"])
        .args([&place.source(), &clone])
        .status()
        .unwrap();
    assert!(cloned.success());
    let of_git = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
    let mut expected = found(&clone);
    expected.retain(|path, _| !of_git(path));
    assert_eq!(found(&place.work()), expected);
    assert!(expected.contains_key(Path::new("sub/in/ner/deep")));
}

#[test]
fn a_submodule_that_can_not_be_had_refuses_the_configuration() {
    let refusal = |place: &Place| refused(&local(place, "main", "network")).to_string();
    // it is gone
    let (place, outer, _) = with_submodules();
    fs::remove_dir_all(outer.source()).unwrap();
    assert!(refusal(&place).contains("git could not fetch"));
    // the commit is gone
    let (place, _, inner) = with_submodules();
    git(&inner, &["reset", "--quiet", "--hard", "v1"]);
    git(&inner, &["reflog", "expire", "--expire=now", "--all"]);
    git(&inner, &["gc", "--quiet", "--prune=now"]);
    let words = refusal(&place);
    assert!(
        words.contains("git could not fetch") || words.contains("has no branch, tag or commit"),
        "{words}"
    );
    // there is no address
    let (place, ..) = with_submodules();
    place.write(".gitmodules", "");
    commit(&place, "No address");
    let words = refusal(&place);
    assert!(words.contains("the submodule sub can't be taken: `.gitmodules` has no address"), "{words}");
    // nobody wants it, or what is in it
    place.write(".terraformignore", "sub/\n");
    commit(&place, "Not wanted");
    taken(&local(&place, "main", "network"));
    assert!(!place.work().join("sub/version").exists());
}

#[test]
fn a_file_of_which_only_the_pointer_is_there_refuses_the_configuration() {
    let (place, _) = repository();
    place.write(".gitattributes", "*.zip filter=lfs diff=lfs merge=lfs -text\n");
    let pointer = "version https://git-lfs.github.com/spec/v1\n\
                   oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
    place.write("network/lambda.zip", pointer);
    commit(&place, "A pointer");
    let words = refused(&local(&place, "main", "network")).to_string();
    assert!(
        words.contains("network/lambda.zip is kept in Git LFS") && words.contains("git lfs install"),
        "{words}"
    );
    place.write(".terraformignore", "*.zip\n");
    commit(&place, "Left out");
    taken(&local(&place, "main", "network"));
}

#[test]
fn a_fetch_that_fails_although_the_branch_is_there_names_no_missing_branch() {
    let (place, [.., third]) = repository();
    // an object is damaged: it can be listed, and not be fetched
    let object = place.source().join(".git/objects").join(&third[..2]).join(&third[2..]);
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&object, "damaged").unwrap();
    for reference in ["main", "refs/heads/main", "HEAD"] {
        let words = refused(&local(&place, reference, "network")).to_string();
        assert!(words.contains("git could not fetch"), "{reference}: {words}");
    }
    let words = refused(&local(&place, "none", "network")).to_string();
    assert!(words.contains("has no branch, tag or commit `none`; it has"), "{words}");
}

#[test]
fn limits_hold_for_a_repository() {
    let (place, _) = repository();
    place.write("big", &"x".repeat(3_000_000));
    commit(&place, "Big");
    let mut request = local(&place, "main", "network");
    request.limits.max_bytes = 1_000_000;
    assert!(matches!(refused(&request), Error::TooLarge { path, .. } if path == Path::new("big")));
    assert_eq!(beside(&place), Vec::<PathBuf>::new());
}

#[test]
fn nothing_but_the_commit_decides_the_record() {
    let (place, [first, ..]) = repository();
    let (by_tag, _) = taken(&local(&place, "v1", "network"));
    let (by_sha, _) = taken(&local(&place, &first, "network"));
    assert_eq!(by_tag.digest, by_sha.digest);
}

/// Serves the place's repository over HTTP to who knows the password, by `git http-backend`, until the tests end. While
/// it answers, the commands of all processes are looked at; the flag is set if the password stood in one.
fn serve_with_password(place: &Place) -> (u16, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, root) = (listener.local_addr().unwrap().port(), place.source());
    let seen = Arc::new(AtomicBool::new(false));
    let flag = seen.clone();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            if is_in_a_command_line(PASSWORD) {
                flag.store(true, Ordering::SeqCst);
            }
            answer(&connection.unwrap(), &root);
        }
    });
    (port, seen)
}

const PASSWORD: &str = "s3cret%of:ada";
/// `ada:s3cret%of:ada` as a browser sends it.
const AUTHORIZATION: &str = "Basic YWRhOnMzY3JldCVvZjphZGE=";

fn is_in_a_command_line(password: &str) -> bool {
    let commands = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    commands.into_iter().any(|command| String::from_utf8_lossy(&command).contains(password))
}

/// Answers one request, or refuses it if it comes without the password.
fn answer(mut connection: &TcpStream, root: &Path) {
    let mut reader = BufReader::new(connection);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let found = lines
            .iter()
            .find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name)));
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    if header("authorization") != AUTHORIZATION {
        let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\
                       Connection: close\r\n\r\n";
        return connection.write_all(refusal.as_bytes()).unwrap();
    }
    let mut request = lines[0].split(' ');
    let (method, target) = (request.next().unwrap(), request.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("HTTP_GIT_PROTOCOL", header("git-protocol"))
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    backend.stdin.take().unwrap().write_all(&body).unwrap();
    let said = backend.wait_with_output().unwrap().stdout;
    connection.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n").unwrap();
    connection.write_all(&said).unwrap();
}

#[test]
fn a_password_of_the_address_opens_the_repository_and_stands_in_no_command_line() {
    let (place, [_, _, third]) = repository();
    let (port, seen) = serve_with_password(&place);
    let url = format!("http://ada:s3cret%25of:ada@127.0.0.1:{port}/.git");
    let (report, log) = taken(&request(&place, &url, "main", "network"));
    assert_eq!(report.commit.map(|commit| commit.sha), Some(third));
    assert!(!log.contains("s3cret"), "{log}");
    assert!(!seen.load(Ordering::SeqCst), "the password stood in a command line");
}
