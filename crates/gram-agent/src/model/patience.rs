//! Asking again when a provider fails in passing.

use std::time::Duration;

use super::{Ear, Heard, Model, ModelError, Request};
use crate::message::Reply;

/// How often, and how long after each other, a model is asked for one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How often it is asked again.
    pub retries: u32,
    /// How long to wait before the first time; twice as long before each other one.
    pub first_wait: Duration,
    /// The longest wait, also of those that a provider asks for.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            retries: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_mins(1),
        }
    }
}

impl Patience {
    /// Asks a model until it answers, it fails for good, or patience is at its end. Requests change
    /// nothing at a provider, so asking again is safe.
    pub(crate) async fn ask(
        self,
        model: &dyn Model,
        request: Request<'_>,
        ear: Ear<'_>,
    ) -> Result<Reply, ModelError> {
        let mut tried = 0;
        loop {
            let error = match model.ask(request, ear).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if !error.is_passing() || tried >= self.retries {
                return Err(error);
            }
            // A provider that wants more time than there is will not answer any earlier.
            let Some(wait) = self.wait(tried, error.retry_after) else { return Err(error) };
            ear(Heard::Again { error: &error, wait });
            tokio::time::sleep(wait).await;
            tried += 1;
        }
    }

    fn wait(self, tried: u32, asked: Option<Duration>) -> Option<Duration> {
        if let Some(asked) = asked {
            return (asked <= self.longest_wait).then_some(asked);
        }
        let doubled = self.first_wait.saturating_mul(2_u32.saturating_pow(tried));
        Some(doubled.min(self.longest_wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_a_provider_may_ask_for_another() {
        let patience = Patience::default();
        let seconds = |tried, asked: Option<u64>| {
            patience.wait(tried, asked.map(Duration::from_secs)).map(|wait| wait.as_secs_f64())
        };
        assert_eq!(seconds(0, None), Some(0.5));
        assert_eq!(seconds(3, None), Some(4.0));
        assert_eq!(seconds(30, None), Some(60.0));
        assert_eq!(seconds(100, None), Some(60.0));
        assert_eq!(seconds(0, Some(7)), Some(7.0));
        assert_eq!(seconds(0, Some(3600)), None);
    }
}
