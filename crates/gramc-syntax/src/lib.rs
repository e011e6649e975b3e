//! Parses gram notation to a lossless tree.
//!
//! Parsing never fails: it returns a tree and diagnostics.
//!
//! ```
//! let source = gramc_syntax::SourceFile::new("greeting.gram", "(personName::Text)==>(::String)");
//! let parse = gramc_syntax::parse(source);
//! assert!(parse.diagnostics().is_empty());
//! assert_eq!(parse.tree().token_texts().collect::<String>(), parse.source().text());
//! ```

mod ast;
pub mod codes;
mod diagnostic;
mod foreign_ranges;
mod foreign_types;
pub mod format;
mod hidden;
mod lexer;
mod limits;
mod parse;
mod parser;
mod render;
mod sexp;
mod source;
mod span;
mod text;
mod token;
mod tree;
mod words;

pub use ast::{Entry, Subject};
pub use diagnostic::{
    Applicability, Code, Diagnostic, Edit, Fix, Label, Severity, limit_diagnostics,
};
pub use foreign_ranges::translate_range;
pub use foreign_types::{explain_type, foreign_type_name, translate_type};
pub use format::{FormatError, FormatOptions, diagnose_format, format, format_range};
pub use hidden::hidden_characters;
pub use limits::{Limits, MAX_TYPE_DEPTH};
pub use parse::{
    Extension, ExtensionUse, Parse, is_type, json_file, parse, parse_bytes, parse_type, parse_with,
    too_large,
};
pub use render::RenderOptions;
pub use source::{LineIndex, Position, SourceFile};
pub use span::Span;
pub use token::TokenKind;
pub use tree::{Children, Node, NodeId, NodeKind, Token, Tree};
pub use words::Words;
