//! `gramc import` of whole APIs, and calls of what it writes.

use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use gramc_language_tests::rng::Rng;
use gramc_schema::emit::ParameterSchema;
use gramc_schema_tests::instances;
use gramc_syntax::SourceFile;
use serde_json::{Value, json};

use crate::support::{Folder, command, folder, gramc, limited, root};

fn pets() -> String {
    fs::read_to_string(root().join("examples/api/pets.yaml")).expect("the example exists")
}

fn pet_folder() -> Folder {
    folder(&[("pets.yaml", &pets())])
}

#[test]
fn an_api_becomes_a_specification_and_a_library() {
    let folder = pet_folder();
    let line = "import pets.yaml -o pets.gram --library-out calls.gram";
    let run = gramc(line).within(folder.path()).run().exits(0);
    let note = "note: calls send the environment variable PETS_KEY to pets.example\n";
    assert_eq!(run.stderr, note);
    gramc("fmt --check pets.gram calls.gram").within(folder.path()).run().exits(0);
    gramc("check --allow vague-description pets.gram calls.gram")
        .within(folder.path())
        .run()
        .clean();
    let library = fs::read_to_string(folder.path().join("calls.gram")).expect("it is written");
    let expected = r#"[pets:Library {
  retries: 2,
  inject: {petsKey: "env:PETS_KEY"},
  parameters: {petsKey: "header X-Pets-Key"}
} |
  (listPets:Http {method: "GET", url: "https://pets.example/v1/pets"}),
  (addPet:Http {url: "https://pets.example/v1/pets"}),
  (removePet:Http {
    method: "DELETE",
    url: "https://pets.example/v1/pets/{id}",
    parameters: {If-Match: "header"}
  })
]
"#;
    assert_eq!(library, expected);
    gramc("bind pets.gram --library calls.gram")
        .within(folder.path())
        .run()
        .exits(1)
        .says(&["the environment variable PETS_KEY is not set"]);
    gramc("bind pets.gram --library calls.gram")
        .within(folder.path())
        .env("PETS_KEY", "k")
        .run()
        .exits(0);
}

#[test]
fn operations_are_chosen() {
    let import = |options: &str| {
        let run = gramc("import - --from openapi").args(options).input(pets()).run().exits(0);
        let tools = run.stdout.lines().filter_map(|line| line.split_once(":Tool"));
        tools.map(|(name, _)| name.trim_start_matches('[').to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(import(""), ["listPets", "addPet", "removePet"]);
    assert_eq!(import("--include list*"), ["listPets"]);
    assert_eq!(import("--include /pets"), ["listPets", "addPet"]);
    assert_eq!(import("--exclude listPets --exclude removePet"), ["addPet"]);
    let run = gramc("import - --tag none").input(pets()).run().exits(1);
    run.says(&["no operation matches --include, --exclude and --tag"]);
}

#[test]
fn what_is_no_api_is_refused() {
    let remote = pets().replace("#/components/schemas/Kind\"}}", "kinds.yaml#/Kind\"}}");
    gramc("import -")
        .input(remote)
        .run()
        .exits(1)
        .says(&["GET /pets: the reference `kinds.yaml#/Kind` leads to another document"]);
    for (text, words) in [
        ("openapi: 3.0.0\npaths: [", "invalid YAML"),
        ("{\"openapi\": \"3.0.0\",", "invalid JSON"),
        ("openapi: 4.0.0\n", "`openapi: 4.0.0`"),
        ("a: &a [x]\nb: &b [*a,*a]\nopenapi: *c\n", "invalid YAML"),
    ] {
        gramc("import - --from openapi").input(text).run().exits(1).says(&[words]);
    }
    gramc("import - --library-out l.gram")
        .input(r#"{"type": "object"}"#)
        .run()
        .fails_with(&["--library-out needs an MCP server or the description of an API"]);
}

#[test]
fn options_fit_the_input() {
    for (options, words) in [
        ("--include x", "need the description of an API"),
        ("--server https://a.example", "need the description of an API"),
        ("--server example.com", "expected a URL such as https://api.example.com/v1"),
        ("--name a.b", "expected at most 64 letters"),
        ("--container=", "expected at most 64 letters"),
    ] {
        let run = gramc("import - ").args(options).input(r#"{"type": "object"}"#).run();
        run.fails_with(&[words]);
    }
    gramc("import - --library-out l.gram").input("{\"type\": ").run().exits(1).says(&["EOF"]);
}

/// A text that expands to far more than its length is an error, and not a program that takes all memory.
#[test]
fn a_document_does_not_explode() {
    let mut text = "openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let all = vec![before; 9].join(", ");
        let _ = writeln!(text, "a{level}: &a{level} [{all}]");
    }
    let deep = format!("openapi: 3.0.0\npaths: {}", "[".repeat(100_000));
    for text in [text, deep] {
        let run = limited(20, "import - --from openapi").input(text).run().exits(1);
        run.says(&["invalid YAML"]);
    }
}

/// A server that answers as a document says, and that refuses requests that the document does not allow.
struct Mock {
    process: Child,
    port: u16,
}

impl Drop for Mock {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Mock {
    fn start(document: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = free.local_addr().expect("it has an address").port();
        drop(free);
        let package = root().join(".tools/apis/node_modules");
        let process = command("node")
            .arg(package.join("@stoplight/prism-cli/dist/index.js"))
            .args(["mock", "--errors", "--port", &port.to_string()])
            .arg(package.join(document))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("node starts");
        let mock = Self { process, port };
        let limit = Instant::now() + Duration::from_mins(5);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < limit, "the server does not start; run tests/real/install");
            sleep(Duration::from_millis(200));
        }
        mock
    }
}

/// Valid calls of all tools of a specification, after those that expand its containers.
fn calls(text: &str) -> Vec<Value> {
    let parsed = gramc_syntax::parse(SourceFile::new("api.gram", text.to_owned()));
    let module = gramc_check::check(&[parsed]).module.expect("it is clean");
    let call =
        |name: &str, arguments: &Value| json!({"name": name, "arguments": arguments.to_string()});
    let containers = module.containers.iter().map(|it| call(&it.name, &json!({})));
    let mut calls: Vec<_> = containers.collect();
    for (at, tool) in module.tools.iter().enumerate() {
        let mut visible = tool.clone();
        visible.parameters.retain(|field| !field.secret);
        let schema = ParameterSchema::new(&module.types, &visible);
        let schema = serde_json::to_value(schema).expect("it is JSON");
        let validator = jsonschema::options().should_validate_formats(true).build(&schema);
        let Ok(validator) = validator else { continue };
        let mut rng = Rng::for_case(7, at);
        let valid = (0..200).find_map(|_| {
            let value = instances::instance(&mut rng, &schema, &schema, 4);
            // A path cannot hold an empty value, and a header no line break.
            let texts = value.as_object()?.values().filter_map(Value::as_str);
            let is_plain = texts.clone().all(|text| !text.is_empty() && text.is_ascii());
            (is_plain && validator.is_valid(&value)).then_some(value)
        });
        calls.extend(valid.map(|value| call(&tool.name, &value)));
    }
    calls
}

/// Calls all tools of an API. Returns how many requests its server found valid.
fn call_all(document: &str) -> usize {
    let mock = Mock::start(document);
    let folder = folder(&[]);
    let path = root().join(".tools/apis/node_modules").join(document);
    gramc("import -o api.gram --library-out calls.gram --server")
        .arg(format!("http://127.0.0.1:{}", mock.port))
        .arg(&path)
        .within(folder.path())
        .run()
        .exits(0);
    let library = fs::read_to_string(folder.path().join("calls.gram")).expect("it is written");
    // Answers of this server need not fit, and there are many calls.
    let policy = "{throttle: \"off\", maxResponse: 0, strictResult: false";
    let library = if library.contains(":Library {") {
        library.replacen(":Library {", &format!(":Library {policy}, "), 1)
    } else {
        library.replacen(":Library |", &format!(":Library {policy}}} |"), 1)
    };
    folder.write("calls.gram", &library);
    let text = fs::read_to_string(folder.path().join("api.gram")).expect("it is written");
    let calls = calls(&text);
    let lines: Vec<_> = calls.iter().map(Value::to_string).collect();
    folder.write("calls.jsonl", lines.join("\n"));
    let variables = library.split("env:").skip(1).filter_map(|rest| rest.split('"').next());
    let replay =
        gramc("replay api.gram --library calls.gram --calls calls.jsonl").within(folder.path());
    let replay = variables.fold(replay, |replay, name| replay.env(name, "user:secret"));
    let run = replay.run();
    let mut valid = 0;
    for line in run.stdout.lines() {
        let verdict: Value = serde_json::from_str(line).expect("a verdict");
        let message = verdict["message"].as_str().unwrap_or_default();
        for secret in ["user:secret", "user%3Asecret", "dXNlcjpzZWNyZXQ"] {
            assert!(!line.contains(secret), "{line}");
        }
        let codes = ["401", "404 ", "405", "415", "422"];
        let is_refused = message.contains("\"location\":[\"request")
            || codes.iter().any(|code| message.contains(&format!("HTTP status {code}")));
        // The text of a number in a path is both a number and a text.
        let is_ambiguous = message.contains("must match exactly one schema in oneOf");
        if is_ambiguous {
            continue;
        }
        assert!(!is_refused, "{}: {message}", verdict["name"]);
        valid +=
            usize::from(verdict["ok"] == true || message.contains("answered with HTTP status"));
    }
    valid
}

#[test]
fn real_requests_are_as_a_document_says() {
    for (document, least) in [
        ("@readme/oas-examples/3.1/json/train-travel.json", 5),
        ("@scalar/galaxy/dist/latest.json", 5),
    ] {
        let valid = call_all(document);
        assert!(valid >= least, "{document}: {valid}");
    }
}

#[test]
fn real_hundreds_of_operations_are_called() {
    let valid = call_all("@octokit/openapi/generated/api.github.com.json");
    assert!(valid >= 500, "{valid}");
}

/// The tools of an API as another API, which a server and the library for it agree on.
#[test]
fn real_tools_become_an_api_that_is_called() {
    let folder = folder(&[]);
    let document =
        root().join(".tools/apis/node_modules/@readme/oas-examples/3.1/json/train-travel.json");
    gramc("import -o trains.gram").arg(&document).within(folder.path()).run().exits(0);
    gramc("compile trains.gram --target openapi -o openapi.json")
        .within(folder.path())
        .run()
        .exits(0);
    let valid = call_all(&folder.path().join("openapi.json").display().to_string());
    assert!(valid >= 5, "{valid}");
}
