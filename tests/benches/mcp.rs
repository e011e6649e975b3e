//! How many calls a second `gramc mcp` answers, compared with a `FastMCP` server with the same tool, over
//! standard input and over HTTP. Both are driven by the same client, which keeps several calls
//! under way. It also reports the processor time of a call in the server,
//! which hangs less on what else the machine does. Then many clients call each over HTTP for a minute: it
//! reports how long they wait, and whether the memory of the server grows.
//!
//! `cargo bench -p gramc-system-tests --bench mcp` takes about three minutes, and some more the first time: it
//! installs `FastMCP` into `.tools/fastmcp`.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::panic)]

use gramc_language_tests::root;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use gramc_system_tests::peers::python_with;
use gramc_system_tests::release::gramc;
use serde_json::{Value, json};

const SPEC: &str = "/** Adds two numbers */\n[add:Tool | (a::Int)==>(b::Int)==>(::Int)]\n";
/// Nothing is refused for haste.
const LIBRARY: &str = "[bench:Library {sameToolCalls: 0, allToolsCalls: 0} | (add:Builtin)]\n";
/// How often the servers take turns, and how many calls each answers in a turn.
const ROUNDS: u32 = 5;
const CALLS: u32 = 4_000;
/// How many calls are under way over standard input, and how many clients there are over HTTP.
const UNDER_WAY: u32 = 32;
const CLIENTS: u32 = 8;
/// How many clients call for how long, and after which time the memory is measured first.
const CROWD: u32 = 64;
const CROWD_TIME: Duration = Duration::from_mins(1);
const WARM_UP: Duration = Duration::from_secs(10);
/// How many times a second Linux counts the time of a process.
const TICKS: f64 = 100.0;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spec, library) = (folder.path().join("spec.gram"), folder.path().join("library.gram"));
    std::fs::write(&spec, SPEC).expect("it can be written");
    std::fs::write(&library, LIBRARY).expect("it can be written");
    let (gramc, python) = (gramc(), python_with("fastmcp", "fastmcp", "fastmcp==4.1.2"));
    let script = root().join("tests/real/mcp/fastmcp_server.py");
    let own = |rest: &[&str]| {
        let mut command = Command::new(&gramc);
        command.arg("mcp").arg(&spec).arg("--library").arg(&library).args(rest);
        command
    };
    let other = |rest: &[&str]| {
        let mut command = Command::new(&python);
        command.arg(&script).args(rest);
        command
    };
    let port = free_port().to_string();
    let mut contestants = [
        ("gramc, standard input", Server::over_stdio(own(&[]))),
        ("FastMCP, standard input", Server::over_stdio(other(&[]))),
        ("gramc, HTTP", Server::over_http(own(&["--http", "0"]), None)),
        ("FastMCP, HTTP", Server::over_http(other(&[&port]), Some(&port))),
    ];
    let mut found = vec![Vec::new(); contestants.len()];
    // The first round is for everybody to get warm.
    for round in 0..=ROUNDS {
        for ((_, server), found) in contestants.iter_mut().zip(&mut found) {
            let before = server.processor();
            let start = Instant::now();
            server.drive();
            let seconds = start.elapsed().as_secs_f64();
            let processor = server.processor() - before;
            if round > 0 {
                found.push((f64::from(CALLS) / seconds, processor * 1e6 / f64::from(CALLS)));
            }
        }
    }
    println!("{:26} {:>12} {:>12} {:>22}", "", "calls/s", "at best", "of a processor, µs");
    for ((name, _), found) in contestants.iter().zip(&mut found) {
        found.sort_by(|left, right| left.0.total_cmp(&right.0));
        let (median, _) = found[found.len() / 2];
        let (best, _) = found[found.len() - 1];
        let processor = found.iter().map(|(_, time)| time).sum::<f64>() / f64::from(ROUNDS);
        println!("{name:26} {median:12.0} {best:12.0} {processor:22.0}");
    }
    drop(contestants);
    println!("\n{CROWD} clients for {} s", CROWD_TIME.as_secs());
    println!("{:26} {:>12} {:>8} {:>8} {:>18}", "", "calls/s", "p50, ms", "p99, ms", "memory, MB");
    let port = free_port().to_string();
    crowd("gramc, HTTP", &mut Server::over_http(own(&["--http", "0"]), None));
    crowd("FastMCP, HTTP", &mut Server::over_http(other(&[&port]), Some(&port)));
}

/// Has many clients call a server all the time, and prints how long they waited, and the memory of the
/// server after the first seconds and at the end.
fn crowd(name: &str, server: &mut Server) {
    let Way::Http(clients) = &mut server.way else { panic!("it serves HTTP") };
    let place = clients[0].place.clone();
    let process = server.child.id();
    let end = Instant::now() + CROWD_TIME;
    let (mut waits, early) = std::thread::scope(|scope| {
        let client = || {
            let (mut client, mut waits) = (Client::connect(&place), Vec::new());
            for id in 1.. {
                let start = Instant::now();
                if start >= end {
                    break;
                }
                prove(id, &client.post(&call(id)));
                waits.push(start.elapsed().as_secs_f64() * 1e3);
            }
            waits
        };
        let running: Vec<_> = (0..CROWD).map(|_| scope.spawn(client)).collect();
        std::thread::sleep(WARM_UP);
        let early = memory(process);
        let waits = running.into_iter().flat_map(|it| it.join().expect("no call fails"));
        (waits.collect::<Vec<_>>(), early)
    });
    waits.sort_by(f64::total_cmp);
    let calls = u32::try_from(waits.len()).expect("not that many");
    let rate = f64::from(calls) / CROWD_TIME.as_secs_f64();
    let (median, late) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    let memory = format!("{early:.1} to {:.1}", memory(process));
    println!("{name:26} {rate:12.0} {median:8.1} {late:8.1} {memory:>18}");
}

/// The memory of a process in MB.
fn memory(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") * 1024.0 / 1e6
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("it has an address").port()
}

fn request(id: u32, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn hello() -> String {
    let who = json!({"name": "bench", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who});
    request(0, "initialize", &params)
}

const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn call(id: u32) -> String {
    request(id, "tools/call", &json!({"name": "add", "arguments": {"a": id, "b": 1}}))
}

/// Makes sure that an answer is the sum that was asked for.
fn prove(id: u32, answer: &str) {
    assert!(answer.contains(&format!("\"text\":\"{}\"", id + 1)), "{answer}");
}

/// A running server, and how it is spoken to.
struct Server {
    child: Child,
    way: Way,
}

enum Way {
    Stdio { input: ChildStdin, output: BufReader<ChildStdout> },
    Http(Vec<Client>),
}

impl Server {
    fn over_stdio(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let mut input = child.stdin.take().expect("it is a pipe");
        let mut output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        writeln!(input, "{}", hello()).expect("it reads");
        let mut line = String::new();
        output.read_line(&mut line).expect("it answers");
        assert!(line.contains("serverInfo"), "{line}");
        writeln!(input, "{READY}").expect("it reads");
        Self { child, way: Way::Stdio { input, output } }
    }

    /// A server that says where it listens, or listens at a port.
    fn over_http(mut command: Command, port: Option<&str>) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(if port.is_some() { Stdio::null() } else { Stdio::piped() });
        let mut child = command.spawn().expect("the server starts");
        let place = if let Some(port) = port {
            format!("127.0.0.1:{port}")
        } else {
            let mut line = String::new();
            let errors = child.stderr.take().expect("it is a pipe");
            BufReader::new(errors).read_line(&mut line).expect("it says where it listens");
            let place = line.trim().rsplit_once("http://").expect("an address").1;
            place.trim_end_matches("/mcp").to_owned()
        };
        let start = Instant::now();
        while TcpStream::connect(&place).is_err() {
            assert!(start.elapsed() < Duration::from_mins(1), "it does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        let clients = (0..CLIENTS).map(|_| Client::connect(&place)).collect();
        Self { child, way: Way::Http(clients) }
    }

    /// The seconds that the server had a processor.
    fn processor(&self) -> f64 {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(path).expect("it runs");
        // The name of the program, in parentheses, may hold anything.
        let fields = text.rsplit_once(") ").expect("a line of numbers").1;
        let ticks = fields.split(' ').skip(11).take(2);
        ticks.map(|ticks| ticks.parse::<f64>().expect("a number")).sum::<f64>() / TICKS
    }

    /// Has all calls of a turn answered.
    fn drive(&mut self) {
        match &mut self.way {
            Way::Stdio { input, output } => {
                let mut line = String::new();
                for id in 1..=UNDER_WAY {
                    writeln!(input, "{}", call(id)).expect("it reads");
                }
                for answered in 1..=CALLS {
                    line.clear();
                    output.read_line(&mut line).expect("it answers");
                    let answer: Value = serde_json::from_str(&line).expect("it is JSON");
                    let id = answer["id"].as_u64().and_then(|id| u32::try_from(id).ok());
                    prove(id.expect("a number"), &line);
                    if answered + UNDER_WAY <= CALLS {
                        writeln!(input, "{}", call(answered + UNDER_WAY)).expect("it reads");
                    }
                }
            }
            Way::Http(clients) => std::thread::scope(|scope| {
                for client in clients {
                    scope.spawn(move || {
                        for id in 1..=CALLS / CLIENTS {
                            prove(id, &client.post(&call(id)));
                        }
                    });
                }
            }),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has nothing more to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client over HTTP, with a session and a connection of its own.
struct Client {
    place: String,
    stream: BufReader<TcpStream>,
    session: String,
}

impl Client {
    fn connect(place: &str) -> Self {
        let stream = TcpStream::connect(place).expect("it listens");
        stream.set_nodelay(true).expect("it can be set");
        let stream = BufReader::new(stream);
        let mut client = Self { place: place.to_owned(), stream, session: String::new() };
        assert!(client.post(&hello()).contains("serverInfo"));
        assert!(client.session.starts_with("mcp-session-id:"));
        client.post(READY);
        client
    }

    /// Posts a message, and gives the body of the answer.
    fn post(&mut self, body: &str) -> String {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n{}\r\n{body}",
            self.place,
            body.len(),
            self.session
        );
        self.stream.get_mut().write_all(request.as_bytes()).expect("it reads");
        let (mut length, mut chunked) = (0, false);
        let mut line = String::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("it answers");
            let lower = line.to_ascii_lowercase();
            if let Some(given) = lower.strip_prefix("content-length:") {
                length = given.trim().parse().expect("a number");
            } else if lower.starts_with("transfer-encoding:") {
                chunked = true;
            } else if lower.starts_with("mcp-session-id:") {
                self.session = format!("mcp-session-id:{}", &line["mcp-session-id:".len()..]);
            } else if line == "\r\n" {
                break;
            }
            assert!(!line.is_empty(), "it hung up");
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                line.clear();
                self.stream.read_line(&mut line).expect("it answers");
                let size = usize::from_str_radix(line.trim(), 16).expect("a size");
                let start = body.len();
                body.resize(start + size + 2, 0);
                self.stream.read_exact(&mut body[start..]).expect("it answers");
                body.truncate(start + size);
                if size == 0 {
                    break;
                }
            }
        } else {
            body.resize(length, 0);
            self.stream.read_exact(&mut body).expect("it answers");
        }
        String::from_utf8(body).expect("it is UTF-8")
    }
}
