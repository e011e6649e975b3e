//! What stands between a model and an implementation.
//!
//! A specification names no implementation. A [`ToolLibrary`] holds implementations, and binds
//! them to a specification at run time. A [`Session`] checks, repairs and throttles the calls of
//! one conversation.

pub mod check;
pub mod clock;
pub mod fits;
pub mod invocation;
pub mod kinds;
pub mod names;
#[allow(dead_code, reason = "what admits calls is to come")]
pub mod throttle;
