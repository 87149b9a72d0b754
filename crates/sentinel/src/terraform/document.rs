//! Reading a document of JSON: what terraform prints, and static imports.

use crate::value::Data;

/// Why a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is not JSON.
    #[error("{0}")]
    NotJson(#[source] serde_json::Error),
    /// It is JSON with a number that no policy can look at. The number itself may be sensitive.
    #[error(
        "the number at line {line} column {column} is too large for policies, whose numbers end at 1.8e308; \
         a string can hold it"
    )]
    NumberTooLarge {
        /// Its line, from 1.
        line: usize,
        /// The byte in the line at which it starts, from 1.
        column: usize,
    },
}

/// Reads what `terraform show -json` and its like print.
///
/// # Errors
///
/// If it is not JSON, or has a number that is larger than numbers of policies may be.
pub fn read_document(json: &[u8]) -> Result<Data, DocumentError> {
    serde_json::from_slice(json).map_err(|error| match too_large(json, &error) {
        Some(column) => DocumentError::NumberTooLarge { line: error.line(), column },
        None => DocumentError::NotJson(error),
    })
}

/// Where the number starts that an error is about, if it is about one that is too large.
fn too_large(json: &[u8], error: &serde_json::Error) -> Option<usize> {
    let line = json.split(|byte| *byte == b'\n').nth(error.line().checked_sub(1)?)?;
    let of_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    // the place of an error is behind what was read, which may be the whole number or not
    let (read, rest) = line.split_at_checked(error.column())?;
    let start = read.iter().rposition(|byte| !of_number(byte)).map_or(0, |before| before + 1);
    let end = error.column() + rest.iter().take_while(|byte| of_number(byte)).count();
    let number: f64 = std::str::from_utf8(&line[start..end]).ok()?.parse().ok()?;
    number.is_infinite().then_some(start + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_too_large_is_named_by_its_place() {
        let digits = "9".repeat(400);
        for number in ["1e400", "-1e400", "1.5E+999", "123456e99999999999", digits.as_str()] {
            for after in ["}", ", \"b\": 1e5}", "\n}", " }"] {
                let json = format!("{{\n  \"é\": [1e5], \"a\": {number}{after}");
                let error = read_document(json.as_bytes()).unwrap_err();
                let DocumentError::NumberTooLarge { line, column } = error else {
                    panic!("{error} of {json}")
                };
                assert_eq!((line, column), (2, 21), "{json}");
            }
        }
        assert!(read_document(b"{\"a\": 1e-400}").is_ok());
    }

    #[test]
    fn what_is_no_json_is_told_as_that() {
        for json in ["", "{", "{\"a\": 1e5 nope}", "1e", "-"] {
            let error = read_document(json.as_bytes()).unwrap_err();
            assert!(matches!(error, DocumentError::NotJson(_)), "{error} of {json}");
        }
    }
}
