//! Limits how often a session may call tools, and refuses calls that repeat without progress.
//!
//! This module does not read a clock: the caller passes each time as the duration since a fixed
//! moment in the past. A call counts towards the windows when it is admitted, so concurrent calls
//! count; its outcome is recorded when it ends.

mod repeats;

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use smol_str::SmolStr;

use crate::stats::SessionStats;
use repeats::Repeats;
pub(crate) use repeats::Repetition;

/// The maximum number of remembered calls, per tool and in total, regardless of the policy. The
/// oldest are forgotten first. It also caps the limits of the policy.
const MAX_REMEMBERED: usize = 65_536;

/// The period that statistics cover.
const LOOK_BACK: Duration = Duration::from_mins(1);

/// The limits on the calls of a session. A limit of 0 disables its rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThrottlePolicy {
    /// The number of identical calls without progress after which the next one is refused.
    pub identical_calls: u32,
    /// The number of consecutive failures of a tool after which its calls are refused.
    pub max_consecutive_failures: u32,
    /// The maximum number of calls of one tool within [`Self::same_tool_window`].
    pub same_tool_calls: u32,
    /// The window for the calls of one tool.
    pub same_tool_window: Duration,
    /// The maximum number of calls of all tools within [`Self::all_tools_window`], including calls
    /// of unknown tools.
    pub all_tools_calls: u32,
    /// The window for the calls of all tools.
    pub all_tools_window: Duration,
    /// How long calls of a tool are refused after too many failures, from the last one.
    pub failure_block: Duration,
}

impl Default for ThrottlePolicy {
    fn default() -> Self {
        Self {
            identical_calls: 3,
            max_consecutive_failures: 0,
            same_tool_calls: 0,
            same_tool_window: Duration::from_secs(10),
            all_tools_calls: 0,
            all_tools_window: Duration::from_secs(5),
            failure_block: Duration::from_mins(1),
        }
    }
}

impl ThrottlePolicy {
    /// Limits on the frequency of calls and on consecutive failures of a tool.
    pub fn strict() -> Self {
        Self { max_consecutive_failures: 3, same_tool_calls: 5, all_tools_calls: 10, ..Self::off() }
    }

    /// No limits.
    pub fn off() -> Self {
        Self { identical_calls: 0, ..Self::default() }
    }
}

/// A rule of a [`ThrottlePolicy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThrottleRule {
    /// The same call failed too often.
    RepeatedFailure,
    /// The same call had the same result too often.
    RepeatedResult,
    /// The tool failed too often in a row.
    ConsecutiveFailures,
    /// The tool was called too often.
    SameTool,
    /// All tools together were called too often.
    AllTools,
}

impl ThrottleRule {
    /// The stable name of the rule.
    pub fn name(self) -> &'static str {
        match self {
            Self::RepeatedFailure => "repeated_failure",
            Self::RepeatedResult => "repeated_result",
            Self::ConsecutiveFailures => "max_consecutive_failures",
            Self::SameTool => "same_tool_calls",
            Self::AllTools => "all_tools_calls",
        }
    }
}

/// The refusal of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttled {
    /// The rule that refuses the call. If several do, the one with the longest wait.
    pub rule: ThrottleRule,
    /// The rule's limit.
    pub limit: u32,
    /// The time after which the call would be admitted.
    pub retry_after: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    /// The call returned a result.
    Success {
        /// The hash of the result, if identical calls with this result may be refused.
        result: Option<u64>,
        /// Whether the tool may have changed something.
        has_effect: bool,
    },
    /// The check refused the call, its invocation failed or timed out, or its result is an undeclared
    /// error.
    Failure,
}

/// An admitted call that has not ended. A call that never ends only counts towards the windows.
#[derive(Debug)]
#[must_use = "tell how the call went, with `finish`"]
pub(crate) struct ThrottleTicket {
    tool: Option<u32>,
    at: Moment,
    /// The earlier identical calls without progress.
    repetition: Repetition,
}

/// The throttle of one session.
///
/// Tools are identified by their index. Calls of unknown tools (`None`) only count towards the
/// limit of all tools. A remembered call takes 40 bytes, or twice that after the buffers have
/// grown.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    /// The calls of all tools, oldest first.
    calls: VecDeque<CallRecord>,
    tools: HashMap<u32, ToolRecord>,
    repeats: Repeats,
}

#[derive(Debug, Clone, Copy)]
struct CallRecord {
    at: Moment,
    tool: Option<u32>,
}

#[derive(Debug, Default)]
struct ToolRecord {
    /// When its latest calls were admitted, oldest first; at most as many as its limit.
    calls: VecDeque<Moment>,
    failures: u32,
    last_failure: Moment,
}

/// A time since a fixed moment in the past.
type Moment = Duration;

/// The rest of `time` since a moment. `None` once exactly that time has passed.
fn left(since: Moment, time: Duration, now: Moment) -> Option<Duration> {
    time.checked_sub(now.saturating_sub(since)).filter(|left| !left.is_zero())
}

impl Throttle {
    /// Admits a call that begins now. A refused call is not recorded.
    pub(crate) fn admit(
        &mut self,
        tool: Option<u32>,
        policy: &ThrottlePolicy,
        now: Duration,
    ) -> Result<ThrottleTicket, Throttled> {
        self.forget(policy, now);
        let mut tool_state = tool.map(|tool| self.tools.entry(tool).or_default());
        let mut refused = None;
        if let Some(tool) = &mut tool_state {
            refused = longest(refused, tool.failed_too_often(policy, now));
            let limit = limit(policy.same_tool_calls);
            let left =
                nth_last(&tool.calls, limit).and_then(|at| left(at, policy.same_tool_window, now));
            refused =
                longest(refused, check_limit(ThrottleRule::SameTool, policy.same_tool_calls, left));
        }
        let left = nth_last(&self.calls, limit(policy.all_tools_calls))
            .and_then(|call| left(call.at, policy.all_tools_window, now));
        refused =
            longest(refused, check_limit(ThrottleRule::AllTools, policy.all_tools_calls, left));
        if let Some(refused) = refused {
            return Err(refused);
        }
        if let Some(tool) = tool_state {
            remember(&mut tool.calls, now, limit(policy.same_tool_calls));
        }
        remember(&mut self.calls, CallRecord { at: now, tool }, MAX_REMEMBERED);
        Ok(ThrottleTicket { tool, at: now, repetition: Repetition::default() })
    }

    /// Refuses an admitted call after `limit` identical ones without progress. `arguments` is the hash of its
    /// arguments, which is only computed if there are calls to compare.
    pub(crate) fn check_repetition(
        &mut self,
        call: &mut ThrottleTicket,
        arguments: impl FnOnce() -> u64,
        limit: u32,
    ) -> Result<Repetition, Throttled> {
        let Some(tool) = call.tool else { return Ok(call.repetition) };
        call.repetition = self.repeats.check(tool, arguments, limit, call.at)?;
        Ok(call.repetition)
    }

    /// Records the outcome of a call that ends now.
    #[expect(clippy::needless_pass_by_value, reason = "a call ends once")]
    pub(crate) fn finish(
        &mut self,
        call: ThrottleTicket,
        arguments: impl FnOnce() -> u64,
        outcome: CallOutcome,
        now: Duration,
    ) {
        let ThrottleTicket { tool: Some(tool), repetition, .. } = call else { return };
        let record = self.tools.entry(tool).or_default();
        match outcome {
            CallOutcome::Success { .. } => record.failures = 0,
            CallOutcome::Failure => {
                record.failures = record.failures.saturating_add(1);
                record.last_failure = now;
            }
        }
        self.repeats.record(tool, arguments, repetition.count, outcome, now);
    }

    /// Forgets a call that was admitted and did not run: it counts towards no limit.
    #[expect(clippy::needless_pass_by_value, reason = "a call ends once")]
    pub(crate) fn withdraw(&mut self, call: ThrottleTicket) {
        let ThrottleTicket { tool, at, .. } = call;
        // Of several calls at one moment, any will do.
        if let Some(place) = self.calls.iter().rposition(|it| it.tool == tool && it.at == at) {
            self.calls.remove(place);
        }
        if let Some(tool) = tool.and_then(|tool| self.tools.get_mut(&tool))
            && let Some(place) = tool.calls.iter().rposition(|it| *it == at)
        {
            tool.calls.remove(place);
        }
    }

    /// Forgets the failures and repetitions of a tool. Its calls still count.
    pub(crate) fn reset(&mut self, tool: u32) {
        if let Some(record) = self.tools.get_mut(&tool) {
            record.failures = 0;
        }
        self.repeats.forget(Some(tool));
    }

    /// Forgets the failures and repetitions of all tools. Their calls still count.
    pub(crate) fn reset_all(&mut self) {
        self.tools.values_mut().for_each(|record| record.failures = 0);
        self.repeats.forget(None);
    }

    /// Begins a turn: what the user asks for again is no repetition.
    pub(crate) fn begin_turn(&mut self) {
        self.repeats.forget(None);
    }

    /// Begins a reply of the model.
    pub(crate) fn begin_reply(&mut self) {
        self.repeats.reply += 1;
    }

    /// The number of the model's reply. 0 if the host does not report replies.
    pub(crate) fn reply(&self) -> u64 {
        self.repeats.reply
    }

    /// Statistics of the last 60 seconds, limited to the remembered calls.
    pub(crate) fn stats(&self, now: Duration, name: impl Fn(u32) -> SmolStr) -> SessionStats {
        let first = self.calls.partition_point(|call| left(call.at, LOOK_BACK, now).is_none());
        let mut called: Vec<(u32, usize)> = Vec::new();
        let mut places = HashMap::new();
        for tool in self.calls.range(first..).filter_map(|call| call.tool) {
            let place = *places.entry(tool).or_insert_with(|| {
                called.push((tool, 0));
                called.len() - 1
            });
            called[place].1 += 1;
        }
        // The sort is stable, so ties stay in the order of the first call.
        called.sort_by_key(|(_, calls)| Reverse(*calls));
        let failing = self.tools.iter().filter(|(_, tool)| tool.failures > 0);
        let mut failing: Vec<_> = failing.map(|(tool, record)| (*tool, record.failures)).collect();
        failing.sort_unstable_by_key(|(tool, failures)| (Reverse(*failures), *tool));
        SessionStats {
            calls: self.calls.len() - first,
            failing: failing.into_iter().map(|(tool, count)| (name(tool), count)).collect(),
            most_called: called.into_iter().map(|(tool, count)| (name(tool), count)).collect(),
            containers: Vec::new(),
        }
    }

    /// Forgets calls that neither statistics nor the window cover.
    fn forget(&mut self, policy: &ThrottlePolicy, now: Moment) {
        let window =
            if policy.all_tools_calls == 0 { Duration::ZERO } else { policy.all_tools_window };
        let time = LOOK_BACK.max(window);
        while self.calls.front().is_some_and(|call| left(call.at, time, now).is_none()) {
            self.calls.pop_front();
        }
    }
}

impl ToolRecord {
    /// Refuses the call after too many failures. When the block has passed, the failures are
    /// forgotten.
    fn failed_too_often(&mut self, policy: &ThrottlePolicy, now: Moment) -> Option<Throttled> {
        let limit = policy.max_consecutive_failures;
        if limit == 0 || self.failures < limit {
            return None;
        }
        let left = left(self.last_failure, policy.failure_block, now);
        if left.is_none() {
            self.failures = 0;
        }
        check_limit(ThrottleRule::ConsecutiveFailures, limit, left)
    }
}

fn check_limit(rule: ThrottleRule, limit: u32, left: Option<Duration>) -> Option<Throttled> {
    left.map(|retry_after| Throttled { rule, limit, retry_after })
}

/// The refusal with the longer wait, after which both rules admit the call.
fn longest(first: Option<Throttled>, second: Option<Throttled>) -> Option<Throttled> {
    match (first, second) {
        (Some(first), Some(second)) if second.retry_after > first.retry_after => Some(second),
        (first, second) => first.or(second),
    }
}

/// A limit on calls, capped at the number of remembered calls.
fn limit(calls: u32) -> usize {
    (calls as usize).min(MAX_REMEMBERED)
}

/// The call that has to leave the window before another call is admitted.
fn nth_last<T: Copy>(calls: &VecDeque<T>, limit: usize) -> Option<T> {
    if limit == 0 {
        return None;
    }
    calls.get(calls.len().checked_sub(limit)?).copied()
}

/// Adds a call, and forgets the oldest to keep at most `most`.
fn remember<T>(calls: &mut VecDeque<T>, call: T, most: usize) {
    while calls.len() >= most && calls.pop_front().is_some() {}
    if most > 0 {
        calls.push_back(call);
    }
}

#[cfg(test)]
mod tests;
