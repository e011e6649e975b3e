#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panics")]

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Containment, decide};

/// Asserts that the first schema covers the second one, and not the other way round.
#[track_caller]
fn wider(wide: &Value, narrow: &Value) {
    assert_eq!(decide(wide, narrow), Containment::Proven, "{wide} of {narrow}");
    refuses(narrow, wide);
}

/// Asserts that both schemas allow the same.
#[track_caller]
fn same(a: &Value, b: &Value) {
    assert_eq!(decide(a, b), Containment::Proven, "{a} of {b}");
    assert_eq!(decide(b, a), Containment::Proven, "{b} of {a}");
}

/// The value that shows that the first schema does not cover the second one.
#[track_caller]
fn refuses(wide: &Value, narrow: &Value) -> (Value, String, String) {
    match decide(wide, narrow) {
        Containment::Refuted(found) => (found.value, found.pointer, found.reason),
        other => panic!("{wide} of {narrow}: {other:?}"),
    }
}

#[track_caller]
fn undecided(wide: &Value, narrow: &Value) -> String {
    match decide(wide, narrow) {
        Containment::Undecided(reason) => reason,
        other => panic!("{wide} of {narrow}: {other:?}"),
    }
}

/// An object with one property.
fn of(schema: &Value, required: bool) -> Value {
    let required: &[&str] = if required { &["p"] } else { &[] };
    json!({"type": "object", "properties": {"p": schema}, "required": required})
}

#[test]
fn a_reference_means_what_its_own_document_says() {
    let document = |items: &Value| {
        let mut schema = of(&json!({"$ref": "#/$defs/P", "pattern": "(?=a)"}), true);
        schema["$defs"] = json!({"P": {"type": "array", "items": items}});
        schema
    };
    refuses(&document(&json!({"type": "integer"})), &document(&json!(true)));
    wider(&document(&json!(true)), &document(&json!({"type": "integer"})));
}

#[test]
fn groups_with_flags_have_no_length() {
    let short = of(&json!({"type": "string", "pattern": "^(?i:ab)$"}), true);
    let long = of(&json!({"type": "string", "pattern": "^(?i:ab)$", "minLength": 4}), true);
    assert_ne!(decide(&long, &short), Containment::Proven);
}

#[test]
fn patterns_that_repeat_nothing_end() {
    let slow = of(&json!({"pattern": r"^(?:(?:(?:\b){2000}){2000}){200}a$"}), true);
    for (wide, narrow) in [(&slow, json!(true)), (&slow, of(&json!({"pattern": "^a$"}), true))] {
        undecided(wide, &narrow);
        undecided(&narrow, wide);
        assert_eq!(super::confirm(wide, &narrow, json!({"p": "a"})), None);
    }
}

#[test]
fn types_and_lists_of_types() {
    wider(&json!({}), &json!({"type": "string"}));
    wider(&json!(true), &json!(false));
    wider(&json!({"type": "number"}), &json!({"type": "integer"}));
    wider(&json!({"type": ["string", "null"]}), &json!({"type": "string"}));
    wider(&json!({"type": ["number", "string"]}), &json!({"type": ["integer", "string"]}));
    same(&json!({"type": ["number", "integer"]}), &json!({"type": "number"}));
    same(&json!({"type": "boolean"}), &json!({"enum": [true, false]}));
    same(&json!({"type": "integer"}), &json!({"type": "number", "multipleOf": 1}));
    same(&json!({"type": "string", "minimum": 5}), &json!({"type": "string"}));
}

#[test]
fn patterns_are_compared_as_regular_languages() {
    let texts = |pattern: &str| of(&json!({"type": "string", "pattern": pattern}), true);
    wider(&texts("^[a-z0-9]{1,5}$"), &texts("^[a-z]{1,5}$"));
    // Without anchors a pattern is searched anywhere.
    wider(&texts("[a-z0-9]{1,5}"), &texts("[a-z]{1,5}"));
    same(&texts("[a-z]{1,5}"), &texts("[a-z]"));
    wider(&texts(r"^\w+$"), &texts(r"^\d{2,}$"));
    same(&texts("^(a|b)$|^c$"), &texts("^[abc]$"));
    same(&texts("^(?!b)[ab]$"), &texts("^a$"));
    wider(&texts("^(?=.*b)"), &texts("^a*b"));
    same(&texts(r"^\u{e9}?$"), &texts("^é{0,1}$"));
    // The lengths are part of the language.
    let of_length = |more: Value| of(&more, true);
    same(
        &of_length(json!({"type": "string", "minLength": 1, "maxLength": 3})),
        &texts(r"^[\s\S]{1,3}$"),
    );
    wider(
        &texts("^a{0,3}$"),
        &of_length(json!({"type": "string", "pattern": "^a+$", "maxLength": 3})),
    );
    wider(&of_length(json!({"type": "string", "not": {"pattern": "^x"}})), &texts("^[abc]"));
    same(&of_length(json!({"type": "string", "not": {"pattern": "x"}})), &texts("^[^x]*$"));
    let nothing = json!({"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "^b"}]});
    assert_eq!(decide(&json!(false), &nothing), Containment::Proven);
    let either = |keyword: &str| {
        json!({keyword: [
            {"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}
        ]})
    };
    same(&either("oneOf"), &either("anyOf"));
    let (value, ..) = refuses(&texts("^[a-z]{1,5}$"), &texts("^[a-z0-9]{1,5}$"));
    assert_eq!(value, json!({"p": "0"}));
}

/// A pattern over two letters, by the digits of a number.
fn random_pattern(seed: &mut u64, depth: u64) -> String {
    let mut below = |limit: u64| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*seed >> 33) % limit
    };
    match below(if depth == 0 { 3 } else { 9 }) {
        0 => "a".to_owned(),
        1 => "b".to_owned(),
        2 => "[^a]".to_owned(),
        3 | 4 => random_pattern(seed, depth - 1) + &random_pattern(seed, depth - 1),
        5 => {
            let one = random_pattern(seed, depth - 1);
            format!("(?:{one}|{})", random_pattern(seed, depth - 1))
        }
        at => {
            let times = ["*", "?", "{1,2}"][usize::try_from(at - 6).unwrap()];
            format!("(?:{}){times}", random_pattern(seed, depth - 1))
        }
    }
}

#[test]
fn containment_of_random_patterns_is_that_of_their_texts() {
    // The third letter stands for all that patterns do not have.
    let mut texts = vec![String::new()];
    for length in 0..5 {
        let longest = texts.iter().filter(|text| text.len() == length);
        let longer: Vec<_> =
            longest.flat_map(|text| ["a", "b", "c"].map(|c| text.clone() + c)).collect();
        texts.extend(longer);
    }
    let mut counts = [0; 2];
    for mut seed in 0..300 {
        let mut pattern = || {
            let inner = random_pattern(&mut seed, 3);
            let (start, end) = [("^(?:", ")$"), ("^(?:", ")"), ("", "")][inner.len() % 3];
            format!("{start}{inner}{end}")
        };
        let (wide, narrow) = (pattern(), pattern());
        let schema = |pattern: &str| json!({"type": "string", "pattern": pattern});
        let matches = |pattern: &str| {
            let validator = jsonschema::validator_for(&schema(pattern)).unwrap();
            texts.iter().map(|text| validator.is_valid(&json!(text))).collect::<Vec<bool>>()
        };
        let mut pairs = matches(&narrow).into_iter().zip(matches(&wide));
        let is_refuted = pairs.any(|(narrow, wide)| narrow && !wide);
        match decide(&schema(&wide), &schema(&narrow)) {
            Containment::Proven => {
                assert!(!is_refuted, "{narrow} is not within {wide}");
                counts[0] += 1;
            }
            Containment::Refuted(found) => {
                let text = found.value.as_str().unwrap().to_owned();
                // A short counterexample is among the texts.
                assert!(is_refuted || text.len() > 5, "{narrow} {wide} {text}");
                counts[1] += 1;
            }
            Containment::Undecided(reason) => panic!("{narrow} {wide}: {reason}"),
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn patterns_that_are_not_regular_are_no_proof() {
    let texts = |pattern: &str| json!({"type": "string", "pattern": pattern});
    for (wide, narrow) in [
        (r"^(a|b)\1$", r"^aa|bb$"),
        (r"^(a|b)\1$", r"^(b|a)\1$"),
        (r"\bb", r"\bbb"),
        (r"^\p{Lu}$", r"^\p{L}$"),
        // Too many states.
        ("^(a|b)*a(a|b){40}$", "^((b|a))*a(a|b){40}$"),
    ] {
        assert_ne!(decide(&texts(wide), &texts(narrow)), Containment::Proven, "{wide} {narrow}");
    }
}

#[test]
fn an_excluded_value_is_a_counterexample() {
    for (schema, value) in [
        (json!({"type": "string"}), json!("red alert")),
        (json!({"type": "integer"}), json!(70_707)),
        (json!({"type": ["string", "null"], "minLength": 2}), json!("red alert")),
    ] {
        for not in [json!({"const": value}), json!({"enum": [value, "other"]})] {
            let mut wide = schema.clone();
            wide["not"] = not;
            assert_eq!(refuses(&of(&wide, true), &of(&schema, true)).0, json!({"p": value}));
            wider(&of(&schema, true), &of(&wide, true));
        }
    }
}

#[test]
fn bounds_of_numbers() {
    let integer = |more: Value| {
        let mut schema = json!({"type": "integer"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    wider(&integer(json!({"minimum": 0})), &integer(json!({"minimum": 1})));
    wider(&integer(json!({"maximum": 10})), &integer(json!({"maximum": 9, "minimum": 0})));
    same(&integer(json!({"minimum": 1})), &integer(json!({"exclusiveMinimum": 0})));
    same(&integer(json!({"maximum": 9.5})), &integer(json!({"exclusiveMaximum": 10})));
    wider(&json!({"minimum": 0}), &json!({"exclusiveMinimum": 0}));
    wider(&integer(json!({"multipleOf": 3})), &integer(json!({"multipleOf": 6})));
    wider(&json!({"type": "number", "multipleOf": 0.5}), &integer(json!({})));
    same(&integer(json!({"minimum": 1, "maximum": 3})), &json!({"enum": [1, 2.0, 3]}));
    wider(
        &json!({"type": "integer", "maximum": 90_071_992_547_409_931_u64}),
        &json!({"type": "integer", "maximum": 90_071_992_547_409_930_u64}),
    );
    // A range between two whole numbers holds none.
    assert_eq!(
        decide(&json!(false), &integer(json!({"minimum": 0.2, "maximum": 0.8}))),
        Containment::Proven
    );
}

#[test]
fn texts() {
    wider(&json!({"type": "string", "minLength": 1}), &json!({"type": "string", "minLength": 2}));
    wider(&json!({"type": "string", "maxLength": 9}), &json!({"type": "string", "maxLength": 3}));
    wider(&json!({"type": "string"}), &json!({"type": "string", "pattern": "^a"}));
    wider(&json!({"type": "string"}), &json!({"type": "string", "format": "date"}));
    wider(&json!({"type": "string", "pattern": "^a"}), &json!({"enum": ["a", "ab"]}));
    wider(&json!({"type": "string", "format": "date"}), &json!({"const": "2024-02-29"}));
    same(&json!({"type": "string", "format": "colour"}), &json!({"type": "string"}));
    same(
        &json!({"type": "string", "pattern": "(?=a)", "title": "one"}),
        &json!({"type": "string", "pattern": "(?=a)"}),
    );
    let (value, ..) = refuses(
        &json!({"type": "string", "format": "date"}),
        &json!({"type": "string", "format": "email"}),
    );
    assert!(value.as_str().unwrap().contains('@'));
    wider(
        &json!({"type": "string", "pattern": "^(?=x9)x9[0-9]{3}$"}),
        &json!({"type": "string", "pattern": "^(?=x9)x9[0-9]{2}[0-4]$"}),
    );
    // No method decides this.
    undecided(
        &json!({"type": "string", "pattern": r"^x9\b[0-9]{3}$|^x9[0-9]{3}$"}),
        &json!({"type": "string", "pattern": r"^x9[0-9]{2}[0-4]$"}),
    );
}

#[test]
fn enums_and_constants() {
    wider(&json!({"enum": ["a", "b", 1]}), &json!({"enum": ["b", 1.0]}));
    wider(&json!({"enum": [{"a": [1]}, null]}), &json!({"const": {"a": [1.0]}}));
    wider(&json!({"type": "string"}), &json!({"const": "a"}));
    same(&json!({"type": "string", "enum": ["a", 1]}), &json!({"const": "a"}));
    wider(
        &json!({"type": "object", "properties": {"a": {"type": "integer"}}}),
        &json!({"const": {"a": 1}}),
    );
    assert_eq!(
        decide(&json!({"enum": ["a"]}), &json!({"enum": ["b"], "type": "null"})),
        Containment::Proven
    );
}

#[test]
fn lists_and_tuples() {
    let strings = json!({"type": "array", "items": {"type": "string"}});
    wider(&json!({"type": "array"}), &strings);
    wider(&strings, &json!({"type": "array", "items": {"const": "a"}}));
    wider(&strings, &json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}));
    wider(&json!({"type": "array", "minItems": 1}), &json!({"type": "array", "minItems": 2}));
    wider(&json!({"type": "array", "maxItems": 4}), &json!({"type": "array", "maxItems": 2}));
    wider(&json!({"type": "array"}), &json!({"type": "array", "uniqueItems": true}));
    same(
        &json!({"type": "array", "maxItems": 1, "uniqueItems": true}),
        &json!({"type": "array", "maxItems": 1}),
    );
    same(
        &json!({"type": "array", "prefixItems": [{}, {}], "items": false}),
        &json!({"type": "array", "maxItems": 2}),
    );
    wider(
        &json!({"type": "array", "contains": {"type": "string"}}),
        &json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
    );
    same(
        &json!({"$schema": "http://json-schema.org/draft-07/schema#",
                "type": "array", "items": [{"type": "string"}], "additionalItems": false}),
        &json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
    );
}

#[test]
fn properties() {
    let (string, integer) = (json!({"type": "string"}), json!({"type": "integer"}));
    wider(&of(&string, false), &of(&string, true));
    wider(&of(&json!({}), false), &of(&string, false));
    let closed = json!({"type": "object", "properties": {"p": string},
                        "additionalProperties": false});
    wider(&of(&string, false), &closed);
    wider(&json!({"type": "object", "additionalProperties": string}), &closed);
    wider(&json!({"type": "object", "properties": {"q": integer}}), &closed);
    wider(&json!({"type": "object", "required": ["p"]}), &of(&string, true));
    wider(&json!({"type": "object", "maxProperties": 1}), &closed);
    same(
        &of(&string, true),
        &json!({"type": "object", "properties": {"p": string},
                                     "required": ["p"], "minProperties": 1}),
    );
    let (value, pointer, _) = refuses(&of(&integer, false), &of(&json!({}), false));
    assert!(value["p"] != json!(1) && pointer == "/p", "{value} {pointer}");
    // An object that says nothing of a property may have it, of any type.
    let (value, pointer, _) = refuses(
        &json!({"type": "object", "properties": {"p": string, "q": integer}}),
        &of(&string, true),
    );
    assert!(value.get("q").is_some() && pointer == "/q", "{value} {pointer}");
}

#[test]
fn names_and_maps() {
    let map = |value: Value, names: Value| json!({"type": "object", "additionalProperties": value, "propertyNames": names});
    wider(&map(json!({}), json!({"maxLength": 5})), &map(json!({}), json!({"maxLength": 4})));
    wider(&map(json!({"type": "number"}), json!({})), &map(json!({"type": "integer"}), json!({})));
    wider(
        &json!({"type": "object", "properties": {"low": {"type": "integer"}, "other": {}}}),
        &map(json!({"type": "integer"}), json!({"enum": ["low", "high"]})),
    );
    wider(
        &json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}}),
        &json!({"type": "object", "properties": {"x1": {"const": "a"}, "y": {}},
                "additionalProperties": false}),
    );
}

#[test]
fn unions() {
    let (string, nothing) = (json!({"type": "string"}), json!({"type": "null"}));
    same(&json!({"anyOf": [string, nothing]}), &json!({"type": ["string", "null"]}));
    same(&json!({"oneOf": [nothing, string]}), &json!({"type": ["string", "null"]}));
    same(
        &json!({"allOf": [{"minimum": 1}, {"type": "integer"}]}),
        &json!({"type": "integer", "minimum": 1}),
    );
    wider(
        &json!({"anyOf": [string, nothing, {"type": "boolean"}]}),
        &json!({"anyOf": [nothing, string]}),
    );
    wider(&json!({"not": {"type": "string"}}), &json!({"type": "integer"}));
    wider(
        &json!({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "integer"}}),
        &json!({"type": "string", "minLength": 2}),
    );
    // Both members of an exclusive union take 5, so it does not.
    let (value, ..) = refuses(
        &json!({"oneOf": [{"type": "integer", "minimum": 5}, {"type": "integer", "maximum": 5}]}),
        &json!({"type": "integer"}),
    );
    assert_eq!(value, json!(5));
}

#[test]
fn tagged_unions() {
    let member = |tag: &str, ty: &str| {
        json!({"type": "object", "properties": {"kind": {"const": tag}, "of": {"type": ty}},
               "required": ["kind", "of"]})
    };
    let both = [member("a", "string"), member("b", "integer")];
    let loose = json!({"type": "object", "properties": {"kind": {"enum": ["a", "b"]},
        "of": {"type": ["string", "integer"]}}, "required": ["kind", "of"]});
    wider(&loose, &json!({"anyOf": both}));
    same(&json!({"oneOf": both}), &json!({"anyOf": both}));
    same(
        &json!({"anyOf": [member("a", "string"), member("b", "string")]}),
        &json!({"type": "object", "properties": {"kind": {"enum": ["a", "b"]},
            "of": {"type": "string"}}, "required": ["of", "kind"]}),
    );
}

#[test]
fn recursive_types() {
    let tree = |leaf: &str| {
        json!({"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "properties": {
            "value": {"type": leaf},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        }, "required": ["value"]}}})
    };
    wider(&tree("number"), &tree("integer"));
    same(&tree("string"), &tree("string"));
    // One that is written out once allows the same.
    let mut unrolled = tree("string");
    unrolled["properties"] = unrolled["$defs"]["Node"]["properties"].clone();
    same(&unrolled, &tree("string"));
    // No value ends here, so there is none.
    let endless = json!({"$ref": "#/$defs/E", "$defs": {"E": {"type": "object",
        "properties": {"e": {"$ref": "#/$defs/E"}}, "required": ["e"]}}});
    assert_eq!(decide(&json!({"type": "string"}), &endless), Containment::Proven);
}

#[test]
fn schemas_that_mean_nothing_are_never_a_yes() {
    undecided(&json!({"type": "strnig"}), &json!({"type": "string"}));
    undecided(&json!({"type": "string"}), &json!({"type": "string", "minLength": "x"}));
    undecided(&json!(5), &json!(5));
    undecided(&json!({"$ref": "https://a.example/b.json"}), &json!({"type": "string"}));
    undecided(&json!({}), &json!({"$ref": "b.json#/c"}));
    undecided(&json!({}), &json!({"$ref": "#/$defs/none"}));
    undecided(&json!({"$schema": "https://a.example/own"}), &json!({}));
    for endless in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a",
               "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
    ] {
        assert_ne!(decide(&endless, &json!({"type": "string"})), Containment::Proven, "{endless}");
    }
}

#[test]
fn hostile_schemas_take_bounded_work() {
    let mut deep = json!({});
    let mut deep_lists = json!({"type": "string"});
    let around =
        |key: &str, value: Value| Value::Object([(key.to_owned(), value)].into_iter().collect());
    for _ in 0..100_000 {
        deep = around("properties", around("p", deep));
        deep_lists = Value::Array(vec![deep_lists]);
    }
    undecided(&deep, &json!({}));
    undecided(&json!({}), &deep);
    let deep_lists = around("const", deep_lists);
    undecided(&deep_lists, &json!({}));
    // To drop them would take as deep a stack.
    std::mem::forget((deep, deep_lists));

    let chain: serde_json::Map<String, Value> = (0..5_000)
        .map(|at| {
            (
                format!("d{at}"),
                json!({"properties": {"p": {"$ref": format!("#/$defs/d{}", at + 1)}}}),
            )
        })
        .chain([("d5000".to_owned(), json!({}))])
        .collect();
    let chain = json!({"$ref": "#/$defs/d0", "$defs": chain});
    assert_ne!(decide(&chain, &json!({"type": "object", "minProperties": 1})), Containment::Proven);

    let many: Vec<Value> = (0..100_000).map(|at| json!(format!("value {at}"))).collect();
    let few = json!({"enum": many[1..]});
    let many = json!({"enum": many});
    assert_eq!(decide(&many, &few), Containment::Proven);
    assert_eq!(refuses(&few, &many).0, json!("value 0"));

    // Each level doubles the ways to read it.
    let mut doubled = json!({"type": "integer"});
    for at in 0..40 {
        doubled = json!({"anyOf": [
            {"properties": {"a": doubled}},
            {"properties": {"a": {"$ref": "#/$defs/d"}, "b": {"const": at}}},
        ]});
        if at == 20 {
            doubled = json!({"allOf": [doubled, doubled, doubled]});
        }
    }
    doubled["$defs"] = json!({"d": {"type": "string"}});
    let _ = decide(&doubled, &doubled);
    let _ = decide(&json!({"type": "object", "required": ["a"]}), &doubled);
}

/// A tool of five parameters.
fn typical() -> Value {
    json!({"type": "object", "properties": {
        "city": {"type": "string", "description": "The city", "minLength": 1},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {"type": ["object", "null"], "properties": {"lat": {"type": "number"}}},
    }, "required": ["city", "days"]})
}

#[test]
fn a_usual_tool_is_proven() {
    let (wide, narrow) = (typical(), typical());
    assert_eq!(decide(&wide, &narrow), Containment::Proven);
}

#[test]
fn counterexamples_look_like_this() {
    let mut shown = String::new();
    let mut show = |change: &dyn Fn(&mut Value)| {
        let mut wide = typical();
        change(&mut wide);
        let (value, pointer, reason) = refuses(&wide, &typical());
        writeln!(shown, "{value}\n  at {pointer:?}: {reason}").unwrap();
    };
    show(&|wide| wide["properties"]["days"]["maximum"] = json!(7));
    show(&|wide| wide["properties"]["unit"]["enum"] = json!(["celsius"]));
    show(&|wide| wide["properties"]["city"]["maxLength"] = json!(20));
    show(&|wide| wide["properties"]["tags"]["maxItems"] = json!(3));
    show(&|wide| wide["properties"]["place"]["type"] = json!("object"));
    show(&|wide| wide["required"] = json!(["city", "days", "unit"]));
    show(&|wide| wide["additionalProperties"] = json!(false));
    show(&|wide| wide["properties"]["tags"] = json!({"anyOf": [{"type": "null"}]}));
    insta::assert_snapshot!(shown);
}

#[test]
fn lengths_follow_from_patterns_and_known_formats() {
    let text = |more: Value| {
        let mut schema = json!({"type": "string"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let least = text(json!({"minLength": 3}));
    assert_eq!(decide(&least, &text(json!({"pattern": "^[a-z]{3}$"}))), Containment::Proven);
    refuses(&text(json!({"maxLength": 2})), &text(json!({"pattern": "[a-z]{3}"})));
    let most = text(json!({"maxLength": 40}));
    assert_eq!(decide(&most, &text(json!({"format": "uuid"}))), Containment::Proven);
    // Draft 7 does not know it.
    let mut old = text(json!({"format": "uuid"}));
    old["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    refuses(&most, &old);
    // Patterns of names.
    let object = json!({"type": "object"});
    let named = json!({"type": "object", "patternProperties": {"^x-": {"type": "string"}}});
    wider(&object, &named);
}

#[test]
fn equal_unions_in_other_documents_are_equal() {
    let one = |limit: u32, more: u32| {
        json!({
            "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"maxLength": more}},
            "$defs": {
                "A": {"oneOf": [{"$ref": "#/$defs/B"}, {"required": ["y"]}]},
                "B": {"properties": {"x": {"maximum": limit}}, "required": ["x"]}
            }
        })
    };
    wider(&one(5, 9), &one(5, 8));
    let reason = decide(&one(5, 9), &one(6, 8));
    assert_ne!(reason, Containment::Proven);
}

#[test]
fn what_breaks_deep_in_a_tagged_union_is_found() {
    let tagged = |limit: u32| {
        let member = |tag: &str, inner: Value| {
            json!({"type": "object", "properties": {"tag": {"const": tag}, "inner": inner},
                "required": ["tag", "inner"]})
        };
        let item = member("x", json!({"type": "string", "maxLength": limit}));
        let list = json!({"type": "array", "items": item});
        let inner = json!({"type": "object", "properties": {"list": list}});
        let members = [member("a", json!({})), member("b", inner), member("c", json!({}))];
        json!({"type": "object", "properties": {"by": {"oneOf": members}}})
    };
    let (value, _, _) = refuses(&tagged(20), &tagged(30));
    assert_eq!(value.pointer("/by/tag"), Some(&json!("b")), "{value}");
}

/// A list of each level holds two of the next one, so samples are as shallow as they can be.
#[test]
fn samples_of_recursive_types_stay_small() {
    let tree = |kind: Value| {
        json!({
            "type": "object",
            "properties": {"start": {"$ref": "#/$defs/tree"}},
            "$defs": {"tree": {
                "type": "object",
                "required": ["below"],
                "properties": {"below": {"anyOf": [
                    {"type": "array", "items": {"$ref": "#/$defs/tree"}, "minItems": 2},
                    {"type": "object", "properties": {"kind": kind}, "required": ["sort"]}
                ]}}
            }}
        })
    };
    let wide = tree(json!({"const": "leaf"}));
    let narrow = tree(json!({"anyOf": [{"const": "leaf"}, {"type": "null"}]}));
    assert_eq!(refuses(&wide, &narrow).1, "/start/below");
}
