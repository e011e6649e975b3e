//! gramc for browsers and other WebAssembly hosts: functions from JSON to JSON.
//!
//! [`answer`] is the whole interface. WebAssembly exports it as three functions without generated glue
//! code: the host writes the JSON text of a request to the memory at [`gramc_input`], calls
//! [`gramc_request`], and reads [`gramc_output_length`] bytes at the address that it returns. The npm
//! package `gramc/web` wraps and types them.
//!
//! ```
//! let request = r#"{"operation":"format","text":"[now:Tool|()==>(::Text)]"}"#;
//! let answer = gramc_web::answer(request);
//! assert_eq!(answer, r#"{"result":"[now:Tool | ()==>(::Text)]\n"}"#);
//! ```

mod operations;
mod specification;

use std::cell::RefCell;

use serde_json::{Value, json};

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Why a request has no result.
#[derive(Debug)]
struct RequestError {
    message: String,
    /// The diagnostics of the specification, if it has errors.
    diagnostics: Vec<Value>,
}

impl<E: std::fmt::Display> From<E> for RequestError {
    fn from(error: E) -> Self {
        Self { message: error.to_string(), diagnostics: Vec::new() }
    }
}

/// Answers a request, both as JSON text: an object with the name of an `operation` and its parameters.
/// The answer is an object with the `result`, or with an `error` for people and, if the specification
/// has errors, its `diagnostics`.
pub fn answer(request: &str) -> String {
    let answer = serde_json::from_str(request).map_err(RequestError::from);
    match answer.and_then(operations::run) {
        Ok(result) => json!({ "result": result }),
        Err(RequestError { message, diagnostics }) if diagnostics.is_empty() => {
            json!({ "error": message })
        }
        Err(RequestError { message, diagnostics }) => {
            json!({ "error": message, "diagnostics": diagnostics })
        }
    }
    .to_string()
}

/// Returns the address of `length` bytes for the text of a request, in UTF-8.
#[allow(unsafe_code, reason = "an exported name is an unsafe attribute")]
#[unsafe(no_mangle)]
pub extern "C" fn gramc_input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Answers the request that was written to the input. Returns the address of the answer, which is
/// valid until the next call.
#[allow(unsafe_code, reason = "an exported name is an unsafe attribute")]
#[unsafe(no_mangle)]
pub extern "C" fn gramc_request() -> *const u8 {
    let input = INPUT.take();
    let answer = answer(&String::from_utf8_lossy(&input));
    OUTPUT.with_borrow_mut(|output| {
        *output = answer;
        output.as_ptr()
    })
}

/// Returns the length of the last answer in bytes.
#[allow(unsafe_code, reason = "an exported name is an unsafe attribute")]
#[unsafe(no_mangle)]
pub extern "C" fn gramc_output_length() -> usize {
    OUTPUT.with_borrow(String::len)
}

#[cfg(test)]
mod tests;
