//! Sessions.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use gramc_tools::{Call, Verdict};
use napi::Env;
use napi::bindgen_prelude::{Either, PromiseRaw, within_runtime_if_available};
use napi_derive::napi;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::function::within_call;
use crate::stream::CallStream;

/// One conversation.
#[napi]
#[derive(Clone)]
pub struct Session {
    pub(crate) native: Arc<gramc_tools::Session>,
    /// Cancelled when the conversation of an agent ends.
    ended: Option<CancellationToken>,
}

/// Cancels calls.
#[napi]
pub struct Cancellation(pub(crate) CancellationToken);

/// The options of a call.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct CallOptions {
    /// The identifier of the call.
    pub call_id: Option<String>,
    /// How the model's reply ended, if the call is the last one in it.
    pub finish_reason: Option<String>,
    /// Values of injected parameters as JSON text.
    pub injected: Option<String>,
    /// The context of the trace as JSON text.
    pub meta: Option<String>,
    /// A number that functions of the call get.
    pub number: Option<u32>,
}

/// A verdict.
#[napi(object)]
pub struct VerdictText {
    /// Whether the call succeeded.
    pub ok: bool,
    /// A line of JSON, and after it the text for the model.
    pub text: String,
}

impl VerdictText {
    pub(crate) fn new(verdict: &Verdict) -> Self {
        Self { ok: verdict.is_ok(), text: verdict_text(verdict) }
    }
}

/// Reads values by name. TypeScript writes them as JSON text.
pub(crate) fn read_map(text: Option<&str>) -> Map<String, Value> {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The outcome of a check in brief: `false` for a refused call, `true` for unchanged arguments, otherwise
/// the arguments as JSON text.
pub(crate) fn checked(verdict: &Verdict, given: &str) -> Either<bool, String> {
    match &verdict.outcome {
        Err(_) => Either::A(false),
        Ok(success) if success.arguments == given => Either::A(true),
        Ok(success) => Either::B(success.arguments.clone()),
    }
}

/// A verdict as a line of JSON, and after it the text for the model.
pub(crate) fn verdict_text(verdict: &Verdict) -> String {
    format!("{}\n{}", verdict.json(), verdict.message())
}

#[napi]
impl Cancellation {
    /// A way to cancel calls.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self(CancellationToken::new())
    }

    /// Cancels the calls that were given this.
    #[napi]
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl Session {
    pub(crate) fn new(session: gramc_tools::Session) -> Self {
        Self { native: Arc::new(session), ended: None }
    }

    /// The session of an agent, which can call nothing any more once its conversation has ended.
    pub(crate) fn of_agent(session: Arc<gramc_tools::Session>, ended: CancellationToken) -> Self {
        Self { native: session, ended: Some(ended) }
    }

    /// Runs a call until it ends or is cancelled.
    pub(crate) fn run<'env, F: Future<Output = Verdict> + Send + 'static>(
        &self,
        env: &'env Env,
        cancellation: Option<&Cancellation>,
        call: impl FnOnce(CancellationToken) -> F,
    ) -> napi::Result<PromiseRaw<'env, VerdictText>> {
        let cancelled = cancellation.map(|it| it.0.clone()).unwrap_or_default();
        let stop = self.ended.as_ref().map(CancellationToken::child_token).unwrap_or_default();
        let call = call(stop.clone());
        let mut work = Box::pin(async move {
            let mut call = std::pin::pin!(call);
            let verdict = tokio::select! {
                verdict = &mut call => verdict,
                () = cancelled.cancelled() => {
                    stop.cancel();
                    call.await
                }
            };
            VerdictText::new(&verdict)
        });
        // The first step starts a function of JavaScript from its own thread.
        let mut context = Context::from_waker(Waker::noop());
        match within_runtime_if_available(|| work.as_mut().poll(&mut context)) {
            Poll::Ready(verdict) => env.spawn_future(std::future::ready(Ok(verdict))),
            Poll::Pending => env.spawn_future(async { Ok(work.await) }),
        }
    }
}

#[napi]
impl Session {
    /// Checks a call and runs it.
    #[napi(ts_return_type = "Promise<VerdictText>")]
    pub fn call<'env>(
        &self,
        env: &'env Env,
        name: String,
        arguments: Option<String>,
        options: Option<CallOptions>,
        cancellation: Option<&Cancellation>,
    ) -> napi::Result<PromiseRaw<'env, VerdictText>> {
        let options = options.unwrap_or_default();
        let CallOptions { call_id, finish_reason, injected, meta, number } = options;
        let mut call = gramc_host::call(&name, arguments, call_id, finish_reason.as_deref());
        call.injected = read_map(injected.as_deref());
        call.meta = read_map(meta.as_deref());
        let session = Arc::clone(&self.native);
        self.run(env, cancellation, |stop| {
            within_call(number, async move { session.call_until(call, stop).await })
        })
    }

    /// Begins a call with streamed arguments.
    #[napi]
    pub fn begin(&self, name: String, call_id: Option<String>) -> CallStream {
        CallStream::new(self.clone(), self.native.begin_stream(&name, call_id))
    }

    /// Whether a call would be accepted, with its arguments if they are changed.
    #[napi]
    pub fn accepts(&self, name: String, arguments: String) -> Either<bool, String> {
        checked(&self.native.validate(Call::new(name, arguments.as_str())), &arguments)
    }

    /// Checks a call without running it: a line of JSON, and after it the text for the model.
    #[napi]
    pub fn validate(&self, name: String, arguments: String, call_id: Option<String>) -> String {
        let call = Call { id: call_id, ..Call::new(name, arguments) };
        verdict_text(&self.native.validate(call))
    }

    /// Checks a call that the program runs. Refused calls count.
    #[napi]
    pub fn check(
        &self,
        name: String,
        arguments: Option<String>,
        call_id: Option<String>,
    ) -> VerdictText {
        VerdictText::new(
            &self.native.check(gramc_host::call(&name, arguments, call_id, None)).verdict,
        )
    }

    /// The names that can be called now.
    #[napi(getter)]
    pub fn names(&self) -> Vec<String> {
        self.native.visible().into_iter().map(Into::into).collect()
    }

    /// Expands a container, or the containers of a tool, like a call of the container.
    #[napi]
    pub fn expand(&self, name: String) {
        self.native.expand(&name);
        self.native.expand_containers_of(&name);
    }

    /// Begins a turn after a message of the user.
    #[napi]
    pub fn begin_turn(&self) {
        self.native.begin_turn();
    }

    /// Begins a reply of the model.
    #[napi]
    pub fn begin_reply(&self) {
        self.native.begin_reply();
    }

    /// Forgets the failures of a tool, or of all tools. False if there is no such tool.
    #[napi]
    pub fn reset(&self, name: Option<String>) -> bool {
        match name {
            None => self.native.reset_all(),
            Some(name) => return self.native.reset(&name),
        }
        true
    }
}
