//! Work on other threads: requests on some, diagnostics on one of their own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use crate::load::STACK;

/// Something to do.
type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// Threads that do jobs in their order.
pub(crate) struct Workers {
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl Workers {
    /// So many threads. Where none can be had, jobs are done at once by who brings them.
    pub(crate) fn new(name: &str, count: usize) -> Self {
        let shared = Arc::<(Mutex<State>, Condvar)>::default();
        let mut started = 0;
        for _ in 0..count {
            let shared = Arc::clone(&shared);
            let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK);
            started += u32::from(thread.spawn(move || work(&shared)).is_ok());
        }
        if started == 0 {
            shared.0.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        }
        Self { shared }
    }

    /// Does something when it is its turn.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        self.add(Box::new(job), false);
    }

    /// Does something instead of what is still to be done.
    pub(crate) fn run_instead(&self, job: impl FnOnce() + Send + 'static) {
        self.add(Box::new(job), true);
    }

    fn add(&self, job: Job, instead: bool) {
        let (state, woken) = &*self.shared;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            drop(state);
            return job();
        }
        if instead {
            state.jobs.clear();
        }
        state.jobs.push_back(job);
        woken.notify_one();
    }
}

fn work(shared: &(Mutex<State>, Condvar)) {
    let (state, woken) = shared;
    loop {
        let mut held = state.lock().unwrap_or_else(PoisonError::into_inner);
        let job = loop {
            match held.jobs.pop_front() {
                Some(job) => break job,
                None => held = woken.wait(held).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(held);
        // A job that panics is one answer less, and no thread less.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}
