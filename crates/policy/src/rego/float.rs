//! Floats as Go prints them.

use super::sprintf::Spec;

/// No float has more digits than this; behind them are zeros.
const EXACT: usize = 1_100;

/// Formats under one of the verbs `e`, `E`, `f`, `F`, `g` and `G`.
pub(super) fn format(verb: char, spec: Spec, value: f64) -> Option<String> {
    match verb {
        'e' | 'E' => {
            Some(finish(&scientific(value.abs(), Some(spec.precision.unwrap_or(6)), verb), value, spec))
        }
        'f' | 'F' => Some(finish(&fixed(value.abs(), spec.precision.unwrap_or(6)), value, spec)),
        'g' | 'G' => Some(match spec.precision {
            Some(precision) => finish(&general(value.abs(), precision.max(1), verb), value, spec),
            None => shortest(value, spec, verb == 'G'),
        }),
        _ => None,
    }
}

/// The fewest digits that mean this value, with an exponent from a million on and below a ten-thousandth.
pub(super) fn shortest(value: f64, spec: Spec, upper: bool) -> String {
    let (_, exponent) = parts(&format!("{:e}", value.abs()));
    let text = match (-4..6).contains(&exponent) || value == 0.0 {
        true => value.abs().to_string(),
        false => scientific(value.abs(), None, if upper { 'E' } else { 'e' }),
    };
    finish(&text, value, spec)
}

/// `%g` with a precision: so many digits that count, without zeros at the end.
fn general(value: f64, precision: usize, verb: char) -> String {
    let rounded = format!("{value:.*e}", (precision - 1).min(EXACT));
    let (mantissa, exponent) = parts(&rounded);
    let limit = i32::try_from(precision).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= limit {
        let mantissa = without_zeros(mantissa);
        return with_exponent(mantissa, exponent, if verb == 'G' { 'E' } else { 'e' });
    }
    let decimals = usize::try_from(limit - 1 - exponent).unwrap_or(0);
    without_zeros(&fixed(value, decimals)).to_owned()
}

fn scientific(value: f64, precision: Option<usize>, letter: char) -> String {
    let Some(precision) = precision else {
        let text = format!("{value:e}");
        let (mantissa, exponent) = parts(&text);
        return with_exponent(mantissa, exponent, letter);
    };
    let text = format!("{value:.*e}", precision.min(EXACT));
    let (mantissa, exponent) = parts(&text);
    with_exponent(&format!("{mantissa}{}", zeros_after(value, precision)), exponent, letter)
}

/// So many digits after the point.
fn fixed(value: f64, precision: usize) -> String {
    format!("{value:.*}{}", precision.min(EXACT), zeros_after(value, precision))
}

fn zeros_after(value: f64, precision: usize) -> String {
    let count = if value.is_finite() { precision.saturating_sub(EXACT) } else { 0 };
    "0".repeat(count)
}

/// Mantissa and exponent of what `{:e}` prints.
fn parts(text: &str) -> (&str, i32) {
    match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().unwrap_or(0)),
        None => (text, 0),
    }
}

fn with_exponent(mantissa: &str, exponent: i32, letter: char) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{letter}{sign}{:02}", exponent.unsigned_abs())
}

fn without_zeros(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

fn finish(digits: &str, value: f64, spec: Spec) -> String {
    spec.pad_number(value.is_sign_negative(), "", digits, spec.zero)
}
