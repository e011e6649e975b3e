//! Ends calls that take too long: the setting `timeout`. Dropping the future of an implementation
//! kills its program or drops its request.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::invocation::RequestOrigin;

/// How often it is seen whether a client that is asked has answered, when the time for the rest is over.
const ASKING_INTERVAL: Duration = Duration::from_millis(100);
/// The time limit of work that reports progress, unless its own time limit is longer.
const MAX_TIME_WITH_PROGRESS: Duration = Duration::from_hours(1);

impl RequestOrigin {
    /// Begins the time limit again, because a server reports progress.
    pub fn renew_time_limit(&self) {
        *self.last_progress.lock() = Some(Instant::now());
    }

    /// Runs work within a time limit, in which the time for questions to the client does not count.
    /// Progress begins the limit again, for at most an hour in total. `None` if it takes longer.
    pub async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = std::pin::pin!(work);
        let start = Instant::now();
        let mut earliest = start;
        loop {
            let Some(end) = self.deadline(start, limit) else { return Some(work.await) };
            if let Ok(done) = timeout_at(end.max(earliest), &mut work).await {
                return Some(done);
            }
            if self.deadline(start, limit).is_some_and(|later| later <= end) {
                return None;
            }
            earliest = Instant::now() + ASKING_INTERVAL;
        }
    }

    /// When work that began at `start` has to end. `None` if it may take any time.
    fn deadline(&self, start: Instant, limit: Duration) -> Option<Instant> {
        let renewed = self.last_progress.lock().unwrap_or(start).checked_add(limit)?;
        let last = start.checked_add(limit.max(MAX_TIME_WITH_PROGRESS))?;
        renewed.min(last).checked_add(self.time_asked())
    }

    /// How long the client was asked during the request.
    fn time_asked(&self) -> Duration {
        self.client.as_ref().map_or(Duration::ZERO, |client| client.time_asked())
    }
}
