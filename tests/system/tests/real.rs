//! Tests with real servers, clients, editors, models and packages, which `tests/run --all` installs. Single tests
//! in other modules that need them have names that begin with `real_`.

pub(crate) mod ab;
mod ab_page;
pub(crate) mod agent;
mod agents;
mod conformance;
mod editors;
mod frameworks;
mod generate;
pub(crate) mod mcp;
mod npm;
pub(crate) mod packaging;
pub(crate) mod python;
mod releases;
mod repairs;
pub(crate) mod servers;
mod web;
