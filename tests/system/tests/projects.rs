//! Starting a project and looking at its tools: `gramc init`, `list` and `version`, single calls, and `--watch`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;

use crate::diff::git;
use crate::support::{binary, command, folder, gramc};

const TOOLS: &str = r#"
/** Sends money. The bank confirms it */
[send:Tool {destructive: true} | (amount::Number {range: 0..100})==>(note?::Text)==>(::Text)]
[now:Tool {description: "Returns the time"} | ()==>(::Text)]
"#;

#[test]
fn the_version_is_a_command() {
    let expected = gramc("--version").run().clean().stdout;
    assert_eq!(gramc("version").run().clean().stdout, expected);
}

#[test]
fn tools_are_listed_with_their_signatures() {
    let folder = folder(&[("tools.gram", TOOLS)]);
    let expected = "send
  (amount::Number)==>(note?::Text)==>(::Text)
  Sends money

now
  ()==>(::Text)
  Returns the time
";
    assert_eq!(gramc("list").within(folder.path()).run().clean().stdout, expected);
    let lines = gramc("list --format json").within(folder.path()).run().clean().stdout;
    let names: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["name"].clone())
        .collect();
    assert_eq!(names, ["send", "now"]);
    gramc("list -e").arg("[a:Tool | ()==>(::Txt)]").run().exits(1).says(&["unknown type `Txt`"]);
}

#[test]
fn a_new_project_has_no_errors() {
    let folder = folder(&[]);
    let run = gramc("init weather").within(folder.path()).run().clean();
    assert!(run.stdout.contains("wrote weather/tools.gram\n"), "{}", run.stdout);
    let project = folder.path().join("weather");
    gramc("check --deny warnings").within(&project).run().clean();
    gramc("fmt --check").within(&project).run().exits(0);
    gramc("test tools.gram --library library.gram").within(&project).run().exits(0);
    // A second time, nothing is lost.
    folder.write("weather/tools.gram", TOOLS);
    let again = gramc("init weather").within(folder.path()).run().clean();
    assert!(again.stdout.contains("kept weather/tools.gram\n"), "{}", again.stdout);
    assert_eq!(folder.read("weather/tools.gram"), TOOLS);
}

#[test]
fn a_project_begins_with_the_tools_that_exist() {
    let api = r#"{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://pets.example"}],
        "paths": {"/pets": {"get": {"operationId": "listPets", "responses": {"200": {"description": "ok"}}}}}}"#;
    let list = r#"[{"name": "a b", "input_schema": {"type": "object"}}]"#;
    let folder = folder(&[("api.json", api), ("list.json", list)]);
    for (source, name, implementation) in
        [("api.json", "[listPets:Tool", ":Http"), ("list.json", "[`a b`:Tool", "(`a b`:Fake)")]
    {
        let project = source.trim_end_matches(".json");
        let run = gramc(&format!("init {project} --from {source}")).within(folder.path()).run();
        run.exits(0);
        let (tools, library) = (format!("{project}/tools.gram"), format!("{project}/library.gram"));
        assert!(folder.read(&tools).contains(name), "{}", folder.read(&tools));
        assert!(folder.read(&library).contains(implementation), "{}", folder.read(&library));
        let bind = format!("bind {tools} --library {library}");
        gramc(&bind).within(folder.path()).run().exits(0);
    }
    gramc("init x --from none.json").within(folder.path()).run().fails_with(&["none.json"]);
}

#[test]
fn one_call_needs_no_file() {
    let folder = folder(&[
        ("tools.gram", TOOLS),
        ("library.gram", "[l:Library | (now:Builtin {name: \"echo\"}), (send:Fake)]"),
    ]);
    let validate = |line: &str| gramc(&format!("validate tools.gram {line}")).within(folder.path());
    assert_eq!(validate("send").arg("{\"amount\": 7}").run().exits(0).json()["ok"], true);
    assert_eq!(validate("send -").input("{\"amount\": 700}").run().exits(1).json()["ok"], false);
    assert_eq!(validate("now").run().exits(0).json()["ok"], true);
    validate("send --calls calls.jsonl").run().fails_with(&["cannot be used with"]);
    let call = "call tools.gram now --library library.gram";
    assert_eq!(gramc(call).within(folder.path()).run().exits(0).json()["result"], "{}");
}

#[test]
fn a_file_is_compared_with_its_last_commit() {
    let folder = folder(&[("tools.gram", TOOLS)]);
    git(folder.path(), "init -q");
    git(folder.path(), "add .");
    git(folder.path(), "commit -q -m first");
    folder.write("tools.gram", TOOLS.replace("0..100", "0..50"));
    let diff = |line: &str| gramc(&format!("diff {line}")).within(folder.path()).run();
    let run = diff("tools.gram").exits(1);
    assert!(run.stdout.contains("allowed 0 to 100 and now allows 0 to 50"), "{}", run.stdout);
    // A policy may become narrower, and not wider.
    let run = diff("--policy tools.gram").exits(0);
    assert_eq!(run.stdout, "the new version allows no other calls\n");
    folder.write("tools.gram", TOOLS.replace("0..100", "0..500"));
    diff("tools.gram").exits(0);
    let run = diff("--policy tools.gram").exits(1);
    assert!(
        run.stdout.starts_with("send: accepts more at /amount\n  now allowed: send {"),
        "{}",
        run.stdout
    );
    let added = format!("{TOOLS}[drop:Tool {{approval: \"always\"}} | ()==>(::Text)]");
    folder.write("tools.gram", &added);
    let run = diff("--policy tools.gram").exits(1);
    assert_eq!(run.stdout, "drop: the tool can be called now\n");
    git(folder.path(), "commit -q -a -m second");
    folder.write("tools.gram", added.replace("always", "never"));
    let run = diff("--policy tools.gram").exits(1);
    assert!(run.stdout.contains("`approval`"), "{}", run.stdout);
    diff("--policy --allow policy tools.gram").exits(0);
    diff("gone.gram").fails_with(&["gone.gram does not exist"]);
}

/// Answers each request with a document, and gives the address.
fn serve(status: &str, kind: &str, document: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().unwrap();
    let length = document.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n");
    let answer = format!("{head}connection: close\r\n\r\n{document}");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            drop(stream.read(&mut request));
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    format!("http://{address}/tools.json?key=hunter2")
}

#[test]
fn documents_are_imported_from_urls() {
    let list = r#"[{"name": "a", "input_schema": {"type": "object"}}]"#;
    let import = |url: &str| gramc("import").arg(url).run();
    let run = import(&serve("200 OK", "application/json", list)).exits(0);
    assert_eq!(run.stdout, "[a:Tool | ()==>(::Any)]\n");
    let run = import(&serve("404 Not Found", "text/plain", ""));
    let run = run.fails_with(&["HTTP status 404 Not Found"]);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    // This is how an MCP server answers, which this one is not.
    let run =
        import(&serve("405 Method Not Allowed", "text/plain", "")).fails_with(&["MCP server"]);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    import("http://127.0.0.1:1/x.json").fails_with(&["cannot read http://127.0.0.1:1/x.json"]);
}

#[test]
fn output_is_written_again_when_a_file_changes() {
    let folder = folder(&[("tools.gram", TOOLS)]);
    let mut command = command(binary());
    command.args(["compile", "--watch", "-o", "tools.json"]).current_dir(folder.path());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut wait = || {
        let waits = |line: &std::io::Result<String>| {
            line.as_ref().is_ok_and(|line| line == "waiting for changes")
        };
        assert!(lines.by_ref().any(|line| waits(&line)), "it ended");
    };
    wait();
    assert!(folder.read("tools.json").contains("\"now\""));
    folder.write("tools.gram", TOOLS.replace("now", "later"));
    while !folder.read("tools.json").contains("\"later\"") {
        wait();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    gramc("compile - --watch").run().fails_with(&["--watch cannot be used with standard input"]);
}
