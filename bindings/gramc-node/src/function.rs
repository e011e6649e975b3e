//! Functions of JavaScript as implementations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gramc_tools::implementations::not_json;
use gramc_tools::invocation::{InvocationError, ValueFuture};
use napi::Status;
use napi::bindgen_prelude::{FnArgs, JsValuesTupleIntoVec, Promise};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Why a function did not return.
const ENDED: &str = "the program ended before the function did";

/// A function of JavaScript that returns a promise of its outcome, and keeps no process alive.
pub(crate) type AsyncFunction<Arguments> =
    ThreadsafeFunction<Arguments, Promise<FunctionOutcome>, Arguments, Status, false, true>;

tokio::task_local! {
    /// The number of the call of a session that the current task runs.
    static SESSION_CALL: u32;
}

/// Runs a call of a session, whose functions get its number.
pub(crate) async fn within_call<F: Future>(number: Option<u32>, call: F) -> F::Output {
    match number {
        Some(number) => SESSION_CALL.scope(number, call).await,
        None => call.await,
    }
}

/// Starts a function with the arguments of a call as JSON text.
pub(crate) type StartFunction = AsyncFunction<FnArgs<(FunctionCall, String)>>;

/// A call of a function.
#[napi]
pub struct FunctionCall {
    number: u32,
    session_call: Option<u32>,
    cancelled: CancellationToken,
}

/// Is told a number, such as that of a call that is cancelled.
pub(crate) type NumberFunction = ThreadsafeFunction<u32, (), u32, Status, false, true>;

/// The outcome of a function.
#[napi(object)]
pub struct FunctionOutcome {
    /// The result as JSON text.
    pub result: Option<String>,
    /// Why the function failed.
    pub error: Option<String>,
    /// Why its result cannot be written as JSON.
    pub refused: Option<String>,
}

#[napi]
impl FunctionCall {
    /// The identifier.
    #[napi(getter)]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The number of the call of a session that it belongs to.
    #[napi(getter)]
    pub fn session_call(&self) -> Option<u32> {
        self.session_call
    }

    /// Whether its result is no longer waited for. A call can be cancelled before it starts: both are
    /// told through queues of their own.
    #[napi(getter)]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }
}

/// Cancels a call whose answer is no longer waited for.
struct Running {
    number: u32,
    cancelled: CancellationToken,
    cancel: Option<Arc<NumberFunction>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(cancel) = self.cancel.take() {
            self.cancelled.cancel();
            cancel.call(self.number, ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

/// The next number of a call or a conversation.
pub(crate) fn next_number() -> u32 {
    static NUMBERS: AtomicU32 = AtomicU32::new(0);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

/// Runs a function with the arguments that belong to a call. Dropping the future cancels it.
pub(crate) fn run_function<Arguments>(
    start: &Arc<AsyncFunction<Arguments>>,
    cancel: &Arc<NumberFunction>,
    arguments: impl FnOnce(FunctionCall) -> Arguments,
) -> ValueFuture
where
    Arguments: JsValuesTupleIntoVec + Send + 'static,
{
    let (number, cancelled) = (next_number(), CancellationToken::new());
    let session_call = SESSION_CALL.try_with(|number| *number).ok();
    let arguments = arguments(FunctionCall { number, session_call, cancelled: cancelled.clone() });
    let mut running = Running { number, cancelled, cancel: Some(Arc::clone(cancel)) };
    let start = Arc::clone(start);
    Box::pin(async move {
        let ended = match start.call_async(arguments).await {
            Ok(promise) => promise.await,
            Err(error) => Err(error),
        };
        // There is nothing left to cancel.
        running.cancel.take();
        ended.map_or_else(|_| Err(InvocationError::crash(ENDED)), value)
    })
}

fn value(outcome: FunctionOutcome) -> Result<Value, InvocationError> {
    match outcome {
        FunctionOutcome { result: Some(text), .. } => {
            // `JSON.stringify` wrote it, so that it can only be too deep.
            serde_json::from_str(&text).map_err(|_| not_json(&"it nests too deeply"))
        }
        FunctionOutcome { refused: Some(message), .. } => Err(not_json(&message)),
        FunctionOutcome { error, .. } => Err(InvocationError::failure(error.unwrap_or_default())),
    }
}
