//! Planning and execution of runs.

pub(crate) mod arms;
pub(crate) mod baseline;
pub(crate) mod journal;
pub(crate) mod manifest;
pub(crate) mod monitor;
pub(crate) mod parts;
pub(crate) mod plan;
mod run_counter;
pub(crate) mod run_stats;
pub(crate) mod runner;
