//! What the packages of gramc for other languages share: specifications, libraries of functions, calls
//! and experiments, with values as JSON.

mod approval;
mod calls;
mod library;
mod settings;
mod specification;
mod target_tools;
#[cfg(test)]
mod tests;

pub use approval::decision;
pub use calls::call;
pub use gramc_project::SpecificationError;
pub use library::{BoundLibrary, Gap, Library};
pub use settings::{setting_fault, setting_names};
pub use specification::{Specification, UnknownTarget, import_tools};
pub use target_tools::{TargetTool, TargetTools};
