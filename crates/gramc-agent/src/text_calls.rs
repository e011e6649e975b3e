//! Calls that a model writes as text, because its server does not read them.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::message::{FinishReason, ModelCall, Reply};

/// What begins calls in the chat templates of models: Hermes and Qwen, Mistral, Llama.
const MARKERS: [&str; 3] = ["<tool_call>", "[TOOL_CALLS]", "<|python_tag|>"];

/// A call as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall<'t> {
    name: String,
    #[serde(borrow, alias = "parameters")]
    arguments: &'t RawValue,
    #[serde(rename = "id")]
    _id: Option<IgnoredAny>,
    #[serde(rename = "type")]
    _type: Option<IgnoredAny>,
}

/// Replaces the calls that the text of a complete reply consists of by calls of the reply. Text may
/// precede them if they begin a line; nothing may follow. `is_call` decides whether the name of a
/// call and the JSON of it may be meant as a call. `fenced` is whether JSON in a code fence may be a
/// call if it is the whole text.
pub(crate) fn read_calls(reply: &mut Reply, fenced: bool, is_call: impl Fn(&str, &str) -> bool) {
    let message = &mut reply.message;
    let Some(text) = message.content.as_deref() else { return };
    if !message.tool_calls.is_empty() || reply.finish_reason != FinishReason::Stop {
        return;
    }
    let Some((before, calls)) =
        split_at_marks(text).or_else(|| fenced.then(|| in_fence(text)).flatten())
    else {
        return;
    };
    let read = |json: &str| {
        let WrittenCall { name, arguments, .. } = serde_json::from_str(json).ok()?;
        let arguments = match arguments.get() {
            object if object.starts_with('{') => object.to_owned(),
            text => serde_json::from_str::<String>(text).ok()?,
        };
        is_call(&name, json).then_some(ModelCall { id: String::new(), name, arguments })
    };
    let Some(calls) = calls.into_iter().map(read).collect::<Option<Vec<_>>>() else { return };
    if calls.is_empty() {
        return;
    }
    let before = before.trim_end();
    message.content = (!before.is_empty()).then(|| before.to_owned());
    message.tool_calls = calls;
    // The provider's own form of the message has no calls.
    message.provider = None;
    reply.calls_as_text = true;
}

/// The text before the first marker that begins a line, and the JSON of the calls after it.
fn split_at_marks(text: &str) -> Option<(&str, Vec<&str>)> {
    let mut at = 0;
    let (start, marker) = text.split_inclusive('\n').find_map(|line| {
        let inside = line.trim_start();
        let start = at + line.len() - inside.len();
        at += line.len();
        let marker = MARKERS.into_iter().find(|marker| inside.starts_with(marker))?;
        Some((start, marker))
    })?;
    let (before, rest) = text.split_at_checked(start)?;
    // What a code fence encloses is an example.
    if before.matches("```").count() % 2 == 1 {
        return None;
    }
    let calls = match marker {
        "<tool_call>" => split_at_tags(rest),
        "[TOOL_CALLS]" => objects(rest.strip_prefix(marker)?),
        _ => {
            let rest = rest.trim_end();
            let ends = ["<|eom_id|>", "<|eot_id|>"];
            let rest = ends.iter().find_map(|end| rest.strip_suffix(end)).unwrap_or(rest);
            objects(rest.strip_prefix(marker)?)
        }
    };
    Some((before, calls?))
}

/// The calls in `<tool_call>` elements. The last end tag may be missing, because some servers take
/// it for the end of the reply.
fn split_at_tags(mut rest: &str) -> Option<Vec<&str>> {
    let mut all = Vec::new();
    while let Some(inside) = rest.trim_start().strip_prefix("<tool_call>") {
        let (json, after) = first_value(inside)?;
        all.push(json);
        let after = after.trim_start();
        rest = match after.strip_prefix("</tool_call>") {
            Some(rest) => rest,
            None if after.is_empty() => after,
            None => return None,
        };
    }
    rest.trim().is_empty().then_some(all)
}

/// The calls of a code fence that is the whole text.
fn in_fence(text: &str) -> Option<(&str, Vec<&str>)> {
    let inside = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    let (language, inside) = inside.split_once('\n')?;
    let is_json =
        ["", "json", "tool_call"].iter().any(|it| it.eq_ignore_ascii_case(language.trim()));
    if !is_json || inside.contains("```") {
        return None;
    }
    Some(("", objects(inside)?))
}

/// The objects of a list, or objects that follow each other.
fn objects(text: &str) -> Option<Vec<&str>> {
    let mut rest = text.trim();
    if rest.starts_with('[') {
        let all: Vec<&RawValue> = serde_json::from_str(rest).ok()?;
        return Some(all.into_iter().map(RawValue::get).collect());
    }
    let mut all = Vec::new();
    while !rest.is_empty() {
        let (json, after) = first_value(rest)?;
        all.push(json);
        rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
    }
    Some(all)
}

/// The JSON value at the start of a text, and what follows.
fn first_value(text: &str) -> Option<(&str, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?;
    Some((value.get(), text.get(values.byte_offset()..)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use gramc_language_tests::rng::Rng;

    use super::*;
    use crate::message::AssistantMessage;

    fn reply(text: &str) -> Reply {
        let message = AssistantMessage {
            content: Some(text.to_owned()),
            provider: Some(serde_json::json!({"by": "x"})),
            ..AssistantMessage::default()
        };
        Reply { message, ..Reply::default() }
    }

    /// The text and the calls that are read, or `None` if the reply is not changed.
    fn read(text: &str) -> Option<(String, Vec<(String, String)>)> {
        let before = reply(text);
        let mut after = before.clone();
        read_calls(&mut after, true, |name, _| name == "add");
        if after == before {
            return None;
        }
        assert!(after.calls_as_text && after.message.provider.is_none());
        let calls = after.message.tool_calls.into_iter().map(|it| (it.name, it.arguments));
        Some((after.message.content.unwrap_or_default(), calls.collect()))
    }

    fn call(arguments: &str) -> (String, String) {
        ("add".to_owned(), arguments.to_owned())
    }

    #[test]
    fn calls_in_the_forms_of_models_are_read() {
        let one = |arguments: &str| Some((String::new(), vec![call(arguments)]));
        let two = |text: &str| Some((text.to_owned(), vec![call("{\"a\":1}"), call("{}")]));
        for (text, expected) in [
            (
                "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1.50}}\n</tool_call>",
                one("{\"a\": 1.50}"),
            ),
            ("<tool_call>{\"name\":\"add\",\"arguments\":{}}", one("{}")),
            (
                "I add.\n\n<tool_call>{\"name\":\"add\",\"arguments\":{\"a\":1}}</tool_call>\n\
                 <tool_call>{\"name\":\"add\",\"arguments\":{}}</tool_call>\n",
                two("I add."),
            ),
            (
                "[TOOL_CALLS][{\"name\":\"add\",\"arguments\":{\"a\":1}},\
                 {\"name\":\"add\",\"arguments\":{}, \"id\": \"123456789\"}]",
                two(""),
            ),
            ("[TOOL_CALLS] {\"name\":\"add\",\"arguments\":\"{'a': 1}\"}", one("{'a': 1}")),
            (
                "<|python_tag|>{\"type\": \"function\", \"name\": \"add\", \"parameters\": {}}<|eom_id|>",
                one("{}"),
            ),
            (
                "<|python_tag|>{\"name\":\"add\",\"parameters\":{\"a\":1}}; \
                 {\"name\":\"add\",\"parameters\":{}}",
                two(""),
            ),
            ("```json\n{\"name\": \"add\", \"arguments\": {}}\n```\n", one("{}")),
            ("```\n[{\"name\": \"add\", \"arguments\": {}}]\n```", one("{}")),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn text_that_is_no_call_stays() {
        for text in [
            "",
            "add",
            "Write <tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>",
            "<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call> is a call.",
            "So:\n```\n<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>",
            "<tool_call>{\"name\": \"other\", \"arguments\": {}}</tool_call>",
            "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1</tool_call>",
            "<tool_call>{\"name\": \"add\"}</tool_call>",
            "<tool_call>{\"name\": \"add\", \"arguments\": 5}</tool_call>",
            "<tool_call>{\"name\": \"add\", \"arguments\": {}, \"parameters\": {}}</tool_call>",
            "<tool_call></tool_call>",
            "[TOOL_CALLS][]",
            "[TOOL_CALLS][{\"name\": \"add\", \"arguments\": {}}, {\"name\": \"other\", \"arguments\": {}}]",
            "[TOOL_CALLS][{\"name\": \"add\", \"arguments\": {}}] and more",
            "<|python_tag|>print(1)",
            "Here:\n```json\n{\"name\": \"add\", \"arguments\": {}}\n```",
            "```json\n{\"name\": \"add\", \"arguments\": {}}\n```\nDone.",
            "```json\n{\"name\": \"add\", \"arguments\": {}, \"note\": 1}\n```",
            "```python\n{\"name\": \"add\", \"arguments\": {}}\n```",
            "{\"name\": \"add\", \"arguments\": {}}",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        let deep = format!("<tool_call>{}", "[".repeat(100_000));
        assert_eq!(read(&deep), None);
        let many = format!("[TOOL_CALLS]{}", "[TOOL_CALLS]\n".repeat(10_000));
        assert_eq!(read(&many), None);
    }

    #[test]
    fn replies_with_calls_and_incomplete_ones_stay() {
        let text = "<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>";
        let call = ModelCall { id: String::new(), name: "add".into(), arguments: "{}".into() };
        let mut with_call = reply(text);
        with_call.message.tool_calls.push(call);
        let cut = Reply { finish_reason: FinishReason::Length, ..reply(text) };
        for before in [with_call, cut] {
            let mut after = before.clone();
            read_calls(&mut after, true, |_, _| true);
            assert_eq!(after, before);
        }
        let mut fenced = reply("```json\n{\"name\": \"add\", \"arguments\": {}}\n```");
        let before = fenced.clone();
        read_calls(&mut fenced, false, |_, _| true);
        assert_eq!(fenced, before);
    }

    /// Texts are put together at random from what calls consist of. If calls are read, they and the
    /// text before them are all that the reply holds; else the reply is unchanged.
    #[test]
    fn nothing_but_calls_is_changed() {
        const PIECES: &[&str] = &[
            "<tool_call>",
            "</tool_call>",
            "[TOOL_CALLS]",
            "<|python_tag|>",
            "<|eom_id|>",
            "```",
            "```json",
            "\n",
            "\n",
            " ",
            ";",
            "[",
            "]",
            ",",
            "{\"name\":\"add\",\"arguments\":{\"a\":1}}",
            "{\"name\":\"add\",\"parameters\":{}}",
            "{\"name\":\"other\",\"arguments\":{}}",
            "{\"name\":\"add\"",
            "words",
            "é😀",
        ];
        let mut changed = 0;
        for case in 0..200_000 {
            let mut rng = Rng::for_case(20_261_125, case);
            let count = rng.between(1, 7);
            let text: String = (0..count).map(|_| rng.pick(PIECES)).collect();
            // Without tools, nothing is a call.
            let before = reply(&text);
            let mut after = before.clone();
            read_calls(&mut after, true, |_, _| false);
            assert_eq!(after, before, "{text}");
            let Some((left, calls)) = read(&text) else { continue };
            changed += 1;
            let rest = text.strip_prefix(&left).unwrap();
            assert!(!rest.contains("words") && !rest.contains("other"), "{text}");
            assert!(left.is_empty() || rest.trim_start_matches(' ').starts_with('\n'), "{text}");
            let names = rest.matches("\"add\"").count();
            assert_eq!(calls.len(), names, "{text}");
            assert!(calls.iter().all(|(_, it)| it == "{}" || it == "{\"a\":1}"), "{text}");
        }
        assert!(changed > 500, "{changed}");
    }
}
