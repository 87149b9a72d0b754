//! Arithmetic on decimals.

use bigdecimal::{BigDecimal, RoundingMode};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::number::{Number, PRECISION, adjusted, finite, is_integer, is_odd, round};

/// Digits that intermediate results have.
const WORKING: u64 = PRECISION + 20;

/// ln 10.
const LN_10: &str = "2.302585092994045684017991454684364207601101488628772976033327900967572609677352480235\
                     997205089598298341967784042286248633409525465082806756666287369098781689482907208";

impl Number {
    pub(super) fn neg(&self) -> Number {
        match self {
            Number::Finite(value) => Number::Finite(-value),
            Number::Infinite { negative } => Number::Infinite { negative: !negative },
            Number::Nan => Number::Nan,
        }
    }

    pub(super) fn abs(&self) -> Number {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    pub(super) fn add(&self, other: &Number) -> Number {
        match (self, other) {
            (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
            (Number::Infinite { negative: a }, Number::Infinite { negative: b }) if a != b => Number::Nan,
            (infinite @ Number::Infinite { .. }, _) | (_, infinite @ Number::Infinite { .. }) => {
                infinite.clone()
            }
            (Number::Finite(a), Number::Finite(b)) => {
                if a.is_zero() || b.is_zero() {
                    let (zero, sum) = if a.is_zero() { (a, b) } else { (b, a) };
                    // a sum has the decimals of both, as far as there are digits for them
                    let own = sum.fractional_digit_count();
                    let most = own + PRECISION as i64 - sum.digits() as i64;
                    let scale = zero.fractional_digit_count().min(most);
                    return finite(if scale > own { sum.with_scale(scale) } else { sum.clone() });
                }
                // a number that is too small to change any digit is not brought to the other's scale
                let gap = adjusted(a) - adjusted(b);
                if gap.abs() > 2 * PRECISION as i64 + 10 {
                    return finite(if gap > 0 { a.clone() } else { b.clone() });
                }
                finite(a + b)
            }
        }
    }

    pub(super) fn multiply(&self, other: &Number) -> Number {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
            (Number::Infinite { .. }, Number::Finite(value))
            | (Number::Finite(value), Number::Infinite { .. })
                if value.is_zero() =>
            {
                Number::Nan
            }
            (Number::Infinite { .. }, _) | (_, Number::Infinite { .. }) => Number::Infinite { negative },
            (Number::Finite(a), Number::Finite(b)) => finite(a * b),
        }
    }

    pub(super) fn divide(&self, other: &Number) -> Number {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
            (Number::Infinite { .. }, Number::Infinite { .. }) => Number::Nan,
            (Number::Infinite { .. }, _) => Number::Infinite { negative },
            (_, Number::Infinite { .. }) => Number::Finite(BigDecimal::zero()),
            (Number::Finite(a), Number::Finite(b)) if b.is_zero() => {
                if a.is_zero() {
                    Number::Nan
                } else {
                    Number::Infinite { negative }
                }
            }
            (Number::Finite(a), Number::Finite(b)) => {
                let quotient = divide(a, b, PRECISION);
                // an exact quotient has no more digits than it needs; that it may lack digits is bounded by
                // the digits of the dividend
                let scale = a.fractional_digit_count() - b.fractional_digit_count();
                let short = quotient.normalized();
                finite(if short.fractional_digit_count() < scale { short.with_scale(scale) } else { short })
            }
        }
    }

    /// The remainder; it has the sign of the dividend.
    pub(super) fn remainder(&self, other: &Number) -> Number {
        match (self, other) {
            (Number::Finite(_), Number::Infinite { .. }) => self.clone(),
            (Number::Finite(a), Number::Finite(b)) if !b.is_zero() => {
                if a.is_zero() {
                    return self.clone();
                }
                // a quotient of more digits than a number can have has no meaningful remainder
                if adjusted(a) - adjusted(b) > PRECISION as i64 {
                    return Number::Nan;
                }
                // a dividend far below the divisor is its own remainder
                if adjusted(b) - adjusted(a) > 1 {
                    return self.clone();
                }
                finite(a % b)
            }
            _ => Number::Nan,
        }
    }

    pub(super) fn ceil(&self) -> Number {
        self.to_integer(RoundingMode::Ceiling)
    }

    pub(super) fn floor(&self) -> Number {
        self.to_integer(RoundingMode::Floor)
    }

    fn to_integer(&self, mode: RoundingMode) -> Number {
        match self {
            Number::Finite(value) if value.fractional_digit_count() <= 0 => self.clone(),
            Number::Finite(value) if value.is_zero() => Number::from(0),
            // below one tenth only the sign decides, whatever the exponent is
            Number::Finite(value) if adjusted(value) < -1 => {
                let up = mode == RoundingMode::Ceiling && !value.is_negative();
                let down = mode == RoundingMode::Floor && value.is_negative();
                Number::from(i64::from(up) - i64::from(down))
            }
            Number::Finite(value) => finite(value.with_scale_round(0, mode)),
            other => other.clone(),
        }
    }

    pub(super) fn sqrt(&self) -> Number {
        match self {
            Number::Finite(value) if value.is_zero() => self.clone(),
            Number::Finite(value) if !value.is_negative() => match sqrt(value) {
                Some(root) => finite(root),
                None => Number::Nan,
            },
            Number::Infinite { negative: false } => self.clone(),
            _ => Number::Nan,
        }
    }

    pub(super) fn exp(&self) -> Number {
        match self {
            Number::Nan => Number::Nan,
            Number::Infinite { negative: true } => Number::Finite(BigDecimal::zero()),
            Number::Infinite { .. } => self.clone(),
            Number::Finite(value) => match exp(value) {
                Some(power) => finite(power),
                None if value.is_negative() => Number::Finite(BigDecimal::zero()),
                None => Number::Infinite { negative: false },
            },
        }
    }

    pub(super) fn ln(&self) -> Number {
        match self {
            Number::Finite(value) if value.is_zero() => Number::Infinite { negative: true },
            Number::Finite(value) if !value.is_negative() => finite(ln(value)),
            Number::Infinite { negative: false } => self.clone(),
            _ => Number::Nan,
        }
    }

    pub(super) fn log10(&self) -> Number {
        match self {
            Number::Finite(value) if value.is_positive() => {
                // a power of ten has an exact logarithm
                let short = value.normalized();
                let (digits, scale) = short.as_bigint_and_exponent();
                if digits.is_one() {
                    return Number::from(-scale);
                }
                finite(divide(&ln(value), &ln_10(), PRECISION))
            }
            other => other.ln(),
        }
    }

    pub(super) fn power(&self, exponent: &Number) -> Number {
        let (Number::Finite(base), Number::Finite(power)) = (self, exponent) else {
            return self.power_of_special(exponent);
        };
        if power.is_zero() {
            return Number::from(1);
        }
        if base.is_zero() {
            return match power.is_negative() {
                true => Number::Infinite { negative: false },
                false => Number::from(0),
            };
        }
        let whole = is_integer(power);
        if whole
            && adjusted(power) < 18
            && let Some(count) = power.to_i64()
        {
            return integer_power(base, count);
        }
        if base.is_negative() {
            return match whole {
                false => Number::Nan,
                true if is_odd(power) => self.neg().power(exponent).neg(),
                true => self.neg().power(exponent),
            };
        }
        Number::Finite(round(ln(base) * power, WORKING)).exp()
    }

    fn power_of_special(&self, exponent: &Number) -> Number {
        match (self, exponent) {
            (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
            (_, Number::Finite(power)) if power.is_zero() => Number::from(1),
            (Number::Infinite { negative: true }, Number::Finite(power)) if !is_integer(power) => Number::Nan,
            (Number::Infinite { .. }, power) if power.is_negative() => Number::from(0),
            (Number::Infinite { negative }, Number::Finite(power)) => {
                Number::Infinite { negative: *negative && is_odd(power) }
            }
            (base, power) => {
                let one = Number::from(1);
                match base.abs().compare(&one) {
                    Some(std::cmp::Ordering::Equal) => one,
                    // one side of one grows without bound, the other shrinks to nothing
                    order if order.is_some_and(|order| order.is_gt()) != power.is_negative() => {
                        Number::Infinite { negative: false }
                    }
                    _ => Number::from(0),
                }
            }
        }
    }
}

/// A power with a whole exponent, by squaring.
fn integer_power(base: &BigDecimal, exponent: i64) -> Number {
    let mut result = Number::from(1);
    let mut square = Number::Finite(base.clone());
    let mut rest = exponent.unsigned_abs();
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.multiply(&square);
        }
        rest >>= 1;
        if rest > 0 {
            square = square.multiply(&square.clone());
        }
    }
    if exponent < 0 { Number::from(1).divide(&result) } else { result }
}

/// A quotient with so many digits.
fn divide(a: &BigDecimal, b: &BigDecimal, digits: u64) -> BigDecimal {
    let (numerator, a_scale) = a.as_bigint_and_exponent();
    let (denominator, b_scale) = b.as_bigint_and_exponent();
    let shift = (digits as i64 + 3 + b.digits() as i64 - a.digits() as i64).max(0);
    let shifted = numerator * BigInt::from(10).pow(shift as u32);
    let quotient = &shifted / &denominator;
    let exact = (&shifted % &denominator).is_zero();
    // a digit that stands for all that was cut off, so that rounding sees it
    let (quotient, extra) = match exact {
        true => (quotient, 0),
        false => (quotient * 10 + if a.is_negative() == b.is_negative() { 1 } else { -1 }, 1),
    };
    round(BigDecimal::new(quotient, a_scale - b_scale + shift + extra), digits)
}

fn sqrt(value: &BigDecimal) -> Option<BigDecimal> {
    // an even exponent can be halved; the root is taken of the coefficient
    let (coefficient, scale) = value.as_bigint_and_exponent();
    let digits = value.digits() as i64;
    let mut shift = (2 * WORKING as i64 - digits).max(0);
    shift += (scale + shift) & 1;
    let shifted = coefficient * BigInt::from(10).pow(u32::try_from(shift).ok()?);
    let root = shifted.sqrt();
    let exact = &root * &root == shifted;
    let root = BigDecimal::new(root, (scale + shift) / 2);
    Some(if exact { root.normalized() } else { round(root, PRECISION) })
}

fn ln_10() -> BigDecimal {
    LN_10.parse().unwrap_or_default()
}

/// e to the power of a number; none when it is out of range.
fn exp(value: &BigDecimal) -> Option<BigDecimal> {
    if value.is_zero() {
        return Some(BigDecimal::one());
    }
    if adjusted(value) > 11 {
        return None;
    }
    if adjusted(value) < -(WORKING as i64) {
        return Some(BigDecimal::one());
    }
    // e^x = 10^k · e^r, with r smaller than ln 10
    let tens = divide(value, &ln_10(), WORKING).with_scale_round(0, RoundingMode::Floor);
    let count = tens.to_i64()?;
    let rest = round(value - tens * ln_10(), WORKING);
    let mut sum = BigDecimal::one();
    let mut term = BigDecimal::one();
    for at in 1..400 {
        term = round(divide(&(term * &rest), &BigDecimal::from(at), WORKING), WORKING);
        if term.is_zero() || adjusted(&term) < -(WORKING as i64) {
            break;
        }
        sum = round(sum + &term, WORKING);
    }
    let (coefficient, scale) = sum.as_bigint_and_exponent();
    Some(BigDecimal::new(coefficient, scale - count))
}

/// The natural logarithm of a positive number.
fn ln(value: &BigDecimal) -> BigDecimal {
    // x = m · 10^k with m between 1 and 10
    let shift = adjusted(value);
    let (coefficient, scale) = value.as_bigint_and_exponent();
    let mantissa = BigDecimal::new(coefficient, scale + shift);
    let seed = mantissa.to_f64().unwrap_or(1.0).ln();
    let mut result: BigDecimal = format!("{seed:.17}").parse().unwrap_or_default();
    // Halley's method: each round has three times the digits of the one before
    for _ in 0..4 {
        let power = exp(&result).unwrap_or_else(BigDecimal::one);
        let step = divide(&(&mantissa - &power), &(&mantissa + &power), WORKING);
        result = round(result + step * 2, WORKING);
    }
    round(result + ln_10() * shift, WORKING)
}
