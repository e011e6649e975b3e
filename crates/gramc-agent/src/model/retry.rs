//! Retries of failed model requests.

use std::time::Duration;

use super::{Model, ModelError, ModelRequest, ReplyDelta, StreamSink};
use crate::message::Reply;

/// Retries of failed model requests, with exponential backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of retries.
    pub retries: u32,
    /// Delay before the first retry. It doubles with each retry.
    pub initial_backoff: Duration,
    /// Maximum delay. A provider that asks for a longer one is not retried.
    pub max_backoff: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 4,
            initial_backoff: Duration::from_millis(500),
            max_backoff: Duration::from_mins(1),
        }
    }
}

impl RetryPolicy {
    /// Sends a request until the model replies, fails permanently, or the retries are exhausted.
    /// Returns the last error.
    pub async fn send(
        self,
        model: &dyn Model,
        request: ModelRequest<'_>,
        sink: StreamSink<'_>,
    ) -> Result<Reply, ModelError> {
        let mut retries = 0;
        loop {
            let error = match model.send(request, sink).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if !error.is_transient() || retries >= self.retries {
                return Err(error);
            }
            let Some(wait) = self.backoff(retries, error.retry_after) else { return Err(error) };
            sink(ReplyDelta::Retry { error: &error, wait });
            tokio::time::sleep(wait).await;
            retries += 1;
        }
    }

    /// The delay before the next retry, or `None` if the provider asks for more than the maximum.
    fn backoff(self, retries: u32, retry_after: Option<Duration>) -> Option<Duration> {
        if let Some(wait) = retry_after {
            return (wait <= self.max_backoff).then_some(wait);
        }
        let doubled = self.initial_backoff.saturating_mul(2_u32.saturating_pow(retries));
        Some(doubled.min(self.max_backoff))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_the_maximum_and_follows_retry_after() {
        let policy = RetryPolicy::default();
        let seconds = |tried, asked: Option<u64>| {
            policy.backoff(tried, asked.map(Duration::from_secs)).map(|wait| wait.as_secs_f64())
        };
        assert_eq!(seconds(0, None), Some(0.5));
        assert_eq!(seconds(3, None), Some(4.0));
        assert_eq!(seconds(30, None), Some(60.0));
        assert_eq!(seconds(100, None), Some(60.0));
        assert_eq!(seconds(0, Some(7)), Some(7.0));
        assert_eq!(seconds(0, Some(3600)), None);
    }
}
