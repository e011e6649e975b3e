//! Large schemas and patterns: they take time in proportion to their size, or are losses.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::{Grammar, Syntax, ToolSchema};

/// The grammars of the arguments of a tool, and its losses. `None` if there are none.
fn printed(schema: &Value) -> Option<(String, String)> {
    let tool = ToolSchema { name: "act", schema: schema.clone(), hidden: Vec::new() };
    let grammar = Grammar::of_arguments(&tool).ok()?;
    let losses =
        grammar.losses().iter().fold(String::new(), |text, loss| text + &format!("{loss}\n"));
    grammar.print(Syntax::Lark);
    Some((grammar.print(Syntax::Gbnf), losses))
}

/// A tool with one parameter.
#[allow(clippy::needless_pass_by_value, reason = "it is made for the call")]
fn of(schema: Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}, "required": ["x"]})
}

fn text(pattern: &str) -> Value {
    of(json!({"type": "string", "pattern": pattern}))
}

/// Fails if a schema of sixteen times the size takes much more than sixteen times as long.
fn assert_linear(name: &str, size: usize, schema: impl Fn(usize) -> Value) {
    assert_growth(name, &schema(size), &schema(size * 16), 80);
}

/// Fails if a large schema takes more than so many times as long as a small one.
fn assert_growth(name: &str, small: &Value, large: &Value, most: u32) {
    let fastest = |schema: &Value| {
        let time = || {
            let start = Instant::now();
            std::hint::black_box(printed(schema));
            start.elapsed()
        };
        (0..2).map(|_| time()).min().unwrap_or_default()
    };
    let mut times: Vec<(Duration, Duration)> = Vec::new();
    // Another process may slow down a whole attempt.
    for _ in 0..5 {
        let (base, grown) = (fastest(small), fastest(large));
        if grown < base * most {
            return;
        }
        times.push((base, grown));
    }
    panic!("{name}: a small schema and a large one take {times:?}");
}

fn words(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        let separator = if at == 0 { "" } else { "|" };
        let _ = write!(text, "{separator}w{at}");
        text
    })
}

#[test]
fn long_patterns_take_linear_time() {
    assert_linear("a literal", 4_000, |size| text(&format!("^{}$", "a".repeat(size))));
    assert_linear("alternatives", 500, |size| text(&format!("^(?:{})$", words(size))));
    assert_linear("characters", 1_000, |size| {
        let all: Vec<String> = ('\u{4e00}'..).take(size).map(|c| c.to_string()).collect();
        text(&format!("^(?:{})$", all.join("|")))
    });
    assert_linear("a class", 1_000, |size| {
        text(&format!("^[{}]$", ('\u{4e00}'..).step_by(2).take(size).collect::<String>()))
    });
    assert_linear("two anchors", 500, |size| text(&format!("(?:^a|b){}", "c".repeat(size))));
}

#[test]
fn copies_of_copies_are_losses() {
    let nested = |open: &str, close: &str, levels: usize| {
        text(&format!("^{}{}$", open.repeat(levels), close.repeat(levels)))
    };
    for (open, close) in [("b?(?:", "b?)*"), ("(?:a?", "b?){0,9}")] {
        assert_growth(open, &nested(open, close, 12), &nested(open, close, 48), 16);
    }
    assert!(printed(&nested("b?(?:", "b?)*", 3)).is_some());
    assert_eq!(printed(&nested("b?(?:", "b?)*", 40)), None);
}

#[test]
fn nested_repetitions_are_narrowed_to_a_length_in_bounded_time() {
    let schema = |levels: usize| {
        let pattern = format!("^{}[a-z]{{1,9}}{}$", "(?:".repeat(levels), "A)+".repeat(levels));
        of(json!({"type": "string", "pattern": pattern, "minLength": 1, "maxLength": 400}))
    };
    assert_growth("lengths", &schema(4), &schema(12), 16);
    let (_, losses) = printed(&schema(6)).unwrap();
    assert!(losses.contains("only some texts of this length can be given"), "{losses}");
}

#[test]
fn what_is_repeated_often_is_printed_once() {
    let schema =
        |levels: usize| text(&format!("^{}a{}$", "(?:".repeat(levels), "{0,501}b)".repeat(levels)));
    assert_growth("chunks", &schema(1), &schema(10), 80);
    let (grammar, _) = printed(&schema(10)).unwrap();
    assert!(grammar.len() < 5_000, "{grammar}");
    let (grammar, _) = printed(&text("^a[a-z]{0,1000}b$")).unwrap();
    assert!(grammar.contains("(chunk--") && !grammar.contains("(("), "{grammar}");
}

#[test]
fn parts_with_many_rules_are_repeated_by_name() {
    let (grammar, _) = printed(&text("^([a-z]{1,100}-){1,100}$")).unwrap();
    assert!(
        grammar.contains("part--1{1,100}") && grammar.contains("part--1 ::= [a-z]{1,100} \"-\""),
        "{grammar}"
    );
    let (grammar, _) = printed(&text("^([a-z]{1,50}-){1,30}$")).unwrap();
    assert!(grammar.contains("([a-z]{1,50} \"-\"){1,30}"), "{grammar}");
}

#[test]
fn keys_that_are_too_long_to_leave_out_are_losses() {
    for length in [64, 65, 20_000] {
        let name = "x".repeat(length);
        let object = json!({"type": "object", "properties": {(&*name): {"type": "null"}},
            "additionalProperties": true});
        let (grammar, losses) = printed(&of(object)).unwrap();
        let is_short = length == 64;
        assert_eq!(grammar.contains("other-key"), is_short);
        assert_eq!(losses.contains("only declared properties can be given"), !is_short, "{losses}");
        let not = json!({"type": "string", "not": {"enum": [name]}});
        assert_eq!(printed(&of(not)).is_some(), is_short);
    }
}

#[test]
fn many_properties_take_linear_time() {
    let optional = |count: usize| -> Map<String, Value> {
        (0..count).map(|at| (format!("p{at}"), json!({"type": "null"}))).collect()
    };
    let object = |count: usize| json!({"type": "object", "properties": optional(count)});
    assert_linear("properties", 1_000, object);
    assert_linear(
        "open properties",
        200,
        |count| json!({"type": "object", "properties": optional(count), "additionalProperties": true}),
    );
    assert_linear("required properties", 1_000, |count| {
        let names: Vec<String> = optional(count).keys().cloned().collect();
        json!({"type": "object", "properties": optional(count), "required": names})
    });
    assert_linear(
        "a least number",
        1_000,
        |count| json!({"type": "object", "properties": optional(count), "minProperties": count / 2}),
    );
    assert_linear("items", 1_000, |count| {
        of(json!({"type": "array", "prefixItems": vec![json!({"type": "null"}); count]}))
    });
}

#[test]
fn numbers_of_many_properties_are_narrowed() {
    let properties: Map<String, Value> =
        (0..400).map(|at| (format!("p{at}"), json!({"type": "null"}))).collect();
    let object = |key: &str, bound: u64| {
        of(json!({"type": "object", "properties": properties, (key): bound}))
    };
    let (grammar, losses) = printed(&object("minProperties", 200)).unwrap();
    assert!(losses.contains("the first properties have to be given"), "{losses}");
    assert!(grammar.contains("\"\\\"p199\\\"\" colon \"null\" (comma"), "{grammar}");
    let (grammar, losses) = printed(&object("maxProperties", 200)).unwrap();
    assert!(losses.contains("only the first properties can be given"), "{losses}");
    assert!(grammar.contains("p199") && !grammar.contains("p200"));
    assert_eq!(printed(&object("minProperties", 4_000_000_000)), None);
}

#[test]
fn names_that_cannot_be_told_from_patterns_are_losses() {
    let schema = json!({"type": "object", "properties": {"abc": {"type": "integer"}},
        "patternProperties": {"^[a-z]{1,5000}$": {"minimum": 5}}, "additionalProperties": false});
    let (grammar, losses) = printed(&of(schema)).unwrap();
    assert!(!grammar.contains("abc"), "{grammar}");
    assert!(losses.contains("the property cannot be given"), "{losses}");
}

#[test]
fn declared_names_are_no_other_keys_of_any_length() {
    let schema = json!({"type": "object", "properties": {"abc": {"type": "integer"}},
        "propertyNames": {"maxLength": 5000}, "additionalProperties": {"type": "string"}});
    let (grammar, losses) = printed(&of(schema)).unwrap();
    assert!(!grammar.contains("key"), "{grammar}");
    assert!(losses.contains("only declared properties can be given"), "{losses}");
}
