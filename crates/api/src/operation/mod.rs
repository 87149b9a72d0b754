//! Declarations of operations. All that is known of an operation stands in its declaration and in the types of its
//! handler; the route, the check of the right, the description and the row of the authorisation matrix follow from it.
//!
//! ```text
//! get("/api/v2/runs/{run}", Action::Read).says("Reads a run.").includes(&RUN_INCLUDES).to(read)
//! async fn read(on: OnRun, ask: Ask) -> Result<One<RunAttributes>>
//! ```
//!
//! Each request goes the same way: the caller is let in ([`Requirement::admit`]), what the path names is found for them
//! with the declared right ([`Scope::resolve`]), the query is read, the body is read, and only then the handler runs.

mod answer;
mod body;
mod right;
mod scope;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{FromRequestParts as _, Path, Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, on};
use store::PageRequest;
use wire::{Attributes, Resource};

use crate::ApiState;
use crate::budget;
pub use crate::jsonapi::Parameter;
use crate::jsonapi::{ApiError, Include, Query, Result, pagination, uncounted};

pub(crate) use answer::{
    Accepted, Answer, Archive, Created, EventStream, NoContent, Nothing, Page, Plain, PlainText, Raw,
    Refused, TerraformJson,
};
pub use answer::{Content, SchemaOf, Success};
pub use body::BodyInfo;
pub(crate) use body::{Body, Upload};
pub use right::Right;
pub(crate) use right::{Action, Public, Requirement, SecretInPath, Token, Visible};
pub use scope::Variable;
pub(crate) use scope::{
    AnyStateVersion, Anybody, ById, ByName, InOrganization, JsonState, Names, OnAccount, OnAnyStateVersion,
    OnConfigurationVersion, OnLogAddress, OnNamedWorkspace, OnOrganization, OnOutput, OnRun, OnRunEvent,
    OnStage, OnStateUpload, OnStateVersion, OnWhatIsVisible, OnWorkspace, RawState, Scope,
};

/// One thing that a client can ask for.
pub struct Operation {
    /// The kind of what it is about: `Runs`.
    pub group: &'static str,
    /// The method.
    pub method: Method,
    /// The path, with its variables in braces.
    pub path: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// What a caller needs.
    pub right: Right,
    /// What it is about, in words.
    pub scope: &'static str,
    /// The variables that the scope takes from the path, in their order.
    pub variables: Vec<Variable>,
    /// What may come along.
    pub includes: &'static [&'static str],
    /// Whether it gives a page of a list.
    pub paged: bool,
    /// The other parameters of its query.
    pub parameters: Arc<[Parameter]>,
    /// What a request carries.
    pub body: Option<BodyInfo>,
    /// How it succeeds; none for what is always refused.
    pub successes: Vec<Success>,
    /// The statuses with which it refuses, but for those of a daemon that fails.
    pub refusals: BTreeSet<StatusCode>,
    route: MethodRouter<ApiState>,
}

impl Operation {
    /// Its route. Nothing else makes one.
    pub(crate) fn route(&self) -> MethodRouter<ApiState> {
        self.route.clone()
    }

    pub(crate) fn of_group(self, group: &'static str) -> Self {
        Self { group, ..self }
    }
}

/// An operation that has no handler yet.
pub(crate) struct Declaration<R> {
    address: Address<R>,
    summary: &'static str,
    includes: &'static [&'static str],
    parameters: Arc<[Parameter]>,
    conflicts: bool,
}

/// The address of an operation of which nothing is said yet.
pub(crate) struct Address<R> {
    method: Method,
    filter: MethodFilter,
    path: &'static str,
    right: R,
}

macro_rules! methods {
    ($($name:ident $method:ident)*) => {$(
        pub(crate) fn $name<R: Requirement>(path: &'static str, right: R) -> Address<R> {
            Address { method: Method::$method, filter: MethodFilter::$method, path, right }
        }
    )*};
}

methods! { get GET post POST put PUT patch PATCH delete DELETE }

impl<R: Requirement> Address<R> {
    /// What the operation does, in a sentence.
    pub(crate) fn says(self, summary: &'static str) -> Declaration<R> {
        let parameters = Arc::default();
        Declaration { address: self, summary, includes: &[], parameters, conflicts: false }
    }
}

/// A request that was let in, beside what it is about.
pub(crate) struct Ask<B = ()> {
    pub(crate) headers: HeaderMap,
    pub(crate) query: Query,
    /// What is to come along, if the operation declares anything.
    pub(crate) include: Include,
    /// The page that is asked for, if the answer is one.
    pub(crate) page: PageRequest,
    pub(crate) body: B,
}

impl<B> Ask<B> {
    /// The answer with the page that was asked for, of a list of so many.
    pub(crate) fn paged<A: Attributes>(&self, total: u64, resources: Vec<Resource<A>>) -> Page<A> {
        let pagination = pagination(self.page, total);
        Page::new(resources, self.query.links(&pagination), pagination)
    }

    /// The answer with the page that was asked for, of a list that is not counted.
    pub(crate) fn sliced<A: Attributes>(&self, more: bool, resources: Vec<Resource<A>>) -> Page<A> {
        let pagination = uncounted(self.page, more);
        Page::new(resources, self.query.links(&pagination), pagination)
    }
}

impl<R: Requirement> Declaration<R> {
    /// What may come along. Anything else is refused.
    pub(crate) fn includes(self, includes: &'static [&'static str]) -> Self {
        Self { includes, ..self }
    }

    /// Parameters of the query that the handler reads. Any others are ignored, since clients send them.
    pub(crate) fn parameters(self, parameters: &[Parameter]) -> Self {
        Self { parameters: self.parameters.iter().chain(parameters).copied().collect(), ..self }
    }

    /// It may be impossible now: 409.
    pub(crate) fn conflicts(self) -> Self {
        Self { conflicts: true, ..self }
    }

    /// Carried out by this handler. Its scope has to fit the right; the body and the answer describe themselves.
    pub(crate) fn to<S, B, A, H, F>(self, handler: H) -> Operation
    where
        S: Scope<Right = R>,
        B: Body,
        A: Answer + 'static,
        H: Fn(S, Ask<B>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<A>> + Send + 'static,
    {
        let refusals = self.refusals::<S, B, A>();
        let successes = A::successes();
        let statuses: BTreeSet<_> =
            successes.iter().map(|success| success.status).chain(refusals.iter().copied()).collect();
        let declaration = Arc::new(self);
        let carried_out = declaration.clone();
        let route = on(declaration.address.filter, move |State(api): State<ApiState>, request: Request| {
            let (declaration, handler, statuses) = (carried_out.clone(), handler.clone(), statuses.clone());
            budget::request(async move {
                let answer = declaration.carry_out(api.clone(), request, handler).await;
                let response = answer::respond(&api, answer).await;
                let status = response.status();
                debug_assert!(
                    status.is_server_error() || statuses.contains(&status),
                    "{} answers {status}, which its declaration does not say",
                    declaration.address.path,
                );
                response
            })
        });
        Operation {
            group: "",
            method: declaration.address.method.clone(),
            path: declaration.address.path,
            summary: declaration.summary,
            right: declaration.address.right.right(),
            scope: S::NAME,
            variables: S::variables(),
            includes: declaration.includes,
            paged: A::PAGED,
            parameters: declaration.parameters.clone(),
            body: B::info(),
            successes,
            refusals,
            route,
        }
    }

    async fn carry_out<S, B, A, F>(
        &self,
        api: ApiState,
        request: Request,
        handler: impl FnOnce(S, Ask<B>) -> F,
    ) -> Result<A>
    where
        S: Scope<Right = R>,
        B: Body,
        A: Answer,
        F: Future<Output = Result<A>>,
    {
        let (mut parts, body) = request.into_parts();
        let caller = R::admit(&api, &parts.headers)?;
        let names = Path::<Vec<(String, String)>>::from_request_parts(&mut parts, &()).await;
        // what is not text names nothing
        let Path(names) = names.map_err(|_| ApiError::no_such_endpoint())?;
        let names = Names::new(names.into_iter().map(|(_, value)| value));
        let scope = S::resolve(caller, names, self.address.right).await?;
        let query = Query::of(&parts.uri, self.parameters.clone());
        let include =
            if self.includes.is_empty() { Include::default() } else { query.include(self.includes)? };
        let page = if A::PAGED { query.page()? } else { PageRequest::first(1) };
        let headers = parts.headers.clone();
        let body = B::read(&api, Request::from_parts(parts, body)).await?;
        handler(scope, Ask { headers, query, include, page, body }).await
    }

    /// What can be wrong follows from what there is.
    fn refusals<S: Scope, B: Body, A: Answer>(&self) -> BTreeSet<StatusCode> {
        let reads_query = A::PAGED || !self.includes.is_empty() || !self.parameters.is_empty();
        let reads_body = B::info().is_some();
        let reads_json = B::info().is_some_and(|body| body.schema.is_some());
        let is_refused = A::successes().is_empty();
        let table = [
            (reads_query || reads_body, StatusCode::BAD_REQUEST),
            (self.address.right.right().has_token(), StatusCode::UNAUTHORIZED),
            (S::may_be_absent(), StatusCode::NOT_FOUND),
            (self.conflicts, StatusCode::CONFLICT),
            (reads_body, StatusCode::REQUEST_TIMEOUT),
            (reads_body, StatusCode::PAYLOAD_TOO_LARGE),
            (reads_json, StatusCode::UNSUPPORTED_MEDIA_TYPE),
            (reads_body || is_refused, StatusCode::UNPROCESSABLE_ENTITY),
        ];
        table.into_iter().filter(|(possible, _)| *possible).map(|(_, status)| status).collect()
    }
}
