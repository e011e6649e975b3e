//! Helpers of the tests of the language, which the other test crates also use.
//!
//! The reference parser behind a small interface ([`reference`](mod@reference)), random documents made from the grammar
//! ([`generate`]), single edits of documents ([`mutate`]), the comparison of the two parsers with a search for
//! a minimal counterexample ([`compare`](mod@compare), [`shrink`](mod@shrink)), random modules ([`modules`])
//! and type expressions ([`type_expressions`]), and a second implementation of the values of a type
//! ([`reading`]).
//!
//! All randomness comes from [`rng`] and depends on a seed only, so a failure reproduces on every machine.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test helper reports a failure by a panic"
)]

use std::path::Path;

pub mod campaign;
pub mod circles;
pub mod compare;
pub mod corpus;
pub mod generate;
pub mod lints;
pub mod modules;
pub mod mutate;
pub mod reading;
pub mod reference;
pub mod rng;
pub mod shrink;
pub mod sprinkle;
pub mod type_expressions;

/// The root folder of the workspace.
pub fn root() -> &'static Path {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("the test crates are two folders below the root")
}

/// A text in pieces of these sizes in bytes, each at least one, which may grow to the end of a character.
pub fn pieces(text: &str, sizes: impl IntoIterator<Item = usize>) -> Vec<&str> {
    let (mut rest, mut sizes, mut pieces) = (text, sizes.into_iter(), Vec::new());
    while !rest.is_empty() {
        let mut at = sizes.next().unwrap_or(rest.len()).clamp(1, rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (piece, after) = rest.split_at(at);
        pieces.push(piece);
        rest = after;
    }
    pieces
}
