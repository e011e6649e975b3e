//! Runs agents on bound tool libraries.
//!
//! A [`Conversation`] sends the user's messages to the model of an agent and runs the tool calls in
//! its replies. Every call goes through a session of the bound library (`gramc_tools`), which checks
//! it before the implementation runs and reports errors back to the model. [`Observer`]s receive
//! everything that happens in a run: [`TraceWriter`] writes it as JSON lines, [`SpanRecorder`]
//! exports it to OpenTelemetry.

mod answer;
mod conversation;
mod costs;
mod external;
mod function;
mod images;
mod message;
pub mod model;
mod observer;
mod program;
mod recorded_case;
mod references;
mod spans;
mod summary;
mod team;
mod text_calls;
mod tools;
mod trace;
mod turn;

pub use answer::extract_json;
pub use conversation::{Conversation, SavedConversation};
pub use costs::{CostEstimate, over_budget};
pub use function::{AgentFunction, FunctionConversation, FunctionFuture};
pub use images::{ImageError, read_image};
pub use message::{AssistantMessage, FinishReason, Message, ModelCall, Reply, Usage};
pub use observer::{Event, Observer, Observers};
pub use recorded_case::case_of_trace;
pub use references::{builtins, unknown_references, unknown_references_in};
pub use spans::{SpanRecorder, Telemetry, TelemetryError};
pub use summary::{CallPattern, ToolStats, TraceSummary};
pub use team::{AgentTeam, TeamError, TeamOptions};
pub use trace::{CallRecord, ErrorRecord, ParameterError, TraceError, TraceWriter, read_calls};
pub use turn::{Limits, Streaming, TurnEnd, TurnResult};
