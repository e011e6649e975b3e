//! Trees to a checked model of tool specifications, and JSON Schema from it.
//!
//! ```
//! let text = "[add:Tool | (a::Int)==>(b::Int)==>(::Int)]";
//! let parse = gram_syntax::parse(gram_syntax::SourceFile::new("add.gram", text));
//! let checked = gram_schema::check(&[parse]);
//! let module = checked.module.expect("the text has no errors");
//! assert_eq!(module.tools[0].parameters.len(), 2);
//! ```

mod accept;
pub mod attributes;
mod check;
pub mod codes;
pub mod emit;
mod expression;
mod format;
pub mod import;
pub mod lint;
pub mod lower;
pub mod model;
pub mod names;
mod nearest;
mod partial;
mod pointer;
mod print;
pub mod project;
mod signature;
mod spans;
mod threads;
pub mod units;
mod value;

/// Numbers and values of JSON, compared as what they are and not as they are written.
pub mod numbers {
    pub use crate::value::{canonical, compare, is_integer, is_multiple, same};
}

pub use check::{Checked, Import, ImportGraph, ResolvedImport, check, check_linked, imports};
pub use emit::Draft;
pub use format::{BUILT_IN, Format};
pub use lower::Target;
pub use model::{Module, Valid};
pub use nearest::did_you_mean;
pub use partial::PartialModule;
pub use print::{
    identifier, print, print_field, print_implementation, print_specification, shape, string,
};
pub use signature::{plain_type, schema_of_signature};
pub use spans::{Place, Spans};
