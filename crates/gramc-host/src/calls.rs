//! Calls of programs.

use gramc_agent::FinishReason;
use gramc_tools::Call;

/// A call. `finish_reason` is how the model's reply ended, if the call is the last one in it: a call
/// that was cut off does not run.
pub fn call(
    name: &str,
    arguments: Option<String>,
    id: Option<String>,
    finish_reason: Option<&str>,
) -> Call {
    let cut_off = finish_reason.and_then(|word| FinishReason::of_provider(word).problem());
    Call { id, name: name.to_owned(), arguments, cut_off }
}
