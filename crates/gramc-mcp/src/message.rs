//! Messages of JSON-RPC, whose content stays as it was sent.

use gramc_tools::RpcError;
use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};
use serde_json::{Map, Value, json};

use crate::protocol::{INVALID_REQUEST, PARSE_ERROR};

/// A message of JSON-RPC.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    Request {
        id: Value,
        method: String,
        params: Option<Value>,
    },
    Notification {
        method: String,
        params: Option<Value>,
    },
    /// The id is null if the sender could not read that of the request.
    Response {
        id: Value,
        outcome: Result<Value, RpcError>,
    },
}

impl Message {
    /// Reads a message.
    pub(crate) fn parse(text: &str) -> serde_json::Result<Self> {
        let mut parts: Map<String, Value> = serde_json::from_str(text)?;
        let mut take = |key| parts.shift_remove(key);
        let (id, method, params) = (take("id"), take("method"), take("params"));
        let (result, error) = (take("result"), take("error"));
        let method = method.map(serde_json::from_value::<String>).transpose()?;
        let params = params.filter(|params| !params.is_null());
        match (id, method) {
            (Some(id), Some(method)) if id.is_string() || id.is_number() => {
                Ok(Self::Request { id, method, params })
            }
            (Some(_), Some(_)) => {
                Err(serde_json::Error::custom("the `id` of a request must be a string or a number"))
            }
            (None, Some(method)) => Ok(Self::Notification { method, params }),
            (id, None) => {
                let outcome = match (error.filter(|error| !error.is_null()), result) {
                    (Some(error), _) => Err(read_error(error)?),
                    (None, Some(result)) => Ok(result),
                    (None, None) => {
                        let why = "expected a request, a notification or a response of JSON-RPC";
                        return Err(serde_json::Error::custom(why));
                    }
                };
                Ok(Self::Response { id: id.unwrap_or_default(), outcome })
            }
        }
    }

    /// The text of the message, in one line.
    pub(crate) fn into_text(self) -> String {
        let mut message = json!({"jsonrpc": "2.0"});
        let params = match self {
            Self::Request { id, method, params } => {
                message["id"] = id;
                message["method"] = method.into();
                params
            }
            Self::Notification { method, params } => {
                message["method"] = method.into();
                params
            }
            Self::Response { id, outcome } => {
                message["id"] = id;
                match outcome {
                    Ok(result) => message["result"] = result,
                    Err(error) => message["error"] = error.into_json(),
                }
                None
            }
        };
        if let Some(params) = params {
            message["params"] = params;
        }
        message.to_string()
    }
}

/// An error as it was sent: deserialization from a value would change numbers.
fn read_error(error: Value) -> serde_json::Result<RpcError> {
    let entries = match error {
        Value::Object(entries) => entries,
        _ => Map::new(),
    };
    RpcError::try_from(entries).map_err(serde_json::Error::custom)
}

/// A text that is not a message.
pub(crate) struct Unreadable {
    /// The id of the message, or null.
    pub(crate) id: Value,
    pub(crate) error: RpcError,
    /// Whether it should be a response, which is not answered.
    pub(crate) is_response: bool,
}

impl Unreadable {
    pub(crate) fn new(text: &str, error: &serde_json::Error) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(mut message) => {
                let id = message.get_mut("id").map(Value::take).unwrap_or_default();
                let has = |key: &str| message.get(key).is_some();
                let is_response = !has("method") && (has("result") || has("error"));
                let id = if id.is_string() || id.is_number() { id } else { Value::Null };
                let error = RpcError::new(INVALID_REQUEST, format!("invalid message: {error}"));
                Self { id, error, is_response }
            }
            Err(error) => {
                let error = RpcError::new(PARSE_ERROR, format!("invalid JSON: {error}"));
                Self { id: Value::Null, error, is_response: false }
            }
        }
    }
}

/// The id of a request of ours. Some servers make text of numbers.
pub(crate) fn own_id(id: &Value) -> Option<u64> {
    match id {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// The parts of a message that identify its request. The rest is skipped.
#[derive(Deserialize)]
pub(crate) struct Envelope {
    id: Option<Value>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Envelope {
    pub(crate) fn is_answer(&self) -> bool {
        self.result.is_some() || self.error.is_some()
    }

    /// The request that the message answers.
    pub(crate) fn id(&self) -> Option<u64> {
        self.id.as_ref().filter(|_| self.is_answer()).and_then(own_id)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use super::*;

    #[test]
    fn messages_come_out_as_they_went_in() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"z":1.50,"a":[1e+400,null]}}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"a"}"#,
            r#"{"jsonrpc":"2.0","method":"a","params":{"_meta":{}}}"#,
            r#"{"jsonrpc":"2.0","method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"x":9007199254740993}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"b","data":{"url":"c"}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"b","data":-0,"x":1.50}}"#,
        ] {
            assert_eq!(Message::parse(text).unwrap().into_text(), text);
        }
    }

    #[test]
    fn other_texts_are_no_messages() {
        for text in [
            "",
            "7",
            "[]",
            "{}",
            r#"[1,"ping",null,null,null]"#,
            r#"{"id":1}"#,
            r#"{"id":1,"error":"no"}"#,
            r#"{"id":null,"method":"a"}"#,
            r#"{"id":{},"method":"a"}"#,
        ] {
            assert!(Message::parse(text).is_err(), "{text}");
        }
    }
}
