//! Calls with streamed arguments.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::PromiseRaw;
use napi_derive::napi;

use crate::function::within_call;
use crate::session::{Cancellation, Session, VerdictText};

/// A call with streamed arguments.
#[napi]
pub struct CallStream {
    session: Session,
    /// `None` once the call has ended.
    stream: Option<gramc_tools::CallStream>,
}

#[napi]
impl CallStream {
    pub(crate) fn new(session: Session, stream: gramc_tools::CallStream) -> Self {
        Self { session, stream: Some(stream) }
    }

    fn end(&mut self) -> napi::Result<gramc_tools::CallStream> {
        self.stream.take().ok_or_else(end_error)
    }

    /// Adds a piece of the arguments.
    #[napi]
    pub fn feed(&mut self, chunk: String) -> napi::Result<()> {
        self.stream.as_mut().ok_or_else(end_error)?.feed(&chunk);
        Ok(())
    }

    /// Adds a piece of the arguments in UTF-8.
    #[napi]
    pub fn feed_bytes(&mut self, chunk: &[u8]) -> napi::Result<()> {
        self.stream.as_mut().ok_or_else(end_error)?.feed_bytes(chunk);
        Ok(())
    }

    /// The certain part of the arguments, as JSON.
    #[napi(getter)]
    pub fn value(&self) -> napi::Result<String> {
        let stream = self.stream.as_ref().ok_or_else(end_error)?;
        Ok(serde_json::Value::Object(stream.arguments().value()).to_string())
    }

    /// The verdict, if the call is refused whatever follows.
    #[napi(getter)]
    pub fn error(&self) -> napi::Result<Option<VerdictText>> {
        let stream = self.stream.as_ref().ok_or_else(end_error)?;
        Ok(stream.error().as_ref().map(VerdictText::new))
    }

    /// Checks the complete arguments and runs the call.
    #[napi(ts_return_type = "Promise<VerdictText>")]
    pub fn finish<'env>(
        &mut self,
        env: &'env Env,
        finish_reason: Option<String>,
        number: Option<u32>,
        cancellation: Option<&Cancellation>,
    ) -> napi::Result<PromiseRaw<'env, VerdictText>> {
        let (stream, ending) = (self.end()?, gramc_host::ending(finish_reason.as_deref()));
        let native = Arc::clone(&self.session.native);
        self.session.run(env, cancellation, |stop| {
            within_call(number, async move { native.finish_stream(stream, ending, stop).await })
        })
    }

    /// Ends an incomplete call.
    #[napi]
    pub fn stop(&mut self) -> napi::Result<VerdictText> {
        let stream = self.end()?;
        Ok(VerdictText::new(&self.session.native.stop_stream(stream)))
    }
}

fn end_error() -> napi::Error {
    napi::Error::from_reason("the call has ended")
}
