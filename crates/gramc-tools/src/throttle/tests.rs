#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use smol_str::SmolStr;

use super::CallOutcome::Failure;
use super::{
    CallOutcome, CallRecord, MAX_REMEMBERED, Moment, Throttle, ThrottlePolicy, ThrottleRule,
    Throttled,
};
use crate::stats::SessionStats;

/// A result of a tool that may have an effect.
#[expect(non_upper_case_globals, reason = "it is used like a variant")]
const Success: CallOutcome = CallOutcome::Success { result: None, has_effect: true };

/// The name of a tool of a number.
fn named(tool: u32) -> SmolStr {
    tool.to_string().into()
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A throttle with its policy. Calls end immediately.
struct ThrottledSession {
    throttle: Throttle,
    policy: ThrottlePolicy,
}

impl ThrottledSession {
    fn new(policy: ThrottlePolicy) -> Self {
        Self { throttle: Throttle::default(), policy }
    }

    fn call(&mut self, tool: u32, outcome: CallOutcome, now: Duration) -> Result<(), Throttled> {
        let call = self.throttle.admit(Some(tool), &self.policy, now)?;
        self.throttle.finish(call, || 0, outcome, now);
        Ok(())
    }

    /// Calls the tool, and asserts that the call is admitted.
    #[track_caller]
    fn fine(&mut self, tool: u32, outcome: CallOutcome, now: Duration) {
        self.call(tool, outcome, now).unwrap();
    }

    /// The rule that refuses a call, its limit, and the time to wait.
    #[track_caller]
    fn refused(&mut self, tool: u32, now: Duration) -> (&'static str, u32, Duration) {
        let Throttled { rule, limit, retry_after } = self.call(tool, Success, now).unwrap_err();
        (rule.name(), limit, retry_after)
    }
}

#[test]
fn three_failures_in_a_row_block_a_tool() {
    let mut session = ThrottledSession::new(ThrottlePolicy::strict());
    for second in [0, 20, 40] {
        session.fine(1, Failure, s(second));
    }
    let refused = session.refused(1, s(50));
    assert_eq!(refused, ("max_consecutive_failures", 3, s(50)));
    // Other tools are not affected.
    session.fine(2, Success, s(50));
    // The block starts at the last failure, and refused calls do not extend it.
    assert_eq!(session.refused(1, ms(99_999)).2, ms(1));
    session.fine(1, Failure, s(100));
    // The count starts again from zero.
    session.fine(1, Failure, s(120));
    session.fine(1, Failure, s(140));
    assert_eq!(session.refused(1, s(141)).2, s(59));
}

#[test]
fn success_resets_the_count() {
    let mut session = ThrottledSession::new(ThrottlePolicy::strict());
    for second in 0..20 {
        session.fine(1, if second % 3 == 2 { Success } else { Failure }, s(20 * second));
    }
}

#[test]
fn a_reset_ends_the_block() {
    let mut session = ThrottledSession::new(ThrottlePolicy::strict());
    let fail = |session: &mut ThrottledSession, tool, from: u64| {
        (0..3).for_each(|call| session.fine(tool, Failure, s(from + 3 * call)));
        assert_eq!(session.refused(tool, s(from + 7)).0, "max_consecutive_failures");
    };
    fail(&mut session, 1, 0);
    fail(&mut session, 2, 10);
    session.throttle.reset(1);
    session.throttle.reset(77);
    session.fine(1, Success, s(20));
    assert_eq!(session.refused(2, s(20)).0, "max_consecutive_failures");
    session.throttle.reset_all();
    session.fine(2, Success, s(30));
    assert!(session.throttle.stats(s(30), named).failing.is_empty());
}

#[test]
fn the_sixth_call_of_a_tool_in_ten_seconds_is_refused() {
    let mut session = ThrottledSession::new(ThrottlePolicy::strict());
    for second in 0..5 {
        session.fine(1, Success, s(second));
    }
    assert_eq!(session.refused(1, s(5)), ("same_tool_calls", 5, s(5)));
    assert_eq!(session.refused(1, ms(9_999)), ("same_tool_calls", 5, ms(1)));
    session.fine(2, Success, s(9));
    // After exactly ten seconds, the first call leaves the window, and the second one a second
    // later. Refused calls do not count.
    session.fine(1, Success, s(10));
    assert_eq!(session.refused(1, s(10)), ("same_tool_calls", 5, s(1)));
    session.fine(1, Success, s(11));
}

#[test]
fn the_eleventh_call_in_five_seconds_is_refused() {
    let mut session = ThrottledSession::new(ThrottlePolicy::strict());
    for call in 0..10 {
        session.fine(call, Success, ms(400 * u64::from(call)));
    }
    assert_eq!(session.refused(99, ms(4_000)), ("all_tools_calls", 10, s(1)));
    assert_eq!(session.refused(99, ms(4_999)).2, ms(1));
    session.fine(99, Success, s(5));
    assert_eq!(session.refused(98, s(5)), ("all_tools_calls", 10, ms(400)));
}

#[test]
fn unknown_tools_count_towards_all_tools_alone() {
    let mut session = ThrottledSession::new(ThrottlePolicy::strict());
    for _ in 0..10 {
        let call = session.throttle.admit(None, &session.policy, s(0)).unwrap();
        session.throttle.finish(call, || 0, Failure, s(0));
    }
    assert_eq!(session.refused(1, s(1)), ("all_tools_calls", 10, s(4)));
    let refused = session.throttle.admit(None, &session.policy, s(1)).unwrap_err();
    assert_eq!(refused.rule, ThrottleRule::AllTools);
    let stats = session.throttle.stats(s(1), named);
    assert_eq!(stats, SessionStats { calls: 10, ..SessionStats::default() });
}

#[test]
fn calls_that_run_count() {
    let mut throttle = Throttle::default();
    let policy = ThrottlePolicy::strict();
    let calls: Vec<_> = (0..5).map(|_| throttle.admit(Some(1), &policy, s(0)).unwrap()).collect();
    assert_eq!(throttle.admit(Some(1), &policy, s(0)).unwrap_err().rule, ThrottleRule::SameTool);
    for call in calls {
        throttle.finish(call, || 7, Failure, s(30));
    }
    // Windows start when a call begins, the block when it ends.
    let refused = throttle.admit(Some(1), &policy, s(31)).unwrap_err();
    assert_eq!(refused.rule, ThrottleRule::ConsecutiveFailures);
    assert_eq!(refused.retry_after, s(59));
    assert_eq!(throttle.stats(s(31), named).failing, [(named(1), 5)]);
}

#[test]
fn the_rule_that_holds_longest_is_told() {
    let mut session =
        ThrottledSession::new(ThrottlePolicy { failure_block: s(2), ..ThrottlePolicy::strict() });
    for _ in 0..2 {
        session.fine(1, Success, s(0));
    }
    for _ in 0..3 {
        session.fine(1, Failure, s(0));
    }
    assert_eq!(session.refused(1, s(1)), ("same_tool_calls", 5, s(9)));
}

#[test]
fn a_limit_of_0_turns_its_rule_off() {
    let mut session = ThrottledSession::new(ThrottlePolicy::off());
    for _ in 0..1_000 {
        session.fine(1, Failure, s(0));
    }
    for (policy, expected) in [
        (
            ThrottlePolicy { max_consecutive_failures: 1, ..ThrottlePolicy::off() },
            "max_consecutive_failures",
        ),
        (ThrottlePolicy { same_tool_calls: 1, ..ThrottlePolicy::off() }, "same_tool_calls"),
        (ThrottlePolicy { all_tools_calls: 1, ..ThrottlePolicy::off() }, "all_tools_calls"),
    ] {
        let mut session = ThrottledSession::new(policy);
        session.fine(1, Failure, s(0));
        let (rule, limit, _) = session.refused(1, s(1));
        assert_eq!((rule, limit), (expected, 1));
    }
}

#[test]
fn stats_tell_of_the_last_minute() {
    let mut session = ThrottledSession::new(ThrottlePolicy::off());
    session.fine(9, Success, s(0));
    session.fine(3, Success, s(10));
    session.fine(2, Failure, s(20));
    session.fine(1, Failure, s(21));
    session.fine(1, Failure, s(22));
    session.fine(2, Failure, s(23));
    session.fine(4, Failure, s(24));
    let stats = session.throttle.stats(s(60), named);
    assert_eq!(stats.calls, 6, "the call of a minute ago is none of the last minute");
    assert_eq!(
        stats.most_called,
        [(2, 2), (1, 2), (3, 1), (4, 1)].map(|(tool, calls)| (named(tool), calls))
    );
    assert_eq!(stats.failing, [(1, 2), (2, 2), (4, 1)].map(|(tool, calls)| (named(tool), calls)));
    assert_eq!(session.throttle.stats(s(59), named).calls, 7);
    assert_eq!(session.throttle.stats(s(1_000), named).calls, 0);
}

#[test]
fn history_is_kept_for_its_time() {
    let mut session = ThrottledSession::new(ThrottlePolicy::off());
    for second in 0..100 {
        session.fine(1, Success, s(second));
    }
    assert_eq!(session.throttle.calls.len(), 60);
    let policy =
        ThrottlePolicy { all_tools_calls: 10, all_tools_window: s(600), ..ThrottlePolicy::off() };
    let mut session = ThrottledSession::new(policy);
    for tool in 0..10 {
        session.fine(tool, Success, s(0));
    }
    assert_eq!(session.refused(11, s(599)).0, "all_tools_calls");
}

#[test]
fn history_is_bounded() {
    let policy = ThrottlePolicy {
        same_tool_calls: u32::MAX,
        same_tool_window: Duration::MAX,
        ..ThrottlePolicy::off()
    };
    let mut session = ThrottledSession::new(policy);
    for call in 0..200_000 {
        session.fine(call % 4, Success, Duration::from_micros(u64::from(call)));
    }
    assert_eq!(session.throttle.calls.len(), MAX_REMEMBERED);
    assert_eq!(session.throttle.tools[&0].calls.len(), 50_000);
    for _ in 50_000..MAX_REMEMBERED {
        session.fine(0, Success, s(1_000));
    }
    assert_eq!(session.refused(0, s(2_000)).0, "same_tool_calls");
    // Buffers double when they grow.
    assert!(2 * (size_of::<CallRecord>() + size_of::<Moment>()) <= 100);
}

#[test]
fn moments_at_the_end_of_time() {
    let mut session = ThrottledSession::new(ThrottlePolicy::strict());
    for _ in 0..5 {
        session.fine(1, Success, Duration::MAX);
    }
    assert_eq!(session.refused(1, Duration::MAX).0, "same_tool_calls");
}

#[test]
fn a_call_costs_little() {
    let mut session = ThrottledSession::new(ThrottlePolicy::off());
    for call in 0..100_000_u32 {
        session.fine(call % 50, Success, ms(u64::from(call)));
    }
}
