//! gramc as an npm package: the native part.
//!
//! The interface is TypeScript, in `lib`; this crate has the parts that must be fast or need the crates
//! of gramc. Values cross as JSON text.

mod experiment;
mod function;
mod library;
mod session;
pub mod specification;
mod stream;

use napi::{Error, Status};
use napi_derive::napi;

/// An error with a code of its own.
type Failure = Error<String>;

/// An error with the code of Node for it, or with the name of an exception of this package. The
/// message of those is JSON.
fn failure(code: &str, message: impl Into<String>) -> Failure {
    Error::new(code.to_owned(), message.into())
}

fn invalid_argument(error: &dyn std::fmt::Display) -> Failure {
    failure(Status::InvalidArg.as_ref(), error.to_string())
}

/// Runs the command line and returns its exit code. The first argument is the name of the program.
#[napi]
pub fn run(arguments: Vec<String>) -> i32 {
    gramc::run(arguments.into_iter().map(Into::into))
}

/// The names of all settings, as attributes of gram.
#[napi]
pub fn setting_names() -> Vec<String> {
    gramc_host::setting_names().into_iter().map(str::to_owned).collect()
}

/// The name of the first setting with a wrong value, and the value that is expected.
#[napi]
pub fn setting_fault(settings: String) -> Option<Vec<String>> {
    let settings = serde_json::from_str(&settings).unwrap_or_default();
    gramc_host::setting_fault(&settings).map(|(name, expected)| vec![name, expected])
}

/// Says how gramc starts itself once more, and watches the programs that it starts.
#[napi]
pub fn set_start_command(command: Vec<String>) {
    gramc::set_start_command(command.into_iter().map(Into::into).collect());
}
