//! `gramc login` and `logout`, OAuth 2.1 and TLS, with a server that wants them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use crate::support::{Folder, Gramc, Run, binary, command, folder, gramc, root};

/// `tests/real/oauth_server.py`, as long as this lives.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl Server {
    /// Starts it with tokens that live for these seconds.
    fn start(seconds: u32, certificates: &[&str]) -> Self {
        let mut program = command("python3");
        program.arg(root().join("tests/real/oauth_server.py")).arg(seconds.to_string());
        let program = program.args(certificates).stdout(Stdio::piped());
        let mut child = program.spawn().expect("Python is there");
        let mut output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut url = String::new();
        output.read_line(&mut url).expect("it says its URL");
        Self { child, output, url: url.trim().to_owned() }
    }

    /// A folder with a library of its tools.
    fn files(&self, attributes: &str) -> Folder {
        let library = format!("[l:Library | (whoami:Mcp {{url: \"{}\"{attributes}}})]", self.url);
        folder(&[("spec.gram", "[whoami:Tool | ()==>(::Text)]"), ("l.gram", &library)])
    }

    fn post(&self, path: &str) {
        let host = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(host).expect("it listens");
        write!(stream, "POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
            .unwrap();
        stream.read_to_end(&mut Vec::new()).expect("it answers");
    }

    /// Ends it, and gives the requests for tokens, without what they were for.
    fn tokens(mut self) -> Vec<String> {
        self.child.kill().expect("it runs");
        let mut log = String::new();
        self.output.read_to_string(&mut log).expect("it is UTF-8");
        assert!(log.lines().filter(|it| it.contains("token")).all(|it| it.ends_with(&self.url)));
        let requests = log.lines().filter_map(|line| line.strip_prefix("POST /token "));
        requests.map(|it| it.split(' ').next().unwrap_or_default().to_owned()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Signs in, as a user with a browser does. Gives the exit code and what was said.
fn login(folder: &Folder, words: &[&str]) -> (Option<i32>, String) {
    let mut program = command(binary());
    program.arg("login").args(words).current_dir(folder.path()).stderr(Stdio::piped());
    program.env("GRAMC_SIGN_INS", folder.file("sign-ins"));
    let mut child = program.spawn().expect("it starts");
    let mut told = String::new();
    for line in BufReader::new(child.stderr.take().expect("it is a pipe")).lines() {
        let line = line.expect("it is UTF-8");
        if let Some(page) = line.strip_prefix("  http") {
            // With the certificate of the client, if it has one.
            let script = "import ssl, sys, urllib.request as r\n\
                          context = ssl._create_unverified_context()\n\
                          if '--cert' in sys.argv:\n  \
                            cert, key = (sys.argv[sys.argv.index(it) + 1] for it in ('--cert', '--key'))\n  \
                            context.load_cert_chain(cert, key)\n\
                          page = r.urlopen(sys.argv[1], context=context).read()\n\
                          open('page.txt', 'wb').write(page)";
            let mut browser = command("python3");
            browser
                .args(["-c", script, &format!("http{page}")])
                .args(words)
                .current_dir(folder.path());
            let browser = browser.status();
            assert!(browser.expect("Python is there").success(), "{told}{line}");
        }
        told = told + &line + "\n";
    }
    (child.wait().expect("it ends").code(), told)
}

fn run(folder: &Folder, line: &str) -> Gramc {
    let sign_ins = folder.file("sign-ins");
    gramc(line).within(folder.path()).env("GRAMC_SIGN_INS", sign_ins.to_str().expect("a path"))
}

fn call(folder: &Folder) -> Run {
    run(folder, "call spec.gram whoami {} --library l.gram").run()
}

fn result(run: Run) -> Value {
    run.exits(0).json()["result"].clone()
}

/// The URL of a server that knows no page.
fn nothing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it has one"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = stream.read(&mut [0; 4096]);
            let answer = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn a_user_signs_in_once() {
    let server = Server::start(3600, &[]);
    let files = server.files("");
    let refused = call(&files).exits(1).json();
    let detail = refused["error"]["detail"].as_str().unwrap_or_default();
    let advice = format!("sign in with `gramc login {}`", server.url);
    assert!(detail.contains("401") && detail.ends_with(&advice), "{detail}");
    let (code, told) = login(&files, &[&server.url]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.starts_with("Sign in on this page:\n\n  http"), "{told}");
    assert!(told.ends_with("You are signed in.\n"), "{told}");
    // The token is masked, although the tool repeats it.
    assert_eq!(result(call(&files)), "Bearer *** of unknown");
    assert_eq!(result(call(&files)), "Bearer *** of unknown");
    let url = &server.url;
    let imported = run(&files, &format!("import --url {url}")).run().exits(0).stdout.clone();
    assert!(imported.contains("[whoami:Tool"), "{imported}");
    let sign_ins = files.list("sign-ins");
    assert_eq!(sign_ins.len(), 1, "{sign_ins:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let file = files.file("sign-ins").join(&sign_ins[0]);
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    run(&files, &format!("logout {url}")).run().exits(0);
    call(&files).exits(1);
    let again = run(&files, &format!("logout {url}")).run().exits(1);
    assert_eq!(again.stderr, "gramc: there is no sign-in to this server\n");
    assert_eq!(server.tokens(), ["authorization_code"]);
}

#[test]
fn tokens_are_renewed() {
    // They expire at once.
    let server = Server::start(1, &[]);
    let files = server.files("");
    assert_eq!(login(&files, &[&server.url]).0, Some(0));
    assert_eq!(result(call(&files)), "Bearer *** of unknown");
    assert!(
        server.tokens().starts_with(&["authorization_code", "refresh_token"].map(String::from))
    );
    // The server ends them early.
    let server = Server::start(3600, &[]);
    let files = server.files("");
    assert_eq!(login(&files, &[&server.url]).0, Some(0));
    server.post("/revoke");
    assert_eq!(result(call(&files)), "Bearer *** of unknown");
    server.post("/revoke-all");
    let refused = call(&files).exits(1).json();
    let detail = refused["error"]["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("sign in with `gramc login"), "{detail}");
    let tokens = server.tokens();
    assert_eq!(tokens[..2], ["authorization_code", "refresh_token"], "{tokens:?}");
}

#[test]
fn programs_that_share_a_sign_in_renew_it_one_after_the_other() {
    let server = Server::start(1, &[]);
    let files = server.files("");
    assert_eq!(login(&files, &[&server.url]).0, Some(0));
    // A token for renewal is valid once.
    let calls = (0..8).map(|_| {
        let sign_ins = files.file("sign-ins").to_str().expect("a path").to_owned();
        let call = gramc("call spec.gram whoami {} --library l.gram").within(files.path());
        let call = call.env("GRAMC_SIGN_INS", &sign_ins);
        std::thread::spawn(move || call.run())
    });
    let calls: Vec<_> = calls.collect();
    for call in calls {
        assert_eq!(result(call.join().expect("it does not panic")), "Bearer *** of unknown");
    }
}

/// Requests a page of this machine. Gives its status and its text.
fn get(url: &str) -> (String, String) {
    let (host, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.split(' ').nth(1).unwrap_or_default().to_owned(), body.to_owned())
}

#[test]
fn answers_of_strangers_do_not_end_a_sign_in() {
    let server = Server::start(3600, &[]);
    let files = server.files("");
    let mut program = command(binary());
    program.arg("login").arg(&server.url).env("GRAMC_SIGN_INS", files.file("sign-ins"));
    let mut child = program.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("it is a pipe")).lines();
    let page =
        lines.by_ref().map(|line| line.expect("it is UTF-8")).find(|it| it.starts_with("  http"));
    let page = page.expect("it names a page").trim().to_owned();
    let callback = page.split("redirect_uri=").nth(1).and_then(|rest| rest.split('&').next());
    let callback = callback.expect("it is there").replace("%3A", ":").replace("%2F", "/");
    for query in
        ["", "?error=access_denied", "?error=no&state=other", "?code=a&state=other", "?code=a"]
    {
        let (status, text) = get(&format!("{callback}{query}"));
        assert_eq!(status, "400", "{query}: {text}");
        assert_eq!(text, "This is not an answer to the sign-in that gramc waits for.");
    }
    let script = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())";
    let browser = command("python3").args(["-c", script, &page]).output();
    let shown = String::from_utf8(browser.expect("Python is there").stdout).expect("it is UTF-8");
    assert_eq!(shown, "You are signed in. You can close this page.\n");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(result(call(&files)), "Bearer *** of unknown");
}

#[test]
fn a_sign_in_that_fails_says_why() {
    let server = Server::start(3600, &[]);
    let files = server.files("");
    let (code, told) = login(&files, &[&server.url, "--scope", "deny"]);
    let reason =
        format!("cannot sign in to the MCP server at {}: access_denied: not you", server.url);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains(&reason), "{told}");
    let page = || std::fs::read_to_string(files.file("page.txt")).expect("the browser wrote it");
    assert_eq!(page(), format!("The sign-in failed: {reason}. You can close this page."));
    let (code, told) = login(&files, &[&server.url, "--scope", "invalid"]);
    assert_eq!(code, Some(2), "{told}");
    let failed = "The sign-in failed: cannot sign in to the MCP server at ";
    assert!(page().starts_with(failed), "{}", page());
    assert!(!files.file("sign-ins").exists(), "nothing is kept");
    for (url, reason) in [
        ("example.com", "must be a whole URL"),
        ("http://127.0.0.1:9/mcp", "refused"),
        (&nothing(), "it names no authorization server"),
    ] {
        let (code, told) = login(&files, &[url]);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains(reason), "{told}");
    }
    let secret = run(&files, "login http://127.0.0.1:9 --client-id a --client-secret plain").run();
    secret.exits(2).says(&["env:VARIABLE"]);
}

#[test]
fn a_client_has_credentials_of_its_own() {
    let server = Server::start(1, &[]);
    let oauth = r#", oauth: {clientId: "robot", clientSecret: "env:ROBOT", scope: "a b"}"#;
    let files = server.files(&format!("{oauth}, headers: {{`X-From`: \"env:FROM\"}}"));
    let call = |secret: &str| {
        let line = "call spec.gram whoami {} --library l.gram";
        run(&files, line).env("ROBOT", secret).env("FROM", "from-4711").run()
    };
    assert_eq!(result(call("robot-secret-4711")), "Bearer *** of ***");
    let wrong = call("wrong-secret-4711").exits(1).json();
    let detail = wrong["error"]["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("no access token") && !detail.contains("wrong-secret"), "{detail}");
    assert!(server.tokens().iter().all(|kind| kind == "client_credentials"));
    // What is missing is reported before any call.
    for (oauth, reason) in [
        (r#", oauth: {clientId: "robot"}"#, "`oauth` lacks `clientSecret`"),
        (r#", oauth: {clientId: "a", clientSecret: "env:NO_SUCH"}"#, "NO_SUCH"),
    ] {
        let server = Server::start(1, &[]);
        let bound = run(&server.files(oauth), "bind spec.gram --library l.gram").run();
        bound.exits(1).says(&[reason]);
    }
    let server = Server::start(1, &[]);
    let checked = run(&server.files(r#", oauth: {id: "robot"}"#), "check l.gram").run().exits(1);
    checked.says(&["attribute-value", "`oauth`", "clientId: \"…\", clientSecret: \"…\""]);
}

#[test]
fn a_header_that_authorizes_comes_first() {
    let server = Server::start(3600, &[]);
    let files = server.files(", headers: {Authorization: \"env:TOKEN\"}");
    assert_eq!(login(&files, &[&server.url]).0, Some(0));
    let line = "call spec.gram whoami {} --library l.gram";
    let refused = run(&files, line).env("TOKEN", "mine-4711").run().exits(1).json();
    let detail = refused["error"]["detail"].as_str().unwrap_or_default();
    assert!(detail.ends_with("401 Unauthorized"), "{detail}");
}

#[test]
fn real_certificates_of_ones_own() {
    let made = folder(&[]);
    let script = root().join("tests/real/certificates.py");
    let python = root().join(".tools/python/bin/python");
    let status = command(python).arg(script).arg(made.path()).status();
    assert!(status.expect("tests/real/install installs Python's packages").success());
    let file = |name: &str| made.file(name).to_str().expect("a path").to_owned();
    let (cert, key, ca) = (file("server.pem"), file("server.key"), file("ca.pem"));
    let server = Server::start(3600, &[&cert, &key, &ca]);
    let all = ["ca.pem", "client.pem", "client.key"].map(&file);
    let tls = format!(
        ", tls: {{ca: \"{}\", cert: \"{}\", key: \"{}\"}}, \
         oauth: {{clientId: \"robot\", clientSecret: \"env:ROBOT\"}}",
        all[0], all[1], all[2]
    );
    let line = "call spec.gram whoami {} --library l.gram";
    let files = server.files(&tls);
    let right = run(&files, line).env("ROBOT", "robot-secret-4711").run();
    assert_eq!(result(right), "Bearer *** of unknown");
    let import =
        format!("import --url {} --ca {} --cert {} --key {}", server.url, all[0], all[1], all[2]);
    let import = run(&files, &import).run().exits(2);
    import.says(&["401 Unauthorized", "sign in with `gramc login"]);
    for name in ["ca.pem", "client.pem", "client.key"] {
        files.write(name, made.read(name));
    }
    let words = ["--ca", "ca.pem", "--cert", "client.pem", "--key", "client.key"];
    let (code, told) = login(&files, &[&[&*server.url], &words[..]].concat());
    assert_eq!(code, Some(0), "{told}");
    // The library names the certificates, too.
    let words = words.join(" ");
    let written = format!("import --url {} {words} -o s.gram --library-out own/l.gram", server.url);
    files.write("own/.keep", "");
    run(&files, &written).run().exits(0);
    let called = run(&files, "call s.gram whoami {} --library own/l.gram").run();
    assert_eq!(result(called), "Bearer *** of unknown");
    for option in ["--ca a.pem", "--cert a.pem", "--header A:b", "--token-env T", "--env T"] {
        let ignored = run(&files, &format!("import spec.gram {option}")).run().exits(2);
        ignored.says(&["cannot be used with"]);
    }
    for line in ["import --command true --ca a.pem", "import --url http://a.b --env T"] {
        run(&files, line).run().exits(2).says(&["cannot be used with"]);
    }
    // Without them, neither side trusts the other.
    for (tls, reason) in [
        (String::new(), "UnknownIssuer"),
        (format!(", tls: {{ca: \"{}\"}}", all[0]), "CertificateRequired"),
    ] {
        let refused = run(&server.files(&tls), line).run().exits(1).json();
        let detail = refused["error"]["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(reason), "{detail}");
    }
    for (tls, reason) in [
        ("{ca: \"none.pem\"}", "cannot read"),
        ("{ca: \"spec.gram\"}", "no PEM certificate in"),
        ("{cert: \"spec.gram\"}", "no PEM certificate with its private key in"),
        ("{key: \"spec.gram\"}", "a private key needs its certificate, `cert`"),
    ] {
        let files = server.files(&format!(", tls: {tls}"));
        run(&files, "bind spec.gram --library l.gram").run().exits(1).says(&[reason]);
    }
}
