//! The proof that a module was checked.

use gramc_model::Module;

/// Proof that the checker found no error in its content.
///
/// Only the checker makes one; what compiles, binds or runs takes nothing else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Valid<T>(T);

impl<T> Valid<T> {
    /// Only for the checker, and only where it found no error.
    pub(crate) fn new(checked: T) -> Self {
        Self(checked)
    }
}

impl<'m> Valid<&'m Module> {
    /// The module.
    pub fn module(self) -> &'m Module {
        self.0
    }
}

impl<'m> From<&'m Valid<Module>> for Valid<&'m Module> {
    fn from(valid: &'m Valid<Module>) -> Self {
        Self(&valid.0)
    }
}

impl<T> std::ops::Deref for Valid<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
