//! Messages over pipes: a header, an empty line, and JSON.

use std::io::{self, BufRead, Write};

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use serde_json::{Value, json};

/// The most bytes of a message: no file that gramc reads needs more.
const MOST: usize = 1 << 29;

/// The most bytes of a line of a header.
const MOST_OF_LINE: u64 = 1 << 13;

/// What came in.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is none, with what to answer.
    Wrong(Value),
}

/// Reads the next message; nothing at the end.
///
/// # Errors
///
/// Reading fails, or a header is such that nobody knows where the next message begins.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = header(input)? else { return Ok(None) };
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(value) => message(value),
        Err(error) => {
            let why = format!("this is no JSON: {error}");
            Incoming::Wrong(refusal(&Value::Null, ErrorCode::ParseError, &why))
        }
    }))
}

/// Reads a header and gives the length of what follows; nothing at the end.
fn header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    let mut first = true;
    loop {
        let mut line = Vec::new();
        let read = io::Read::take(&mut *input, MOST_OF_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return if first { Ok(None) } else { Err(broken("a header ends in its middle")) };
        }
        if !line.ends_with(b"\n") {
            return Err(broken("a line of a header is too long"));
        }
        first = false;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            let length: usize = length.ok_or_else(|| broken("a header has no Content-Length"))?;
            if length > MOST {
                return Err(broken("a message is too long"));
            }
            return Ok(Some(length));
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(broken("a line of a header has no colon"));
        };
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            let value = value.trim().parse().map_err(|_| broken("Content-Length is no number"))?;
            length = Some(value);
        }
    }
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The answer to what is no request.
fn refusal(id: &Value, code: ErrorCode, why: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code as i32, "message": why}})
}

/// What a JSON value says.
fn message(mut value: Value) -> Incoming {
    // Untagged enums read no numbers of any precision, so the parts are told apart here.
    let id = match value.get("id") {
        None => None,
        Some(id) => match request_id(id) {
            Some(id) => Some(id),
            None if id.is_null() && value.get("method").is_none() => {
                // An answer to nothing in particular.
                let note = Notification { method: "$/nothing".to_owned(), params: Value::Null };
                return Incoming::Message(Message::Notification(note));
            }
            None => {
                let why = "the id of a request is a whole number or a text";
                return Incoming::Wrong(refusal(id, ErrorCode::InvalidRequest, why));
            }
        },
    };
    let params = value.get_mut("params").map(Value::take).unwrap_or_default();
    let method = value.get("method").and_then(Value::as_str).map(str::to_owned);
    match (method, id) {
        (Some(method), Some(id)) => {
            Incoming::Message(Message::Request(Request { id, method, params }))
        }
        (Some(method), None) => {
            Incoming::Message(Message::Notification(Notification { method, params }))
        }
        (None, Some(id)) => {
            let response_result = match value.get_mut("error").map(Value::take) {
                Some(error) => Err(ResponseError {
                    code: error["code"]
                        .as_i64()
                        .and_then(|code| i32::try_from(code).ok())
                        .unwrap_or(0),
                    message: error["message"].as_str().unwrap_or_default().to_owned(),
                    data: None,
                }),
                None => Ok(value.get_mut("result").map(Value::take).unwrap_or_default()),
            };
            Incoming::Message(Message::Response(Response { id, response_result }))
        }
        (None, None) => {
            let why = "a message is an object with a `method`, or an answer with an `id`";
            Incoming::Wrong(refusal(&Value::Null, ErrorCode::InvalidRequest, why))
        }
    }
}

fn request_id(id: &Value) -> Option<RequestId> {
    if let Some(text) = id.as_str() {
        return Some(RequestId::from(text.to_owned()));
    }
    Some(RequestId::from(i32::try_from(id.as_i64()?).ok()?))
}

/// Writes a message.
///
/// # Errors
///
/// Writing fails, as it does where nobody reads.
pub(crate) fn write(output: &mut impl Write, message: &Json) -> io::Result<()> {
    let body = &message.0;
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

/// A message as JSON.
pub(crate) fn json(message: &Message) -> Json {
    // What is written has no key that is no string, so this cannot fail.
    let mut value = serde_json::to_value(message).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.insert("jsonrpc".to_owned(), Value::from("2.0"));
    }
    Json(value.to_string())
}

/// A value as JSON. What editors ask for may hold hundreds of thousands of numbers, of which no tree is
/// built.
#[derive(Debug)]
pub(crate) struct Json(pub(crate) String);

impl Json {
    /// The answer to a request with this result.
    pub(crate) fn answers(&self, id: &RequestId) -> Self {
        let id = serde_json::to_string(id).unwrap_or_default();
        Self(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{}}}", self.0))
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self(value.to_string())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn messages_are_told_apart_and_what_is_none_is_answered() {
        let mut text = framed(r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"n":1}}"#);
        text += &framed(r#"{"jsonrpc":"2.0","method":"b"}"#);
        text += &framed(r#"{"jsonrpc":"2.0","id":"x","result":[2]}"#);
        text += &framed("{nonsense");
        text += &framed("[]");
        text += &framed(r#"{"id":1.5,"method":"c"}"#);
        let mut input = text.as_bytes();
        let mut next = || read(&mut input).unwrap();
        assert!(
            matches!(next(), Some(Incoming::Message(Message::Request(r))) if r.params["n"] == 1)
        );
        assert!(
            matches!(next(), Some(Incoming::Message(Message::Notification(n))) if n.method == "b")
        );
        let answer = next();
        assert!(matches!(answer, Some(Incoming::Message(Message::Response(r)))
            if r.response_result.as_ref().is_ok_and(|it| *it == json!([2]))));
        for code in [-32700, -32600, -32600] {
            assert!(matches!(next(), Some(Incoming::Wrong(why)) if why["error"]["code"] == code));
        }
        assert!(next().is_none());
    }

    #[test]
    fn headers_that_lead_nowhere_end_the_reading() {
        for text in
            ["Content-Length: x\r\n\r\n", "\r\n", "Content-Length: 9999999999999\r\n\r\n", "a"]
        {
            assert!(read(&mut text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
