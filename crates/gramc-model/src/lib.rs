//! The checked model of tool definitions: tools, types, agents, libraries and experiments.

pub mod attributes;
pub mod expression;
pub mod format;
mod model;
pub mod nearest;
pub mod print;
mod request_place;
pub mod spans;
pub mod units;
pub mod value;
pub mod value_check;
pub mod walk;
pub mod words;

pub use attributes::ImplementationKind;
pub use format::{BUILT_IN, Format};
pub use model::*;
pub use nearest::did_you_mean;
pub use request_place::{BodyFormat, RequestLocation, RequestPlace, ValueStyle, has_body};
pub use spans::{Place, Spans};
