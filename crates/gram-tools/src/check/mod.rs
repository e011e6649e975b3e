//! The check of one call's arguments: from the text that a model wrote to what an implementation
//! receives, or to all that is wrong with it.
//!
//! What a tool asks for is compiled once into shapes. A call is read into a list of nodes that
//! point into its text, and walks along the shapes; what comes out is written as it goes.

mod asserts;
mod compile;
mod hint;
mod holders;
mod host;
mod lenient;
mod mend;
mod near;
mod number;
mod problem;
mod report;
mod scalars;
mod shape;
mod tape;
mod tool;
mod unions;
mod walk;

pub use compile::SchemaError;
pub use problem::{Code, Repair, Rule};
pub use report::{Invalid, Malformed, Problem, Refused};
pub(crate) use tool::mended;
pub use tool::{Accepted, Policy, ToolCheck};
pub use walk::Undeclared;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests;
