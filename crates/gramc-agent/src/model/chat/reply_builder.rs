//! Replies of chat completions, complete or streamed.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::text_of;
use crate::message::{AssistantMessage, ModelCall, Reply, Usage};
use crate::model::http_model::{ReplyError, ReplyReader};
use crate::model::{ReplyDelta, StreamSink, client, finish};

/// Maximum calls of one reply.
const MAX_CALLS: usize = 1_000;

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    model: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default, alias = "message")]
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<Box<RawValue>>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
    function_call: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

/// Builds a reply from chunks.
#[derive(Default)]
pub(super) struct ReplyBuilder {
    text: TextBuffer,
    has_text: bool,
    calls: Vec<PartialCall>,
    usage: Usage,
    /// The model, as the server names it.
    model: Option<String>,
    finish_reason: Option<String>,
    is_complete: bool,
}

#[derive(Default)]
struct PartialCall {
    index: Option<usize>,
    id: String,
    name: String,
    arguments: TextBuffer,
}

impl ReplyBuilder {
    /// Adds the usage of a chunk and returns its first choice.
    fn read_chunk(&mut self, chunk: Chunk) -> Result<Option<Choice>, ReplyError> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            let message = error.get("message").and_then(Value::as_str).map(str::to_owned);
            return Err(ReplyError::Malformed(message.unwrap_or_else(|| error.to_string())));
        }
        self.usage = chunk.usage.unwrap_or(self.usage);
        self.model = chunk.model.or_else(|| self.model.take());
        Ok(chunk.choices.and_then(|choices| choices.into_iter().next()))
    }

    fn add_delta(&mut self, choice: Choice, sink: StreamSink<'_>) -> Result<(), ReplyError> {
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish_reason = Some(reason);
        }
        let Some(delta) = choice.delta else { return Ok(()) };
        if let Some(content) = delta.content {
            self.has_text |= content.get() != "null";
            let text = self.text.push(&content);
            if !text.is_empty() {
                sink(ReplyDelta::Text(text));
            }
        }
        if let Some(refusal) = delta.refusal.filter(|refusal| !refusal.is_empty()) {
            self.has_text = true;
            self.text.read.push_str(&refusal);
            sink(ReplyDelta::Text(&refusal));
        }
        for delta in delta.tool_calls.unwrap_or_default() {
            self.add_call(delta, sink)?;
        }
        if let Some(function) = delta.function_call {
            let delta = CallDelta { index: Some(0), id: None, function: Some(function) };
            self.add_call(delta, sink)?;
        }
        Ok(())
    }

    /// Adds a piece of the call with its index, or of the last call if the server sends no indexes and
    /// the id does not differ.
    fn add_call(&mut self, delta: CallDelta, sink: StreamSink<'_>) -> Result<(), ReplyError> {
        let CallDelta { index, id, function } = delta;
        let known = match index {
            Some(_) => self.calls.iter().position(|call| call.index == index),
            None => self.calls.len().checked_sub(1).filter(|&last| {
                id.as_ref().is_none_or(|id| {
                    id.is_empty() || self.calls.get(last).is_some_and(|call| call.id == *id)
                })
            }),
        };
        let at = known.unwrap_or(self.calls.len());
        if known.is_none() {
            self.calls.push(PartialCall { index, ..PartialCall::default() });
        }
        let call = self.calls.get_mut(at).filter(|_| at < MAX_CALLS);
        let call =
            call.ok_or_else(|| ReplyError::Malformed(format!("more than {MAX_CALLS} calls")))?;
        call.id = id.unwrap_or_else(|| std::mem::take(&mut call.id));
        let Some(FunctionDelta { name, arguments }) = function else { return Ok(()) };
        call.name.push_str(&name.unwrap_or_default());
        let arguments = arguments.as_deref().map_or("", |piece| call.arguments.push(piece));
        sink(ReplyDelta::Call { index: at, id: &call.id, name: &call.name, arguments });
        Ok(())
    }
}

impl ReplyReader for ReplyBuilder {
    fn add_body(&mut self, body: &str) -> Result<(), ReplyError> {
        let choice = self.read_chunk(serde_json::from_str(body)?)?;
        let choice = choice.ok_or_else(|| ReplyError::Malformed("no choices".to_owned()))?;
        self.is_complete = true;
        self.add_delta(choice, &|_| {})
    }

    fn add_event(&mut self, data: &str, sink: StreamSink<'_>) -> Result<bool, ReplyError> {
        if data == "[DONE]" {
            self.is_complete = true;
        } else if let Some(choice) = self.read_chunk(serde_json::from_str(data)?)? {
            self.add_delta(choice, sink)?;
        }
        Ok(self.is_complete)
    }

    fn finish(self: Box<Self>, sink: StreamSink<'_>) -> Result<Reply, ReplyError> {
        let Self { text, has_text, calls, usage, model, finish_reason, is_complete } = *self;
        // Some servers send a finish reason but no `[DONE]`.
        if !is_complete && finish_reason.is_none() {
            return Err(ReplyError::Interrupted(client::INTERRUPTED));
        }
        let (text, rest) = text.finish();
        if !rest.is_empty() {
            sink(ReplyDelta::Text(&rest));
        }
        // A finished reply may be empty.
        if calls.is_empty() && !has_text && finish_reason.is_none() {
            return Err(ReplyError::Malformed("no content".to_owned()));
        }
        let content = (calls.is_empty() || !text.is_empty()).then_some(text);
        let call = |PartialCall { id, name, arguments, .. }| {
            let arguments = arguments.finish().0;
            ModelCall { id, name, arguments }
        };
        let tool_calls = calls.into_iter().map(call).collect();
        let message = AssistantMessage { content, tool_calls, provider: None };
        let finish_reason = finish::finish_reason(finish_reason.as_deref());
        Ok(Reply { message, usage, model, finish_reason, ..Reply::default() })
    }
}

/// Text that arrives as JSON strings. A string may end between the two escapes of a surrogate pair
/// and is then read together with the next one.
#[derive(Default)]
struct TextBuffer {
    read: String,
    /// The content of JSON strings that cannot be decoded yet.
    held: String,
}

impl TextBuffer {
    /// Adds a JSON string and returns the text that it completes.
    fn push(&mut self, value: &RawValue) -> &str {
        let from = self.read.len();
        let json = value.get();
        match json.strip_prefix('"').and_then(|json| json.strip_suffix('"')) {
            Some(inside) => {
                self.held.push_str(inside);
                if let Ok(text) = serde_json::from_str::<String>(&format!("\"{}\"", self.held)) {
                    self.read.push_str(&text);
                    self.held.clear();
                }
            }
            None => match serde_json::from_str::<Value>(json) {
                Ok(Value::Null) | Err(_) => {}
                // Some servers send arguments as an object, or content as a list of parts.
                Ok(value @ Value::Array(_)) => {
                    self.read.push_str(&text_of(&value).unwrap_or_default());
                }
                Ok(_) => self.read.push_str(json),
            },
        }
        self.read.get(from..).unwrap_or_default()
    }

    /// Returns the whole text and the part that `push` has not returned. Unpaired surrogates become
    /// U+FFFD.
    fn finish(mut self) -> (String, String) {
        if self.held.is_empty() {
            return (self.read, String::new());
        }
        let rest = decode_lossy(&self.held);
        self.read.push_str(&rest);
        (self.read, rest)
    }
}

/// Decodes the content of a JSON string with unpaired surrogates.
fn decode_lossy(inside: &str) -> String {
    let (mut units, mut rest) = (Vec::new(), inside);
    while let Some(first) = rest.chars().next() {
        let digits = rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        // The second byte of an escape may be a backslash.
        let length = match unit {
            Some(_) => 6,
            None if first == '\\' => 2,
            None => first.len_utf8(),
        };
        let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let piece = || serde_json::from_str::<String>(&format!("\"{piece}\"")).unwrap_or_default();
        match unit {
            Some(unit) => units.push(unit),
            None => units.extend(piece().encode_utf16()),
        }
        rest = after;
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn build(chunks: &[&str]) -> (Reply, String) {
        let streamed = Mutex::new(String::new());
        let sink = |it: ReplyDelta<'_>| {
            if let ReplyDelta::Text(text) = it {
                streamed.lock().unwrap().push_str(text);
            }
        };
        let mut builder = ReplyBuilder::default();
        for chunk in chunks {
            builder.add_event(chunk, &sink).unwrap();
        }
        builder.add_event("[DONE]", &sink).unwrap();
        let reply = Box::new(builder).finish(&sink).unwrap();
        (reply, streamed.into_inner().unwrap())
    }

    #[test]
    fn surrogate_pairs_are_joined() {
        let (reply, streamed) = build(&[
            r#"{"choices":[{"delta":{"content":"Hi \ud83d"}}]}"#,
            r#"{"choices":[{"delta":{"content":"\ude00 é\\u"}}]}"#,
            r#"{"choices":[{"delta":{"content":" \ud83d"},"finish_reason":"stop"}]}"#,
        ]);
        assert_eq!(reply.message.content.unwrap(), "Hi 😀 é\\u \u{FFFD}");
        assert_eq!(streamed, "Hi 😀 é\\u \u{FFFD}");
    }

    #[test]
    fn calls_are_streamed_with_or_without_index() {
        let (reply, _) = build(&[
            r#"{"choices":[{"delta":{"content":null,"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"p\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"y","arguments":""}},{"index":0,"function":{"arguments":":1}"}}]}}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5}}"#,
        ]);
        let calls: Vec<_> = reply
            .message
            .tool_calls
            .iter()
            .map(|it| (&*it.id, &*it.name, &*it.arguments))
            .collect();
        assert_eq!(calls, [("a", "x", "{\"p\":1}"), ("b", "y", "")]);
        assert_eq!(reply.message.content, None);
        assert_eq!(reply.usage.total(), 12);

        let (reply, _) = build(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"x","arguments":{"p":1}}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"y","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}"#,
        ]);
        let calls: Vec<_> =
            reply.message.tool_calls.iter().map(|it| (&*it.id, &*it.arguments)).collect();
        assert_eq!(calls, [("a", "{\"p\":1}"), ("b", "{}")]);
    }

    #[test]
    fn function_call_is_read() {
        let mut builder = ReplyBuilder::default();
        let whole = r#"{"choices":[{"message":{"content":null,"function_call":{"name":"x","arguments":"{}"}},"finish_reason":"function_call"}]}"#;
        builder.add_body(whole).unwrap();
        let reply = Box::new(builder).finish(&|_| {}).unwrap();
        assert_eq!(reply.message.tool_calls[0].name, "x");
    }

    #[test]
    fn errors_are_reported_and_calls_are_limited() {
        let mut builder = ReplyBuilder::default();
        let error =
            builder.add_event(r#"{"error":{"message":"out of memory"}}"#, &|_| {}).unwrap_err();
        assert_eq!(error.to_string(), "out of memory");
        let far = r#"{"choices":[{"delta":{"tool_calls":[{"index":4000000000}]}}]}"#;
        builder.add_event(far, &|_| {}).unwrap();
        assert_eq!(builder.calls.len(), 1);
        let many: Vec<_> = (0..1_001).map(|at| format!("{{\"index\":{at}}}")).collect();
        let many = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}]}}}}]}}"#, many.join(","));
        let error = builder.add_event(&many, &|_| {}).unwrap_err();
        assert_eq!(error.to_string(), "more than 1000 calls");
    }
}
