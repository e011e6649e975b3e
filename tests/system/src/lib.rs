//! Helpers of the benches.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a bench reports a failure by a panic"
)]

pub mod peers;
pub mod release;
pub mod tool_files;
