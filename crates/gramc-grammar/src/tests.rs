//! The grammars of typical schemas.

mod limits;

use gramc_json_schema::regular::{Automaton, Regex};
use serde_json::{Value, json};

use crate::{Grammar, Syntax, ToolSchema};

/// Whether a text matches, which has to be decidable.
pub(crate) fn matches(regex: &Regex, text: &str) -> bool {
    Automaton::of(regex).unwrap().matches(text)
}

fn tool(schema: Value) -> ToolSchema<'static> {
    ToolSchema { name: "act", schema, hidden: Vec::new() }
}

fn losses(grammar: &Grammar) -> String {
    grammar.losses().iter().fold(String::new(), |text, loss| text + &format!("# {loss}\n"))
}

/// The grammar of the arguments of a tool, with what it cannot derive.
fn printed(schema: Value, syntax: Syntax) -> String {
    match Grammar::of_arguments(&tool(schema)) {
        Ok(grammar) => {
            let losses = losses(&grammar);
            grammar.print(syntax) + &losses
        }
        Err(error) => error.to_string(),
    }
}

/// The grammar of a parameter `x`.
#[allow(clippy::needless_pass_by_value, reason = "so that it can be mapped")]
fn of(schema: Value) -> String {
    let object = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
    printed(object, Syntax::Gbnf)
}

#[test]
fn scalars() {
    let all = [
        json!({"type": "string"}),
        json!({"type": "string", "minLength": 1, "maxLength": 1200}),
        json!({"type": "integer", "minimum": -7, "maximum": 120}),
        json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
        json!({"type": ["boolean", "null"]}),
        json!({"enum": ["a", "b\"c", 1.0, null]}),
        json!({"type": "string", "format": "date"}),
        json!({"type": "string", "pattern": "^[a-z][^\"]*$", "maxLength": 8}),
        json!({"type": "string", "pattern": "é"}),
        json!({"type": "string", "pattern": r"\bword\b", "examples": ["a word", "words"]}),
        json!({"type": "string", "pattern": r"\bword\b"}),
    ];
    insta::assert_snapshot!(all.map(of).join("\n"));
}

#[test]
fn containers() {
    let all = [
        json!({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}),
        json!({"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "null"}],
            "items": false, "minItems": 1}),
        json!({"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": true}),
        json!({"type": "object", "additionalProperties": {"type": "null"}, "maxProperties": 2}),
        json!({"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"},
            "c": {"type": "null"}, "d": {"type": "null"}}, "required": ["c"]}),
        json!({"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
            "minProperties": 1, "additionalProperties": {"type": "boolean"}}),
        json!({"type": "object", "patternProperties": {"^v[0-9]$": {"type": "null"}},
            "additionalProperties": false}),
        json!({}),
    ];
    insta::assert_snapshot!(all.map(of).join("\n"));
}

#[test]
fn different_items() {
    let unique = |items: Value, least: u64| json!({"type": "array", "items": items, "minItems": least, "uniqueItems": true});
    let mut bounded = unique(json!({"enum": ["a", "b", "c", "a"]}), 2);
    bounded["maxItems"] = 2.into();
    let all = [
        bounded,
        unique(json!({"type": "boolean"}), 2),
        unique(json!({"type": "integer", "minimum": 1, "maximum": 3}), 0),
        unique(json!({"enum": [1, 2, 3, 4, 5, 6]}), 2),
        unique(json!({"const": "a"}), 1),
        unique(json!({"const": "a"}), 2),
        unique(json!({"type": "string"}), 2),
        unique(json!({"type": "string"}), 1),
    ];
    insta::assert_snapshot!(all.map(of).join("\n"));
}

#[test]
fn compositions() {
    let tagged = |tag: &str| json!({"type": "object", "properties": {"kind": {"const": tag}}, "required": ["kind"]});
    let all = [
        json!({"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 2}]}),
        json!({"oneOf": [tagged("a"), tagged("b")]}),
        json!({"oneOf": [{}, {"type": "object", "properties": {"a": {}}, "required": ["b"]}]}),
        json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
        json!({"allOf": [tagged("a"), {"properties": {"n": {"type": "null"}}}]}),
        json!({"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        json!({"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
            "dependentRequired": {"a": ["b"]}}),
        json!({"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "null"}},
            "required": ["a"],
            "if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]}}),
        json!({"type": "string", "not": {"enum": ["a"]}}),
    ];
    insta::assert_snapshot!(all.map(of).join("\n"));
}

#[test]
fn recursion() {
    let schema = json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Node"}, "endless": {"$ref": "#/$defs/Endless"}},
        "required": ["tree"],
        "$defs": {
            "Node": {"type": "object", "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            }, "required": ["value"]},
            "Endless": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Endless"}},
                "required": ["next"]},
        },
    });
    insta::assert_snapshot!(printed(schema, Syntax::Gbnf));
}

#[test]
fn lark_has_one_terminal_for_each_token() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "tags": {"type": "array", "items": {"enum": ["a", "b/c"]}, "maxItems": 3},
            "ratio": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["city"],
    });
    insta::assert_snapshot!(printed(schema, Syntax::Lark));
}

#[test]
fn the_manual_has_the_pages() {
    for syntax in Syntax::ALL {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/targets");
        let path = format!("{folder}/{}.md", syntax.name());
        if std::env::var_os("UPDATE_PAGES").is_some() {
            std::fs::write(&path, crate::page(syntax)).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), crate::page(syntax));
    }
}

#[test]
fn calls_of_any_tool() {
    let never = json!({"type": "object", "properties": {"a": false}, "required": ["a"]});
    let tools = [
        ToolSchema { name: "no.arguments", ..tool(json!({"type": "object", "properties": {}})) },
        ToolSchema { name: "never", ..tool(never.clone()) },
        ToolSchema {
            name: "hides",
            schema: json!({"type": "object", "properties": {"a": {"type": "null"}, "key": {}},
                "additionalProperties": true}),
            hidden: vec!["key"],
        },
    ];
    let grammar = Grammar::of_calls(&tools).unwrap();
    let losses = losses(&grammar);
    insta::assert_snapshot!(grammar.print(Syntax::Gbnf) + &losses);
    assert_eq!(grammar.left_out().collect::<Vec<_>>(), ["never"]);
    assert_eq!(
        Grammar::of_arguments(&tool(never.clone())).unwrap_err().to_string(),
        "no arguments of `act` have a grammar"
    );
    assert!(Grammar::of_calls(&[tool(never)]).is_err());
}
