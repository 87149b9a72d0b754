//! Evaluating one policy.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::compile::Unit;
use crate::error::{Error, ErrorKind, Place};
use crate::eval::{Environment, Evaluator, Trace};
use crate::host::Host;
use crate::limits::Limits;
use crate::redact::Secrets;
use crate::value::{Data, show};

/// How a policy ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// `main` is true, or a value that means that nothing is wrong: 0, an empty string, list or map.
    Passed(Data),
    /// `main` is false, or a value that says what is wrong.
    Failed(Data),
    /// `main` is undefined: a failure, with the place where the undefined came into being.
    Undefined(Option<Place>),
    /// The evaluation could not come to an end, or a limit was met: a failure.
    Errored(Error),
}

impl Outcome {
    /// Whether the policy passed; everything else is a failure.
    pub fn passed(&self) -> bool {
        matches!(self, Outcome::Passed(_))
    }

    /// The value of `main`, if it has one.
    pub fn value(&self) -> Option<&Data> {
        match self {
            Outcome::Passed(value) | Outcome::Failed(value) => Some(value),
            Outcome::Undefined(_) | Outcome::Errored(_) => None,
        }
    }

    /// What to tell when the policy neither passed nor failed by its own decision.
    pub fn error(&self) -> Option<Error> {
        match self {
            Outcome::Errored(error) => Some(error.clone()),
            Outcome::Undefined(place) => {
                let error = Error::new(ErrorKind::Runtime, "the result of `main` is undefined");
                Some(match place {
                    Some(place) => {
                        error.at_place(Some(place)).label("the undefined value came into being here")
                    }
                    None => error,
                })
            }
            _ => None,
        }
    }
}

/// An evaluation of a policy: its outcome, and what it left behind.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// How it ended.
    pub outcome: Outcome,
    /// Rules with their values, prints, the description.
    pub trace: Trace,
    /// How long it took.
    pub duration: Duration,
}

/// Evaluates a policy.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Arc;
/// use sentinel::{Environment, Limits, SystemHost, compile, evaluate};
///
/// let policy = Arc::new(compile("p.sentinel", "param limit default 3\nmain = rule { 2 < limit }").unwrap());
/// let result = evaluate(&policy, &Environment::default(), &HashMap::new(), Limits::default(), &SystemHost);
/// assert!(result.outcome.passed());
/// ```
pub fn evaluate(
    policy: &Arc<Unit>,
    environment: &Environment,
    params: &HashMap<String, Data>,
    limits: Limits,
    host: &dyn Host,
) -> Evaluation {
    let start = Instant::now();
    let evaluated = Evaluator::new(host, environment, limits).run(policy, params);
    let outcome = match evaluated.main {
        Err(error) => Outcome::Errored(error),
        Ok(Data::Undefined) => Outcome::Undefined(evaluated.undefined_at),
        Ok(value) => match passes(&value) {
            Some(true) => Outcome::Passed(shown(value)),
            Some(false) => Outcome::Failed(shown(value)),
            None => Outcome::Errored(
                Error::new(ErrorKind::Runtime, "`main` is null, which is not a result")
                    .note("the result of a policy is a bool, a number, a string, a list or a map"),
            ),
        },
    };
    let evaluation = Evaluation { outcome, trace: evaluated.trace, duration: start.elapsed() };
    evaluation.masked(&Secrets::new(evaluated.credentials))
}

/// A value of `main` as the log and the JSON carry it.
fn shown(value: Data) -> Data {
    match show::size(&value, show::SHOWABLE) {
        Some(_) => value,
        None => Data::from(show::TOO_LARGE),
    }
}

/// Whether a value of `main` lets a policy pass; `None` for one that is not a result.
fn passes(value: &Data) -> Option<bool> {
    Some(match value {
        Data::Bool(value) => *value,
        Data::Str(text) => text.is_empty(),
        Data::Int(number) => *number == 0,
        Data::Float(number) => *number == 0.0,
        Data::List(items) => items.is_empty(),
        Data::Map(map) => map.is_empty(),
        Data::Null | Data::Undefined => return None,
    })
}
