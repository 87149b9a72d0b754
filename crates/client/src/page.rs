use serde::Deserialize;

/// Where a page stands in the whole list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Pagination {
    /// From 1 on.
    pub current_page: u32,
    /// The most that a page holds.
    pub page_size: u32,
    /// `None` on the last page.
    pub next_page: Option<u32>,
    /// Left out by lists that don't count.
    pub total_count: Option<u64>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// What is on it, in the daemon's order.
    pub items: Vec<T>,
    /// `None` for a list that comes as a whole.
    pub pagination: Option<Pagination>,
}

impl<T> Page<T> {
    /// The number of the page after this one.
    pub fn next_page(&self) -> Option<u32> {
        self.pagination.as_ref()?.next_page
    }
}
