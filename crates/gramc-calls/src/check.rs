//! Checks the arguments of a call: repairs and validates the text that a model wrote. The output is
//! the arguments for the implementation, or a list of problems.
//!
//! The schema of a tool is compiled once into shapes. The arguments of a call are parsed into a
//! flat list of nodes that refer to the text. The validation walks the nodes along the shapes and
//! writes its output in the same pass.

mod coerce;
mod compile;
mod containers;
mod flat_record;
mod hint;
mod host;
mod json_repair;
mod json_text;
mod judged;
mod keyword_validators;
mod misnamed;
mod number;
mod problem;
mod received;
mod report;
mod scalars;
mod scanner;
mod shape;
mod signature;
mod similar_names;
mod stream;
mod tape;
mod tool;
mod undeclared;
mod unions;
mod validate;

pub use compile::SchemaError;
pub use json_text::{JsonContent, JsonText, JsonValue};
pub use problem::{ProblemCode, Repair, RepairRule};
pub use report::{InvalidArguments, MalformedArguments, MalformedKind, Problem, Rejection};
pub use stream::{ArgumentStream, GrowingText};
pub use tool::repaired_json;
pub use tool::{Accepted, Policy, ToolCheck};
pub use validate::Undeclared;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests;
