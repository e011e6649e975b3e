//! Reads descriptions of HTTP APIs: `OpenAPI` 3, Swagger 2.0 and Google Discovery.
//!
//! A document becomes tools with JSON Schemas, and the requests behind them: [`import`] makes a
//! specification and a library in gram of it. Nothing here reads files or the network. On
//! WebAssembly, YAML is not supported, since its parser would be a tenth of all code.

mod chosen;
mod discriminators;
mod document;
pub mod emit;
mod error;
mod import;
mod library;
mod names;
mod notes;
mod operation;
mod path;
mod read;
mod schema;
mod secrets;
mod server;
mod source;
mod value_kind;
#[cfg(not(target_family = "wasm"))]
mod yaml;

pub use document::{api_document, parse};
pub use error::ApiError;
pub use import::{ApiOptions, ImportedApi, import};
