//! What the packages of gramc for other languages share: specifications, libraries of functions, and
//! calls, with values as JSON.

mod calls;
mod library;
mod specification;
mod target_tools;

pub use calls::call;
pub use gramc::specification::SpecificationError;
pub use library::{Gap, Library};
pub use specification::{Specification, UnknownTarget, import_tools};
pub use target_tools::{TargetTool, TargetTools};
