use wire::Pagination;

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
