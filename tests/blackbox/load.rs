//! Large and many: what is asked of the daemon at once does not decide how much memory it takes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{Setup, World, terraform, token, wait_for};

const MIB: usize = 1 << 20;

/// A state whose one output is a text of this length.
fn state_with_output(serial: u64, length: usize) -> Vec<u8> {
    let text = "x".repeat(length);
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"abc","outputs":{{"large":{{"value":"{text}","type":"string"}}}},"resources":[]}}"#
    )
    .into_bytes()
}

/// A state whose one resource holds a text of this length.
fn state_with_resource(serial: u64, length: usize) -> Vec<u8> {
    let text = "x".repeat(length);
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"abc","outputs":{{}},"resources":[{{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{{"schema_version":0,"attributes":{{"id":"1","input":{{"value":"{text}","type":"string"}}}}}}]}}]}}"#
    )
    .into_bytes()
}

/// The most memory that the daemon has had at once, in bytes.
fn most_memory(world: &World) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", world.daemon().pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

fn push(world: &World, state: &[u8]) {
    let file = world.path().join("large.tfstate");
    std::fs::write(&file, state).unwrap();
    let pushed = world.cli("admin").args(["state", "push", "net"]).arg(&file).output().unwrap();
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
}

fn address(world: &World) -> SocketAddr {
    let url = world.client("admin").address().clone();
    url.socket_addrs(|| None).unwrap()[0]
}

fn head(method: &str, path: &str, user: &str, length: usize) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: signalbox\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n",
        token(user)
    )
}

async fn answered(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_state_of_any_size_goes_in_and_comes_out_and_takes_no_memory() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let state = state_with_resource(1, 100 * MIB);
    push(&world, &state);
    let before = most_memory(&world);
    assert!(before < 100 * MIB, "{} MiB", before / MIB);
    let pulled = world.cli("admin").args(["state", "pull", "net"]).output().unwrap();
    assert!(pulled.stdout == state);
    assert!(most_memory(&world) < 100 * MIB, "{} MiB", most_memory(&world) / MIB);

    let limited =
        Setup::new().server("max_state_size = \"1 MiB\"").workspace("net", terraform::SIMPLE).start();
    let file = limited.path().join("large.tfstate");
    std::fs::write(&file, state_with_resource(1, 2 * MIB)).unwrap();
    let refused = limited.cli("admin").args(["state", "push", "net"]).arg(&file).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("larger than 1048576 bytes"));
}

#[tokio::test]
async fn large_answers_that_nobody_reads_and_large_uploads_share_one_budget() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    push(&world, &state_with_output(1, 40 * MIB));
    let id = world.workspace("net").await.resource.id;
    let address = address(&world);

    // forty who ask and don't read
    let mut deaf = Vec::new();
    for _ in 0..40 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let path = format!("/api/v2/workspaces/{id}/current-state-version-outputs");
        stream.write_all(head("GET", &path, "admin", 0).as_bytes()).await.unwrap();
        deaf.push(stream);
    }
    // one that says one byte and no more
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(head("POST", "/api/v2/runs", "admin", 900_000).as_bytes()).await.unwrap();
    slow.write_all(b"{").await.unwrap();

    // eight who send forty megabytes at once
    let state = BASE64_STANDARD.encode(state_with_output(2, 40 * MIB));
    let body = format!(r#"{{"data":{{"type":"state-versions","attributes":{{"state":"{state}"}}}}}}"#);
    let client = world.client("admin");
    client.lock_workspace(&id, "pushing").await.unwrap();
    let upload = || {
        let (body, id) = (body.clone(), id.clone());
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let path = format!("/api/v2/workspaces/{id}/state-versions");
            stream.write_all(head("POST", &path, "admin", body.len()).as_bytes()).await.unwrap();
            stream.write_all(body.as_bytes()).await.unwrap();
            answered(stream).await
        })
    };
    let uploads: Vec<_> = (0..8).map(|_| upload()).collect();
    // others are answered meanwhile
    let asked = Instant::now();
    world.workspace("net").await;
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    for upload in uploads {
        let answer = upload.await.unwrap();
        let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
        // the same state again is the same version; who waited too long is told to come again
        assert!(["201", "503"].contains(&&*status), "{status}: {}", &answer[..answer.len().min(500)]);
    }
    for stream in deaf {
        let answer = answered(stream).await;
        let whole = answer.starts_with("HTTP/1.1 200") && answer.len() > 40 * MIB;
        assert!(whole || answer.starts_with("HTTP/1.1 503"), "{}", &answer[..answer.len().min(500)]);
    }
    // who was told to come again is served then
    let again = upload().await.unwrap();
    assert!(again.starts_with("HTTP/1.1 201"), "{}", &again[..again.len().min(500)]);
    let most = most_memory(&world);
    println!("under hostile load: {} MiB", most / MIB);
    assert!(most < 200 * MIB, "{} MiB", most / MIB);
}

#[tokio::test]
async fn one_address_does_not_keep_others_out() {
    let world =
        Setup::new().server("max_connections_per_address = 8").workspace("net", terraform::SIMPLE).start();
    let address = address(&world);
    let mut idle = Vec::new();
    for _ in 0..8 {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    wait_for("the ninth is turned away", async || {
        let mut ninth = TcpStream::connect(address).await.unwrap();
        let _ = ninth.write_all(head("GET", "/api/v2/ping", "admin", 0).as_bytes()).await;
        let mut answer = String::new();
        let _ = ninth.read_to_string(&mut answer).await;
        answer.contains("max_connections_per_address").then_some(())
    })
    .await;
    // from another address of this machine
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = socket.connect(address).await.unwrap();
    other.write_all(head("GET", "/api/v2/account/details", "admin", 0).as_bytes()).await.unwrap();
    assert!(answered(other).await.starts_with("HTTP/1.1 200"));
    drop(idle);
    wait_for("there is place again", async || world.client("admin").workspace("net").await.ok()).await;
}
