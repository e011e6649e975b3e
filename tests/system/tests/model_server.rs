//! A server that answers as model providers do, well or badly, over a real socket.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What it does with a request.
pub(crate) enum Answer {
    /// A status, further headers, and JSON.
    Json(u16, Vec<(&'static str, String)>, Value),
    /// Chunks of a stream, and whether it ends as it should.
    Stream(Vec<Value>, bool),
    /// Events of a stream with their names, and how it ends.
    Events(Vec<(&'static str, Value)>, Ending),
    /// Events of a stream, each after a pause, and how many of them the client took.
    Slow(Vec<Value>, Arc<AtomicUsize>),
    /// Bytes as they are, in the place of HTTP.
    Raw(&'static [u8]),
    /// Nothing, and the connection stays.
    Silence,
}

/// How a stream ends.
#[derive(Clone, Copy)]
pub(crate) enum Ending {
    /// As it should.
    Whole,
    /// The connection breaks.
    Broken,
}

/// Decides what it does, from the number of the request and its body.
type Decide = dyn Fn(usize, &Value) -> Answer + Send + Sync;

/// A server, for as long as the test runs.
pub(crate) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    pub(crate) fn start(decide: impl Fn(usize, &Value) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has one").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, decide): (_, Arc<Decide>) = (Arc::clone(&requests), Arc::new(decide));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, decide) = (Arc::clone(&seen), Arc::clone(&decide));
                std::thread::spawn(move || serve(stream, &seen, &*decide));
            }
        });
        Self { port, requests }
    }

    /// The address for `OPENAI_BASE_URL`.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The bodies that came.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().expect("nobody panics with it").clone()
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Value>>, decide: &Decide) {
    let Some(body) = request(&mut stream) else { return };
    let at = {
        let mut seen = seen.lock().expect("nobody panics with it");
        seen.push(body.clone());
        seen.len() - 1
    };
    // A client that goes away early is what some tests are about.
    let _ = match decide(at, &body) {
        Answer::Json(status, headers, body) => {
            let body = body.to_string();
            let mut head = format!(
                "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {}\r\n",
                body.len()
            );
            for (name, value) in headers {
                head = head + name + ": " + &value + "\r\n";
            }
            stream.write_all(format!("{head}\r\n{body}").as_bytes())
        }
        Answer::Stream(chunks, whole) => chunked(&mut stream, &chunks, whole),
        Answer::Events(events, ending) => named(&mut stream, &events, ending),
        Answer::Slow(events, taken) => slow(&mut stream, &events, &taken),
        Answer::Raw(bytes) => stream.write_all(bytes),
        Answer::Silence => {
            std::thread::sleep(Duration::from_mins(1));
            Ok(())
        }
    };
}

const STREAM: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                        transfer-encoding: chunked\r\nconnection: close\r\n\r\n";

fn named(
    stream: &mut TcpStream,
    events: &[(&'static str, Value)],
    ending: Ending,
) -> std::io::Result<()> {
    stream.write_all(STREAM)?;
    for (name, data) in events {
        let event = format!("event: {name}\ndata: {data}\n\n");
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
        stream.flush()?;
    }
    match ending {
        Ending::Whole => stream.write_all(b"0\r\n\r\n"),
        Ending::Broken => Ok(()),
    }
}

fn chunked(stream: &mut TcpStream, chunks: &[Value], whole: bool) -> std::io::Result<()> {
    stream.write_all(STREAM)?;
    let mut send = |data: &str| {
        let event = format!("data: {data}\n\n");
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
        stream.flush()
    };
    for chunk in chunks {
        send(&chunk.to_string())?;
    }
    if whole {
        send("[DONE]")?;
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

fn slow(stream: &mut TcpStream, events: &[Value], taken: &AtomicUsize) -> std::io::Result<()> {
    stream.write_all(STREAM)?;
    for event in events {
        std::thread::sleep(Duration::from_millis(20));
        let event = format!("data: {event}\n\n");
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
        taken.fetch_add(1, Ordering::Relaxed);
    }
    stream.write_all(b"0\r\n\r\n")
}

/// The same stream, slowly.
pub(crate) fn slowly(answer: Answer, taken: &Arc<AtomicUsize>) -> Answer {
    let events = match answer {
        Answer::Stream(chunks, _) => chunks,
        Answer::Events(events, _) => events.into_iter().map(|(_, event)| event).collect(),
        _ => panic!("it is no stream"),
    };
    Answer::Slow(events, Arc::clone(taken))
}

/// The body of a request.
fn request(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    let mut part = [0; 16 * 1024];
    loop {
        let read = stream.read(&mut part).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&part[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"))?;
        if bytes.len() >= end + 4 + length.trim().parse::<usize>().ok()? {
            return serde_json::from_slice(&bytes[end + 4..]).ok();
        }
    }
}

/// A message as a server of chat completions gives it: whole, or in pieces where the request asks
/// for a stream.
pub(crate) fn message(request: &Value, message: &Value) -> Answer {
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 5});
    if request["stream"] != true {
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        return Answer::Json(200, Vec::new(), json!({"choices": [choice], "usage": usage}));
    }
    let piece = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let mut chunks = vec![piece(json!({"role": "assistant", "content": null}))];
    if let Some(text) = message["content"].as_str() {
        for word in text.split_inclusive(' ') {
            chunks.push(piece(json!({"content": word})));
        }
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let (name, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
        let function = json!({"name": name, "arguments": ""});
        let start = json!({"index": index, "id": call["id"], "function": function});
        chunks.push(piece(json!({"tool_calls": [start]})));
        for letter in arguments.as_str().unwrap_or_default().split_inclusive(['"', ' ']) {
            let rest = json!({"index": index, "function": {"arguments": letter}});
            chunks.push(piece(json!({"tool_calls": [rest]})));
        }
    }
    if let Some(call) = message.get("function_call") {
        chunks.push(piece(json!({"function_call": {"name": call["name"], "arguments": ""}})));
        for letter in call["arguments"].as_str().unwrap_or_default().split_inclusive(['"', ' ']) {
            chunks.push(piece(json!({"function_call": {"arguments": letter}})));
        }
    }
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    chunks.push(json!({"choices": [], "usage": usage}));
    Answer::Stream(chunks, true)
}

/// A message that calls tools, each with its name and its arguments.
pub(crate) fn calls(request: &Value, calls: &[(&str, &str)]) -> Answer {
    let call = |(at, (name, arguments)): (usize, &(&str, &str))| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"id": format!("c{at}"), "type": "function", "function": function})
    };
    let all: Vec<_> = calls.iter().enumerate().map(call).collect();
    message(request, &json!({"role": "assistant", "content": null, "tool_calls": all}))
}

/// A message of text.
pub(crate) fn says(request: &Value, text: &str) -> Answer {
    message(request, &json!({"role": "assistant", "content": text}))
}
