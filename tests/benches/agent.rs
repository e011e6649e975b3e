//! What the loop of an agent costs by itself, an iteration: a model that answers at once, and a tool
//! that does nothing, compared with pydantic-ai with the model that it has for tests, in turn.
//!
//! `cargo bench -p gramc-system-tests --bench agent` takes half a minute, and some more the first time: it
//! installs pydantic-ai into `.tools/agents`.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::panic)]

use gramc_language_tests::root;
use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use gramc_agent::model::{Model, ModelRequest, Models, ReplyFuture, StreamSink};
use gramc_agent::{
    AgentTeam, AssistantMessage, Conversation, Limits, Message, ModelCall, Reply, TeamOptions,
};
use gramc_schema::Target;
use gramc_syntax::{SourceFile, parse};
use gramc_system_tests::peers::python_with;
use gramc_tools::implementations::function;
use gramc_tools::throttle::ThrottlePolicy;
use gramc_tools::{Settings, ToolLibrary};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SPEC: &str = r#"
[helper:Agent {instruction: "You add numbers.", model: "bench/model"} |
  [add:Tool {description: "Adds two numbers"} | (a::Int)==>(b::Int)==>(::Int)]
]
"#;
/// How often the contestants take turns, and how many runs each makes in a turn.
const ROUNDS: usize = 7;
const RUNS: u32 = 2_000;
/// A run asks the model twice: once for the call, once for the answer.
const ITERATIONS: f64 = 2.0;

/// Calls the tool when the user speaks, and then says that it did.
#[derive(Debug)]
struct Immediate;

impl Model for Immediate {
    fn target(&self) -> Target {
        Target::OpenAi
    }

    fn name(&self) -> &'static str {
        "bench/model"
    }

    fn send<'a>(&'a self, request: ModelRequest<'a>, _: StreamSink<'a>) -> ReplyFuture<'a> {
        let message = match request.messages.last() {
            Some(Message::User { .. }) => AssistantMessage {
                tool_calls: vec![ModelCall {
                    id: "1".to_owned(),
                    name: "add".to_owned(),
                    arguments: r#"{"a": 1, "b": 2}"#.to_owned(),
                }],
                ..AssistantMessage::default()
            },
            _ => AssistantMessage {
                content: Some("Done.".to_owned()),
                ..AssistantMessage::default()
            },
        };
        Box::pin(std::future::ready(Ok(Reply { message, ..Reply::default() })))
    }
}

fn main() {
    let checked = gramc_check::check(&[parse(SourceFile::new("bench.gram", SPEC))]);
    let module = checked.module.expect("the text has no errors");
    let settings = Settings { throttle: ThrottlePolicy::off(), ..Settings::default() };
    let add = function(|it: Value| {
        let number = |name: &str| it[name].as_i64().unwrap_or_default();
        Ok::<_, String>(json!(number("a") + number("b")))
    });
    let library = ToolLibrary::new("bench").settings(settings).with("add", add);
    let bound = library.bind(&module).expect("the library fits");
    let mut models = Models::new(|_| None, ".");
    let model: Arc<dyn Model> = Arc::new(Immediate);
    models.add(&model);
    let crew = AgentTeam::new(&module, "helper", &bound, &mut models, &TeamOptions::default());
    let crew = Arc::new(crew.expect("the agent can run"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");

    let run = || {
        runtime.block_on(async {
            let mut conversation = Conversation::new(&crew, Limits::default());
            let turn = conversation.turn("1 and 2", &(), &CancellationToken::new()).await;
            assert!(turn.is_answered() && turn.calls == 1 && turn.iterations == 2);
            black_box(turn);
        });
    };
    let python = python_with("agents", "pydantic_ai", "pydantic-ai-slim==2.68.0");
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..RUNS {
            run();
        }
        own.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(RUNS) / ITERATIONS);
        let script = root().join("tests/real/agents_bench.py");
        let output = Command::new(&python).arg(script).output().expect("python starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        other.push(text.trim().parse::<f64>().expect("a number"));
    }
    let tell = |name: &str, times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        let (median, least) = (times[times.len() / 2], times[0]);
        println!("{name:14} {median:9.1} µs an iteration (least {least:.1})");
        median
    };
    let (own, other) = (tell("gramc", &mut own), tell("pydantic-ai", &mut other));
    println!("{:.0} times", other / own);
}
