//! The language: parsing, formatting, checking and linting, and the grammars published for other parsers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod again;
mod alone;
mod architecture;
mod conformance;
mod exhaustive;
mod format;
mod grammar;
mod layouts;
mod lint;
mod mistakes;
mod properties;
mod roundtrip;
mod tree_sitter;
mod types;
