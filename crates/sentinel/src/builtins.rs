//! The predeclared functions.

use crate::error::{Error, ErrorKind};
use crate::eval::Evaluator;
use crate::value::{List, Origin, Value, ops, show, to_bool, to_float, to_int, to_string};

/// A predeclared function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Builtin {
    Append,
    Bool,
    Compare,
    Delete,
    Error,
    Float,
    Int,
    Keys,
    Length,
    Print,
    Range,
    String,
    Values,
}

impl Builtin {
    /// All of them, in the order of their names.
    pub(crate) const ALL: [Builtin; 13] = [
        Builtin::Append,
        Builtin::Bool,
        Builtin::Compare,
        Builtin::Delete,
        Builtin::Error,
        Builtin::Float,
        Builtin::Int,
        Builtin::Keys,
        Builtin::Length,
        Builtin::Print,
        Builtin::Range,
        Builtin::String,
        Builtin::Values,
    ];

    pub(crate) fn lookup(name: &str) -> Option<Builtin> {
        Builtin::ALL.into_iter().find(|builtin| builtin.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Builtin::Append => "append",
            Builtin::Bool => "bool",
            Builtin::Compare => "compare",
            Builtin::Delete => "delete",
            Builtin::Error => "error",
            Builtin::Float => "float",
            Builtin::Int => "int",
            Builtin::Keys => "keys",
            Builtin::Length => "length",
            Builtin::Print => "print",
            Builtin::Range => "range",
            Builtin::String => "string",
            Builtin::Values => "values",
        }
    }

    /// How many arguments it takes, from and to.
    fn arity(self) -> (usize, usize) {
        match self {
            Builtin::Append | Builtin::Compare | Builtin::Delete => (2, 2),
            Builtin::Range => (1, 3),
            Builtin::Print | Builtin::Error => (0, usize::MAX),
            _ => (1, 1),
        }
    }

    pub(crate) fn call(self, args: &[Value], here: Origin, eval: &mut Evaluator<'_>) -> Result<Value, Error> {
        let (least, most) = self.arity();
        if args.len() < least || args.len() > most {
            let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
            return Err(Error::runtime(format!(
                "`{}` takes {wanted} argument{}, not {}",
                self.name(),
                if most == 1 { "" } else { "s" },
                args.len()
            )));
        }
        let or_undefined = |value: Option<Value>, arg: &Value| {
            value.unwrap_or(match arg {
                Value::Undefined(origin) => Value::Undefined(*origin),
                _ => Value::Undefined(here),
            })
        };
        Ok(match self {
            Builtin::Append => {
                let Value::List(list) = &args[0] else {
                    return Err(wrong("append", "a list", &args[0]));
                };
                eval.wrote_list(list, &args[1]);
                list.push(args[1].clone(), &eval.meter)?;
                Value::Undefined(here)
            }
            Builtin::Delete => {
                let Value::Map(map) = &args[0] else {
                    return Err(wrong("delete", "a map", &args[0]));
                };
                if let Some(key) = args[1].to_key() {
                    eval.meter.look_up(&key)?;
                    map.remove(&key, &eval.meter)?;
                }
                Value::Undefined(here)
            }
            Builtin::Keys | Builtin::Values => match &args[0] {
                Value::Undefined(origin) => Value::Undefined(*origin),
                Value::Map(map) => {
                    eval.meter.alloc(map.len() * size_of::<Value>())?;
                    let items = match self {
                        Builtin::Keys => map.keys(&eval.meter)?,
                        _ => map.snapshot(&eval.meter)?.into_iter().map(|(_, value)| value).collect(),
                    };
                    Value::list(items)
                }
                other => return Err(wrong(self.name(), "a map", other)),
            },
            Builtin::Length => length(&args[0])?,
            Builtin::Range => range(args, eval)?,
            Builtin::Int | Builtin::Float => {
                if let Value::Str(text) = &args[0] {
                    eval.meter.read(text.len())?;
                }
                let number = match self {
                    Builtin::Int => to_int(&args[0]).map(Value::Int),
                    _ => to_float(&args[0]).map(Value::Float),
                };
                or_undefined(number, &args[0])
            }
            Builtin::Bool => or_undefined(to_bool(&args[0]).map(Value::Bool), &args[0]),
            Builtin::String => {
                // a string stays the one it is; every other scalar has a short text
                if !matches!(args[0], Value::Str(_)) {
                    eval.meter.text(SCALAR)?;
                }
                or_undefined(to_string(&args[0]).map(Value::Str), &args[0])
            }
            Builtin::Compare => match (&args[0], &args[1]) {
                (Value::Undefined(origin), _) | (_, Value::Undefined(origin)) => Value::Undefined(*origin),
                (a, b) if !ops::have_order(a, b) => {
                    return Err(Error::runtime(format!(
                        "{} and {} have no order: compare two numbers or two strings",
                        a.type_name(),
                        b.type_name()
                    )));
                }
                (a, b) => match ops::order(a, b, &eval.meter)? {
                    Some(order) => Value::Int(order as i64),
                    None => Value::Undefined(here),
                },
            },
            Builtin::Print => {
                let text = shown(args, eval)?;
                eval.print(&text)?;
                Value::Bool(true)
            }
            Builtin::Error => {
                let text = shown(args, eval)?;
                eval.print(&text)?;
                return Err(Error::new(ErrorKind::Raised, text));
            }
        })
    }
}

/// What the text of a number or a bool is counted with.
const SCALAR: usize = 24;

fn wrong(name: &str, wanted: &str, got: &Value) -> Error {
    Error::runtime(format!("`{name}` needs {wanted}, not {}", got.type_name()))
}

fn shown(args: &[Value], eval: &mut Evaluator<'_>) -> Result<String, Error> {
    let mut text = String::new();
    for (at, arg) in args.iter().enumerate() {
        if let Value::Str(whole) = arg {
            eval.meter.read(whole.len())?;
            eval.meter.room(whole.len())?;
        }
        // the text of anything else is limited
        let part = show::show(arg);
        eval.meter.alloc(part.len() + 1)?;
        eval.meter.read(part.len())?;
        if at > 0 {
            text.push(' ');
        }
        text.push_str(&part);
    }
    Ok(text)
}

/// `length`, which `is empty` is defined by.
pub(crate) fn length(value: &Value) -> Result<Value, Error> {
    Ok(match value {
        Value::Undefined(origin) => Value::Undefined(*origin),
        Value::Str(s) => Value::Int(s.len() as i64),
        Value::List(list) => Value::Int(list.len() as i64),
        Value::Map(map) => Value::Int(map.len() as i64),
        other => {
            return Err(Error::runtime(format!(
                "{} has no length: expected a string, a list or a map",
                other.type_name()
            )));
        }
    })
}

fn range(args: &[Value], eval: &mut Evaluator<'_>) -> Result<Value, Error> {
    let mut numbers = Vec::with_capacity(3);
    for arg in args {
        match arg {
            Value::Int(i) => numbers.push(i128::from(*i)),
            Value::Undefined(origin) => return Ok(Value::Undefined(*origin)),
            other => return Err(wrong("range", "integers", other)),
        }
    }
    let (start, end, step) = match numbers[..] {
        [end] => (0, end, 1),
        [start, end] => (start, end, 1),
        [start, end, step] => (start, end, step),
        _ => return Err(Error::runtime("`range` takes 1 to 3 arguments")),
    };
    if step == 0 {
        return Err(Error::runtime("the step of `range` must not be zero"));
    }
    let distance = if step > 0 { end - start } else { start - end };
    let count = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
    let Ok(count) = usize::try_from(count) else {
        return Err(Error::runtime("the range is too long"));
    };
    eval.meter.items(count, size_of::<Value>())?;
    let items = (0..count as i128).map(|at| Value::Int((start + at * step) as i64)).collect();
    Ok(Value::List(List::owned(items)))
}
