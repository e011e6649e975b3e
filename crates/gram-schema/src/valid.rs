//! The proof that a module was checked.

/// Proof that the checker found no error in what it holds.
///
/// Only the checker makes one; what compiles, binds or runs takes nothing else.
#[derive(Debug, PartialEq)]
pub struct Valid<T>(T);

impl<T> Valid<T> {
    /// Only for the checker, and only where it found no error.
    pub(crate) fn new(checked: T) -> Self {
        Self(checked)
    }
}

impl<T> std::ops::Deref for Valid<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
