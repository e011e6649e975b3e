//! Identical calls that repeat without progress.

use std::sync::Arc;
use std::time::Duration;

use gramc_check::check;
use gramc_language_tests::rng::Rng;
use gramc_syntax::{SourceFile, parse};
use gramc_tools::clock::{Clock as _, ManualClock};
use gramc_tools::implementations::async_function;
use gramc_tools::invocation::{Answer, InvocationError, InvocationErrorKind};
use gramc_tools::throttle::ThrottlePolicy;
use gramc_tools::{Admission, Bound, Call, CallError, Callers, Session, Settings, ToolLibrary};
use serde_json::{Value, json};

const SPECIFICATION: &str = "[write:Tool | (n::Int)==>(s::Text {default: \"x\"})==>(::Any)]
[read:Tool {readOnly: true} | (n::Int)==>(::Any)]
[press:Tool {idempotent: false} | (n::Int)==>(::Any)]
[pay:Tool | (n::Int)==>(::{ok: Bool, reason?: Text})]
[find:Tool | (n::Int)==>(::{id: Int})]";

const TOOLS: [&str; 3] = ["write", "read", "press"];

/// Odd numbers fail; 100 returns a negative success flag.
fn bound(throttle: ThrottlePolicy) -> Bound {
    let checked = check(&[parse(SourceFile::new("repeats.gram", SPECIFICATION))]);
    let module = checked.module.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let settings = Settings { throttle, max_attempts: 0, ..Settings::default() };
    let mut library = ToolLibrary::new("library").settings(settings);
    for tool in ["write", "read", "press", "pay", "find"] {
        let run = |arguments: Value| async move {
            match arguments["n"].as_i64() {
                Some(100) => Ok(json!({"ok": false})),
                Some(n) if n % 2 == 0 => Ok(json!({"ok": true, "id": n})),
                _ => Err("there is no such number".to_owned()),
            }
        };
        library = library.with(tool, async_function(run));
    }
    library.bind(&module).unwrap_or_else(|problems| panic!("{problems:?}"))
}

struct Host {
    clock: Arc<ManualClock>,
    session: Session,
}

impl Host {
    fn new(callers: Callers) -> Self {
        Self::with_policy(callers, ThrottlePolicy::default())
    }

    fn with_policy(callers: Callers, policy: ThrottlePolicy) -> Self {
        let clock = Arc::new(ManualClock::default());
        let session = Session::with_clock(&bound(policy), clock.clone()).with_callers(callers);
        Self { clock, session }
    }

    fn wait(&self, seconds: u64) {
        self.clock.move_to(self.clock.now() + Duration::from_secs(seconds));
    }

    /// The type of the call's error, or an empty text.
    async fn call(&self, tool: &str, arguments: impl Into<String>) -> &'static str {
        let verdict = self.session.call(Call::new(tool, arguments)).await;
        verdict.outcome.err().map_or("", |error| error.error_type())
    }

    /// The error types of identical calls.
    async fn repeat(&self, times: usize, tool: &str, arguments: &str) -> Vec<&'static str> {
        let mut errors = Vec::new();
        for _ in 0..times {
            errors.push(self.call(tool, arguments).await);
        }
        errors
    }
}

const ALL: [Callers; 3] = [Callers::Unknown, Callers::OneModel, Callers::Many];

#[tokio::test]
async fn eight_parallel_calls_of_one_reply_all_run() {
    for callers in ALL {
        let host = Host::new(callers);
        for reply in 0..3 {
            host.session.begin_reply();
            for n in 0..8 {
                let error = host.call("read", format!("{{\"n\": {}}}", 2 * n + reply)).await;
                assert_ne!(error, "throttled");
            }
            // Identical calls of one reply count as one, whether they run, fail or are invalid.
            for arguments in ["{\"n\": 2}", "{\"n\": 1}", "{\"n\": \"x\"}"] {
                let errors = host.repeat(8, "read", arguments).await;
                assert!(!errors.contains(&"throttled"), "{callers:?} {arguments} {errors:?}");
            }
        }
        host.session.begin_reply();
        let refused = host.call("read", "{\"n\": 1}").await == "throttled";
        assert_eq!(refused, callers != Callers::Many);
    }
    // Without replies, calls that run at the same time count as one.
    let host = Host::new(Callers::Unknown);
    let failed = || InvocationError::new(InvocationErrorKind::Failed, "no");
    for round in 0..4 {
        let begin = |_| host.session.begin(Call::new("read", "{\"n\": 1}"));
        let begun: Vec<_> = (0..8).map(begin).collect();
        for admission in begun {
            match admission {
                Admission::Ready(call) => assert!(round < 3 && !call.finish(Err(failed())).is_ok()),
                Admission::Answered(verdict) => assert_eq!(round, 3, "{verdict:?}"),
            }
        }
    }
}

#[tokio::test]
async fn fifty_users_of_one_session_are_all_served() {
    for callers in [Callers::Unknown, Callers::Many] {
        let host = Host::new(callers);
        for user in 0..50 {
            assert_eq!(host.call("read", "{\"n\": 2}").await, "", "user {user}");
            assert_eq!(host.call("write", "{\"n\": 4}").await, "", "user {user}");
            let own = format!("{{\"n\": {}}}", 2 * user + 1);
            assert_eq!(host.call("read", own).await, "invocation_error", "user {user}");
            host.clock.move_to(host.clock.now() + Duration::from_millis(200));
        }
        // Each user begins a turn, as their agent does.
        let host = Host::new(Callers::OneModel);
        for _ in 0..50 {
            host.session.begin_turn();
            assert_eq!(host.repeat(2, "read", "{\"n\": 2}").await, ["", ""]);
        }
    }
}

#[tokio::test]
async fn the_fourth_of_identical_failing_calls_is_refused() {
    // The order of keys, repairs and defaults make no difference.
    let same = ["{\"n\": 1}", "{\"s\": \"x\", \"n\": 1}", "{n: '1'}", "{\"n\": 1.0}"];
    for callers in [Callers::Unknown, Callers::OneModel] {
        let host = Host::new(callers);
        for arguments in &same[..3] {
            assert_eq!(host.call("write", *arguments).await, "invocation_error");
            host.wait(20);
        }
        let verdict = host.session.call(Call::new("write", same[3])).await;
        assert_eq!(
            verdict.message(),
            "`write` failed 3 times with the same arguments. Change the arguments, do something else \
             or tell the user; the same call is possible again in 40 s."
        );
        let Err(CallError::Throttled { rule: "repeated_failure", limit: 3, .. }) = verdict.outcome
        else {
            panic!("{verdict:?}")
        };
        // Other arguments and other tools are not affected, and neither are other sessions.
        assert_eq!(host.call("write", "{\"n\": 3}").await, "invocation_error");
        assert_eq!(host.call("read", "{\"n\": 1}").await, "invocation_error");
        assert_eq!(host.call("write", same[0]).await, "throttled");
        let other = Session::new(host.session.bound()).call(Call::new("write", same[0])).await;
        assert_eq!(other.outcome.unwrap_err().error_type(), "invocation_error");
        // A call that may have an effect is progress; reading is none.
        assert_eq!(host.call("read", "{\"n\": 2}").await, "");
        assert_eq!(host.call("write", same[0]).await, "throttled");
        assert_eq!(host.call("write", "{\"n\": 2}").await, "");
        let failed = "invocation_error";
        let four = [failed, failed, failed, "throttled"];
        assert_eq!(host.repeat(4, "write", same[0]).await, four);
        // So is the wish of the user, a reset, and time.
        host.session.begin_turn();
        assert_eq!(host.repeat(4, "write", same[0]).await, four);
        assert!(host.session.reset("write"));
        assert_eq!(host.repeat(4, "write", same[0]).await, four);
        host.wait(60);
        assert_eq!(host.repeat(4, "write", same[0]).await, four);
    }
    // Invalid calls are compared as they are.
    let host = Host::new(Callers::Unknown);
    let invalid = "validation_error";
    let errors = host.repeat(4, "write", "{\"n\": \"x\"}").await;
    assert_eq!(errors, [invalid, invalid, invalid, "throttled"]);
    assert_eq!(
        Host::new(Callers::Many).repeat(9, "write", "{\"n\": 1}").await,
        ["invocation_error"; 9]
    );
}

#[tokio::test]
async fn a_model_that_repeats_a_call_with_the_same_result_is_refused() {
    for tool in ["read", "write"] {
        let host = Host::new(Callers::OneModel);
        assert_eq!(host.repeat(3, tool, "{\"n\": 2}").await, [""; 3]);
        let verdict = host.session.call(Call::new(tool, "{\"n\": 2}")).await;
        let expected = format!(
            "`{tool}` returned the same result 3 times for the same arguments. Use this result or do \
             something else; the same call is possible again in 10 s."
        );
        assert_eq!(verdict.message(), expected);
        // A call that polls every ten seconds is never refused.
        for _ in 0..20 {
            host.wait(10);
            assert_eq!(host.call(tool, "{\"n\": 2}").await, "");
        }
    }
    // Repeating a call of this tool has a further effect.
    assert_eq!(Host::new(Callers::OneModel).repeat(9, "press", "{\"n\": 2}").await, [""; 9]);
}

#[tokio::test]
async fn a_result_of_the_declared_type_is_no_failure() {
    let strict = ThrottlePolicy::strict();
    for policy in [ThrottlePolicy::default(), ThrottlePolicy { same_tool_calls: 0, ..strict }] {
        let host = Host::with_policy(Callers::Unknown, policy.clone());
        for _ in 0..10 {
            let verdict = host.session.call(Call::new("pay", "{\"n\": 100}")).await;
            assert!(verdict.is_ok() && verdict.warnings.is_empty(), "{verdict:?}");
        }
        assert_eq!(host.session.stats().json()["tools_with_failures"], json!({}));
        // Neither `Any` nor a type without the flag declares it.
        for tool in ["write", "find"] {
            let host = Host::with_policy(Callers::Unknown, policy.clone());
            let errors = host.repeat(4, tool, "{\"n\": 100}").await;
            assert_eq!(errors, ["", "", "", "throttled"], "{tool}");
        }
    }
}

#[tokio::test]
async fn a_cancelled_call_is_no_failure() {
    let host = Host::new(Callers::Unknown);
    for _ in 0..5 {
        let Admission::Ready(call) = host.session.begin(Call::new("write", "{\"n\": 2}")) else {
            panic!("refused")
        };
        let cancelled = InvocationError::new(InvocationErrorKind::Cancelled, "cancelled");
        assert!(!call.finish(Err(cancelled)).is_ok());
    }
}

/// A call that ended.
struct Ended {
    tool: usize,
    number: usize,
    /// The result, or a failure.
    result: Option<bool>,
    reply: usize,
    at: Duration,
}

/// The rule, as the manual has it: whether a call is refused after these since the last message of
/// the user.
fn refuses(ended: &[Ended], tool: usize, number: usize, reply: usize, now: Duration) -> bool {
    let is_same = |call: &&Ended| (call.tool, call.number) == (tool, number);
    let Some(last) = ended.iter().rev().find(is_same) else { return false };
    if TOOLS[tool] == "press" && last.result.is_some() {
        return false;
    }
    let window = Duration::from_secs(if last.result.is_some() { 10 } else { 60 });
    let (mut next, mut replies) = (now, Vec::new());
    for call in ended.iter().rev() {
        if is_same(&call) {
            if call.result != last.result || next.checked_sub(call.at).unwrap() >= window {
                break;
            }
            next = call.at;
            replies.push(call.reply);
        } else if call.result.is_some() && TOOLS[call.tool] != "read" {
            break;
        }
    }
    replies.retain(|it| reply == 0 || *it != reply);
    if reply > 0 {
        replies.dedup();
    }
    replies.len() >= 3
}

#[test]
fn random_calls_are_refused_by_the_rule_alone() {
    let (mut refused, mut ran) = (0, 0);
    for case in 0..2_000 {
        let mut rng = Rng::for_case(63, case);
        let host = Host::new(Callers::OneModel);
        let reports_replies = rng.chance(50);
        let (mut ended, mut reply) = (Vec::new(), 0);
        for _ in 0..60 {
            match rng.below(40) {
                0 => {
                    host.session.begin_turn();
                    ended.clear();
                }
                1..10 => host.wait(rng.between(1, 25) as u64),
                10..20 if reports_replies => {
                    host.session.begin_reply();
                    reply += 1;
                }
                _ => {}
            }
            // A host reports all replies, or none.
            if reports_replies && reply == 0 {
                continue;
            }
            let (tool, number) = (if rng.chance(70) { 1 } else { rng.below(3) }, rng.below(2));
            let result = rng.chance(50).then(|| rng.chance(10));
            let now = host.clock.now();
            let expected = refuses(&ended, tool, number, reply, now);
            match host.session.begin(Call::new(TOOLS[tool], format!("{{\"n\": {number}}}"))) {
                Admission::Ready(call) => {
                    assert!(!expected, "case {case}: a call was not refused");
                    let failed = InvocationError::new(InvocationErrorKind::Failed, "no");
                    let _ = call.finish(result.map(|it| Answer::Json(it.into())).ok_or(failed));
                    ended.push(Ended { tool, number, result, reply, at: now });
                    ran += 1;
                }
                Admission::Answered(verdict) => {
                    assert!(expected, "case {case}: {verdict:?}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 1_000 && ran > 50_000, "{refused} of {ran}");
}
