//! Agents on bound libraries.
//!
//! An agent of a specification talks to a model, and the model calls tools. Each call goes through
//! a session of a bound library (`gram_tools`), so that a model hears what is wrong with a call,
//! and nothing undeclared reaches an implementation.

mod answer;
mod conversation;
mod costs;
mod crew;
mod event;
mod message;
pub mod model;
mod spans;
mod summary;
mod tools;
mod trace;
mod turn;

pub use answer::json_in;
pub use conversation::{Conversation, Saved};
pub use costs::{Costs, over_budget};
pub use crew::{Crew, CrewError, CrewOptions};
pub use event::{Event, Watch, Watchers};
pub use message::{Message, ModelCall, Reply, Said, Usage};
pub use spans::{Spans, Telemetry, TelemetryError};
pub use summary::{Pattern, Summary, ToolUse};
pub use trace::Trace;
pub use turn::{End, Limits, Turn};
