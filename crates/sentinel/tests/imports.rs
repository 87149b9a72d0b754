//! The standard imports, as a specification.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "these are tests, with their helpers")]

mod support;

#[path = "imports/collection.rs"]
mod collection;
#[path = "imports/decimal.rs"]
mod decimal;
#[path = "imports/http.rs"]
mod http;
#[path = "imports/small.rs"]
mod small;
#[path = "imports/time.rs"]
mod time;
#[path = "imports/version.rs"]
mod version;
