//! The runtime behind calls, and how calls and the interpreter end.
//!
//! A thread that waits for the interpreter while it finalizes is ended by Python, which stack frames
//! of Rust do not survive. So everything here that releases or takes the interpreter lock is counted,
//! and [`close`], which Python runs before it finalizes, cancels all calls and waits until the count
//! is zero.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

/// How often a waiting thread looks for signals, such as Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);
/// How long the end of the process waits for calls.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// The runtime of this process. A forked process has none of the threads of its parent.
static RUNTIME: Mutex<Option<(u32, Handle)>> = Mutex::new(None);
/// The number of places that need the interpreter lock again.
static USERS: AtomicUsize = AtomicUsize::new(0);
static CLOSING: AtomicBool = AtomicBool::new(false);
/// Cancels all calls.
static ALL_CALLS: Mutex<Option<CancellationToken>> = Mutex::new(None);

/// A place that needs the interpreter lock again.
struct LockUser;

impl LockUser {
    fn register() -> Option<Self> {
        USERS.fetch_add(1, Ordering::SeqCst);
        let user = Self;
        (!CLOSING.load(Ordering::SeqCst)).then_some(user)
    }
}

impl Drop for LockUser {
    fn drop(&mut self) {
        USERS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Runs work with the interpreter lock, unless the interpreter ends.
pub(crate) fn attach<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _user = LockUser::register()?;
    Python::try_attach(work)
}

/// Runs work without the interpreter lock, unless the interpreter ends.
pub(crate) fn detach<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    match LockUser::register() {
        Some(_user) => py.detach(work),
        None => work(),
    }
}

/// Runs code of Python that may hand over the interpreter lock, unless the interpreter ends.
pub(crate) fn run_python<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<Option<T>> {
    LockUser::register().map(|_user| work()).transpose()
}

/// The runtime that serves timers and connections.
pub(crate) fn handle() -> PyResult<Handle> {
    let process = std::process::id();
    let mut known = RUNTIME.lock();
    if let Some((of, handle)) = &*known
        && *of == process
    {
        return Ok(handle.clone());
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let serve = move || runtime.block_on(std::future::pending::<()>());
    std::thread::Builder::new().name("gramc".to_owned()).spawn(serve)?;
    *known = Some((process, handle.clone()));
    Ok(handle)
}

/// A token that cancels a call. All are cancelled when the interpreter ends.
pub(crate) fn call_token() -> PyResult<CancellationToken> {
    if CLOSING.load(Ordering::SeqCst) {
        return Err(PyRuntimeError::new_err("no calls run while the interpreter shuts down"));
    }
    Ok(ALL_CALLS.lock().get_or_insert_with(CancellationToken::new).child_token())
}

/// Cancels all calls and waits for them. No calls are possible afterwards.
#[pyfunction]
pub(crate) fn close(py: Python<'_>) {
    CLOSING.store(true, Ordering::SeqCst);
    py.detach(|| {
        if let Some(calls) = &*ALL_CALLS.lock() {
            calls.cancel();
        }
        let start = Instant::now();
        while USERS.load(Ordering::SeqCst) > 0 && start.elapsed() < CLOSE_LIMIT {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Wakes a thread that waits for a future.
struct ThreadWaker {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Waits for a call without the interpreter lock. A signal, such as Ctrl-C, cancels it.
pub(crate) fn wait<F>(
    py: Python<'_>,
    future: F,
    cancelled: &CancellationToken,
) -> PyResult<F::Output>
where
    F: Future + Send,
    F::Output: Send,
{
    let handle = handle()?;
    let thread = std::thread::current();
    let state = Arc::new(ThreadWaker { thread, woken: AtomicBool::new(true) });
    let waker = Waker::from(Arc::clone(&state));
    let mut future = pin!(future);
    let mut interrupted = None;
    loop {
        let output = detach(py, || {
            let _runtime = handle.enter();
            let start = Instant::now();
            loop {
                if state.woken.swap(false, Ordering::Acquire)
                    && let Poll::Ready(output) =
                        future.as_mut().poll(&mut Context::from_waker(&waker))
                {
                    return Some(output);
                }
                let left = SIGNAL_INTERVAL.checked_sub(start.elapsed())?;
                if !state.woken.load(Ordering::Acquire) {
                    std::thread::park_timeout(left);
                }
            }
        });
        match (output, interrupted) {
            (Some(_), Some(error)) => return Err(error),
            (Some(output), None) => return Ok(output),
            (None, before) => {
                interrupted = py.check_signals().err().or(before);
                if interrupted.is_some() {
                    cancelled.cancel();
                }
            }
        }
    }
}
