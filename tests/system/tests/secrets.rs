//! What programs and servers get of the environment, and what of that is ever shown.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::Value;

use crate::mcp::Serving;
use crate::support::{Folder, Gramc, folder, gramc, root};

const KEY: &str = "sk-ant-of-the-provider";
const TOKEN: &str = "tok-4711-secret";

/// `gramc` in a folder, with the key of a provider and a token in its environment.
fn within(folder: &Folder, line: &str) -> Gramc {
    let run = gramc(line).within(folder.path());
    run.env("ANTHROPIC_API_KEY", KEY).env("TOKEN", TOKEN).env("LC_ALL", "() { :; }")
}

#[cfg(unix)]
#[test]
fn a_program_gets_the_variables_that_are_named() {
    let folder = folder(&[
        ("spec.gram", "[show:Tool | ()==>(::Text)] [fail:Tool | ()==>(::Text)]"),
        (
            "library.gram",
            r#"[l:Library {env: {TOKEN: "env:TOKEN", MODE: "slow"}, cwd: "place"} |
                 (show:Command {run: ["sh", "-c", "pwd; env"], env: {MODE: "fast", NOTE: "file:note"}}),
                 (fail:Command {run: ["sh", "-c", "echo \"no $TOKEN $ANTHROPIC_API_KEY\" >&2; exit 1"]})]"#,
        ),
        ("note", "noted\n"),
        ("place/x", ""),
    ]);
    let run = within(&folder, "call spec.gram show {} --library library.gram").run().exits(0);
    let result = run.json()["result"].as_str().expect("a text").to_owned();
    let lines: Vec<_> = result.lines().collect();
    assert!(lines[0].ends_with("/place"), "{result}");
    for line in ["TOKEN=***", "MODE=fast", "NOTE=***"] {
        assert!(lines.contains(&line), "{line}: {result}");
    }
    let has = |name: &str| lines.iter().any(|line| line.starts_with(&format!("{name}=")));
    assert!(has("PATH") && has("HOME"), "{result}");
    // The value of `LC_ALL` looks like a function of a shell.
    assert!(!has("ANTHROPIC_API_KEY") && !has("LC_ALL"), "{result}");
    let run = within(&folder, "call spec.gram fail {} --library library.gram").run().exits(1);
    assert!(run.stdout.contains("standard error:\\nno ***"), "{}", run.stdout);
    assert!(!run.stdout.contains(TOKEN) && !run.stdout.contains(KEY), "{}", run.stdout);
}

#[test]
fn what_is_not_there_is_reported_when_the_library_is_bound() {
    let folder = folder(&[
        ("spec.gram", "[f:Tool | ()==>(::Any)] [g:Tool | ()==>(::Any)]"),
        (
            "library.gram",
            r#"[l:Library | (f:Command {run: ["true"], env: {A: "env:NOT_SET_ANYWHERE"}}),
                 (g:Mcp {url: "http://127.0.0.1:1/mcp", headers: {Authorization: "file:none"}})]"#,
        ),
    ]);
    let run = within(&folder, "bind spec.gram --library library.gram").run().exits(1);
    run.says(&[
        "cannot run `f`: the environment variable NOT_SET_ANYWHERE is not set",
        "cannot run `g`: cannot read",
    ]);
}

#[test]
fn real_server_sees_no_key() {
    let server = root().join(".tools/node/node_modules/@modelcontextprotocol/server-everything");
    let server = server.join("dist/index.js");
    let folder = folder(&[("spec.gram", "[`get-env`:Tool | ()==>(::Text)]")]);
    let library = format!(
        r#"[l:Library | (`get-env`:Mcp {{command: ["node", "{}", "stdio"], env: {{TOKEN: "env:TOKEN"}}}})]"#,
        server.display()
    );
    folder.write("library.gram", library);
    let run = within(&folder, "call spec.gram get-env {} --library library.gram").run().exits(0);
    let text = run.json()["result"].as_str().expect("a text").to_owned();
    let environment: Value = serde_json::from_str(&text).expect("the server sends JSON");
    assert_eq!(environment["TOKEN"], "***");
    assert!(environment["PATH"].is_string(), "{text}");
    assert!(!text.contains(KEY) && !text.contains("ANTHROPIC"), "{text}");
}

/// A server that ends, with its environment on standard error.
#[cfg(unix)]
#[test]
fn a_server_that_cannot_begin_shows_no_token() {
    let folder = folder(&[
        ("spec.gram", "[f:Tool | ()==>(::Any)]"),
        (
            "library.gram",
            r#"[l:Library | (f:Mcp {command: ["sh", "-c", "env >&2"], env: {TOKEN: "env:TOKEN"}})]"#,
        ),
    ]);
    let run = within(&folder, "bind spec.gram --library library.gram").run();
    let run = run.says(&["TOKEN=***"]);
    assert!(!run.stderr.contains(TOKEN) && !run.stderr.contains(KEY), "{}", run.stderr);
    let import = |more: &str| within(&folder, "import --command").arg("sh -c 'env >&2'").args(more);
    let run = import("").run().exits(2);
    assert!(!run.stderr.contains("TOKEN") && !run.stderr.contains(KEY), "{}", run.stderr);
    let run = import("--env TOKEN").run().exits(2).says(&["TOKEN=***"]);
    assert!(!run.stderr.contains(TOKEN), "{}", run.stderr);
    import("--env NOT_SET_ANYWHERE").run().fails_with(&["`NOT_SET_ANYWHERE` is not set"]);
}

#[test]
fn a_server_gets_its_bearer_token() {
    let folder = folder(&[
        ("spec.gram", "[echo:Tool | (x::Text)==>(::Any)]"),
        ("echo.gram", "[l:Library | (echo:Builtin)]"),
    ]);
    let words = ["spec.gram", "--library", "echo.gram", "--http", "0", "--token-env", "MCP_TOKEN"];
    let server = Serving::start(&words, folder.path(), Some(TOKEN));
    let url = &server.url;
    within(&folder, "import --url").arg(url).run().fails_with(&["HTTP status 401"]);
    for options in [
        vec!["--token-env", "TOKEN"],
        vec!["--header", "authorization: env:TOKEN"],
        vec!["--header", "Authorization: Bearer tok-4711-secret"],
    ] {
        let run = options.into_iter().fold(within(&folder, "import --url").arg(url), Gramc::arg);
        assert!(run.run().exits(0).stdout.contains("[echo:Tool"));
    }
    for authorization in ["env:TOKEN", "Bearer tok-4711-secret"] {
        let library = format!(
            r#"[l:Library | (echo:Mcp {{url: "{url}", headers: {{Authorization: "{authorization}"}}}})]"#
        );
        folder.write("library.gram", library);
        let line = "call spec.gram echo {\"x\":\"is-tok-4711-secret\"} --library library.gram";
        let run = within(&folder, line).run().exits(0);
        assert!(run.stdout.contains("is-***") && !run.stdout.contains(TOKEN), "{}", run.stdout);
    }
    within(&folder, "import --url")
        .arg(url)
        .args("--header")
        .arg("hunter2")
        .run()
        .fails_with(&["invalid header"]);
}

/// Whether a request has all of its body.
fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_none_or(|length| length.parse() == Ok(body.len()))
}

/// Answers one request with what it received.
fn mirror() -> (u16, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut request = String::new();
        // The body may arrive after the head.
        while !is_whole(&request) {
            let mut part = [0; 4096];
            let length = stream.read(&mut part).expect("a request");
            assert!(length > 0, "the request ends early: {request}");
            request += &String::from_utf8_lossy(&part[..length]);
        }
        let body = Value::from(request);
        let (body, head) = (body.to_string(), "HTTP/1.1 200 OK\r\nContent-Length:");
        write!(stream, "{head} {}\r\n\r\n{body}", body.len()).expect("an answer");
    });
    (port, serving)
}

#[test]
fn a_service_gets_arguments_where_they_belong() {
    let spec = "[pet:Tool | (id::Text)==>(tags::Text[])==>(::Text)]";
    for (method, start) in [
        ("GET", "GET /pets/a%2F1?v=1&tags=x&tags=y+z HTTP/1.1"),
        ("DELETE", "DELETE /pets/a%2F1?v=1&tags=x&tags=y+z HTTP/1.1"),
        ("PUT", "PUT /pets/a%2F1?v=1 HTTP/1.1"),
    ] {
        let (port, serving) = mirror();
        let library = format!(
            r#"[l:Library | (pet:Http {{method: "{method}", headers: {{`X-Key`: "env:TOKEN"}},
                 url: "http://127.0.0.1:{port}/pets/{{id}}?v=1"}})]"#
        );
        let folder = folder(&[("spec.gram", spec), ("library.gram", &library)]);
        let run = within(&folder, "call spec.gram pet").arg(r#"{"id":"a/1","tags":["x","y z"]}"#);
        let run = run.args("--library library.gram").run().exits(0);
        serving.join().expect("it answered");
        let seen = run.json()["result"].as_str().expect("a text").to_owned();
        assert!(seen.starts_with(start), "{seen}");
        assert!(seen.contains("x-key: ***"), "{seen}");
        let body = if method == "PUT" { r#"{"tags":["x","y z"]}"# } else { "" };
        assert!(seen.ends_with(&format!("\r\n\r\n{body}")), "{seen}");
    }
}
