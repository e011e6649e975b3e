//! Tests with real servers, as `tests/real/servers.json` names them. `tests/real/install` installs
//! them. Only tests build this module.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "only tests build this module"
)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::tests::{ask_command, ask_url};
use super::*;

/// Enough for a server that starts slowly on a busy machine.
const SOON: Duration = Duration::from_mins(1);

/// The command and the environment of a server.
struct Real {
    name: String,
    command: Vec<String>,
    environment: Vec<String>,
    /// The path of its HTTP endpoint. Without one the server uses standard input and output.
    path: Option<String>,
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn servers() -> Vec<Real> {
    let root = root().canonicalize().unwrap();
    let [tools, real] = ["tools", "real"].map(|name| match name {
        "tools" => root.join(".tools"),
        _ => root.join("tests/real"),
    });
    assert!(
        tools.join("node/stamp").exists() && tools.join("python/stamp").exists(),
        "the servers are not installed; `tests/real/install` installs them"
    );
    let place = |word: &str| {
        word.replace("{tools}", tools.to_str().unwrap()).replace("{real}", real.to_str().unwrap())
    };
    let text = std::fs::read_to_string(real.join("servers.json")).unwrap();
    let list: Vec<Value> = serde_json::from_str(&text).unwrap();
    let server = |value: &Value| Real {
        name: value["name"].as_str().unwrap().to_owned(),
        command: value["command"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| place(word.as_str().unwrap()))
            .collect(),
        environment: value
            .get("environment")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}={}", value.as_str().unwrap()))
            .collect(),
        path: value.get("path").map(|path| path.as_str().unwrap().to_owned()),
    };
    list.iter().map(server).collect()
}

impl Real {
    /// The words that start the server in `folder` and with its environment.
    fn words(&self, folder: &str) -> Vec<String> {
        let start = ["sh", "-c", "cd \"$0\" && exec env \"$@\"", folder];
        start
            .into_iter()
            .map(str::to_owned)
            .chain(self.environment.iter().cloned())
            .chain(self.command.iter().cloned())
            .collect()
    }
}

/// The lists that `raw_tools.py` saw, as one.
fn raw(words: &[String]) -> Value {
    let output = Command::new("python3")
        .arg(root().join("tests/real/raw_tools.py"))
        .args(words)
        .output()
        .expect("python3 is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut tools = Vec::new();
    for page in String::from_utf8(output.stdout).unwrap().lines() {
        let mut page: Value = serde_json::from_str(page).unwrap();
        tools.append(page["tools"].as_array_mut().unwrap());
    }
    serde_json::json!({ "tools": tools })
}

#[test]
fn real_servers_give_what_they_send() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = 0;
    for server in servers().iter().filter(|server| server.path.is_none()) {
        let words = server.words(folder.path().to_str().unwrap());
        let line: Vec<_> = words.iter().map(String::as_str).collect();
        let list = ask_command(&line, SOON).unwrap_or_else(|error| panic!("{error}"));
        assert!(!list["tools"].as_array().unwrap().is_empty(), "{}", server.name);
        assert_eq!(list.to_string(), raw(&words).to_string(), "{}", server.name);
        asked += 1;
    }
    assert!(asked >= 10, "only {asked} servers were asked");
}

/// A server that listens on 127.0.0.1; it ends with this value.
struct Listening(Child);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_real_server_gives_over_http_what_it_gives_over_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let all = servers();
    let of = |name: &str| all.iter().find(|server| server.name == name).unwrap();
    let [http, pipes] = ["everything-http", "everything"].map(of);
    // `exec` keeps the process that is ended below the one that listens.
    let words = http.words(folder.path().to_str().unwrap());
    let mut server = Command::new(&words[0])
        .args(&words[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let errors = BufReader::new(server.stderr.take().unwrap());
    let _server = Listening(server);
    let mut lines = errors.lines();
    let address = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| {
            let (_, address) = line.split_once("listening on ")?;
            address.starts_with("127.0.0.1:").then(|| address.to_owned())
        })
        .expect("the server says where it listens");
    // The server keeps writing; a full pipe would block it.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    let url = format!("http://{address}{}", http.path.as_deref().unwrap());
    let list = ask_url(&url, SOON).unwrap_or_else(|error| panic!("{error}"));
    let words = pipes.words(folder.path().to_str().unwrap());
    assert_eq!(list.to_string(), raw(&words).to_string());
}
