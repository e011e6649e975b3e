//! Calls of MCP clients as spans and metrics, and their traces across processes.

use serde_json::{Value, json};

use super::otlp::SpanKind;
use super::{Collector, Histogram, Span, one};
use crate::mcp::{Serving, Speaking, hello};
use crate::support::{Folder, binary, folder, gramc};

/// A server with tools that return the metadata of the call, and that fail in different ways.
const SERVER: &str = r#"
import json, sys, time
SCHEMA = {"type": "object", "properties": {}}
def answer(method, params):
    if method == "initialize":
        return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                           "serverInfo": {"name": "meta", "version": "1"}}}
    if method == "tools/list":
        names = ["get-meta", "fail", "refuse", "wait"]
        return {"result": {"tools": [{"name": name, "inputSchema": SCHEMA} for name in names]}}
    if params["name"] == "refuse":
        return {"error": {"code": -32042, "message": "sign in first"}}
    if params["name"] == "wait":
        time.sleep(1)
    text = json.dumps(params.get("_meta"))
    return {"result": {"content": [{"type": "text", "text": text}], "isError": params["name"] == "fail"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        message = {"id": message["id"], **answer(message["method"], message.get("params", {}))}
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
"#;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn server() -> Folder {
    folder(&[("server.py", SERVER)])
}

/// A guard of the server, with variables such as `OTEL_SDK_DISABLED=true`.
fn guard(folder: &Folder, collector: &Collector, variables: &[&str]) -> Speaking {
    let endpoint = format!("OTEL_EXPORTER_OTLP_ENDPOINT={}", collector.url());
    let gramc = binary().to_str().expect("a path");
    let words = [variables, &[&endpoint, gramc, "mcp", "--command", "python3 server.py"]].concat();
    Speaking::start("env", &words, folder.path())
}

/// Calls a tool with metadata, and gives the answer.
fn call(guard: &mut Speaking, tool: &str, meta: &Value) -> Value {
    guard.ask("tools/call", &json!({"name": tool, "arguments": {}, "_meta": meta}))
}

/// The metadata that the server got.
fn meta_of_server(guard: &mut Speaking, meta: &Value) -> Value {
    let answer = call(guard, "get-meta", meta);
    let text = answer["result"]["content"][0]["text"].as_str().expect("it is text").to_owned();
    let mut meta: Value = serde_json::from_str(&text).expect("it is JSON");
    // The guard has one of its own.
    meta.as_object_mut().expect("it is an object").shift_remove("progressToken");
    meta
}

fn parent(flags: &str) -> String {
    format!("00-{TRACE}-{PARENT}-{flags}")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The `traceparent` of the spans inside a span.
fn inside(span: &Span) -> String {
    format!("00-{}-{}-01", hex(&span.trace), hex(&span.id))
}

fn counts(histograms: &[Histogram]) -> Vec<(Option<&str>, Option<&str>, u64)> {
    let mut counts: Vec<_> = histograms
        .iter()
        .map(|it| {
            let text = |key| it.attributes.get(key).and_then(Value::as_str);
            (text("gen_ai.tool.name"), text("error.type"), it.count)
        })
        .collect();
    counts.sort_unstable();
    counts
}

#[test]
fn calls_of_mcp_clients_are_sent_as_spans_and_metrics() {
    let collector = Collector::start(Some(200));
    let request = |id: u32, method: &str, params: &Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let call = |id: u32, name: &str, arguments: Value| {
        request(id, "tools/call", &json!({"name": name, "arguments": arguments}))
    };
    let messages = [
        request(1, "initialize", &hello()),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        call(2, "sayHello", json!({"personName": "a-private-name"})),
        call(3, "sayHello", json!({"personName": 42})),
        call(4, "a-name-of-the-client", json!({})),
    ];
    gramc("mcp examples/hello-world.gram --library examples/friendly.gram")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
        .env("OTEL_SERVICE_NAME", "guard")
        .input(messages.map(|message| message + "\n").concat())
        .run()
        .clean();
    let mut spans = collector.spans();
    spans.sort_by_key(|span| span.attributes["jsonrpc.request.id"].to_string());
    let said: Vec<_> = spans.iter().map(|span| (span.name.as_str(), span.failed)).collect();
    let name = "tools/call sayHello";
    assert_eq!(said, [(name, false), (name, true), ("tools/call", true)]);
    for span in &spans {
        assert_eq!(span.resource["service.name"], "guard");
        assert_eq!(span.kind, SpanKind::Server as i32);
        assert!(span.parent.is_empty() && span.began <= span.ended);
    }
    let mut expected = json!({
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2025-11-25",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "sayHello",
        "jsonrpc.request.id": "2",
        "network.transport": "pipe",
    });
    assert_eq!(json!(spans[0].attributes), expected);
    expected["jsonrpc.request.id"] = "3".into();
    expected["error.type"] = "tool_error".into();
    expected["gramc.error_type"] = "validation_error".into();
    assert_eq!(json!(spans[1].attributes), expected);
    assert_eq!(spans[2].attributes["gramc.error_type"], "unknown_tool");
    // Neither arguments nor names that the client made up.
    for word in ["a-private-name", "a-name-of-the-client"] {
        assert!(!collector.bytes().contains(word), "{word}");
    }

    let histograms = collector.histograms();
    let (tool, error) = (Some("sayHello"), Some("tool_error"));
    assert_eq!(counts(&histograms), [(None, error, 1), (tool, None, 1), (tool, error, 1)]);
    for histogram in &histograms {
        assert_eq!(histogram.name, "mcp.server.operation.duration");
        assert_eq!(
            histogram.bounds,
            [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0]
        );
        assert!(histogram.sum > 0.0 && histogram.sum < 10.0, "{histogram:?}");
        assert!(!histogram.attributes.contains_key("jsonrpc.request.id"));
    }
    let ran = histograms.iter().find(|it| !it.attributes.contains_key("error.type"));
    let ran = ran.expect("one call succeeded");
    let at = ran.bounds.iter().position(|bound| ran.sum <= *bound).expect("it is short");
    assert_eq!(ran.counts[at], 1, "{ran:?}");
}

#[test]
fn a_trace_goes_on_through_the_guard() {
    let (folder, collector) = (server(), Collector::start(Some(200)));
    let mut guard = guard(&folder, &collector, &[]);
    let given = json!({
        "vendor.example/key": {"b": 1, "a": [2]},
        "traceparent": parent("01"),
        "tracestate": "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
        "baggage": "userId=alice",
    });
    let got = meta_of_server(&mut guard, &given);
    // A context that is no one begins a new trace, without the state of another one.
    let wrong = json!({"traceparent": "00-1-2-3", "tracestate": "rojo=1", "a": 1});
    let begun = meta_of_server(&mut guard, &wrong);
    let none = meta_of_server(&mut guard, &json!({}));
    assert_eq!(call(&mut guard, "fail", &json!({}))["result"]["isError"], true);
    assert_eq!(call(&mut guard, "refuse", &json!({}))["error"]["code"], -32042);
    assert_eq!(guard.end(), Some(0));

    let mut spans = collector.spans();
    spans.sort_by_key(|span| span.began);
    let [first, second, third, failed, refused] = &spans[..] else { panic!("{}", spans.len()) };
    assert_eq!((hex(&first.trace), hex(&first.parent)), (TRACE.to_owned(), PARENT.to_owned()));
    assert_eq!(first.trace_state, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    let mut expected = given;
    expected["traceparent"] = inside(first).into();
    assert_eq!(got.to_string(), expected.to_string());
    assert_ne!(hex(&second.trace), TRACE);
    assert!(second.parent.is_empty() && second.trace_state.is_empty());
    assert_eq!(begun.to_string(), json!({"traceparent": inside(second), "a": 1}).to_string());
    assert_eq!(none, json!({"traceparent": inside(third)}));
    assert_eq!(first.name, "tools/call get-meta");
    assert_eq!(first.attributes["gen_ai.tool.name"], "get-meta");
    assert_eq!((failed.failed, &failed.attributes["error.type"]), (true, &json!("tool_error")));
    assert_eq!((refused.failed, &refused.attributes["error.type"]), (true, &json!("-32042")));
    assert_eq!(refused.attributes["rpc.response.status_code"], "-32042");
    let ok = (Some("get-meta"), None, 3);
    let (failed, refused) = (("fail", "tool_error"), ("refuse", "-32042"));
    let [failed, refused] = [failed, refused].map(|(tool, error)| (Some(tool), Some(error), 1));
    assert_eq!(counts(&collector.histograms()), [failed, ok, refused]);
}

#[test]
fn guards_behind_guards_are_one_trace() {
    let (folder, collector) = (server(), Collector::start(Some(200)));
    let endpoint = format!("OTEL_EXPORTER_OTLP_ENDPOINT={}", collector.url());
    let gramc = binary().to_str().expect("a path");
    // Servers get no variables of the guard.
    let inner = format!("env {endpoint} {gramc} mcp --command 'python3 server.py'");
    let words = [&*endpoint, gramc, "mcp", "--command", &*inner];
    let mut outer = Speaking::start("env", &words, folder.path());
    call(&mut outer, "get-meta", &json!({}));
    assert_eq!(outer.end(), Some(0));
    let spans = collector.spans();
    let name = "tools/call get-meta";
    assert_eq!(super::names(&spans), format!("{name}\n  {name}"));
}

#[test]
fn the_caller_decides_whether_a_trace_is_exported() {
    let folder = server();
    let (on, off) = (parent("01"), parent("00"));
    for (variables, given, expected) in [
        (&[][..], &off, 0),
        (&["OTEL_TRACES_SAMPLER=parentbased_always_off"], &on, 1),
        (&["OTEL_TRACES_SAMPLER=always_on"], &off, 1),
        (&["OTEL_TRACES_SAMPLER=always_off"], &on, 0),
    ] {
        let collector = Collector::start(Some(200));
        let mut guard = guard(&folder, &collector, variables);
        let got = meta_of_server(&mut guard, &json!({"traceparent": given}));
        assert_eq!(guard.end(), Some(0));
        assert_eq!(collector.spans().len(), expected, "{variables:?}");
        let got = got["traceparent"].as_str().expect("there is one").to_owned();
        assert!(got.starts_with(&format!("00-{TRACE}-")), "{got}");
        assert!(got.ends_with(&format!("-0{expected}")) && !got.contains(PARENT), "{got}");
        // All calls are measured.
        assert_eq!(counts(&collector.histograms()), [(Some("get-meta"), None, 1)]);
    }
}

#[test]
fn spans_and_metrics_are_turned_off_alone() {
    let folder = server();
    let given = json!({"tracestate": "rojo=1", "traceparent": "nothing", "a": 1});
    for (variable, paths) in [
        ("OTEL_METRICS_EXPORTER=none", &["/v1/traces"][..]),
        ("OTEL_TRACES_EXPORTER=none", &["/v1/metrics"]),
        ("OTEL_SDK_DISABLED=true", &[]),
    ] {
        let collector = Collector::start(Some(200));
        let mut guard = guard(&folder, &collector, &[variable]);
        let got = meta_of_server(&mut guard, &given);
        assert_eq!(guard.end(), Some(0));
        // Without spans, the metadata is what the client sent.
        let [got, sent] = [&got, &given].map(Value::to_string);
        assert_eq!(got == sent, variable != "OTEL_METRICS_EXPORTER=none", "{got}");
        let requests = collector.requests();
        let sent: Vec<_> = requests.iter().filter_map(|it| it.0.split(' ').nth(1)).collect();
        assert_eq!(sent, paths, "{variable}");
    }
    // Metrics have variables of their own.
    let (collector, other) = (Collector::start(Some(200)), Collector::start(Some(200)));
    let endpoint = format!("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT={}/v1/metrics", other.url());
    let header = "OTEL_EXPORTER_OTLP_METRICS_HEADERS=x-key=mine";
    let mut guard = guard(&folder, &collector, &[&endpoint, header]);
    call(&mut guard, "get-meta", &json!({}));
    assert_eq!(guard.end(), Some(0));
    assert_eq!((collector.spans().len(), collector.histograms().len()), (1, 0));
    assert_eq!(other.histograms().len(), 1);
    assert!(other.requests()[0].0.contains("x-key: mine") && other.requests().len() == 1);
    assert!(!collector.requests()[0].0.contains("x-key"));
}

#[test]
fn a_cancelled_call_has_a_span() {
    let (folder, collector) = (server(), Collector::start(Some(200)));
    let mut guard = guard(&folder, &collector, &[]);
    call(&mut guard, "get-meta", &json!({}));
    let params = json!({"name": "wait", "arguments": {}});
    let request = json!({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": params});
    guard.say(&request);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let params = json!({"requestId": "w"});
    let method = "notifications/cancelled";
    guard.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    assert_eq!(guard.end(), Some(0));
    let spans = collector.spans();
    let span = one(&spans, "tools/call wait");
    assert_eq!((span.failed, &span.attributes["error.type"]), (true, &json!("cancelled")));
    assert!(span.ended - span.began < 1_000_000_000, "it ends with the cancellation");
}

#[test]
fn metrics_are_exported_at_intervals() {
    let (folder, collector) = (server(), Collector::start(Some(200)));
    let mut guard = guard(&folder, &collector, &["OTEL_METRIC_EXPORT_INTERVAL=50"]);
    for number in 1..=2 {
        call(&mut guard, "get-meta", &json!({}));
        let start = std::time::Instant::now();
        while counts(&collector.histograms()) != [(Some("get-meta"), None, number)] {
            assert!(start.elapsed().as_secs() < 20, "{:?}", collector.histograms());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    assert_eq!(guard.end(), Some(0));
}

#[test]
fn spans_over_http_name_the_session() {
    let (folder, collector) = (server(), Collector::start(Some(200)));
    let words = ["--command", "python3 server.py", "--http", "0"];
    let url = collector.url();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*url)];
    let guard = Serving::with_env(&words, folder.path(), &variables);
    let request = |id: &str, method: &str, params: &Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let greeted = guard.post(&request("hello", "initialize", &hello()), &[]);
    let is_session = |line: &&str| line.to_ascii_lowercase().starts_with("mcp-session-id:");
    let session = greeted.lines().find(is_session).expect("a session").to_owned();
    let call = json!({"name": "get-meta", "arguments": {}});
    guard.post(&request("in-session", "tools/call", &call), &[&session]);
    let key = |name: &str| format!("io.modelcontextprotocol/{name}");
    let mut alone = call;
    alone["_meta"] = json!({
        key("protocolVersion"): "2026-07-28", key("clientCapabilities"): {}, "traceparent": parent("01"),
    });
    let headers =
        ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: get-meta"];
    let answer = guard.post(&request("alone", "tools/call", &alone), &headers);
    assert!(answer.contains(TRACE), "{answer}");
    guard.end();
    let mut spans = collector.spans();
    spans.sort_by_key(|span| span.began);
    let [first, second] = &spans[..] else { panic!("{}", spans.len()) };
    let id = session.split_once(": ").expect("a header").1;
    assert_eq!(first.attributes["mcp.session.id"], id);
    assert_eq!(first.attributes["jsonrpc.request.id"], "in-session");
    assert_eq!(first.attributes["mcp.protocol.version"], "2025-11-25");
    assert!(!second.attributes.contains_key("mcp.session.id"));
    assert_eq!(second.attributes["mcp.protocol.version"], "2026-07-28");
    assert_eq!(hex(&second.parent), PARENT);
    for span in [first, second] {
        assert_eq!(span.attributes["network.transport"], "tcp");
        assert_eq!(span.attributes["network.protocol.name"], "http");
    }
    // A session is no series of its own.
    assert!(!collector.histograms().iter().any(|it| it.attributes.contains_key("mcp.session.id")));
}

#[test]
fn contents_of_calls_are_sent_on_request() {
    let (folder, collector) = (server(), Collector::start(Some(200)));
    let content = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true";
    let mut guard = guard(&folder, &collector, &[content]);
    call(&mut guard, "get-meta", &json!({"own": "something"}));
    assert_eq!(guard.end(), Some(0));
    let spans = collector.spans();
    let span = one(&spans, "tools/call get-meta");
    assert_eq!(span.attributes["gen_ai.tool.call.arguments"], "{}");
    let result = span.attributes["gen_ai.tool.call.result"].as_str().expect("it is text");
    assert!(result.contains("something"), "{result}");
}
