//! `signalbox login` and `signalbox logout`.

use std::io::{BufRead as _, IsTerminal as _};

use client::Client;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;

use super::args::Global;
use super::credentials::Credentials;
use super::failure::Failure;
use super::output::Output;
use super::terminal;

/// Tries a token and keeps it. It is asked for, or read from a pipe; an argument would be seen by others.
pub(crate) async fn login(address: &str, global: &Global, output: Output) -> Result<(), Failure> {
    let mut credentials = Credentials::read()?;
    let token = match global.token() {
        Some(token) => token,
        None => asked(address, output)?,
    };
    let client = Client::new(address, &token)?;
    // one that is not accepted is not kept
    let account = client.account().await?;
    credentials.keep(address, &token);
    let path = credentials.write()?;
    if output.json {
        return output
            .document(&json!({ "address": address, "user": account.username, "file": path }), false);
    }
    output.print(&format!(
        "{}: you are {}; the token is kept in {}\n",
        terminal::line(address),
        terminal::line(&account.username),
        path.display()
    ))
}

pub(crate) fn logout(address: &str, output: Output) -> Result<(), Failure> {
    let mut credentials = Credentials::read()?;
    if !credentials.forget(address) {
        return Err(Failure::refused(
            format!("there is no token for {}", terminal::line(address)),
            "`signalbox logout ADDRESS` names another daemon",
        ));
    }
    credentials.write()?;
    if output.json {
        return output.document(&json!({ "address": address }), false);
    }
    output.print(&format!(
        "{}: the token is forgotten here; the daemon accepts it until it is taken out of the config file\n",
        terminal::line(address)
    ))
}

/// What is typed is not shown.
fn asked(address: &str, output: Output) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    let mut line = String::new();
    if stdin.is_terminal() {
        let before = tcgetattr(&stdin).ok();
        // first, since whoever sees the question may type at once
        if let Some(mut silent) = before.clone() {
            silent.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(&stdin, OptionalActions::Flush, &silent);
        }
        output.ask(&format!("Your token for {}: ", terminal::line(address)));
        let read = stdin.lock().read_line(&mut line);
        if let Some(before) = before {
            let _ = tcsetattr(&stdin, OptionalActions::Now, &before);
        }
        output.note("");
        read?;
    } else {
        stdin.lock().read_line(&mut line)?;
    }
    let token = line.trim();
    if token.is_empty() {
        return Err(Failure::usage(
            "there is no token",
            "type it, or pipe it in; whoever runs the daemon makes one with `signalbox token new USER`",
        ));
    }
    Ok(token.to_owned())
}
