//! Runs as spans of OpenTelemetry, as a collector gets them over a real socket.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prost::Message as _;
use serde_json::{Value, json};

use crate::model_server::{Answer, Server, calls, message, says};
use crate::support::{Folder, Gramc, folder, gramc};

use self::otlp::{
    AnyValue, AnyValueKind, ExportMetricsServiceRequest, ExportTraceServiceRequest, KeyValue,
    SpanKind, StatusCode,
};

mod calls;
mod otlp;

/// The head and the body of a request.
type Request = (String, Vec<u8>);

/// A collector, for as long as the test runs.
struct Collector {
    port: u16,
    /// What came.
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Collector {
    /// One that answers with a status; with none, it never does.
    fn start(status: Option<u16>) -> Self {
        Self::start_with(move |_| status)
    }

    /// One that has a single path.
    fn start_for(path: &'static str) -> Self {
        Self::start_with(move |head| Some(if head.contains(path) { 200 } else { 404 }))
    }

    fn start_with(status: impl Fn(&str) -> Option<u16> + Copy + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has one").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || {
                    let Some(request) = request(&mut stream) else { return };
                    let status = status(&request.0);
                    seen.lock().expect("nobody panics with it").push(request);
                    let Some(status) = status else {
                        return std::thread::sleep(Duration::from_mins(1));
                    };
                    let head = format!(
                        "HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                    );
                    drop(stream.write_all(head.as_bytes()));
                });
            }
        });
        Self { port, requests }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("nobody panics with it").clone()
    }

    /// All bytes that came.
    fn bytes(&self) -> String {
        let bodies = self.requests().into_iter().map(|(_, body)| body).collect::<Vec<_>>();
        String::from_utf8_lossy(&bodies.concat()).into_owned()
    }

    fn spans(&self) -> Vec<Span> {
        let mut all = Vec::new();
        for (head, body) in self.requests() {
            if head.starts_with("POST /v1/metrics ") {
                continue;
            }
            let sent = ExportTraceServiceRequest::decode(&*body).expect("it is the protocol");
            for spans in sent.resource_spans {
                let resource = attributes(spans.resource.expect("there is one").attributes);
                let scopes = spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
                all.extend(scopes.map(|span| Span {
                    id: span.span_id,
                    parent: span.parent_span_id,
                    trace_state: span.trace_state,
                    trace: span.trace_id,
                    kind: span.kind,
                    failed: span.status.is_some_and(|it| it.code() == StatusCode::Error),
                    began: span.start_time_unix_nano,
                    ended: span.end_time_unix_nano,
                    attributes: attributes(span.attributes),
                    resource: resource.clone(),
                    name: span.name,
                }));
            }
        }
        all
    }

    /// The histograms of the last request with metrics, one for each combination of attributes.
    fn histograms(&self) -> Vec<Histogram> {
        let is_metrics = |(head, _): &Request| head.starts_with("POST /v1/metrics ");
        let Some((_, body)) = self.requests().into_iter().rfind(is_metrics) else {
            return Vec::new();
        };
        let sent = ExportMetricsServiceRequest::decode(&*body).expect("it is the protocol");
        let mut all = Vec::new();
        for metrics in sent.resource_metrics {
            let resource = attributes(metrics.resource.expect("there is one").attributes);
            assert!(resource.contains_key("service.name"), "{resource:?}");
            for metric in metrics.scope_metrics.into_iter().flat_map(|scope| scope.metrics) {
                assert_eq!(metric.unit, "s");
                let histogram = metric.histogram.expect("it is a histogram");
                assert_eq!(histogram.aggregation_temporality, 2, "it is cumulative");
                for point in histogram.data_points {
                    assert!(point.start_time_unix_nano <= point.time_unix_nano);
                    assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
                    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
                    all.push(Histogram {
                        name: metric.name.clone(),
                        count: point.count,
                        sum: point.sum,
                        counts: point.bucket_counts,
                        bounds: point.explicit_bounds,
                        attributes: attributes(point.attributes),
                    });
                }
            }
        }
        all
    }
}

/// The durations of operations with the same attributes.
#[derive(Debug)]
struct Histogram {
    name: String,
    count: u64,
    sum: f64,
    counts: Vec<u64>,
    bounds: Vec<f64>,
    attributes: BTreeMap<String, Value>,
}

/// Reads a request.
fn request(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut part = [0; 16 * 1024];
    loop {
        let read = stream.read(&mut part).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&part[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let lower = head.to_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"))?;
        let length: usize = length.trim().parse().ok()?;
        if bytes.len() >= end + 4 + length {
            return Some((head, bytes[end + 4..end + 4 + length].to_vec()));
        }
    }
}

struct Span {
    name: String,
    id: Vec<u8>,
    parent: Vec<u8>,
    trace_state: String,
    trace: Vec<u8>,
    kind: i32,
    failed: bool,
    began: u64,
    ended: u64,
    attributes: BTreeMap<String, Value>,
    resource: BTreeMap<String, Value>,
}

fn attributes(all: Vec<KeyValue>) -> BTreeMap<String, Value> {
    let value = |value: AnyValueKind| match value {
        AnyValueKind::String(text) => json!(text),
        AnyValueKind::Int(number) => json!(number),
        AnyValueKind::Double(number) => json!(number),
        AnyValueKind::Bool(is) => json!(is),
        AnyValueKind::Array(all) => {
            let text = |value: AnyValue| match value.value {
                Some(AnyValueKind::String(text)) => json!(text),
                other => panic!("nobody sends {other:?}"),
            };
            all.values.into_iter().map(text).collect()
        }
    };
    let pair = |it: KeyValue| Some((it.key, value(it.value?.value?)));
    all.into_iter().filter_map(pair).collect()
}

/// The names of spans, each below the one that it belongs to, in the order of their beginning.
fn tree(spans: &[Span], parent: &[u8], depth: usize, out: &mut Vec<String>) {
    let mut below: Vec<_> = spans.iter().filter(|span| span.parent == parent).collect();
    below.sort_by_key(|span| span.began);
    for span in below {
        out.push(format!("{}{}", "  ".repeat(depth), span.name));
        tree(spans, &span.id, depth + 1, out);
    }
}

fn names(spans: &[Span]) -> String {
    let mut out = Vec::new();
    tree(spans, &[], 0, &mut out);
    out.join("\n")
}

fn one<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{}", names(spans)))
}

const SPEC: &str = r#"
[keeper:Agent {model: "openai/any", temperature: 0.5, maxTokens: 100} |
  [login:Tool | (user::Text)==>(password::Text {secret: true})==>(::Any)]
]
[echoes:Library | (login:Builtin {name: "echo"})]
"#;

/// A model that logs in, calls what is not there, and says that it is in.
fn keeper() -> Server {
    Server::start(|at, request| match at {
        0 => Answer::Json(503, Vec::new(), json!({"error": {"message": "overloaded"}})),
        1 => {
            let login = r#"{"user": "ada", "password": "hunter2hunter2"}"#;
            calls(request, &[("login", login), ("logout", "{}")])
        }
        _ => says(request, "You are in with hunter2hunter2."),
    })
}

fn run(files: &Folder, server: &Server, collector: &str) -> Gramc {
    let run = gramc("run spec.gram Log_me_in --library echoes").within(files.path());
    let run = run.env("OPENAI_BASE_URL", &server.url()).env("OPENAI_API_KEY", "a-model-key");
    run.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
}

#[test]
fn a_run_is_sent_as_spans() {
    let (files, server, collector) =
        (folder(&[("spec.gram", SPEC)]), keeper(), Collector::start(Some(200)));
    let run = run(&files, &server, &collector.url());
    let run = run.env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20a-collector-key");
    let run = run.env("OTEL_SERVICE_NAME", "greetings").env("OTEL_RESOURCE_ATTRIBUTES", "a.b=c");
    let run = run.run().exits(0);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    let (head, _) = collector.requests().remove(0);
    assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
    assert!(head.contains("Bearer a-collector-key"), "{head}");
    assert!(head.contains("application/x-protobuf"), "{head}");

    let spans = collector.spans();
    assert_eq!(
        names(&spans),
        "invoke_agent keeper\n  chat any\n  chat any\n  execute_tool login\n  \
         execute_tool logout\n  chat any"
    );
    let turn = one(&spans, "invoke_agent keeper");
    assert!(spans.iter().all(|span| span.trace == turn.trace && !span.trace.is_empty()));
    assert!(spans.iter().all(|span| span.began <= span.ended && span.began >= turn.began));
    assert_eq!(turn.resource["service.name"], "greetings");
    assert_eq!(turn.resource["a.b"], "c");
    assert_eq!((turn.kind, turn.failed), (SpanKind::Internal as i32, false));
    let known = |span: &Span, pairs: &[(&str, Value)]| {
        for (key, value) in pairs {
            assert_eq!(span.attributes.get(*key), Some(value), "{key} of {}", span.name);
        }
    };
    known(
        turn,
        &[
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.provider.name", json!("openai")),
            ("gen_ai.agent.name", json!("keeper")),
            ("gen_ai.request.model", json!("any")),
            ("gen_ai.usage.input_tokens", json!(40)),
            ("gen_ai.usage.output_tokens", json!(10)),
        ],
    );
    let mut chats: Vec<_> = spans.iter().filter(|span| span.name == "chat any").collect();
    chats.sort_by_key(|span| span.began);
    let conversation = turn.attributes["gen_ai.conversation.id"].clone();
    for chat in &chats {
        assert_eq!(chat.kind, SpanKind::Client as i32);
        known(
            chat,
            &[
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.provider.name", json!("openai")),
                ("gen_ai.request.model", json!("any")),
                ("gen_ai.request.temperature", json!(0.5)),
                ("gen_ai.request.max_tokens", json!(100)),
                ("gen_ai.request.stream", json!(true)),
                ("gen_ai.conversation.id", conversation.clone()),
            ],
        );
    }
    // The first request failed, and the second one began after a while.
    known(chats[0], &[("error.type", json!("unavailable"))]);
    assert!(chats[0].failed && !chats[1].failed);
    assert!(chats[1].began >= chats[0].ended + 500_000_000, "it waited");
    known(
        chats[1],
        &[
            ("gen_ai.usage.input_tokens", json!(20)),
            ("gen_ai.usage.output_tokens", json!(5)),
            ("gen_ai.response.finish_reasons", json!(["tool_call"])),
        ],
    );
    let login = one(&spans, "execute_tool login");
    assert!(!login.failed && !login.attributes.contains_key("error.type"));
    known(
        login,
        &[
            ("gen_ai.operation.name", json!("execute_tool")),
            ("gen_ai.tool.name", json!("login")),
            ("gen_ai.tool.call.id", json!("c0")),
            ("gen_ai.tool.type", json!("function")),
        ],
    );
    let logout = one(&spans, "execute_tool logout");
    assert!(logout.failed);
    // Each request of the model is measured.
    let mut histograms = collector.histograms();
    histograms.sort_by_key(|it| it.attributes.contains_key("error.type"));
    let counts: Vec<_> = histograms.iter().map(|it| (it.name.as_str(), it.count)).collect();
    let name = "gen_ai.client.operation.duration";
    assert_eq!(counts, [(name, 2), (name, 1)]);
    assert_eq!(histograms[0].bounds[..3], [0.01, 0.02, 0.04]);
    let mut expected = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "any",
    });
    assert_eq!(json!(histograms[0].attributes), expected);
    expected["error.type"] = "unavailable".into();
    assert_eq!(json!(histograms[1].attributes), expected);
    known(logout, &[("error.type", json!("unknown_tool"))]);
    // Nothing of what was said, called or answered is sent, nor any key.
    for word in ["hunter2", "Log_me_in", "ada", "You are in", "a-model-key", "a-collector-key"] {
        assert!(!collector.bytes().contains(word), "{word}");
    }
}

#[test]
fn what_is_said_is_sent_on_request_without_secrets() {
    let (files, server, collector) =
        (folder(&[("spec.gram", SPEC)]), keeper(), Collector::start(Some(200)));
    let run = run(&files, &server, "http://127.0.0.1:1");
    // The address for traces alone is taken as it is.
    let run = run.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{}/here", collector.url()));
    let run = run.env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    run.run().exits(0);
    assert!(collector.requests()[0].0.starts_with("POST /here HTTP/1.1"));
    let spans = collector.spans();
    let parsed = |span: &Span, key: &str| -> Value {
        let text = span.attributes[key].as_str().expect("it is text");
        serde_json::from_str(text).expect("it is JSON")
    };
    let mut chats: Vec<_> = spans.iter().filter(|span| span.name == "chat any").collect();
    chats.sort_by_key(|span| span.began);
    let tools = parsed(chats[1], "gen_ai.tool.definitions");
    assert_eq!(tools, json!([{"type": "function", "name": "login"}]));
    let said = parsed(chats[1], "gen_ai.output.messages");
    assert_eq!(said[0]["finish_reason"], "tool_call");
    let part = &said[0]["parts"][0];
    assert_eq!((&part["type"], &part["name"]), (&json!("tool_call"), &json!("login")));
    assert_eq!(part["arguments"], json!({"user": "ada", "password": "***"}));
    let heard = parsed(chats[2], "gen_ai.input.messages");
    assert_eq!(
        heard[0],
        json!({"role": "user", "parts": [{"type": "text", "content": "Log_me_in"}]})
    );
    assert_eq!(heard[2]["parts"][0]["type"], "tool_call_response");
    let login = one(&spans, "execute_tool login");
    let arguments = parsed(login, "gen_ai.tool.call.arguments");
    assert_eq!(arguments, json!({"user": "ada", "password": "***"}));
    let instruction = parsed(chats[0], "gen_ai.system_instructions");
    assert!(instruction[0]["content"].as_str().is_some_and(|it| it.contains("About your tools")));
    assert!(!collector.bytes().contains("hunter2"));
}

#[test]
fn agents_that_are_called_have_their_turn_inside_the_call() {
    let spec = r#"
[chief:Agent {model: "openai/any", instruction: "You are the chief."} | clerk]
[clerk:Agent {model: "openai/small", description: "Adds", instruction: "You are the clerk."} |
  [add:Tool | (a::Int)==>(b::Int)==>(::Int)]
]
[works:Library | (add:Builtin)]
"#;
    let server = Server::start(|_, request| {
        let messages = request["messages"].as_array().expect("there are messages");
        let last = messages.last().expect("there is one");
        let chief = messages[0]["content"].as_str().is_some_and(|it| it.contains("the chief"));
        match (chief, last["role"].as_str()) {
            // One agent twice at once: their turns are told apart.
            (true, Some("user")) => {
                let clerk = ("clerk", r#"{"message": "1 and 2"}"#);
                calls(request, &[clerk, clerk])
            }
            (false, Some("user")) => calls(request, &[("add", r#"{"a": 1, "b": 2}"#)]),
            _ => says(request, "3"),
        }
    });
    let collector = Collector::start(Some(200));
    let files = folder(&[("spec.gram", spec)]);
    let run = gramc("run spec.gram Add --library works --trace trace.jsonl").within(files.path());
    let run = run.env("OPENAI_BASE_URL", &server.url());
    run.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url()).run().exits(0);
    let spans = collector.spans();
    let clerk = "  execute_tool clerk\n    invoke_agent clerk\n      chat small\n      \
                 execute_tool add\n      chat small\n";
    let expected = format!("invoke_agent chief\n  chat any\n{clerk}{clerk}  chat any");
    assert_eq!(names(&spans), expected);
    // A client without identity sees all of it.
    let trace = files.read("trace.jsonl");
    let of_clerk = trace.lines().filter(|line| line.contains("\"agent\":\"clerk\""));
    assert_eq!(of_clerk.count(), 2 * 5, "{trace}");
}

#[test]
fn a_turn_that_ends_badly_says_why() {
    let files = folder(&[("spec.gram", SPEC)]);
    for (answer, options, turn, chat) in [
        (None, "--time-limit 1", "timeout", Some("timeout")),
        (Some("unknown"), "--max-iterations 2", "iterations", None),
    ] {
        let server = Server::start(move |_, request| match answer {
            None => Answer::Silence,
            Some(tool) => message(
                request,
                &json!({"role": "assistant", "content": null, "tool_calls": [{
                    "id": "1", "type": "function", "function": {"name": tool, "arguments": "{}"},
                }]}),
            ),
        });
        let collector = Collector::start(Some(200));
        run(&files, &server, &collector.url()).args(options).run().exits(1);
        let spans = collector.spans();
        let root = one(&spans, "invoke_agent keeper");
        assert_eq!((&root.attributes["error.type"], root.failed), (&json!(turn), true));
        let last = one(&spans, "chat any").attributes.get("error.type").cloned();
        assert_eq!(last, chat.map(|it| json!(it)));
    }
}

#[test]
fn spans_name_the_model_that_replaces_another_one() {
    let spec = SPEC.replace("model: \"openai/any\"", "models: [\"openai/any\", \"ollama/own\"]");
    let files = folder(&[("spec.gram", &spec)]);
    let first = Server::start(|_, _| {
        Answer::Json(404, Vec::new(), json!({"error": {"message": "no such model"}}))
    });
    let second = Server::start(|_, request| says(request, "Hello."));
    let collector = Collector::start(Some(200));
    let run = run(&files, &first, &collector.url()).env("OLLAMA_BASE_URL", &second.url());
    run.arg("Again").run().exits(0);
    let spans = collector.spans();
    let turn = "invoke_agent keeper\n  chat ";
    assert_eq!(names(&spans), format!("{turn}any\n  chat own\n{turn}own"));
    let failed = one(&spans, "chat any");
    assert_eq!((&failed.attributes["error.type"], failed.failed), (&json!("unknown-model"), true));
    for span in spans.iter().filter(|span| span.name == "chat own") {
        assert_eq!(span.attributes["gen_ai.provider.name"], "ollama");
        assert_eq!(span.attributes["gen_ai.request.model"], "own");
    }
}

#[test]
fn a_turn_without_a_complete_reply_says_why() {
    let files = folder(&[("spec.gram", SPEC)]);
    let server = Server::start(|_, _| {
        let message = json!({"role": "assistant", "content": "Half"});
        let choice = json!({"index": 0, "message": message, "finish_reason": "length"});
        Answer::Json(200, Vec::new(), json!({"choices": [choice]}))
    });
    let collector = Collector::start(Some(200));
    run(&files, &server, &collector.url()).args("--no-stream").run().exits(1);
    let spans = collector.spans();
    let root = one(&spans, "invoke_agent keeper");
    assert_eq!((&root.attributes["error.type"], root.failed), (&json!("truncated"), true));
    let chats: Vec<_> = spans.iter().filter(|span| span.name == "chat any").collect();
    assert_eq!(chats.len(), 3);
    for chat in chats {
        assert_eq!(chat.attributes["gen_ai.response.finish_reasons"], json!(["length"]));
        assert!(!chat.failed);
    }
}

#[test]
fn a_collector_that_does_not_do_keeps_no_run_from_its_end() {
    let files = folder(&[("spec.gram", SPEC)]);
    let warned = |url: &str, variables: &[(&str, &str)], words: &[&str]| {
        let server = Server::start(|_, request| says(request, "Hello."));
        let run = run(&files, &server, url);
        let run = variables.iter().fold(run, |run, (name, value)| run.env(name, value)).run();
        let run = run.exits(0).says(words);
        assert_eq!(run.stdout, "Hello.\n");
        assert!(!run.stderr.contains("a-password"), "{}", run.stderr);
        run
    };
    // Nobody is there.
    let nobody = "cannot export 2 spans to the collector at http://127.0.0.1:1/v1/traces";
    let refused = "connection refused";
    warned("http://someone:a-password@127.0.0.1:1", &[], &["warning: ", nobody, refused]);
    // It refuses.
    let collector = Collector::start(Some(401));
    warned(&collector.url(), &[], &["warning: cannot export 2 spans", "HTTP status 401"]);
    // It hangs.
    let collector = Collector::start(None);
    warned(&collector.url(), &[], &["warning: the collector at http://127.0.0.1:"]);
    // There is none.
    let wrong = "warning: telemetry is not exported: invalid collector address";
    warned("a-password", &[], &[wrong]);
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    warned(
        "http://127.0.0.1:1",
        &[grpc],
        &["unsupported protocol `grpc` in OTEL_EXPORTER_OTLP_PROTOCOL"],
    );
    // It has no metrics.
    let collector = Collector::start_for("/v1/traces");
    let wrong = "warning: cannot export metrics to the collector at http://127.0.0.1:";
    let off =
        "/v1/metrics: HTTP status 404 Not Found (OTEL_METRICS_EXPORTER=none turns metrics off)";
    warned(&collector.url(), &[], &[wrong, off]);
    let run = warned(&collector.url(), &[("OTEL_METRICS_EXPORTER", "none")], &[]);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    assert_eq!(collector.requests().len(), 3);
    // Nobody wants any.
    let collector = Collector::start(Some(200));
    let run = warned(&collector.url(), &[("OTEL_SDK_DISABLED", "true")], &[]);
    assert!(!run.stderr.contains("warning") && collector.requests().is_empty());
}
