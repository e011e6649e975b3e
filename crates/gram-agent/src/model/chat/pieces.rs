//! The answer of chat completions, whole or in pieces.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::text_of;
use crate::message::{ModelCall, Reply, Said, Usage};
use crate::model::{Ear, Heard};

/// The most calls of one reply.
const MOST_CALLS: usize = 1_000;

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Counted>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default, alias = "message")]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallPiece>>,
    #[serde(default)]
    function_call: Option<FunctionPiece>,
}

#[derive(Deserialize)]
struct CallPiece {
    #[serde(default)]
    index: Option<usize>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
}

/// What has come of an answer.
#[derive(Default)]
pub(super) struct Pieces {
    text: Text,
    has_text: bool,
    calls: Vec<Call>,
    usage: Usage,
    finished: bool,
}

#[derive(Default)]
struct Call {
    index: Option<usize>,
    id: String,
    name: String,
    arguments: Text,
}

impl Pieces {
    /// Whether the provider has said why it stopped.
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// A whole answer.
    pub(super) fn message(&mut self, json: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(json).map_err(|_| "it is no UTF-8".to_owned())?;
        let chunk: Chunk = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let choice = self.counted(chunk)?.ok_or("it holds no choice")?;
        self.delta(choice, &|_| {})
    }

    /// A piece of an answer.
    pub(super) fn piece(&mut self, json: &str, ear: Ear<'_>) -> Result<(), String> {
        let chunk: Chunk = serde_json::from_str(json).map_err(|error| error.to_string())?;
        match self.counted(chunk)? {
            Some(choice) => self.delta(choice, ear),
            None => Ok(()),
        }
    }

    fn counted(&mut self, chunk: Chunk) -> Result<Option<Choice>, String> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            let said = error.get("message").and_then(Value::as_str).map(str::to_owned);
            return Err(said.unwrap_or_else(|| error.to_string()));
        }
        if let Some(counted) = chunk.usage {
            self.usage = Usage {
                input_tokens: counted.prompt_tokens,
                output_tokens: counted.completion_tokens,
            };
        }
        Ok(chunk.choices.and_then(|choices| choices.into_iter().next()))
    }

    fn delta(&mut self, choice: Choice, ear: Ear<'_>) -> Result<(), String> {
        self.finished |= choice.finish_reason.is_some();
        let Some(delta) = choice.delta else { return Ok(()) };
        if let Some(content) = delta.content {
            self.has_text |= content.get() != "null";
            let heard = self.text.push(&content);
            if !heard.is_empty() {
                ear(Heard::Text(heard));
            }
        }
        if let Some(refusal) = delta.refusal.filter(|refusal| !refusal.is_empty()) {
            self.has_text = true;
            self.text.read.push_str(&refusal);
            ear(Heard::Text(&refusal));
        }
        for piece in delta.tool_calls.unwrap_or_default() {
            let call = self.call(piece.index, piece.id.as_deref())?;
            if let Some(id) = piece.id {
                call.id = id;
            }
            call.add(piece.function);
        }
        if delta.function_call.is_some() {
            self.call(Some(0), None)?.add(delta.function_call);
        }
        Ok(())
    }

    /// The call that a piece belongs to: the one of its index, or, where a server does not count,
    /// the last one unless the piece names another.
    fn call(&mut self, index: Option<usize>, id: Option<&str>) -> Result<&mut Call, String> {
        let known = match index {
            Some(_) => self.calls.iter().position(|call| call.index == index),
            None => self.calls.len().checked_sub(1).filter(|&last| {
                id.is_none_or(|id| {
                    id.is_empty() || self.calls.get(last).is_some_and(|call| call.id == id)
                })
            }),
        };
        let at = known.unwrap_or(self.calls.len());
        if at >= MOST_CALLS {
            return Err(format!("it holds more than {MOST_CALLS} calls"));
        }
        if known.is_none() {
            self.calls.push(Call { index, ..Call::default() });
        }
        self.calls.get_mut(at).ok_or_else(String::new)
    }

    /// The answer, when all of it has come.
    pub(super) fn reply(self, ear: Ear<'_>) -> Result<Reply, String> {
        let Self { text, has_text, calls, usage, .. } = self;
        let (text, rest) = text.whole();
        if !rest.is_empty() {
            ear(Heard::Text(&rest));
        }
        let calls: Vec<_> = calls
            .into_iter()
            .map(|call| ModelCall {
                id: call.id,
                name: call.name,
                arguments: call.arguments.whole().0,
            })
            .collect();
        if calls.is_empty() && !has_text {
            // An answer without a word is one, but what holds nothing that is known is none.
            return if self.finished { Ok(empty(usage)) } else { Err("it holds no answer".into()) };
        }
        let content = has_text.then_some(text).filter(|text| !text.is_empty() || calls.is_empty());
        Ok(Reply { said: Said { content, tool_calls: calls, provider: None }, usage })
    }
}

fn empty(usage: Usage) -> Reply {
    Reply { said: Said { content: Some(String::new()), ..Said::default() }, usage }
}

impl Call {
    fn add(&mut self, piece: Option<FunctionPiece>) {
        let Some(FunctionPiece { name, arguments }) = piece else { return };
        self.name.push_str(&name.unwrap_or_default());
        if let Some(arguments) = arguments {
            self.arguments.push(&arguments);
        }
    }
}

/// A text that comes in pieces of JSON. A piece may end between the two halves of a character that
/// is written as two escapes, and is then read together with the next one.
#[derive(Default)]
struct Text {
    read: String,
    /// The inside of texts in JSON that cannot be read yet.
    held: String,
}

impl Text {
    /// Adds a piece, and gives what can be read of it.
    fn push(&mut self, piece: &RawValue) -> &str {
        let from = self.read.len();
        let json = piece.get();
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
                // Some servers give arguments as an object, and content as a list of parts.
                Ok(value @ Value::Array(_)) => {
                    self.read.push_str(&text_of(&value).unwrap_or_default());
                }
                Ok(_) => self.read.push_str(json),
            },
        }
        self.read.get(from..).unwrap_or_default()
    }

    /// All of the text, and what of it nobody has heard. Half a character becomes the sign for one
    /// that cannot be read.
    fn whole(mut self) -> (String, String) {
        if self.held.is_empty() {
            return (self.read, String::new());
        }
        let rest = without_halves(&self.held);
        self.read.push_str(&rest);
        (self.read, rest)
    }
}

/// What can be read of the inside of a JSON text with halves of characters.
fn without_halves(inside: &str) -> String {
    let bytes = inside.as_bytes();
    let mut json = String::from("\"");
    let mut at = 0;
    let unit = |at: usize| -> Option<u16> {
        let digits = inside.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    while at < bytes.len() {
        match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => {
                json.push_str(inside.get(at..at + 12).unwrap_or_default());
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                json.push('\u{FFFD}');
                at += 6;
            }
            _ => {
                // An escape is two bytes or more, of which the second may be a backslash, too.
                let step = if bytes.get(at) == Some(&b'\\') { 2 } else { 1 };
                let end = (at + step..=bytes.len()).find(|&end| inside.is_char_boundary(end));
                let end = end.unwrap_or(bytes.len());
                json.push_str(inside.get(at..end).unwrap_or_default());
                at = end;
            }
        }
    }
    json.push('"');
    serde_json::from_str(&json).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn heard(chunks: &[&str]) -> (Reply, String) {
        let heard = Mutex::new(String::new());
        let ear = |it: Heard<'_>| {
            if let Heard::Text(text) = it {
                heard.lock().unwrap().push_str(text);
            }
        };
        let mut pieces = Pieces::default();
        for chunk in chunks {
            pieces.piece(chunk, &ear).unwrap();
        }
        let reply = pieces.reply(&ear).unwrap();
        (reply, heard.into_inner().unwrap())
    }

    #[test]
    fn halves_of_characters_are_read_together() {
        let (reply, heard) = heard(&[
            r#"{"choices":[{"delta":{"content":"Hi \ud83d"}}]}"#,
            r#"{"choices":[{"delta":{"content":"\ude00 é\\u"}}]}"#,
            r#"{"choices":[{"delta":{"content":" \ud83d"},"finish_reason":"stop"}]}"#,
        ]);
        assert_eq!(reply.said.content.unwrap(), "Hi 😀 é\\u \u{FFFD}");
        assert_eq!(heard, "Hi 😀 é\\u \u{FFFD}");
    }

    #[test]
    fn calls_come_in_pieces_counted_or_not() {
        let (reply, _) = heard(&[
            r#"{"choices":[{"delta":{"content":null,"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"p\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"y","arguments":""}},{"index":0,"function":{"arguments":":1}"}}]}}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5}}"#,
        ]);
        let told: Vec<_> =
            reply.said.tool_calls.iter().map(|it| (&*it.id, &*it.name, &*it.arguments)).collect();
        assert_eq!(told, [("a", "x", "{\"p\":1}"), ("b", "y", "")]);
        assert_eq!(reply.said.content, None);
        assert_eq!(reply.usage.total(), 12);

        let (reply, _) = heard(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"x","arguments":{"p":1}}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"y","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}"#,
        ]);
        let told: Vec<_> =
            reply.said.tool_calls.iter().map(|it| (&*it.id, &*it.arguments)).collect();
        assert_eq!(told, [("a", "{\"p\":1}"), ("b", "{}")]);
    }

    #[test]
    fn the_older_form_names_one_function() {
        let mut pieces = Pieces::default();
        let whole = br#"{"choices":[{"message":{"content":null,"function_call":{"name":"x","arguments":"{}"}},"finish_reason":"function_call"}]}"#;
        pieces.message(whole).unwrap();
        let reply = pieces.reply(&|_| {}).unwrap();
        assert_eq!(reply.said.tool_calls[0].name, "x");
    }

    #[test]
    fn errors_in_a_stream_are_told_and_nothing_is_endless() {
        let mut pieces = Pieces::default();
        let error = pieces.piece(r#"{"error":{"message":"out of memory"}}"#, &|_| {}).unwrap_err();
        assert_eq!(error, "out of memory");
        let far = r#"{"choices":[{"delta":{"tool_calls":[{"index":4000000000}]}}]}"#;
        pieces.piece(far, &|_| {}).unwrap();
        assert_eq!(pieces.calls.len(), 1);
        let many: Vec<_> = (0..1_001).map(|at| format!("{{\"index\":{at}}}")).collect();
        let many = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}]}}}}]}}"#, many.join(","));
        assert!(pieces.piece(&many, &|_| {}).unwrap_err().contains("more than 1000 calls"));
    }
}
