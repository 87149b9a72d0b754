//! Strings of the language: immutable sequences of bytes, shared.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A Sentinel string: any bytes, usually UTF-8 (the specification's "sequence of bytes").
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str(Arc<[u8]>);

thread_local! {
    static SHORT: RefCell<HashSet<Str>> = RefCell::default();
}

/// The length up to which strings are looked for among those made lately, and how many are kept.
const SHORT_LENGTH: usize = 32;
const SHORT_COUNT: usize = 4096;

impl Str {
    /// A string that shares the memory of an equal one made lately on this thread. Documents repeat the
    /// same few names thousands of times: shared, they fit into the cache, and comparing is quick.
    pub(crate) fn shared(bytes: &[u8]) -> Str {
        if bytes.len() > SHORT_LENGTH {
            return Str::from(bytes);
        }
        SHORT.with(|known| {
            let mut known = known.borrow_mut();
            if let Some(found) = known.get(bytes) {
                return found.clone();
            }
            if known.len() >= SHORT_COUNT {
                known.clear();
            }
            let made = Str::from(bytes);
            known.insert(made.clone());
            made
        })
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, with bytes that are not UTF-8 replaced.
    pub fn to_text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// The text of the first bytes.
    pub(crate) fn to_text_within(&self, bytes: usize) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0[..bytes.min(self.0.len())])
    }

    /// The text when it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Str(Arc::from(text.as_bytes()))
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Str(Arc::from(text.into_bytes()))
    }
}

impl From<&[u8]> for Str {
    fn from(bytes: &[u8]) -> Self {
        Str(Arc::from(bytes))
    }
}

impl From<Vec<u8>> for Str {
    fn from(bytes: Vec<u8>) -> Self {
        Str(Arc::from(bytes))
    }
}

impl Borrow<[u8]> for Str {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_text())
    }
}
