//! Tests implementations against the types of their tools.
//!
//! The arguments of the calls are made from the parameters of a tool: values at the edges of what they
//! allow, values at random, and values that they do not allow. What fails is reduced to the smallest
//! call that fails in the same way.

mod attempt;
mod junit;
mod report;
mod tester;

pub use junit::junit;
pub use report::{Check, Comparison, Counts, ToolReport, Violation};
pub use tester::{Options, compare, test};

#[cfg(test)]
mod tests;
