//! Finds identical calls that repeat without progress.

use std::collections::HashMap;
use std::time::Duration;

use super::{CallOutcome, Moment, ThrottleRule, Throttled, check_limit, left};

/// How long after a failure the same call counts as a repetition.
const FAILURE_WINDOW: Duration = Duration::from_mins(1);

/// How long after an unchanged result the same call counts as a repetition. A call that polls a state
/// less often is never refused.
const RESULT_WINDOW: Duration = Duration::from_secs(10);

/// The maximum number of remembered calls.
const MAX_CALLS: usize = 1_024;

/// The outcomes of calls since the last progress.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// By tool and hash of the arguments.
    calls: HashMap<(u32, u64), RepeatedCall>,
    /// The number of the model's reply. 0 if the host does not report replies.
    pub(super) reply: u64,
}

#[derive(Debug)]
struct RepeatedCall {
    /// The hash of its result. `None` if it failed.
    result: Option<u64>,
    /// The number of times that it had this outcome. Calls of one reply count as one.
    count: u32,
    /// The reply that was counted last.
    reply: u64,
    /// When it ended.
    at: Moment,
}

impl Repeats {
    /// The number of earlier times that a call had the same outcome, and whether it failed. Refuses
    /// the call after too many.
    pub(super) fn check(
        &mut self,
        tool: u32,
        arguments: impl FnOnce() -> u64,
        limit: u32,
        now: Moment,
    ) -> Result<Repetition, Throttled> {
        if self.calls.is_empty() {
            return Ok(Repetition::default());
        }
        let key = (tool, arguments());
        let Some(call) = self.calls.get(&key) else { return Ok(Repetition::default()) };
        let (rule, window) = match call.result {
            None => (ThrottleRule::RepeatedFailure, FAILURE_WINDOW),
            Some(_) => (ThrottleRule::RepeatedResult, RESULT_WINDOW),
        };
        let left = left(call.at, window, now);
        if left.is_none() {
            self.calls.remove(&key);
            return Ok(Repetition::default());
        }
        let count = call.count - u32::from(self.reply > 0 && call.reply == self.reply);
        match check_limit(rule, limit, left.filter(|_| limit > 0 && count >= limit)) {
            Some(throttled) => Err(throttled),
            None => Ok(Repetition { count, failed: call.result.is_none() }),
        }
    }

    /// Records the outcome of a call that had the same outcome `count` times before it began.
    pub(super) fn record(
        &mut self,
        tool: u32,
        arguments: impl FnOnce() -> u64,
        count: u32,
        outcome: CallOutcome,
        at: Moment,
    ) {
        if self.calls.is_empty() && matches!(outcome, CallOutcome::Success { result: None, .. }) {
            return;
        }
        let key = (tool, arguments());
        let mut result = None;
        if let CallOutcome::Success { result: own, has_effect } = outcome {
            if has_effect {
                self.calls.retain(|other, _| *other == key);
            }
            if own.is_none() {
                self.calls.remove(&key);
                return;
            }
            result = own;
        }
        if self.calls.len() >= MAX_CALLS {
            self.calls.clear();
        }
        // Identical calls that ran at the same time have the same `count`.
        let same = self.calls.get(&key).filter(|call| call.result == result);
        let count = same.map_or(1, |call| call.count.max(count.saturating_add(1)));
        self.calls.insert(key, RepeatedCall { result, count, reply: self.reply, at });
    }

    /// Forgets the calls of a tool, or of all tools.
    pub(super) fn forget(&mut self, tool: Option<u32>) {
        self.calls.retain(|(of, _), _| tool.is_some_and(|tool| tool != *of));
    }
}

/// The earlier times that a call had the same outcome.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Repetition {
    pub(super) count: u32,
    /// Whether that outcome is a failure.
    pub(crate) failed: bool,
}
