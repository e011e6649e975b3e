//! Messages of JSON-RPC, whose content stays as it was sent.

use gramc_tools::RpcError;
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

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

#[derive(Deserialize)]
struct Parts {
    #[serde(default, deserialize_with = "some")]
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
    #[serde(default, deserialize_with = "some")]
    result: Option<Value>,
    error: Option<RpcError>,
}

/// A value that is present, even if it is null.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Message {
    /// Reads a message.
    pub(crate) fn parse(text: &str) -> serde_json::Result<Self> {
        let Parts { id, method, params, result, error } = serde_json::from_str(text)?;
        let id_or_null = |id: Option<Value>| id.unwrap_or_default();
        match (id, method, result, error) {
            (Some(id), Some(method), ..) => Ok(Self::Request { id, method, params }),
            (None, Some(method), ..) => Ok(Self::Notification { method, params }),
            (id, None, _, Some(error)) => {
                Ok(Self::Response { id: id_or_null(id), outcome: Err(error) })
            }
            (id, None, Some(result), None) => {
                Ok(Self::Response { id: id_or_null(id), outcome: Ok(result) })
            }
            (_, None, None, None) => Err(serde_json::Error::custom("it is no message of JSON-RPC")),
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

/// The id and the error for a text that is not a message.
pub(crate) fn unreadable(text: &str, error: &serde_json::Error) -> (Value, RpcError) {
    match serde_json::from_str::<Value>(text) {
        Ok(mut message) => {
            let id = message.get_mut("id").map(Value::take).unwrap_or_default();
            let id = if id.is_string() || id.is_number() { id } else { Value::Null };
            (id, RpcError::new(INVALID_REQUEST, format!("invalid message: {error}")))
        }
        Err(error) => (Value::Null, RpcError::new(PARSE_ERROR, format!("invalid JSON: {error}"))),
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
        ] {
            assert_eq!(Message::parse(text).unwrap().into_text(), text);
        }
    }

    #[test]
    fn other_texts_are_no_messages() {
        for text in ["", "7", "[]", "{}", r#"{"id":1}"#, r#"{"id":1,"error":"no"}"#] {
            assert!(Message::parse(text).is_err(), "{text}");
        }
    }
}
