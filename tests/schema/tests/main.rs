//! Schemas: compiling, importing, comparing and lowering them, grammars, and calls checked against them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod adapt;
mod calls;
mod containment;
mod drafts;
mod grammars;
mod import;
mod instances;
mod openapi;
mod search;
mod signatures;
mod targets;
