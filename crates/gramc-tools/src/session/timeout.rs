//! Ends calls that take too long: the setting `timeout`. Dropping the future of an implementation
//! kills its program or drops its request.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::invocation::RequestOrigin;

/// How often it is seen whether a client that is asked has answered, when the time for the rest is over.
const ASKING_INTERVAL: Duration = Duration::from_millis(100);

impl RequestOrigin {
    /// Runs work within a time limit, in which the time for questions to the client does not count.
    /// `None` if it takes longer.
    pub async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = std::pin::pin!(work);
        let start = Instant::now();
        let mut earliest = start;
        loop {
            let asked = self.time_asked();
            let end = start.checked_add(limit).and_then(|end| end.checked_add(asked));
            let Some(end) = end else { return Some(work.await) };
            if let Ok(done) = timeout_at(end.max(earliest), &mut work).await {
                return Some(done);
            }
            if self.time_asked() == asked {
                return None;
            }
            earliest = Instant::now() + ASKING_INTERVAL;
        }
    }

    /// How long the client was asked during the request.
    fn time_asked(&self) -> Duration {
        self.client.as_ref().map_or(Duration::ZERO, |client| client.time_asked())
    }
}
