//! Validators that are programs or services.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::calls::verdict_fault;
use crate::support::{Folder, Gramc, folder, gramc};

const SPEC: &str = r#"
[order:Tool {approval: "always"} | (id::Text)==>(image::Text)==>(pin::Text {secret: true, optional: true})==>(::Any)]
"#;
/// Knows a catalogue, and which image belongs to which article.
const CHECK: &str = r#"
import json, os, sys
call = json.load(sys.stdin)
catalogue = json.load(open("catalogue.json"))
sent, errors = call["arguments"], []
if sent["id"] == "crash":
    sys.exit(f"cannot judge {sent.get('pin')} with {os.environ['TOKEN']}")
if sent["id"] not in catalogue:
    errors.append({"property": "id", "error_code": "NOT_FOUND", "error_message": f"there is no article {sent['id']}"})
elif catalogue[sent["id"]] != sent["image"]:
    errors.append({"property": "image", "error_code": "WRONG_IMAGE", "error_message": f"{sent['image']} is not the image of {sent['id']}"})
if sent.get("pin") == "4711-4711":
    errors.append({"property": "pin", "error_message": f"{sent['pin']} is known"})
if errors:
    print(json.dumps({"errors": errors}))
"#;

fn files(validator: &str) -> Folder {
    let library = format!(
        "[l:Library {{maxAttempts: 2, env: {{TOKEN: \"env:TOKEN\"}}, throttle: \"off\"}} |
           (order:Builtin {{name: \"echo\", validate: {validator}}})]"
    );
    folder(&[
        ("spec.gram", SPEC),
        ("shop/library.gram", &library),
        ("shop/check.py", CHECK),
        ("shop/catalogue.json", r#"{"A-1": "a.png", "A-2": "b.png"}"#),
    ])
}

fn run(folder: &Folder, line: &str) -> Gramc {
    gramc(line).within(folder.path()).env("TOKEN", "tok-4711").env("OPENAI_API_KEY", "sk-1")
}

/// The verdict on one call.
fn call(folder: &Folder, arguments: &Value) -> Value {
    let line = "call spec.gram order --library shop/library.gram --approve-with true";
    let words = run(folder, line).arg(arguments.to_string()).run();
    let verdict = words.json();
    assert_eq!(verdict_fault(&verdict), None, "{verdict}");
    verdict
}

#[test]
fn a_program_judges_the_arguments() {
    let files = files(r#"["python3", "check.py"]"#);
    let right = call(&files, &json!({"id": "A-1", "image": "a.png"}));
    assert_eq!((&right["ok"], &right["approval"]["approved"]), (&json!(true), &json!(true)));
    let wrong = call(&files, &json!({"id": "A-1", "image": "b.png", "pin": "4711-4711"}));
    let errors = json!([
        {"property": "image", "pointer": "/image", "attempted_value": "b.png",
         "error_code": "WRONG_IMAGE", "error_message": "b.png is not the image of A-1"},
        {"property": "pin", "pointer": "/pin", "attempted_value": "***",
         "error_code": "INVALID", "error_message": "*** is known"},
    ]);
    assert_eq!(wrong["error"]["errors"], errors, "{wrong}");
    // It is refused before anyone is asked for approval.
    assert_eq!(wrong.get("approval"), None, "{wrong}");
    let message = wrong["message"].as_str().unwrap_or_default();
    assert!(message.contains("b.png is not the image of A-1"), "{message}");
    // What the types refuse does not reach it.
    let refused = call(&files, &json!({"id": "crash"}));
    assert_eq!(refused["error"]["errors"][0]["error_code"], "REQUIRED_FIELD", "{refused}");
}

#[test]
fn a_validator_that_fails_approves_nothing() {
    let wrong = json!({"id": "crash", "image": "a.png", "pin": "4711-4711"});
    let failed = call(&files(r#"["python3", "check.py"]"#), &wrong);
    assert_eq!(failed["error"]["error_type"], "invocation_error", "{failed}");
    let detail = failed["error"]["detail"].as_str().unwrap_or_default();
    assert!(detail.starts_with("the validator of its arguments failed: the program `python3`"));
    assert!(detail.ends_with("cannot judge *** with ***"), "{detail}");
    for (validator, what) in [
        (r#"["no-such-program"]"#, "there is no such program"),
        (r#"["sh", "-c", "echo fine"]"#, "returned an invalid report"),
        (r#"["yes"]"#, "more than 1048576 bytes"),
        (r#"["sleep", "600"], timeout: 200ms"#, "did not respond within 0.2 s"),
        (r#""http://127.0.0.1:9/check""#, "cannot be reached"),
    ] {
        let failed = call(&files(validator), &json!({"id": "A-1", "image": "a.png"}));
        let detail = failed["error"]["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(what), "{validator}: {failed}");
    }
}

#[test]
fn refusals_of_a_validator_count_as_attempts() {
    let files = files(r#"["python3", "check.py"]"#);
    let line = |id: &str, image: &str| {
        json!({"name": "order", "arguments": {"id": id, "image": image}}).to_string() + "\n"
    };
    let calls = [line("A-9", "a"), line("A-9", "b"), line("A-9", "c")].concat();
    files.write("calls.jsonl", &calls);
    let replay = "replay spec.gram --library shop/library.gram --calls calls.jsonl";
    let replay = run(&files, replay).run().exits(1);
    let types: Vec<Value> = replay
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["error"]["error_type"].clone())
        .collect();
    assert_eq!(types, ["validation_error", "needs_human_review", "needs_human_review"]);
    // A failure of the validator is none of the model.
    files.write("calls.jsonl", [line("crash", "a"), line("crash", "a"), line("A-9", "a")].concat());
    let replay = run(&files, "replay spec.gram --library shop/library.gram --calls calls.jsonl");
    let last = replay.run().exits(1).stdout.lines().last().unwrap_or_default().to_owned();
    assert!(last.contains("validation_error"), "{last}");
}

#[test]
fn a_service_judges_the_arguments() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("\"http://{}/check\"", listener.local_addr().expect("it has one"));
    let served = std::thread::spawn(move || {
        let report = json!({"errors": [{"property": "/id", "error_message": "not in stock"}]});
        let answers = [("204 No Content", String::new()), ("200 OK", report.to_string())];
        answers.map(|(status, body)| {
            let (mut stream, _) = listener.accept().expect("it is called");
            let mut reader = BufReader::new(stream.try_clone().expect("it can be cloned"));
            let mut length = 0;
            for line in reader.by_ref().lines().map_while(Result::ok) {
                if line.is_empty() {
                    break;
                }
                let line = line.to_ascii_lowercase();
                length =
                    line.strip_prefix("content-length: ").map_or(length, |it| it.parse().unwrap());
            }
            let mut request = vec![0; length];
            reader.read_exact(&mut request).expect("it can be read");
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            stream.write_all((head + &body).as_bytes()).expect("it reads");
            serde_json::from_slice::<Value>(&request).expect("it is JSON")
        })
    });
    let files = files(&url);
    let arguments = json!({"id": "A-1", "image": "a.png"});
    assert_eq!(call(&files, &arguments)["ok"], true);
    let wrong = call(&files, &arguments);
    assert_eq!(wrong["error"]["errors"][0]["error_message"], "not in stock", "{wrong}");
    let asked = served.join().expect("it served both");
    assert!(asked.iter().all(|it| *it == json!({"name": "order", "arguments": arguments})));
}

#[test]
fn a_validator_is_a_program_or_a_url() {
    for value in ["5", "[]", "\"check.py\"", "[1]", "\"ftp://a/b\""] {
        let files = files(value);
        let checked = run(&files, "check shop/library.gram").run().exits(1);
        checked.says(&["attribute-value", "`validate`", "a program and its arguments"]);
    }
    let files = files(r#"["python3", "check.py"], env: {MODE: "env:NO_SUCH_VARIABLE"}"#);
    let bound = run(&files, "bind spec.gram --library shop/library.gram").run().exits(1);
    bound.says(&["NO_SUCH_VARIABLE"]);
}
