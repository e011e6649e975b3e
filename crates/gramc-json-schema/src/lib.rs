//! What JSON Schema is, apart from any program that reads or writes it.
//!
//! ```
//! use gramc_json_schema::containment::{Containment, decide};
//! use serde_json::json;
//!
//! let wide = json!({"type": "number", "minimum": 0});
//! let narrow = json!({"type": "integer", "minimum": 1});
//! assert_eq!(decide(&wide, &narrow), Containment::Proven);
//!
//! // The other way round there is a value that shows the difference.
//! let Containment::Refuted(witness) = decide(&narrow, &wide) else { unreachable!() };
//! assert!(witness.value.is_number());
//! ```

pub mod annotations;
#[cfg(feature = "containment")]
pub mod containment;
#[cfg(feature = "containment")]
mod decimal;
#[cfg(feature = "normalize")]
pub mod draft7;
#[cfg(feature = "generate")]
pub mod generate;
pub mod keywords;
pub mod merge;
#[cfg(feature = "normalize")]
pub mod normalize;
pub mod numbers;
pub mod parts;
pub mod path;
pub mod pattern;
pub mod pointer;
pub mod regular;
pub mod shorten;
#[cfg(feature = "strings")]
pub mod strings;
pub mod text;
pub mod type_set;
pub mod values;
