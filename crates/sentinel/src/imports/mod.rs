//! The standard imports.

mod base64;
mod collection;
mod decimal;
pub(crate) mod http;
mod json;
mod lists;
mod maps;
mod namespaces;
mod sockaddr;
mod strings;
mod time;
mod units;
mod version;

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, nearest};
use crate::eval::Evaluator;
use crate::host::Import;
use crate::source::Span;
use crate::value::{Data, ENTRY, Key, Map, Receiver, Seen, Str, Value, ops, show};

/// A standard import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Std {
    Base64,
    Collection,
    Decimal,
    Http,
    Json,
    Lists,
    Maps,
    Runtime,
    Sockaddr,
    Strings,
    Time,
    Types,
    Units,
    Version,
}

impl Std {
    /// The names of all standard imports.
    pub(crate) const NAMES: [&'static str; 14] = [
        "base64",
        "collection",
        "collection/lists",
        "collection/maps",
        "decimal",
        "http",
        "json",
        "runtime",
        "sockaddr",
        "strings",
        "time",
        "types",
        "units",
        "version",
    ];

    pub(crate) fn lookup(name: &str) -> Option<Std> {
        Some(match name {
            "base64" => Std::Base64,
            "collection" => Std::Collection,
            "collection/lists" => Std::Lists,
            "collection/maps" => Std::Maps,
            "decimal" => Std::Decimal,
            "http" => Std::Http,
            "json" => Std::Json,
            "runtime" => Std::Runtime,
            "sockaddr" => Std::Sockaddr,
            "strings" => Std::Strings,
            "time" => Std::Time,
            "types" => Std::Types,
            "units" => Std::Units,
            "version" => Std::Version,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Std::Base64 => "base64",
            Std::Collection => "collection",
            Std::Lists => "collection/lists",
            Std::Maps => "collection/maps",
            Std::Decimal => "decimal",
            Std::Http => "http",
            Std::Json => "json",
            Std::Runtime => "runtime",
            Std::Sockaddr => "sockaddr",
            Std::Strings => "strings",
            Std::Time => "time",
            Std::Types => "types",
            Std::Units => "units",
            Std::Version => "version",
        }
    }

    pub(crate) fn functions(self) -> &'static [&'static str] {
        match self {
            Std::Base64 => base64::FUNCTIONS,
            Std::Collection => collection::FUNCTIONS,
            Std::Lists => lists::FUNCTIONS,
            Std::Maps => maps::FUNCTIONS,
            Std::Decimal => decimal::FUNCTIONS,
            Std::Http => http::FUNCTIONS,
            Std::Json => json::FUNCTIONS,
            Std::Sockaddr => sockaddr::FUNCTIONS,
            Std::Strings => strings::FUNCTIONS,
            Std::Time => &["load"],
            Std::Types => &["type_of"],
            Std::Version => &["new"],
            Std::Runtime | Std::Units => &[],
        }
    }

    /// The settings that a configuration may give it.
    fn settings(self) -> &'static [&'static str] {
        match self {
            Std::Time => &["fixed_time", "timezone"],
            Std::Http => &["proxy_address"],
            _ => &[],
        }
    }

    /// Refuses settings that the import does not have: they would have no effect.
    pub(crate) fn check_settings(self, settings: &Data) -> Result<(), Error> {
        for (key, value) in settings.entries() {
            let name = show::show_key(key);
            let known = self.settings();
            if !known.contains(&&*name) {
                let error = Error::config(format!("the import `{}` has no setting `{name}`", self.name()));
                return Err(match nearest(&name, known.iter().copied()) {
                    Some(near) => error.note(format!("did you mean `{near}`?")),
                    None if known.is_empty() => error.note("it has none"),
                    None => error.note(format!("known are {}", known.join(", "))),
                });
            }
            let proper = match value {
                Data::Str(_) => true,
                Data::Int(_) => name == "fixed_time",
                _ => false,
            };
            if !proper {
                return Err(Error::config(format!("the setting `{name}` must be a string")));
            }
        }
        Ok(())
    }

    /// A member that is read, not called; `None` when there is none of that name.
    pub(crate) fn member(self, name: &Str, eval: &mut Evaluator<'_>) -> Result<Option<Value>, Error> {
        let text = name.to_text();
        let constant = match self {
            Std::Time => time::constant(&text, eval)?,
            Std::Decimal => decimal::constant(&text),
            Std::Http => http::constant(&text),
            Std::Units => units::constant(&text),
            Std::Runtime if text == "version" => Some(Value::str(VERSION)),
            _ => None,
        };
        if constant.is_some() {
            return Ok(constant);
        }
        if self.functions().contains(&&*text) {
            eval.meter.alloc(NATIVE)?;
            return Ok(Some(Value::Native(Rc::new(NativeFn::Std { std: self, name: name.clone() }))));
        }
        Ok(None)
    }

    /// Calls a function of the import.
    pub(crate) fn call(
        self,
        name: &Str,
        args: Vec<Value>,
        span: Span,
        eval: &mut Evaluator<'_>,
    ) -> Result<Value, Error> {
        let text = name.to_text();
        if !self.functions().contains(&&*text) {
            return match self.member(name, eval)? {
                Some(member) => Err(Error::runtime(format!(
                    "`{}.{text}` is a {}, which cannot be called",
                    self.name(),
                    member.type_name()
                ))),
                None => Err(Error::runtime(format!("the import `{}` has no function `{text}`", self.name()))),
            };
        }
        let call = Call { import: self.name(), function: &text, args, span, eval: &mut *eval };
        let result = match self {
            Std::Base64 => base64::call(call),
            Std::Collection => collection::call(call),
            Std::Lists => lists::call(call),
            Std::Maps => maps::call(call),
            Std::Decimal => decimal::call(call),
            Std::Http => http::call(call),
            Std::Json => json::call(call),
            Std::Sockaddr => sockaddr::call(call),
            Std::Strings => strings::call(call),
            Std::Time => time::call(call),
            Std::Types => {
                let [value] = call.exactly()?;
                call.result(value.type_name())
            }
            Std::Version => version::call(call),
            Std::Runtime | Std::Units => Err(call.error("cannot be called")),
        }?;
        count_object(&result, eval)?;
        Ok(result)
    }
}

/// The version of Sentinel whose language this is, for `runtime.version`.
pub const VERSION: &str = "0.40.0";

/// A call of a function of an import.
pub(crate) struct Call<'c, 'e> {
    import: &'static str,
    function: &'c str,
    args: Vec<Value>,
    span: Span,
    eval: &'c mut Evaluator<'e>,
}

impl Call<'_, '_> {
    fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::runtime(format!("`{}.{}` {message}", self.import, self.function))
    }

    /// The arguments, of which there must be exactly so many.
    fn exactly<const N: usize>(&self) -> Result<[Value; N], Error> {
        self.args.clone().try_into().map_err(|args: Vec<Value>| {
            self.error(format!("takes {}, not {}", text::count(N, "argument"), args.len()))
        })
    }

    /// Whether an argument is undefined: then so is the result.
    fn undefined(&self) -> Option<Value> {
        self.args.iter().find(|arg| arg.is_undefined()).cloned()
    }

    fn missing(&self) -> Value {
        Value::Undefined(self.eval.here(self.span))
    }

    fn wanted(&self, what: &str, value: &Value) -> Error {
        let error = self.error(format!("needs {what}, not {}", value.type_name()));
        self.eval.explain(error, value)
    }

    fn string(&self, value: &Value) -> Result<Str, Error> {
        match value {
            Value::Str(text) => Ok(text.clone()),
            other => Err(self.wanted("a string", other)),
        }
    }

    /// Text of an argument that is going to be read character by character.
    fn text<'v>(&self, value: &'v Value) -> Result<Cow<'v, str>, Error> {
        match value {
            Value::Str(text) => {
                self.eval.meter.read(text.len())?;
                // what is not UTF-8 is replaced in a copy
                self.eval.meter.room(text.len())?;
                Ok(text.to_text())
            }
            other => Err(self.wanted("a string", other)),
        }
    }

    /// A string as the result, counted. One that may be longer than what it was made of needs a look for
    /// the room before it is made.
    fn result<T: AsRef<[u8]> + Into<Str>>(&self, text: T) -> Result<Value, Error> {
        self.eval.meter.text(text.as_ref().len())?;
        Ok(Value::Str(text.into()))
    }

    /// The elements of an argument that has to be a list.
    fn list(&self, value: &Value) -> Result<Vec<Value>, Error> {
        match value {
            Value::List(list) => {
                self.eval.meter.alloc(list.len() * size_of::<Value>())?;
                list.snapshot(&self.eval.meter)
            }
            other => Err(self.wanted("a list", other)),
        }
    }

    /// The entries of a map, of which a copy is made.
    fn entries(&self, map: &Map) -> Result<Vec<(Key, Value)>, Error> {
        self.eval.meter.alloc(map.len() * ENTRY)?;
        map.snapshot(&self.eval.meter)
    }

    fn callback(&mut self, function: &Value, args: Vec<Value>) -> Result<Value, Error> {
        self.eval.meter.step()?;
        self.eval.call(function, args, self.span)
    }
}

/// Counts the memory of an object that a function has made. What goes into one is limited, so that its size
/// is known before.
fn count_object(result: &Value, eval: &Evaluator<'_>) -> Result<(), Error> {
    let Value::Map(map) = result else { return Ok(()) };
    if map.receiver().is_none() {
        return Ok(());
    }
    for (_, member) in map.peek(map.len()) {
        eval.meter.alloc(ENTRY)?;
        if let Seen::Data(Data::Str(text)) = member {
            eval.meter.text(text.len())?;
        }
    }
    Ok(())
}

/// The memory that a function that is taken as a value is counted with.
pub(crate) const NATIVE: usize = 64;

/// A function that is not written in the language.
pub(crate) enum NativeFn {
    /// A function of a standard import, taken as a value.
    Std { std: Std, name: Str },
    /// A method of an object of a standard import.
    Method { receiver: Receiver, map: Map, name: Str },
    /// A function of an import that the application gives.
    Host { import: Arc<dyn Import>, name: String },
}

impl NativeFn {
    pub(crate) fn call(
        &self,
        args: Vec<Value>,
        span: Span,
        eval: &mut Evaluator<'_>,
    ) -> Result<Value, Error> {
        match self {
            NativeFn::Std { std, name } => std.call(name, args, span, eval),
            NativeFn::Method { receiver, map, name } => {
                let function = name.to_text();
                let import = match receiver {
                    Receiver::Timespace => "timespace",
                    Receiver::Decimal => "decimal",
                    Receiver::Version => "version",
                    Receiver::HttpClient => "client",
                    Receiver::HttpRequest => "request",
                    Receiver::Namespaces => "namespaces",
                };
                let call = Call { import, function: &function, args, span, eval: &mut *eval };
                let result = match receiver {
                    Receiver::Timespace => time::method(call, map),
                    Receiver::Decimal => decimal::method(call, map),
                    Receiver::Version => version::method(call, map),
                    Receiver::HttpClient => http::client_method(call, map),
                    Receiver::HttpRequest => http::request_method(call, map),
                    // its result is data of the application, which is not counted
                    Receiver::Namespaces => return namespaces::method(call, map),
                }?;
                count_object(&result, eval)?;
                Ok(result)
            }
            NativeFn::Host { import, name } => {
                let mut data = Vec::with_capacity(args.len());
                for arg in &args {
                    let converted = ops::to_data(arg, &eval.meter)?;
                    data.push(converted.ok_or_else(|| {
                        Error::runtime(format!("`{name}` cannot be given a {}", arg.type_name()))
                    })?);
                }
                let result = import.call(name, &data);
                let result: Data = result.map_err(|message| Error::new(ErrorKind::Runtime, message))?;
                Ok(match result {
                    Data::Undefined => Value::Undefined(eval.here(span)),
                    data => Value::from_data(&data),
                })
            }
        }
    }
}

impl Receiver {
    /// The methods of its objects.
    pub(crate) fn methods(self) -> &'static [&'static str] {
        match self {
            Receiver::Timespace => time::METHODS,
            Receiver::Decimal => decimal::METHODS,
            Receiver::Version => version::METHODS,
            Receiver::HttpClient => http::CLIENT_METHODS,
            Receiver::HttpRequest => http::REQUEST_METHODS,
            Receiver::Namespaces => namespaces::METHODS,
        }
    }
}

/// A method of an object, when it has one of that name.
pub(crate) fn method(receiver: Receiver, map: &Map, name: &Str) -> Option<Value> {
    let known = receiver.methods().contains(&&*name.to_text());
    known.then(|| Value::Native(Rc::new(NativeFn::Method { receiver, map: map.clone(), name: name.clone() })))
}
