//! The states that people bring: in the body of a request, or in two steps: announced, and then sent.

use std::io::{self, Write};

use base64::prelude::BASE64_STANDARD;
use base64::read::DecoderReader;
use engine::{StateAnnouncement, StatePush};
use md5::{Digest as _, Md5};
use store::Blob;
use wire::{Body, NewStateVersion, One, StateVersionAttributes};

use crate::ApiState;
use crate::budget;
use crate::jsonapi::{ApiError, Fault, Result};
use crate::operation::{
    Action, Ask, Created, JsonState, Nothing, OnStateUpload, OnWorkspace, Operation, RawState, SecretInPath,
    Upload, post, put,
};
use crate::reader::Reader;
use crate::spool::{self, Limits};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/api/v2/workspaces/{workspace}/state-versions", Action::WriteState)
            .says("Makes a state the current one, or announces one that is sent afterwards.")
            .conflicts()
            .to(create),
        put("/uploads/state-versions/{state_version}/state/{secret}", SecretInPath)
            .says("Takes the bytes of a state that was announced, and makes it the current one.")
            .conflicts()
            .to(receive),
        put("/uploads/state-versions/{state_version}/json-state/{secret}", SecretInPath)
            .says("Takes the JSON of a state that was announced.")
            .to(receive_json),
    ]
}

/// With the state in the body, or without it: then its bytes come to the address in the answer.
async fn create(
    on: OnWorkspace,
    ask: Ask<Body<NewStateVersion>>,
) -> Result<Created<One<StateVersionAttributes>>> {
    let NewStateVersion { state, md5, serial, lineage, force } = ask.body.data.attributes;
    let Reader { api, user } = &on.reader;
    let Some(state) = state.filter(|state| !state.is_empty()) else {
        let announcement = StateAnnouncement { serial, lineage, md5, force };
        let upload = api.engine().announce_state(&user.name, on.workspace.id, announcement).await?;
        return Ok(Created(on.reader.state_upload_resource(&upload).into()));
    };
    let mut scratch = Summed { into: api.store().blobs().scratch(), sum: Md5::new() };
    let decode = move || {
        let decoded = io::copy(&mut DecoderReader::new(state.as_bytes(), &BASE64_STANDARD), &mut scratch);
        (decoded, scratch.into.finish(), text::hex(&scratch.sum.finalize()))
    };
    let (decoded, state, sum) = tokio::task::spawn_blocking(decode).await.map_err(io::Error::other)?;
    budget::give_back();
    decoded.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => {
            ApiError::invalid(vec![Fault::at("/data/attributes/state", format!("is not base64: {error}"))])
        }
        _ => error.into(),
    })?;
    if let Some(md5) = md5.filter(|md5| !md5.is_empty() && !md5.eq_ignore_ascii_case(&sum)) {
        let detail = format!("is {md5:?}, and the bytes of the state have MD5 {sum}");
        return Err(ApiError::invalid(vec![Fault::at("/data/attributes/md5", detail)]));
    }
    let push = StatePush { state: state?, serial, lineage, force };
    let version = api.engine().push_state(&user.name, on.workspace.id, push).await?;
    let outputs = on.reader.output_names(&version).await?;
    Ok(Created(on.reader.state_version_resource(&version, Some(&outputs)).into()))
}

/// What is written is counted in the sum.
struct Summed<W> {
    into: W,
    sum: Md5,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.into.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

/// What is sent, in a file, and its MD5.
async fn received(api: &ApiState, ask: Ask<Upload>) -> Result<(Blob, String)> {
    let server = &api.engine().config().server;
    let limits = Limits { size: server.max_state_size, time: server.upload_time_limit };
    let into = Summed { into: api.store().blobs().scratch(), sum: Md5::new() };
    let Summed { into, sum } = spool::receive(&ask.headers, ask.body.0, limits, into).await?;
    let state = tokio::task::spawn_blocking(|| into.finish()).await.map_err(io::Error::other)??;
    Ok((state, text::hex(&sum.finalize())))
}

async fn receive(on: OnStateUpload<RawState>, ask: Ask<Upload>) -> Result<Nothing> {
    let engine = on.api.engine();
    let upload = match on.api.store().state_upload(on.id).await {
        Ok(upload) => upload,
        // who sends it again did not hear that it had come
        Err(store::Error::NotFound(_)) if on.api.store().state_version(on.id).await.is_ok() => {
            return Ok(Nothing);
        }
        Err(error) => return Err(error.into()),
    };
    let (state, md5) = received(&on.api, ask).await?;
    engine.finish_state(&upload, state, &md5).await?;
    Ok(Nothing)
}

async fn receive_json(on: OnStateUpload<JsonState>, ask: Ask<Upload>) -> Result<Nothing> {
    let (json, _) = received(&on.api, ask).await?;
    on.api.engine().keep_state_json(on.id, json).await?;
    Ok(Nothing)
}
