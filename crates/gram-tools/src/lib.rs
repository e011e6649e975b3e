//! What stands between a model and an implementation.
//!
//! A specification names no implementation. A [`ToolLibrary`] holds implementations, and binds
//! them to a specification at run time. A [`Session`] checks, repairs and throttles the calls of
//! one conversation.

pub mod clock;
pub mod fits;
pub mod invocation;
pub mod kinds;
#[cfg(feature = "mcp")]
pub mod mcp;
mod names;
#[cfg(any(feature = "command", feature = "mcp"))]
mod process;
mod throttle;
#[cfg(any(feature = "http", feature = "mcp"))]
mod web;
mod words;
