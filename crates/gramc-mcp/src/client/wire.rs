//! Lists of tools pass through `rmcp` as text.
//!
//! `rmcp` reads every result into a type of its own and drops what that has no place for. A
//! result that is a string has no such type: it comes out as it went in.

use std::borrow::Cow;

use rmcp::model::ServerResult;
use serde_json::Value;

/// The message, where it is an answer with a list of tools with that list as a string instead.
/// Any other text is returned unchanged.
pub(super) fn seal_list(message: &str) -> Cow<'_, str> {
    // Most messages are recognised without being read.
    if !message.contains("\"tools\"") {
        return Cow::Borrowed(message);
    }
    let Ok(Value::Object(mut fields)) = serde_json::from_str(message) else {
        return Cow::Borrowed(message);
    };
    match fields.get_mut("result") {
        Some(result) if result.get("tools").is_some() => {
            *result = Value::String(result.to_string());
            Cow::Owned(Value::Object(fields).to_string())
        }
        _ => Cow::Borrowed(message),
    }
}

/// The list of tools of an answer that was sealed, with the number of its bytes. Nothing if
/// the answer holds none.
pub(super) fn open_list(result: &ServerResult) -> Option<(Value, usize)> {
    let ServerResult::CustomResult(custom) = result else {
        return None;
    };
    let text = custom.0.as_str()?;
    Some((serde_json::from_str(text).ok()?, text.len()))
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::panic)]
mod tests {
    use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage};

    use super::*;

    /// Sends `message` through `rmcp` and returns the output.
    fn through(message: &str) -> ServerResult {
        let read: ServerJsonRpcMessage =
            serde_json::from_str(&seal_list(message)).expect("rmcp reads it");
        match read {
            JsonRpcMessage::Response(answer) => answer.result,
            other => panic!("no answer: {other:?}"),
        }
    }

    #[test]
    fn a_list_of_tools_loses_nothing() {
        let list = r#"{"z":1,"tools":[{"x":[1.0,1e5,1E400,-0,0.10,9007199254740993,123456789012345678901234567890],"name":"a\u00e4/","annotations":5,"inputSchema":{"b":{},"a":null}}],"nextCursor":7}"#;
        let message = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{list}}}"#);
        let (value, bytes) = open_list(&through(&message)).expect("a list of tools");
        // serde_json writes an exponent with its sign, wherever it read the number.
        let written =
            list.replace(r"\u00e4", "ä").replace("1e5", "1e+5").replace("1E400", "1e+400");
        assert_eq!(value.to_string(), written);
        assert_eq!(bytes, written.len());
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        for message in [
            r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{}}}}"#,
            r#"{"jsonrpc":"2.0","method":"x","params":{"tools":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"\"tools\""}}"#,
            r#"no JSON but "tools""#,
            r#"["tools"]"#,
            "",
        ] {
            assert_eq!(seal_list(message), message);
        }
        assert!(open_list(&through(r#"{"jsonrpc":"2.0","id":0,"result":{"tool":[]}}"#)).is_none());
    }
}
