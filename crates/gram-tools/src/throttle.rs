//! How often a model may call tools in one session, and when it should stop to try.
//!
//! Nothing here looks at a clock: every moment is given, as the time since some moment in the past.
//! A call enters the windows when it is admitted, so calls that run at the same time count; how it
//! went is told when it ends.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// The most calls that are remembered, of one tool and of all, however long the policy says. The
/// oldest are forgotten first. Where a limit is higher, this is the limit.
const MAX_REMEMBERED: usize = 65_536;

/// The time that [`ThrottleStats`] look back.
const LOOK_BACK: Duration = Duration::from_mins(1);

/// How many calls of what kind a session admits. A limit of 0 turns its rule off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThrottlePolicy {
    /// After so many failures of a tool in a row, its next call is refused.
    pub max_consecutive_failures: u32,
    /// The most calls of one tool within [`Self::same_tool_window`].
    pub same_tool_calls: u32,
    /// The time in which the calls of one tool are counted.
    pub same_tool_window: Duration,
    /// The most calls of any tools within [`Self::all_tools_window`], those of unknown tools
    /// included.
    pub all_tools_calls: u32,
    /// The time in which the calls of all tools are counted.
    pub all_tools_window: Duration,
    /// How long calls are remembered. What a window needs is remembered for the window's time, even
    /// if that is longer.
    pub history_retention: Duration,
    /// How long after its last failure a tool is refused that failed too often.
    pub failure_block: Duration,
}

impl Default for ThrottlePolicy {
    fn default() -> Self {
        Self {
            max_consecutive_failures: 3,
            same_tool_calls: 5,
            same_tool_window: Duration::from_secs(10),
            all_tools_calls: 10,
            all_tools_window: Duration::from_secs(5),
            history_retention: Duration::from_mins(1),
            failure_block: Duration::from_mins(1),
        }
    }
}

/// A rule of a [`ThrottlePolicy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThrottleRule {
    /// The tool failed too often in a row.
    ConsecutiveFailures,
    /// The tool was called too often.
    SameTool,
    /// Tools were called too often.
    AllTools,
}

impl ThrottleRule {
    /// The name of the rule's limit, which never changes.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConsecutiveFailures => "max_consecutive_failures",
            Self::SameTool => "same_tool_calls",
            Self::AllTools => "all_tools_calls",
        }
    }
}

/// A call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttled {
    /// The rule that refuses it; of several, the one that does so longest.
    pub rule: ThrottleRule,
    /// The rule's limit.
    pub limit: u32,
    /// After what time the call would be admitted.
    pub retry_after: Duration,
}

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    /// It has a result, whose success flag, if it has one, does not say no.
    Success,
    /// The checks refused it, its invocation failed or took too long, or the result's success flag
    /// says no.
    Failure,
}

/// A call that was admitted and has not ended. One that never ends counts in the windows alone.
#[derive(Debug)]
#[must_use = "tell how the call went, with `finish`"]
pub(crate) struct ThrottleTicket {
    tool: Option<u32>,
}

/// Statistics of the last minute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThrottleStats {
    /// How many calls were admitted, those of unknown tools included.
    pub calls: usize,
    /// The tools whose last call failed, and how many of their calls failed in a row, most first.
    pub failing: Vec<(u32, u32)>,
    /// The tools that were called, and how often; most first, equals in the order of their first
    /// call.
    pub most_called: Vec<(u32, usize)>,
}

/// The throttle of one session.
///
/// Tools are known by their index; the calls of names that no tool has, `None`, count towards the
/// calls of all tools and nothing else. A remembered call takes 24 bytes, twice that where the lists
/// have just grown.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    /// The calls of all tools, the oldest first.
    calls: VecDeque<CallRecord>,
    tools: HashMap<u32, ToolRecord>,
}

/// A recent call.
#[derive(Debug, Clone, Copy)]
struct CallRecord {
    at: Moment,
    tool: Option<u32>,
}

/// The recent calls of one tool.
#[derive(Debug, Default)]
struct ToolRecord {
    /// When its latest calls were admitted, the oldest first; no more than its limit counts.
    calls: VecDeque<Moment>,
    failures: u32,
    last_failure: Moment,
    /// The arguments of its last call, if that failed.
    failed_with: Option<u64>,
}

/// Nanoseconds, which are enough for five hundred years and take half the room of a [`Duration`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Moment(u64);

impl Moment {
    fn of(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    /// How much of `time` after this moment is left. Nothing is left when exactly that time has
    /// passed.
    fn left(self, time: Duration, now: Self) -> Option<Duration> {
        let passed = Duration::from_nanos(now.0.saturating_sub(self.0));
        time.checked_sub(passed).filter(|left| !left.is_zero())
    }
}

impl Throttle {
    /// Admits a call that begins now, or tells why not. A call that is refused leaves no trace.
    pub(crate) fn admit(
        &mut self,
        tool: Option<u32>,
        policy: &ThrottlePolicy,
        now: Duration,
    ) -> Result<ThrottleTicket, Throttled> {
        let now = Moment::of(now);
        self.forget(policy, now);
        let mut tool_state = tool.map(|tool| self.tools.entry(tool).or_default());
        let mut refused = None;
        if let Some(tool) = &mut tool_state {
            refused = longest(refused, tool.failed_too_often(policy, now));
            let limit = limit(policy.same_tool_calls);
            let left =
                nth_last(&tool.calls, limit).and_then(|at| at.left(policy.same_tool_window, now));
            refused =
                longest(refused, throttled(ThrottleRule::SameTool, policy.same_tool_calls, left));
        }
        let left = nth_last(&self.calls, limit(policy.all_tools_calls))
            .and_then(|call| call.at.left(policy.all_tools_window, now));
        refused = longest(refused, throttled(ThrottleRule::AllTools, policy.all_tools_calls, left));
        if let Some(refused) = refused {
            return Err(refused);
        }
        if let Some(tool) = tool_state {
            remember(&mut tool.calls, now, limit(policy.same_tool_calls));
        }
        remember(&mut self.calls, CallRecord { at: now, tool }, MAX_REMEMBERED);
        Ok(ThrottleTicket { tool })
    }

    /// Takes note of how a call went that ends now; `arguments` is the hash of its arguments, which
    /// matters where it failed.
    #[expect(clippy::needless_pass_by_value, reason = "a call ends once")]
    pub(crate) fn finish(
        &mut self,
        call: ThrottleTicket,
        arguments: u64,
        outcome: CallOutcome,
        now: Duration,
    ) {
        let ThrottleTicket { tool: Some(tool) } = call else { return };
        let tool = self.tools.entry(tool).or_default();
        match outcome {
            CallOutcome::Success => tool.forgive(),
            CallOutcome::Failure => {
                tool.failures = tool.failures.saturating_add(1);
                tool.last_failure = Moment::of(now);
                tool.failed_with = Some(arguments);
            }
        }
    }

    /// Whether the tool's last call had the same arguments and failed. Their hash is asked for only
    /// where it failed.
    pub(crate) fn repeats_failure(&self, tool: u32, arguments: impl FnOnce() -> u64) -> bool {
        let failed_with = self.tools.get(&tool).and_then(|tool| tool.failed_with);
        failed_with.is_some_and(|failed| failed == arguments())
    }

    /// Forgets the failures of a tool. Its calls still count.
    pub(crate) fn reset(&mut self, tool: u32) {
        if let Some(tool) = self.tools.get_mut(&tool) {
            tool.forgive();
        }
    }

    /// Forgets the failures of all tools. Their calls still count.
    pub(crate) fn reset_all(&mut self) {
        self.tools.values_mut().for_each(ToolRecord::forgive);
    }

    /// Statistics of the last 60 seconds, as far as the policy keeps calls.
    pub(crate) fn stats(&self, now: Duration) -> ThrottleStats {
        let now = Moment::of(now);
        let first = self.calls.partition_point(|call| call.at.left(LOOK_BACK, now).is_none());
        let mut stats =
            ThrottleStats { calls: self.calls.len() - first, ..ThrottleStats::default() };
        let mut places = HashMap::new();
        for tool in self.calls.range(first..).filter_map(|call| call.tool) {
            let place = *places.entry(tool).or_insert_with(|| {
                stats.most_called.push((tool, 0));
                stats.most_called.len() - 1
            });
            stats.most_called[place].1 += 1;
        }
        // The sort is stable, so that equals stay in the order of their first call.
        stats.most_called.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
        let failing = self.tools.iter().filter(|(_, tool)| tool.failures > 0);
        stats.failing = failing.map(|(index, tool)| (*index, tool.failures)).collect();
        stats
            .failing
            .sort_unstable_by_key(|(tool, failures)| (std::cmp::Reverse(*failures), *tool));
        stats
    }

    /// Forgets calls that are older than anybody asks for.
    fn forget(&mut self, policy: &ThrottlePolicy, now: Moment) {
        let window =
            if policy.all_tools_calls == 0 { Duration::ZERO } else { policy.all_tools_window };
        let time = policy.history_retention.max(window);
        while self.calls.front().is_some_and(|call| call.at.left(time, now).is_none()) {
            self.calls.pop_front();
        }
    }
}

impl ToolRecord {
    /// Refuses the call after too many failures. When the block is over, they are forgotten, and
    /// the tool may fail as often again.
    fn failed_too_often(&mut self, policy: &ThrottlePolicy, now: Moment) -> Option<Throttled> {
        let limit = policy.max_consecutive_failures;
        if limit == 0 || self.failures < limit {
            return None;
        }
        let left = self.last_failure.left(policy.failure_block, now);
        if left.is_none() {
            self.failures = 0;
        }
        throttled(ThrottleRule::ConsecutiveFailures, limit, left)
    }

    fn forgive(&mut self) {
        self.failures = 0;
        self.failed_with = None;
    }
}

fn throttled(rule: ThrottleRule, limit: u32, left: Option<Duration>) -> Option<Throttled> {
    left.map(|retry_after| Throttled { rule, limit, retry_after })
}

/// The refusal that lasts longer, so that waiting for it suffices.
fn longest(first: Option<Throttled>, second: Option<Throttled>) -> Option<Throttled> {
    match (first, second) {
        (Some(first), Some(second)) if second.retry_after > first.retry_after => Some(second),
        (first, second) => first.or(second),
    }
}

/// A limit on calls, as far as calls are remembered.
fn limit(calls: u32) -> usize {
    (calls as usize).min(MAX_REMEMBERED)
}

/// The call that has to be outside of the window if one more is to be admitted.
fn nth_last<T: Copy>(calls: &VecDeque<T>, limit: usize) -> Option<T> {
    if limit == 0 {
        return None;
    }
    calls.get(calls.len().checked_sub(limit)?).copied()
}

/// Adds a call, and forgets the oldest where there are more than `most`.
fn remember<T>(calls: &mut VecDeque<T>, call: T, most: usize) {
    while calls.len() >= most && calls.pop_front().is_some() {}
    if most > 0 {
        calls.push_back(call);
    }
}

#[cfg(test)]
mod tests;
