//! Calls of asynchronous programs. The event loop of the caller polls them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use gramc_tools::Verdict as CallVerdict;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;
use crate::runtime::{attach, detach};

type CallFuture = Pin<Box<dyn Future<Output = CallVerdict> + Send>>;

/// A call that may still run.
#[pyclass(frozen)]
pub(crate) struct PendingCall {
    call: Mutex<Option<CallFuture>>,
    /// The event loop of the caller.
    event_loop: Py<PyAny>,
    /// The context of the caller's variables.
    context: Py<PyAny>,
    /// The future of `asyncio` that the caller awaits.
    #[pyo3(get)]
    future: Py<PyAny>,
    caller: Arc<Caller>,
    cancelled: CancellationToken,
    runtime: Handle,
}

impl PendingCall {
    /// Starts a call, and runs it as far as it does not have to wait.
    pub(crate) fn start(
        py: Python<'_>,
        event_loop: Py<PyAny>,
        caller: Arc<Caller>,
        call: impl Future<Output = CallVerdict> + Send + 'static,
        cancelled: CancellationToken,
    ) -> PyResult<Py<Self>> {
        let future = event_loop.call_method0(py, "create_future")?;
        let context = py.import("contextvars")?.call_method0("copy_context")?.unbind();
        let call: CallFuture = Box::pin(caller.within(call));
        let (call, runtime) = (Mutex::new(Some(call)), crate::runtime::handle()?);
        let pending = Self { call, event_loop, context, future, caller, cancelled, runtime };
        let pending = Py::new(py, pending)?;
        Self::step(&pending.bind(py).clone())?;
        Ok(pending)
    }
}

#[pymethods]
impl PendingCall {
    /// Continues the call.
    fn step(this: &Bound<'_, Self>) -> PyResult<()> {
        let (py, call) = (this.py(), this.get());
        let waker =
            Arc::new(LoopWaker { call: this.clone().unbind(), is_woken: AtomicBool::new(false) });
        let waker = Waker::from(waker);
        let verdict = detach(py, || {
            // Another thread that holds this continues the call itself.
            let mut place = call.call.try_lock()?;
            let _runtime = call.runtime.enter();
            let polled = place.as_mut()?.as_mut().poll(&mut Context::from_waker(&waker));
            let Poll::Ready(verdict) = polled else { return None };
            *place = None;
            Some(verdict)
        });
        let Some(verdict) = verdict else { return Ok(()) };
        let future = call.future.bind(py);
        let verdict = call.caller.conclude(py, verdict)?;
        if !future.call_method0("done")?.is_truthy()? {
            future.call_method1("set_result", (verdict,))?;
        }
        Ok(())
    }

    /// Cancels the call.
    fn cancel(this: &Bound<'_, Self>) -> PyResult<()> {
        this.get().cancelled.cancel();
        Self::step(this)
    }
}

/// Continues a call in its event loop.
struct LoopWaker {
    call: Py<PendingCall>,
    is_woken: AtomicBool,
}

impl Wake for LoopWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_woken.swap(true, Ordering::AcqRel) {
            return;
        }
        attach(|py| {
            let schedule = || -> PyResult<()> {
                let call = self.call.bind(py);
                let options = PyDict::new(py);
                options.set_item("context", &call.get().context)?;
                let step = call.getattr("step")?;
                let schedule = call.get().event_loop.bind(py).getattr("call_soon_threadsafe")?;
                schedule.call((step,), Some(&options)).map(drop)
            };
            // A closed event loop runs nothing any more.
            let _ = schedule();
        });
    }
}
