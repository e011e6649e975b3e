//! Worker threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use crate::load::THREAD_STACK_SIZE;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct JobQueue {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// Threads that run jobs in order.
pub(crate) struct Workers {
    shared: Arc<(Mutex<JobQueue>, Condvar)>,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl Workers {
    /// Starts `count` threads. If none can be started, jobs run on the caller's thread.
    pub(crate) fn new(name: &str, count: usize) -> Self {
        let shared = Arc::<(Mutex<JobQueue>, Condvar)>::default();
        let mut started = 0;
        for _ in 0..count {
            let shared = Arc::clone(&shared);
            let thread = thread::Builder::new().name(name.to_owned()).stack_size(THREAD_STACK_SIZE);
            started += u32::from(thread.spawn(move || run_jobs(&shared)).is_ok());
        }
        if started == 0 {
            shared.0.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        }
        Self { shared }
    }

    /// Adds a job to the queue.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        self.add(Box::new(job), false);
    }

    /// Replaces all queued jobs by this one.
    pub(crate) fn replace_jobs(&self, job: impl FnOnce() + Send + 'static) {
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

fn run_jobs(shared: &(Mutex<JobQueue>, Condvar)) {
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
        // A panic in a job must not end the thread.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}
