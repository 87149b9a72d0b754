//! A run is followed against a server that plays a script.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use client::{Client, Run, Stage};
use lifecycle::{Execution, State, Work};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use wire::{Identifier, PolicyCheckAttributes, Relationship, samples};

use super::driver::Driver;
use super::{Answer, Options, View};
use crate::cli::context::Context;
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::paint::Paint;

/// What the server does. Its run goes through `before`, waits for a request that decides, and goes through `after`.
struct Script {
    before: Vec<Value>,
    after: Vec<Value>,
    /// Whether what follows on the decision comes without one.
    decided_elsewhere: bool,
}

/// What was asked of it by POST.
type Asked = Arc<Mutex<Vec<String>>>;

/// Something that has happened or not.
type Flag = Arc<watch::Sender<bool>>;

async fn serve(script: Script) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Asked::default();
    let flags = [false, script.decided_elsewhere].map(|flag| Flag::new(watch::channel(flag).0));
    let script = Arc::new(script);
    let log = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, Arc::clone(&script), flags.clone(), Arc::clone(&log)));
        }
    });
    (address, asked)
}

/// Every answer closes its connection; a log comes after everything that the run has to say by then.
async fn answer(mut stream: TcpStream, script: Arc<Script>, [told, decide]: [Flag; 2], asked: Asked) {
    let mut request = Vec::new();
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        if stream.read_buf(&mut request).await.unwrap() == 0 {
            return;
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    if request.starts_with("POST") {
        asked.lock().unwrap().push(path);
        decide.send_replace(true);
        let document = json!({ "data": { "type": "policy-checks", "id": "polchk-1", "attributes": {
            "status": "overridden", "status-timestamps": {}, "scope": "organization", "result": null,
            "actions": { "is-overridable": false }, "permissions": { "can-override": true } } } });
        let body = document.to_string();
        let head =
            format!("HTTP/1.1 202 Accepted\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).await.unwrap();
    } else if path.contains("/events") {
        stream.write_all(head.as_bytes()).await.unwrap();
        send_runs(&mut stream, &script.before).await;
        told.send_replace(true);
        decide.subscribe().wait_for(|decided| *decided).await.unwrap();
        send_runs(&mut stream, &script.after).await;
    } else {
        let stage = path.split('/').rev().nth(1).unwrap_or_default();
        let data = json!({ "offset": 0, "data": STANDARD.encode(format!("the {stage} log\n")) });
        stream.write_all(format!("{head}event: log\ndata: {data}\n\n").as_bytes()).await.unwrap();
        // the run's events overtake the end of the log
        told.subscribe().wait_for(|told| *told).await.unwrap();
        stream.write_all(b"event: end\ndata: {}\n\n").await.unwrap();
    }
}

async fn send_runs(stream: &mut TcpStream, runs: &[Value]) {
    for run in runs {
        stream.write_all(format!("event: run\ndata: {run}\n\n").as_bytes()).await.unwrap();
    }
}

const PLANNING: State = State::Planning(Work::Executing(Execution::Running));
const APPLYING: State = State::Applying(Work::Executing(Execution::Running));

/// A run in that state, for a user who may do everything.
fn run(state: State) -> wire::Run {
    let mut run = samples::run(state);
    run.attributes.permissions = samples::permissions(true);
    if matches!(state, State::PolicyOverride | State::PolicyChecked) {
        let check = Identifier::of::<PolicyCheckAttributes>("polchk-1");
        run.relationships.policy_checks = Relationship::many(vec![check]);
    }
    run
}

fn documents(runs: impl IntoIterator<Item = wire::Run>) -> Vec<Value> {
    runs.into_iter().map(|run| serde_json::to_value(samples::document(run)).unwrap()).collect()
}

fn runs(states: &[State]) -> Vec<Value> {
    documents(states.iter().map(|state| run(*state)))
}

/// Writes down what is shown.
#[derive(Default)]
struct Record {
    lines: Vec<String>,
    /// It was told that the run waits.
    told: Arc<Notify>,
}

impl View for Record {
    fn update(&mut self, _: &Run) -> Result<(), Failure> {
        Ok(())
    }

    fn state(&mut self, run: &Run) -> Result<(), Failure> {
        self.lines.push(run.state_name().to_owned());
        Ok(())
    }

    fn log(&mut self, _: Stage, bytes: &[u8]) -> Result<(), Failure> {
        self.lines.push(String::from_utf8_lossy(bytes).trim().to_owned());
        Ok(())
    }

    fn log_end(&mut self, _: Stage) -> Result<(), Failure> {
        self.lines.push("end".to_owned());
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.lines.push(format!("note: {text}"));
    }

    fn review(&mut self, review: &review::Review) -> Result<(), Failure> {
        self.lines.push(format!("review: {}", review.counts));
        Ok(())
    }

    fn waits(&mut self, _: &Run) -> Result<(), Failure> {
        self.lines.push("waits".to_owned());
        self.told.notify_one();
        Ok(())
    }

    fn ask(&mut self, question: &str) {
        self.lines.push(format!("asked: {question}"));
    }

    fn end(&mut self, _: &Run, exit: Exit) -> Result<(), Failure> {
        self.lines.push(format!("exit {}", exit.status()));
        Ok(())
    }

    fn close(&mut self) {}
}

fn context(address: &str) -> Context {
    let paint = Paint::new(false);
    let output = Output { json: false, paint, notes: paint, is_watched: false, width: None, can_ask: false };
    Context { client: Client::new(address, "token").unwrap(), output }
}

async fn follow(options: Options, script: Script) -> (Vec<String>, Vec<String>, Exit) {
    let (address, asked) = serve(script).await;
    let context = context(&address);
    let mut view = Record::default();
    let exit = Driver::new("run-1", options, &context).run(&mut view).await.unwrap();
    let asked = asked.lock().unwrap().clone();
    (view.lines, asked, exit)
}

#[tokio::test]
async fn a_state_is_shown_after_the_log_that_led_to_it() {
    let script = Script {
        before: runs(&[State::Pending, PLANNING, State::NeedsConfirmation]),
        after: runs(&[APPLYING, State::Applied]),
        decided_elsewhere: false,
    };
    let options = Options { answer: Answer::Yes, ..Options::default() };
    let (shown, asked, exit) = follow(options, script).await;
    let after_the_plan = shown.iter().position(|line| line == "end").unwrap();
    assert!(shown[..after_the_plan].contains(&"the plan log".to_owned()), "{shown:?}");
    let rest: Vec<_> = shown[after_the_plan + 1..].iter().map(String::as_str).collect();
    assert_eq!(rest[0], "Needs Confirmation");
    assert_eq!(rest[rest.len() - 3..], ["end", "Applied", "exit 0"]);
    assert_eq!((asked, exit), (vec!["/api/v2/runs/run-1/actions/apply".to_owned()], Exit::Success));
}

#[tokio::test]
async fn what_nobody_here_decides_is_told_once_and_followed_to_its_end() {
    let script = Script {
        before: runs(&[PLANNING, State::NeedsConfirmation, State::NeedsConfirmation]),
        after: runs(&[State::Discarded(Stage::Plan)]),
        decided_elsewhere: false,
    };
    let (address, _) = serve(script).await;
    let context = context(&address);
    let mut view = Record::default();
    let told = Arc::clone(&view.told);
    let elsewhere = async {
        told.notified().await;
        context.client.act_on_run("run-1", client::RunAction::Discard, None).await.unwrap();
    };
    let driver = Driver::new("run-1", Options::default(), &context);
    let (exit, ()) = tokio::join!(driver.run(&mut view), elsewhere);
    assert_eq!(view.lines.last_chunk(), Some(&["waits", "Discarded", "exit 3"].map(str::to_owned)));
    assert_eq!(view.lines.iter().filter(|line| *line == "waits").count(), 1);
    assert_eq!(exit.unwrap(), Exit::Declined);
}

#[tokio::test]
async fn failed_policies_are_overridden_by_their_check() {
    let script = Script {
        before: runs(&[State::PolicyOverride]),
        after: runs(&[State::Discarded(Stage::Plan)]),
        decided_elsewhere: false,
    };
    let options = Options { answer: Answer::Yes, ..Options::default() };
    let (shown, asked, exit) = follow(options, script).await;
    let logs: Vec<_> = shown.iter().filter(|line| line.starts_with("the ")).map(String::as_str).collect();
    assert_eq!(logs, ["the plan log", "the policy-check log"]);
    assert_eq!(asked, ["/api/v2/policy-checks/polchk-1/actions/override"]);
    assert_eq!(exit, Exit::Declined);
}

#[tokio::test]
async fn a_run_that_is_applied_by_itself_is_not_asked_about() {
    let mut checked = run(State::PolicyChecked);
    checked.attributes.auto_apply = true;
    let script = Script {
        before: documents([checked]),
        after: runs(&[APPLYING, State::Applied]),
        decided_elsewhere: true,
    };
    let (shown, asked, exit) = follow(Options::default(), script).await;
    assert!(!shown.iter().any(|line| line == "waits"), "{shown:?}");
    assert_eq!((asked.len(), exit), (0, Exit::Success));
}

#[tokio::test]
async fn whoever_confirmed_sees_the_apply_alone() {
    let script =
        Script { before: runs(&[APPLYING]), after: runs(&[State::Applied]), decided_elsewhere: true };
    let options = Options { first: Stage::Apply, ..Options::default() };
    let (shown, _, _) = follow(options, script).await;
    let logs: Vec<_> = shown.iter().filter(|line| line.starts_with("the ")).map(String::as_str).collect();
    assert_eq!(logs, ["the apply log"]);
}
