//! What the guard does not guard arrives as it was sent: random servers and clients say the same to each
//! other with a guard between them as without one. The differences that are allowed are those of the
//! table in `docs/mcp.md`; each has a function here.

use std::path::Path;

use gramc_language_tests::campaign::{number_from_env, seed};
use gramc_language_tests::rng::Rng;
use serde_json::{Map, Value, json};

use crate::mcp::{Serving, Speaking};
use crate::support::{Folder, binary, folder, root};

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN];
/// The revision without a handshake.
const MODERN: &str = "2026-07-28";

/// Anything, with numbers whose text matters and keys in any order.
fn anything(rng: &mut Rng, depth: usize) -> Value {
    let numbers = ["0", "-0", "1.0", "1.50", "1e5", "9007199254740993", "12345678901234567890123"];
    let texts = ["", "a", "ä\u{2028}/\\\"", "\u{1f600}", "2026-07-28T00:00:00Z", "null"];
    match rng.below(if depth == 0 { 4 } else { 6 }) {
        0 => Value::Null,
        1 => rng.chance(50).into(),
        2 => serde_json::from_str(rng.pick(&numbers)).expect("it is a number"),
        3 => rng.pick(&texts).into(),
        4 => (0..rng.below(3)).map(|_| anything(rng, depth - 1)).collect(),
        _ => object(rng, depth - 1),
    }
}

/// An object of keys that nobody knows.
fn object(rng: &mut Rng, depth: usize) -> Value {
    let keys = ["zeta", "x-own", "vendor.example/key", "$odd", "a b", "ключ", "alpha"];
    let count = rng.below(4);
    (0..count).map(|_| (rng.pick(&keys).to_owned(), anything(rng, depth))).collect()
}

/// An object with keys that nobody knows before and after its own.
fn with_more(own: &Value, rng: &mut Rng) -> Value {
    let mut all = Map::new();
    let more = |rng: &mut Rng| match if rng.chance(40) { object(rng, 2) } else { json!({}) } {
        Value::Object(more) => more,
        _ => Map::new(),
    };
    all.extend(more(rng));
    all.extend(own.as_object().expect("it is an object").clone());
    for (key, value) in more(rng) {
        all.entry(key).or_insert(value);
    }
    if rng.chance(30) {
        all.insert("_meta".to_owned(), object(rng, 2));
    }
    all.into()
}

fn content(rng: &mut Rng) -> Value {
    let resource = json!({"uri": "x://a", "text": "a", "mimeType": "text/x-odd"});
    let block = match rng.below(6) {
        0 => json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
        1 => json!({"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}),
        2 => json!({"type": "resource", "resource": with_more(&resource, rng)}),
        3 => json!({"type": "resource_link", "uri": "x://b", "name": "b", "size": 3}),
        4 => json!({"type": "vendor/thing", "thing": anything(rng, 2)}),
        _ => json!({"text": rng.pick(&["", "a", "{\"a\": 1.0}", "ä\r\n\t"]), "type": "text"}),
    };
    with_more(&block, rng)
}

/// A tool, with arguments that it takes.
fn tool(rng: &mut Rng, number: usize) -> (Value, Value) {
    let text = json!({"type": "string", "description": "A text"});
    let (properties, required, arguments) = match rng.below(4) {
        0 => (json!({}), json!([]), json!({})),
        1 => (json!({"a": text}), json!(["a"]), json!({"a": "x"})),
        2 => (
            json!({"a": text, "n": {"type": "integer", "minimum": 1}, "b": {"type": "boolean"}}),
            json!(["n"]),
            json!({"b": true, "n": 3, "a": "ä"}),
        ),
        _ => (json!({"o": {"type": "object"}}), json!([]), json!({"o": object(rng, 2)})),
    };
    let mut schema = json!({"type": "object", "properties": properties});
    if required != json!([]) {
        schema["required"] = required;
    }
    let mut own = json!({"name": format!("tool{number}"), "inputSchema": with_more(&schema, rng)});
    if rng.chance(70) {
        own["description"] = "Does something".into();
    }
    if rng.chance(40) {
        own["annotations"] = with_more(&json!({"readOnlyHint": true, "title": "A"}), rng);
    }
    (with_more(&own, rng), arguments)
}

/// What a server and a client say.
struct Conversation {
    script: Value,
    /// The first request.
    hello: Value,
    /// What the client says after that: requests and notifications.
    steps: Vec<Value>,
    /// What it answers to the questions of the server.
    answers: Map<String, Value>,
}

fn result(result: &Value) -> String {
    format!("\"result\":{result}")
}

fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// What a server says about itself.
fn introduction(rng: &mut Rng, revision: &str) -> Value {
    let server = json!({"name": "played", "version": "1.0"});
    let capabilities = json!({
        "tools": {"listChanged": true},
        "resources": with_more(&json!({"subscribe": true}), rng),
        "prompts": {}, "completions": {}, "logging": {},
        "experimental": object(rng, 2),
        "extensions": {"io.example/ui": object(rng, 2)},
    });
    let mut introduction = json!({
        "protocolVersion": revision,
        "capabilities": with_more(&capabilities, rng),
        "serverInfo": with_more(&server, rng),
    });
    if rng.chance(50) {
        introduction["instructions"] = "Be\nkind.".into();
    }
    introduction
}

/// What a client says about itself.
fn hello(rng: &mut Rng, revision: &str) -> Value {
    let capabilities = json!({"sampling": {}, "elicitation": {}, "roots": {"listChanged": true},
        "experimental": object(rng, 1), "extensions": {"io.example/ui": object(rng, 1)}});
    with_more(
        &json!({
            "protocolVersion": revision,
            "capabilities": with_more(&capabilities, rng),
            "clientInfo": with_more(&json!({"name": "random", "version": "0"}), rng),
        }),
        rng,
    )
}

/// Requests for other things than tools, and their results.
fn other_requests(rng: &mut Rng, answers: &mut Map<String, Value>) -> Vec<Value> {
    let mut steps = Vec::new();
    let uri = json!({"uri": "x://a"});
    let name = json!({"name": "a"});
    let reference = json!({"ref": {"type": "ref/prompt", "name": "a"},
        "argument": {"name": "b", "value": ""}});
    for (method, own, params) in [
        ("resources/list", json!({"resources": [with_more(&uri, rng)]}), json!({})),
        ("resources/templates/list", json!({"resourceTemplates": []}), json!({})),
        ("resources/read", json!({"contents": [with_more(&uri, rng)]}), uri.clone()),
        ("resources/subscribe", json!({}), uri.clone()),
        ("prompts/list", json!({"prompts": [with_more(&name, rng)]}), json!({})),
        ("prompts/get", json!({"messages": [{"role": "user", "content": content(rng)}]}), name),
        ("completion/complete", json!({"completion": {"values": ["c"]}}), reference),
        ("logging/setLevel", json!({}), json!({"level": "debug"})),
        ("vendor/method", object(rng, 2), object(rng, 2)),
        ("unknown/method", json!({}), json!({})),
    ] {
        let params = with_more(&params, rng);
        steps.push(json!({"method": method, "params": params}));
        if method != "unknown/method" {
            answers.insert(method.to_owned(), result(&with_more(&own, rng)).into());
        }
    }
    steps
}

/// What a server says before it answers.
fn notifications(rng: &mut Rng) -> Vec<Value> {
    let uri = json!({"uri": "x://a"});
    let mut says = vec![
        notification(
            "notifications/message",
            &with_more(&json!({"level": "info", "data": anything(rng, 2)}), rng),
        ),
        notification("notifications/resources/updated", &with_more(&uri, rng)),
        notification("notifications/vendor", &object(rng, 2)),
        json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}),
    ];
    let progress = json!({"progressToken": "$TOKEN", "progress": 1, "total": 3.50});
    says.push(notification("notifications/progress", &with_more(&progress, rng)));
    says
}

/// What a server asks before it answers. The client's answers are added to `client`.
fn questions(rng: &mut Rng, client: &mut Map<String, Value>) -> Vec<Value> {
    let mut says = Vec::new();
    for (number, (method, params, answer)) in [
        (
            "sampling/createMessage",
            json!({"messages": [], "maxTokens": 9}),
            json!({"role": "assistant", "content": content(rng), "model": "m"}),
        ),
        (
            "elicitation/create",
            json!({"message": "?", "requestedSchema": {}}),
            json!({"action": "accept", "content": object(rng, 1)}),
        ),
        ("roots/list", json!({}), json!({"roots": [with_more(&json!({"uri": "file:///a"}), rng)]})),
    ]
    .into_iter()
    .enumerate()
    {
        let id = match rng.below(2) {
            0 => json!(number),
            _ => json!(format!("q{number}")),
        };
        let mut question = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if method != "roots/list" || rng.chance(50) {
            question["params"] = with_more(&params, rng);
        }
        says.push(question);
        let answer = match rng.below(4) {
            0 => json!({"error": {"code": -1, "message": "no", "data": anything(rng, 2)}}),
            _ => json!({"result": with_more(&answer, rng)}),
        };
        client.insert(method.to_owned(), answer);
    }
    says
}

impl Conversation {
    fn new(rng: &mut Rng, revision: &str) -> Self {
        let introduction = introduction(rng, revision);
        let mut tools = Vec::new();
        let mut steps = vec![json!({"method": "tools/list"})];
        for number in 0..rng.between(1, 3) {
            let (tool, arguments) = tool(rng, number);
            let params = json!({"name": tool["name"], "arguments": arguments});
            steps.push(json!({"method": "tools/call", "params": params}));
            tools.push(tool);
        }
        let list = with_more(&json!({ "tools": tools }), rng);
        let blocks: Vec<_> = (0..rng.below(4)).map(|_| content(rng)).collect();
        let called = with_more(&json!({ "content": blocks }), rng);
        let called = match rng.below(6) {
            0 => format!(
                "\"error\":{}",
                with_more(
                    &json!({"code": -32042, "message": "Sign in", "data": anything(rng, 2)}),
                    rng
                )
            ),
            _ => result(&called),
        };
        let mut answers = Map::from_iter([
            ("initialize".to_owned(), result(&introduction).into()),
            ("tools/list".to_owned(), result(&list).into()),
            ("tools/call".to_owned(), called.into()),
        ]);
        steps.extend(other_requests(rng, &mut answers));
        let mut client = Map::new();
        let mut says = notifications(rng);
        says.extend(questions(rng, &mut client));
        let texts = |says: Vec<Value>| -> Value {
            says.into_iter().map(|it| it.to_string().replace("\"$TOKEN\"", "$TOKEN")).collect()
        };
        let half = rng.below(says.len());
        let others = says.split_off(half);
        let says = json!({"tools/call": texts(says), "resources/read": texts(others)});
        for step in &mut steps {
            let token = match rng.below(3) {
                0 => json!("t\u{e4}"),
                1 => json!(7),
                _ => continue,
            };
            if !step["params"].is_object() {
                step["params"] = json!({});
            }
            step["params"]["_meta"]["progressToken"] = token;
        }
        for method in ["notifications/roots/list_changed", "notifications/vendor"] {
            let mut said = json!({ "method": method });
            if rng.chance(50) {
                said["params"] = object(rng, 2);
            }
            steps.insert(rng.below(steps.len()), said);
        }
        let hello = json!({"method": "initialize", "params": hello(rng, revision)});
        steps.insert(0, json!({"method": "notifications/initialized"}));
        let script = json!({"answers": answers, "says": says});
        let conversation = Self { script, hello, steps, answers: client };
        if revision == MODERN { conversation.without_handshake() } else { conversation }
    }

    /// Leaves out what the server says before answers, except for these notifications.
    fn say_only(&mut self, methods: &str) {
        for said in self.script["says"].as_object_mut().expect("it is an object").values_mut() {
            let is_said = |text: &Value| {
                let text = text.as_str().unwrap_or_default();
                methods.split(' ').any(|method| text.contains(&format!("\"{method}\"")))
            };
            said.as_array_mut().expect("it is a list").retain(is_said);
        }
    }

    /// The same in the revision without a handshake: the client introduces itself in each request, and the
    /// server asks nothing.
    fn without_handshake(mut self) -> Self {
        let answers = self.script["answers"].as_object_mut().expect("it is an object");
        let introduction = answers.shift_remove("initialize").expect("it is there");
        answers.insert("server/discover".to_owned(), introduction);
        for (method, answer) in answers {
            let text = answer.as_str().expect("it is text").strip_prefix("\"result\":");
            let Some(text) = text else { continue };
            let mut result: Value = serde_json::from_str(text).expect("it is JSON");
            result["resultType"] = "complete".into();
            if method != "tools/call" {
                result["ttlMs"] = 500.into();
                result["cacheScope"] = "public".into();
            }
            if method == "server/discover" {
                let fields = result.as_object_mut().expect("it is an object");
                fields.shift_remove("protocolVersion");
                let info = fields.shift_remove("serverInfo").expect("it is there");
                result["_meta"]["io.modelcontextprotocol/serverInfo"] = info;
                result["supportedVersions"] = json!(REVISIONS);
                // The guard makes tasks of calls for clients that have them.
                let tasks = "io.modelcontextprotocol/tasks";
                result["capabilities"]["extensions"][tasks] = json!({});
            }
            *answer = self::result(&result).into();
        }
        // Over standard output, no message but these belongs to a request.
        self.say_only("notifications/message notifications/progress");
        let gone = ["setLevel", "resources/subscribe", "notifications/"];
        let is_gone = |step: &Value| gone.iter().any(|it| step["method"].to_string().contains(it));
        self.steps.retain(|step| !is_gone(step) || step["method"] == "notifications/vendor");
        let introduction = self.hello["params"].clone();
        self.hello = json!({"method": "server/discover"});
        for step in self.steps.iter_mut().chain([&mut self.hello]) {
            if step["method"] == "notifications/vendor" {
                continue;
            }
            if !step["params"].is_object() {
                step["params"] = json!({});
            }
            let meta = &mut step["params"]["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientInfo"] = introduction["clientInfo"].clone();
            meta["io.modelcontextprotocol/clientCapabilities"] =
                introduction["capabilities"].clone();
            meta["io.modelcontextprotocol/logLevel"] = "debug".into();
        }
        self
    }
}

/// What was said, without the ids of messages.
#[derive(Debug, PartialEq)]
struct Transcript {
    /// The answer to each request of the client, with the messages before it.
    client: Vec<String>,
    /// What the server heard.
    server: Vec<String>,
}

/// A message without its id. The keys of the message, and of its result or error, may have any order.
fn without_id(message: &Value) -> String {
    let mut message = message.clone();
    let fields = message.as_object_mut().expect("it is an object");
    fields.shift_remove("id");
    fields.sort_keys();
    for key in ["result", "error"] {
        if let Some(Value::Object(outcome)) = fields.get_mut(key) {
            outcome.sort_keys();
        }
    }
    message.to_string()
}

/// What a server hears, except for progress tokens: the guard sends one of its own with each request.
fn without_token(message: &str) -> String {
    let mut message: Value = serde_json::from_str(message).expect("it is JSON");
    if let Some(Value::Object(params)) = message.get_mut("params") {
        if let Some(Value::Object(meta)) = params.get_mut("_meta") {
            meta.shift_remove("progressToken");
            meta.sort_keys();
            if meta.is_empty() {
                params.shift_remove("_meta");
            }
        }
        if params.is_empty() {
            message.as_object_mut().expect("it is an object").shift_remove("params");
        }
    }
    without_id(&message)
}

impl Conversation {
    /// Holds the conversation with a server that these words start and that writes a log. Waits for as
    /// many messages as there are in `like`.
    fn hold(
        &self,
        folder: &Folder,
        words: &[String],
        name: &str,
        like: Option<&Transcript>,
    ) -> Transcript {
        let mut client = Vec::new();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let mut speaking = Speaking::silent(words[0], &words[1..], folder.path());
        let mut hear = |speaking: &mut Speaking| {
            let heard = speaking.hear();
            client.push(without_id(&heard));
            if let (Some(method), Some(id)) = (heard["method"].as_str(), heard.get("id")) {
                let mut answer = self.answers[method].clone();
                answer["jsonrpc"] = "2.0".into();
                answer["id"] = id.clone();
                speaking.say(&answer);
            }
            (heard, client.len())
        };
        let mut count = 0;
        for (number, step) in [&self.hello].into_iter().chain(&self.steps).enumerate() {
            let mut message = step.clone();
            message["jsonrpc"] = "2.0".into();
            if message["method"].as_str().is_some_and(|it| it.starts_with("notifications/")) {
                speaking.say(&message);
                continue;
            }
            message["id"] = number.into();
            speaking.say(&message);
            loop {
                let (heard, so_far) = hear(&mut speaking);
                count = so_far;
                if heard.get("method").is_none() {
                    assert_eq!(heard["id"], number);
                    break;
                }
            }
        }
        while like.is_some_and(|like| count < like.client.len()) {
            count = hear(&mut speaking).1;
        }
        speaking.end();
        let log = std::fs::read_to_string(folder.file(name)).expect("the server was started");
        // The guard makes these requests when the client begins, and then answers the client itself.
        let own = ["\"tools/list\"", "\"server/discover\"", "\"subscriptions/listen\""];
        let is_own = |line: &String| own.iter().any(|method| line.contains(method));
        let server = log.lines().map(without_token).filter(|line| !is_own(line));
        Transcript { client, server: server.collect() }
    }
}

/// How the messages of a client are compared.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Same,
    /// Over HTTP, messages that belong to no request have a stream of their own.
    Any,
}

/// Compares a conversation with a server with the same one through guards, which `chain` starts in front
/// of the server. It gives the words of the last one, and what keeps the others alive.
fn compare<T>(case: usize, order: Order, chain: impl Fn(&Path, &[String]) -> (Vec<String>, T)) {
    let mut rng = Rng::for_case(seed(), case);
    let revision = REVISIONS[case % REVISIONS.len()];
    let mut conversation = Conversation::new(&mut rng, revision);
    if (order, revision) == (Order::Any, MODERN) {
        // Clients without sessions share a server, whose log messages belong to none of them.
        conversation.say_only("notifications/progress");
    }
    let folder = folder(&[("script.json", &conversation.script.to_string())]);
    let played = |log: &str| {
        let server = root().join("tests/real/playback.py").display().to_string();
        let script = folder.file("script.json").display().to_string();
        ["python3".to_owned(), server, script, folder.file(log).display().to_string()]
    };
    let mut direct = conversation.hold(&folder, &played("direct.log"), "direct.log", None);
    let (words, _running) = chain(folder.path(), &played("guarded.log"));
    let mut guarded = conversation.hold(&folder, &words, "guarded.log", Some(&direct));
    if order == Order::Any {
        direct.client.sort();
        guarded.client.sort();
    }
    assert_same(&guarded.client, &direct.client, &format!("case {case}, the client"));
    assert_same(&guarded.server, &direct.server, &format!("case {case}, the server"));
}

fn assert_same(guarded: &[String], direct: &[String], what: &str) {
    let same = guarded.iter().zip(direct).take_while(|(one, other)| one == other).count();
    let show = |lines: &[String]| lines.get(same).cloned().unwrap_or_default();
    assert!(
        guarded == direct,
        "{what}, message {same}\nguarded: {}\ndirect:  {}",
        show(guarded),
        show(direct)
    );
}

/// The words of a guard in front of a server.
fn guard(server: &[String]) -> Vec<String> {
    let binary = binary().display().to_string();
    vec![binary, "mcp".to_owned(), "--command".to_owned(), server.join(" ")]
}

fn cases() -> std::ops::Range<usize> {
    let first = usize::try_from(number_from_env("CASE", 0)).expect("it is small");
    let count = usize::try_from(number_from_env("CASES", 15)).expect("it is small");
    first..first + count
}

#[test]
fn a_guard_between_a_server_and_a_client_changes_nothing() {
    for case in cases() {
        compare(case, Order::Same, |_, server| (guard(server), ()));
    }
}

#[test]
fn a_guard_behind_a_guard_over_http_changes_nothing() {
    for case in cases() {
        compare(case, Order::Any, |folder, server| {
            let words = ["--command", &server.join(" "), "--http", "0"];
            let behind = Serving::start(&words, folder, None);
            let binary = binary().display().to_string();
            (vec![binary, "mcp".to_owned(), "--url".to_owned(), behind.url.clone()], behind)
        });
    }
}
