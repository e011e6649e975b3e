//! Shared helpers of the tests.
//!
//! The conformance and property tests need four things, kept here because a test binary, a bench
//! and a fuzz target all use them: the reference parser behind a small interface
//! (`reference`), documents made from the grammar ([`generate`]), single edits of documents
//! ([`mutate`]), and the comparison of the two parsers with the search for a smallest
//! counterexample ([`compare`](mod@compare), [`shrink`](mod@shrink)). The tests of the model need
//! random modules ([`modules`]), type
//! expressions ([`type_expressions`]) and a second opinion on which values a type takes ([`reading`]). The
//! benches read files of tools ([`tool_files`]) and run programs of others ([`peers`]).
//!
//! Everything random comes from [`rng`] and depends on a seed only, so a failure found on one
//! machine is the same failure on every other.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "these helpers run in tests only, where a panic is how a failure is told"
)]

pub mod arguments;
pub mod campaign;
pub mod circles;
pub mod compare;
pub mod corpus;
pub mod gbnf;
pub mod generate;
pub mod instances;
pub mod lints;
pub mod modules;
pub mod mutate;
pub mod peers;
pub mod reading;
pub mod reference;
pub mod release;
pub mod rng;
pub mod rules;
pub mod same;
pub mod schemas;
pub mod shrink;
pub mod sprinkle;
pub mod tool_files;
pub mod type_expressions;
