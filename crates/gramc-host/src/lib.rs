//! What the packages of gramc for other languages share: specifications, libraries of functions, calls
//! and experiments, with values as JSON.

mod library;
mod specification;
#[cfg(test)]
mod tests;

use gramc_agent::FinishReason;
use gramc_model::attributes::{AttributeOwner, AttributeSpec, ValueType, of_owner};
use gramc_tools::{Call, ReplyEnding};
use serde_json::{Map, Value};

pub use gramc_model::did_you_mean;
pub use gramc_project::SpecificationError;
pub use gramc_schema::emit::{TargetTool, TargetTools};
pub use library::{BoundLibrary, Library};
pub use specification::{Specification, SpecifiedTool, UnknownTarget, import_tools};

/// A call. `finish_reason` is how the model's reply ended, if the call is the last one in it: a call
/// that was cut off does not run.
pub fn call(
    name: &str,
    arguments: Option<String>,
    id: Option<String>,
    finish_reason: Option<&str>,
) -> Call {
    Call { id, arguments, ending: ending(finish_reason), ..Call::new(name, "") }
}

/// How a reply ended, in the provider's words.
pub fn ending(finish_reason: Option<&str>) -> ReplyEnding {
    finish_reason.map(|word| FinishReason::of_provider(word).ending()).unwrap_or_default()
}

/// The attributes of gram that are settings of libraries and of single functions.
fn settings() -> impl Iterator<Item = &'static AttributeSpec> {
    let is_setting = |spec: &&AttributeSpec| {
        let is_policy = !matches!(spec.value, ValueType::Sources | ValueType::Text);
        is_policy && spec.is_allowed_at(AttributeOwner::Library)
    };
    of_owner(AttributeOwner::AnyImplementation).filter(is_setting)
}

/// The names of all settings.
pub fn setting_names() -> Vec<&'static str> {
    settings().map(|spec| spec.name).collect()
}

/// The first setting with a wrong value, and the value that is expected.
pub fn setting_fault(given: &Map<String, Value>) -> Option<(String, String)> {
    given.iter().find_map(|(name, value)| {
        let spec = settings().find(|spec| spec.name == name)?;
        (!spec.value.accepts(value)).then(|| (name.clone(), spec.value.expected()))
    })
}
