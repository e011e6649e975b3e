//! Random calls come back from each format.

use gramc_language_tests::rng::Rng;
use serde_json::{Value, json};

use super::super::notation::python_to_json;
use super::*;

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
