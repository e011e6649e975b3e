//! The same calls through the command line, the crates and MCP give the same verdicts, byte for byte.
//! The packages for Python and Node compare theirs in tests of their own.

use std::path::{Path, PathBuf};

use gramc_project::{LoadedLibrary, Specification};
use gramc_tools::{Call, LoadOptions, Session, ToolLibrary};
use serde_json::Value;

use crate::mcp::Speaking;
use crate::support::{binary, folder, gramc, root};

const REPLAY: &str = "replay spec.gram --library library.gram";

fn file(name: &str) -> PathBuf {
    root().join("tests/parity").join(name)
}

/// The calls.
fn calls() -> Vec<Value> {
    let text = std::fs::read_to_string(file("calls.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A call as a program makes it.
fn call(call: &Value) -> Call {
    let arguments = call.get("arguments").map(|given| match given {
        Value::String(text) => text.clone(),
        given => given.to_string(),
    });
    let id = call.get("id").map(|id| id.as_str().unwrap().to_owned());
    Call { id, name: call["name"].as_str().unwrap().to_owned(), arguments, ..Call::default() }
}

/// The verdicts of the command line.
fn command_line(calls: &Path, line: &str) -> Vec<String> {
    let command = gramc(line).arg("--calls").arg(calls).within(&file(""));
    command.run().exits(1).stdout.lines().map(str::to_owned).collect()
}

fn specification() -> Specification {
    Specification::load(vec![file("spec.gram")], &|_| Vec::new()).unwrap()
}

#[test]
fn checks_of_the_crates_are_those_of_the_command_line() {
    let bound = ToolLibrary::new("").bind_partly(&specification().module).0;
    let session = Session::new(&bound);
    let expected = command_line(&file("calls.jsonl"), "validate spec.gram");
    assert_eq!(expected.len(), 2_000);
    for (made, expected) in calls().iter().zip(expected) {
        assert_eq!(session.validate(call(made)).json().to_string(), expected, "{made}");
    }
}

#[tokio::test]
async fn calls_of_the_crates_are_those_of_the_command_line() {
    let loaded = LoadedLibrary::load(&file("library.gram"), None, &|_| Vec::new()).unwrap();
    let LoadedLibrary { module, library, folder } = loaded;
    let library = ToolLibrary::load(&module, &library, LoadOptions::new(&folder));
    let session = Session::new(&library.bind(&specification().module).unwrap());
    let expected = command_line(&file("calls.jsonl"), REPLAY);
    assert_eq!(expected.len(), 2_000);
    for (made, expected) in calls().iter().zip(expected) {
        assert_eq!(session.call(call(made)).await.json().to_string(), expected, "{made}");
    }
}

/// MCP has objects alone as arguments, and no identifiers of calls.
#[test]
fn calls_over_mcp_are_those_of_the_command_line() {
    let files = folder(&[]);
    let is_object = |call: &Value| call["arguments"].is_object();
    let mut calls: Vec<_> = calls().into_iter().filter(is_object).collect();
    assert!(calls.len() > 700);
    for call in &mut calls {
        call.as_object_mut().unwrap().shift_remove("id");
    }
    let lines: Vec<_> = calls.iter().map(Value::to_string).collect();
    files.write("calls.jsonl", lines.join("\n"));
    let expected = command_line(&files.file("calls.jsonl"), REPLAY);

    let trace = files.file("trace.jsonl").display().to_string();
    let words = ["mcp", "spec.gram", "--library", "library.gram", "--trace", &trace];
    let mut server = Speaking::start(&binary().display().to_string(), &words, &file(""));
    for call in &calls {
        server.call(call["name"].as_str().unwrap(), &call["arguments"]);
    }
    assert_eq!(server.end(), Some(0));
    let trace = files.read("trace.jsonl");
    let verdicts = trace.lines().skip(1).map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["verdict"].take().to_string()
    });
    assert_eq!(verdicts.collect::<Vec<_>>(), expected);
}
