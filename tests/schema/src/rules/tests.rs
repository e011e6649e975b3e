use serde_json::{Map, Value, json};

use super::{OUTPUTS, TARGETS, complaints, limits, meta};
use crate::schemas::Schemas;
use gramc_language_tests::rng::Rng;

/// The strict targets.
const STRICT: [&str; 2] = ["openai-strict", "anthropic-strict"];

/// The targets that take OpenAI's rules for a schema.
const OPENAI: [&str; 4] = ["openai", "openai-functions", "openai-strict", "openai-responses"];

/// The place of the schema of the only tool of [`wrapped`].
fn place(target: &str) -> &'static str {
    match target {
        "json-schema" => "$.tool",
        "openai-functions" | "openai-responses" => "$[0].parameters",
        "anthropic" | "anthropic-strict" => "$[0].input_schema",
        "gemini" => "$[0].functionDeclarations[0].parameters",
        "gemini-json" => "$[0].functionDeclarations[0].parametersJsonSchema",
        "bedrock" => "$[0].toolSpec.inputSchema.json",
        "mcp" => "$.tools[0].inputSchema",
        _ => "$[0].function.parameters",
    }
}

/// A good tool of a target.
fn tool(target: &str, name: &str, schema: &Value) -> Value {
    let text = "Does it";
    match target {
        "openai-functions" | "gemini" => {
            json!({"name": name, "description": text, "parameters": schema})
        }
        "openai-responses" => json!({
            "type": "function", "name": name, "description": text, "parameters": schema,
            "strict": false
        }),
        "anthropic" => json!({"name": name, "description": text, "input_schema": schema}),
        "anthropic-strict" => {
            json!({"name": name, "description": text, "input_schema": schema, "strict": true})
        }
        "gemini-json" => json!({"name": name, "description": text, "parametersJsonSchema": schema}),
        "bedrock" => json!({"toolSpec": {
            "name": name, "description": text, "inputSchema": {"json": schema}
        }}),
        "mcp" => json!({"name": name, "description": text, "inputSchema": schema}),
        "openai-strict" => json!({"type": "function", "function": {
            "name": name, "description": text, "parameters": schema, "strict": true
        }}),
        _ => json!({"type": "function", "function": {
            "name": name, "description": text, "parameters": schema
        }}),
    }
}

/// The output of a target for tools.
fn output(target: &str, tools: Vec<(&str, Value)>) -> Value {
    if target == "json-schema" {
        return tools.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    }
    let tools: Vec<Value> =
        tools.into_iter().map(|(name, schema)| tool(target, name, &schema)).collect();
    match target {
        "mcp" => json!({"tools": tools}),
        "gemini" | "gemini-json" => json!([{"functionDeclarations": tools}]),
        _ => Value::Array(tools),
    }
}

/// The output for one tool with this schema.
fn wrapped(target: &str, schema: &Value) -> Value {
    output(target, vec![("tool", schema.clone())])
}

/// An object with one property, as the target wants objects.
fn object(target: &str, key: &str, property: &Value) -> Value {
    let mut object = json!({"type": "object", "properties": {key: property}, "required": [key]});
    if STRICT.contains(&target) {
        object["additionalProperties"] = Value::Bool(false);
    }
    object
}

/// That exactly `targets` complain with `wrong` about the path `at` below the schema, or, where
/// `bad` is turned into `good`, not.
fn rule(
    targets: &[&str],
    (bad, good): (impl Fn(&str) -> Value, impl Fn(&str) -> Value),
    at: &str,
    wrong: &str,
) {
    for target in TARGETS {
        let found = complaints(target, &wrapped(target, &bad(target)));
        let wanted = format!("tool: {}{at} {wrong}", place(target));
        assert_eq!(
            found.contains(&wanted),
            targets.contains(&target),
            "{target}: {found:#?}\nnot {wanted}"
        );
        if targets.contains(&target) {
            let found = complaints(target, &wrapped(target, &good(target)));
            assert!(found.is_empty(), "{target}: {found:#?}");
        }
    }
}

/// The same for a property `a` of the root, and where the good one is a text.
fn property(targets: &[&str], bad: &Value, good: &Value, at: &str, wrong: &str) {
    let at = format!(".properties.a{at}");
    rule(targets, (|it: &str| object(it, "a", bad), |it: &str| object(it, "a", good)), &at, wrong);
}

fn text() -> Value {
    json!({"type": "string"})
}

#[test]
fn a_plain_tool_is_good_everywhere() {
    for target in TARGETS {
        let found = complaints(target, &wrapped(target, &object(target, "a", &text())));
        assert!(found.is_empty(), "{target}: {found:#?}");
        let nothing = if STRICT.contains(&target) {
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
        } else {
            json!({"type": "object", "properties": {}, "required": []})
        };
        let found = complaints(target, &wrapped(target, &nothing));
        assert_eq!(found.is_empty(), target != "gemini", "{target}: {found:#?}");
    }
    let bare = json!([{"functionDeclarations": [{"name": "a", "description": "b"}]}]);
    assert!(complaints("gemini", &bare).is_empty());
    assert!(complaints("gemini-json", &bare).is_empty());
    assert_eq!(complaints("yaml", &json!([])), ["$ there is no target `yaml`"]);
}

#[test]
#[allow(clippy::too_many_lines)] // One row per keyword.
fn each_target_has_its_keywords() {
    // Each row: a keyword with a value, and the targets that refuse it.
    let strict = "openai-strict anthropic-strict";
    let lists = format!("{strict} gemini gemini-json ollama");
    let engines = format!("{lists} llamacpp vllm");
    let all_but_engines = |more: &str| format!("{lists} {more}");
    let rows = [
        ("oneOf", json!([text()]), format!("{strict} gemini ollama")),
        ("anyOf", json!([text()]), String::new()),
        ("allOf", json!([text()]), "openai-strict gemini gemini-json ollama llamacpp vllm".into()),
        ("not", text(), engines.clone()),
        ("if", text(), engines.clone()),
        ("then", text(), engines.clone()),
        ("else", text(), engines.clone()),
        ("default", json!("a"), "openai-strict gemini-json ollama".into()),
        ("patternProperties", json!({}), engines.clone()),
        ("propertyNames", text(), all_but_engines("vllm")),
        ("minProperties", json!(1), format!("{strict} gemini-json ollama")),
        ("maxProperties", json!(1), format!("{strict} gemini-json ollama")),
        ("contains", text(), engines.clone()),
        ("minContains", json!(1), engines.clone()),
        ("uniqueItems", json!(true), engines.clone()),
        ("unevaluatedItems", text(), lists.clone()),
        ("unevaluatedProperties", text(), lists.clone()),
        ("minimum", json!(1), "anthropic-strict ollama".into()),
        ("maximum", json!(1), "anthropic-strict ollama".into()),
        ("exclusiveMinimum", json!(1), "anthropic-strict gemini gemini-json ollama".into()),
        ("exclusiveMaximum", json!(1), "anthropic-strict gemini gemini-json ollama".into()),
        ("multipleOf", json!(1), "anthropic-strict gemini gemini-json ollama vllm".into()),
        ("minLength", json!(1), "anthropic-strict gemini-json ollama".into()),
        ("maxLength", json!(1), "anthropic-strict gemini-json ollama".into()),
        ("minItems", json!(1), "ollama".into()),
        ("maxItems", json!(1), "anthropic-strict ollama".into()),
        ("pattern", json!("^a$"), "gemini-json ollama".into()),
        ("format", json!("date-time"), "ollama".into()),
        ("const", json!("a"), "gemini gemini-json ollama".into()),
        ("enum", json!(["a"]), String::new()),
        ("$ref", json!("#"), "gemini ollama".into()),
        ("additionalProperties", json!(true), "gemini ollama".into()),
        ("title", json!("a"), "ollama".into()),
        ("description", json!("a"), String::new()),
        ("nullable", json!(true), format!("{strict} gemini-json ollama")),
        ("example", json!("a"), format!("{strict} gemini-json ollama")),
        ("examples", json!(["a"]), lists.clone()),
        ("deprecated", json!(true), lists.clone()),
        ("x-foo", json!(1), lists.clone()),
        ("prefixItems", json!([text()]), format!("{strict} gemini ollama")),
        ("$defs", json!({}), "gemini ollama".into()),
        ("$anchor", json!("a"), format!("{strict} gemini ollama llamacpp")),
        ("$id", json!("https://example.org/a"), format!("{strict} gemini mistral ollama")),
        ("$schema", json!("https://example.org/a"), format!("{lists} mistral")),
    ];
    for (keyword, value, targets) in rows {
        let targets: Vec<&str> = targets.split_whitespace().collect();
        let mut bad = text();
        bad[keyword] = value;
        let at = format!(".{}", if keyword == "x-foo" { "" } else { keyword });
        let at = if keyword == "x-foo" { "[\"x-foo\"]".to_owned() } else { at };
        property(&targets, &bad, &text(), &at, "is a keyword that is not allowed");
        // The name of a property is no keyword, and data is none either.
        let mut named = Map::new();
        named.insert(keyword.to_owned(), text());
        for target in TARGETS {
            let schema = object(target, keyword, &json!({"type": "string", "enum": ["a"]}));
            let found = complaints(target, &wrapped(target, &schema));
            let key = found.iter().all(|it| it.contains("has a key that is not allowed"));
            assert!(key, "{target}: {found:#?}");
            let schema = object(target, "a", &json!({"const": named}));
            let found = complaints(target, &wrapped(target, &schema));
            let told = format!("{at} is a keyword");
            assert!(!found.iter().any(|it| it.contains(&format!("const{told}"))), "{found:#?}");
        }
    }
    // `$defs` at the root is what Ollama keeps.
    let mut schema = object("ollama", "a", &text());
    schema["$defs"] = json!({"A": {"type": "string"}});
    assert!(complaints("ollama", &wrapped("ollama", &schema)).is_empty());
}

#[test]
fn keywords_are_found_wherever_schemas_stand() {
    let bad = json!({"type": "string", "default": "a"});
    for (outer, at) in [
        (json!({"anyOf": [text(), bad]}), ".anyOf[1]"),
        (json!({"type": "array", "items": bad}), ".items"),
        (json!({"type": "array", "items": text(), "prefixItems": [bad]}), ".prefixItems[0]"),
        (object("openai-strict", "b c", &bad), ".properties[\"b c\"]"),
        (json!({"type": "object", "additionalProperties": bad}), ".additionalProperties"),
        (json!({"not": bad}), ".not"),
        (json!({"allOf": [bad]}), ".allOf[0]"),
        (json!({"$defs": {"default": bad}}), ".$defs.default"),
        (json!({"patternProperties": {"x": bad}}), ".patternProperties.x"),
        (json!({"dependentSchemas": {"x": bad}}), ".dependentSchemas.x"),
    ] {
        let schema = object("openai-strict", "a", &outer);
        let found = complaints("openai-strict", &wrapped("openai-strict", &schema));
        let wanted = format!(
            "tool: $[0].function.parameters.properties.a{at}.default is a keyword that is not allowed"
        );
        assert!(found.contains(&wanted), "{found:#?}");
    }
}

#[test]
fn roots_are_objects_of_their_own() {
    let rooted = [
        "openai",
        "openai-functions",
        "openai-strict",
        "openai-responses",
        "anthropic",
        "anthropic-strict",
        "gemini",
        "gemini-json",
        "bedrock",
        "llamacpp",
        "vllm",
        "mcp",
    ];
    let good = |target: &str| object(target, "a", &text());
    for kind in [json!("string"), json!(["object", "null"]), Value::Null] {
        let bad = |target: &str| {
            let mut schema = good(target);
            schema["type"] = kind.clone();
            schema
        };
        rule(&rooted, (bad, good), "", "is not of type `object` at the root");
    }
    for (keyword, value) in [
        ("oneOf", json!([{"type": "object"}])),
        ("anyOf", json!([{"type": "object"}])),
        ("allOf", json!([{"type": "object"}])),
        ("enum", json!([{}])),
        ("not", json!({"type": "string"})),
    ] {
        let bad = |target: &str| {
            let mut schema = good(target);
            schema[keyword] = value.clone();
            schema
        };
        let both = [&OPENAI[..], &["anthropic", "anthropic-strict"]].concat();
        let whom = if matches!(keyword, "enum" | "not") { &OPENAI[..] } else { &both };
        rule(whom, (bad, good), &format!(".{keyword}"), "must not stand at the root");
    }
}

#[test]
fn keys_of_properties_keep_their_rules() {
    let long = "a".repeat(65);
    for key in ["a b", "año", "", "a$", long.as_str()] {
        let at = crate::same::member(".properties", key);
        let at = at.as_str();
        let bad = |target: &str| object(target, key, &text());
        let good = |target: &str| object(target, &"a".repeat(64), &text());
        let anthropic = ["anthropic", "anthropic-strict"];
        rule(&anthropic, (bad, good), at, "has a key that is not allowed at the root");
        rule(&["gemini"], (bad, good), at, "has a key that is not allowed");
        // Below the root Anthropic has no rule, Gemini has.
        let bad = |target: &str| object(target, "o", &object(target, key, &text()));
        let good = |target: &str| object(target, "o", &object(target, "_a1", &text()));
        let at = format!(".properties.o{at}");
        rule(&[], (bad, good), &at, "has a key that is not allowed at the root");
        rule(&["gemini"], (bad, good), &at, "has a key that is not allowed");
    }
    for key in ["a-b", "a.b", "1"] {
        let at = crate::same::member(".properties", key);
        let bad = |target: &str| object(target, key, &text());
        let good = |target: &str| object(target, "a", &text());
        rule(&["gemini"], (bad, good), &at, "has a key that is not allowed");
        for target in ["anthropic", "anthropic-strict"] {
            assert!(complaints(target, &wrapped(target, &bad(target))).is_empty(), "{key}");
        }
    }
}

#[test]
fn names_keep_their_rules() {
    let named = |target: &str, name: &str| {
        complaints(target, &output(target, vec![(name, object(target, "a", &text()))]))
    };
    let all = "openai openai-functions openai-strict openai-responses anthropic anthropic-strict \
               gemini gemini-json bedrock mistral llamacpp vllm mcp";
    let (x64, x65, x128, x129) = ("x".repeat(64), "x".repeat(65), "x".repeat(128), "x".repeat(129));
    for (name, refused) in [
        ("a_b-C9", ""),
        ("", all),
        ("a b", all),
        ("año", all),
        ("a/b", all),
        (
            "a.b",
            "openai openai-functions openai-strict openai-responses anthropic anthropic-strict bedrock mistral llamacpp vllm",
        ),
        (
            "a:b",
            "openai openai-functions openai-strict openai-responses anthropic anthropic-strict bedrock mistral llamacpp vllm mcp",
        ),
        ("9a", "gemini gemini-json"),
        ("-a", "gemini gemini-json"),
        ("_a", ""),
        (x64.as_str(), ""),
        (
            x65.as_str(),
            "openai openai-functions openai-strict openai-responses bedrock mistral llamacpp vllm",
        ),
        (
            x128.as_str(),
            "openai openai-functions openai-strict openai-responses bedrock mistral llamacpp vllm",
        ),
        (x129.as_str(), all),
    ] {
        let refused: Vec<&str> = refused.split_whitespace().collect();
        for target in TARGETS {
            let found = named(target, name);
            let wrong = found.iter().any(|it| it.ends_with("has a name that is not allowed"));
            assert_eq!(wrong, refused.contains(&target), "{target} {name:?}: {found:#?}");
            assert_eq!(found.len(), usize::from(wrong), "{target} {name:?}: {found:#?}");
        }
    }
    for target in TARGETS.into_iter().filter(|target| *target != "json-schema") {
        let schema = object(target, "a", &text());
        let twice =
            output(target, vec![("a", schema.clone()), ("b", schema.clone()), ("a", schema)]);
        let found = complaints(target, &twice);
        assert!(
            matches!(found.as_slice(), [only] if only.ends_with("has the name of another tool")),
            "{found:#?}"
        );
    }
}

#[test]
fn strict_objects_are_closed() {
    let good = |target: &str| object(target, "a", &object(target, "b", &text()));
    for value in [None, Some(json!(true)), Some(json!({})), Some(json!({"type": "string"}))] {
        let bad = |target: &str| {
            let mut inner = object(target, "b", &text());
            inner.as_object_mut().expect("an object").shift_remove("additionalProperties");
            if let Some(value) = &value {
                inner["additionalProperties"] = value.clone();
            }
            object(target, "a", &inner)
        };
        let wrong = "is an object without `additionalProperties: false`";
        rule(&STRICT, (bad, good), ".properties.a", wrong);
    }
    let open = |_: &str| json!({"type": "object", "properties": {}});
    let closed =
        |_: &str| json!({"type": "object", "properties": {}, "additionalProperties": false});
    rule(&STRICT, (open, closed), "", "is an object without `additionalProperties: false`");
    // An object that says so only by its properties, and one that may also be null.
    for kind in [json!({}), json!({"type": ["object", "null"]})] {
        let mut bad = kind;
        bad["properties"] = json!({"b": {"type": "string"}});
        bad["required"] = json!(["b"]);
        let mut good = bad.clone();
        good["type"] = json!(["object", "null"]);
        good["additionalProperties"] = json!(false);
        property(&STRICT, &bad, &good, "", "is an object without `additionalProperties: false`");
    }
    for mut empty in [json!({"type": "object"}), json!({"type": "object", "properties": {}})] {
        empty["additionalProperties"] = json!(false);
        let bad = |target: &str| object(target, "a", &empty);
        let wrong = "is an object without properties";
        rule(&["gemini"], (bad, good), ".properties.a", wrong);
    }
    let closed = object("openai-strict", "b", &text());
    let open = object("mistral", "b", &text());
    property(&["mistral"], &closed, &open, ".additionalProperties", "must not be false");
}

#[test]
fn strict_schemas_have_a_type() {
    let constants = [json!({"enum": ["a"]}), json!({"const": 1})];
    let untyped = [json!({}), json!({"description": "a"}), json!(true)];
    for (bad, targets) in constants
        .into_iter()
        .map(|bad| (bad, &STRICT[..1]))
        .chain(untyped.into_iter().map(|bad| (bad, &STRICT[..])))
    {
        property(targets, &bad, &text(), "", "has no type");
        let listed = json!({"type": "array", "items": bad});
        let good = json!({"type": "array", "items": {"type": ["string", "null"]}});
        property(targets, &listed, &good, ".items", "has no type");
        let union = json!({"anyOf": [{"type": "null"}, bad]});
        let good = json!({"anyOf": [{"type": "null"}, {"anyOf": [text()]}], "description": "a"});
        property(targets, &union, &good, ".anyOf[1]", "has no type");
    }
}

#[test]
fn strict_required_is_all_properties() {
    let with = |required: Value| {
        json!({
            "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "required": required, "additionalProperties": false
        })
    };
    let good = |_: &str| with(json!(["b", "a"]));
    let some = |_: &str| with(json!(["a"]));
    rule(&["openai-strict"], (some, good), ".properties.b", "is not in `required`");
    let open = |target: &str, required: &Value| {
        let mut schema = with(required.clone());
        if target == "gemini" {
            schema.as_object_mut().expect("an object").shift_remove("additionalProperties");
        }
        schema
    };
    let more = |target: &str| open(target, &json!(["a", "b", "c"]));
    let all = |target: &str| open(target, &json!(["a", "b"]));
    let told = "names `c`, which is no property";
    rule(&["openai-strict", "gemini"], (more, all), ".required", told);
    let none = |_: &str| {
        let mut schema = with(json!([]));
        schema.as_object_mut().expect("an object").shift_remove("required");
        schema
    };
    rule(&["openai-strict"], (none, good), ".properties.a", "is not in `required`");
}

#[test]
fn arrays_have_items() {
    let whom = [&OPENAI[..], &["gemini"]].concat();
    let good = json!({"type": "array", "items": {"type": "string"}});
    property(&whom, &json!({"type": "array"}), &good, "", "is an array without `items`");
    for target in whom {
        let schema = object(target, "a", &json!({"type": ["array", "null"]}));
        let found = complaints(target, &wrapped(target, &schema));
        let told = found.iter().any(|it| it.ends_with("is an array without `items`"));
        assert!(told, "{target}: {found:#?}");
    }
}

#[test]
fn formats_and_least_lengths_are_known() {
    for format in
        ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]
    {
        let good = json!({"type": "string", "format": format});
        let schema = object("openai-strict", "a", &good);
        assert!(complaints("openai-strict", &wrapped("openai-strict", &schema)).is_empty());
        let schema = object("gemini", "a", &good);
        let found = complaints("gemini", &wrapped("gemini", &schema));
        assert_eq!(found.is_empty(), format == "date-time", "{found:#?}");
    }
    let bad = json!({"type": "string", "format": "uri"});
    let told = "`uri` is not among the formats";
    property(&["openai-strict", "llamacpp"], &bad, &text(), ".format", told);
    let bad = json!({"type": "string", "format": "iri"});
    let told = "`iri` is not among the formats";
    let whom = ["openai-strict", "anthropic-strict", "llamacpp", "vllm"];
    property(&whom, &bad, &text(), ".format", told);
    let good = json!({"type": "string", "format": "enum", "enum": ["a"]});
    property(&["gemini"], &bad, &good, ".format", "`iri` is not a format of string");
    let list =
        |least: u64| json!({"type": "array", "items": {"type": "string"}, "minItems": least});
    property(&["anthropic-strict"], &list(2), &list(1), ".minItems", "is above 1");
    property(&["anthropic-strict"], &list(2), &list(0), ".minItems", "is above 1");
}

/// A root with definitions whose property `a` refers to one of them.
fn defined(target: &str, reference: &Value, definitions: &Value) -> Value {
    let mut schema = object(target, "a", reference);
    schema["$defs"] = definitions.clone();
    schema
}

#[test]
fn references_lead_somewhere() {
    let closed = |property: Value| object("openai-strict", "b", &property);
    let definitions = json!({"A": closed(text()), "a b/c": {"type": "string"}});
    // Gemini and Ollama refuse every reference.
    let good = |target: &str| defined(target, &json!({"$ref": "#/$defs/A"}), &definitions);
    // Mistral refuses closed objects; engines read names without decoding them.
    let none = ["gemini", "ollama", "mistral", "llamacpp", "vllm"];
    let whom: Vec<&str> = TARGETS.into_iter().filter(|it| !none.contains(it)).collect();
    for reference in ["#/$defs/B", "#nowhere", "#/$defs/A/properties/c", "#/$defs/%ZZ"] {
        let bad = |target: &str| defined(target, &json!({"$ref": reference}), &definitions);
        for target in TARGETS {
            let found = complaints(target, &wrapped(target, &bad(target)));
            let wanted =
                format!("tool: {}.properties.a.$ref `{reference}` leads nowhere", place(target));
            assert!(found.contains(&wanted), "{target}: {found:#?}");
        }
        for target in &whom {
            let found = complaints(target, &wrapped(target, &good(target)));
            assert!(found.is_empty(), "{target}: {found:#?}");
        }
    }
    for reference in ["#/$defs/a b~1c", "#/$defs/a%20b~1c", "#/$defs/A"] {
        for target in &whom {
            let schema = defined(target, &json!({"$ref": reference}), &definitions);
            let found = complaints(target, &wrapped(target, &schema));
            assert!(found.is_empty(), "{target}: {found:#?}");
        }
    }
    let bad = |target: &str| object(target, "a", &json!({"$ref": "https://example.org/a"}));
    for target in TARGETS {
        let found = complaints(target, &wrapped(target, &bad(target)));
        let outward = found.iter().any(|it| it.ends_with("`https://example.org/a` leads nowhere"));
        let free = ["json-schema", "mcp"].contains(&target);
        assert_eq!(outward, !free, "{target}: {found:#?}");
    }
}

#[test]
fn strict_references_stand_alone() {
    let definitions = json!({"A": {"type": "string"}});
    let good = |target: &str| defined(target, &json!({"$ref": "#/$defs/A"}), &definitions);
    let bad = |target: &str| {
        defined(target, &json!({"$ref": "#/$defs/A", "description": "a"}), &definitions)
    };
    let whom = ["openai-strict", "anthropic-strict", "gemini-json"];
    rule(&whom, (bad, good), ".properties.a.$ref", "has keywords next to it");
    let bad = |target: &str| defined(target, &json!({"$ref": "#/properties/a"}), &definitions);
    rule(&["openai-strict"], (bad, good), ".properties.a.$ref", "is neither `#` nor `#/$defs/…`");
    let root = object("openai-strict", "a", &json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]}));
    assert!(complaints("openai-strict", &wrapped("openai-strict", &root)).is_empty());
}

#[test]
fn circles_are_allowed_here_and_there() {
    let node = |target: &str, required: Value| {
        let mut node = object(target, "next", &json!({"$ref": "#/$defs/N"}));
        node["required"] = required;
        defined(target, &json!({"$ref": "#/$defs/N"}), &json!({"N": node}))
    };
    let optional = |target: &str| node(target, json!([]));
    let needed = |target: &str| node(target, json!(["next"]));
    let plain = |target: &str| object(target, "a", &text());
    let at = ".$defs.N.properties.next";
    rule(&["anthropic-strict", "gemini-json"], (needed, plain), at, "refers back to itself");
    rule(&["anthropic-strict"], (optional, plain), at, "refers back to itself");
    let found = complaints("gemini-json", &wrapped("gemini-json", &optional("gemini-json")));
    assert!(found.is_empty(), "{found:#?}");
    // Through two definitions, a list and a union.
    let long = |target: &str| {
        let first = json!({"type": "array", "items": {"$ref": "#/$defs/B"}});
        let second = json!({"anyOf": [text(), {"$ref": "#/$defs/A"}]});
        defined(target, &json!({"$ref": "#/$defs/A"}), &json!({"A": first, "B": second}))
    };
    let at = ".$defs.B.anyOf[1]";
    rule(&["anthropic-strict", "gemini-json"], (long, plain), at, "refers back to itself");
    let root = |target: &str| object(target, "a", &json!({"$ref": "#"}));
    rule(
        &["anthropic-strict", "gemini-json"],
        (root, plain),
        ".properties.a",
        "refers back to itself",
    );
    // A definition that refers to the root, and that nothing refers to.
    for target in ["anthropic-strict", "gemini-json"] {
        let unused = json!({"A": {"type": "string"}, "B": {"$ref": "#"}});
        let schema = defined(target, &json!({"$ref": "#/$defs/A"}), &unused);
        let found = complaints(target, &wrapped(target, &schema));
        assert!(found.is_empty(), "{found:#?}");
    }
    // Two references to one definition are no circle.
    for target in ["anthropic-strict", "gemini-json"] {
        let mut twice = defined(target, &json!({"$ref": "#/$defs/A"}), &json!({"A": text()}));
        twice["properties"]["b"] = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]});
        let found = complaints(target, &wrapped(target, &twice));
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |target: &str, depth: usize| {
        (1..depth).fold(object(target, "a", &text()), |inner, _| object(target, "a", &inner))
    };
    let at = ".properties.a".repeat(10);
    rule(
        &["openai-strict"],
        (|it: &str| nested(it, 11), |it: &str| nested(it, 10)),
        &at,
        "is nested too deep",
    );
}

#[test]
fn gemini_takes_a_subset_of_openapi() {
    let only = ["gemini"];
    let union = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    let beside = json!({"anyOf": [{"type": "string"}], "description": "a"});
    property(&only, &beside, &union, "", "has other keywords next to `anyOf`");
    property(&only, &json!({"description": "a"}), &text(), "", "has neither `type` nor `anyOf`");
    for kind in [json!(["string"]), json!("null"), json!("text")] {
        let bad = json!({"type": kind});
        let good = json!({"type": "string", "nullable": true});
        property(&only, &bad, &good, ".type", "is not one type of OpenAPI 3.0");
    }
    for values in [json!(["a", 1]), json!([])] {
        let bad = json!({"type": "string", "enum": values});
        let good = json!({"type": "STRING", "enum": ["a", "b"]});
        property(&only, &bad, &good, ".enum", "has a value of another kind");
    }
    for (kind, keyword, value) in [
        ("integer", "enum", json!(["a"])),
        ("string", "items", text()),
        ("boolean", "format", json!("int32")),
        ("array", "properties", json!({"a": text()})),
        ("number", "pattern", json!("a")),
    ] {
        let mut bad = json!({"type": kind});
        bad[keyword] = value;
        let told = format!("is not allowed for {kind}");
        property(&only, &bad, &text(), &format!(".{keyword}"), &told);
    }
    for (key, value, good) in [
        ("nullable", json!("yes"), json!(true)),
        ("title", json!(1), json!("a")),
        ("pattern", json!(1), json!("a")),
        ("minLength", json!("1"), json!(1)),
        ("maxItems", json!(-1), json!(1)),
        ("minimum", json!("1"), json!(-1.5)),
    ] {
        let kind = match key {
            "maxItems" => json!({"type": "array", "items": text()}),
            "minimum" => json!({"type": "number"}),
            _ => text(),
        };
        let with = |value: &Value| {
            let mut schema = kind.clone();
            schema[key] = value.clone();
            schema
        };
        let at = format!(".{key}");
        property(&only, &with(&value), &with(&good), &at, "has a value of another kind");
    }
    let bad = json!({"type": "array", "items": true});
    let good = json!({"type": "array", "items": {"type": "integer", "format": "int32"}});
    property(&only, &bad, &good, ".items", "is not an object");
}

#[test]
fn patterns_are_limited_by_openai_anthropic_and_engines() {
    let engines = ["llamacpp", "vllm"];
    let all = [&OPENAI[..], &["anthropic-strict"], &engines].concat();
    let pattern = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let good = pattern(r"^\(\?=[(?!]\\1(?:a)$");
    for bad in ["^(?=a)$", "^a(?!b)$", "^(?<=a)b$", r"^[)](?<!a)$"] {
        property(&all, &pattern(bad), &good, ".pattern", "has lookaround");
    }
    for bad in [r"^(a)\1$", r"^(?<n>a)\k<n>$"] {
        property(&all, &pattern(bad), &good, ".pattern", "has a backreference");
    }
    let whom = ["anthropic-strict", "llamacpp", "vllm"];
    property(&whom, &pattern(r"^\bx$"), &good, ".pattern", "has a word boundary");
    for bad in [r"^\p{L}$", r"^[\p{L}]$", r"^\u{41}$", r"^\cA$", r"^[\B]$"] {
        property(&OPENAI, &pattern(bad), &good, ".pattern", "has an escape unknown to Python");
    }
    let told = "has a named group, unknown to Python";
    property(&OPENAI, &pattern("^(?<n>a)$"), &good, ".pattern", told);
}

#[test]
fn definitions_have_an_end() {
    let free = ["json-schema", "gemini"];
    let targets: Vec<&str> = TARGETS.into_iter().filter(|it| !free.contains(it)).collect();
    let bad = |target: &str| {
        let definitions = json!({
            "A": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/B"}]}, "B": {"$ref": "#/$defs/A"}
        });
        defined(target, &text(), &definitions)
    };
    for target in targets {
        let found = complaints(target, &wrapped(target, &bad(target)));
        for name in ["A", "B"] {
            let wanted =
                format!("tool: {}.$defs.{name} leads back to itself without an end", place(target));
            assert!(found.contains(&wanted), "{target}: {found:#?}");
        }
    }
}

#[test]
fn descriptions_say_what_constrains() {
    let bad = json!({
        "type": "string",
        "description": "JSON text of an object that fits this JSON Schema: {\"propertyNames\":{\"type\":\"string\"}}"
    });
    let told = "describes keys as strings, which they always are";
    property(&TARGETS, &bad, &text(), "", told);
    let bad = json!({"type": "string", "description": "Where. Leave this out: the host sets it."});
    property(&["openai-strict"], &bad, &text(), "", "asks to leave out what is required");
    let number = |more: Value| {
        let mut schema = json!({"type": "number", "description": "More than 1.5. Less than 3."});
        schema.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("one"));
        schema
    };
    let good = number(json!({"minimum": 1.5, "maximum": 3}));
    let bad = number(json!({"maximum": 3}));
    property(
        &["gemini", "gemini-json"],
        &bad,
        &good,
        "",
        "says `More than …` and has no `minimum`",
    );
}

/// One type in the form of each target of structured output.
fn answer(target: &str, schema: &Value) -> Value {
    match target {
        "openai-response-format" => json!({"type": "json_schema", "json_schema": {
            "name": "A", "schema": schema, "strict": true
        }}),
        "openai-text-format" => {
            json!({"type": "json_schema", "name": "A", "schema": schema, "strict": true})
        }
        "gemini-response-schema" => {
            json!({"responseMimeType": "application/json", "responseJsonSchema": schema})
        }
        _ => json!({"type": "json_schema", "schema": schema}),
    }
}

#[test]
fn types_of_answers_keep_the_rules_of_tools() {
    let good = object("openai-strict", "a", &text());
    for target in OUTPUTS {
        let found = complaints(target, &answer(target, &good));
        assert!(found.is_empty(), "{target}: {found:#?}");
        let list = json!({"type": "array", "items": text()});
        let found = complaints(target, &answer(target, &list));
        assert!(found.iter().any(|it| it.ends_with("at the root")), "{target}: {found:#?}");
        let more = object("openai-strict", "a", &json!({"type": "string", "not": {}}));
        let found = complaints(target, &answer(target, &more));
        assert!(found.iter().any(|it| it.contains("not allowed")), "{target}: {found:#?}");
        let mut other = answer(target, &good);
        other["x"] = json!(1);
        assert!(!complaints(target, &other).is_empty(), "{target}");
    }
}

#[test]
fn engines_take_what_they_make_grammars_of() {
    let both = ["llamacpp", "vllm"];
    let pattern = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let good = pattern(r"^[0-9\-]{2}\.\u00e4\\$");
    let inside = "has an anchor inside";
    for (bad, wrong) in [("^a$b$", inside), (r"^[\p{L}]$", "has a property of Unicode")] {
        property(&both, &pattern(bad), &good, ".pattern", wrong);
    }
    let whole = "does not match from `^` to `$`";
    property(&["llamacpp"], &pattern("a"), &good, ".pattern", whole);
    let unknown = "has an escape unknown to llama.cpp";
    for bad in [r"^\d$", r"^\\d\w$", r"^[\w]$", r"^[\.]$", r"^\/$", r"^\u{41}$"] {
        property(&["llamacpp"], &pattern(bad), &good, ".pattern", unknown);
    }
    let named = "has a group with a name or flags";
    property(&["llamacpp"], &pattern("^(?<n>a)$"), &good, ".pattern", named);
    property(&["llamacpp", "ollama"], &json!(true), &text(), "", "is true or false");
    let bad = json!({"type": "string", "minLength": 2001});
    property(&["llamacpp"], &bad, &text(), ".minLength", "is above 2000");
    let bad = json!({"type": "array", "items": text(), "maxItems": 2000});
    property(&["llamacpp"], &bad, &text(), ".maxItems", "is above 1999");
    let complex = json!({"type": "string", "enum": [["a"]]});
    let told = "has values of a kind that is not allowed";
    property(&["anthropic-strict"], &complex, &text(), ".enum", told);
    property(&both, &json!({"enum": []}), &text(), ".enum", "is empty");
    let bad = json!({"anyOf": [text()], "minLength": 1});
    let told = "has other keywords next to `anyOf`";
    let good_union = json!({"anyOf": [text()], "default": "a"});
    for target in both {
        let found = complaints(target, &wrapped(target, &object(target, "a", &bad)));
        assert!(found.iter().any(|it| it.ends_with(told)), "{found:#?}");
        let found = complaints(target, &wrapped(target, &object(target, "a", &good_union)));
        assert!(found.is_empty(), "{found:#?}");
    }
    let bad = json!({"type": "integer", "minimum": 1.5});
    let good = json!({"type": "integer", "minimum": 2});
    property(&both, &bad, &good, ".minimum", "is not a whole number of 64 bits");
    for bad in [
        json!({"type": "number", "minimum": 2, "exclusiveMaximum": 1}),
        json!({"type": "number", "exclusiveMinimum": 1, "maximum": 1}),
        json!({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}),
        json!({"type": "string", "minLength": 2, "maxLength": 1}),
        json!({"type": "array", "minItems": 2, "maxItems": 1}),
        json!({"type": "array", "prefixItems": [text(), text()], "maxItems": 1}),
        json!({"type": "object", "minProperties": 1}),
    ] {
        property(&both, &bad, &good, "", "has bounds that contradict each other");
    }
    let bad = json!({"type": "string", "format": "date", "minLength": 1});
    property(&["vllm"], &bad, &text(), "", "has a length with a pattern or a format");
}

/// What is done to a good output.
type Edit = fn(&mut Value);

/// Edits of a target's output, and what is then said.
const EDITS: &[(&str, Edit, &str)] = &[
    ("openai", |it| it[0]["x"] = json!(1), "$[0].x is a key that the target does not know"),
    ("openai", |it| it[0]["type"] = json!("tool"), "$[0].type is not `function`"),
    (
        "openai",
        |it| it[0]["function"]["x"] = json!(1),
        "$[0].function.x is a key that the target does not know",
    ),
    (
        "openai",
        |it| it[0]["function"]["strict"] = json!(true),
        "$[0].function.parameters is an object without `additionalProperties: false`",
    ),
    (
        "openai",
        |it| it[0]["function"]["strict"] = json!(1),
        "$[0].function.strict is neither true nor false",
    ),
    (
        "openai",
        |it| it[0]["function"]["description"] = json!(1),
        "$[0].function.description is not a text",
    ),
    ("openai", |it| drop_key(&mut it[0], "type"), "$[0] has no `type`"),
    (
        "mistral",
        |it| drop_key(&mut it[0]["function"], "parameters"),
        "$[0].function has no `parameters`",
    ),
    (
        "openai",
        |it| drop_key(&mut it[0]["function"]["parameters"], "properties"),
        "$[0].function.parameters has no `properties` at the root",
    ),
    ("openai", |it| drop_key(&mut it[0]["function"], "name"), "$[0].function has no `name`"),
    ("openai", |it| it[0]["function"]["name"] = json!(1), "$[0].function.name is not a text"),
    ("openai", |it| *it = json!({"tools": []}), "$ is not a list of tools"),
    ("openai", |it| it[0] = json!(1), "$[0] is not an object"),
    (
        "openai-functions",
        |it| it[0]["strict"] = json!(false),
        "$[0].strict is a key that the target does not know",
    ),
    (
        "openai-functions",
        |it| it[0]["type"] = json!("function"),
        "$[0].type is a key that the target does not know",
    ),
    (
        "openai-strict",
        |it| it[0]["function"]["strict"] = json!(false),
        "$[0].function.strict is not true",
    ),
    (
        "openai-strict",
        |it| drop_key(&mut it[0]["function"], "strict"),
        "$[0].function has no `strict`",
    ),
    ("openai-responses", |it| drop_key(&mut it[0], "strict"), "$[0] has no `strict`"),
    ("openai-responses", |it| drop_key(&mut it[0], "parameters"), "$[0] has no `parameters`"),
    (
        "openai-responses",
        |it| it[0]["function"] = json!({}),
        "$[0].function is a key that the target does not know",
    ),
    (
        "openai-responses",
        |it| it[0]["strict"] = json!(true),
        "$[0].parameters is an object without `additionalProperties: false`",
    ),
    (
        "anthropic",
        |it| it[0]["strict"] = json!(true),
        "$[0].input_schema is an object without `additionalProperties: false`",
    ),
    ("anthropic-strict", |it| drop_key(&mut it[0], "strict"), "$[0] has no `strict`"),
    (
        "anthropic",
        |it| it[0]["parameters"] = json!({}),
        "$[0].parameters is a key that the target does not know",
    ),
    ("gemini", |it| it[0]["x"] = json!(1), "$[0].x is a key that the target does not know"),
    (
        "gemini",
        |it| it[0]["functionDeclarations"][0]["parametersJsonSchema"] = json!({}),
        "$[0].functionDeclarations[0].parametersJsonSchema is a key that the target does not know",
    ),
    (
        "gemini-json",
        |it| it[0]["functionDeclarations"][0]["parameters"] = json!({}),
        "$[0].functionDeclarations[0].parameters is a key that the target does not know",
    ),
    ("gemini", |it| *it = json!([]), "$ is not a list of one object with `functionDeclarations`"),
    (
        "gemini",
        |it| *it = json!([it[0].clone(), it[0].clone()]),
        "$ is not a list of one object with `functionDeclarations`",
    ),
    (
        "bedrock",
        |it| it[0]["toolSpec"]["description"] = json!(""),
        "$[0].toolSpec.description has no character",
    ),
    (
        "bedrock",
        |it| it[0]["toolSpec"]["inputSchema"]["x"] = json!(""),
        "$[0].toolSpec.inputSchema.x is a key that the target does not know",
    ),
    ("bedrock", |it| it[0]["x"] = json!(""), "$[0].x is a key that the target does not know"),
    ("json-schema", |it| *it = json!([]), "$ is not an object of schemas"),
];

#[test]
fn wrappings_have_their_keys() {
    for (target, edit, wrong) in EDITS.iter().copied() {
        let mut output = wrapped(target, &object(target, "a", &text()));
        assert!(complaints(target, &output).is_empty());
        edit(&mut output);
        let found = complaints(target, &output);
        assert!(found.iter().any(|it| it.ends_with(wrong)), "{target}: {found:#?}\nnot {wrong}");
    }
}

fn drop_key(value: &mut Value, key: &str) {
    value.as_object_mut().expect("an object").shift_remove(key);
}

#[test]
fn mcp_tools_have_more_than_a_schema() {
    let mut output = wrapped("mcp", &object("mcp", "a", &text()));
    let good = json!({
        "title": "A", "_meta": {"a": 1}, "execution": {"taskSupport": "optional"}, "icons": [],
        "annotations": {"title": "A", "readOnlyHint": true, "more": 1},
        "outputSchema": {"anyOf": [{"type": "string"}, {"type": "object"}]}
    });
    for (key, value) in good.as_object().expect("an object") {
        output["tools"][0][key] = value.clone();
    }
    assert!(complaints("mcp", &output).is_empty());
    for (pointer, value, wrong) in [
        ("/tools/0/title", json!(1), "$.tools[0].title is not a text"),
        ("/tools/0/_meta", json!(1), "$.tools[0]._meta is not an object"),
        ("/tools/0/execution", json!([]), "$.tools[0].execution is not an object"),
        ("/tools/0/icons", json!({}), "$.tools[0].icons is not a list"),
        ("/tools/0/annotations", json!(1), "$.tools[0].annotations is not an object"),
        ("/tools/0/annotations/title", json!(1), "$.tools[0].annotations.title is not a text"),
        (
            "/tools/0/annotations/readOnlyHint",
            json!(1),
            "$.tools[0].annotations.readOnlyHint is neither true nor false",
        ),
        (
            "/tools/0/outputSchema/anyOf",
            json!([]),
            "$.tools[0].outputSchema.anyOf is not a list of schemas",
        ),
        ("/tools", json!({}), "$.tools is not a list of tools"),
    ] {
        let mut bad = output.clone();
        *bad.pointer_mut(pointer).expect("the place is there") = value;
        let found = complaints("mcp", &bad);
        assert!(found.iter().any(|it| it.ends_with(wrong)), "{found:#?}\nnot {wrong}");
    }
    output["nextCursor"] = json!("a");
    assert_eq!(complaints("mcp", &output), ["$.nextCursor is a key that the target does not know"]);
}

#[test]
fn schemas_are_schemas() {
    let all: Vec<&str> = TARGETS.into_iter().filter(|target| *target != "gemini").collect();
    let bad = json!({"type": "text"});
    property(&all, &bad, &text(), ".type", "is not a type or a list of distinct types");
    let bad = json!({"type": "string", "description": 1});
    property(&all, &bad, &text(), ".description", "is not a text");
    let bad = |target: &str| {
        let mut schema = object(target, "a", &text());
        schema["required"] = json!(["a", "a"]);
        schema
    };
    let good = |target: &str| object(target, "a", &text());
    rule(&all, (bad, good), ".required", "is not a list of distinct names");
}

/// Changes one value somewhere in a schema into one of another kind.
fn broken(rng: &mut Rng, value: &mut Value) {
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(2.0),
        json!("a"),
        json!(""),
        json!([]),
        json!([1]),
        json!(["a", "a"]),
        json!(["string"]),
        json!({}),
        json!({"a": 1}),
        json!({"a": ["b", "b"]}),
        json!([{}]),
        json!("a#b"),
        json!(["null", "null"]),
    ];
    let inside: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => Vec::new(),
    };
    let count = inside.len();
    if count == 0 || rng.chance(25) {
        *value = others[rng.below(others.len())].clone();
    } else if let Some(inner) = inside.into_iter().nth(rng.below(count)) {
        broken(rng, inner);
    }
}

#[test]
fn the_metaschema_is_read_as_a_validator_reads_it() {
    let validator = jsonschema::draft202012::meta::validator();
    let (mut right, mut wrong) = (0, 0);
    for case in 0..20_000 {
        let mut rng = Rng::for_case(11, case);
        let mut schema = Schemas::new(&mut rng).wild(true).schema();
        if case % 4 != 0 {
            broken(&mut rng, &mut schema);
        }
        let found = meta::find_problems(&schema, "$");
        let valid = validator.is_valid(&schema);
        assert_eq!(found.is_empty(), valid, "case {case}: {found:?} in {schema}");
        if valid { right += 1 } else { wrong += 1 }
    }
    assert!(right > 3_000 && wrong > 3_000, "{right} right, {wrong} wrong");
}

#[test]
fn random_tools_keep_the_rules_of_mcp_alone() {
    let mut refused = [0_usize; TARGETS.len()];
    for case in 0..1_000 {
        let mut rng = Rng::for_case(12, case);
        let tools = Schemas::new(&mut rng).tools();
        let found = complaints("mcp", &json!({"tools": tools}));
        assert!(found.is_empty(), "case {case}: {found:#?}");
        for (at, target) in TARGETS.into_iter().enumerate() {
            let schemas = tools
                .iter()
                .map(|it| (it["name"].as_str().unwrap_or("?"), it["inputSchema"].clone()));
            refused[at] +=
                usize::from(!complaints(target, &output(target, schemas.collect())).is_empty());
        }
    }
    for (target, count) in TARGETS.into_iter().zip(refused) {
        let free = ["json-schema", "mcp"].contains(&target);
        assert_eq!(count == 0, free, "{target} refuses {count} of 1,000 lists: {refused:?}");
    }
}

#[test]
fn wild_schemas_are_read_without_failing() {
    let mut found = 0;
    for case in 0..2_000 {
        let mut rng = Rng::for_case(13, case);
        let mut schema = Schemas::new(&mut rng).wild(true).schema();
        if rng.chance(50) {
            broken(&mut rng, &mut schema);
        }
        for target in TARGETS {
            let output = wrapped(target, &schema);
            found += usize::from(!complaints(target, &output).is_empty());
            limits(target, &output);
            // The same where the output itself is broken.
            let mut output = output;
            broken(&mut rng, &mut output);
            complaints(target, &output);
            limits(target, &output);
        }
    }
    assert!(found > 10_000, "only {found} complaints");
}

#[test]
fn limits_are_told_apart_from_complaints() {
    let many = |target: &str, count: usize, schema: &Value| {
        let names: Vec<String> = (0..count).map(|at| format!("t{at}")).collect();
        output(target, names.iter().map(|name| (name.as_str(), schema.clone())).collect())
    };
    let over = |target: &str, output: &Value, wanted: &[&str]| {
        assert_eq!(limits(target, output), wanted, "{target}");
        assert!(
            complaints(target, output).is_empty(),
            "{target}: {:?}",
            complaints(target, output)
        );
    };
    for (target, what, most) in [
        ("openai", "tools", 128),
        ("openai-functions", "tools", 128),
        ("openai-strict", "tools", 128),
        ("openai-responses", "tools", 128),
        ("anthropic-strict", "strict tools", 20),
        ("gemini", "declarations", 512),
        ("gemini-json", "declarations", 512),
    ] {
        let schema = object(target, "a", &text());
        over(target, &many(target, most, &schema), &[]);
        let wanted = format!("$ has {} {what}; {most} are allowed", most + 1);
        over(target, &many(target, most + 1, &schema), &[wanted.as_str()]);
    }
    let wide = |count: usize, required: bool, property: &Value| {
        let keys: Vec<String> = (0..count).map(|at| format!("p{at}")).collect();
        let properties: Map<String, Value> =
            keys.iter().map(|key| (key.clone(), property.clone())).collect();
        let required = if required { keys } else { Vec::new() };
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    let one = |target: &str, schema: &Value| wrapped(target, schema);
    over("anthropic-strict", &one("anthropic-strict", &wide(24, false, &text())), &[]);
    over(
        "anthropic-strict",
        &one("anthropic-strict", &wide(25, false, &text())),
        &["$ has 25 optional parameters; 24 are allowed"],
    );
    for union in [
        json!({"type": ["string", "null"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ] {
        over("anthropic-strict", &one("anthropic-strict", &wide(16, true, &union)), &[]);
        over(
            "anthropic-strict",
            &one("anthropic-strict", &wide(17, true, &union)),
            &["$ has 17 union parameters; 16 are allowed"],
        );
    }
    over("openai-strict", &one("openai-strict", &wide(5_000, true, &text())), &[]);
    over(
        "openai-strict",
        &one("openai-strict", &wide(5_001, true, &text())),
        &["$ has 5001 properties; 5000 are allowed"],
    );
    let choices = |count: usize, text: &str| {
        let members: Vec<String> = (0..count).map(|at| format!("{text}{at:04}")).collect();
        object("openai-strict", "a", &json!({"type": "string", "enum": members}))
    };
    over("openai-strict", &one("openai-strict", &choices(1_000, "")), &[]);
    over(
        "openai-strict",
        &one("openai-strict", &choices(1_001, "")),
        &["$ has 1001 enum values; 1000 are allowed"],
    );
    let long = choices(1_000, &"x".repeat(116));
    over(
        "openai-strict",
        &one("openai-strict", &long),
        &["$ has 120001 characters of names and values; 120000 are allowed"],
    );
    for target in OPENAI {
        let mut output = one(target, &object(target, "a", &text()));
        for (count, wanted) in [(1_024, 0), (1_025, 1)] {
            let pointer = if output[0].get("function").is_some() { "/0/function" } else { "/0" };
            output.pointer_mut(pointer).expect("a tool")["description"] = json!("ä".repeat(count));
            assert_eq!(limits(target, &output).len(), wanted, "{target} {count}");
        }
    }
    let schema = object("gemini", "a", &text());
    assert_eq!(
        limits("gemini", &output("gemini", vec![(&"x".repeat(65), schema.clone())])).len(),
        1
    );
    assert_eq!(limits("gemini", &output("gemini", vec![(&"x".repeat(64), schema)])).len(), 0);
}
