use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is said about a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    /// Left out of lists that come as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pagination: Option<Pagination>,
}

/// Where a page stands in the whole list. `null` at the ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Pagination {
    /// From 1 on.
    pub current_page: u32,
    /// The most that a page holds.
    pub page_size: u32,
    /// The page before this one.
    pub prev_page: Option<u32>,
    /// The page after this one.
    pub next_page: Option<u32>,
    /// How many pages there are. Left out of lists that are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_pages: Option<u32>,
    /// How many resources there are on all pages. Left out of lists that are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_count: Option<u64>,
}

/// The addresses of the other pages. `null` at the ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageLinks {
    /// This page.
    #[serde(rename = "self")]
    pub this: String,
    /// The first page.
    pub first: String,
    /// The page before this one.
    pub prev: Option<String>,
    /// The page after this one.
    pub next: Option<String>,
    /// The last page. Left out of lists that are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}
