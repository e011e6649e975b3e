//! Libraries that take all tools of an MCP server, `tests/real/upstream.py`.

use serde_json::{Value, json};

use crate::mcp::Speaking;
use crate::support::{Folder, Run, binary, folder, gramc, root};

/// The command of a server with the tools of a file, by default its own ones.
fn command(tools: &str) -> Value {
    json!(["python3", root().join("tests/real/upstream.py"), tools, format!("{tools}.pids")])
}

/// A folder with a specification and a library of these implementations.
fn files(spec: &str, implementations: &str) -> Folder {
    let library = format!("[upstream:Library | {implementations}]");
    folder(&[("guard.gram", spec), ("upstream.gram", &library)])
}

const SAY_AND_COUNT: &str = "[say:Tool | (text::Text)==>(::Any)] [count:Tool | ()==>(::Any)]";

fn bind(folder: &Folder) -> Run {
    gramc("bind guard.gram --library upstream.gram").within(folder.path()).run()
}

fn guard(folder: &Folder) -> Speaking {
    let words = ["mcp", "guard.gram", "--library", "upstream.gram"];
    Speaking::start(binary().to_str().expect("a path"), &words, folder.path())
}

fn text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer} has no text"))
}

#[test]
fn one_node_binds_all_tools_of_a_server() {
    let folder = files(SAY_AND_COUNT, &format!("(`*`:Mcp {{command: {}}})", command("none")));
    assert_eq!(bind(&folder).clean().stdout, "say    Mcp\ncount  Mcp\n");
    let mut guard = guard(&folder);
    assert_eq!(text(&guard.call("say", &json!({"text": "hi"}))), "hi");
    assert_eq!(text(&guard.call("count", &json!({}))), "1");
    assert_eq!(text(&guard.call("count", &json!({}))), "2");
    assert_eq!(guard.end(), Some(0));
    // The tools share one server.
    let pids = std::fs::read_to_string(folder.file("none.pids")).expect("it is there");
    assert_eq!(pids.lines().count(), 2, "one for `bind`, one for the session: {pids}");
}

#[test]
fn a_prefix_is_not_part_of_the_name_on_the_server() {
    let spec = "[up_say:Tool | (text::Text)==>(::Any)] [say:Tool | (text::Text)==>(::Any)]";
    let server = format!("(`*`:Mcp {{command: {}, prefix: \"up_\"}})", command("none"));
    let folder = files(spec, &format!("{server}, (say:Builtin {{name: \"echo\"}})"));
    assert_eq!(bind(&folder).clean().stdout, "up_say  Mcp\nsay     Builtin\n");
    let called = gramc("call guard.gram up_say {\"text\":\"hi\"} --library upstream.gram")
        .within(folder.path())
        .run();
    assert!(called.exits(0).json()["result"].to_string().contains("hi"));
}

#[test]
fn its_validator_judges_the_calls_of_all_tools() {
    let check = r#"["sh", "-c", "cat > seen; echo '{\"errors\": [{\"error_message\": \"no\"}]}'"]"#;
    let command = command("none");
    let folder =
        files(SAY_AND_COUNT, &format!("(`*`:Mcp {{command: {command}, validate: {check}}})"));
    let called = gramc("call guard.gram say {\"text\":\"hi\"} --library upstream.gram");
    let verdict = called.within(folder.path()).run().exits(1).json();
    assert_eq!(verdict["error"]["errors"][0]["error_message"], "no", "{verdict}");
    let seen = std::fs::read_to_string(folder.file("seen")).expect("it was asked");
    assert_eq!(seen, "{\"name\":\"say\",\"arguments\":{\"text\":\"hi\"}}");
}

#[test]
fn an_implementation_of_its_own_comes_first() {
    let own = "(count:Client)";
    let server = format!("(`*`:Mcp {{command: {}}})", command("none"));
    for library in [format!("{own}, {server}"), format!("{server}, {own}")] {
        let folder = files(SAY_AND_COUNT, &library);
        assert_eq!(bind(&folder).clean().stdout, "say    Mcp\ncount  Client\n");
    }
}

#[test]
fn tools_that_the_library_excludes_have_no_implementation() {
    for filter in ["only: [\"say\"]", "except: [\"count\"]", "prefix: \"x_\", only: []"] {
        let server = format!("(`*`:Mcp {{command: {}, {filter}}})", command("none"));
        let run = bind(&files(SAY_AND_COUNT, &server));
        let missing = "error: `count` has no implementation in the library or its MCP servers";
        run.exits(1).says(&[missing]);
    }
    // The server has another name for it.
    let spec = "[sya:Tool | (text::Text)==>(::Any)] [count:Tool | ()==>(::Any)]";
    let two = format!("(`*`:Mcp {{command: {}}})", command("none"));
    let two = format!(
        "{two}, (`*`:Mcp {{command: {}, except: [\"cuont\", \"count\"]}})",
        command("other")
    );
    let folder = files(spec, &two);
    folder.write("other", r#"[{"name": "count", "inputSchema": {"type": "object"}}]"#);
    bind(&folder).exits(1).says(&[
        "`sya` has no implementation in the library or its MCP servers; did you mean `say`?",
        "warning: the MCP server `python3` has no tool `cuont` to exclude with `except`; did you mean `count`?",
    ]);
    let only =
        format!("(`*`:Mcp {{command: {}, only: [\"say\", \"count\", \"wait\"]}})", command("none"));
    bind(&files(SAY_AND_COUNT, &only))
        .exits(1)
        .says(&["`wait` is not a tool of the specification"]);
}

#[test]
fn a_tool_that_two_servers_offer_is_an_error() {
    let server =
        |tools: &str, more: &str| format!("(`*`:Mcp {{command: {}{more}}})", command(tools));
    let both = format!("{}, {}", server("none", ""), server("other", ""));
    let folder = files(SAY_AND_COUNT, &both);
    folder.write("other", r#"[{"name": "count", "inputSchema": {"type": "object"}}]"#);
    let said = "error: several MCP servers of the library offer `count`, `python3` and `python3`: \
                add an implementation of the tool, or use `only`, `except` or `prefix`";
    let run = bind(&folder).exits(1).says(&[said]);
    assert!(!run.stderr.contains("`say`"), "{}", run.stderr);
    let without = format!("{}, {}", server("none", ", except: [\"count\"]"), server("other", ""));
    folder.write("upstream.gram", format!("[upstream:Library | {without}]"));
    bind(&folder).clean();
    assert_eq!(text(&guard(&folder).call("say", &json!({"text": "hi"}))), "hi");
}

#[test]
fn a_server_that_no_longer_has_a_tool_is_not_served_in_silence() {
    let server = |more: &str| format!("(`*`:Mcp {{command: {}{more}}})", command("other"));
    for (more, code) in [("", 1), (", onChange: \"warn\"", 0)] {
        let folder = files(SAY_AND_COUNT, &server(more));
        folder.write("other", r#"[{"name": "count", "inputSchema": {"type": "object"}}]"#);
        let words = "mcp guard.gram --library upstream.gram";
        let run = gramc(words).within(folder.path()).run().exits(code);
        assert!(run.stderr.contains("has no tool `say`"), "{}", run.stderr);
    }
}

#[test]
fn a_server_that_cannot_be_used_is_reported_once() {
    let server = "(`*`:Mcp {url: \"http://127.0.0.1:9/mcp\", headers: {A: \"env:NO_SUCH\"}})";
    let run = bind(&files(SAY_AND_COUNT, server)).exits(1);
    run.says(&["error: cannot run the tools of `*`: the environment variable NO_SUCH is not set"]);
    let server = "(`*`:Mcp {url: \"http://127.0.0.1:9/mcp\"})";
    bind(&files(SAY_AND_COUNT, server)).exits(2).says(&["implementation of `*`", "127.0.0.1:9"]);
}

#[test]
fn an_import_writes_the_library_that_forwards_calls() {
    let folder = folder(&[]);
    let words: Vec<String> = command("none")
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it.as_str().expect("text").to_owned())
        .collect();
    let import = |library: &str, more: &str| {
        gramc(&format!("import -o guard.gram --library-out {library} {more} --command"))
            .arg(words.join(" "))
            .env("SECRET", "s3cret-value")
            .within(folder.path())
            .run()
    };
    import("upstream.gram", "").exits(0);
    bind(&folder).clean();
    assert_eq!(text(&guard(&folder).call("say", &json!({"text": "hi"}))), "hi");
    // In another folder, the server still runs in this one.
    std::fs::create_dir(folder.file("libraries")).expect("it can be made");
    import("libraries/upstream.gram", "--env SECRET").exits(0);
    let library =
        std::fs::read_to_string(folder.file("libraries/upstream.gram")).expect("a library");
    assert!(library.contains("env: {SECRET: \"env:SECRET\"}"), "{library}");
    assert!(library.contains("cwd: \"..\"") && !library.contains("s3cret"), "{library}");
    gramc("bind guard.gram --library libraries/upstream.gram")
        .env("SECRET", "s3cret-value")
        .within(folder.path())
        .run()
        .clean();
}

#[test]
fn an_import_adds_a_prefix() {
    let folder = folder(&[]);
    let words = command("none").as_array().expect("a list").clone();
    let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
    let import = gramc("import -o guard.gram --library-out upstream.gram --prefix up_ --command");
    import.arg(words.join(" ")).within(folder.path()).run().exits(0);
    let bound = bind(&folder).clean().stdout;
    assert!(bound.contains("up_say      Mcp\n") && !bound.contains("\nsay"), "{bound}");
    assert_eq!(text(&guard(&folder).call("up_say", &json!({"text": "hi"}))), "hi");
    gramc("import tools.json --prefix up_").run().exits(2).says(&["--prefix"]);
}

#[test]
fn an_import_writes_no_secret() {
    let folder = folder(&[("tools.json", "[]")]);
    let import = |more: &str| {
        gramc("import --library-out upstream.gram").args(more).within(folder.path()).run()
    };
    import("tools.json").exits(2).says(&["--library-out"]);
    import("").exits(2).says(&["--library-out needs an MCP server"]);
    import("--url http://ada:s3cret@127.0.0.1:9/mcp").fails_with(&["password of the URL"]);
    let header = gramc("import --library-out upstream.gram --url http://127.0.0.1:9/mcp --header")
        .arg("X-Key: s3cret")
        .within(folder.path())
        .run()
        .fails_with(&["value of the header `X-Key`", "env:VARIABLE"]);
    assert!(!header.stderr.contains("s3cret"), "{}", header.stderr);
    assert!(!folder.file("upstream.gram").exists());
}
