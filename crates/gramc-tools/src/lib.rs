//! Binds implementations to tools, and checks and runs the tool calls of models.
//!
//! A specification does not name implementations. A [`ToolLibrary`] holds implementations and binds
//! them to a specification at run time, which results in a [`Bound`] library. A [`Session`] checks,
//! repairs, throttles and runs the calls of one conversation.
//!
//! ```
//! use gramc_check::check;
//! use gramc_syntax::{SourceFile, parse};
//! use gramc_tools::implementations::function;
//! use gramc_tools::{Call, Session, ToolLibrary};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Stay {
//!     nights: u32,
//!     price: f64,
//! }
//!
//! let text = "[cost:Tool | (nights::Int {range: 1..30})==>(price::Number)==>(::Number)]";
//! let checked = check(&[parse(SourceFile::new("stays.gram", text))]);
//! let module = checked.module.expect("a file without errors has a module");
//!
//! // Serde deserializes the arguments. The signature declares what the function accepts.
//! let cost = function(|stay: Stay| Ok::<_, String>(f64::from(stay.nights) * stay.price))
//!     .signature("(nights::Int {range: 0...})==>(price::Number)==>(::Number)");
//! let library = ToolLibrary::new("stays").with("cost", cost);
//! let bound = library.bind(&module).expect("the function accepts what the tool does");
//!
//! // A session is one conversation.
//! let session = Session::new(&bound);
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! runtime.block_on(async {
//!     let verdict = session.call(Call::new("cost", r#"{"nights": "3", "price": 80.5}"#)).await;
//!     assert_eq!(verdict.message(), "241.5");
//!
//!     let verdict = session.call(Call::new("cost", r#"{"nights": 90, "price": 80.5}"#)).await;
//!     let wrong = "`cost`: `nights` must be an integer from 1 to 30, got 90.";
//!     assert!(verdict.message().starts_with(wrong));
//! });
//! ```

#![cfg_attr(
    target_family = "wasm",
    allow(dead_code, unused_imports, reason = "programs and requests do not exist there")
)]

#[cfg(not(target_family = "wasm"))]
pub mod access_token;
pub mod approval;
mod bind;
pub mod clock;
mod content;
pub mod contract;
#[cfg(not(target_family = "wasm"))]
pub mod document;
mod environment;
#[cfg(not(target_family = "wasm"))]
pub mod http_client;
pub mod implementations;
pub mod injected_source;
pub mod invocation;
mod journal;
mod library;
pub mod masks;
#[cfg(not(target_family = "wasm"))]
mod process;
#[cfg(not(target_family = "wasm"))]
mod program;
mod request_text;
pub mod sanitize;
pub mod server_loader;
mod session;
mod session_client;
mod settings;
mod stats;
pub mod throttle;
pub mod validator;
mod verdict;

pub use bind::{BindProblem, Binding, Bound, Incompatibility, OnChange};
pub use content::{BlockError, BlocksError, Image, ToolContent};
pub use environment::ProgramEnvironment;
#[cfg(not(target_family = "wasm"))]
pub use http_client::{RequestHeaders, TlsOptions};
pub use injected_source::InjectedSource;
pub use journal::hex;
pub use journal::{CallJournal, JournalError};
#[cfg(not(target_family = "wasm"))]
pub use library::LoadOptions;
pub use library::{LibraryError, ToolLibrary};
#[cfg(not(target_family = "wasm"))]
pub use process::{ProcessGroup, ProcessPipes, ProcessWatcher, StartError, watch_processes};
pub use session::{
    Admission, AdmittedCall, CallObserver, CallStream, Callers, CheckedCall, FinishedCall,
    RedactedArguments, RunFailure, Session, StreamUpdate,
};
pub use session_client::{RpcError, SessionClient};
pub use settings::{Expand, Settings, parse_undeclared};
pub use stats::{ContainerStats, SessionStats};
pub use verdict::{Call, CallError, ReplyEnding, Success, Verdict, Warning};
