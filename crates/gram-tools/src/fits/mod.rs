//! Whether an implementation fits a specification.
