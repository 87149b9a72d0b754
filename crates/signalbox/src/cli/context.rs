use client::Client;

use super::args::Global;
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
        let token = global.token().ok_or_else(|| {
            Failure::usage(
                "there is no token",
                "set SIGNALBOX_TOKEN; `signalbox token new USER` makes a token",
            )
        })?;
        Ok(Self { client: Client::new(&global.address(), &token)?, output })
    }
}
