use std::fmt;

/// A value that must not be seen: no `Display`, no `Serialize`, and a `Debug` that says nothing about it.
///
/// Reading it takes an [`expose`](Self::expose), which is easy to find in a review.
#[derive(Clone, PartialEq, Eq)]
pub struct Sensitive<T>(T);

impl<T> Sensitive<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value in the clear: for what is handed to terraform, never for a log, a message or an API document.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sensitive(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_says_nothing_about_the_value() {
        let secret = Sensitive::new("hunter2".to_owned());
        assert_eq!(format!("{secret:?} {secret:#?}"), "Sensitive(…) Sensitive(…)");
        assert_eq!(secret.expose(), "hunter2");
    }
}
