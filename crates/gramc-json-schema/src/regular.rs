//! Regular languages: ECMAScript patterns as regular expressions of whole texts, and proofs about them.
//!
//! ```
//! use gramc_json_schema::regular::{Language, is_within};
//!
//! let texts = |pattern| Language::of_ecma_pattern(pattern).map(|it| it.texts);
//! let (narrow, wide) = (texts("^[a-z]{1,5}$").unwrap(), texts("[a-z0-9]").unwrap());
//! assert!(is_within(&narrow, &wide) && !is_within(&wide, &narrow));
//! ```

mod automaton;
mod char_set;
mod regex;
mod translate;
mod tree;

pub use automaton::{Automaton, Found, are_disjoint, find_text, is_within};
pub use char_set::CharSet;
pub use regex::Regex;
pub use translate::{Language, anything};
pub use tree::{Leaf, Tree};
