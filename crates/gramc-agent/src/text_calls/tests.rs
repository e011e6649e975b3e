#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use serde_json::json;

use super::*;
use crate::message::AssistantMessage;

mod round_trips;

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
