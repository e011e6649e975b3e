//! Approval of calls before they run.

use std::time::Duration;

use super::*;
use crate::LoadOptions;
use crate::approval::{ApprovalDecision, ApprovalRequest, Approver, DecidedBy, DecisionFuture};
use crate::clock::ManualClock;

/// Decides all calls alike, and keeps the questions.
#[derive(Debug, Default)]
struct Judge {
    refuses: Option<&'static str>,
    asked: Mutex<Vec<ApprovalRequest>>,
    /// The number of questions that are open now, and the greatest number so far.
    open: Mutex<(u32, u32)>,
}

impl Approver for Judge {
    fn decide(&self, request: ApprovalRequest) -> DecisionFuture<'_> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request);
            {
                let mut open = self.open.lock().unwrap();
                open.0 += 1;
                open.1 = open.1.max(open.0);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            self.open.lock().unwrap().0 -= 1;
            let reason = self.refuses.unwrap_or_default();
            Some(ApprovalDecision::new(self.refuses.is_none(), DecidedBy::Host, reason))
        })
    }
}

fn bound(spec: &str, library: &str, settings: &Settings) -> Bound {
    let text = format!("{spec}\n{library}");
    let checked = check(&[parse(SourceFile::new("spec.gram", text.as_str()))]);
    let module = checked.module.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let folder = std::path::Path::new(".");
    let library = ToolLibrary::load(
        &module,
        &module.libraries[0],
        LoadOptions { defaults: settings.clone(), ..LoadOptions::new(folder) },
    );
    library.bind(&module).unwrap()
}

fn asking(bound: &Bound, default: ApprovalPolicy, judge: &Arc<Judge>) -> Session {
    Session::new(bound).with_approvals(Approvals::new(default).asking(judge.clone()))
}

#[tokio::test]
async fn the_stricter_of_specification_and_library_holds() {
    use ApprovalPolicy::{Always, Destructive, Never};
    // The attributes of the tool, of the library and of the implementation; the default; whether a
    // call is asked about.
    for (tool, library, implementation, default, asked) in [
        ("", "", "", Never, false),
        ("", "", "", Destructive, false),
        ("", "", "", Always, true),
        ("destructive: true", "", "", Never, false),
        ("destructive: true", "", "", Destructive, true),
        ("approval: \"always\"", "", "", Never, true),
        ("approval: \"always\"", "approval: \"never\"", "", Never, true),
        ("approval: \"always\"", "", "approval: \"never\"", Never, true),
        ("approval: \"destructive\"", "approval: \"never\"", "", Never, false),
        ("approval: \"destructive\", destructive: true", "approval: \"never\"", "", Never, true),
        ("approval: \"never\", destructive: true", "", "", Destructive, false),
        ("approval: \"never\"", "approval: \"always\"", "", Never, true),
        ("approval: \"never\"", "", "approval: \"always\"", Never, true),
        ("", "approval: \"always\"", "approval: \"never\"", Destructive, false),
        ("approval: \"unless (x::Int {range: 0..5})\"", "", "", Never, false),
        ("approval: \"unless (x::Int {range: 5..9})\"", "", "", Never, true),
        ("approval: \"unless (x::Int {range: 0..5})\"", "approval: \"always\"", "", Never, true),
        ("destructive: true", "approval: \"never\"", "", Destructive, false),
    ] {
        let spec = format!("[echo:Tool {{{tool}}} | (x::Int)==>(::Any)]");
        let library = format!("[l:Library {{{library}}} | (echo:Builtin {{{implementation}}})]");
        let judge = Arc::new(Judge::default());
        let bound = bound(&spec, &library, &Settings::default());
        let verdict = asking(&bound, default, &judge).call(Call::new("echo", "{\"x\": 1}")).await;
        let case = format!("{spec} {library} {default:?}");
        assert!(verdict.is_ok(), "{case}: {}", verdict.json());
        assert_eq!(judge.asked.lock().unwrap().len(), usize::from(asked), "{case}");
        assert_eq!(verdict.approval.is_some(), asked, "{case}");
        // Without an approver, the call is refused.
        let session = Session::new(&bound).with_approvals(Approvals::new(default));
        let verdict = session.call(Call::new("echo", "{\"x\": 1}")).await.json();
        let error = if asked { json!("approval_required") } else { json!(null) };
        assert_eq!(verdict["error"]["error_type"], error, "{case}: {verdict}");
        assert_eq!(verdict.get("approval"), None, "{verdict}");
    }
}

const WIPE: &str = "[wipe:Tool {approval: \"always\"} |
  (path::Text)==>(password::Text {secret: true})==>(token::Text {injected: true, secret: true})
  ==>(where::Text {pinned: \"eu-1\"})==>(::Any)]";
const WIPES: &str = "[l:Library {inject: {token: \"tok-4711\"}} | (wipe:Builtin {name: \"echo\"})]";

#[tokio::test]
async fn the_question_has_the_repaired_arguments_without_secrets() {
    let judge = Arc::new(Judge { refuses: Some("hunter2 is\n\u{1b}known"), ..Judge::default() });
    let bound = bound(WIPE, WIPES, &Settings::default());
    let approvals = Approvals::default().asking(judge.clone()).of_agent("cleaner");
    let session = Session::new(&bound).with_approvals(approvals);
    let call = Call::new("wipe", "{path: '/hunter2/x', password: 'hunter2', extra: 1}");
    let verdict = session.call(call).await.json();
    let asked = judge.asked.lock().unwrap().pop().unwrap().json();
    let arguments = json!({"path": "/***/x", "password": "***", "where": "eu-1"});
    let request = json!({
        "name": "wipe", "arguments": arguments, "stripped": ["extra"], "agent": "cleaner",
    });
    assert_eq!(asked, request);
    let approval = json!({"approved": false, "by": "host", "reason": "*** is\n known"});
    assert_eq!(verdict["approval"], approval);
    assert_eq!(verdict["error"]["error_type"], "approval_refused");
    assert!(!verdict.to_string().contains("hunter2"), "{verdict}");
    // A call that is refused by the check is not asked about.
    session.call(Call::new("wipe", "{}")).await;
    assert_eq!(judge.asked.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_call_that_is_not_approved_counts_towards_no_limit() {
    let mut settings = Settings::default();
    settings.throttle.same_tool_calls = 2;
    settings.throttle.max_consecutive_failures = 1;
    let spec = "[echo:Tool {approval: \"always\"} | (x::Int)==>(::Any)]";
    let bound = bound(spec, "[l:Library | (echo:Builtin)]", &settings);
    let clock = Arc::new(ManualClock::default());
    let refusing = Arc::new(Judge { refuses: Some("no"), ..Judge::default() });
    let approvals = Approvals::default().asking(refusing);
    let session = Session::with_clock(&bound, clock).with_approvals(approvals);
    for _ in 0..5 {
        let verdict = session.call(Call::new("echo", "{\"x\": 1}")).await;
        assert_eq!(verdict.outcome.unwrap_err().error_type(), "approval_refused");
    }
    assert_eq!(session.stats().json()["calls_last_60_seconds"], 0);
    assert_eq!(session.stats().json()["tools_with_failures"], json!({}));
    let session = session.with_approvals(Approvals::default().asking(Arc::<Judge>::default()));
    for expected in [None, None, Some("throttled")] {
        let verdict = session.call(Call::new("echo", "{\"x\": 1}")).await;
        let error = verdict.outcome.err().map(|error| error.error_type());
        assert_eq!(error, expected);
    }
}

#[tokio::test]
async fn parallel_calls_are_asked_about_one_after_the_other() {
    let spec = "[echo:Tool {approval: \"always\"} | (x::Int)==>(::Any)]";
    let bound = bound(spec, "[l:Library | (echo:Builtin)]", &Settings::default());
    let judge = Arc::new(Judge::default());
    let approvals = Approvals::default().asking(judge.clone());
    // The sessions of several agents share the user.
    let sessions = [1, 2].map(|_| Session::new(&bound).with_approvals(approvals.clone()));
    let calls = (0..4).map(|x| sessions[x % 2].call(Call::new("echo", format!("{{\"x\": {x}}}"))));
    let verdicts = futures_util::future::join_all(calls).await;
    assert!(verdicts.iter().all(Verdict::is_ok));
    assert_eq!(judge.asked.lock().unwrap().len(), 4);
    assert_eq!(*judge.open.lock().unwrap(), (0, 1));
}

/// Never decides.
#[derive(Debug)]
struct Absent;

impl Approver for Absent {
    fn decide(&self, _: ApprovalRequest) -> DecisionFuture<'_> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_question_ends_when_the_call_is_cancelled() {
    let spec = "[echo:Tool {approval: \"always\"} | (x::Int)==>(::Any)]";
    let bound = bound(spec, "[l:Library | (echo:Builtin)]", &Settings::default());
    let approvals = Approvals::default().asking(Arc::new(Absent));
    let session = Session::new(&bound).with_approvals(approvals);
    let cancelled = CancellationToken::new();
    let stop = cancelled.clone();
    let call = session.call_until(Call::new("echo", "{\"x\": 1}"), cancelled);
    let (verdict, ()) = tokio::join!(call, async move {
        tokio::task::yield_now().await;
        stop.cancel();
    });
    assert_eq!(verdict.json()["error"]["detail"], "the call was cancelled");
}
