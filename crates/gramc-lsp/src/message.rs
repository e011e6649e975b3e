//! Messages of JSON-RPC.

use serde::Serialize;
use serde_json::Value;

/// A message of the client or the server.
#[derive(Debug)]
pub(crate) enum Message {
    Request(Request),
    Response(Response),
    Notification(Notification),
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) method: String,
    pub(crate) params: Value,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) id: RequestId,
    pub(crate) response_result: Result<Value, ResponseError>,
}

#[derive(Debug)]
pub(crate) struct Notification {
    pub(crate) method: String,
    pub(crate) params: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub(crate) enum RequestId {
    Number(i32),
    Text(String),
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ResponseError {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl RequestId {
    pub(crate) fn of_value(id: &Value) -> Option<Self> {
        match id {
            Value::String(text) => Some(Self::Text(text.clone())),
            id => Some(Self::Number(i32::try_from(id.as_i64()?).ok()?)),
        }
    }
}

/// The codes of errors that the server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    InternalError = -32603,
    ServerNotInitialized = -32002,
    RequestCanceled = -32800,
    ContentModified = -32801,
    RequestFailed = -32803,
}
