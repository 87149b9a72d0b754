//! `sprintf` as OPA has it, which is Go's `fmt.Sprintf` over Rego values.
//!
//! regorus' own knows neither flags nor `%T`, `%p`, `%#v`, refuses width together with precision, and prints nothing
//! at all where verb and value do not fit. Here, as in Go, a misfit shows in the text (`%!d(string=x)`): a policy
//! that has found a violation reports it even when its format string is wrong. Where OPA would print such a
//! misfit although the meaning is plain, this is kinder: `%s` takes numbers, `%t` takes booleans, and the verbs for
//! floats take integers, since Rego has one kind of number.

use std::{iter::Peekable, str::Chars};

use regorus::Value;

use super::{float, value::show};

/// Go's bound on width and precision.
const MAX_SIZE: usize = 1_000_000;

/// Formats the values.
pub(super) fn sprintf(format: &str, args: &[Value]) -> String {
    let mut formatter =
        Formatter { chars: format.chars().peekable(), args, next: 0, reordered: false, out: String::new() };
    while let Some(c) = formatter.chars.next() {
        match c {
            '%' => formatter.directive(),
            c => formatter.out.push(c),
        }
    }
    if !formatter.reordered && formatter.next < args.len() {
        let extra: Vec<_> = args[formatter.next..].iter().map(typed).collect();
        formatter.out.push_str(&format!("%!(EXTRA {})", extra.join(", ")));
    }
    formatter.out
}

/// Flags, width and precision of one directive.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Spec {
    pub(super) plus: bool,
    pub(super) minus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
}

impl Spec {
    /// Fills text up to the width with spaces.
    fn pad(&self, text: &str) -> String {
        // the standard library's own widths end where Go's do not yet
        let fill = " ".repeat(self.width.unwrap_or(0).saturating_sub(text.chars().count()));
        match self.minus {
            true => format!("{text}{fill}"),
            false => format!("{fill}{text}"),
        }
    }

    /// Puts sign and prefix before digits, and fills up to the width: with zeros between the two, if asked to.
    pub(super) fn pad_number(&self, negative: bool, prefix: &str, digits: &str, zeros: bool) -> String {
        let sign = match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        let taken = sign.len() + prefix.len() + digits.len();
        let fill = match zeros && !self.minus {
            true => "0".repeat(self.width.unwrap_or(0).saturating_sub(taken)),
            false => String::new(),
        };
        self.pad(&format!("{sign}{prefix}{fill}{digits}"))
    }
}

struct Formatter<'a> {
    chars: Peekable<Chars<'a>>,
    args: &'a [Value],
    next: usize,
    reordered: bool,
    out: String,
}

impl Formatter<'_> {
    fn directive(&mut self) {
        let mut spec = Spec::default();
        while let Some(&flag) = self.chars.peek() {
            match flag {
                '+' => spec.plus = true,
                '-' => spec.minus = true,
                '#' => spec.sharp = true,
                ' ' => spec.space = true,
                '0' => spec.zero = true,
                _ => break,
            }
            self.chars.next();
        }
        let mut good_index = self.index();
        match self.size() {
            Ok(Some(width)) => {
                // a negative `*` means: to the left
                spec.minus |= width < 0;
                spec.width = usize::try_from(width.unsigned_abs()).ok();
            }
            Ok(None) => {}
            Err(()) => self.out.push_str("%!(BADWIDTH)"),
        }
        if self.chars.next_if_eq(&'.').is_some() {
            good_index &= self.index();
            match self.size() {
                Ok(Some(precision)) => spec.precision = usize::try_from(precision).ok(),
                Ok(None) => spec.precision = Some(0),
                Err(()) => self.out.push_str("%!(BADPREC)"),
            }
        }
        good_index &= self.index();
        let text = match self.chars.next() {
            None => "%!(NOVERB)".to_owned(),
            Some('%') => "%".to_owned(),
            Some(verb) if !good_index => format!("%!{verb}(BADINDEX)"),
            Some(verb) => match self.args.get(self.next) {
                None => format!("%!{verb}(MISSING)"),
                Some(arg) => {
                    self.next += 1;
                    format_arg(verb, spec, arg).unwrap_or_else(|| format!("%!{verb}({})", typed(arg)))
                }
            },
        };
        self.out.push_str(&text);
    }

    /// Reads an explicit argument number, `[3]`. False if there is one that fits no argument.
    fn index(&mut self) -> bool {
        if self.chars.next_if_eq(&'[').is_none() {
            return true;
        }
        self.reordered = true;
        let mut number = String::new();
        for c in self.chars.by_ref() {
            if c == ']' {
                break;
            }
            number.push(c);
        }
        match number.parse::<usize>() {
            Ok(n) if (1..=self.args.len()).contains(&n) => {
                self.next = n - 1;
                true
            }
            _ => false,
        }
    }

    /// Reads a width or precision: digits, or `*` for the next argument.
    fn size(&mut self) -> Result<Option<i64>, ()> {
        let size = if self.chars.next_if_eq(&'*').is_some() {
            let arg = self.args.get(self.next).ok_or(())?;
            self.next += 1;
            arg.as_i64().map_err(drop)?
        } else {
            let mut digits = String::new();
            while let Some(digit) = self.chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            if digits.is_empty() {
                return Ok(None);
            }
            digits.parse().map_err(drop)?
        };
        match usize::try_from(size.unsigned_abs()) {
            Ok(n) if n <= MAX_SIZE => Ok(Some(size)),
            _ => Err(()),
        }
    }
}

/// The Go type that OPA gives `Sprintf` for this value.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Number(n) if n.is_integer() && n.as_i64().is_some() => "int",
        Value::Number(n) if n.is_integer() => "*big.Int",
        Value::Number(_) => "float64",
        _ => "string",
    }
}

/// `type=value`, as Go shows a value that fits no verb.
fn typed(value: &Value) -> String {
    format!("{}={}", type_name(value), plain(value))
}

/// What `%v` prints.
fn plain(value: &Value) -> String {
    match value {
        Value::Number(n) if !n.is_integer() => {
            n.as_f64().map_or_else(|| n.format_decimal(), |f| float::shortest(f, Spec::default(), false))
        }
        other => show(other),
    }
}

/// The value under the verb; `None` if they do not fit.
fn format_arg(verb: char, spec: Spec, value: &Value) -> Option<String> {
    match (verb, value) {
        ('T', _) => Some(spec.pad(type_name(value))),
        ('t', Value::Bool(_)) => Some(spec.pad(&show(value))),
        ('e' | 'E' | 'f' | 'F' | 'g' | 'G', Value::Number(n)) => float::format(verb, spec, n.as_f64()?),
        (_, Value::Number(n)) if n.is_integer() => integer(verb, spec, value),
        ('v' | 's', Value::Number(n)) => float::format('g', spec, n.as_f64()?),
        (_, Value::Number(_)) => None,
        _ => text(verb, spec, &show(value)),
    }
}

fn integer(verb: char, spec: Spec, value: &Value) -> Option<String> {
    let Value::Number(n) = value else { return None };
    let scalar = || n.as_u64().and_then(|n| u32::try_from(n).ok()).and_then(char::from_u32);
    let (prefix, digits) = match verb {
        'd' | 'v' | 's' => ("", n.format_decimal()),
        'b' => (if spec.sharp { "0b" } else { "" }, n.format_bin()),
        'o' => (if spec.sharp { "0" } else { "" }, n.format_octal()),
        'O' => ("0o", n.format_octal()),
        'x' => (if spec.sharp { "0x" } else { "" }, n.format_hex()),
        'X' => (if spec.sharp { "0X" } else { "" }, n.format_big_hex()),
        'c' => {
            return Some(spec.pad(scalar().unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4])));
        }
        'q' => return Some(spec.pad(&quoted(scalar()?.encode_utf8(&mut [0; 4]), '\'', spec.plus))),
        'U' => return Some(spec.pad(&format!("U+{:04X}", u32::from(scalar()?)))),
        _ => return None,
    };
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest.to_owned()),
        None => (false, digits),
    };
    let zeros = spec.zero && spec.precision.is_none();
    let least = spec.precision.unwrap_or(0);
    Some(spec.pad_number(negative, prefix, &format!("{digits:0>least$}"), zeros))
}

fn text(verb: char, spec: Spec, text: &str) -> Option<String> {
    let cut = |text: &str| -> String {
        match spec.precision {
            Some(precision) => text.chars().take(precision).collect(),
            None => text.to_owned(),
        }
    };
    match verb {
        's' => Some(spec.pad(&cut(text))),
        'v' if spec.sharp => Some(spec.pad(&quoted(text, '"', false))),
        'v' => Some(spec.pad(&cut(text))),
        'q' => {
            let text = cut(text);
            let raw = spec.sharp && !text.contains(|c: char| c == '`' || (c.is_control() && c != '\t'));
            Some(spec.pad(&if raw { format!("`{text}`") } else { quoted(&text, '"', spec.plus) }))
        }
        'x' | 'X' => {
            let bytes = text.as_bytes();
            let bytes = &bytes[..spec.precision.unwrap_or(bytes.len()).min(bytes.len())];
            let hex: Vec<String> = bytes
                .iter()
                .map(|b| if verb == 'x' { format!("{b:02x}") } else { format!("{b:02X}") })
                .collect();
            Some(spec.pad(&hex.join(if spec.space { " " } else { "" })))
        }
        _ => None,
    }
}

/// Go's quoted form of a text.
fn quoted(text: &str, quote: char, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if (ascii && !c.is_ascii()) || c.is_control() || (c != ' ' && c.is_whitespace()) => {
                let code = u32::from(c);
                out.push_str(&if code > 0xffff {
                    format!("\\U{code:08x}")
                } else {
                    format!("\\u{code:04x}")
                });
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(cases: &[(&str, &str, &str)]) {
        for (format, args, expected) in cases {
            let Value::Array(args) = Value::from_json_str(args).unwrap() else { panic!("{args}") };
            let args: Vec<Value> = args.iter().cloned().collect();
            assert_eq!(sprintf(format, &args), *expected, "sprintf({format:?}, {args:?})");
        }
    }

    #[test]
    fn strings_and_other_values() {
        check(&[
            ("plain", "[]", "plain"),
            ("100%%", "[]", "100%"),
            ("%s is %v", r#"["a", "b"]"#, "a is b"),
            ("%q", r#"["a\"b\\c\n\u0001é\u200a"]"#, r#""a\"b\\c\n\x01é\u200a""#),
            ("%+q", r#"["é😀"]"#, r#""\u00e9\U0001f600""#),
            ("%#q", r#"["a\"b"]"#, "`a\"b`"),
            ("%#q", r#"["a`b"]"#, "\"a`b\""),
            ("%q", "[65]", "'A'"),
            ("%q", r#"[["a"]]"#, r#""[\"a\"]""#),
            ("[%10s|%-10s|%.2s|%5.1s]", r#"["ab", "ab", "äbc", "xyz"]"#, "[        ab|ab        |äb|    x]"),
            ("%x %X % x", r#"["hi", "hi", "hi"]"#, "6869 6869 68 69"),
            ("%v", r#"[["a", 1, null, true, {"k": 1.5}]]"#, r#"["a", 1, null, true, {"k": 1.5}]"#),
            ("%s", r#"[{"b": [], "a": 2}]"#, r#"{"a": 2, "b": []}"#),
            ("%#v %#v", r#"["a\"b", 3]"#, r#""a\"b" 3"#),
            ("%t %t %5t|", "[true, false, true]", "true false  true|"),
            (
                "%T %T %T %T %T",
                r#"["a", 1, 1.5, true, 123456789012345678901]"#,
                "string int float64 string *big.Int",
            ),
        ]);
    }

    #[test]
    fn integers() {
        check(&[
            ("%d %d", "[0, -17]", "0 -17"),
            (
                "[%5d|%-5d|%05d|%+d|% d|%5.3d|%x]",
                "[42, 42, -42, 42, 42, 7, 255]",
                "[   42|42   |-0042|+42| 42|  007|ff]",
            ),
            (
                "%b %o %#o %O %x %X %#x %#X %#b",
                "[5, 8, 8, 8, 255, 255, 255, 255, 5]",
                "101 10 010 0o10 ff FF 0xff 0XFF 0b101",
            ),
            ("%x", "[-255]", "-ff"),
            ("%c%c %U", "[72, 8364, 8364]", "H€ U+20AC"),
            ("%d", "[18446744073709551615]", "18446744073709551615"),
            ("%s %v", "[5, 5]", "5 5"),
            ("%d", "[2.0]", "2"),
        ]);
    }

    #[test]
    fn floats() {
        check(&[
            (
                "%f %.2f %5.2f|%-8.1f|%08.3f|%+.1f",
                "[1.5, 2.345, 3.14159, 2.25, -3.14159, 1.5]",
                "1.500000 2.35  3.14|2.2     |-003.142|+1.5",
            ),
            ("%.0f %.0f %.1f", "[0.5, 1.5, 0.25]", "0 2 0.2"),
            ("%5.2f|%f", "[5, 7]", " 5.00|7.000000"),
            ("%e %E %.2e", "[123456.789, 0.00012, 0]", "1.234568e+05 1.200000E-04 0.00e+00"),
            (
                "%g %g %g %g",
                "[100000.5, 1234567.5, 0.0001, 0.00001234]",
                "100000.5 1.2345675e+06 0.0001 1.234e-05",
            ),
            (
                "%.3g %.3g %G %.10g",
                "[1234.5678, 0.00001, 12345678.5, 100.5]",
                "1.23e+03 1e-05 1.23456785E+07 100.5",
            ),
            ("%v %s %8v|", "[1.5, 2.5, 0.1]", "1.5 2.5      0.1|"),
        ]);
    }

    #[test]
    fn arguments_by_number_and_sizes_from_arguments() {
        check(&[
            ("%[2]s %[1]s", r#"["a", "b"]"#, "b a"),
            ("%[1]d %[1]x", "[10]", "10 a"),
            ("%*d|%-*d|%.*f", "[5, 42, 5, 42, 1, 2.55]", "   42|42   |2.5"),
            ("%*d|", "[-5, 42]", "42   |"),
        ]);
    }

    #[test]
    fn misfits_show_in_the_text_and_lose_nothing_else() {
        check(&[
            ("deny %d", r#"["x"]"#, "deny %!d(string=x)"),
            ("%d", "[1.5]", "%!d(float64=1.5)"),
            ("%t", r#"["yes"]"#, "%!t(string=yes)"),
            ("%p", r#"["x"]"#, "%!p(string=x)"),
            ("%p", "[1]", "%!p(int=1)"),
            ("%z %s", r#"[1, "a"]"#, "%!z(int=1) a"),
            ("%s %s", r#"["a"]"#, "a %!s(MISSING)"),
            ("%s", r#"["a", 2, true]"#, "a%!(EXTRA int=2, string=true)"),
            ("50%", "[]", "50%!(NOVERB)"),
            ("%[3]s", r#"["a"]"#, "%!s(BADINDEX)"),
            ("%99999999s", r#"["a"]"#, "%!(BADWIDTH)a"),
        ]);
    }

    #[test]
    fn widths_and_precisions_are_as_large_as_those_of_go() {
        let long = |format: &str| sprintf(format, &[Value::from(1.5)]);
        assert_eq!(long("%100000v|"), format!("{}1.5|", " ".repeat(99_997)));
        assert_eq!(long("%.100000f"), format!("1.5{}", "0".repeat(99_999)));
        assert_eq!(long("%.100000e"), format!("1.5{}e+00", "0".repeat(99_999)));
        assert_eq!(long("%.100000g"), "1.5");
    }

    proptest! {
        #[test]
        fn no_format_and_no_value_makes_it_panic(
            format in "([%a-zA-Z]|[0-9]{1,6}|[-+# .*]|\\[[0-9]\\]|é){0,12}",
            args in prop::collection::vec(any_value(), 0..4),
        ) {
            sprintf(&format, &args);
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            ".{0,5}".prop_map(Value::from),
            Just(Value::Null),
            Just(Value::from(vec![Value::from(1), Value::from("a")])),
        ]
    }
}
