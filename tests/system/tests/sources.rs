//! Specifications that are no files in gram: documents, live servers and git revisions.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use crate::diff::git;
use crate::mcp::Speaking;
use crate::support::{Folder, Gramc, binary, folder, gramc, root};

const TOOLS: &str = r#"[{"type": "function", "function": {
  "name": "get_weather",
  "description": "Weather of a city",
  "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
}}]"#;

const LIBRARY: &str = "[local:Library | (get_weather:Builtin {name: \"echo\"})]";

fn tools() -> Folder {
    folder(&[("tools.json", TOOLS), ("local.gram", LIBRARY), ("call.jsonl", CALL)])
}

const CALL: &str =
    "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"unit\": \"C\"}}\n";

/// The command of `tests/real/upstream.py`.
fn server() -> String {
    format!("python3 {} none none.pids", root().join("tests/real/upstream.py").display())
}

/// A command with the server in the place of its specification.
fn of_server(line: &str, folder: &Folder) -> Gramc {
    gramc(line).arg("--command").arg(server()).within(folder.path())
}

#[test]
fn tool_lists_are_specifications() {
    let folder = tools();
    let run = |line: &str| gramc(line).within(folder.path()).run();
    let compiled = run("compile tools.json --target anthropic").clean().json();
    assert_eq!(compiled[0]["input_schema"]["required"], json!(["city"]));
    let streamed = gramc("compile - --target anthropic").input(TOOLS).run().clean().json();
    assert_eq!(streamed, compiled);
    let verdict = run("validate tools.json --calls call.jsonl").clean().json();
    assert_eq!(verdict["stripped"], json!(["unit"]));
    assert_eq!(
        run("bind tools.json --library local.gram").clean().stdout,
        "get_weather  Builtin\n"
    );
    let call = "call tools.json get_weather {\"city\":\"Rome\"}";
    assert_eq!(run(&format!("{call} --library local.gram")).clean().json()["ok"], true);
    assert_eq!(run(&format!("{call} --fake")).clean().json()["ok"], true);
    let replayed = run("replay tools.json --library local.gram --calls call.jsonl").clean().json();
    assert_eq!(replayed["ok"], true);
    run("generate typescript tools.json -o code").clean();
    run("doc tools.json -o pages").clean();
    // What is checked and formatted is gram.
    run("check tools.json").exits(1).says(&["this file is JSON", "gramc import"]);
}

#[test]
fn what_a_document_is_not_is_told() {
    let texts =
        [("tools.json", "{\"a\": ["), ("api.yaml", "openapi: [3\n"), ("plain.yaml", "tools: 1\n")];
    let folder = folder(&texts);
    let run = |line: &str| gramc(line).within(folder.path()).run();
    run("compile tools.json").exits(1).says(&["gramc: tools.json: ", "line 1"]);
    run("compile api.yaml").exits(1).says(&["gramc: api.yaml: "]);
    run("compile plain.yaml").exits(1).says(&["plain.yaml: not a description of an API"]);
    run("import plain.yaml").exits(1).says(&["plain.yaml: not a description of an API"]);
    // JSON is YAML, too.
    folder.write("json.yaml", TOOLS);
    assert!(run("import json.yaml").exits(0).stdout.contains(":Tool"));
    run("compile none.json").fails_with(&["cannot read none.json"]);
    run("compile tools.json --command x").fails_with(&["name files or an MCP server, not both"]);
    run("bind tools.json --command x").fails_with(&["cannot be used with '--command <COMMAND>'"]);
}

#[test]
fn a_library_is_needed_where_nothing_else_calls_the_tools() {
    let two = "[a:Library | (get_weather:Client)]\n[b:Library | (get_weather:Client)]";
    let one = "[get_weather:Tool | (city::Text)==>(::Any)]\n[only:Library | (get_weather:Client)]";
    let both = format!("[get_weather:Tool | (city::Text)==>(::Any)]\n{two}");
    let folder = folder(&[("tools.json", TOOLS), ("one.gram", one), ("both.gram", &both)]);
    let bind = |spec: &str| gramc("bind").arg(spec).within(folder.path()).run();
    bind("tools.json").fails_with(&["missing library: name its file with --library"]);
    // A library in gram may run programs.
    bind("both.gram").fails_with(&["name one of SPEC with --library (a, b)"]);
    bind("one.gram").fails_with(&["name one of SPEC with --library (only)"]);
}

#[test]
fn tools_of_a_live_server_are_a_specification_and_its_library() {
    let folder = folder(&[]);
    let compiled = of_server("compile --target anthropic", &folder).run().clean().json();
    assert_eq!(compiled[0]["name"], "say");
    let bound = of_server("bind", &folder).run().clean().stdout;
    assert!(bound.starts_with("say      Mcp\n"), "{bound}");
    let call = of_server("call say {\"text\":\"hi\",\"loud\":true}", &folder).run().clean().json();
    assert_eq!((&call["result"], &call["stripped"]), (&json!("hi"), &json!(["loud"])));
    let tested = of_server("test --tool count --cases 5", &folder).run().exits(0);
    assert!(tested.stdout.contains("count"), "{}", tested.stdout);
    let missing = of_server("call say", &folder).run().exits(1).json();
    assert_eq!(missing["error"]["errors"][0]["error_code"], "REQUIRED_FIELD", "{missing}");
    of_server("doc -o pages", &folder).run().clean();
    of_server("generate python -o code", &folder).run().clean();
}

#[test]
fn a_live_server_is_guarded_without_a_file() {
    let folder = folder(&[]);
    let server = server();
    let words = ["mcp", "--command", &server];
    let mut guard = Speaking::start(binary().to_str().expect("a path"), &words, folder.path());
    let answer = guard.call("say", &json!({"text": "hi", "loud": true}));
    assert_eq!(answer["content"][0]["text"], "hi");
    let refused = guard.call("say", &json!({}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(guard.end(), Some(0));
}

/// Answers one request of HTTP, and gives its first line.
fn answer_once(listener: TcpListener, body: &'static str) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        let first = lines.next().expect("a request").expect("a line");
        let _ = lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
        write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).expect("sent");
        first
    })
}

#[test]
fn an_api_is_called_without_a_library() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": format!("http://{address}/v1")}],
        "paths": {"/pets/{id}": {"get": {
            "operationId": "getPet",
            "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}
            ],
            "responses": {"200": {"description": "A pet", "content": {"application/json": {
                "schema": {"type": "object", "properties": {"name": {"type": "string"}}}
            }}}}
        }}}
    });
    let folder = folder(&[("pets.json", &document.to_string())]);
    let bound = gramc("bind pets.json").within(folder.path()).run().clean();
    assert_eq!(bound.stdout, "getPet  Http\n");
    let asked = answer_once(listener, "{\"name\": \"Ada\"}");
    let called = gramc("call pets.json getPet {\"id\":\"7\"}").within(folder.path()).run();
    assert_eq!(called.exits(0).json()["result"], json!({"name": "Ada"}));
    assert_eq!(asked.join().expect("it answered"), "GET /v1/pets/7 HTTP/1.1");
}

#[test]
fn standard_input_has_no_place_in_a_repository() {
    let old = "[f:Tool {description: \"Does f\"} | (x::Text)==>(::Any)]";
    let new = "[f:Tool {description: \"Does f\"} | (x::Text)==>(y::Text)==>(::Any)]";
    let folder = folder(&[("old.gram", old), ("new.gram", new)]);
    let diff = |new: &str| gramc(&format!("diff old.gram {new} --format github"));
    let run = diff("new.gram").within(folder.path()).run().exits(1);
    assert!(run.stdout.starts_with("::error file=new.gram,"), "{}", run.stdout);
    let run = diff("-").within(folder.path()).input(new).run().exits(1);
    assert!(run.stdout.starts_with("::error title="), "{}", run.stdout);
}

/// The description of an API names the variables that it wants, and the host that gets them.
#[test]
fn secrets_are_sent_only_if_the_user_says_so() {
    let pets = std::fs::read_to_string(root().join("examples/api/pets.yaml")).expect("it is there");
    let folder = folder(&[("pets.yaml", &pets), ("one.gram", LIBRARY)]);
    let run = |line: &str| gramc(line).env("PETS_KEY", "s3cret").within(folder.path()).run();
    run("call pets.yaml listPets {}").fails_with(&["PETS_KEY", "allow that with --env PETS_KEY"]);
    run("bind pets.yaml").fails_with(&["the environment variable PETS_KEY to pets.example"]);
    run("bind pets.yaml --env PETS_TOKEN").fails_with(&["allow that with --env PETS_KEY"]);
    let both = "bind pets.yaml --env PETS_KEY --env PETS_KEI";
    run(both).fails_with(&["no call sends", "did you mean `PETS_KEY`"]);
    run("call pets.yaml listPets {} --fake").exits(0);
    run("bind pets.yaml --ca none.pem").fails_with(&["cannot be used with"]);
    run("bind pets.yaml --env PETS_KEY").exits(0);
    run("compile pets.yaml").exits(0);
    run("run pets.yaml Hi --model scripted/x").fails_with(&["allow that with --env PETS_KEY"]);
    run("run pets.yaml Hi --model scripted/x --env PETS_KEY").fails_with(&["agent"]);
    run("bind one.gram --env PETS_KEY").fails_with(&["--env needs --command"]);
    run("diff one.gram one.gram --env PETS_KEY").fails_with(&["cannot be used with"]);
}

/// A description of an API cannot make calls send a file.
#[test]
fn media_types_name_no_files() {
    for media_type in ["file:./secret.txt", " file:./secret.txt", "env:HOME/json"] {
        let body =
            json!({"content": {media_type: {"schema": {"type": "string", "format": "binary"}}}});
        let document = json!({
            "openapi": "3.1.0",
            "info": {"title": "Files", "version": "1"},
            "servers": [{"url": "https://files.example"}],
            "paths": {"/": {"post": {"operationId": "put", "requestBody": body, "responses": {}}}}
        });
        let folder = folder(&[("api.json", &document.to_string()), ("secret.txt", "s3cret")]);
        let line = "import api.json -o api.gram --library-out calls.gram";
        let run = gramc(line).within(folder.path()).run().exits(0);
        run.says(&["is not a media type and left out"]);
        let library = folder.read("calls.gram");
        assert!(!library.contains("file:") && !library.contains("env:"), "{library}");
    }
}

#[test]
fn revisions_are_specifications() {
    let types = |pattern: &str| format!("[Id:Alias | (::Text {{pattern: \"{pattern}\"}})]\n");
    let spec = "{imports: [\"types.gram\"]}\n[find:Tool | (id::Id)==>(::Any)]\n";
    let folder = folder(&[
        ("tools/shop.gram", spec),
        ("tools/types.gram", &types("^A")),
        ("local.gram", "[local:Library | (find:Builtin {name: \"echo\"})]"),
    ]);
    let here = folder.path();
    git(here, "init -q");
    git(here, "add .");
    git(here, "commit -q -m first");
    folder.write("tools/types.gram", types("^B"));
    let pattern = |line: &str| {
        let compiled = gramc(line).within(here).run().exits(0).json();
        compiled["find"]["$defs"]["Id"]["pattern"].clone()
    };
    assert_eq!(pattern("compile tools/shop.gram"), "^B");
    assert_eq!(pattern("compile HEAD:tools/shop.gram"), "^A");
    let called = |spec: &str| {
        let line = format!("call {spec} find {{\"id\":\"A1\"}} --library local.gram");
        gramc(&line).within(here).run()
    };
    called("HEAD:tools/shop.gram").exits(0);
    called("tools/shop.gram").exits(1);
    gramc("check HEAD:tools/shop.gram --allow missing-description").within(here).run().exits(0);
    gramc("check --fix HEAD:tools").within(here).run().fails_with(&["--fix needs files"]);
    let none = "there is no file `HEAD~9:tools`, and no git revision `HEAD~9`";
    gramc("compile HEAD~9:tools").within(here).run().fails_with(&[none]);
}
