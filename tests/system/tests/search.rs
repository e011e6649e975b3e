//! `gramc search` and `gramc mcp --search`, as people, programs and models meet them.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::mcp::Speaking;
use crate::support::{Folder, Run, binary, command, folder, gramc, installed, root};

const WEATHER: &str = r"
/** Finds the coordinates of a city */
[geocode:Tool | (city::Text)==>(::Place)]
/** The weather of the next days at a place */
[forecast:Tool | (lat::Number)==>(lon::Number)==>(days::Int {default: 3})==>(::Forecast)]
[Place::Record | (lat::Number), (lon::Number)]
[Forecast::Record | (day::Date), (celsius::Number)]
";
const MAIL: &str = r"
/** Sends a message to several people */
[sendEmail:Tool | (to::Email[])==>(subject::Text)==>(::Null)]
";
const LIST: &str = r#"{"tools": [{"name": "refund", "description": "Returns money to a customer",
    "inputSchema": {"type": "object", "properties": {"order": {"type": "string"}}}}]}"#;
const LIBRARY: &str = r#"[echoes:Library |
    (geocode:Builtin {name: "echo", signature: "(city::Text)==>(::Any)"})]"#;

fn files() -> Folder {
    folder(&[
        ("tools/weather.gram", WEATHER),
        ("tools/mail.gram", MAIL),
        ("list.json", LIST),
        ("library.gram", LIBRARY),
        ("broken.gram", "[a:Tool | (b::Txt)==>(::Any)]"),
    ])
}

/// A search in the folder, and what it found.
fn search(folder: &Folder, query: &str, options: &str) -> Run {
    gramc("search").arg(query).args(options).within(folder.path()).run()
}

fn hits(folder: &Folder, query: &str, options: &str) -> Vec<Value> {
    let run = search(folder, query, &format!("{options} --format json")).exits(0);
    run.stdout.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[test]
fn hits_are_json() {
    let folder = files();
    let found = hits(&folder, "(city::Text)==>(::Place)", "tools");
    assert_eq!(
        found[0],
        json!({
            "tool": "geocode", "source": "tools/weather.gram", "score": 1.0, "match": "exact",
            "signature": "(city::Text)==>(::Place)", "missing": [], "unused": [],
        })
    );
    let found = hits(&folder, "(to::Email[])==>(urgent::Bool)==>(::Null)", "tools --limit 1");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["match"], "partial");
    assert_eq!(found[0]["missing"], json!(["subject"]));
    assert_eq!(found[0]["unused"], json!(["urgent"]));
}

#[test]
fn all_sources_are_searched() {
    let folder = files();
    let found = hits(&folder, "return the money", "tools list.json");
    assert_eq!((&found[0]["tool"], &found[0]["source"]), (&json!("refund"), &json!("list.json")));
    // The project, when nothing is named.
    fs::remove_file(folder.path().join("broken.gram")).expect("it is there");
    assert_eq!(hits(&folder, "message", "")[0]["tool"], "sendEmail");
    // Libraries, and standard input.
    assert_eq!(hits(&folder, "Text ==> Any", "library.gram")[0]["match"], "exact");
    let run = gramc("search refund -").within(folder.path()).input(LIST).run().exits(0);
    assert!(run.stdout.starts_with("refund  words 1.00  <stdin>\n"), "{}", run.stdout);
}

#[test]
fn live_servers_are_searched() {
    let folder = files();
    let server =
        format!("{} mcp tools/weather.gram --library weather-library.gram", binary().display());
    let library =
        r#"[l:Library | (geocode:Builtin {name: "echo"}), (forecast:Builtin {name: "echo"})]"#;
    fs::write(folder.path().join("weather-library.gram"), library).expect("it can be written");
    let run = gramc("search coordinates --command").arg(server).within(folder.path()).run();
    assert!(run.exits(0).stdout.starts_with("geocode  words 1.00  MCP server\n"));
}

#[test]
fn exit_codes_tell_nothing_found_from_failure() {
    let folder = files();
    let run = search(&folder, "zebra", "tools").exits(1);
    assert_eq!(run.stdout, "no tools found\n");
    assert_eq!(search(&folder, "zebra", "tools --format json").exits(1).stdout, "");
    for (query, options, message) in [
        ("x", "nothing.gram", "nothing.gram"),
        ("x", "broken.gram", "cannot search broken.gram: it has errors"),
        ("", "tools", "the query is empty"),
        ("(a::Text", "tools", "is never closed"),
        ("(a::Text {range: 1..2})", "tools", "range"),
        ("x", "tools --format sarif", "use --format json or human"),
    ] {
        let run = search(&folder, query, options).exits(2);
        assert!(run.stderr.contains(message), "{query} {options}: {}", run.stderr);
    }
}

#[test]
fn unknown_types_are_words() {
    let folder = files();
    let run = search(&folder, "Text ==> Weather", "tools").exits(0);
    let note = "note: no source declares the type `Weather`; searching for the word\n";
    assert_eq!(run.stderr, note);
    let run = search(&folder, "==> Forcast", "tools").exits(1);
    assert!(run.stderr.contains("did you mean `Forecast`?"), "{}", run.stderr);
}

/// A server with two tools in front of a library.
fn server(folder: &Folder) -> Speaking {
    let words = ["mcp", "spec.gram", "--library", "library.gram", "--search"];
    Speaking::start(&binary().display().to_string(), &words, folder.path())
}

fn call(server: &mut Speaking, name: &str, arguments: &Value) -> Value {
    server.call(name, arguments)
}

const SPEC: &str = r#"
/** Adds two numbers */
[add:Tool {readOnly: true} | (a::Int)==>(b::Int)==>(::Int)]
/** Repeats a text */
[find_tools:Tool {readOnly: true} | (text::Text)==>(::Any)]
/** Groups tools about time */
[time:Container |
  /** The current time */
  [now:Tool {readOnly: true} | ()==>(::DateTime)]
]
"#;

#[test]
fn a_model_finds_and_calls_tools() {
    let library =
        r#"[l:Library | (add:Builtin), (find_tools:Builtin {name: "echo"}), (now:Builtin)]"#;
    let folder = folder(&[("spec.gram", SPEC), ("library.gram", library)]);
    let mut server = server(&folder);
    let listed = server.ask("tools/list", &json!({}))["result"].take();
    let names: Vec<_> =
        listed["tools"].as_array().into_iter().flatten().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["find_tools", "call_tool"]);
    assert_eq!(listed["tools"][1]["annotations"]["readOnlyHint"], json!(false), "containers count");

    let found = call(&mut server, "find_tools", &json!({"query": "add numbers", "limit": 1}));
    let definition = &found["structuredContent"]["tools"][0];
    assert_eq!(definition["name"], "add");
    assert_eq!(definition["inputSchema"]["required"], json!(["a", "b"]));
    let text = found["content"][0]["text"].as_str().expect("there is a text");
    let text: Value = serde_json::from_str(text).expect("the text is JSON");
    assert_eq!(text[0], *definition);
    let found = call(&mut server, "find_tools", &json!({"query": "==> DateTime"}));
    assert_eq!(found["structuredContent"]["tools"][0]["name"], "now");
    // Calls of both tools are repaired and refused like any other.
    let one = call(&mut server, "find_tools", &json!({"query": "add numbers", "limit": "1"}));
    assert_eq!(one["structuredContent"]["tools"].as_array().map(Vec::len), Some(1));
    let many = call(&mut server, "find_tools", &json!({"query": "add", "limit": 99}));
    assert!(many["content"][0]["text"].as_str().is_some_and(|it| it.contains("from 1 to 20")));
    let none = call(&mut server, "find_tools", &json!({"query": "zebra ("}));
    assert_eq!(none["structuredContent"]["tools"], json!([]));
    assert_eq!(call(&mut server, "find_tools", &json!({}))["isError"], json!(true));

    let add = |arguments: Value| json!({"name": "add", "arguments": arguments});
    let sum = call(&mut server, "call_tool", &add(json!({"a": 1, "b": "2"})));
    assert_eq!((&sum["content"][0]["text"], &sum["isError"]), (&json!("3"), &json!(false)));
    let wrong = call(&mut server, "call_tool", &add(json!({"a": 1})));
    assert_eq!(wrong["isError"], json!(true));
    assert!(wrong["content"][0]["text"].as_str().is_some_and(|it| it.starts_with("`add`: ")));
    let through = "Send the corrected arguments through `call_tool`.";
    assert_eq!(wrong["content"][1]["text"], through);
    // The same text as that of a direct call.
    let direct = call(&mut server, "add", &json!({"a": 1}));
    let text = |result: &Value| result["content"][0]["text"].as_str().map(str::to_owned);
    assert!(
        text(&direct).zip(text(&wrong)).is_some_and(|(direct, wrong)| direct.starts_with(&wrong))
    );

    let slip = call(&mut server, "call_tool", &json!({"name": "ad", "arguments": {}}));
    assert!(text(&slip).is_some_and(|it| it.contains("did you mean `add`?")), "{slip}");
    assert_eq!(slip["content"][1]["text"], "Find the tools with `find_tools`.");
    let usage = call(&mut server, "call_tool", &json!({"arguments": {}}));
    assert_eq!(usage["isError"], json!(true));
    // A tool in a container, and one with the name of the server's own tool.
    let now = call(&mut server, "call_tool", &json!({"name": "now", "arguments": {}}));
    assert_eq!(now["isError"], json!(false), "{now}");
    assert_eq!(call(&mut server, "now", &json!({}))["isError"], json!(false));
    let arguments = json!({"name": "find_tools", "arguments": {"text": "again"}});
    let echo = call(&mut server, "call_tool", &arguments);
    assert!(echo["content"][0]["text"].as_str().is_some_and(|it| it.contains("again")), "{echo}");
}

#[test]
fn what_is_not_listed_is_not_said_to_have_changed() {
    let library =
        r#"[l:Library | (add:Builtin), (find_tools:Builtin {name: "echo"}), (now:Builtin)]"#;
    let folder = folder(&[("spec.gram", SPEC), ("library.gram", library)]);
    let mut server = server(&folder);
    let now = json!({"name": "call_tool", "arguments": {"name": "now", "arguments": {}}});
    server.say(&json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": now}));
    server.say(&json!({"jsonrpc": "2.0", "id": "y", "method": "ping"}));
    for message in [server.hear(), server.hear()] {
        assert!(message.get("method").is_none(), "{message}");
    }
}

#[test]
fn a_large_library_costs_few_tokens() {
    const TOOLS: usize = 600;
    let (mut spec, mut library) = (String::new(), "[l:Library |\n".to_owned());
    for at in 0..TOOLS {
        let _ = writeln!(
            spec,
            "/** Reads the report number {at} of a department and a month */\n[readReport{at}:Tool | \
             (department::Text {{description: \"Name of the department\"}})\
             ==>(month::Date {{description: \"Any day of the month\"}})==>(::Any)]"
        );
        let comma = if at == 0 { "" } else { "," };
        let _ = writeln!(library, "{comma}(readReport{at}:Builtin {{name: \"echo\"}})");
    }
    library.push(']');
    let folder = folder(&[("spec.gram", &spec), ("library.gram", &library)]);
    let tokens = |value: &Value| {
        let encoding = tiktoken_rs::o200k_base_singleton();
        encoding.count_ordinary(&value.to_string())
    };
    let words = ["mcp", "spec.gram", "--library", "library.gram"];
    let mut all = Speaking::start(&binary().display().to_string(), &words, folder.path());
    let (mut cost, mut cursor) = (0, Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let mut page = all.ask("tools/list", &params)["result"].take();
        cost += tokens(&page["tools"]);
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            break;
        }
    }
    let mut few = server(&folder);
    let listed = few.ask("tools/list", &json!({}))["result"].take();
    let found = call(&mut few, "find_tools", &json!({"query": "report 77 of a department"}));
    let names = found["structuredContent"]["tools"].as_array().expect("there are tools");
    assert!(names.iter().any(|tool| tool["name"] == "readReport77"), "{names:?}");
    let searched = tokens(&listed["tools"]) + tokens(&found["structuredContent"]);
    assert!(searched * 10 <= cost, "{searched} of {cost} tokens");
}

#[test]
fn constraints_pins_nulls_and_tuples_count() {
    let spec = r#"
[Item::Record | (p::Int)]
[list:Tool {description: "Lists"} | (q::Text)==>(::Item[])]
[put:Tool {description: "Puts"} | (items::Item[] {size: 1..9})==>(::Bool)]
[pinned:Tool {description: "Pins"} | (a::Date {pinned: "2024-01-01"})==>(z::Email)==>(::Uri)]
[null:Tool {description: "Nulls"} | (n::Int?)==>(::Time)]
[pair:Tool {description: "Pairs"} | (p::Number[])==>(::Hostname)]
"#;
    let files = folder(&[("a.gram", spec)]);
    for (query, tool, kind) in [
        ("(q::Text)==>(::Item[] {size: 1..3})", "list", "partial"),
        ("(q::Text)==>(::Item[])", "list", "exact"),
        ("(items::Item[] {size: 1..9})==>(::Bool)", "put", "exact"),
        ("(z::Email)==>(::Uri)", "pinned", "exact"),
        ("(n::Null)==>(::Time)", "null", "fits"),
        ("(p::[Number, Number])==>(::Hostname)", "pair", "fits"),
        ("(z?::Email)==>(::Uri)", "pinned", "partial"),
    ] {
        let run =
            gramc("search").arg(query).args("a.gram --format json").within(files.path()).run();
        let first: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&first["tool"], &first["match"]),
            (&json!(tool), &json!(kind)),
            "{query}: {first}"
        );
    }
}

/// The tools and requests of a public benchmark, and a model of 135 million parameters. The manual
/// says how it does on more requests.
#[test]
fn real_small_model_finds_and_calls_the_right_tool_of_600() {
    let mut python = command(installed("python/bin/python"));
    python.arg(root().join("tests/real/find_tools.py")).arg(binary());
    python.arg(installed("retrieval/bfcl_eval/data")).args(["--tasks", "6"]);
    let run = python.env("PYTHONPATH", installed("llama")).output().expect("python starts");
    let said = String::from_utf8_lossy(&run.stdout);
    let failure = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}{failure}");
    let counts: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    let count = |key: &str| counts[key].as_u64().unwrap_or_else(|| panic!("{key}: {counts}"));
    assert!(count("found") >= 3, "{said}");
    // With as many definitions as the context of the model holds, it sees none of these tools.
    assert!(count("right") > count("answerable"), "{said}");
    assert!(10 * count("tokens") < count("definitions") * count("tasks"), "{said}");
}
