//! The binary as people and programs meet it, and the texts that promise how it behaves.
//!
//! This is an integration test of the crate `gramc`, so cargo builds the binary first and says
//! where it is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ab;
mod ab_arms;
mod ab_judges;
mod ab_page;
mod ab_real;
mod ab_refusals;
mod agent;
mod agent_real;
mod apis;
mod approval;
mod binding;
mod calls;
mod chat;
mod check;
mod conventions;
mod conversations;
mod cut_off;
mod diff;
mod docs;
mod editors;
mod examples;
mod extremes;
mod failures;
mod fallback;
mod fmt;
mod formats;
mod frameworks;
mod grammars;
mod guard;
mod images;
mod import;
mod imports;
mod killed;
mod lsp;
mod markdown;
mod mcp;
mod mcp_real;
mod model_server;
mod npm;
mod once;
mod output;
mod packaging;
mod parity;
mod passed_on;
mod programs;
mod providers;
mod python;
mod real;
mod releases;
mod rename;
mod running;
mod scenarios;
mod secrets;
mod session;
mod sign_in;
mod spans;
mod spec;
mod support;
mod targets;
mod text_calls;
mod validators;
mod whole_servers;
