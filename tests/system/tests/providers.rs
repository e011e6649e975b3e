//! `gramc run` with servers that speak as Anthropic, Gemini and OpenAI's responses do, well or
//! badly, over real sockets.

use serde_json::{Value, json};

use crate::model_server::{Answer, Ending, Server};
use crate::support::{Folder, Run, folder, gramc};

/// How a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provider {
    Anthropic,
    Gemini,
    Responses,
}

pub(crate) const ALL: [Provider; 3] = [Provider::Anthropic, Provider::Gemini, Provider::Responses];

/// What a model answers.
#[derive(Clone, Copy)]
pub(crate) enum Said {
    Text(&'static str),
    /// Names, and arguments as they are written.
    Calls(&'static [(&'static str, &'static str)]),
}

type Events = Vec<(&'static str, Value)>;

impl Provider {
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic/any",
            Self::Gemini => "gemini/any",
            Self::Responses => "openai-responses/any",
        }
    }

    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC",
            Self::Gemini => "GEMINI",
            Self::Responses => "OPENAI",
        }
    }

    /// An answer as this provider gives it, in pieces or whole.
    pub(crate) fn says(self, said: Said, stream: bool) -> Answer {
        if stream {
            return Answer::Events(self.events(said), Ending::Whole);
        }
        let usage = json!({"input_tokens": 20, "output_tokens": 5});
        Answer::Json(
            200,
            Vec::new(),
            match self {
                Self::Anthropic => json!({
                    "id": "m", "type": "message", "role": "assistant", "model": "any",
                    "content": blocks(said), "stop_reason": "end_turn", "usage": usage,
                }),
                Self::Gemini => gemini(said, Some("STOP")),
                Self::Responses => response("completed", &items(said)),
            },
        )
    }

    /// The pieces of an answer; the last one says that it is over.
    fn events(self, said: Said) -> Events {
        match self {
            Self::Anthropic => anthropic_events(said),
            Self::Gemini => match said {
                Said::Text(text) => {
                    let half = text.len() / 2;
                    let piece = |text: &str| json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]});
                    vec![
                        ("message", piece(&text[..half])),
                        ("message", piece(&text[half..])),
                        ("message", gemini(Said::Text(""), Some("STOP"))),
                    ]
                }
                calls @ Said::Calls(_) => vec![("message", gemini(calls, Some("STOP")))],
            },
            Self::Responses => responses_events(said),
        }
    }

    /// Errors that come in the middle of an answer, after which retrying may help.
    fn failures(self) -> [(&'static str, Value); 2] {
        let message = "too much to do";
        match self {
            Self::Anthropic => ["overloaded_error", "api_error"].map(|kind| {
                let error = json!({"type": kind, "message": message});
                ("error", json!({"type": "error", "error": error}))
            }),
            Self::Gemini => {
                [(503, "UNAVAILABLE"), (429, "RESOURCE_EXHAUSTED")].map(|(code, status)| {
                    let error = json!({"code": code, "message": message, "status": status});
                    ("message", json!({"error": error}))
                })
            }
            Self::Responses => {
                let mut failed = response("failed", &json!([]));
                failed["error"] = json!({"code": "server_error", "message": message});
                let failed = json!({"type": "response.failed", "response": failed});
                let code = "rate_limit_exceeded";
                let error = json!({"type": "error", "code": code, "message": message});
                [("response.failed", failed), ("error", error)]
            }
        }
    }
}

fn arguments(text: &str) -> Value {
    serde_json::from_str(text).expect("whole answers hold JSON")
}

fn blocks(said: Said) -> Value {
    match said {
        Said::Text(text) => json!([{"type": "text", "text": text}]),
        Said::Calls(calls) => calls
            .iter()
            .enumerate()
            .map(|(at, (name, text))| {
                json!({"type": "tool_use", "id": format!("c{at}"), "name": name,
                       "input": arguments(text)})
            })
            .collect(),
    }
}

fn anthropic_events(said: Said) -> Events {
    let start = json!({"type": "message_start", "message": {"usage": {"input_tokens": 20}}});
    let mut events = vec![("message_start", start)];
    let mut block = |at: usize, block: Value, deltas: Vec<Value>| {
        let start = json!({"type": "content_block_start", "index": at, "content_block": block});
        events.push(("content_block_start", start));
        for delta in deltas {
            let delta = json!({"type": "content_block_delta", "index": at, "delta": delta});
            events.push(("content_block_delta", delta));
        }
        events.push(("content_block_stop", json!({"type": "content_block_stop", "index": at})));
    };
    match said {
        Said::Text(text) => {
            let words = text.split_inclusive(' ');
            let deltas = words.map(|word| json!({"type": "text_delta", "text": word})).collect();
            block(0, json!({"type": "text", "text": ""}), deltas);
        }
        Said::Calls(calls) => {
            for (at, (name, text)) in calls.iter().enumerate() {
                let pieces = text.split_inclusive(' ');
                let deltas = pieces
                    .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                    .collect();
                let id = format!("c{at}");
                block(at, json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas);
            }
        }
    }
    let delta = json!({"stop_reason": "end_turn"});
    let delta = json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}});
    events.push(("message_delta", delta));
    events.push(("message_stop", json!({"type": "message_stop"})));
    events
}

fn gemini(said: Said, reason: Option<&str>) -> Value {
    let parts: Value = match said {
        Said::Text(text) => json!([{"text": text}]),
        Said::Calls(calls) => calls
            .iter()
            .map(|(name, text)| json!({"functionCall": {"name": name, "args": arguments(text)}}))
            .collect(),
    };
    let usage = json!({"promptTokenCount": 20, "candidatesTokenCount": 5, "totalTokenCount": 25});
    let content = json!({"role": "model", "parts": parts});
    json!({"candidates": [{"content": content, "finishReason": reason}], "usageMetadata": usage})
}

fn items(said: Said) -> Value {
    match said {
        Said::Text(text) => {
            let content = json!([{"type": "output_text", "text": text}]);
            json!([{"type": "message", "role": "assistant", "content": content}])
        }
        Said::Calls(calls) => calls
            .iter()
            .enumerate()
            .map(|(at, (name, text))| {
                json!({"type": "function_call", "call_id": format!("c{at}"), "name": name,
                       "arguments": text})
            })
            .collect(),
    }
}

fn response(status: &str, output: &Value) -> Value {
    let usage = json!({"input_tokens": 20, "output_tokens": 5, "total_tokens": 25});
    json!({"id": "r", "object": "response", "status": status, "model": "any", "output": output,
           "usage": usage})
}

fn responses_events(said: Said) -> Events {
    let event = |kind: &'static str, mut data: Value| {
        data["type"] = json!(kind);
        (kind, data)
    };
    let start = response("in_progress", &json!([]));
    let mut events = vec![event("response.created", json!({"response": start}))];
    match said {
        Said::Text(text) => events.extend(text.split_inclusive(' ').map(|word| {
            event("response.output_text.delta", json!({"output_index": 0, "delta": word}))
        })),
        Said::Calls(calls) => {
            for (at, (name, text)) in calls.iter().enumerate() {
                let item = json!({"type": "function_call", "call_id": format!("c{at}"),
                                  "name": name, "arguments": ""});
                let added = json!({"output_index": at, "item": item});
                events.push(event("response.output_item.added", added));
                events.extend(text.split_inclusive(' ').map(|piece| {
                    let delta = json!({"output_index": at, "delta": piece});
                    event("response.function_call_arguments.delta", delta)
                }));
            }
        }
    }
    let end = json!({"response": response("completed", &items(said))});
    events.push(event("response.completed", end));
    events
}

const SPEC: &str = r#"
[helper:Agent {instruction: "You help."} | [add:Tool | (a::Int)==>(b::Int)==>(::Int)]]
[works:Library | (add:Builtin)]
"#;

fn helper(provider: Provider, server: &Server, options: &str) -> (Run, Folder) {
    let files = folder(&[("spec.gram", SPEC)]);
    let run = gramc("run spec.gram Add --library works --conversation talk.json --model");
    let run = run.arg(provider.model()).args(options).within(files.path());
    let run = run.env(&format!("{}_BASE_URL", provider.variable()), &server.url());
    let run = run.env(&format!("{}_API_KEY", provider.variable()), "a-secret-key").run();
    assert!(!run.stderr.contains("a-secret-key"), "{provider:?} {}", run.stderr);
    (run, files)
}

fn results(files: &Folder) -> Vec<String> {
    let kept: Value = serde_json::from_str(&files.read("talk.json")).expect("it is JSON");
    let messages = kept["messages"].as_array().expect("there are messages").iter();
    let results = messages.filter(|message| message["role"] == "tool");
    results.map(|it| it["content"].as_str().expect("it is text").to_owned()).collect()
}

/// Whether a request wants a stream. Gemini says so in the address.
const STREAMS: [(bool, &str); 2] = [(true, "--show=150"), (false, "--no-stream")];

#[test]
fn calls_are_answered_in_order_and_unknown_ones_told() {
    for provider in ALL {
        for (stream, option) in STREAMS {
            let server = Server::start(move |at, _| {
                let said = match at {
                    0 => Said::Calls(&[
                        ("add", r#"{"a": 1, "b": "2"}"#),
                        ("subtract", "{}"),
                        ("add", r#"{"a": 3, "b": 4}"#),
                    ]),
                    _ => Said::Text("It is done."),
                };
                provider.says(said, stream)
            });
            let (run, files) = helper(provider, &server, option);
            assert_eq!(run.exits(0).stdout, "It is done.\n", "{provider:?} {option}");
            let results = results(&files);
            assert_eq!((&*results[0], &*results[2]), ("3", "7"), "{provider:?} {results:?}");
            assert!(results[1].starts_with("there is no tool `subtract`"), "{results:?}");
            // Tokens are counted.
            let kept = files.read("talk.json");
            assert!(kept.contains("\"input_tokens\": 40"), "{provider:?} {option} {kept}");
        }
    }
}

#[test]
fn busy_and_failing_providers_are_asked_again() {
    for provider in ALL {
        for (stream, option) in STREAMS {
            let failed = |status: u16, headers| {
                let error = json!({"message": "slow down, a-secret-key", "type": "some_error"});
                Answer::Json(status, headers, json!({"error": error}))
            };
            let server = Server::start(move |at, _| match at {
                0 => failed(429, vec![("retry-after", "1".to_owned())]),
                1 => failed(500, Vec::new()),
                _ => provider.says(Said::Text("Here I am."), stream),
            });
            let (run, _) = helper(provider, &server, option);
            let run = run.exits(0).says(&["HTTP status 429", "slow down, ***", "HTTP status 500"]);
            let run = run.says(&["retrying in 1.0 s"]);
            assert_eq!(run.stdout, "Here I am.\n", "{provider:?} {option}");
            assert!(run.took.as_secs_f64() > 1.9, "{provider:?} {option} {:?}", run.took);
        }
    }
}

#[test]
fn providers_that_refuse_are_asked_once() {
    for provider in ALL {
        for (_, option) in STREAMS {
            let server = Server::start(|_, _| {
                Answer::Json(401, Vec::new(), json!({"error": {"message": "no such key"}}))
            });
            let (run, files) = helper(provider, &server, option);
            run.exits(2).says(&["no answer: the provider returned HTTP status 401", "no such"]);
            assert_eq!(server.requests().len(), 1, "{provider:?} {option}");
            assert!(files.read("talk.json").contains("\"Add\""));
        }
    }
}

#[test]
fn answers_that_break_off_are_asked_for_again() {
    for provider in ALL {
        let server = Server::start(move |at, _| {
            let mut half = provider.events(Said::Text("A whole answer."));
            half.truncate(2);
            match at {
                // The connection breaks, or the stream ends before the answer does.
                0 => Answer::Events(half, Ending::Broken),
                1 => Answer::Events(half, Ending::Whole),
                2 | 3 => {
                    half.push(provider.failures()[at - 2].clone());
                    Answer::Events(half, Ending::Whole)
                }
                _ => provider.says(Said::Text("A whole answer."), true),
            }
        });
        let (run, _) = helper(provider, &server, "");
        let run = run
            .exits(0)
            .says(&["the provider's reply was interrupted", "the provider failed: too much to do"]);
        assert_eq!(run.stdout, "A whole answer.\n", "{provider:?}");
        assert_eq!(server.requests().len(), 5, "{provider:?}");
        // Whole answers, too.
        let server = Server::start(move |at, _| {
            match at {
            0 => Answer::Raw(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
            ),
            _ => provider.says(Said::Text("A whole answer."), false),
        }
        });
        let (run, _) = helper(provider, &server, "--no-stream");
        assert_eq!(
            run.exits(0).says(&["the provider's reply was interrupted"]).stdout,
            "A whole answer.\n"
        );
    }
}

#[test]
fn providers_that_hang_are_given_up() {
    for provider in ALL {
        for (_, option) in STREAMS {
            let server = Server::start(|_, _| Answer::Silence);
            let (run, files) = helper(provider, &server, &format!("{option} --time-limit 1.5"));
            run.exits(1).says(&["no answer: reached the time limit of 1.5 s"]);
            assert!(files.read("talk.json").contains("\"Add\""));
        }
    }
}

#[test]
fn what_cannot_be_read_is_told() {
    for provider in ALL {
        for (stream, option) in STREAMS {
            let server = Server::start(move |_, _| {
                if stream {
                    let strange = vec![("message_start", json!({"strange": "a-secret-key"}))];
                    Answer::Events(strange, Ending::Whole)
                } else {
                    Answer::Json(200, Vec::new(), json!({"strange": "a-secret-key"}))
                }
            });
            let (run, _) = helper(provider, &server, &format!("{option} --time-limit 20"));
            run.exits(2).says(&["no answer: the provider"]);
        }
    }
}

#[test]
fn malformed_arguments_are_told_to_the_model() {
    // Anthropic's whole answers hold arguments as JSON, which cannot be malformed.
    let cases =
        [(Provider::Anthropic, true), (Provider::Responses, true), (Provider::Responses, false)];
    for (provider, stream) in cases {
        let server = Server::start(move |_, request| {
            let said = if request.to_string().contains("are not valid JSON") {
                Said::Text("I see.")
            } else {
                Said::Calls(&[("add", "{\"a\": 1, \"b")])
            };
            // A whole answer that cannot be read is asked for again, in pieces.
            provider.says(said, request["stream"] == true)
        });
        let option = if stream { "" } else { "--no-stream" };
        let (run, files) = helper(provider, &server, option);
        assert_eq!(run.exits(0).stdout, "I see.\n", "{provider:?} {stream}");
        assert!(
            results(&files)[0].contains("the arguments are not valid JSON"),
            "{:?}",
            results(&files)
        );
    }
    // Gemini reads calls itself, and says when it cannot.
    for (stream, option) in STREAMS {
        let server = Server::start(move |at, _| {
            let mut unread = gemini(Said::Text(""), Some("MALFORMED_FUNCTION_CALL"));
            if let Some(content) = unread["candidates"][0].as_object_mut() {
                content.remove("content");
            }
            match (at, stream) {
                (0, true) => Answer::Events(vec![("message", unread)], Ending::Whole),
                (0, false) => Answer::Json(200, Vec::new(), unread),
                _ => Provider::Gemini.says(Said::Text("I see."), stream),
            }
        });
        let (run, _) = helper(Provider::Gemini, &server, option);
        let told = "the provider cannot parse a call of the model; retrying";
        assert_eq!(run.exits(0).says(&[told]).stdout, "I see.\n");
    }
}

/// An answer that ended because of a token limit, or of a content filter.
fn cut(provider: Provider, answer: Answer, filtered: bool) -> Answer {
    let words = match (provider, filtered) {
        (Provider::Anthropic, false) => [("\"end_turn\"", "\"max_tokens\""); 2],
        (Provider::Anthropic, true) => [("\"end_turn\"", "\"refusal\""); 2],
        (Provider::Gemini, false) => [("\"STOP\"", "\"MAX_TOKENS\""); 2],
        (Provider::Gemini, true) => [("\"STOP\"", "\"SAFETY\""); 2],
        (Provider::Responses, _) => [
            ("\"response.completed\"", "\"response.incomplete\""),
            (
                "\"status\":\"completed\"",
                if filtered {
                    "\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"content_filter\"}"
                } else {
                    "\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"}"
                },
            ),
        ],
    };
    let replaced = |value: &Value| {
        let text = words.iter().fold(value.to_string(), |text, (from, to)| text.replace(from, to));
        serde_json::from_str(&text).expect("it is JSON")
    };
    match answer {
        Answer::Json(status, headers, body) => Answer::Json(status, headers, replaced(&body)),
        Answer::Events(events, ending) => {
            let events = events.iter().map(|(name, event)| {
                let name =
                    if *name == "response.completed" { "response.incomplete" } else { *name };
                (name, replaced(event))
            });
            Answer::Events(events.collect(), ending)
        }
        other => other,
    }
}

#[test]
fn what_was_cut_off_is_neither_run_nor_an_answer() {
    for provider in ALL {
        for (stream, option) in STREAMS {
            for (filtered, why) in [
                (false, "the reply reached the token limit"),
                (true, "a content filter stopped the reply"),
            ] {
                let server = Server::start(move |at, _| match at {
                    0 => {
                        let calls =
                            &[("add", r#"{"a": 1, "b": 2}"#), ("add", r#"{"a": 3, "b": 4}"#)];
                        cut(provider, provider.says(Said::Calls(calls), stream), filtered)
                    }
                    1 => cut(provider, provider.says(Said::Text("Half an"), stream), filtered),
                    _ => provider.says(Said::Text("It is done."), stream),
                });
                let (run, files) = helper(provider, &server, option);
                let shown = format!("{provider:?} {option} {why}");
                assert_eq!(run.exits(0).stdout, "It is done.\n", "{shown}");
                let results = results(&files);
                assert_eq!(results[0], "3", "{shown}");
                let told = format!("`add`: the arguments are incomplete: {why} (line 1");
                assert!(results[1].starts_with(&told), "{shown}: {results:?}");
                let kept = files.read("talk.json");
                assert!(kept.contains(&format!("Invalid answer: {why}.")), "{shown}: {kept}");
            }
        }
    }
}

#[test]
fn what_a_model_did_not_finish_goes_back_as_an_object() {
    let half: &[(&str, &str)] = &[("add", "{\"a\": 1, \"b")];
    for provider in [Provider::Anthropic, Provider::Responses] {
        let server = Server::start(move |at, _| match at {
            0 => cut(provider, provider.says(Said::Calls(half), true), false),
            _ => provider.says(Said::Text("It is done."), true),
        });
        let (run, _) = helper(provider, &server, "");
        run.exits(0);
        let request = server.requests()[1].to_string();
        let malformed = match provider {
            Provider::Anthropic => r#""input":{"malformed_arguments":"{\"a\": 1, \"b"}"#,
            _ => r#""arguments":"{\"malformed_arguments\":\"{\\\"a\\\": 1, \\\"b\"}""#,
        };
        assert!(request.contains(malformed), "{provider:?} {request}");
    }
}

#[test]
fn a_conversation_goes_on_with_the_next_provider() {
    let spec =
        SPEC.replace("instruction:", "models: [\"anthropic/any\", \"gemini/any\"], instruction:");
    // The first provider replies once, and is gone then.
    let first = Server::start(|at, _| match at {
        0 => Provider::Anthropic.says(Said::Calls(&[("add", r#"{"a": 1, "b": 2}"#)]), true),
        _ => Answer::Json(404, Vec::new(), json!({"error": {"message": "no such model"}})),
    });
    let second = Server::start(|_, _| Provider::Gemini.says(Said::Text("It is 3."), true));
    let files = folder(&[("spec.gram", &spec)]);
    let run = gramc("run spec.gram Add --library works").within(files.path());
    let run = run.env("ANTHROPIC_BASE_URL", &first.url()).env("GEMINI_BASE_URL", &second.url());
    let run = run.run().exits(0).says(&["HTTP status 404", "; using gemini/any"]);
    assert_eq!(run.stdout, "It is 3.\n");
    // It gets the call, its result and the tools in its own form.
    let request = &second.requests()[0];
    let parts = request["contents"].to_string();
    assert!(
        parts.contains("\"functionCall\"") && parts.contains("\"functionResponse\""),
        "{parts}"
    );
    assert!(request["tools"].to_string().contains("add"), "{request}");
}
