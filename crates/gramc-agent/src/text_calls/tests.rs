#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use gramc_language_tests::rng::Rng;
use serde_json::{Value, json};

use super::notation::python_to_json;
use super::*;
use crate::message::AssistantMessage;

const TOOLS: [&str; 3] = ["add", "list_files", "get-weather"];

/// The text that is left, and the calls.
type Outcome = (String, Vec<(String, String)>);

fn reply(text: &str) -> Reply {
    let message = AssistantMessage {
        content: Some(text.to_owned()),
        provider: Some(json!({"by": "x"})),
        ..AssistantMessage::default()
    };
    Reply { message, ..Reply::default() }
}

/// `None` if the reply is not changed.
fn read_with(text: &str, rules: &TextCallRules<'_>) -> Result<Option<Outcome>, String> {
    let before = reply(text);
    let mut after = before.clone();
    if let Err(error) = read_calls(&mut after, rules) {
        assert_eq!(after, before, "{text}");
        return Err(error.format.to_owned());
    }
    if after == before {
        return Ok(None);
    }
    assert!(after.calls_as_text && after.message.provider.is_none());
    let calls = after.message.tool_calls.into_iter().map(|it| (it.name, it.arguments));
    Ok(Some((after.message.content.unwrap_or_default(), calls.collect())))
}

fn read(text: &str) -> Result<Option<Outcome>, String> {
    let rules = TextCallRules {
        is_tool: &|name| TOOLS.contains(&name),
        is_quoted: &|_| false,
        unmarked: true,
    };
    read_with(text, &rules)
}

fn outcome(left: &str, calls: &[(&str, &str)]) -> Result<Option<Outcome>, String> {
    let calls = calls.iter().map(|(name, json)| ((*name).to_owned(), (*json).to_owned()));
    Ok(Some((left.to_owned(), calls.collect())))
}

#[test]
fn calls_in_the_formats_of_models_are_read() {
    let a = "{\"a\": 1}";
    for (text, left, calls) in [
        (
            "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>",
            "",
            vec![("add", a)],
        ),
        ("<tool_call>{\"name\":\"add\",\"arguments\":{}}", "", vec![("add", "{}")]),
        ("<tool_call>{\"name\":\"add\"}</tool_call><|im_end|>", "", vec![("add", "")]),
        (
            "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\": 1},}</tool_call>",
            "",
            vec![("add", a)],
        ),
        (
            "<tool_call>{'name': 'add', 'arguments': {'a': 1,}}</tool_call>",
            "",
            vec![("add", "{'a': 1,}")],
        ),
        // One bracket is missing, or too many.
        ("<tool_call>{\"name\":\"add\",\"arguments\":{\"a\": 1}</tool_call>", "", vec![("add", a)]),
        (
            "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\": 1}}}</tool_call>",
            "",
            vec![("add", a)],
        ),
        (
            "I add.\n\n<tool_call>{\"name\":\"add\",\"arguments\":{\"a\": 1}}</tool_call>\n\
             <tool_call>{\"name\":\"subtract\",\"arguments\":{}}</tool_call>\n\nNow I wait.\n",
            "I add.\nNow I wait.",
            vec![("add", a), ("subtract", "{}")],
        ),
        (
            "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\": 1}}\n\
             <tool_call>{\"name\":\"add\",\"arguments\":\"{\\\"a\\\": 2}\"}",
            "",
            vec![("add", a), ("add", "{\"a\": 2}")],
        ),
        (
            "Sure.\n<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=text>\n\
             <b>\nx\n</parameter>\n</function>\n</tool_call>",
            "Sure.",
            vec![("add", "{\"a\": \"1\", \"text\": \"<b>\\nx\"}")],
        ),
        (
            "<function=add>\n<parameter=a>1</parameter>\n</function>\n</tool_call>",
            "",
            vec![("add", "{\"a\": \"1\"}")],
        ),
        ("<function=add>{\"a\": 1}</function>", "", vec![("add", a)]),
        (
            "<|python_tag|>{\"name\":\"add\",\"parameters\":{\"a\": 1}}; \
             {\"type\": \"function\", \"name\":\"list_files\",\"parameters\":{}}<|eom_id|>",
            "",
            vec![("add", a), ("list_files", "{}")],
        ),
        ("<|python_tag|>add(a=1)", "", vec![("add", a)]),
        ("{\"name\": \"add\", \"parameters\": {\"a\": 1}}", "", vec![("add", a)]),
        (
            "{\"type\":\"function\",\"name\":\"add\",\"parameters\":{\"a\": 1}}\n",
            "",
            vec![("add", a)],
        ),
        (
            "[TOOL_CALLS] [{\"name\": \"add\", \"arguments\": {\"a\": 1}}, \
             {\"name\": \"add\", \"arguments\": {}, \"id\": \"123456789\"}]</s>",
            "",
            vec![("add", a), ("add", "{}")],
        ),
        (
            "[TOOL_CALLS]add[ARGS]{\"a\": 1}[TOOL_CALLS]list_files[CALL_ID]x1[ARGS]{}",
            "",
            vec![("add", a), ("list_files", "{}")],
        ),
        ("[TOOL_CALLS]add{\"a\": 1}", "", vec![("add", a)]),
        (
            "I add.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{\"a\": 1}\n\
             ```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{}\n\
             ```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
            "I add.",
            vec![("add", a), ("add", "{}")],
        ),
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜>\
             <｜tool▁call▁begin｜>add<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "",
            vec![("add", a), ("add", "{}")],
        ),
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0\
             <|tool_call_argument_begin|>{\"a\": 1}<|tool_call_end|><|tool_call_begin|>\
             functions.get-weather:1<|tool_call_argument_begin|>{}<|tool_call_end|>\
             <|tool_calls_section_end|>",
            "",
            vec![("add", a), ("get-weather", "{}")],
        ),
        (
            "\n<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n\
             <tool_call>list_files</tool_call>",
            "",
            vec![("add", "{\"a\": \"1\"}"), ("list_files", "{}")],
        ),
        (
            "<|channel|>analysis<|message|>I add.<|end|><|start|>assistant<|channel|>commentary \
             to=functions.add <|constrain|>json<|message|>{\"a\": 1}<|call|>",
            "<|channel|>analysis<|message|>I add.<|end|>",
            vec![("add", a)],
        ),
        (
            "<|start|>assistant to=functions.add<|channel|>commentary json<|message|>{\"a\": 1}",
            "",
            vec![("add", a)],
        ),
        (
            "[add(a=1, b=\"x's\"), list_files()]",
            "",
            vec![("add", "{\"a\": 1, \"b\": \"x's\"}"), ("list_files", "{}")],
        ),
        (
            "[add(a=[True, None, {'k': 'v\\n\\d'}])]",
            "",
            vec![("add", "{\"a\": [true, null, {\"k\": \"v\\n\\\\d\"}]}")],
        ),
        ("<|python_start|>[add(a=1)]<|python_end|>", "", vec![("add", a)]),
        (
            "I add.\n```tool_code\nprint(default_api.add(a=1))\nlist_files()\n```",
            "I add.",
            vec![("add", a), ("list_files", "{}")],
        ),
        (
            "<function_calls>\n<invoke name=\"add\">\n<parameter name=\"a\">1</parameter>\n</invoke>\n\
             <invoke name=\"list_files\">\n</invoke>\n</function_calls>",
            "",
            vec![("add", "{\"a\": \"1\"}"), ("list_files", "{}")],
        ),
        ("```json\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n```\n", "", vec![("add", a)]),
        ("```\n[{\"name\": \"add\", \"arguments\": {\"a\": 1}}]\n```", "", vec![("add", a)]),
        // Malformed arguments are checked like those of other calls.
        (
            "<|tool_call_begin|>add:0<|tool_call_argument_begin|>{\"a\": 1<|tool_call_end|>",
            "",
            vec![("add", "{\"a\": 1")],
        ),
        (
            "<think>\nI call\n<tool_call>{\"name\": \"list_files\", \"arguments\": {}}</tool_call>\n\
             </think>\n\n[add(a=1)]",
            "<think>\nI call\n<tool_call>{\"name\": \"list_files\", \"arguments\": {}}</tool_call>\n\
             </think>",
            vec![("add", a)],
        ),
        (
            "I could\n<tool_call>{\"name\": \"list_files\", \"arguments\": {}}</tool_call>\nor add.\n\
             </think><tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1}}</tool_call>",
            "I could\n<tool_call>{\"name\": \"list_files\", \"arguments\": {}}</tool_call>\nor add.\n\
             </think>",
            vec![("add", a)],
        ),
    ] {
        assert_eq!(read(text), outcome(left, &calls), "{text}");
    }
}

#[test]
fn text_that_is_no_call_stays() {
    let call = "{\"name\": \"add\", \"arguments\": {}}";
    for text in [
        "",
        "add",
        "Write <tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call> is a call.",
        "<tool_call>{…}</tool_call> is the format.",
        "<tool_call> begins a call.",
        "So:\n```\n<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>",
        "So:\n```xml\n<function=add>\n</function>\n```\nDone.",
        "`<|tool_call_begin|>add:0<|tool_call_argument_begin|>{}<|tool_call_end|>`",
        "Kimi writes `<|tool_call_begin|>add:0<|tool_call_argument_begin|>{}<|tool_call_end|>`.",
        "The token <|tool_call_begin|> begins a call of Kimi.",
        "<tool_call></tool_call>",
        "[TOOL_CALLS] marks calls.",
        "[TOOL_CALLS][{\"name\": \"add\", \"arguments\": {}}] and more",
        "<|python_tag|>print(1)",
        "```tool_code\nprint(1)\n```",
        "Here:\n```json\n{\"name\": \"add\", \"arguments\": {}}\n```",
        "```json\n{\"name\": \"add\", \"arguments\": {}}\n```\nDone.",
        "```json\n{\"name\": \"add\", \"arguments\": {}, \"note\": 1}\n```",
        "```python\n{\"name\": \"add\", \"arguments\": {}}\n```",
        "Call {\"name\": \"add\", \"arguments\": {}}",
        "{\"name\": \"add\"}",
        "{\"name\": \"Ada\", \"parameters\": {\"age\": 36}}",
        "{\"name\": \"ad\", \"parameters\": {}}",
        "{\"name\": \"add\", \"arguments\": \"two numbers\"}",
        "{\"name\": \"add\", \"parameters\": {\"type\": \"object\", \"properties\": {}}}",
        "[{\"name\": \"add\", \"arguments\": {}}, {\"name\": \"Ada\", \"arguments\": {}}]",
        "{\"name\": \"add\", \"arguments\": {\"text\": \"<|tool_call_begin|>add:0<|tool_call_argument_begin|>{}",
        "[add(a=1)] adds.",
        "[add(1, 2)]",
        "[add(a=1), other(a=1)]",
        "add(a=1)",
        "[other(a=1)]",
        "[1, 2]",
        "<think>\n<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>",
        "Hm.\n<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>\n</think>\nIt is 3.",
    ] {
        assert_eq!(read(text), Ok(None), "{text}");
    }
    // Quoted calls, and those that may be the answer.
    let quoted = format!("<tool_call>{call}</tool_call>");
    for (text, unmarked) in [(&*quoted, true), (call, false)] {
        let rules = TextCallRules {
            is_tool: &|name| name == "add",
            is_quoted: &|text| text == call && unmarked,
            unmarked,
        };
        assert_eq!(read_with(text, &rules), Ok(None));
    }
    for line in [
        "[TOOL_CALLS] x y\n",
        "x <|tool_call_begin|>add b\n",
        "<think>x</think>\n",
        "<function=a b\n",
    ] {
        assert_eq!(read(&line.repeat(10_000)), Ok(None), "{line}");
    }
}

#[test]
fn a_call_that_cannot_be_read_names_its_format() {
    let deep = format!("<tool_call>{}", "[".repeat(100_000));
    for (text, format) in [
        ("<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1</tool", "Hermes"),
        ("<tool_call>{\"name\": \"add\", \"arguments\": {}, \"x\": 1}</tool_call>", "Hermes"),
        ("<tool_call>{\"name\": \"add\", \"arguments\": {}, \"arguments\": 1}", "Hermes"),
        (&*deep, "Hermes"),
        ("Well.\n<function=add>\n<parameter=a>\n1", "Qwen3-Coder"),
        ("<function=add>{\"a\": 1", "Llama"),
        ("<|python_tag|>{\"name\": \"add\", \"parameters\": {\"a\": 1}", "Llama"),
        ("[TOOL_CALLS][{\"name\": \"add\", \"arguments\": {}}, 5]", "Mistral"),
        ("[TOOL_CALLS]add[ARGS]{\"a\":", "Mistral"),
        ("x<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{\"a\":", "DeepSeek"),
        ("<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0", "Kimi"),
        ("<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1", "GLM"),
        ("<|channel|>commentary to=functions.add <|constrain|>json<|message|>{", "harmony"),
        ("<function_calls>\n<invoke name=\"add\">\n<parameter name=\"a\">", "Anthropic"),
        ("```tool_code\nprint(add(1, 2))\n```", "Gemma"),
        ("<|python_start|>[add(a=1), ", "Llama 4"),
    ] {
        let Err(format_of_error) = read(text) else { panic!("{text}") };
        assert!(format_of_error.starts_with(format), "{text}: {format_of_error}");
    }
}

#[test]
fn replies_with_calls_and_incomplete_ones_stay() {
    let text = "<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>";
    let call = ModelCall { id: String::new(), name: "add".into(), arguments: "{}".into() };
    let mut with_call = reply(text);
    with_call.message.tool_calls.push(call);
    let cut = Reply { finish_reason: FinishReason::Length, ..reply(text) };
    let rules = TextCallRules { is_tool: &|_| true, is_quoted: &|_| false, unmarked: true };
    for before in [with_call, cut] {
        let mut after = before.clone();
        assert_eq!(read_calls(&mut after, &rules), Ok(()));
        assert_eq!(after, before);
    }
}

/// A random text with everything that ends values, strings and calls in some format.
fn text(rng: &mut Rng) -> String {
    const PIECES: &[&str] = &[
        "a",
        "é😀",
        " ",
        "\n",
        "\"",
        "'",
        "\\",
        "`",
        "```",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ":",
        "=",
        "</tool_call>",
        "<tool_call>",
        "<think>",
        "</think>",
        "<|tool_call_end|>",
        "[TOOL_CALLS]",
        "\t",
        "<|call|>",
        "<｜tool▁call▁end｜>",
        "</s>",
        "<function=add>",
        "{\"name\":\"add\",\"arguments\":{}}",
        "<|tool_call_begin|>add<|tool_call_argument_begin|>{}",
        "[add()]",
        "True",
        "1",
    ];
    (0..rng.between(0, 6)).map(|_| rng.pick(PIECES)).collect()
}

fn value(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth > 2 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => json!(rng.chance(50)),
        2 => json!(rng.below(1_000)),
        3 => json!(-1.5e-7),
        4 => json!(text(rng)),
        5 => (0..rng.between(0, 3)).map(|_| value(rng, depth + 1)).collect(),
        _ => (0..rng.between(0, 3)).map(|_| (text(rng), value(rng, depth + 1))).collect(),
    }
}

/// A value as Python writes it.
fn python(value: &Value) -> String {
    let join = |items: Vec<String>| items.join(", ");
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let escaped = text.replace('\\', "\\\\").replace('\'', "\\'");
            format!("'{}'", escaped.replace('\n', "\\n").replace('\t', "\\t"))
        }
        Value::Array(items) => format!("[{}]", join(items.iter().map(python).collect())),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| {
                format!("{}: {}", python(&json!(key)), python(value))
            };
            format!("{{{}}}", join(map.iter().map(entry).collect()))
        }
    }
}

/// How a format writes calls.
struct Writer {
    before: &'static str,
    call: fn(&str, &Value) -> String,
    separator: &'static str,
    after: &'static str,
    /// What ends a value in an element. Values are read as strings.
    value_end: Option<&'static str>,
}

/// Writes elements from a template with `KEY` and `VALUE`.
fn elements(arguments: &Value, template: &str) -> String {
    let entries = arguments.as_object().into_iter().flatten();
    let one = |(key, value): (&String, &Value)| {
        template.replace("KEY", key).replace("VALUE", &plain(value))
    };
    entries.map(one).collect()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn keywords(arguments: &Value) -> String {
    let entries = arguments.as_object().into_iter().flatten();
    let all: Vec<_> = entries.map(|(key, value)| format!("{key}={}", python(value))).collect();
    all.join(", ")
}

const fn writer(
    before: &'static str,
    call: fn(&str, &Value) -> String,
    separator: &'static str,
    after: &'static str,
) -> Writer {
    Writer { before, call, separator, after, value_end: None }
}

fn object(name: &str, arguments: &Value) -> String {
    json!({"name": name, "arguments": arguments}).to_string()
}

fn writers() -> Vec<Writer> {
    vec![
        writer("", |n, a| format!("<tool_call>\n{}\n</tool_call>", object(n, a)), "\n", ""),
        writer(
            "",
            |n, a| {
                let python = python(&json!({"name": n, "arguments": a}));
                format!("<tool_call>{python}</tool_call>")
            },
            "",
            "<|im_end|>",
        ),
        Writer {
            value_end: Some("</parameter>"),
            ..writer(
                "",
                |n, a| {
                    let all = elements(a, "<parameter=KEY>\nVALUE\n</parameter>\n");
                    format!("<tool_call>\n<function={n}>\n{all}</function>\n</tool_call>")
                },
                "\n",
                "",
            )
        },
        writer("", |n, a| format!("<function={n}>{a}</function>"), "", "<|eom_id|>"),
        writer(
            "<|python_tag|>",
            |n, a| object(n, a).replace("\"arguments\":", "\"parameters\":"),
            "; ",
            "",
        ),
        writer("", object, "\n", ""),
        writer("[TOOL_CALLS] [", object, ", ", "]</s>"),
        writer("", |n, a| format!("[TOOL_CALLS]{n}[ARGS]{a}"), "", ""),
        writer("", |n, a| format!("[TOOL_CALLS]{n}{a}"), "", "</s>"),
        writer(
            "<｜tool▁calls▁begin｜>",
            |n, a| {
                format!(
                    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{a}\n```<｜tool▁call▁end｜>"
                )
            },
            "\n",
            "<｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
        ),
        writer(
            "<｜tool▁calls▁begin｜>",
            |n, a| format!("<｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{a}<｜tool▁call▁end｜>"),
            "",
            "<｜tool▁calls▁end｜>",
        ),
        writer(
            "<|tool_calls_section_begin|>",
            |n, a| {
                format!(
                    "<|tool_call_begin|>functions.{n}:0<|tool_call_argument_begin|>{a}<|tool_call_end|>"
                )
            },
            "",
            "<|tool_calls_section_end|>",
        ),
        Writer {
            value_end: Some("</arg_value>"),
            ..writer(
                "\n",
                |n, a| {
                    let all = elements(a, "<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n");
                    format!("<tool_call>{n}\n{all}</tool_call>")
                },
                "\n",
                "",
            )
        },
        writer(
            "",
            |n, a| {
                format!(
                    "<|start|>assistant<|channel|>commentary to=functions.{n} \
                     <|constrain|>json<|message|>{a}<|call|>"
                )
            },
            "",
            "",
        ),
        writer("[", |n, a| format!("{n}({})", keywords(a)), ", ", "]"),
        writer("```tool_code\n", |n, a| format!("print({n}({}))", keywords(a)), "\n", "\n```"),
        writer(
            "<|tool_call_start|>[",
            |n, a| format!("{n}({})", keywords(a)),
            ", ",
            "]<|tool_call_end|>",
        ),
        Writer {
            value_end: Some("</parameter>"),
            ..writer(
                "<function_calls>\n",
                |n, a| {
                    let all = elements(a, "<parameter name=\"KEY\">VALUE</parameter>\n");
                    format!("<invoke name=\"{n}\">\n{all}</invoke>\n")
                },
                "",
                "</function_calls>",
            )
        },
        writer("```json\n[", object, ",\n", "]\n```"),
    ]
}

/// Calls with random arguments come back from each format exactly. If the text ends anywhere
/// before, the result is the first calls, an error, or no call, but never another call.
#[test]
fn calls_come_back_from_each_format() {
    let writers = writers();
    let (mut cuts, mut errors) = (0, 0);
    for case in 0..4_000 {
        let mut rng = Rng::for_case(20_261_128, case);
        let writer = &writers[case % writers.len()];
        let calls: Vec<(String, Value)> = (0..rng.between(1, 3))
            .map(|_| {
                let keys = ["a", "path", "is_open"].into_iter().take(rng.between(0, 3));
                let mut pairs = Vec::new();
                for key in keys {
                    let mut value = value(&mut rng, 0);
                    if writer.value_end.is_some_and(|end| plain(&value).contains(end)) {
                        value = Value::Null;
                    }
                    pairs.push((key.to_owned(), value));
                }
                ((*rng.pick(&TOOLS)).to_owned(), pairs.into_iter().collect())
            })
            .collect();
        let written: Vec<_> = calls.iter().map(|(name, it)| (writer.call)(name, it)).collect();
        let text = format!("{}{}{}", writer.before, written.join(writer.separator), writer.after);
        let expected: Vec<(String, Value)> = calls
            .into_iter()
            .map(|(name, arguments)| match (writer.value_end, arguments) {
                (Some(_), Value::Object(map)) => {
                    let texts = map.into_iter().map(|(key, it)| (key, json!(plain(&it))));
                    (name, texts.collect())
                }
                (_, arguments) => (name, arguments),
            })
            .collect();
        let parsed = |from: &str, calls: Vec<(String, String)>| -> Vec<(String, Value)> {
            let value = |text: &str| {
                let json = serde_json::from_str(text).ok();
                json.or_else(|| serde_json::from_str(&python_to_json(text)?).ok())
            };
            calls
                .into_iter()
                .map(|(name, text)| {
                    (name, value(&text).unwrap_or_else(|| panic!("{text} of {from}")))
                })
                .collect()
        };
        let Ok(Some((left, found))) = read(&text) else { panic!("{text}\n{:?}", read(&text)) };
        assert_eq!((left, parsed(&text, found)), (String::new(), expected.clone()), "{text}");
        for _ in 0..8 {
            let mut at = rng.below(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let cut = &text[..at];
            cuts += 1;
            match read(cut) {
                Ok(None) => {}
                Err(_) => errors += 1,
                Ok(Some((_, found))) => {
                    let found = parsed(cut, found);
                    assert_eq!(found, expected[..found.len()], "{cut}");
                }
            }
        }
    }
    assert!(errors > cuts / 3, "{errors} of {cuts}");
}

/// Without a marker at the start of a line, texts with tools, JSON and code are not changed.
#[test]
fn text_without_markers_is_not_changed() {
    const PIECES: &[&str] = &[
        "add",
        "list_files(path=\"a\")",
        "{\"name\":\"add\",\"arguments\":{\"a\":1}}",
        "`",
        "```",
        "```json",
        "\n",
        " ",
        ";",
        "[",
        "]",
        ",",
        "words",
        "é😀",
        "<b>",
        "x <tool_call>",
        "</tool_call>",
        "x [TOOL_CALLS]",
        "<|eom_id|>",
        "```python",
        "[add(a=1)]",
    ];
    let mut unchanged = 0;
    for case in 0..100_000 {
        let mut rng = Rng::for_case(20_261_125, case);
        let text: String = (0..rng.between(1, 7)).map(|_| rng.pick(PIECES)).collect();
        let rules = TextCallRules { is_tool: &|_| false, is_quoted: &|_| false, unmarked: true };
        assert_eq!(read_with(&text, &rules), Ok(None), "{text}");
        match read(&text) {
            Ok(None) => unchanged += 1,
            read => assert!(!text.contains("words") && read.is_ok(), "{text}: {read:?}"),
        }
    }
    assert!(unchanged > 90_000, "{unchanged}");
}
