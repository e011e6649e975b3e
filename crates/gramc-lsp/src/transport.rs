//! Messages over pipes: a header, an empty line and JSON.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

use crate::message::{
    ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError,
};

/// Maximum size of a message in bytes, enough for the largest file that gramc reads.
const MAX_MESSAGE_BYTES: usize = 1 << 29;

/// Maximum length of a header line in bytes.
const MAX_HEADER_LINE_BYTES: u64 = 1 << 13;

#[derive(Debug)]
pub(crate) enum Incoming {
    Message(Message),
    /// Invalid input, with the error response to send.
    Wrong(Value),
}

/// Reads the next message. `None` at the end of input.
///
/// # Errors
///
/// Reading fails, or a header is invalid, so that the start of the next message is unknown.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = header(input)? else { return Ok(None) };
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(parse(&body)))
}

/// Parses the text of a message.
pub(crate) fn parse(body: &[u8]) -> Incoming {
    match serde_json::from_slice(body) {
        Ok(value) => message(value),
        Err(error) => {
            let why = format!("invalid JSON: {error}");
            Incoming::Wrong(error_response(&Value::Null, ErrorCode::ParseError, &why))
        }
    }
}

/// Reads a header and returns the length of the message. `None` at the end of input.
fn header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    let mut first = true;
    loop {
        let mut line = Vec::new();
        let read =
            io::Read::take(&mut *input, MAX_HEADER_LINE_BYTES).read_until(b'\n', &mut line)?;
        if read == 0 {
            let why = "unexpected end of input in a header";
            return if first { Ok(None) } else { Err(invalid_data(why)) };
        }
        if !line.ends_with(b"\n") {
            return Err(invalid_data("header line too long"));
        }
        first = false;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            let length: usize =
                length.ok_or_else(|| invalid_data("missing Content-Length header"))?;
            if length > MAX_MESSAGE_BYTES {
                return Err(invalid_data("message too long"));
            }
            return Ok(Some(length));
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(invalid_data("missing colon in a header line"));
        };
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            let value = value.trim().parse().map_err(|_| invalid_data("invalid Content-Length"))?;
            length = Some(value);
        }
    }
}

fn invalid_data(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn error_response(id: &Value, code: ErrorCode, why: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code as i32, "message": why}})
}

/// Parses a JSON-RPC message.
fn message(mut value: Value) -> Incoming {
    // serde's untagged enums do not support numbers of arbitrary precision.
    let mut take = |key: &str| value.get_mut(key).map(Value::take);
    let method = take("method").and_then(|method| method.as_str().map(str::to_owned));
    let params = take("params").unwrap_or_default();
    let id = take("id");
    let known_id = id.as_ref().and_then(RequestId::of_value);
    let reject =
        |id: &Value, why| Incoming::Wrong(error_response(id, ErrorCode::InvalidRequest, why));
    Incoming::Message(match (method, id, known_id) {
        (Some(method), _, Some(id)) => Message::Request(Request { id, method, params }),
        (Some(method), None, _) => Message::Notification(Notification { method, params }),
        (None, _, Some(id)) => {
            let response_result = match take("error") {
                Some(error) => Err(ResponseError {
                    code: error["code"]
                        .as_i64()
                        .and_then(|code| i32::try_from(code).ok())
                        .unwrap_or(0),
                    message: error["message"].as_str().unwrap_or_default().to_owned(),
                }),
                None => Ok(take("result").unwrap_or_default()),
            };
            Message::Response(Response { id, response_result })
        }
        // An error response without an id.
        (None, Some(Value::Null), None) => {
            Message::Notification(Notification { method: "$/nothing".to_owned(), params })
        }
        (_, Some(id), None) => {
            return reject(&id, "expected an integer or a string as request id");
        }
        (None, None, None) => {
            let why = "expected an object with a `method`, or a response with an `id`";
            return reject(&Value::Null, why);
        }
    })
}

/// Writes a message.
///
/// # Errors
///
/// Writing fails, for example because the client closed the pipe.
pub(crate) fn write(output: &mut impl Write, message: &Json) -> io::Result<()> {
    let body = &message.0;
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

/// Serialized JSON. Semantic tokens can have hundreds of thousands of numbers, too many for a `Value`.
#[derive(Debug)]
pub(crate) struct Json(pub(crate) String);

impl Json {
    pub(crate) fn response_to(&self, id: &RequestId) -> Self {
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
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use super::*;

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn messages_are_classified_and_invalid_ones_get_a_response() {
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
    fn invalid_headers_end_the_connection() {
        for text in
            ["Content-Length: x\r\n\r\n", "\r\n", "Content-Length: 9999999999999\r\n\r\n", "a"]
        {
            assert!(read(&mut text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
