//! Real MCP servers, as `tests/real/servers.json` names them: what is imported from them compiles
//! to what they send, and keeps to the rules of every target.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use gramc_schema::Target;
use gramc_schema_tests::{rules, same};
use serde_json::{Value, json};

use crate::support::{Folder, folder, gramc, root};

/// A server that speaks over its standard input and output.
struct Server {
    name: String,
    words: Vec<String>,
}

/// The servers, each started in `folder`.
fn servers(folder: &Path) -> Vec<Server> {
    let tools = root().join(".tools");
    let installed = ["node/stamp", "python/stamp"].iter().all(|stamp| tools.join(stamp).exists());
    assert!(installed, "the servers are not installed; `tests/real/install` installs them");
    let place = |word: &str| word.replace("{tools}", &tools.display().to_string());
    let text = std::fs::read_to_string(root().join("tests/real/servers.json")).expect("a list");
    let list: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
    let stdio = list.iter().filter(|server| server.get("path").is_none());
    let server = |server: &Value| {
        let mut words = vec!["env".to_owned(), "-C".to_owned(), folder.display().to_string()];
        let environment = server["environment"].as_object().into_iter().flatten();
        words.extend(
            environment.map(|(name, value)| format!("{name}={}", value.as_str().expect("a text"))),
        );
        let command = server["command"].as_array().expect("a list of words");
        words.extend(command.iter().map(|word| place(word.as_str().expect("a word"))));
        Server { name: server["name"].as_str().expect("a name").to_owned(), words }
    };
    stdio.map(server).collect()
}

/// What a server sends, as another client sees it.
fn sent(server: &Server) -> Vec<Value> {
    let script = root().join("tests/real/raw_tools.py");
    let output = Command::new("python3").arg(script).args(&server.words).output();
    let output = output.expect("python3 is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let pages = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let pages = pages.lines().map(|page| serde_json::from_str::<Value>(page).expect("JSON"));
    pages.flat_map(|page| page["tools"].as_array().cloned().unwrap_or_default()).collect()
}

/// The gram of a live server's tools, and what is said of them.
fn imported(server: &Server) -> (String, String) {
    let words: Vec<_> = server.words.iter().map(|word| format!("'{word}'")).collect();
    let run = gramc("import --command").arg(words.join(" ")).run().exits(0);
    (run.stdout, run.stderr)
}

fn compiled(folder: &Folder, file: &str, target: Target) -> Value {
    let run = gramc("compile --target").arg(target.name()).arg(file).within(folder.path()).run();
    run.exits(0).json()
}

#[test]
fn what_real_servers_send_comes_back() {
    let folder = folder(&[]);
    let servers = servers(folder.path());
    assert!(servers.len() >= 10, "only {} servers", servers.len());
    let mut wrong = String::new();
    let (mut tools, mut verbatim) = (0, 0);
    let mut judged = Vec::new();
    let mut typescript = TypeScript::default();
    for server in &servers {
        let sent = sent(server);
        let (gram, notes) = imported(server);
        verbatim += notes.lines().filter(|line| line.starts_with("  ")).count();
        tools += sent.len();
        let file = format!("{}.gram", server.name);
        folder.write(&file, &gram);
        let back = compiled(&folder, &file, Target::Mcp);
        let back = back["tools"].as_array().expect("a list of tools");
        assert_eq!(sent.len(), back.len(), "{}", server.name);
        for original in &sent {
            let name = &original["name"];
            let again = back.iter().find(|tool| tool["name"] == *name);
            let again = again.unwrap_or_else(|| panic!("{}: {name} is gone", server.name));
            if let Some(difference) = same::tool_difference(&same::newest(original), again) {
                let _ = writeln!(wrong, "{}: {name}: {difference}", server.name);
            }
        }
        for target in Target::ALL {
            let output = compiled(&folder, &file, target);
            for complaint in rules::complaints(target.name(), &output) {
                let _ = writeln!(wrong, "{}: {}: {complaint}", server.name, target.name());
            }
            judged.push((target.name(), output));
        }
        typescript.add(&folder, &file, &compiled(&folder, &file, Target::OpenAi));
    }
    assert!(wrong.is_empty(), "{wrong}");
    // Far below what was measured: new versions of servers bring new tools.
    assert!(tools > 100 && verbatim * 100 <= tools * 3, "{verbatim} places in {tools} tools");
    script_takes("sdks.py", &judged);
    let engines = judged.iter().filter(|(target, _)| matches!(*target, "llamacpp" | "vllm"));
    script_takes("engines.py", &engines.cloned().collect::<Vec<_>>());
    typescript.is_short();
    typescript.is_accepted(&folder);
}

/// The tools of all servers as TypeScript.
#[derive(Default)]
struct TypeScript {
    files: Vec<String>,
    tokens: usize,
    json_tokens: usize,
}

impl TypeScript {
    fn add(&mut self, folder: &Folder, file: &str, json: &Value) {
        let run = gramc("compile --target typescript").arg(file).within(folder.path()).run();
        let text = run.exits(0).stdout;
        let count = |text: &str| tiktoken_rs::o200k_base_singleton().count_ordinary(text);
        self.tokens += count(&text);
        self.json_tokens += count(&json.to_string());
        // A file with an export has names of its own.
        let file = file.replace(".gram", ".ts");
        folder.write(&file, &(text + "export {};\n"));
        self.files.push(file);
    }

    fn is_short(&self) {
        let Self { tokens, json_tokens, .. } = self;
        assert!(tokens * 100 <= json_tokens * 75, "{tokens} tokens instead of {json_tokens}");
    }

    fn is_accepted(&self, folder: &Folder) {
        let compiler = root().join(".tools/editors/node_modules/typescript/bin/tsc");
        let output = Command::new("node")
            .arg(compiler)
            .args(["--strict", "--noEmit", "--target", "es2022"])
            .args(&self.files)
            .current_dir(folder.path())
            .output()
            .expect("node is there");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !self.files.is_empty(), "{said}");
    }
}

#[test]
fn engines_take_all_imported_tools() {
    let folder = folder(&[]);
    let corpus = root().join("tests/corpus/import");
    let mut judged = Vec::new();
    let mut typescript = TypeScript::default();
    for entry in std::fs::read_dir(corpus).expect("the corpus is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy();
        let gram = gramc("import").arg(path.display().to_string()).run().exits(0).stdout;
        let file = format!("{name}.gram");
        folder.write(&file, &gram);
        for target in [Target::LlamaCpp, Target::Vllm] {
            judged.push((target.name(), compiled(&folder, &file, target)));
        }
        typescript.add(&folder, &file, &Value::Null);
    }
    assert!(judged.len() >= 30, "{}", judged.len());
    script_takes("engines.py", &judged);
    typescript.is_accepted(&folder);
}

/// Whether a script of `tests/real` takes compiled tools: the Python packages of the providers, as
/// far as they look at them without a network, or the engines that make grammars of them.
pub(crate) fn script_takes(script: &str, judged: &[(&str, Value)]) {
    let python = root().join(".tools/python/bin/python");
    let mut input = String::new();
    for (target, tools) in judged {
        let _ = writeln!(input, "{}", json!({"target": target, "tools": tools}));
    }
    let mut child = Command::new(python)
        .arg(root().join("tests/real").join(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python starts");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    let writer =
        std::thread::spawn(move || std::io::Write::write_all(&mut stdin, input.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer does not panic").expect("all is read");
    let verdicts = String::from_utf8_lossy(&output.stdout);
    let refused: Vec<_> = verdicts.lines().filter(|line| !line.contains("\"ok\": true")).collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(refused.is_empty() && output.status.success(), "{}\n{errors}", refused.join("\n"));
    assert_eq!(verdicts.lines().count(), judged.len(), "{errors}");
}
