//! `gramc lsp`: what a real client sees of each capability, and what happens when clients, files and
//! messages are not as they should be.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Folder, binary, command, folder, gramc, root};

/// A client that writes and reads messages as they are.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: i64,
}

impl Editor {
    /// A client without a workspace that has said hello.
    fn start(folder: &Folder) -> Self {
        let mut editor = Self::new(folder);
        let uri = format!("file://{}", folder.path().display());
        let params = json!({
            "processId": null,
            "rootUri": uri,
            "capabilities": {"textDocument": {"diagnostic": {}}},
        });
        let answer = editor.ask("initialize", &params);
        assert_eq!(answer["result"]["capabilities"]["textDocumentSync"]["change"], 2, "{answer}");
        editor.tell("initialized", &json!({}));
        editor
    }

    fn new(folder: &Folder) -> Self {
        let mut child = command(binary())
            .arg("lsp")
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Self { child, input, output, next: 0 }
    }

    fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it was not closed");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    fn body(&mut self, body: &str) {
        self.write(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.body(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request, and gives its id.
    fn request(&mut self, method: &str, params: &Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.body(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        id
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(|message| message["id"] == id)
    }

    /// The next message that is wanted.
    fn answer(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.read();
            if wanted(&message) {
                return message;
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("text") > 0, "the server is gone");
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().expect("a number");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "gram", "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": document}));
    }

    /// The codes of the errors that are found in a text.
    fn codes(&mut self, uri: &str) -> Vec<String> {
        let answer = self.ask("textDocument/diagnostic", &json!({"textDocument": {"uri": uri}}));
        let items = answer["result"]["items"].as_array();
        let items = items.unwrap_or_else(|| panic!("{answer}"));
        let errors = items.iter().filter(|item| item["severity"] == 1);
        errors.map(|item| item["code"].as_str().expect("a code").to_owned()).collect()
    }

    /// The exit code, as soon as there is one.
    fn ended(mut self) -> Option<i32> {
        drop(self.input.take());
        let start = Instant::now();
        while start.elapsed() < Duration::from_mins(1) {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        panic!("the server does not end");
    }
}

const WRONG: &str = "[a:Tool {description: 'Does a thing'} | (x::Txt)==>(::Text)]\n";

#[test]
fn real_client_finds_every_capability() {
    let python = root().join(".tools/python/bin/python");
    let installed = root().join(".tools/python/stamp").exists();
    assert!(installed, "the client is not installed; `tests/real/install` installs it");
    let output = command(python)
        .args(["-m", "pytest"])
        .env("GRAMC", binary())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(root().join("tests/real/lsp"))
        .output()
        .expect("python starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let passed = said.lines().rev().find_map(|line| line.split_once(" passed")).map(|it| it.0);
    let passed: u32 = passed.and_then(|it| it.parse().ok()).expect("a number of tests");
    assert!(passed > 40, "{said}");
}

#[test]
fn messages_that_are_none_are_answered_and_nothing_else_happens() {
    let folder = folder(&[]);
    let mut editor = Editor::new(&folder);
    // Before the first request.
    let early = editor.ask("textDocument/hover", &json!({}));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    let strange = editor.ask("initialize", &json!({"capabilities": 7}));
    assert_eq!(strange["error"]["code"], -32602, "{strange}");
    editor.ask("initialize", &json!({"capabilities": {}}));
    editor.tell("initialized", &json!({}));
    editor.body("{nonsense");
    assert_eq!(editor.read()["error"]["code"], -32700);
    for body in ["[]", "7", "{}", r#"{"id": {}, "method": "x"}"#] {
        editor.body(body);
        assert_eq!(
            editor.answer(|it| it.get("error").is_some())["error"]["code"],
            -32600,
            "{body}"
        );
    }
    assert_eq!(editor.ask("gram/nothing", &json!({}))["error"]["code"], -32601);
    for params in
        [json!(null), json!([]), json!({"textDocument": 7}), json!({"textDocument": {"uri": "::"}})]
    {
        assert_eq!(editor.ask("textDocument/hover", &params)["error"]["code"], -32602, "{params}");
    }
    editor.open("untitled:a", WRONG);
    let position = json!({"textDocument": {"uri": "untitled:a"}, "position": {"line": -1}});
    assert_eq!(editor.ask("textDocument/hover", &position)["error"]["code"], -32602);
    let far = json!({"textDocument": {"uri": "untitled:a"},
        "position": {"line": 4_000_000_000_u32, "character": 4_000_000_000_u32}});
    for method in ["hover", "completion", "definition", "rename", "signatureHelp"] {
        let mut params = far.clone();
        params["newName"] = json!("b");
        let answer = editor.ask(&format!("textDocument/{method}"), &params);
        assert!(answer["error"]["code"] != -32603, "{method}: {answer}");
    }
    // Notifications of another shape, and about what is not open.
    for method in ["didOpen", "didChange", "didClose", "didSave"] {
        editor.tell(&format!("textDocument/{method}"), &json!({"textDocument": []}));
        editor.tell(
            &format!("textDocument/{method}"),
            &json!({"textDocument":
            {"uri": "untitled:gone", "version": 1}, "contentChanges": []}),
        );
    }
    editor.tell("$/cancelRequest", &json!({"id": 99}));
    editor.tell("$/unknown", &json!(7));
    assert_eq!(editor.codes("untitled:a"), ["unknown-type"]);
    assert!(editor.ask("shutdown", &Value::Null)["result"].is_null());
    assert_eq!(editor.ask("textDocument/hover", &far)["error"]["code"], -32600);
    editor.tell("exit", &Value::Null);
    assert_eq!(editor.ended(), Some(0));
}

#[test]
fn a_client_that_dies_takes_the_server_along() {
    let folder = folder(&[("a.gram", WRONG)]);
    assert_eq!(Editor::start(&folder).ended(), Some(1));
    // In the middle of a message.
    let mut editor = Editor::start(&folder);
    editor.write(b"Content-Length: 1000\r\n\r\n{");
    assert_eq!(editor.ended(), Some(2));
    // With an unreadable header.
    let mut editor = Editor::start(&folder);
    editor.write(b"Content-Length: many\r\n\r\n");
    assert_eq!(editor.ended(), Some(2));
    // And one that reads nothing any more.
    let mut editor = Editor::start(&folder);
    drop(std::mem::replace(
        &mut editor.output,
        BufReader::new(
            command(binary())
                .arg("man")
                .stdout(Stdio::piped())
                .spawn()
                .expect("it starts")
                .stdout
                .expect("a pipe"),
        ),
    ));
    let exit = json!({"jsonrpc": "2.0", "id": 9, "method": "shutdown"}).to_string();
    editor.body(&exit);
    assert!(editor.ended().is_some());
}

#[test]
fn files_that_disappear_and_folders_that_are_closed_stop_nothing() {
    let folder = folder(&[
        (
            "a.gram",
            "{imports: ['b.gram']}\n[a:Tool {description: 'Does a thing'} | (x::B)==>(::Text)]\n",
        ),
        ("b.gram", "[B::Record | (c::Text {description: 'Which of them', length: 1..9})]\n"),
        ("closed/c.gram", WRONG),
        ("bytes.gram", "x"),
    ]);
    folder.write("bytes.gram", [0xff, 0xfe, b'[']);
    let closed = folder.file("closed");
    std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o000))
        .expect("ours");
    let uri = |name: &str| format!("file://{}", folder.file(name).display());
    let mut editor = Editor::start(&folder);
    editor.open(&uri("a.gram"), &folder.read("a.gram"));
    assert_eq!(editor.codes(&uri("a.gram")), [""; 0]);
    assert_eq!(editor.codes(&uri("bytes.gram")), ["invalid-utf8"]);
    std::fs::remove_file(folder.file("b.gram")).expect("it is there");
    editor.tell(
        "workspace/didChangeWatchedFiles",
        &json!({"changes": [{"uri": uri("b.gram"), "type": 3}]}),
    );
    assert!(editor.codes(&uri("a.gram")).contains(&"unknown-import".to_owned()));
    // An open text stays though its file, and then its folder, is gone.
    std::fs::remove_file(folder.file("a.gram")).expect("it is there");
    editor.tell(
        "workspace/didChangeWatchedFiles",
        &json!({"changes": [{"uri": uri("a.gram"), "type": 3}]}),
    );
    assert!(editor.codes(&uri("a.gram")).contains(&"unknown-import".to_owned()));
    std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("ours");
    assert!(editor.ask("shutdown", &Value::Null)["result"].is_null());
    editor.tell("exit", &Value::Null);
    assert_eq!(editor.ended(), Some(0));
}

#[test]
fn requests_that_are_cancelled_are_told_so() {
    let folder = folder(&[]);
    let mut editor = Editor::start(&folder);
    // So much that an answer takes longer than the message that cancels it.
    let text = WRONG.repeat(20_000);
    editor.open("untitled:a", &text);
    let params = json!({"textDocument": {"uri": "untitled:a"}});
    let ids: Vec<_> =
        (0..8).map(|_| editor.request("textDocument/semanticTokens/full", &params)).collect();
    for id in &ids {
        editor.tell("$/cancelRequest", &json!({"id": id}));
    }
    let mut cancelled = 0;
    for id in &ids {
        let answer = editor.answer(|it| it["id"] == *id);
        cancelled += u32::from(answer["error"]["code"] == -32800);
    }
    assert!(cancelled > 0, "all were answered");
    assert!(editor.codes("untitled:a").len() >= 1000);
}

/// What a project may cost is said where it is written, as `gramc check` says it, as long as it is too
/// much.
#[test]
fn what_costs_too_much_is_told() {
    let agents = "/** Adds numbers */\n[add:Tool | (a::Int)==>(b::Int)==>(::Int)]\n\n\
                  [clerk:Agent {model: 'scripted/echo', instruction: 'Add up.'} | add]\n";
    let files = [("gram.toml", "[budget]\ntool-tokens = 5\n"), ("a.gram", agents)];
    let folder = folder(&files);
    let mut editor = Editor::start(&folder);
    let uri = format!("file://{}", folder.file("a.gram").display());
    editor.open(&uri, agents);
    assert_eq!(editor.codes(&uri), ["over-budget"]);
}

#[test]
fn huge_texts_are_refused_as_on_the_command_line() {
    let folder = folder(&[]);
    let mut editor = Editor::start(&folder);
    editor.open("untitled:a", &"x".repeat((64 << 20) + 1));
    assert_eq!(editor.codes("untitled:a"), ["too-large"]);
    let deep = format!("(a {{b: {}", "[".repeat(100_000));
    editor.open("untitled:b", &deep);
    assert!(!editor.codes("untitled:b").is_empty());
    for method in ["documentSymbol", "foldingRange", "semanticTokens/full", "codeLens"] {
        let params = json!({"textDocument": {"uri": "untitled:b"}});
        let answer = editor.ask(&format!("textDocument/{method}"), &params);
        assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
    }
}

#[test]
fn the_help_has_an_example() {
    let help = gramc("lsp --help").run().exits(0).stdout;
    assert!(help.contains("languages.toml") && help.contains("docs/editors.md"), "{help}");
}

#[test]
fn workspace_symbols_are_found_by_type() {
    let text = "[geocode:Tool | (city::Text)==>(::Coordinates)]
[forecast:Tool | (at::Coordinates)==>(::Forecast)]
[Coordinates::Record | (lat::Number), (lon::Number)]
[Forecast::Record | (celsius::Number)]
[broken:Tool | (a::Unknown)==>";
    let folder = folder(&[("tools.gram", text)]);
    let mut editor = Editor::start(&folder);
    let mut names = |query: &str| -> Vec<Value> {
        let answer = editor.ask("workspace/symbol", &json!({ "query": query }));
        let found = answer["result"].as_array().cloned().unwrap_or_default();
        found.into_iter().map(|mut symbol| symbol["name"].take()).collect()
    };
    assert_eq!(names("==> Forecast")[0], "forecast");
    assert_eq!(names("(city::Text)==>(::Coordinates)")[0], "geocode");
    // A signature that is still being typed.
    assert_eq!(names("(city::"), [""; 0]);
    assert_eq!(names("Forecast").len(), 2, "the tool and the type");
}
