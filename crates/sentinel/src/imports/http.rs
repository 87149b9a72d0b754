//! `http`: requests, sent by the application if it allows them.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Call;
use crate::error::Error;
use crate::host::HttpRequest;
use crate::value::show;
use crate::value::{Data, DataMap, Key, Map, Receiver, Value};

pub(super) const FUNCTIONS: &[&str] = &[
    "accept_status_codes",
    "get",
    "post",
    "request",
    "send",
    "with_retries",
    "with_timeout",
    "without_certificate_verification",
];

/// Headers whose values are shown nowhere.
const CREDENTIALS: [&str; 2] = ["Authorization", "Proxy-Authorization"];

pub(super) const CLIENT_METHODS: &[&str] = &[
    "accept_status_codes",
    "get",
    "post",
    "send",
    "with_retries",
    "with_timeout",
    "without_certificate_verification",
];

pub(super) const REQUEST_METHODS: &[&str] = &["with_basic_auth", "with_body", "with_header", "with_method"];

const MAX_RETRIES: i64 = 10;
const MAX_TIMEOUT: i64 = 30;

fn object<const N: usize>(entries: [(&str, Data); N], receiver: Receiver) -> Value {
    let entries = entries.into_iter().map(|(name, data)| (Key::from(name), data)).collect();
    Value::Map(Map::object(DataMap::new(entries), receiver))
}

fn client() -> Value {
    object(
        [
            ("accepted_status_codes", Data::list([Data::Int(200)])),
            ("certificate_verification", Data::Bool(true)),
            ("retries", Data::Int(1)),
            ("timeout", Data::Int(10)),
        ],
        Receiver::HttpClient,
    )
}

pub(super) fn constant(name: &str) -> Option<Value> {
    match name {
        "client" => Some(client()),
        "methodGet" => Some(Value::str("GET")),
        "methodPost" => Some(Value::str("POST")),
        // the settings of the default client are readable at the top too
        "accepted_status_codes" | "certificate_verification" | "retries" | "timeout" => match client() {
            Value::Map(map) => map.get_name(name.as_bytes()),
            _ => None,
        },
        _ => None,
    }
}

fn request(url: &str) -> Value {
    object(
        [
            ("body", "".into()),
            ("headers", Data::map::<&str>([])),
            ("method", "GET".into()),
            ("url", url.into()),
        ],
        Receiver::HttpRequest,
    )
}

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    if call.function == "request" {
        let [url] = call.exactly()?;
        if url.is_undefined() {
            return Ok(url);
        }
        let url = call.text(&url)?;
        call.eval.meter.text(url.len())?;
        return Ok(request(&url));
    }
    let Value::Map(client) = client() else { return Ok(call.missing()) };
    client_method(call, &client)
}

/// A copy of an object with one member changed.
fn with(call: &Call<'_, '_>, map: &Map, name: &str, value: Value) -> Result<Value, Error> {
    let mut entries: BTreeMap<Key, Value> = call.entries(map)?.into_iter().collect();
    entries.insert(Key::from(name), value);
    Ok(Value::Map(map.owned_like(entries)))
}

pub(super) fn client_method(call: Call<'_, '_>, map: &Map) -> Result<Value, Error> {
    if let Some(undefined) = call.undefined() {
        return Ok(undefined);
    }
    match call.function {
        "accept_status_codes" => {
            let [codes] = call.exactly()?;
            for code in call.list(&codes)? {
                if !matches!(code, Value::Int(100..=599)) {
                    return Err(call.error("needs a list of status codes"));
                }
            }
            with(&call, map, "accepted_status_codes", codes)
        }
        "with_retries" => {
            let [count] = call.exactly()?;
            with(&call, map, "retries", within(&call, count, 0, MAX_RETRIES)?)
        }
        "with_timeout" => {
            let [seconds] = call.exactly()?;
            with(&call, map, "timeout", within(&call, seconds, 1, MAX_TIMEOUT)?)
        }
        "without_certificate_verification" => {
            let [] = call.exactly()?;
            with(&call, map, "certificate_verification", Value::Bool(false))
        }
        _ => send(&call, map),
    }
}

fn within(call: &Call<'_, '_>, value: Value, least: i64, most: i64) -> Result<Value, Error> {
    match value {
        Value::Int(number) if (least..=most).contains(&number) => Ok(value),
        Value::Int(number) => Err(call.error(format!("takes {least} to {most}, not {number}"))),
        other => Err(call.wanted("an int", &other)),
    }
}

pub(super) fn request_method(mut call: Call<'_, '_>, map: &Map) -> Result<Value, Error> {
    if let Some(undefined) = call.undefined() {
        return Ok(undefined);
    }
    match call.function {
        "with_body" => {
            let [body] = call.exactly()?;
            with(&call, map, "body", Value::Str(call.string(&body)?))
        }
        "with_method" => {
            let [method] = call.exactly()?;
            match &*call.text(&method)? {
                "GET" | "POST" => with(&call, map, "method", method.clone()),
                other => Err(call.error(format!("takes GET or POST, not `{}`", show::excerpt_of(other)))),
            }
        }
        "with_basic_auth" => {
            let [user, password] = call.exactly()?;
            let (user, password) = (call.text(&user)?, call.text(&password)?);
            call.eval.meter.room(2 * (user.len() + password.len()))?;
            let credentials = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
            let credentials = call.result(credentials)?;
            with_header(&mut call, map, "Authorization", credentials)
        }
        _ => {
            let [name, value] = call.exactly()?;
            let (name, value) = (call.text(&name)?, Value::Str(call.string(&value)?));
            with_header(&mut call, map, &name, value)
        }
    }
}

fn with_header(call: &mut Call<'_, '_>, map: &Map, name: &str, value: Value) -> Result<Value, Error> {
    call.eval.meter.text(name.len())?;
    if CREDENTIALS.iter().any(|header| name.eq_ignore_ascii_case(header)) {
        // a password, if only written with other letters
        let credentials = call.text(&value)?.into_owned();
        call.eval.meter.look_up(&Key::from(&*credentials))?;
        call.eval.meter.text(credentials.len())?;
        call.eval.credentials.insert(credentials);
    }
    let mut headers: BTreeMap<Key, Value> = match map.get_name(b"headers") {
        Some(Value::Map(headers)) => call.entries(&headers)?.into_iter().collect(),
        _ => BTreeMap::new(),
    };
    headers.insert(Key::from(name), value);
    with(call, map, "headers", Value::Map(Map::owned(headers)))
}

fn send(call: &Call<'_, '_>, client: &Map) -> Result<Value, Error> {
    let [target] = call.exactly()?;
    let target = match target {
        Value::Str(url) if call.function != "send" => {
            call.eval.meter.text(url.len())?;
            request(&url.to_text())
        }
        other => other,
    };
    let Value::Map(request) = &target else { return Err(call.wanted("a URL or a request", &target)) };
    let text = |map: &Map, name: &str| match map.get_name(name.as_bytes()) {
        Some(Value::Str(text)) => {
            call.eval.meter.room(text.len())?;
            Ok::<_, Error>(text.to_text().into_owned())
        }
        _ => Ok(String::new()),
    };
    let number = |name: &str| match client.get_name(name.as_bytes()) {
        Some(Value::Int(number)) => u64::try_from(number).unwrap_or(0),
        _ => 0,
    };
    let mut headers = BTreeMap::from([("Accept".to_owned(), "*/*".to_owned())]);
    if let Some(Value::Map(map)) = request.get_name(b"headers") {
        for (key, value) in call.entries(&map)? {
            let value = show::show(&value);
            call.eval.meter.text(value.len())?;
            headers.insert(show::show_key(&key), value);
        }
    }
    let method = match call.function {
        "post" => "POST".to_owned(),
        "get" => "GET".to_owned(),
        _ => text(request, "method")?,
    };
    let body = text(request, "body")?;
    let request = HttpRequest {
        method,
        url: text(request, "url")?,
        headers,
        body: (!body.is_empty()).then_some(body),
        timeout: number("timeout").min(MAX_TIMEOUT as u64),
        retries: number("retries").min(MAX_RETRIES as u64),
        verify_certificate: !matches!(client.get_name(b"certificate_verification"), Some(Value::Bool(false))),
        proxy: call.eval.bindings.setting("http", "proxy_address").and_then(Data::as_str).map(str::to_owned),
    };
    let response = call.eval.host.http(&request).map_err(|why| call.error(format!("failed: {why}")))?;
    let accepted = match client.get_name(b"accepted_status_codes") {
        Some(Value::List(codes)) => codes
            .snapshot(&call.eval.meter)?
            .iter()
            .any(|code| matches!(code, Value::Int(code) if *code == i64::from(response.status))),
        _ => response.status == 200,
    };
    if !accepted {
        return Err(call
            .error(format!("got the status {} from {}", response.status, show::excerpt_of(&request.url)))
            .note("name the status in `accept_status_codes` to look at the answer yourself"));
    }
    call.eval.meter.alloc(response.body.len())?;
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in response.headers {
        let all = headers.entry(canonical(&name)).or_default();
        all.push_str(if all.is_empty() { "" } else { ", " });
        all.push_str(&value);
    }
    let headers = headers.into_iter().map(|(name, value)| (Key::from(name), Data::from(value)));
    Ok(Value::from_data(&Data::map([
        ("body", Data::Str(response.body.into())),
        ("headers", Data::map(headers)),
        ("status_code", Data::Int(response.status.into())),
    ])))
}

/// The name of a header as it is usually written, `Content-Type`: in which case it is sent means nothing, and
/// keys of maps are told apart by it.
fn canonical(name: &str) -> String {
    let mut starts = true;
    let letter = |letter: char| {
        let first = std::mem::replace(&mut starts, letter == '-');
        if first { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    name.chars().map(letter).collect()
}
