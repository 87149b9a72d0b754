//! `signalbox token new USER`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use config::{TOKEN_PREFIX, TokenDigest};

use super::failure::Failure;
use super::output::Output;
use super::paint;

/// Prints a new token and what belongs into the config file. It is kept nowhere.
pub(crate) fn new(user: &str, output: Output) -> Result<(), Failure> {
    let token = generate()?;
    let digest = TokenDigest::of(&token);
    if output.json {
        let document =
            serde_json::json!({ "user": user, "token": token, "token_sha256": digest.to_string() });
        return output.document(&document, false);
    }
    let heading = |text: &str| output.paint.with(paint::HEADING, text);
    output.print(&format!(
        "{}\n\n  {token}\n\n{}\n\n  user \"{user}\" {{\n    token_sha256 = \"{digest}\"\n  }}\n",
        heading(&format!("Token for {user}, shown this once (SIGNALBOX_TOKEN):")),
        heading("For the daemon's config file:"),
    ))
}

/// 256 bits from the operating system.
pub(crate) fn generate() -> Result<String, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::Local(format!("the operating system gives no randomness: {error}")))?;
    Ok(format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// A name that the config file takes for a user.
pub(crate) fn user_name(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !text.is_empty() && !text.starts_with('-') && text.bytes().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("a name has letters, digits, `-` and `_`, and does not begin with `-`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_256_bits_and_is_made_once() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_ne!(one, other);
        let bits = URL_SAFE_NO_PAD.decode(one.strip_prefix(TOKEN_PREFIX).unwrap()).unwrap().len() * 8;
        assert_eq!(bits, 256);
    }

    #[test]
    fn the_client_can_send_every_token() {
        assert!(client::Client::new("http://127.0.0.1:1", &generate().unwrap()).is_ok());
    }
}
