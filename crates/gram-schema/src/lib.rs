//! Trees to a checked model of tool specifications, and JSON Schema from it.
//!
//! ```
//! let text = "[add:Tool | (a::Int)==>(b::Int)==>(::Int)]";
//! let parse = gram_syntax::parse(gram_syntax::SourceFile::new("add.gram", text));
//! let checked = gram_schema::check(&[parse]);
//! let module = checked.module.expect("the text has no errors");
//! assert_eq!(module.tools[0].parameters.len(), 2);
//! assert_eq!(gram_schema::print(&module), "[add:Tool | (a::Int)==>(b::Int)==>(::Int)]\n");
//! ```

pub mod attributes;
mod check;
pub mod codes;
pub mod emit;
pub mod import;
pub mod lint;
pub mod lower;
pub mod names;
mod partial;
pub mod project;
mod signature;
mod threads;
mod valid;

/// The model that the checker builds.
pub mod model {
    pub use crate::valid::Valid;
    pub use gram_model::*;
}

/// JSON numbers and values, compared by their value and not by their text.
pub mod numbers {
    pub use json_schema_kit::numbers::{compare, is_integer, is_multiple};
    pub use json_schema_kit::values::{canonical, same};
}

mod pointer {
    pub(crate) use json_schema_kit::pointer::{
        decode_fragment as decoded, escape_fragment_token as escaped,
        unescape_fragment_token as unescaped,
    };
}

pub use check::{Checked, Import, ImportGraph, ResolvedImport, check, check_linked, imports};
pub use emit::Draft;
pub use gram_model::print::{
    identifier, print, print_field, print_implementation, print_specification, shape, string,
};
pub use gram_model::{BUILT_IN, Format, Place, Spans, did_you_mean, units};
use gram_model::{expression, format, nearest, print, spans, value, value_check, walk};
pub use partial::PartialModule;

pub use gram_model::Module;
pub use lower::Target;
pub use signature::{plain_type, schema_of_signature};
pub use valid::Valid;
