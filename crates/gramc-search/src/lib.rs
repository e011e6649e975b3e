//! Finds tools by words, by the types of their parameters and results, and by both.
//!
//! ```
//! use gramc_search::{Index, MatchKind, Query, Source};
//! use gramc_syntax::{SourceFile, parse};
//!
//! let text = r#"
//! [forecast:Tool {description: "The weather of the next days"} | (city::Text)==>(::Forecast)]
//! [Forecast::Record | (day::Date), (celsius::Number)]
//! "#;
//! let checked = gramc_check::check(&[parse(SourceFile::new("weather.gram", text))]);
//! let module = checked.module.expect("the text has no errors");
//! let index = Index::build(vec![Source::of_module("weather.gram", &module)]);
//!
//! let query = Query::parse("(city::Text)==>(::Forecast)").expect("the query is valid");
//! let hits = index.search(&query, 10);
//! assert_eq!(hits[0].tool, "forecast");
//! assert_eq!(hits[0].kind, MatchKind::Exact);
//!
//! let query = Query::parse("weather").expect("words are a valid query");
//! assert_eq!(index.search(&query, 10)[0].kind, MatchKind::Words);
//! ```

mod assignment;
mod build;
mod document;
mod hit;
mod index;
mod query;
mod relation;
mod resolved;
mod schema;
mod search;
mod segments;
mod summary;
mod type_match;
mod words;

pub use document::{Source, signature};
pub use hit::{Hit, MatchKind};
pub use index::Index;
pub use query::Query;

#[cfg(test)]
mod tests;
