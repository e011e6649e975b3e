//! The check of one call's arguments: from the text that a model wrote to what an implementation
//! receives, or to all that is wrong with it.
//!
//! What a tool asks for is compiled once into shapes. A call is read into a list of nodes that
//! point into its text, and walks along the shapes; what comes out is written as it goes.

mod coerce;
mod compile;
mod containers;
mod hint;
mod host;
mod json_repair;
mod keyword_validators;
mod number;
mod problem;
mod report;
mod scalars;
mod shape;
mod similar_names;
mod tape;
mod tool;
mod unions;
mod validate;

pub use compile::SchemaError;
pub use problem::{ProblemCode, Repair, RepairRule};
pub use report::{InvalidArguments, MalformedArguments, Problem, Rejection};
pub(crate) use tool::repaired_json;
pub use tool::{Accepted, Policy, ToolCheck};
pub use validate::Undeclared;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests;
