//! How values are written into columns, and read back.

use std::fmt::Display;
use std::str::FromStr;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row as _, Sqlite, Type};

use crate::Error;

/// A row of a record, which says whose it is when something in it can't be read.
pub(super) struct Record<'r> {
    row: &'r SqliteRow,
    id: String,
}

impl<'r> Record<'r> {
    /// Every table has its identifier in the column `id`.
    pub(super) fn new(row: &'r SqliteRow) -> Result<Self, Error> {
        Ok(Self { row, id: row.try_get("id")? })
    }

    /// A value that SQLite has a type for.
    pub(super) fn get<T: Decode<'r, Sqlite> + Type<Sqlite>>(&self, column: &str) -> Result<T, Error> {
        self.row.try_get(column).map_err(|error| self.damaged(column, error))
    }

    /// A count, which is never negative.
    pub(super) fn count<T: TryFrom<i64, Error: Display>>(&self, column: &str) -> Result<T, Error> {
        self.get::<i64>(column)?.try_into().map_err(|error| self.damaged(column, error))
    }

    /// A value that is kept as its text.
    pub(super) fn parse<T: FromStr<Err: Display>>(&self, column: &str) -> Result<T, Error> {
        self.get::<&str>(column)?.parse().map_err(|error| self.damaged(column, error))
    }

    /// A value that is kept as its text, if there is any.
    pub(super) fn parse_some<T: FromStr<Err: Display>>(&self, column: &str) -> Result<Option<T>, Error> {
        let text = self.get::<Option<&str>>(column)?;
        text.map(str::parse).transpose().map_err(|error| self.damaged(column, error))
    }

    /// A structure that is kept as JSON.
    pub(super) fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, Error> {
        serde_json::from_str(self.get(column)?).map_err(|error| self.damaged(column, error))
    }

    /// A structure that is kept as JSON, if there is any.
    pub(super) fn json_some<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, Error> {
        let text = self.get::<Option<&str>>(column)?;
        text.map(serde_json::from_str).transpose().map_err(|error| self.damaged(column, error))
    }

    pub(super) fn damaged(&self, column: &str, reason: impl Display) -> Error {
        Error::damaged(&self.id, format!("{column}: {reason}"))
    }
}

/// A moment as it is kept: UTC, of one width, so that texts sort as moments do.
pub(super) fn time(at: Timestamp) -> String {
    format!("{at:.9}")
}

/// A structure as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::damaged("a new record", error))
}

/// A size. Nothing real comes near the border.
pub(super) fn integer(value: u64) -> Result<i64, Error> {
    value.try_into().map_err(|_| Error::Refused(format!("{value} is too large a number")))
}

/// Says that a record with this id is there already, rather than which constraint failed.
pub(super) fn exists(error: sqlx::Error, id: impl Display) -> Error {
    match error.as_database_error() {
        Some(database) if database.is_unique_violation() => Error::Exists(id.to_string()),
        _ => error.into(),
    }
}
