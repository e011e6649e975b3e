//! Limits how many calls of a tool run at the same time: the setting `concurrency`.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of calls of a tool that may run at the same time, in all sessions of a bound library.
/// Further calls wait.
#[derive(Debug, Clone)]
pub(crate) struct ConcurrencyLimit(Option<Arc<Semaphore>>);

impl ConcurrencyLimit {
    /// A limit of `most` calls. With 0, there is no limit.
    pub(crate) fn new(most: u32) -> Self {
        Self((most > 0).then(|| Arc::new(Semaphore::new(most as usize))))
    }

    /// Waits until a call may run. The call runs until the result is dropped.
    pub(super) async fn acquire(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so this does not fail.
        Arc::clone(self.0.as_ref()?).acquire_owned().await.ok()
    }
}
