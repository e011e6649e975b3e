//! Converts checked tool definitions to JSON Schema and to providers' formats, and back.
//!
//! ```
//! let schema = gramc_schema::schema_of_signature("(a::Int)==>(::Text)").unwrap();
//! assert_eq!(schema["properties"]["a"]["type"], "integer");
//! ```

pub mod emit;
mod example;
pub mod import;
pub mod lower;
mod signature;
pub mod typescript;

pub use emit::Draft;
pub use example::example_arguments;
pub use lower::Target;
pub use signature::schema_of_signature;
