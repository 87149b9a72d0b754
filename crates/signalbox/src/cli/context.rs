use client::Client;

use super::args::{DEFAULT_ADDRESS, Global};
use super::credentials::Credentials;
use super::failure::Failure;
use super::output::Output;

/// What a command that talks to the daemon works with.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) output: Output,
}

impl Context {
    pub(crate) fn new(global: &Global, output: Output) -> Result<Self, Failure> {
        // what is named is not overruled, nor held up by a file that can't be read
        let kept = match (global.address(), global.token()) {
            (Some(address), Some(token)) => {
                return Ok(Self { client: Client::new(&address, &token)?, output });
            }
            _ => Credentials::read()?,
        };
        let address = global.address().or_else(|| kept.address.clone());
        let address = address.unwrap_or_else(|| DEFAULT_ADDRESS.to_owned());
        let token = global.token().or_else(|| kept.token(&address).map(str::to_owned)).ok_or_else(|| {
            Failure::usage(
                format!("there is no token for {address}"),
                "`signalbox login` keeps one, or SIGNALBOX_TOKEN names one; whoever runs the daemon makes them with \
                 `signalbox token new USER`",
            )
        })?;
        Ok(Self { client: Client::new(&address, &token)?, output })
    }
}
