//! How long a call takes from the text of its arguments to what an implementation receives, beside
//! `serde_json`, the crate `jsonschema` and pydantic, which read and check the same texts.
//!
//! In the workspace, `serde_json` keeps the order of keys and all digits of numbers, which makes it
//! slower than it need be. So it and `jsonschema` are measured in a program of their own
//! (`tests/benches/plain`), with their default features; it runs in turn with what is measured
//! here. `cargo bench -p gramc-system-tests --bench calls` takes about two minutes, and some more the
//! first time.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::panic)]

use std::cell::Cell;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gramc_calls::check::{Policy, Rejection, ToolCheck};
use gramc_calls::names::{KnownName, NameIndex};
use gramc_check::Valid;
use gramc_model::Module;
use gramc_syntax::{SourceFile, parse};
use gramc_tools::clock::ManualClock;
use gramc_tools::implementations::function;
use gramc_tools::invocation::Answer;
use gramc_tools::{Admission, Call, Session, ToolLibrary};
use serde_json::Value;

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What is measured.
type Work<'w> = Box<dyn Fn() + 'w>;

/// How often the contestants take turns, and how often each does its work in a turn.
const ROUNDS: usize = 9;
const INNER: u32 = 20_000;

/// A typical tool: five parameters, one of them an object with a list.
const TOOL: &str = include_str!("calls/tool.gram");

/// The calls, which `tests/benches/plain` and `tests/real/pydantic_calls.py` have, too.
const GOOD: &str = include_str!("calls/good.json");
const MENDED: &str = include_str!("calls/mended.json");
const BAD: &str = include_str!("calls/bad.json");

fn module(text: &str) -> Valid<Module> {
    let checked = gramc_check::check(&[parse(SourceFile::new("bench.gram", text))]);
    checked.module.expect("the text has no errors")
}

fn main() {
    let module = module(TOOL);
    let check = ToolCheck::of_tool(&module.types, &module.tools[0]).expect("a schema");
    let policy = Policy::default();
    prove(&check, policy);

    let library = ToolLibrary::new("bench")
        .with("searchIssues", function(|_: Value| Ok::<_, String>(Value::Null)));
    let bound = library.bind(&module).expect("the library fits");
    let clock = Arc::new(ManualClock::default());
    let session = Session::with_clock(&bound, clock.clone());
    let seconds = Cell::new(0_u64);

    let others = Others::start();
    let mut own: [(&str, Work<'_>); 5] = [
        ("good call", Box::new(|| drop(black_box(check.check(black_box(GOOD), policy))))),
        ("mended call", Box::new(|| drop(black_box(check.check(black_box(MENDED), policy))))),
        ("bad call", Box::new(|| drop(black_box(check.check(black_box(BAD), policy))))),
        (
            "bad call, told",
            Box::new(|| match check.check(black_box(BAD), policy) {
                Err(Rejection::Invalid(invalid)) => drop(black_box(invalid.problems())),
                _ => panic!("the call is refused"),
            }),
        ),
        (
            "pipeline",
            Box::new(|| {
                seconds.set(seconds.get() + 10);
                clock.move_to(Duration::from_secs(seconds.get()));
                match black_box(session.begin(Call::new("searchIssues", black_box(GOOD)))) {
                    Admission::Ready(ready) => drop(ready.finish(Ok(Answer::Json(Value::Null)))),
                    Admission::Answered(verdict) => panic!("{}", verdict.json()),
                }
            }),
        ),
    ];
    let mut times: Vec<(String, Vec<f64>)> = Vec::new();
    let mut note = |name: &str, time: f64| match times.iter_mut().find(|(known, _)| known == name) {
        Some((_, all)) => all.push(time),
        None => times.push((name.to_owned(), vec![time])),
    };
    for _ in 0..ROUNDS {
        for (name, work) in &mut own {
            note(name, nanoseconds(work));
        }
        for (name, time) in others.round() {
            note(&name, time);
        }
    }
    println!("{:32} {:>9} {:>9}", "a call, in nanoseconds", "median", "least");
    for (name, all) in &mut times {
        all.sort_by(f64::total_cmp);
        println!("{name:32} {:9.0} {:9.0}", all[all.len() / 2], all[0]);
    }
    names();
    binding();
}

/// What the bench measures is what it says: the calls come out as they should.
fn prove(check: &ToolCheck, policy: Policy) {
    let good = check.check(GOOD, policy).expect("the good call fits");
    assert!(good.repairs.is_empty() && good.stripped.is_empty());
    let mended = check.check(MENDED, policy).expect("the call can be mended");
    assert!(!mended.repairs.is_empty() && !mended.stripped.is_empty());
    assert!(mended.arguments.contains("\"limit\":30"), "{}", mended.arguments);
    match check.check(BAD, policy) {
        Err(Rejection::Invalid(invalid)) => assert_eq!(invalid.count(), 6),
        other => panic!("six errors are found, not {other:?}"),
    }
}

fn nanoseconds(work: &dyn Fn()) -> f64 {
    let start = Instant::now();
    for _ in 0..INNER {
        work();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(INNER)
}

/// The programs that measure others.
struct Others {
    plain: PathBuf,
    python: PathBuf,
    script: PathBuf,
}

impl Others {
    fn start() -> Self {
        let tests = gramc_language_tests::root().join("tests");
        let folder = tests.join("benches/plain");
        let built = Command::new("cargo")
            .args(["build", "--release", "--quiet", "--locked", "--target-dir", "target"])
            .current_dir(&folder)
            .status()
            .expect("cargo starts");
        assert!(built.success(), "tests/benches/plain is built");
        let python = gramc_language_tests::root().join(".tools/python/bin/python");
        assert!(python.exists(), "pydantic is missing: tests/real/install installs it");
        let plain = folder.join("target/release/plain");
        Self { plain, python, script: tests.join("real/pydantic_calls.py") }
    }

    /// One round: names and nanoseconds.
    fn round(&self) -> Vec<(String, f64)> {
        let mut all = told(&mut Command::new(&self.plain));
        all.extend(told(Command::new(&self.python).arg(&self.script)));
        all
    }
}

/// What a program tells: a name and nanoseconds a line.
fn told(command: &mut Command) -> Vec<(String, f64)> {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it writes text");
    let line = |line: &str| {
        let (name, time) = line.rsplit_once(' ')?;
        Some((name.to_owned(), time.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// Suggestions among ten thousand tools.
fn names() {
    let all: Vec<String> = (0..10_000)
        .map(|at| {
            let verb = ["get", "list", "create", "delete", "search"][at % 5];
            let noun = ["Issue", "File", "Branch", "User", "Comment", "Release", "Page"][at % 7];
            format!("{verb}{noun}{at}")
        })
        .collect();
    let names = NameIndex::new(all.iter().map(|name| KnownName { name, ..KnownName::default() }));
    let mut slowest = 0.0_f64;
    for asked in ["get_file", "fileGet17", "crateIssue", "container.exec", "deleteBranhc42", "zzz"]
    {
        let start = Instant::now();
        for _ in 0..20 {
            black_box(names.suggest(black_box(asked), 5));
        }
        let time = start.elapsed().as_secs_f64() * 1e3 / 20.0;
        slowest = slowest.max(time);
        println!("suggest among 10,000: {asked:16} {time:.3} ms");
    }
    println!("suggest among 10,000: slowest          {slowest:.3} ms");
}

/// A hundred thousand tools, bound.
fn binding() {
    let mut text = String::new();
    for at in 0..100_000 {
        let tool =
            format!("[tool{at}:Tool | (path::Text)==>(limit::Int {{default: 5}})==>(::Any)]\n");
        text.push_str(&tool);
    }
    let module = module(&text);
    let shared = function(|_: Value| Ok::<_, String>(Value::Null));
    let mut library = ToolLibrary::new("many");
    for at in 0..100_000 {
        library = library.with(format!("tool{at}"), shared.clone());
    }
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            let bound = library.bind(&module).expect("the library fits");
            let time = start.elapsed().as_secs_f64();
            drop(black_box(bound));
            time
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("bind 100,000 tools: {:.0} ms", times[2] * 1e3);
    let session = Session::new(&library.bind(&module).expect("the library fits"));
    match session.begin(Call::new("tool77777", r#"{"path":"a"}"#)) {
        Admission::Ready(_) => {}
        Admission::Answered(verdict) => panic!("{}", verdict.json()),
    }
}
