//! `base64`: encoding and decoding, the standard and the URL alphabet.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::Call;
use crate::error::Error;
use crate::value::Value;

pub(super) const FUNCTIONS: &[&str] = &["encode", "decode", "urlencode", "urldecode"];

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    let [value] = call.exactly()?;
    if let Some(undefined) = call.undefined() {
        return Ok(undefined);
    }
    let text = call.string(&value)?;
    let engine = if call.function.starts_with("url") { &URL_SAFE } else { &STANDARD };
    call.eval.meter.read(text.len())?;
    // four characters for three bytes
    call.eval.meter.room(text.len().saturating_mul(4) / 3)?;
    if call.function.ends_with("encode") {
        return call.result(engine.encode(text.as_bytes()));
    }
    match engine.decode(text.as_bytes()) {
        Ok(bytes) => call.result(bytes),
        Err(error) => Err(call.error(format!("cannot decode the string: {error}"))),
    }
}
