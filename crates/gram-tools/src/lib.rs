//! What stands between a model and an implementation.
//!
//! A specification names no implementation. A [`ToolLibrary`] holds implementations, and binds
//! them to a specification at run time, which gives a [`Bound`] library. A [`Session`] of it checks,
//! repairs and throttles the calls of one conversation, and runs them.

mod bind;
pub mod check;
pub mod clock;
pub mod fits;
pub mod invocation;
pub mod kinds;
mod library;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod names;
#[cfg(any(feature = "command", feature = "mcp"))]
mod process;
mod session;
mod settings;
pub mod throttle;
mod verdict;
#[cfg(any(feature = "http", feature = "mcp"))]
mod web;
mod words;

pub use bind::{BindProblem, Binding, Bound, Misfit};
pub use library::{LibraryError, Supply, ToolLibrary, specification_of};
pub use session::{Begun, ContainerStats, Ready, Session, SessionStats};
pub use settings::{Expand, Settings, undeclared};
pub use verdict::{Call, CallError, Success, Verdict, Warning};
