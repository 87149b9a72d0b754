//! Keys of maps: booleans, numbers and strings, in one fixed total order.

use std::cmp::Ordering;

use super::Str;

/// A map key. The order is booleans, numbers, strings; it is the order in which maps are walked,
/// so that two evaluations of one policy never differ.
#[derive(Debug, Clone)]
pub enum Key {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float that is not a NaN. A float equal to an integer is the same key as that integer.
    Float(f64),
    /// A string.
    Str(Str),
}

impl Key {
    fn rank(&self) -> u8 {
        match self {
            Key::Bool(_) => 0,
            Key::Int(_) | Key::Float(_) => 1,
            Key::Str(_) => 2,
        }
    }

    /// The string, when the key is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Key::Str(s) => s.as_str(),
            _ => None,
        }
    }
}

/// Compares an integer with a float without rounding the integer: the order of keys has to be
/// transitive, which the rounding of 2^53+1 would break.
pub(crate) fn cmp_int_float(int: i64, float: f64) -> Ordering {
    if float >= 9_223_372_036_854_775_808.0 {
        return Ordering::Less;
    }
    if float < -9_223_372_036_854_775_808.0 {
        return Ordering::Greater;
    }
    let whole = float.trunc();
    match int.cmp(&(whole as i64)) {
        Ordering::Equal => 0.0f64.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal),
        unequal => unequal,
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Key::Str(a), Key::Str(b)) => a.cmp(b),
            (Key::Int(a), Key::Int(b)) => a.cmp(b),
            (Key::Bool(a), Key::Bool(b)) => a.cmp(b),
            (Key::Float(a), Key::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Key::Int(a), Key::Float(b)) => cmp_int_float(*a, *b),
            (Key::Float(a), Key::Int(b)) => cmp_int_float(*b, *a).reverse(),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Key::Str(Str::shared(text.as_bytes()))
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Key::Str(text.into())
    }
}
