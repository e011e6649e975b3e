//! `gramc diff`

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Folder, folder, gramc};

const OLD: &str = r#"
/** Books a room */
[book:Tool {destructive: true, approval: "always"} |
  (city::Text {description: "Where"})
  ==>(nights::Int {range: 1..30})
  ==>(room?::"single" | "double" | "suite")
  ==>(notes?::Text)
  ==>(::Booking)
]

/** Cancels a booking */
[cancel:Tool | (id::Text)==>(::Bool)]

/** Lists the bookings of a guest */
[listBookings:Tool | (guest::Text {length: 1..80})==>(limit::Int {default: 10})==>(::Booking[])]

[Booking::Record {open: false} | (id::Text), (price::Number), (paid?::Bool)]
"#;

const NEW: &str = r#"
/** Books a room in a hotel */
[book:Tool {destructive: true, approval: "destructive"} |
  (city::Text {description: "The name of the city"})
  ==>(nights::Int {range: 1..14})
  ==>(room?::"single" | "double")
  ==>(notes?::Text)
  ==>(breakfast?::Bool)
  ==>(email::Text {format: "email"})
  ==>(::Booking)
]

/** Lists all bookings of a guest */
[list_bookings:Tool | (guest::Text {length: 1..80})==>(limit::Int {default: 20})==>(::Booking[])]

/** Counts rooms */
[countRooms:Tool | (city::Text)==>(::Int)]

[Booking::Record {open: false} | (id::Text), (price::Number), (paid?::Bool), (room?::Text)]
"#;

fn versions() -> Folder {
    folder(&[("old.gram", OLD), ("new.gram", NEW)])
}

fn changes(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// Whether a schema of a specification accepts arguments.
fn accepts(folder: &Folder, file: &str, tool: &str, arguments: &Value) -> bool {
    let run = gramc("compile --tool").arg(tool).arg(file).within(folder.path()).run().exits(0);
    let options = jsonschema::options().should_validate_formats(true);
    options.build(&run.json()).expect("a schema").is_valid(arguments)
}

#[test]
fn each_format_shows_the_changes() {
    let folder = versions();
    for format in ["human", "concise", "json", "github", "markdown"] {
        let run = gramc("diff old.gram new.gram --format").arg(format).within(folder.path()).run();
        insta::assert_snapshot!(format!("diff-{format}"), run.exits(1).stdout);
    }
    let run = gramc("diff old.gram new.gram --changelog").within(folder.path()).run().exits(1);
    insta::assert_snapshot!("diff-changelog", run.stdout);
    gramc("diff old.gram new.gram --format sarif")
        .within(folder.path())
        .run()
        .fails_with(&["sarif"]);
    for format in ["json", "github", "concise"] {
        let run = gramc("diff old.gram new.gram --changelog --format").arg(format);
        run.within(folder.path()).run().fails_with(&["--changelog prints Markdown"]);
    }
    let run = gramc("diff old.gram new.gram --changelog --format markdown");
    assert!(run.within(folder.path()).run().exits(1).stdout.starts_with("## [Unreleased]"));
    gramc("check old.gram --format markdown").within(folder.path()).run().fails_with(&["markdown"]);
}

#[test]
fn witnesses_are_calls_that_break() {
    let folder = versions();
    let run = gramc("diff old.gram new.gram --format json").within(folder.path()).run().exits(1);
    let mut seen = 0;
    for change in changes(&run.stdout) {
        let kind = change["change"].as_str().unwrap();
        let is_input = kind.starts_with("input");
        assert_eq!(change.get("witness").is_some(), change.get("repaired").is_some());
        let Some(witness) = change.get("witness").filter(|_| is_input) else { continue };
        let tool = change["tool"].as_str().unwrap();
        assert!(accepts(&folder, "old.gram", tool, witness), "{change}");
        assert!(!accepts(&folder, "new.gram", tool, witness), "{change}");
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn equal_versions_have_no_changes() {
    let folder = versions();
    let run = gramc("diff old.gram old.gram").within(folder.path()).run().clean();
    assert_eq!(run.stdout, "no changes\nsemantic versioning: no new version\n");
    let run = gramc("diff old.gram old.gram --format json").within(folder.path()).run().clean();
    assert_eq!(run.stdout, "");
}

#[test]
fn allowed_changes_are_no_failure() {
    let folder = folder(&[
        ("old.gram", "[a:Tool | (x::Int)==>(::Any)]\n[b:Tool | (x::Int)==>(::Any)]"),
        ("new.gram", "[a:Tool | (x::Int)==>(::Any)]"),
    ]);
    let diff = || gramc("diff old.gram new.gram").within(folder.path());
    assert!(diff().run().exits(1).stdout.contains("breaking: `b` is gone"));
    let run = diff().args("--allow tool-removed,input-narrowed").run().exits(0);
    assert!(run.stdout.contains("breaking, allowed: `b` is gone"), "{}", run.stdout);
    diff().args("--allow input-narrowed").run().exits(1);
    diff().args("--allow tool-gone").run().fails_with(&["tool-gone", "tool-removed"]);
    // The other direction only adds.
    let run = gramc("diff new.gram old.gram").within(folder.path()).run().exits(0);
    assert!(run.stdout.ends_with("semantic versioning: minor version\n"), "{}", run.stdout);
}

#[test]
fn open_and_closed_objects_are_told_apart() {
    let tool =
        |attributes: &str, more: &str| format!("[f:Tool {attributes} | (a::Text){more}==>(::Any)]");
    let folder = folder(&[
        ("open.gram", &tool("", "")),
        ("closed.gram", &tool("{open: false}", "")),
        ("more.gram", &tool("", "==>(b?::Int)")),
        ("typed.gram", &tool("{open: `Int`}", "")),
    ]);
    let diff = |old: &str, new: &str| {
        let line = format!("diff {old}.gram {new}.gram --format json");
        let run = gramc(&line).within(folder.path()).run();
        changes(&run.stdout).into_iter().next().expect("a change")
    };
    let more = diff("open", "more");
    assert_eq!((&more["change"], &more["breaking"]), (&json!("input-widened"), &json!(false)));
    let closed = diff("open", "closed");
    assert_eq!((&closed["change"], &closed["breaking"]), (&json!("input-narrowed"), &json!(true)));
    assert_eq!(closed["repaired"], false);
    assert_eq!(diff("closed", "open")["change"], "input-widened");
    let gone = diff("more", "closed");
    assert_eq!((&gone["breaking"], &gone["repaired"]), (&json!(true), &json!(false)));
    let typed = diff("open", "typed");
    assert_eq!(typed["change"], "input-narrowed");
}

#[test]
fn tool_lists_and_streams_are_read() {
    let list = |most: u32| {
        json!({"tools": [{"name": "book", "inputSchema": {
            "type": "object",
            "properties": {"nights": {"type": "integer", "minimum": 1, "maximum": most}},
            "required": ["nights"]
        }}]})
    };
    let folder =
        folder(&[("old.json", &list(30).to_string()), ("new.json", &list(14).to_string())]);
    let gram = "[book:Tool | (nights::Int {range: 1..14})==>(::Any)]";
    for (new, input) in [("new.json", ""), ("-", gram), ("-", &list(14).to_string())] {
        let run = gramc("diff old.json --format json").arg(new).within(folder.path());
        let run = run.input(input).run().exits(1);
        let [change] = &changes(&run.stdout)[..] else { panic!("{}", run.stdout) };
        assert_eq!(change["message"], "`nights` allowed 1 to 30 and now allows 1 to 14");
        assert_eq!(change["witness"], json!({"nights": 15}));
    }
    gramc("diff - -").within(folder.path()).run().fails_with(&["only one argument can be `-`"]);
    gramc("diff old.json none.gram").within(folder.path()).run().fails_with(&["none.gram"]);
    // A file alone is compared with its last commit.
    let run =
        gramc("diff old.json").within(folder.path()).env("GIT_CEILING_DIRECTORIES", "/").run();
    run.fails_with(&["cannot compare old.json with its last commit", "not a git repository"]);
    gramc("diff none.json").within(folder.path()).run().fails_with(&["none.json does not exist"]);
}

#[test]
fn errors_of_a_version_are_shown() {
    let folder = folder(&[("old.gram", OLD), ("bad.gram", "[f:Tool | (a::Txt)==>(::Any)]")]);
    let run = gramc("diff old.gram bad.gram").within(folder.path()).run().exits(1);
    assert_eq!(run.says(&["unknown type `Txt`"]).stdout, "");
    let run = gramc("diff bad.gram old.gram --format json").within(folder.path()).run().exits(1);
    assert!(run.stdout.contains("unknown-type"), "{}", run.stdout);
    let folder = folder_of_json("{\"tools\": [1]}");
    let run = gramc("diff bad.json bad.json").within(folder.path()).run().exits(1);
    run.says(&["bad.json"]);
}

fn folder_of_json(text: &str) -> Folder {
    folder(&[("bad.json", text)])
}

pub(crate) fn git(folder: &Path, line: &str) {
    let mut command = Command::new("git");
    for (name, value) in [("NAME", "a"), ("EMAIL", "a@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value);
        command.env(format!("GIT_COMMITTER_{name}"), value);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let run = command.args(line.split(' ')).current_dir(folder).output().expect("git starts");
    assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn revisions_of_git_are_read() {
    let folder = folder(&[
        ("tools/book.gram", "{imports: [\"../types.gram\"]}\n[book:Tool | (at::Stay)==>(::Any)]"),
        ("types.gram", "[Stay::Record | (nights::Int {range: 1..30})]"),
        ("gram.toml", ""),
        ("list.json", r#"[{"name": "f", "inputSchema": {"type": "object"}}]"#),
        ("other.txt", "no tools"),
    ]);
    let here = folder.path();
    git(here, "init -q");
    git(here, "add .");
    git(here, "commit -q -m first");
    folder.write("types.gram", "[Stay::Record | (nights::Int {range: 1..14})]");
    let diff = |line: &str, folder: &Path| gramc(&format!("diff {line}")).within(folder).run();
    let expected = "`at.nights` allowed 1 to 30 and now allows 1 to 14";
    for line in [
        "HEAD:tools/ tools",
        "HEAD:tools/book.gram tools/book.gram",
        "HEAD: .",
        "HEAD:./tools tools/",
    ] {
        let run = diff(line, here).exits(1);
        assert!(run.stdout.contains(expected), "{line}: {}", run.stdout);
    }
    // Paths are relative to the current folder or to the root of the repository.
    for line in ["HEAD:book.gram book.gram", "HEAD:tools/book.gram book.gram", "HEAD:./ ."] {
        let run = diff(line, &here.join("tools")).exits(1);
        assert!(run.stdout.contains(expected), "{line}: {}", run.stdout);
    }
    assert_eq!(diff("HEAD:list.json list.json", here).exits(0).stdout.lines().count(), 2);
    git(here, "commit -q -a -m second");
    assert!(diff("HEAD~1:tools HEAD:tools", here).exits(1).stdout.contains(expected));
    diff("HEAD~9:tools tools", here)
        .fails_with(&["there is no file `HEAD~9:tools`, and no git revision `HEAD~9`"]);
    diff("HEAD:none tools", here).fails_with(&["HEAD:none"]);
    diff("HEAD:../tools tools", here).fails_with(&["HEAD:../tools"]);
    diff("--output=x:tools tools", here).exits(2);
    // A file of that name takes precedence.
    folder.write("HEAD:list.json", "[]");
    let run = diff("HEAD:list.json list.json", here).exits(0);
    assert!(run.stdout.contains("`f` is new"), "{}", run.stdout);
    let outside = tempfile::tempdir().unwrap();
    let run =
        gramc("diff HEAD:a b").within(outside.path()).env("GIT_CEILING_DIRECTORIES", "/").run();
    run.fails_with(&["there is no file `HEAD:a`", "not a git repository"]);
    // Paths with a colon are no revisions.
    for path in ["C:\\x\\none.gram", "https://a.example/c.json"] {
        let run = gramc("diff").arg(path).arg("tools").within(here).run();
        run.fails_with(&[&format!("there is no file `{path}`, and no git revision")]);
    }
}

#[test]
fn a_repository_that_git_refuses_is_no_missing_one() {
    let folder = folder(&[("a.gram", "[f:Tool | ()==>(::Any)]")]);
    git(folder.path(), "init -q");
    git(folder.path(), "add .");
    git(folder.path(), "commit -q -m first");
    // git itself takes the owner for another one in its tests.
    let run = gramc("diff HEAD:a.gram a.gram").within(folder.path());
    let run = run.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1").run();
    run.fails_with(&["detected dubious ownership"]);
}

#[cfg(unix)]
#[test]
fn links_of_a_revision_are_named_as_such() {
    let folder = folder(&[
        ("a.gram", "[f:Tool | ()==>(::Any)]"),
        ("b.gram", "{imports: [\"link.gram\"]}\n[g:Tool | ()==>(::Any)]"),
    ]);
    std::os::unix::fs::symlink("a.gram", folder.path().join("link.gram")).unwrap();
    git(folder.path(), "init -q");
    git(folder.path(), "add .");
    git(folder.path(), "commit -q -m first");
    let diff = |old: &str| gramc("diff").arg(old).arg("a.gram").within(folder.path()).run();
    diff("HEAD:link.gram").fails_with(&["HEAD:link.gram is a symbolic link"]);
    diff("HEAD:b.gram").exits(1).says(&["`link.gram` is a symbolic link at the revision HEAD"]);
}

#[test]
fn descriptions_of_apis_are_compared() {
    let api = |most: u32| {
        format!(
            "openapi: 3.0.3\ninfo: {{title: Shop, version: '1'}}\nservers: [{{url: 'https://a.example'}}]\n\
             paths:\n  /books:\n    get:\n      operationId: listBooks\n      parameters:\n        \
             - {{name: limit, in: query, schema: {{type: integer, minimum: 1, maximum: {most}}}}}\n      \
             responses: {{'200': {{description: ok}}}}\n"
        )
    };
    let json = json!({
        "openapi": "3.0.3", "info": {"title": "Shop", "version": "1"},
        "paths": {"/books": {"get": {"operationId": "listBooks",
            "parameters": [{"name": "limit", "in": "query",
                "schema": {"type": "integer", "minimum": 1, "maximum": 14}}],
            "responses": {"200": {"description": "ok"}}}}}
    });
    let folder = folder(&[("api.yaml", &api(30)), ("new.json", &json.to_string())]);
    let here = folder.path();
    git(here, "init -q");
    git(here, "add .");
    git(here, "commit -q -m first");
    folder.write("api.yaml", api(14));
    for (line, input) in [
        ("HEAD:api.yaml api.yaml", String::new()),
        ("HEAD:api.yaml new.json", String::new()),
        ("HEAD:api.yaml -", api(14)),
    ] {
        let run = gramc("diff --format json").args(line).within(here).input(input).run().exits(1);
        let changes = changes(&run.stdout);
        let narrowed = changes.iter().find(|change| change["change"] == "input-narrowed");
        let narrowed = narrowed.unwrap_or_else(|| panic!("{line}: {}", run.stdout));
        assert_eq!(narrowed["witness"], json!({"limit": 15}), "{line}");
    }
    folder.write("api.yaml", "openapi: 3.0.3\npaths: [");
    gramc("diff new.json api.yaml").within(here).run().exits(1).says(&["api.yaml"]);
}

#[test]
fn values_of_secrets_are_not_shown() {
    let tool = |token: &str| format!("[f:Tool | (x::Text)==>(token::{token})==>(::Any)]");
    let folder = folder(&[
        ("old.gram", &tool("Text {secret: true, default: \"hunter2-secret\"}")),
        ("new.gram", &tool("Text {secret: true, length: 20..40}")),
    ]);
    for format in ["human", "concise", "json", "github", "markdown"] {
        let run = gramc("diff old.gram new.gram --format").arg(format).within(folder.path());
        let run = run.run().exits(1);
        assert!(!run.stdout.contains("hunter2"), "{}", run.stdout);
        assert!(run.stdout.contains("***") || format == "concise", "{}", run.stdout);
    }
}

#[test]
fn an_import_that_a_revision_lacks_is_an_error() {
    let folder = folder(&[("a.gram", "{imports: [\"b.gram\"]}\n[f:Tool | (a::B)==>(::Any)]")]);
    git(folder.path(), "init -q");
    git(folder.path(), "add .");
    git(folder.path(), "commit -q -m first");
    folder.write("b.gram", "[B::Record | (x::Int)]");
    let run = gramc("diff HEAD:a.gram a.gram").within(folder.path()).run().exits(1);
    run.says(&["there is no file `b.gram` at the revision HEAD"]);
}

#[test]
fn a_live_server_is_compared_with_its_lock() {
    let tools = json!([
        {"name": "echo", "description": "Echoes", "inputSchema": {"type": "object",
            "properties": {"text": {"type": "string"}}, "required": ["text"]}},
        {"name": "add", "inputSchema": {"type": "object",
            "properties": {"a": {"type": "integer", "maximum": 9}}, "required": ["a"]}},
    ]);
    let folder = folder(&[("server.py", &fake_server(&tools)), ("tools.json", &tools.to_string())]);
    gramc("import tools.json -o guard.gram").within(folder.path()).run().exits(0);
    let diff = |lock: &str| {
        let run = gramc("diff").arg(lock).arg("--command").arg("python3 server.py");
        run.args("--format json").within(folder.path()).run()
    };
    assert_eq!(diff("guard.gram").exits(0).stdout, "");
    assert_eq!(diff("tools.json").exits(0).stdout, "");
    folder.write(
        "guard.gram",
        "/** Echoes */ [echo:Tool | (text::Text)==>(::Any)]\n[add:Tool | (a::Int)==>(::Any)]",
    );
    let run = diff("guard.gram").exits(1);
    let [change] = &changes(&run.stdout)[..] else { panic!("{}", run.stdout) };
    assert_eq!(change["witness"], json!({"a": 10}));
    let run = gramc("diff guard.gram guard.gram --command x").within(folder.path()).run();
    run.fails_with(&["--command"]);
    gramc("diff guard.gram --command false").within(folder.path()).run().fails_with(&["server"]);
}

/// A server that lists tools and does nothing else.
fn fake_server(tools: &Value) -> String {
    format!(
        "import json, sys\nTOOLS = json.loads({:?})\n{}",
        tools.to_string(),
        r#"
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    if request["method"] == "initialize":
        version = request["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}},
                  "serverInfo": {"name": "fake", "version": "1"}}
    elif request["method"] == "tools/list":
        result = {"tools": TOOLS}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"],
                          "error": {"code": -32601, "message": "unknown method"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"#
    )
}

const NEW_FORM: &str = r#"
[book:Tool {description: "Books"} |
  (stay::{city: Text, nights: Int})==>(bookingStatus?::"OPEN" | "IN_PROGRESS")==>(tags?::Text[])==>(version::"2")==>(::Any)
]
[search:Tool {description: "Finds"} | (city::Text)==>(zip?::Text)==>(::Any)]
[narrow:Tool {description: "Narrows"} | (counts::Int {range: 1..14})==>(::Any)]
[stable:Library | (book:Command {run: ["cat"]}), (search:Command {run: ["cat"]}), (narrow:Command {run: ["cat"]})]
"#;

const OLD_FORM: &str = r#"
[book:Tool {description: "Books"} |
  (city::Text)==>(nights::Int)==>(booking_status?::"open" | "inProgress")==>(tag?::Text)==>(::Any)
]
[find:Tool {description: "Finds"} | (place::{city: Text, zip?: Text})==>(::Any)]
[narrow:Tool {description: "Narrows"} | (count::Int {range: 1..30})==>(::Any)]
[gone:Tool {description: "Goes"} | (key::Text {secret: true})==>(::Any)]
"#;

#[test]
fn callers_of_the_old_form_use_the_new_tools() {
    let files = folder(&[("old.gram", OLD_FORM), ("new.gram", NEW_FORM)]);
    let gramc = |line: &str| gramc(line).within(files.path());
    let run = gramc("diff old.gram new.gram --adapt adapted.gram").run().exits(1);
    run.says(&[
        "`narrow` is not adapted: the new version rejects the adapted call: {\"count\":15}",
        "`gone` is not adapted: the new version has no such tool",
    ]);
    let call = |tool: &str, arguments: &str| {
        let call = gramc("call old.gram").arg(tool).arg(arguments).args("--library adapted.gram");
        call.run().exits(0).json()["result"].clone()
    };
    assert_eq!(
        call("book", r#"{"city": "Vienna", "nights": 2, "booking_status": "inProgress"}"#),
        json!({"stay": {"city": "Vienna", "nights": 2}, "bookingStatus": "IN_PROGRESS", "version": "2"})
    );
    assert_eq!(
        call("book", r#"{"city": "Vienna", "nights": 2, "tag": "x"}"#),
        json!({"stay": {"city": "Vienna", "nights": 2}, "tags": ["x"], "version": "2"})
    );
    assert_eq!(call("find", r#"{"place": {"city": "Graz"}}"#), json!({"city": "Graz"}));
    let json = gramc("diff old.gram new.gram --adapt adapted.gram --format json").run().exits(1);
    let lines: Vec<Value> =
        json.stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let refused = lines.iter().find(|line| line["adapted"] == json!(false)).unwrap();
    assert_eq!((&refused["tool"], &refused["example"]), (&json!("narrow"), &json!({"count": 15})));
}

#[test]
fn an_adapted_library_is_written_where_its_paths_hold() {
    let files = folder(&[("old.gram", OLD_FORM), ("new.gram", NEW_FORM), ("plain.gram", OLD_FORM)]);
    std::fs::create_dir(files.file("sub")).unwrap();
    let gramc = |line: &str| gramc(line).within(files.path());
    gramc("diff old.gram new.gram --adapt sub/adapted.gram")
        .run()
        .fails_with(&["in the folder of the library"]);
    gramc("diff old.gram plain.gram --adapt a.gram")
        .run()
        .fails_with(&["name it with --library FILE:NAME"]);
    let line = "diff old.gram plain.gram --adapt a.gram --library new.gram:stabel";
    gramc(line).run().fails_with(&["there is no library `stabel`", "stable"]);
    gramc("diff old.gram old.gram --library new.gram").run().fails_with(&["--adapt"]);
    let line = "diff old.gram plain.gram --adapt a.gram --library new.gram:stable";
    gramc(line).run().exits(0).says(&["the library does not implement `find`"]);
    let text = files.read("a.gram");
    assert!(text.contains("book:Command") && !text.contains("arguments"), "{text}");
}

#[test]
fn what_would_change_the_meaning_of_a_call_is_not_adapted() {
    let old = r#"
[spelling:Tool {description: "A"} | (op::("<" | "x"))==>(::Any)]
[secret:Tool {description: "B"} | (apiKey::Text {secret: true})==>(::Any)]
[part:Tool {description: "C"} | (stay::{city: Text, nights: Int})==>(::Any)]
[injected:Tool {description: "D"} | (a::Text)==>(::Any)]
[deleteUser:Tool {description: "E"} | (user::Text)==>(::Any)]
[opposite:Tool {description: "F"} | (minPrice::Int)==>(::Any)]
"#;
    let new = r#"
[spelling:Tool {description: "A"} | (op::(">" | "x"))==>(::Any)]
[secret:Tool {description: "B"} | (comment::Text)==>(::Any)]
[part:Tool {description: "C"} | (city::Text)==>(::Any)]
[injected:Tool {description: "D"} | (a::Text)==>(t::Text {injected: true})==>(::Any)]
[deleteUserGroup:Tool {description: "G"} | (group::Text)==>(::Any)]
[opposite:Tool {description: "F"} | (maxPrice::Int)==>(::Any)]
[l:Library {inject: {t: "x"}} | (*:Client)]
"#
    .replace(
        "(*:Client)",
        &["spelling", "secret", "part", "injected", "deleteUserGroup", "opposite"]
            .map(|tool| format!("({tool}:Builtin {{name: \"echo\"}})"))
            .join(", "),
    );
    let files = folder(&[("old.gram", old), ("new.gram", &new)]);
    let diff = gramc("diff old.gram new.gram --adapt adapted.gram").within(files.path());
    diff.run().exits(1).says(&[
        "`spelling` is not adapted: the new version rejects the adapted call: {\"op\":\"<\"}",
        "`secret` is not adapted: `apiKey` has no place in the new version: {\"apiKey\":\"***\"}",
        "`part` is not adapted: `stay.nights` has no place",
        "`injected` is not adapted: the old version does not declare `t`, which the library injects",
        "`deleteUser` is not adapted: the new version has no such tool",
        "`opposite` is not adapted: `minPrice` has no place",
        "adapted.gram is not written",
    ]);
    assert!(!files.file("adapted.gram").exists());
}
