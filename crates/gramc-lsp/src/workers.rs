//! Worker threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SendError, Sender};
use std::thread;

use parking_lot::Mutex;

use crate::load::THREAD_STACK_SIZE;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that run jobs in order.
#[derive(Debug)]
pub(crate) struct Workers {
    jobs: Sender<Job>,
    /// The number of the last job of [`Self::replace_jobs`].
    latest: Arc<AtomicU64>,
}

impl Workers {
    /// Starts `count` threads. If none can be started, jobs run on the caller's thread.
    pub(crate) fn new(name: &str, count: usize) -> Self {
        let (jobs, queue) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let queue = Arc::clone(&queue);
            let thread = thread::Builder::new().name(name.to_owned()).stack_size(THREAD_STACK_SIZE);
            let _ = thread.spawn(move || run_jobs(&queue));
        }
        Self { jobs, latest: Arc::default() }
    }

    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        // Without a thread there is no receiver.
        if let Err(SendError(job)) = self.jobs.send(Box::new(job)) {
            job();
        }
    }

    /// Adds a job that replaces those that this function added before.
    pub(crate) fn replace_jobs(&self, job: impl FnOnce() + Send + 'static) {
        let latest = Arc::clone(&self.latest);
        let own = latest.fetch_add(1, Ordering::Relaxed) + 1;
        self.run(move || {
            if latest.load(Ordering::Relaxed) == own {
                job();
            }
        });
    }
}

fn run_jobs(queue: &Mutex<Receiver<Job>>) {
    loop {
        let job = queue.lock().recv();
        let Ok(job) = job else { return };
        // A panic in a job must not end the thread.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}
