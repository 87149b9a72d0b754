//! What holds of the files below a data directory: the lock, modes, blobs, and what is left after a death.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use store::{Digest, Error, NewWorkspace, Store};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

#[tokio::test]
async fn a_missing_data_directory_is_made_for_this_user_alone() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("var/lib/signalbox");
    let store = Store::open(&data).await.unwrap();
    store.create_workspace(NewWorkspace::named("network", now())).await.unwrap();
    let blob = store.blobs().put_bytes(*b"secret").await.unwrap();
    assert_eq!(mode(&data), 0o700);
    assert_eq!(
        names(&data),
        ["blobs", "keys", "lock", "signalbox.db", "signalbox.db-shm", "signalbox.db-wal"]
    );
    for file in ["keys", "lock", "signalbox.db", "signalbox.db-shm", "signalbox.db-wal"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    let path = store.blobs().path(blob.digest);
    assert_eq!(path, data.canonicalize().unwrap().join(format!("blobs/2b/{}", Digest::of(b"secret"))));
    assert_eq!((mode(&path), mode(path.parent().unwrap()), mode(&data.join("blobs"))), (0o600, 0o700, 0o700));
}

#[tokio::test]
async fn a_second_store_on_the_same_data_is_refused_and_told_by_whom() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let refused = Store::open(dir.path()).await.unwrap_err();
    let pid = std::process::id();
    assert_eq!(refused, Error::DataDirInUse { path: path.clone(), pid: Some(pid) });
    let text = format!("data directory {} is in use by process {pid}", path.display());
    assert!(refused.to_string().starts_with(&text), "{refused}");
    // the refusal did the holder no harm
    store.create_workspace(NewWorkspace::named("network", now())).await.unwrap();
    store.close().await;
    Store::open(dir.path()).await.unwrap();
}

#[tokio::test]
async fn a_data_directory_that_cannot_be_used_is_named_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    File::create(&file).unwrap();
    for (path, reason) in [
        (file.clone(), "File exists"),
        (file.join("below"), "File exists"),
        // not even root may make a directory here
        ("/proc/signalbox".into(), "No such file or directory"),
    ] {
        let error = Store::open(&path).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("data directory {}", path.display())), "{error}");
        assert!(error.contains(reason) && error.contains("give data_dir a directory"), "{error}");
    }
    fs::create_dir(dir.path().join("lock")).unwrap();
    let error = Store::open(dir.path()).await.unwrap_err().to_string();
    assert!(error.contains("/lock: Is a directory"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("signalbox.db");
    let text = "not a database, but somebody's only copy of something\n".repeat(100);
    fs::write(&database, &text).unwrap();
    let error = Store::open(dir.path()).await.unwrap_err();
    assert!(error.to_string().contains("the file is damaged"), "{error}");
    assert_eq!(fs::read_to_string(&database).unwrap(), text);
}

#[tokio::test]
async fn everything_is_there_again_after_a_close_and_after_a_drop() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let workspace = store.create_workspace(NewWorkspace::named("network", now())).await.unwrap();
    let blob = store.blobs().put_bytes(*b"content").await.unwrap();
    let other = store.clone();
    store.close().await;
    assert_eq!(other.create_workspace(NewWorkspace::named("storage", now())).await, Err(Error::Closed));
    assert_eq!(other.workspaces().await, Err(Error::Closed));
    // in order, so that nothing but the database itself is left
    assert_eq!(names(dir.path()), ["blobs", "keys", "lock", "signalbox.db"]);

    let store = Store::open(dir.path()).await.unwrap();
    assert_eq!(store.workspaces().await.unwrap(), std::slice::from_ref(&workspace));
    drop(store);
    let store = loop {
        match Store::open(dir.path()).await {
            Ok(store) => break store,
            Err(Error::DataDirInUse { .. }) => tokio::task::yield_now().await,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(store.workspaces().await.unwrap(), [workspace]);
    assert_eq!(store.blobs().read(blob.digest).await.unwrap(), b"content");
}

#[tokio::test]
async fn a_blob_is_found_by_its_content_and_put_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let blobs = store.blobs();
    let put: Vec<_> = (0..8)
        .map(|_| {
            let blobs = blobs.clone();
            tokio::spawn(async move { blobs.put_bytes(vec![7; 300_000]).await.unwrap() })
        })
        .collect();
    for put in put {
        let blob = put.await.unwrap();
        assert_eq!((blob.digest, blob.size), (Digest::of(&vec![7; 300_000]), 300_000));
    }
    let digest = Digest::of(&vec![7; 300_000]);
    assert_eq!(blobs.read(digest).await.unwrap(), vec![7; 300_000]);
    assert_eq!(names(&dir.path().join("blobs/unfinished")), Vec::<String>::new());

    let opened = blobs.open(digest).await.unwrap();
    let mut content = Vec::new();
    std::io::Read::read_to_end(&mut opened.reader(), &mut content).unwrap();
    assert_eq!(opened.len(), 300_000);
    assert_eq!(Digest::of(&content), digest);

    let empty = blobs.put_bytes(Vec::new()).await.unwrap();
    assert_eq!((empty.size, blobs.read(empty.digest).await.unwrap()), (0, Vec::new()));
    let missing = Digest::of(b"never put");
    let error = Error::NotFound(format!("blob {missing}"));
    assert_eq!(blobs.read(missing).await, Err(error.clone()));
    assert_eq!(blobs.open(missing).await.unwrap_err(), error);
}

#[tokio::test]
async fn a_file_that_is_written_on_after_it_was_put_does_not_reach_the_blob() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("data")).await.unwrap();
    let path = dir.path().join("terraform.tfstate");
    fs::write(&path, "before").unwrap();
    let blob = store.blobs().put_file(&path).await.unwrap();
    File::options().write(true).open(&path).unwrap().write_all(b"after!").unwrap();
    assert_eq!(store.blobs().read(blob.digest).await.unwrap(), b"before");
    assert_eq!((blob.digest, blob.size), (Digest::of(b"before"), 6));
}

#[tokio::test]
async fn what_cannot_be_put_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("data")).await.unwrap();
    let fifo = dir.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let table = [
        (dir.path().join("missing"), "No such file"),
        (dir.path().into(), "not a regular"),
        (fifo, "not a regular"),
    ];
    for (path, reason) in table {
        let error = store.blobs().put_file(&path).await.unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()) && error.contains(reason), "{error}");
    }
    assert_eq!(names(&dir.path().join("data/blobs")), ["unfinished"]);
    assert_eq!(names(&dir.path().join("data/blobs/unfinished")), Vec::<String>::new());
}

#[tokio::test]
async fn a_damaged_blob_is_noticed_and_healed_when_it_is_put_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let blob = store.blobs().put_bytes(*b"the true content").await.unwrap();
    let path = store.blobs().path(blob.digest);
    fs::write(&path, "the true").unwrap();
    assert_eq!(store.blobs().read(blob.digest).await, Err(Error::BlobDamaged { path }));
    assert_eq!(store.blobs().put_bytes(*b"the true content").await.unwrap(), blob);
    assert_eq!(store.blobs().read(blob.digest).await.unwrap(), b"the true content");
}

#[tokio::test]
async fn half_written_blobs_of_a_dead_process_are_removed_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let unfinished = dir.path().join("blobs/unfinished");
    fs::create_dir_all(&unfinished).unwrap();
    fs::write(unfinished.join("4711-0"), "half a pl").unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    assert_eq!(names(&unfinished), Vec::<String>::new());
    store.blobs().put_bytes(*b"whole").await.unwrap();
}

#[tokio::test]
async fn another_process_that_holds_the_database_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(dir.path().join("signalbox.db"));
    let mut shell = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut shell).await.unwrap();
    let mut write = Box::pin(store.create_workspace(NewWorkspace::named("network", now())));
    assert!(tokio::time::timeout(Duration::from_millis(50), &mut write).await.is_err());
    // reads go on meanwhile
    assert_eq!(store.workspaces().await.unwrap(), []);
    sqlx::query("ROLLBACK").execute(&mut shell).await.unwrap();
    assert_eq!(write.await.unwrap().name, "network");

    sqlx::query("BEGIN IMMEDIATE").execute(&mut shell).await.unwrap();
    let error = store.create_workspace(NewWorkspace::named("storage", now())).await.unwrap_err();
    assert!(error.to_string().contains("busy, another process holds it"), "{error}");
    sqlx::query("ROLLBACK").execute(&mut shell).await.unwrap();
    assert_eq!(store.workspaces().await.unwrap().len(), 1);
    store.create_workspace(NewWorkspace::named("storage", now())).await.unwrap();
}

#[tokio::test]
async fn the_database_itself_refuses_what_must_never_happen() {
    use lifecycle::{Event, Facts, WorkspaceRights};
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let workspace = store.create_workspace(NewWorkspace::named("network", now())).await.unwrap().id;
    let mut runs = Vec::new();
    for _ in 0..3 {
        let new = store::NewRun {
            id: lifecycle::id::RunId::generate(),
            workspace,
            facts: Facts::default(),
            options: store::RunOptions::default(),
            source: "tfe-api".into(),
            created_by: "ada".into(),
            created_at: now(),
            configuration_version: None,
        };
        runs.push(store.create_run(new).await.unwrap());
    }
    let event = |run: &store::Run, event| store::RunEvent {
        run: run.id,
        event,
        creator: WorkspaceRights::NONE,
        by: store::Actor::System,
        why: None,
        at: now(),
        update: store::RunUpdate::default(),
    };
    store.record(event(&runs[0], Event::Start)).await.unwrap();
    store.record(event(&runs[2], Event::Discard)).await.unwrap();

    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(dir.path().join("signalbox.db"));
    let mut shell = sqlx::ConnectOptions::connect(&options).await.unwrap();
    for (statement, reason) in [
        ("UPDATE runs SET holds = 1 WHERE final = 0", "UNIQUE constraint failed: runs.workspace"),
        ("UPDATE runs SET state = 'pending', final = 0 WHERE final = 1", "a final run never changes"),
        ("UPDATE journal SET by_user = 'mallory'", "the journal never changes"),
        ("DELETE FROM journal", "the journal never changes"),
    ] {
        let error = sqlx::query(statement).execute(&mut shell).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[tokio::test]
async fn data_of_a_newer_release_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    Store::open(dir.path()).await.unwrap().close().await;
    let database = dir.path().join("signalbox.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&database);
    let mut shell = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("INSERT INTO _sqlx_migrations SELECT 9000, 'later', installed_on, success, checksum, execution_time FROM _sqlx_migrations LIMIT 1")
        .execute(&mut shell)
        .await
        .unwrap();
    sqlx::Connection::close(shell).await.unwrap();
    let error = Store::open(dir.path()).await.unwrap_err();
    let path = dir.path().canonicalize().unwrap().join("signalbox.db");
    assert_eq!(error, Error::NewerRelease { path, migration: 9000 });
}

#[tokio::test]
async fn commits_write_over_a_log_that_has_its_full_length_from_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let log = dir.path().join("signalbox.db-wal");
    let length = || fs::metadata(&log).unwrap().len();
    let begun = length();
    assert!(begun > 4 << 20, "{begun}");
    for n in 0..300 {
        store.create_workspace(NewWorkspace::named(format!("w{n}"), now())).await.unwrap();
    }
    assert_eq!(length(), begun);
    assert_eq!(store.workspaces().await.unwrap().len(), 300);
}
