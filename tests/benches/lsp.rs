//! How long an editor waits for `gramc lsp`: from a keystroke to the findings, and to a completion, in a
//! project of 1,000 files and in one file of 50,000 lines; and how much memory the server takes, as a
//! multiple of the text: its own, and in brackets with the pages of its program. Beside
//! it runs `taplo lsp`, a language server for TOML, with a file of as many lines. All are driven by
//! the same client over standard input and output, and all times are the client's.
//!
//! `cargo bench -p gramc-system-tests --bench lsp` takes some minutes, and more the first time: it installs
//! taplo into `.tools/peers`.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::panic)]

use gramc_language_tests::root;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use gramc_system_tests::release::gramc;
use serde_json::{Value, json};

/// How many lines the large file has, and how many files the project.
const LINES: usize = 50_000;
const FILES: usize = 1_000;
/// How many keystrokes are measured, and how many come before, for everybody to get warm.
const KEYS: usize = 200;
const WARM: usize = 20;
/// Taplo takes long with a file of this size.
const KEYS_OF_TAPLO: usize = 20;

fn main() {
    let (gramc, taplo) = (gramc(), taplo());
    println!("{:50} {:>9} {:>9} {:>9} {:>9}", "", "median", "95 %", "longest", "memory");
    let folder = tempfile::tempdir().expect("a folder");
    let size = project(folder.path());
    let file = folder.path().join("file500.gram");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let mut server = Server::start(Command::new(&gramc).arg("lsp"), folder.path());
    let edit = typed_in_the_middle(&text, "::Int");
    server.measure(&format!("gramc, {FILES} files"), &file, &text, &edit, size, KEYS);

    let plain = tools(0, LINES / 5);
    let shared = plain.replace(
        "place::Text {description: 'Where it is to be done', length: 1..80}",
        "place::Place {description: 'Where it is to be done'}",
    ) + "[Place::Record | (street::Text {length: 1..80}), (city::Text)]\n";
    let edit = typed_in_the_middle(&plain, "::Int");
    large(&gramc, &format!("gramc, {LINES} lines"), &plain, &edit);
    // The length of the street becomes 9001..80, which is empty.
    let at = shared.rfind("1..80").expect("the type has a length");
    let edit = Edit { at, typed: "900" };
    large(&gramc, &format!("gramc, {LINES} lines, shared type"), &shared, &edit);
    let edit = Edit { at: 0, typed: "'" };
    large(&gramc, &format!("gramc, {LINES} lines, open string"), &plain, &edit);

    let folder = tempfile::tempdir().expect("a folder");
    let (file, text) = (folder.path().join("large.toml"), toml());
    std::fs::write(&file, &text).expect("it can be written");
    let mut server = Server::start(Command::new(&taplo).args(["lsp", "stdio"]), folder.path());
    let edit = typed_in_the_middle(&text, "= {");
    let name = format!("taplo, {LINES} lines");
    server.measure(&name, &file, &text, &edit, text.len(), KEYS_OF_TAPLO);
}

/// Measures gramc with one large file.
fn large(gramc: &Path, name: &str, text: &str, edit: &Edit) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("large.gram");
    std::fs::write(&file, text).expect("it can be written");
    let mut server = Server::start(Command::new(gramc).arg("lsp"), folder.path());
    server.measure(name, &file, text, edit, text.len(), KEYS);
}

/// What the client types and takes back: it makes the text wrong.
struct Edit {
    at: usize,
    typed: &'static str,
}

/// A letter in the middle of a text where it makes something wrong: the type of a parameter, or a
/// bare value.
fn typed_in_the_middle(text: &str, wrong: &str) -> Edit {
    let middle = text.len() / 2;
    let at = middle + text[middle..].find(wrong).expect("there is such a line") + 2;
    Edit { at, typed: "x" }
}

fn taplo() -> PathBuf {
    let taplo = root().join(".tools/peers/bin/taplo");
    if !taplo.exists() {
        let installed = Command::new(root().join("tests/benches/install-peers")).status();
        assert!(installed.is_ok_and(|status| status.success()), "taplo cannot be installed");
    }
    taplo
}

/// Tools of five lines each.
fn tools(first: usize, count: usize) -> String {
    let mut text = String::new();
    for number in first..first + count {
        let _ = write!(
            text,
            "[tool{number}:Tool {{description: 'Does the thing of the number {number}'}} |\n  \
             (place::Text {{description: 'Where it is to be done', length: 1..80}})\n  \
             ==>(count::Int {{description: 'How often it is done', range: 1..9}})\n  \
             ==>(::Text)\n]\n"
        );
    }
    text
}

/// A project with tools, and a few types that some of them name. Gives how many bytes it has.
fn project(folder: &Path) -> usize {
    let mut size = 0;
    for number in 0..FILES {
        let mut text = tools(number * 10, 10);
        if number % 10 == 0 {
            let _ = writeln!(text, "[Type{number}::Record | (street::Text), (city::Text)]");
        }
        size += text.len();
        std::fs::write(folder.join(format!("file{number}.gram")), text).expect("it can be written");
    }
    size
}

/// A file of TOML with as many lines.
fn toml() -> String {
    let mut text = String::new();
    for number in 0..LINES / 5 {
        let _ = write!(
            text,
            "[tool{number}]\ndescription = 'Does the thing of the number {number}'\n\
             place = {{ description = 'Where it is to be done', length = [1, 80] }}\n\
             count = {{ description = 'How often it is done', range = [1, 9] }}\n\n"
        );
    }
    text
}

/// A server and its client.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: i64,
    /// Whether it wants to be told whole texts, not what changed in them.
    whole: bool,
}

/// A text that is typed into at one place.
struct Typing {
    uri: String,
    text: String,
    version: u32,
    line: usize,
    column: usize,
    /// The byte at which that is.
    at: usize,
}

impl Typing {
    fn place(&self, more: usize) -> Value {
        json!({"line": self.line, "character": self.column + more})
    }
}

impl Server {
    fn start(command: &mut Command, folder: &Path) -> Self {
        let mut child = command
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("it is a pipe");
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut server = Self { child, input, output, next: 0, whole: false };
        let uri = address(folder);
        let encodings = json!({"positionEncodings": ["utf-16"]});
        let answer = server.ask(
            "initialize",
            &json!({
                "processId": null,
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": "bench"}],
                "capabilities": {"general": encodings, "textDocument": {"publishDiagnostics": {}}},
            }),
        );
        let sync = &answer["result"]["capabilities"]["textDocumentSync"];
        server.whole = *sync == 1 || sync["change"] == 1;
        server.tell("initialized", &json!({}));
        server
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let message = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.input.write_all(message.as_bytes()).expect("the server reads");
        self.input.flush().expect("the server reads");
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The next message that is wanted; what the server asks is answered with nothing.
    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.read();
            if wanted(&message) {
                return message;
            }
            if message.get("method").is_some() && message.get("id").is_some() {
                let nothing = json!({"jsonrpc": "2.0", "id": message["id"], "result": null});
                self.send(&nothing);
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("text") > 0, "the server is gone");
            let line = line.trim().to_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Replaces some letters, counted from the place where is typed.
    fn change(&mut self, typing: &mut Typing, old: Range<usize>, new: &str) {
        typing.version += 1;
        let range = json!({"start": typing.place(old.start), "end": typing.place(old.end)});
        typing.text.replace_range(typing.at + old.start..typing.at + old.end, new);
        let change = if self.whole {
            json!({"text": typing.text})
        } else {
            json!({"range": range, "text": new})
        };
        let document = json!({"uri": typing.uri, "version": typing.version});
        let params = json!({"textDocument": document, "contentChanges": [change]});
        self.tell("textDocument/didChange", &params);
    }

    /// Waits for the findings of a version of a document, with errors or without. Servers need not say
    /// which version they are of.
    fn diagnostics(&mut self, uri: &str, version: u32, wrong: bool) {
        self.until(|message| {
            let params = &message["params"];
            let found = params["diagnostics"].as_array();
            message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == uri
                && (params["version"].is_null() || params["version"] == version)
                && found.is_some_and(|all| all.iter().any(|one| one["severity"] == 1) == wrong)
        });
    }

    /// Types and takes back a letter, and measures how long that takes.
    fn measure(
        &mut self,
        name: &str,
        file: &Path,
        text: &str,
        edit: &Edit,
        size: usize,
        keys: usize,
    ) {
        let uri = address(file);
        let document = json!({"uri": uri, "languageId": "gram", "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": document}));
        self.diagnostics(&uri, 1, false);
        self.rest(&uri);
        let at = edit.at;
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = text[..start].matches('\n').count();
        let own = text.to_owned();
        let mut typing = Typing { uri, text: own, version: 1, line, column: at - start, at };
        let (mut diagnostics, mut completions) = (Vec::new(), Vec::new());
        for key in 0..WARM.min(keys) + keys {
            let typed = key % 2 == 0;
            let began = Instant::now();
            self.change(
                &mut typing,
                0..if typed { 0 } else { edit.typed.len() },
                if typed { edit.typed } else { "" },
            );
            self.diagnostics(&typing.uri, typing.version, typed);
            let diagnostics_took = began.elapsed();
            // A keystroke and the completion that an editor asks for at once.
            let behind = if typed { edit.typed.len() } else { 0 };
            let began = Instant::now();
            self.change(&mut typing, behind..behind, "T");
            let document = json!({"uri": typing.uri});
            let params = json!({"textDocument": document, "position": typing.place(behind + 1)});
            let answer = self.ask("textDocument/completion", &params);
            let completion_took = began.elapsed();
            assert!(answer.get("error").is_none(), "{answer}");
            self.change(&mut typing, behind..behind + 1, "");
            self.rest(&typing.uri);
            if key >= WARM.min(keys) {
                diagnostics.push(diagnostics_took);
                completions.push(completion_took);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "no text is that long")]
        let times = |bytes: usize| format!("{:.1} times", bytes as f64 / size as f64);
        let (own, all) = (times(self.memory("RssAnon:")), times(self.memory("VmRSS:")));
        show(&format!("{name}, to diagnostics"), &mut diagnostics, &own);
        show(&format!("{name}, to completion"), &mut completions, &format!("({all})"));
    }

    /// Lets the server come to rest: whatever it still sends of the edits before is read.
    fn rest(&mut self, uri: &str) {
        std::thread::sleep(Duration::from_millis(60));
        self.ask("textDocument/foldingRange", &json!({"textDocument": {"uri": uri}}));
    }

    /// How many bytes of memory the server holds: its own, or with the pages of its program.
    fn memory(&self, which: &str) -> usize {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(which));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
        number.unwrap_or_default() * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn show(name: &str, times: &mut [Duration], memory: &str) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    println!("{name:50} {:>9} {:>9} {:>9} {memory:>9}", ms(at(50)), ms(at(95)), ms(at(100)));
}
