//! The language server for gram specifications of tools.
//!
//! It speaks the Language Server Protocol; [`serve`] talks to one client over a pair of pipes, and
//! [`Workbench`] gives the same answers without threads, for tests and for programs that hold texts
//! themselves. All that it knows of the language it asks `gram-syntax` and `gram-schema`.
//!
//! ```
//! let mut bench = gram_lsp::Workbench::new();
//! bench.open("untitled:one", "[now:Tool | ()==>(::Dte)]");
//! assert!(bench.diagnostics("untitled:one").to_string().contains("unknown-type"));
//! ```

#![allow(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "all requests are answered by functions of one shape: parameters in, an answer out"
)]

mod actions;
mod bench;
mod capabilities;
mod client;
mod completion;
mod diagnostics;
mod dispatch;
mod evidence;
mod file;
mod folding;
mod formatting;
mod goto;
mod hierarchy;
mod hover;
mod inlay;
mod jobs;
mod lens;
mod links;
mod load;
mod place;
mod position;
mod rename;
mod selection;
mod server;
mod signature;
mod snapshot;
mod symbols;
mod tokens;
mod transport;
mod uri;
mod world;

pub use bench::Workbench;
pub use server::serve;
