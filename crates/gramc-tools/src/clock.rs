//! The clock of a session, which tests and replays can set.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Measures the time since a fixed moment in the past.
pub trait Clock: Send + Sync {
    /// The time since that moment. It never decreases.
    fn now(&self) -> Duration;
}

/// The monotonic clock of the system.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A clock that only changes when it is set.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: Mutex<Duration>,
}

impl ManualClock {
    /// Moves the clock forward to `moment`. Does nothing if `moment` is in the past.
    pub fn move_to(&self, moment: Duration) {
        let mut now = self.now.lock();
        *now = moment.max(*now);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *self.now.lock()
    }
}
