//! The language server for gram.
//!
//! [`serve`] serves one client of the Language Server Protocol over a pair of pipes. [`LanguageServer`] handles
//! messages without threads and pipes, and [`Workbench`] single requests. Parsing and checking are
//! done by `gramc-syntax` and `gramc-schema`.
//!
//! ```
//! let mut bench = gramc_lsp::Workbench::new();
//! bench.open("untitled:one", "[now:Tool | ()==>(::Dte)]");
//! assert!(bench.diagnostics("untitled:one").to_string().contains("unknown-type"));
//! ```

#![allow(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "all request handlers have the same signature"
)]

mod actions;
mod capabilities;
mod checked_cases;
mod client;
mod committed;
mod completion;
mod data_files;
mod diagnostics;
mod dispatch;
mod document_kind;
mod embedded;
mod fences;
mod file;
mod formatting;
mod global_state;
mod goto;
mod hierarchy;
mod hover;
mod imports;
mod inlay;
mod lens;
mod load;
mod lookup;
mod markdown;
mod message;
mod named_files;
mod position;
mod ranges;
mod rename;
mod request;
mod runnables;
mod server;
mod signature;
mod snapshot;
mod symbols;
mod test_groups;
mod tokens;
mod tool_index;
mod trace_stats;
mod transport;
mod uri;
mod workbench;
mod workers;
mod workspace_edit;

pub use embedded::LanguageServer;
pub use request::RequestError;
pub use server::serve;
pub use workbench::Workbench;
