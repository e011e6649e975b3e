//! Derives grammars for constrained decoding from the schemas of tools.
//!
//! Every sentence of a grammar is a call that the check of calls accepts as it is. What a grammar
//! cannot derive of a tool's calls is a [`Loss`].
//!
//! ```
//! use gramc_grammar::{Grammar, Syntax, ToolSchema};
//! use serde_json::json;
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {"days": {"type": "integer", "minimum": 1, "maximum": 14}},
//!     "required": ["days"],
//! });
//! let tool = ToolSchema { name: "forecast", schema, hidden: Vec::new() };
//! let grammar = Grammar::of_arguments(&tool).unwrap();
//! assert!(grammar.print(Syntax::Gbnf).contains("integer ::= [1-9] | \"1\" [0-4]"));
//! ```

mod decimal;
mod format;
mod gbnf;
mod grammar;
mod json_text;
mod lark;
mod number;
mod page;
mod rules;
mod schema;
mod syntax;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests;

pub use gramc_schema::lower::Loss;
pub use grammar::{Grammar, GrammarError};
pub use page::page;
pub use schema::ToolSchema;
pub use syntax::Syntax;
