//! Functions of the program itself.

use std::any::Any;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use smol_str::SmolStr;

use super::run_unless_cancelled;
use crate::invocation::{
    Answer, AnswerFuture, DeclaredInterface, Implementation, Invocation, InvocationError,
    ValueFuture,
};

/// A function as an implementation; [`function`] and [`async_function`] make one.
#[derive(Clone)]
pub struct Function {
    run: Arc<dyn Fn(&Invocation) -> AnswerFuture + Send + Sync>,
    declared: Option<DeclaredInterface>,
    description: Option<SmolStr>,
}

/// Makes an implementation of a function that takes the arguments as one value and gives a result.
///
/// It runs on its own thread, so it may block. The thread cannot be stopped: if the call is
/// dropped, the function still runs to its end. Must be invoked inside a tokio runtime.
///
/// ```
/// use gramc_tools::implementations::function;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Sum { a: i64, b: i64 }
///
/// let add = function(|sum: Sum| sum.a.checked_add(sum.b).ok_or("the sum is too large"))
///     .signature("(a::Int)==>(b::Int)==>(::Int)");
/// ```
pub fn function<T, R, E>(work: impl Fn(T) -> Result<R, E> + Send + Sync + 'static) -> Function
where
    T: DeserializeOwned + Send,
    R: Serialize,
    E: Display,
{
    let work = Arc::new(work);
    Function::new(move |arguments| {
        let work = Arc::clone(&work);
        Box::pin(async move {
            let running =
                tokio::task::spawn_blocking(move || answer(&(*work)(read::<T>(&arguments)?)));
            match running.await {
                Ok(outcome) => outcome,
                Err(error) => Err(match error.try_into_panic() {
                    Ok(panic) => panic_error(panic.as_ref()),
                    Err(_) => InvocationError::crash("the program ended before the function did"),
                }),
            }
        })
    })
}

/// Makes an implementation from an async function, as [`function`] does from a blocking one. If the
/// call is dropped, so is the future.
pub fn async_function<T, R, E, F>(work: impl Fn(T) -> F + Send + Sync + 'static) -> Function
where
    T: DeserializeOwned + Send,
    R: Serialize,
    E: Display,
    F: Future<Output = Result<R, E>> + Send + 'static,
{
    let work = Arc::new(work);
    Function::new(move |arguments| {
        let work = Arc::clone(&work);
        Box::pin(async move {
            // Whether a function leaves its own state whole when it panics is its own affair.
            let running = AssertUnwindSafe(async move {
                let outcome = (*work)(read::<T>(&arguments)?).await;
                answer(&outcome)
            });
            match running.catch_unwind().await {
                Ok(outcome) => outcome,
                Err(panic) => Err(panic_error(panic.as_ref())),
            }
        })
    })
}

impl Function {
    /// A function that gets the arguments as JSON text. [`function`] and [`async_function`] read
    /// them.
    pub fn new(run: impl Fn(Arc<str>) -> ValueFuture + Send + Sync + 'static) -> Self {
        Self::of_invocation(move |invocation| {
            let work = run(Arc::clone(&invocation.arguments));
            Box::pin(async { work.await.map(Answer::Json) })
        })
    }

    /// A function that gets the whole invocation, and whose answer may be in the form of MCP.
    pub fn of_invocation(
        run: impl Fn(&Invocation) -> AnswerFuture + Send + Sync + 'static,
    ) -> Self {
        Self { run: Arc::new(run), declared: None, description: None }
    }

    /// Sets the description of the function.
    #[must_use]
    pub fn description(mut self, description: impl Into<SmolStr>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Declares the parameters and the result as a gram signature.
    #[must_use]
    pub fn signature(mut self, signature: impl Into<SmolStr>) -> Self {
        let (text, types) = (signature.into(), SmolStr::default());
        self.declared = Some(DeclaredInterface::Signature { text, types });
        self
    }

    /// Declares an interface, if there is one.
    #[must_use]
    pub fn declaring(mut self, declared: Option<DeclaredInterface>) -> Self {
        self.declared = declared;
        self
    }

    /// Declares the parameters and the result as JSON Schemas.
    #[must_use]
    pub fn schemas(mut self, parameters: Value, result: Option<Value>) -> Self {
        self.declared = Some(DeclaredInterface::Schemas { parameters, result });
        self
    }
}

impl Implementation for Function {
    fn kind(&self) -> &'static str {
        "Function"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let work = (self.run)(&invocation);
        Box::pin(run_unless_cancelled(invocation.cancelled, work))
    }

    fn interface(&self) -> Option<DeclaredInterface> {
        self.declared.clone()
    }

    fn description(&self) -> Option<SmolStr> {
        self.description.clone()
    }
}

fn read<T: DeserializeOwned>(arguments: &str) -> Result<T, InvocationError> {
    serde_json::from_str(arguments).map_err(|error| {
        InvocationError::failure(format!("the function does not take these arguments: {error}"))
    })
}

fn answer<R: Serialize, E: Display>(outcome: &Result<R, E>) -> Result<Value, InvocationError> {
    match outcome {
        Ok(result) => serde_json::to_value(result).map_err(|error| not_json(&error)),
        Err(error) => Err(InvocationError::failure(error.to_string())),
    }
}

/// The error of a function whose result cannot be written as JSON.
pub fn not_json(error: &dyn Display) -> InvocationError {
    InvocationError::invalid(format!("the function's result cannot be written as JSON: {error}"))
}

fn panic_error(panic: &(dyn Any + Send)) -> InvocationError {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let detail = match text {
        Some(text) => format!("the function panicked: {}", crate::sanitize::beginning(text)),
        None => "the function panicked".to_owned(),
    };
    InvocationError::crash(detail)
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::panic,
        reason = "a test stops where something is missing, and panics are tested here"
    )]

    use std::convert::Infallible;
    use std::time::Duration;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::implementations::testing::invocation;
    use crate::invocation::InvocationErrorKind;

    #[derive(Deserialize)]
    struct Sum {
        a: i64,
        b: i64,
    }

    fn add(sum: &Sum) -> Result<i64, &'static str> {
        match sum.a {
            13 => panic!("unlucky {}", sum.a),
            a => a.checked_add(sum.b).ok_or("the sum is too large"),
        }
    }

    fn both() -> [Function; 2] {
        [function(|sum: Sum| add(&sum)), async_function(|sum: Sum| async move { add(&sum) })]
    }

    #[tokio::test]
    async fn functions_take_and_give_what_serde_knows() {
        for function in both() {
            let run = |arguments| function.invoke(invocation("add", arguments));
            assert_eq!(run(r#"{"a": 1, "b": 2}"#).await, Ok(Answer::Json(json!(3))));
            let error = run(r#"{"a": 9223372036854775807, "b": 2}"#).await.unwrap_err();
            assert_eq!(
                error,
                InvocationError::new(InvocationErrorKind::Failed, "the sum is too large")
            );
            let error = run(r#"{"a": "1"}"#).await.unwrap_err();
            assert_eq!(error.kind, InvocationErrorKind::Failed);
            let begin = "the function does not take these arguments: invalid type";
            assert!(error.detail.starts_with(begin), "{error}");
        }
    }

    #[tokio::test]
    async fn a_panic_is_told_and_the_next_call_works() {
        for function in both() {
            let run = |arguments| function.invoke(invocation("add", arguments));
            let error = run(r#"{"a": 13, "b": 2}"#).await.unwrap_err();
            let expected = "the function panicked: unlucky 13";
            assert_eq!(error, InvocationError::new(InvocationErrorKind::Died, expected));
            assert_eq!(run(r#"{"a": 1, "b": 2}"#).await, Ok(Answer::Json(json!(3))));
        }
    }

    #[tokio::test]
    async fn a_function_that_blocks_does_not_stall_the_others() {
        let (release, blocked) = std::sync::mpsc::channel::<()>();
        let blocked = std::sync::Mutex::new(blocked);
        let slow = function(move |_: Value| {
            blocked.lock().unwrap().recv().unwrap();
            Ok::<_, Infallible>(1)
        });
        // On the one thread of this test, a function that blocks would end all.
        let waiting = tokio::spawn(slow.invoke(invocation("slow", "{}")));
        let quick = async_function(async |arguments: Value| Ok::<_, Infallible>(arguments));
        assert_eq!(quick.invoke(invocation("quick", "[1]")).await, Ok(Answer::Json(json!([1]))));
        release.send(()).unwrap();
        assert_eq!(waiting.await.unwrap(), Ok(Answer::Json(json!(1))));
    }

    #[tokio::test]
    async fn cancelled_calls_are_not_waited_for() {
        let never =
            async_function(async |_: Value| std::future::pending::<Result<(), String>>().await);
        let call = invocation("never", "{}");
        let cancelled = call.cancelled.clone();
        let waiting = tokio::spawn(never.invoke(call));
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancelled.cancel();
        assert_eq!(waiting.await.unwrap().unwrap_err().kind, InvocationErrorKind::Cancelled);
    }

    #[test]
    fn functions_declare_what_they_are_told() {
        let plain = || function(|value: Value| Ok::<_, Infallible>(value));
        assert_eq!(plain().interface(), None);
        let declared = plain().signature("()==>(::Int)").interface();
        let (text, types) = ("()==>(::Int)".into(), SmolStr::default());
        assert_eq!(declared, Some(DeclaredInterface::Signature { text, types }));
        let declared = plain().schemas(json!({}), None).interface();
        assert_eq!(
            declared,
            Some(DeclaredInterface::Schemas { parameters: json!({}), result: None })
        );
    }
}
