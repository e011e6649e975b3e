//! Helpers of the tests of schemas: random schemas and values, the rules of providers' dialects written from
//! their documentation ([`rules`]), the equivalence of schemas ([`same`]), and the check of arguments beside
//! a referee ([`arguments`]).
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test helper reports a failure by a panic"
)]

pub mod arguments;
pub mod gbnf;
pub mod instances;
pub mod rules;
pub mod same;
pub mod schemas;
