//! What operations answer with: the status, the media type and the schema follow from the type.

use std::marker::PhantomData;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use store::Digest;
use wire::{Attributes, Document, Included, Many, Meta, PageLinks, Pagination, Primary, Resource};

use crate::ApiState;
use crate::jsonapi::{MEDIA_TYPE, Result};
use crate::spool::{self, Spooled};

/// What makes a schema, and puts those that it refers to into the generator.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One way in which an operation succeeds.
pub struct Success {
    /// The status.
    pub status: StatusCode,
    /// What its body is, if there is one.
    pub content: Option<Content>,
}

/// What a body is.
pub struct Content {
    /// Its media type.
    pub media_type: &'static str,
    /// Its schema; none for what is not JSON of ours.
    pub schema: Option<SchemaOf>,
}

/// What a handler gives back.
pub(crate) trait Answer: Sized + Send {
    /// Whether it is a page of a list, so that the request may choose which.
    const PAGED: bool = false;

    /// The ways in which it succeeds; none for what is always refused.
    fn successes() -> Vec<Success>;

    fn into_response(self, api: &ApiState) -> impl Future<Output = Response> + Send;
}

fn success(status: StatusCode) -> Vec<Success> {
    vec![Success { status, content: None }]
}

fn content(media_type: &'static str, schema: Option<SchemaOf>) -> Vec<Success> {
    vec![Success { status: StatusCode::OK, content: Some(Content { media_type, schema }) }]
}

fn document<D: JsonSchema>() -> Vec<Success> {
    content("application/vnd.api+json", Some(SchemaGenerator::subschema_for::<Document<D>>))
}

async fn answered<D: Serialize + Send + 'static>(
    api: &ApiState,
    media_type: HeaderValue,
    document: D,
) -> Response {
    match spool::json(api.store().blobs(), document).await {
        Ok(spooled) => of(media_type, spooled).into_response(),
        Err(error) => error.into_response(),
    }
}

/// A body, with headers that say what it is and how long.
fn of(media_type: HeaderValue, Spooled { body, length }: Spooled) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, media_type), (header::CONTENT_LENGTH, length.into())], body)
}

/// A resource.
impl<A: Attributes> Answer for Document<Resource<A>> {
    fn successes() -> Vec<Success> {
        document::<Resource<A>>()
    }

    async fn into_response(self, api: &ApiState) -> Response {
        answered(api, MEDIA_TYPE, self).await
    }
}

/// A list as a whole.
impl<A: Attributes> Answer for Document<Vec<Resource<A>>> {
    fn successes() -> Vec<Success> {
        document::<Vec<Resource<A>>>()
    }

    async fn into_response(self, api: &ApiState) -> Response {
        answered(api, MEDIA_TYPE, self).await
    }
}

/// A page of a list.
pub(crate) struct Page<A: Attributes>(Many<A>);

impl<A: Attributes> Page<A> {
    pub(crate) fn new(resources: Vec<Resource<A>>, links: PageLinks, pagination: Pagination) -> Self {
        let meta = Some(Meta { pagination: Some(pagination) });
        Self(Document { links: Some(links), meta, ..resources.into() })
    }

    pub(crate) fn including(self, included: Included) -> Self
    where
        Vec<Resource<A>>: Primary,
    {
        Self(self.0.including(included))
    }
}

impl<A: Attributes> Answer for Page<A> {
    const PAGED: bool = true;

    fn successes() -> Vec<Success> {
        document::<Vec<Resource<A>>>()
    }

    async fn into_response(self, api: &ApiState) -> Response {
        answered(api, MEDIA_TYPE, self.0).await
    }
}

/// What was made.
pub(crate) struct Created<T>(pub(crate) T);

impl<T: Answer + Send> Answer for Created<T> {
    fn successes() -> Vec<Success> {
        let created = |success| Success { status: StatusCode::CREATED, ..success };
        T::successes().into_iter().map(created).collect()
    }

    async fn into_response(self, api: &ApiState) -> Response {
        (StatusCode::CREATED, self.0.into_response(api).await).into_response()
    }
}

/// It is recorded; the rest happens by itself.
pub(crate) struct Accepted;

impl Answer for Accepted {
    fn successes() -> Vec<Success> {
        success(StatusCode::ACCEPTED)
    }

    async fn into_response(self, _: &ApiState) -> Response {
        StatusCode::ACCEPTED.into_response()
    }
}

/// It is done, and there is nothing to say: 200, which clients expect of an upload.
pub(crate) struct Nothing;

impl Answer for Nothing {
    fn successes() -> Vec<Success> {
        success(StatusCode::OK)
    }

    async fn into_response(self, _: &ApiState) -> Response {
        StatusCode::OK.into_response()
    }
}

/// There is nothing to say.
pub(crate) struct NoContent;

impl Answer for NoContent {
    fn successes() -> Vec<Success> {
        success(StatusCode::NO_CONTENT)
    }

    async fn into_response(self, _: &ApiState) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// What is always refused, after the right was checked.
pub(crate) enum Refused {}

impl Answer for Refused {
    fn successes() -> Vec<Success> {
        vec![]
    }

    async fn into_response(self, _: &ApiState) -> Response {
        match self {}
    }
}

/// JSON that is not a document.
pub(crate) struct Plain<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Answer for Plain<T> {
    fn successes() -> Vec<Success> {
        content("application/json", Some(SchemaGenerator::subschema_for::<T>))
    }

    async fn into_response(self, api: &ApiState) -> Response {
        answered(api, HeaderValue::from_static("application/json"), self.0).await
    }
}

/// Nothing, while it may still come.
impl<T> Answer for Option<Plain<T>>
where
    Plain<T>: Answer,
{
    fn successes() -> Vec<Success> {
        Plain::<T>::successes().into_iter().chain(NoContent::successes()).collect()
    }

    async fn into_response(self, api: &ApiState) -> Response {
        match self {
            Some(plain) => plain.into_response(api).await,
            None => NoContent.into_response(api).await,
        }
    }
}

/// A body of that media type, passed on as it is.
pub(crate) struct Raw<M> {
    response: Response,
    media: PhantomData<fn() -> M>,
}

impl<M> From<Response> for Raw<M> {
    fn from(response: Response) -> Self {
        Self { response, media: PhantomData }
    }
}

/// The media type of a [`Raw`].
pub(crate) trait Media: 'static {
    const TYPE: &'static str;

    /// Of what is not passed on blindly.
    fn schema() -> Option<SchemaOf> {
        None
    }
}

/// JSON that terraform wrote.
pub(crate) enum TerraformJson {}
/// A tar.gz.
pub(crate) enum Archive {}
/// Text.
pub(crate) enum PlainText {}
/// Events, as they happen. The schema is that of their data.
pub(crate) struct EventStream<D>(PhantomData<fn() -> D>);

impl Media for TerraformJson {
    const TYPE: &'static str = "application/json";
}

impl Media for Archive {
    const TYPE: &'static str = "application/x-gzip";
}

impl Media for PlainText {
    const TYPE: &'static str = "text/plain; charset=utf-8";
}

impl<D: JsonSchema + 'static> Media for EventStream<D> {
    const TYPE: &'static str = "text/event-stream";

    fn schema() -> Option<SchemaOf> {
        Some(SchemaGenerator::subschema_for::<D>)
    }
}

impl<M: Media> Raw<M> {
    /// A blob, passed on piece by piece.
    pub(crate) async fn blob(api: &ApiState, digest: Digest) -> Result<Self> {
        Ok(Self::spooled(spool::blob(api.store().blobs().open(digest).await?)))
    }

    /// A body whose length is known.
    pub(crate) fn spooled(spooled: Spooled) -> Self {
        Self::from(of(HeaderValue::from_static(M::TYPE), spooled).into_response())
    }

    pub(crate) fn with<const N: usize>(body: Body, headers: [(HeaderName, HeaderValue); N]) -> Self {
        let media_type = [(header::CONTENT_TYPE, HeaderValue::from_static(M::TYPE))];
        Self::from((media_type, headers, body).into_response())
    }
}

impl<M: Media> Answer for Raw<M> {
    fn successes() -> Vec<Success> {
        content(M::TYPE, M::schema())
    }

    async fn into_response(self, _: &ApiState) -> Response {
        self.response
    }
}

/// Nothing, while it may still come.
impl<M: Media> Answer for Option<Raw<M>> {
    fn successes() -> Vec<Success> {
        Raw::<M>::successes().into_iter().chain(NoContent::successes()).collect()
    }

    async fn into_response(self, api: &ApiState) -> Response {
        match self {
            Some(raw) => raw.response,
            None => NoContent.into_response(api).await,
        }
    }
}

/// The response to a request that came as far as its handler.
pub(super) async fn respond<A: Answer>(api: &ApiState, answer: Result<A>) -> Response {
    match answer {
        Ok(answer) => answer.into_response(api).await,
        Err(error) => error.into_response(),
    }
}
