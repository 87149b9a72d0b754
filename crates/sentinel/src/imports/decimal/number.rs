//! Decimal numbers: finite ones of up to 100 digits, infinities, not-a-number.

use std::cmp::Ordering;

use bigdecimal::{BigDecimal, RoundingMode};
use num_bigint::{BigInt, Sign};
use num_traits::{Signed, ToPrimitive, Zero};

use crate::value::{Data, DataMap, Key, Map, Receiver, Value};

/// The digits a number has at most.
pub(super) const PRECISION: u64 = 100;

/// The exponents are limited to 32 bits.
const MAX_EXPONENT: i64 = i32::MAX as i64;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Number {
    Finite(BigDecimal),
    Infinite { negative: bool },
    Nan,
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Number::Finite(BigDecimal::from(value))
    }
}

/// Rounds to the precision and minds the range of exponents.
pub(super) fn finite(value: BigDecimal) -> Number {
    if value.is_zero() {
        let scale = value.fractional_digit_count().clamp(-MAX_EXPONENT, MAX_EXPONENT);
        return Number::Finite(value.with_scale(scale));
    }
    let value = if value.digits() > PRECISION { round(value, PRECISION) } else { value };
    let adjusted = adjusted(&value);
    if adjusted > MAX_EXPONENT {
        return Number::Infinite { negative: value.is_negative() };
    }
    if adjusted < -MAX_EXPONENT {
        return Number::Finite(BigDecimal::zero());
    }
    Number::Finite(value)
}

pub(super) fn round(value: BigDecimal, digits: u64) -> BigDecimal {
    let scale = value.fractional_digit_count();
    let excess = value.digits() as i64 - digits as i64;
    if excess <= 0 {
        return value;
    }
    value.with_scale_round(scale - excess, RoundingMode::HalfEven)
}

/// The exponent when there is one digit before the point: the size of a number that is not zero. A zero
/// has a scale too, which says nothing about its size, so whoever asks has zeros out of the way.
pub(super) fn adjusted(value: &BigDecimal) -> i64 {
    value.digits() as i64 - 1 - value.fractional_digit_count()
}

impl Number {
    pub(super) fn from_float(value: f64) -> Number {
        if value.is_nan() {
            Number::Nan
        } else if value.is_infinite() {
            Number::Infinite { negative: value < 0.0 }
        } else {
            // the shortest text of a float is the number that was meant: 2.2, not 2.2000000000000002
            Number::parse(&format!("{value:e}")).unwrap_or(Number::Nan)
        }
    }

    pub(super) fn parse(text: &str) -> Option<Number> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        match unsigned.to_ascii_lowercase().as_str() {
            "nan" => return Some(Number::Nan),
            "inf" | "infinity" => return Some(Number::Infinite { negative }),
            _ => {}
        }
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = [whole, fraction].concat();
        let proper = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        // twice the precision is all that can matter, and keeps the work of a long text bounded
        if !proper || digits.len() > 10_000 || exponent.abs() > 2 * MAX_EXPONENT {
            return None;
        }
        let magnitude = BigInt::parse_bytes(digits.as_bytes(), 10)?;
        let magnitude = if negative { -magnitude } else { magnitude };
        Some(finite(BigDecimal::new(magnitude, fraction.len() as i64 - exponent)))
    }

    pub(super) fn is_negative(&self) -> bool {
        match self {
            Number::Finite(value) => value.is_negative(),
            Number::Infinite { negative } => *negative,
            Number::Nan => false,
        }
    }

    fn sign(&self) -> i64 {
        match self {
            Number::Finite(value) if value.is_zero() => 0,
            Number::Nan => 0,
            number if number.is_negative() => -1,
            _ => 1,
        }
    }

    /// The scientific notation of the General Decimal Arithmetic: plain where it is short.
    pub(super) fn text(&self) -> String {
        let value = match self {
            Number::Nan => return "NaN".into(),
            Number::Infinite { negative: true } => return "-Infinity".into(),
            Number::Infinite { negative: false } => return "Infinity".into(),
            Number::Finite(value) => value,
        };
        let (coefficient, scale) = value.as_bigint_and_exponent();
        let sign = if coefficient.sign() == Sign::Minus { "-" } else { "" };
        let digits = coefficient.magnitude().to_string();
        let adjusted = digits.len() as i64 - 1 - scale;
        if scale >= 0 && adjusted >= -6 {
            let scale = scale as usize;
            if scale == 0 {
                return format!("{sign}{digits}");
            }
            let padded = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = padded.split_at(padded.len() - scale);
            return format!("{sign}{whole}.{fraction}");
        }
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{point}{rest}E{adjusted:+}")
    }

    /// The number as a map with methods.
    pub(super) fn object(&self) -> Value {
        let text = self.text();
        let float = match self {
            Number::Nan => f64::NAN,
            Number::Infinite { negative } => {
                if *negative {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }
            }
            Number::Finite(_) => text.parse().unwrap_or(f64::NAN),
        };
        let mut entries = vec![
            (Key::from("float"), Data::Float(float)),
            (Key::from("sign"), Data::Int(self.sign())),
            (Key::from("string"), Data::from(text)),
        ];
        if let Number::Finite(value) = self {
            let (coefficient, scale) = value.as_bigint_and_exponent();
            // what does not fit an integer has no such member
            if let Some(coefficient) = coefficient.abs().to_i64() {
                entries.push((Key::from("coefficient"), Data::Int(coefficient)));
            }
            entries.push((Key::from("exponent"), Data::Int(-scale)));
            if let Some(int) = truncated(value) {
                entries.push((Key::from("int"), Data::Int(int)));
            }
        }
        Value::Map(Map::object(DataMap::new(entries), Receiver::Decimal))
    }

    /// The order; none with a NaN.
    pub(super) fn compare(&self, other: &Number) -> Option<Ordering> {
        if *self == Number::Nan || *other == Number::Nan {
            return None;
        }
        // all zeros are equal, whatever decimals they have
        if self.sign() != other.sign() || self.sign() == 0 {
            return Some(self.sign().cmp(&other.sign()));
        }
        let magnitude = match (self, other) {
            (Number::Infinite { .. }, Number::Infinite { .. }) => Ordering::Equal,
            (Number::Infinite { .. }, _) => Ordering::Greater,
            (_, Number::Infinite { .. }) => Ordering::Less,
            (Number::Finite(a), Number::Finite(b)) => {
                // numbers far apart are not brought to one scale, which could take any amount of memory
                let by_size = adjusted(a).cmp(&adjusted(b));
                if by_size.is_ne() { by_size } else { a.abs().cmp(&b.abs()) }
            }
            _ => Ordering::Equal,
        };
        Some(if self.sign() < 0 { magnitude.reverse() } else { magnitude })
    }
}

/// Whether a number has no fraction. The exponent may be any: the number is not written out.
pub(super) fn is_integer(value: &BigDecimal) -> bool {
    value.is_zero() || (adjusted(value) >= 0 && value.is_integer())
}

/// Whether a number is an odd integer.
pub(super) fn is_odd(value: &BigDecimal) -> bool {
    // a positive exponent stands for zeros at the end
    is_integer(value)
        && value.fractional_digit_count() >= 0
        && value.with_scale(0).as_bigint_and_exponent().0.bit(0)
}

/// The integer part; nothing is rounded (release note of 0.13.1).
fn truncated(value: &BigDecimal) -> Option<i64> {
    if value.is_zero() {
        return Some(0);
    }
    if adjusted(value) > 19 {
        return None;
    }
    value.with_scale_round(0, RoundingMode::Down).to_i64()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A small decimal, and the integer it is when it is multiplied by ten to the 12th.
    fn decimals() -> impl Strategy<Value = (Number, i128)> {
        let coefficients = prop_oneof![Just(0i64), -20i64..20, -1_000_000i64..1_000_000];
        (coefficients, -6i32..6).prop_filter_map("is a number", |(coefficient, exponent)| {
            let scaled = i128::from(coefficient) * 10i128.pow((exponent + 12) as u32);
            Some((Number::parse(&format!("{coefficient}e{exponent}"))?, scaled))
        })
    }

    fn of_scaled(scaled: i128) -> Number {
        Number::parse(&format!("{scaled}e-12")).unwrap()
    }

    fn same(a: &Number, b: &Number) -> bool {
        a.compare(b) == Some(Ordering::Equal)
    }

    proptest! {
        #[test]
        fn decimals_calculate_as_integers_do((a, x) in decimals(), (b, y) in decimals()) {
            prop_assert_eq!(a.compare(&b), Some(x.cmp(&y)));
            prop_assert!(same(&a.add(&b), &of_scaled(x + y)));
            prop_assert!(same(&a.add(&b.neg()), &of_scaled(x - y)));
            prop_assert!(same(&a.abs(), &of_scaled(x.abs())));
            let one = 10i128.pow(12);
            prop_assert!(same(&a.floor(), &of_scaled(x.div_euclid(one) * one)));
            prop_assert!(same(&a.ceil(), &of_scaled(-(-x).div_euclid(one) * one)));
            if y != 0 {
                prop_assert!(same(&a.remainder(&b), &of_scaled(x % y)));
                // a product divided by a factor is the other factor
                prop_assert!(same(&a.multiply(&b).divide(&b), &a));
            }
        }

        #[test]
        fn the_text_of_a_decimal_is_the_decimal((a, _) in decimals(), (b, _) in decimals()) {
            for number in [a.add(&b), a.multiply(&b), a.divide(&b), a.neg()] {
                let again = Number::parse(&number.text()).unwrap();
                prop_assert_eq!(again.text(), number.text());
                prop_assert!(number == Number::Nan || same(&again, &number));
            }
        }
    }
}
