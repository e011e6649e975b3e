//! Streams of providers in any pieces: the reply is the same, and the deltas join to it.

use std::collections::BTreeMap;
use std::io;

use bytes::Bytes;
use futures_util::stream;
use gramc_language_tests::rng::Rng;
use gramc_model::Api;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::anthropic::Anthropic;
use super::chat::ChatCompletions;
use super::gemini::Gemini;
use super::http_model::{ApiKey, HttpModel, Protocol};
use super::responses::Responses;
use super::*;
use crate::message::ModelCall;

/// A reply that all providers can stream.
struct Content {
    text: &'static str,
    /// Names and arguments.
    calls: &'static [(&'static str, &'static str)],
}

const CONTENTS: [Content; 4] = [
    Content { text: "Größe: 😀 \"two\"\nlines \\ and more", calls: &[] },
    Content { text: "", calls: &[("find", r#"{"id": 7, "note": "ü😀\n\u00e9"}"#)] },
    Content {
        text: "First.",
        calls: &[("find", r#"{"id":1}"#), ("none", "{}"), ("find", r#"{"id":2,"list":[1,2]}"#)],
    },
    Content { text: "Done", calls: &[("none", "{}")] },
];

/// A text in random pieces, or as a whole.
fn pieces<'t>(text: &'t str, rng: &mut Option<Rng>) -> Vec<&'t str> {
    let size = |_| rng.as_mut().map_or(text.len(), |rng| rng.between(1, 6));
    gramc_language_tests::pieces(text, (0..).map(size))
}

fn chat(content: &Content, rng: &mut Option<Rng>) -> Vec<Value> {
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let mut events = vec![chunk(json!({"role": "assistant", "content": null}))];
    events.extend(pieces(content.text, rng).iter().map(|it| chunk(json!({"content": it}))));
    for (index, (name, arguments)) in content.calls.iter().enumerate() {
        let call = |call: Value| chunk(json!({"tool_calls": [call]}));
        let function = json!({"name": name, "arguments": ""});
        events.push(call(json!({"index": index, "id": format!("c{index}"), "function": function})));
        let piece = |it: &&str| call(json!({"index": index, "function": {"arguments": it}}));
        events.extend(pieces(arguments, rng).iter().map(piece));
    }
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    events.push(json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 5}}));
    events
}

fn anthropic(content: &Content, rng: &mut Option<Rng>) -> Vec<Value> {
    let usage = json!({"input_tokens": 20});
    let mut events = vec![json!({"type": "message_start", "message": {"usage": usage}})];
    let mut add = |block: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "content_block": block}));
        let delta = |delta| json!({"type": "content_block_delta", "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop"}));
    };
    let text = pieces(content.text, rng).into_iter();
    let text = text.map(|it| json!({"type": "text_delta", "text": it}));
    add(json!({"type": "text", "text": ""}), text.collect());
    for (index, (name, arguments)) in content.calls.iter().enumerate() {
        let block =
            json!({"type": "tool_use", "id": format!("c{index}"), "name": name, "input": {}});
        let deltas = pieces(arguments, rng).into_iter();
        let deltas = deltas.map(|it| json!({"type": "input_json_delta", "partial_json": it}));
        add(block, deltas.collect());
    }
    let delta = json!({"stop_reason": "end_turn"});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn gemini(content: &Content, rng: &mut Option<Rng>) -> Vec<Value> {
    let event = |part: Value| json!({"candidates": [{"content": {"parts": [part]}}]});
    let mut events: Vec<_> =
        pieces(content.text, rng).iter().map(|it| event(json!({"text": it}))).collect();
    for (name, arguments) in content.calls {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        events.push(event(json!({"functionCall": {"name": name, "args": arguments}})));
    }
    let usage = json!({"promptTokenCount": 20, "candidatesTokenCount": 5});
    events.push(json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}));
    events
}

fn responses(content: &Content, rng: &mut Option<Rng>) -> Vec<Value> {
    let text = json!([{"type": "output_text", "text": content.text}]);
    let mut output = vec![json!({"type": "message", "content": text})];
    let delta = |it: &&str| json!({"type": "response.output_text.delta", "delta": it});
    let mut events: Vec<_> = pieces(content.text, rng).iter().map(delta).collect();
    for (at, (name, arguments)) in content.calls.iter().enumerate() {
        let call = |arguments: &str| json!({"type": "function_call", "call_id": format!("c{at}"), "name": name, "arguments": arguments});
        let added = "response.output_item.added";
        events.push(json!({"type": added, "output_index": at + 1, "item": call("")}));
        let kind = "response.function_call_arguments.delta";
        let delta = |it: &&str| json!({"type": kind, "output_index": at + 1, "delta": it});
        events.extend(pieces(arguments, rng).iter().map(delta));
        output.push(call(arguments));
    }
    let usage = json!({"input_tokens": 20, "output_tokens": 5});
    let response = json!({"status": "completed", "output": output, "usage": usage});
    events.push(json!({"type": "response.completed", "response": response}));
    events
}

/// The deltas of a stream, joined.
#[derive(Debug, Default, PartialEq)]
struct Joined {
    text: String,
    calls: BTreeMap<usize, ModelCall>,
}

/// Reads a stream that arrives in these chunks.
async fn read(model: &HttpModel, chunks: Vec<Bytes>) -> (Reply, Joined) {
    let joined = Mutex::new(Joined::default());
    let sink = |delta: ReplyDelta<'_>| match delta {
        ReplyDelta::Text(text) => joined.lock().text.push_str(text),
        ReplyDelta::Call { index, id, name, arguments } => {
            let mut joined = joined.lock();
            let call = joined.calls.entry(index).or_default();
            (call.id, call.name) = (id.to_owned(), name.to_owned());
            call.arguments.push_str(arguments);
        }
        ReplyDelta::Retry { .. } => panic!("nothing is retried"),
    };
    let chunks = stream::iter(chunks.into_iter().map(Ok::<_, io::Error>));
    let reply = model.read_stream(chunks, &sink).await.unwrap();
    (reply, joined.into_inner())
}

type MakeEvents = fn(&Content, &mut Option<Rng>) -> Vec<Value>;

#[tokio::test]
async fn pieces_of_streams_do_not_matter() {
    let providers: [(Box<dyn Protocol>, MakeEvents); 4] = [
        (Box::new(ChatCompletions(Api::Tools)), chat),
        (Box::new(Anthropic), anthropic),
        (Box::new(Gemini), gemini),
        (Box::new(Responses), responses),
    ];
    for (protocol, events) in providers {
        let model = HttpModel {
            name: "provider/any".to_owned(),
            model: "any".to_owned(),
            base: String::new(),
            key: ApiKey(String::new()),
            client: client::client_of_address("http://127.0.0.1").unwrap(),
            takes_images: false,
            protocol,
        };
        for (at, content) in CONTENTS.iter().enumerate() {
            let mut whole = None;
            for case in 0..40 {
                let mut rng = (case > 0).then(|| Rng::for_case(at as u64, case));
                let end = if case % 2 == 0 { "\n\n" } else { "\r\n\r\n" };
                let text = events(content, &mut rng).into_iter();
                let text = text.map(|event| format!("data: {event}{end}"));
                let text = text.chain(["data: [DONE]\n\n".to_owned()]);
                let mut rest = Bytes::from(text.collect::<Vec<_>>().concat());
                let mut chunks = Vec::new();
                while !rest.is_empty() {
                    let length = rng.as_mut().map_or(rest.len(), |rng| rng.between(1, 60));
                    chunks.push(rest.split_to(length.min(rest.len())));
                }
                let (reply, joined) = read(&model, chunks).await;
                let message = &reply.message;
                assert_eq!(joined.text, message.content.as_deref().unwrap_or_default());
                let calls: Vec<_> = joined.calls.values().cloned().collect();
                assert_eq!(calls, message.tool_calls, "{model:?} {at} {case}");
                assert_eq!(
                    (message.content.as_deref().unwrap_or_default(), calls.len()),
                    (content.text, content.calls.len())
                );
                assert_eq!(reply.usage.total(), 25);
                let whole = whole.get_or_insert_with(|| reply.clone());
                assert_eq!(reply, *whole, "{model:?} {at} {case}");
            }
        }
    }
}
