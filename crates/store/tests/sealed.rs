//! With a key, what is kept in files is encrypted.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use seal::{Key, Keyring};
use store::{Blob, Digest, Error, Store, reseal};

const SECRET: &[u8] = b"the password is hunter2";

fn key() -> Key {
    Key::ephemeral().unwrap()
}

fn with(current: &Key) -> Keyring {
    Keyring::new(Some(current.clone()), [])
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() { found.extend(files(&entry.path())) } else { found.push(entry.path()) }
    }
    found
}

fn lies_in_clear(dir: &Path) -> bool {
    let within = |bytes: Vec<u8>| bytes.windows(SECRET.len()).any(|window| window == SECRET);
    files(dir).into_iter().any(|file| within(fs::read(file).unwrap()))
}

fn content(blob: &Blob) -> Vec<u8> {
    let mut content = Vec::new();
    blob.reader().read_to_end(&mut content).unwrap();
    content
}

#[tokio::test]
async fn nothing_that_is_put_lies_in_clear_and_all_of_it_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open_with(dir.path(), with(&key())).await.unwrap();
    let blobs = store.blobs();
    let digest = Digest::of(SECRET);
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("file");
    fs::write(&file, SECRET).unwrap();
    assert_eq!(blobs.put_bytes(SECRET).await.unwrap().digest, digest);
    assert_eq!(blobs.put_file(&file).await.unwrap().digest, digest);
    assert_eq!(blobs.adopt_file(&file).await.unwrap().digest, digest);
    let mut sink = blobs.sink().unwrap();
    sink.write_all(SECRET).unwrap();
    assert_eq!(sink.finish().unwrap().size, SECRET.len() as u64);
    let mut scratch = blobs.scratch();
    for _ in 0..10_000 {
        scratch.write_all(SECRET).unwrap();
    }
    let scratch = scratch.finish().unwrap();
    assert_eq!(content(&scratch), SECRET.repeat(10_000));
    assert!(!lies_in_clear(dir.path()));
    assert_eq!(blobs.read(digest).await.unwrap(), SECRET);
    assert_eq!(content(&blobs.open(digest).await.unwrap()), SECRET);
    let copy = outside.path().join("copy");
    assert_eq!(blobs.in_clear(digest, copy.clone()).await.unwrap(), copy);
    assert_eq!(fs::read(copy).unwrap(), SECRET);
    assert!(!store.lies_in_clear());
}

#[tokio::test]
async fn a_data_directory_is_not_opened_without_each_of_its_keys() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (key(), key());
    let id = first.id();
    Store::open_with(dir.path(), with(&first)).await.unwrap().close().await;
    let path = dir.path().canonicalize().unwrap();
    let refused = Error::NoKey { path, key: id };
    assert_eq!(Store::open(dir.path()).await.unwrap_err(), refused);
    assert_eq!(Store::open_with(dir.path(), with(&second)).await.unwrap_err(), refused);
    assert!(
        refused.to_string().contains(&id.to_string())
            && refused.to_string().contains("previous_encryption_keys")
    );
    assert!(!refused.can_pass());
    let both = Keyring::new(Some(second), [first]);
    Store::open_with(dir.path(), both).await.unwrap();
}

#[tokio::test]
async fn a_sealed_blob_that_was_changed_is_damaged_and_replaced_when_it_comes_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open_with(dir.path(), with(&key())).await.unwrap();
    let blob = store.blobs().put_bytes(SECRET).await.unwrap();
    let path = store.blobs().path(blob.digest);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(store.blobs().read(blob.digest).await, Err(Error::BlobDamaged { path }));
    assert_eq!(store.blobs().put_bytes(SECRET).await.unwrap(), blob);
    assert_eq!(store.blobs().read(blob.digest).await.unwrap(), SECRET);
}

#[tokio::test]
async fn what_lay_in_clear_is_sealed_and_a_key_can_be_changed_and_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (key(), key());
    let beside = dir.path().join("settings.json");
    let large = [SECRET, &vec![7; 300_000]].concat();
    let store = Store::open(dir.path()).await.unwrap();
    fs::write(&beside, SECRET).unwrap();
    let blob = store.blobs().put_bytes(large.clone()).await.unwrap();
    store.close().await;

    let rings = [with(&first), Keyring::new(Some(second.clone()), [first]), Keyring::new(None, [second])];
    for keys in rings {
        let clear = keys.writes_with().is_none();
        let store = Store::open_with(dir.path(), keys.clone()).await.unwrap();
        assert!(store.lies_in_clear() || !clear);
        // beside a store that is open with the same keys
        let one = std::slice::from_ref(&beside);
        let done = reseal(dir.path(), &keys, one, |_| ()).unwrap();
        assert_eq!((done.rewritten, done.failed.as_slice()), (2, [].as_slice()));
        assert_eq!(reseal(dir.path(), &keys, one, |_| ()).unwrap().unchanged, 2);
        assert_eq!(lies_in_clear(dir.path()), clear);
        assert_eq!(store.blobs().read(blob.digest).await.unwrap(), large);
        let settings = fs::read(&beside).unwrap();
        assert_eq!(store.blobs().unseal(settings, &beside).unwrap(), SECRET);
        store.close().await;
        // the other keys are needed no more
        let alone = Keyring::new(keys.current().cloned(), []);
        let store = Store::open_with(dir.path(), alone).await.unwrap();
        assert_eq!(store.lies_in_clear(), clear);
        assert_eq!(store.blobs().read(blob.digest).await.unwrap(), large);
        store.close().await;
    }
}

#[tokio::test]
async fn a_daemon_that_writes_with_another_key_is_not_gone_past() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (key(), key());
    let store = Store::open_with(dir.path(), with(&first)).await.unwrap();
    store.blobs().put_bytes(SECRET).await.unwrap();
    let keys = Keyring::new(Some(second), [first]);
    let refused = reseal(dir.path(), &keys, &[], |_| ()).unwrap_err();
    assert!(matches!(&refused, Error::Refused(words) if words.contains("restart")), "{refused}");
    store.close().await;
    assert_eq!(reseal(dir.path(), &keys, &[], |_| ()).unwrap().rewritten, 1);
}

#[tokio::test]
async fn what_can_not_be_read_stays_and_keeps_its_key_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (key(), key());
    let store = Store::open_with(dir.path(), with(&first)).await.unwrap();
    let good = store.blobs().put_bytes(SECRET).await.unwrap();
    let bad = store.blobs().put_bytes(*b"other").await.unwrap();
    fs::write(store.blobs().path(bad.digest), "damaged").unwrap();
    store.close().await;
    let keys = Keyring::new(Some(second.clone()), [first.clone()]);
    let done = reseal(dir.path(), &keys, &[], |_| ()).unwrap();
    assert_eq!((done.rewritten, done.failed.len()), (1, 1));
    assert!(done.failed[0].contains(&bad.digest.to_string()), "{:?}", done.failed);
    let refused = Store::open_with(dir.path(), with(&second)).await.unwrap_err();
    assert!(matches!(refused, Error::NoKey { key, .. } if key == first.id()));
    let store = Store::open_with(dir.path(), keys).await.unwrap();
    assert_eq!(store.blobs().read(good.digest).await.unwrap(), SECRET);
}
