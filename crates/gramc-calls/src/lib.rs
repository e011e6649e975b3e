//! Checks the tool calls of models without running them.
//!
//! [`check`] repairs and validates the arguments of a call, [`names`] suggests known tools for unknown
//! names, and [`ArgumentMapping`] maps arguments to another signature. Nothing here does I/O.

mod argument_mapping;
pub mod check;
pub mod names;

pub use argument_mapping::{ArgumentMapping, MappedValue, MappingError};
