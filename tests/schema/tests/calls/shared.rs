//! Many calls at once through one binding and several sessions.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use gramc_check::check;
use gramc_language_tests::rng::Rng;
use gramc_syntax::{SourceFile, parse};
use gramc_tools::clock::{Clock, ManualClock};
use gramc_tools::implementations::async_function;
use gramc_tools::invocation::Answer;
use gramc_tools::throttle::ThrottlePolicy;
use gramc_tools::{Admission, Bound, Call, CallError, Session, Settings, ToolLibrary};
use serde_json::Value;

const SPECIFICATION: &str = "[a:Tool | (n::Int)==>(s::Text {default: \"x\"})==>(::Any)]
[b:Tool | (tags::`Text[]`)==>(::Any)]
[c:Tool | (p::`{q: Bool}`)==>(::Any)]
[box:Container {description: \"A box.\"} | [d:Tool | (n::Int)==>(::Any)]]";

const TOOLS: [&str; 3] = ["a", "b", "c"];

/// Arguments of each tool: right ones, and wrong ones.
const ARGUMENTS: [[&str; 2]; 3] = [
    [r#"{"n":"5"}"#, r#"{"n":"five"}"#],
    [r#"{"tags":["x","y"]}"#, r#"{"tags":[[1]]}"#],
    [r#"{"p":"{\"q\":true}"}"#, r#"{"p":{}}"#],
];

fn bound(throttle: ThrottlePolicy, ran: &Arc<AtomicUsize>) -> Bound {
    let checked = check(&[parse(SourceFile::new("shared.gram", SPECIFICATION))]);
    let module = checked.module.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let settings = Settings { throttle, max_attempts: 0, ..Settings::default() };
    let mut library = ToolLibrary::new("library").settings(settings);
    for tool in ["a", "b", "c", "d"] {
        let ran = Arc::clone(ran);
        library = library.with(
            tool,
            async_function(move |arguments: Value| {
                ran.fetch_add(1, Ordering::Relaxed);
                async move { Ok::<_, Infallible>(arguments) }
            }),
        );
    }
    library.bind(&module).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap()
}

/// What was done with one session.
#[derive(Default)]
struct Done {
    /// Calls that entered the windows.
    calls: AtomicUsize,
    /// Of each tool.
    of: [AtomicUsize; 3],
    /// Calls that ran.
    ran: AtomicUsize,
}

impl Done {
    fn count(&self, tool: usize) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.of[tool].fetch_add(1, Ordering::Relaxed);
    }
}

/// Does one random thing with a session.
async fn act(rng: &mut Rng, session: &Session, done: &Done) {
    let tool = rng.below(3);
    let wrong = usize::from(rng.chance(30));
    let call = || Call::new(TOOLS[tool], ARGUMENTS[tool][wrong]);
    match rng.below(100) {
        0..60 => {
            done.count(tool);
            let verdict = session.call(call()).await;
            assert_eq!(verdict.is_ok(), wrong == 0, "{verdict:?}");
            done.ran.fetch_add(1 - wrong, Ordering::Relaxed);
        }
        60..75 => {
            done.count(tool);
            match session.begin(call()) {
                Admission::Ready(ready) => {
                    assert_eq!(wrong, 0);
                    assert!(ready.finish(Ok(Answer::Json(Value::Bool(true)))).is_ok());
                }
                Admission::Answered(verdict) => {
                    assert!(wrong == 1 && !verdict.is_ok(), "{verdict:?}");
                }
            }
        }
        75..80 => {
            // An abandoned call counts, and blocks nothing.
            done.count(tool);
            drop(session.begin(call()));
        }
        80..88 => {
            done.calls.fetch_add(1, Ordering::Relaxed);
            let verdict = session.call(Call::new("nobody", "{}")).await;
            assert!(matches!(verdict.outcome, Err(CallError::UnknownTool { .. })), "{verdict:?}");
        }
        88..90 => {
            done.calls.fetch_add(1, Ordering::Relaxed);
            let _ = session.call(Call::new("box", "{}")).await;
        }
        90..93 => session.begin_turn(),
        93..96 => assert!(session.reset(TOOLS[tool])),
        96 => session.reset_all(),
        97 => assert!(session.validate(Call::new("a", r#"{"n":1}"#)).is_ok()),
        98 => assert!(session.visible().len() >= 4),
        _ if rng.chance(10) => assert!(session.stats().calls <= 65_536),
        _ => {}
    }
}

#[test]
fn many_calls_at_once_are_all_counted() {
    const SESSIONS: usize = 6;
    const TASKS: usize = 4;
    const EACH: usize = 12_500;
    let invoked = Arc::new(AtomicUsize::new(0));
    let bound = bound(ThrottlePolicy::off(), &invoked);
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|_| {
            let session = Session::with_clock(&bound, Arc::new(ManualClock::default()));
            Arc::new((session, Done::default()))
        })
        .collect();
    let finished = runtime().block_on(async {
        let tasks: Vec<_> = (0..SESSIONS * TASKS)
            .map(|task| {
                let shared = Arc::clone(&sessions[task % SESSIONS]);
                tokio::spawn(async move {
                    let mut rng = Rng::for_case(61, task);
                    for _ in 0..EACH {
                        act(&mut rng, &shared.0, &shared.1).await;
                    }
                })
            })
            .collect();
        tokio::time::timeout(Duration::from_mins(4), async {
            for task in tasks {
                task.await.unwrap();
            }
        })
        .await
    });
    assert!(finished.is_ok(), "some call never came back");
    let mut ran = 0;
    for shared in &sessions {
        let (session, done) = &**shared;
        let stats = session.stats();
        assert_eq!(stats.calls, done.calls.load(Ordering::Relaxed));
        for (tool, count) in TOOLS.iter().zip(&done.of) {
            let told = stats.most_called.iter().find(|(name, _)| name == tool).unwrap();
            assert_eq!(told.1, count.load(Ordering::Relaxed), "{tool}");
        }
        assert!(stats.failing.iter().all(|(_, failures)| *failures > 0));
        session.reset_all();
        assert!(session.stats().failing.is_empty());
        ran += done.ran.load(Ordering::Relaxed);
    }
    assert_eq!(invoked.load(Ordering::Relaxed), ran);
    assert!(ran > 100_000, "{ran}");
}

/// Whether more than `limit` of these moments lie within some window.
fn exceeds(moments: &mut [Duration], limit: usize, window: Duration) -> bool {
    moments.sort_unstable();
    moments.windows(limit + 1).any(|some| some[limit].saturating_sub(some[0]) < window)
}

#[test]
fn the_throttle_never_lets_more_through() {
    const SESSIONS: usize = 3;
    const THREADS: usize = 6;
    let invoked = Arc::new(AtomicUsize::new(0));
    let policy = ThrottlePolicy { max_consecutive_failures: 0, ..ThrottlePolicy::strict() };
    let bound = bound(policy.clone(), &invoked);
    let clock = Arc::new(ManualClock::default());
    // The clock stands still while a call begins, so that the moment of each is known.
    let still = RwLock::new(());
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|_| {
            let shared: Arc<dyn Clock> = clock.clone();
            (Session::with_clock(&bound, shared), Mutex::new(Vec::new()))
        })
        .collect();
    let refused = AtomicUsize::new(0);
    let (clock, still, sessions, refused) = (&clock, &still, &sessions, &refused);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    let mut rng = Rng::for_case(62, thread);
                    for _ in 0..50_000 {
                        if rng.chance(1) {
                            let _moving = still.write().unwrap();
                            let ahead = Duration::from_millis(rng.below(700) as u64);
                            clock.move_to(clock.now() + ahead);
                        }
                        let (session, admitted) = &sessions[rng.below(SESSIONS)];
                        let tool = rng.below(3);
                        let call = Call::new(TOOLS[tool], ARGUMENTS[tool][0]);
                        let _still = still.read().unwrap();
                        let now = clock.now();
                        match session.begin(call) {
                            Admission::Ready(ready) => {
                                admitted.lock().unwrap().push((now, tool));
                                let _ = ready.finish(Ok(Answer::Json(Value::Null)));
                            }
                            Admission::Answered(verdict) => {
                                let Err(CallError::Throttled { .. }) = verdict.outcome else {
                                    panic!("{verdict:?}")
                                };
                                refused.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                })
            })
            .collect();
        assert!(workers.into_iter().all(|worker| worker.join().is_ok()));
    });
    assert!(refused.load(Ordering::Relaxed) > 0);
    for (_, admitted) in sessions {
        let admitted = admitted.lock().unwrap();
        assert!(admitted.len() > 500, "{}", admitted.len());
        let mut all: Vec<_> = admitted.iter().map(|(at, _)| *at).collect();
        let limit = policy.all_tools_calls as usize;
        assert!(!exceeds(&mut all, limit, policy.all_tools_window), "calls of all tools");
        for (tool, name) in TOOLS.iter().enumerate() {
            let of = admitted.iter().filter(|(_, other)| *other == tool);
            let mut of: Vec<_> = of.map(|(at, _)| *at).collect();
            let limit = policy.same_tool_calls as usize;
            assert!(!exceeds(&mut of, limit, policy.same_tool_window), "calls of {name}");
        }
    }
}
