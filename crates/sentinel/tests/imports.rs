//! The standard imports, as a specification.

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
