//! JSON:API documents as answers.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use wire::{Attributes, Identifier, Included, Meta, PageLinks, Pagination, Primary, Resource};

/// The media type of every document.
pub(crate) const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/vnd.api+json");

/// A whole answer, whatever it is about.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Document {
    document: wire::Document<Data>,
    #[serde(skip)]
    status: StatusCode,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Data {
    json: Box<RawValue>,
    #[serde(skip)]
    identifiers: Vec<Identifier>,
}

impl Primary for Data {
    fn identifiers(&self) -> Vec<Identifier> {
        self.identifiers.clone()
    }
}

impl Document {
    pub(crate) fn one<A: Attributes>(resource: Resource<A>) -> Self {
        Self::of(&resource)
    }

    /// A list as a whole.
    pub(crate) fn all<A: Attributes>(resources: Vec<Resource<A>>) -> Self {
        Self::of(&resources)
    }

    fn of(data: &(impl Primary + Serialize)) -> Self {
        #[expect(clippy::expect_used, reason = "attributes have text keys and no value that JSON lacks")]
        let json = to_raw_value(data).expect("a resource is plain data");
        let data = Data { json, identifiers: data.identifiers() };
        Self { document: data.into(), status: StatusCode::OK }
    }

    pub(crate) fn including(self, included: Included) -> Self {
        Self { document: self.document.including(included), ..self }
    }

    pub(crate) fn paged(mut self, links: PageLinks, pagination: Pagination) -> Self {
        self.document.links = Some(links);
        self.document.meta = Some(Meta { pagination: Some(pagination) });
        self
    }

    pub(crate) fn created(self) -> Self {
        Self { status: StatusCode::CREATED, ..self }
    }
}

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        (self.status, [(header::CONTENT_TYPE, MEDIA_TYPE)], Json(self.document)).into_response()
    }
}
