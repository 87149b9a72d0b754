//! Query parameters, pages and includes. Unknown parameters are ignored and empty ones are absent, since
//! clients send both.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::Uri;
use store::PageRequest;
use url::form_urlencoded;
use wire::{PageLinks, Pagination};

use super::{ApiError, Result};

const DEFAULT_PAGE_SIZE: u32 = 20;
const MAX_PAGE_SIZE: u32 = 100;

/// A parameter of a query, beside `include` and pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// As it stands in the query.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Whether the operation is refused without it.
    pub needed: bool,
}

impl Parameter {
    pub(crate) const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, needed: false }
    }

    pub(crate) const fn needed(name: &'static str, about: &'static str) -> Self {
        Self { name, about, needed: true }
    }
}

/// The query of a request, with the path it belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    path: String,
    pairs: Vec<(String, String)>,
    /// What the operation declares, where it is known.
    declared: Option<Arc<[Parameter]>>,
}

/// What an operation declares otherwise than as a parameter.
const ALWAYS: [&str; 3] = ["include", "page[number]", "page[size]"];

impl Query {
    pub(crate) fn parse(path: &str, query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Self { path: path.to_owned(), pairs, declared: None }
    }

    /// The query of a request to an operation that declares these parameters.
    pub(crate) fn of(uri: &Uri, declared: Arc<[Parameter]>) -> Self {
        let query = Self::parse(uri.path(), uri.query().unwrap_or_default());
        Self { declared: Some(declared), ..query }
    }

    /// The last value of the parameter that is not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let is_declared = |declared: &[Parameter]| declared.iter().any(|parameter| parameter.name == name);
        debug_assert!(
            ALWAYS.contains(&name) || self.declared.as_deref().is_none_or(is_declared),
            "{name} is read, and not declared",
        );
        let values = self.pairs.iter().filter(|(key, value)| key == name && !value.trim().is_empty());
        values.map(|(_, value)| value.trim()).next_back()
    }

    /// The parts of a comma list.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<&str>> {
        let parts: Vec<_> =
            self.get(name)?.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        (!parts.is_empty()).then_some(parts)
    }

    /// A number, or 400.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>> {
        let parse = |text: &str| {
            let unreadable =
                |_| ApiError::bad_parameter(name, format!("{text:?} is not a number that is possible here"));
            text.parse().map_err(unreadable)
        };
        self.get(name).map(parse).transpose()
    }

    /// `page[number]` from 1 on, and `page[size]`, of which no more than 100 are given. 0 is what Go clients have for
    /// what was not set, and a page beyond the last is empty.
    pub(crate) fn page(&self) -> Result<PageRequest> {
        let given = |name| -> Result<Option<u32>> {
            let number: Option<u64> = self.number(name)?;
            Ok(number.filter(|number| *number > 0).map(|number| u32::try_from(number).unwrap_or(u32::MAX)))
        };
        let number = given("page[number]")?.unwrap_or(1);
        let size = given("page[size]")?.unwrap_or(DEFAULT_PAGE_SIZE).min(MAX_PAGE_SIZE);
        Ok(PageRequest { number, size })
    }

    /// `include`, in either spelling of its names, if each is one of these.
    pub(crate) fn include(&self, known: &[&str]) -> Result<Include> {
        let names: BTreeSet<String> =
            self.list("include").unwrap_or_default().iter().map(|name| name.replace('-', "_")).collect();
        match names.iter().find(|name| !known.contains(&name.as_str())) {
            // the very words that the terraform CLI tolerates
            Some(name) => {
                Err(ApiError::bad_parameter("include", format!("Invalid include parameter: {name}")))
            }
            None => Ok(Include(names)),
        }
    }

    /// The addresses of the other pages.
    pub(crate) fn links(&self, pagination: &Pagination) -> PageLinks {
        let to = |number: u32| {
            let kept = self.pairs.iter().filter(|(key, _)| key != "page[number]" && key != "page[size]");
            let query = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(kept)
                .append_pair("page[number]", &number.to_string())
                .append_pair("page[size]", &pagination.page_size.to_string())
                .finish();
            format!("{}?{query}", self.path)
        };
        PageLinks {
            this: to(pagination.current_page),
            first: to(1),
            prev: pagination.prev_page.map(to),
            next: pagination.next_page.map(to),
            last: pagination.total_pages.map(|pages| to(pages.max(1))),
        }
    }
}

/// Cuts the page out of a whole list.
pub(crate) fn cut<T>(page: PageRequest, all: Vec<T>) -> store::Page<T> {
    let total = all.len() as u64;
    let (number, size) = (page.number as usize, page.size as usize);
    let items = all.into_iter().skip((number - 1).saturating_mul(size)).take(size).collect();
    store::Page { items, total }
}

/// What is to come along.
#[derive(Debug, Clone, Default)]
pub(crate) struct Include(BTreeSet<String>);

impl Include {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Whether this, or something reached through it, is asked for.
    pub(crate) fn reaches(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|path| path == name || path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
    }
}

/// What is said about a page of a list of so many.
pub(crate) fn pagination(page: PageRequest, total_count: u64) -> Pagination {
    let total_pages = u32::try_from(total_count.div_ceil(u64::from(page.size))).unwrap_or(u32::MAX);
    Pagination {
        total_pages: Some(total_pages),
        total_count: Some(total_count),
        ..uncounted(page, page.number < total_pages)
    }
}

/// What is said about a page of a list that is not counted.
pub(crate) fn uncounted(page: PageRequest, more: bool) -> Pagination {
    Pagination {
        current_page: page.number,
        page_size: page.size,
        prev_page: (page.number > 1).then(|| page.number - 1),
        next_page: more.then(|| page.number.saturating_add(1)),
        total_pages: None,
        total_count: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::parse("/api/v2/runs", text)
    }

    #[test]
    fn empty_parameters_are_absent_and_unknown_ones_do_no_harm() {
        let query = query("filter%5Bstatus%5D=&filter[source]=a,,b%20&TagBindings=%7B%7D&q=x&q=");
        assert_eq!(query.get("filter[status]"), None);
        assert_eq!(query.list("filter[source]"), Some(vec!["a", "b"]));
        assert_eq!(query.get("q"), Some("x"));
        assert_eq!(self::query("a=,").list("a"), None);
    }

    #[test]
    fn a_page_is_twenty_unless_asked_otherwise_and_never_over_a_hundred() {
        let page = |text| query(text).page().map(|page| (page.number, page.size)).ok();
        assert_eq!(page(""), Some((1, 20)));
        assert_eq!(page("page%5Bnumber%5D=3&page[size]=7"), Some((3, 7)));
        assert_eq!(page("page[number]=0&page[size]=0"), Some((1, 20)));
        assert_eq!(page("page[size]=1000"), Some((1, 100)));
        assert_eq!(page("page[number]=5000000000&page[size]=5000000000"), Some((u32::MAX, 100)));
        assert_eq!(page("page[size]=-1"), None);
        assert_eq!(page("page[size]=1.5"), None);
        assert_eq!(page("page[number]=&page[size]="), Some((1, 20)));
        assert_eq!(page("page[number]=two"), None);
        assert_eq!(page("page[number]=-1"), None);
    }

    #[test]
    fn pages_know_their_neighbours_and_end_with_null() {
        let table = [
            ((1, 20), 0, (None, None, 0)),
            ((1, 20), 41, (None, Some(2), 3)),
            ((3, 20), 41, (Some(2), None, 3)),
            ((9, 20), 41, (Some(8), None, 3)),
            ((1, 20), 20, (None, None, 1)),
        ];
        for ((number, size), total, (prev, next, pages)) in table {
            let got = pagination(PageRequest { number, size }, total);
            assert_eq!(
                (got.prev_page, got.next_page, got.total_pages),
                (prev, next, Some(pages)),
                "{number} of {total}"
            );
        }
    }

    #[test]
    fn a_link_to_another_page_keeps_the_filters() {
        let query = query("filter[status]=planned&page[number]=2&page[size]=1");
        let links = query.links(&pagination(query.page().unwrap(), 3));
        let next = links.next.unwrap();
        assert_eq!(next, "/api/v2/runs?filter%5Bstatus%5D=planned&page%5Bnumber%5D=3&page%5Bsize%5D=1");
        assert_eq!(links.prev.unwrap(), next.replace("=3&", "=1&"));
    }

    #[test]
    fn a_page_past_the_end_is_empty() {
        let cut = |number| cut(PageRequest { number, size: 2 }, vec![1, 2, 3]).items;
        assert_eq!((cut(1), cut(2), cut(3), cut(u32::MAX)), (vec![1, 2], vec![3], vec![], vec![]));
    }

    #[test]
    fn both_spellings_of_an_include_are_taken_and_others_refused() {
        let known = ["created_by", "current_run.plan"];
        let include = |text| query(text).include(&known);
        assert!(include("include=created-by").unwrap().has("created_by"));
        assert!(include("include=created_by,current-run.plan").unwrap().reaches("current_run"));
        assert!(!include("include=").unwrap().reaches("current_run"));
        let refused = include("include=created_by,nonsense").unwrap_err();
        assert_eq!(refused.status(), 400);
        assert!(format!("{refused:?}").contains("Invalid include parameter"));
    }
}
