use gramc_syntax::{SourceFile, parse};
use serde_json::{Value, json};

use super::{Policy, Rejection, ToolCheck, Undeclared};

mod schemas;
mod signatures;

fn tool(signature: &str) -> ToolCheck {
    tool_of(&format!("[t:Tool | {signature}==>(::Any)]"))
}

fn tool_of(text: &str) -> ToolCheck {
    let checked = gramc_check::check(&[parse(SourceFile::new("t.gram", text))]);
    let module = checked.module.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    ToolCheck::of_tool(&module.types, &module.tools[0]).unwrap()
}

/// The outcome of a call: the arguments, or the codes and locations of all problems.
fn call(tool: &ToolCheck, arguments: &str, policy: Policy) -> Value {
    match tool.check(arguments, policy) {
        Ok(accepted) => {
            let arguments: Value = serde_json::from_str(&accepted.arguments).unwrap();
            let repairs: Vec<_> = accepted
                .repairs
                .iter()
                .map(|repair| format!("{} {}", repair.pointer, repair.rule.name()))
                .collect();
            json!([
                arguments,
                repairs,
                accepted.stripped.iter().map(smol_str::SmolStr::as_str).collect::<Vec<_>>()
            ])
        }
        Err(Rejection::Malformed(malformed)) => json!(malformed.to_string()),
        Err(Rejection::Invalid(invalid)) => {
            let problems = invalid.problems();
            json!(problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>())
        }
    }
}

#[test]
fn a_typical_call_goes_through() {
    let tool = tool(
        "(path::Text)==>(limit::Int {default: 10, range: 1..100})==>(deep::Bool {optional: true})",
    );
    let p = Policy::default();
    assert_eq!(call(&tool, r#"{"path":"a"}"#, p), json!([{"path":"a","limit":10},[],[]]));
    assert_eq!(
        call(&tool, r#"{"path":"a","limit":"80","deep":"Yes","x":1}"#, p),
        json!([{"path":"a","limit":80,"deep":true},["/limit text-to-integer","/deep text-to-boolean"],["/x"]])
    );
    assert_eq!(
        call(&tool, r#"{"file":"a","limit":"800","deep":"maybe"}"#, p),
        json!([
            "`path` is required and must be a string; rename `file` to `path`",
            "`limit` must be an integer from 1 to 100, got 800",
            "`deep` must be true or false, got \"maybe\"",
        ])
    );
    let p = Policy { correct_names: true, ..p };
    assert_eq!(
        call(&tool, r#"{file:'a', limit: null,}"#, p),
        json!([{"path":"a","limit":10},[" malformed-json","/path name-corrected","/limit null-to-absent"],[]])
    );
    let p = Policy { undeclared: Undeclared::Reject, ..Policy::default() };
    assert_eq!(
        call(&tool, r#"{"path":"a","x":1}"#, p),
        json!(["`x` is not declared: omit it or use one of `path`, `limit`, `deep`"])
    );
}

#[test]
fn unions_take_what_fits_or_the_one_thing_that_can_be_made_to_fit() {
    let t = tool("(a::`Int | {kind: \"x\", n: Int} | {kind: \"y\", t: Text}`)");
    let p = Policy::default();
    assert_eq!(call(&t, r#"{"a":"5"}"#, p), json!([{"a":5},["/a text-to-integer"],[]]));
    assert_eq!(
        call(&t, r#"{"a":{"kind":"y","t":"z","w":1}}"#, p),
        json!([{"a":{"kind":"y","t":"z"}},[],["/a/w"]])
    );
    assert_eq!(
        call(&t, r#"{"a":{"kind":"x","t":"z"}}"#, p),
        json!(["`a.n` is required and must be an integer"])
    );
    let t = tool("(a::`Int | Bool`)");
    assert_eq!(
        call(&t, r#"{"a":"1"}"#, p),
        json!(["`a` must be an integer or true or false, got \"1\""])
    );
}

#[test]
fn nested_values_are_repaired_where_it_is_certain() {
    let t = tool("(tags::`Text[]`)==>(opts::`{unit: \"Celsius\" | \"kelvin\", n: Int = 3}`)");
    let p = Policy::default();
    assert_eq!(
        call(&t, r#"{"tags":"a","opts":"{\"unit\":\"CELSIUS\",\"n\":2.0}"}"#, p),
        json!([{"tags":["a"],"opts":{"unit":"Celsius","n":2}},
            ["/tags single-to-list","/opts json-text","/opts/unit enum-case","/opts/n whole-number"],[]])
    );
    assert_eq!(
        call(&t, r#"{"tags":"[\"a\",\"b\"]","opts":{"unit":"kelvin"}}"#, p),
        json!([{"tags":["a","b"],"opts":{"unit":"kelvin","n":3}},["/tags json-text"],[]])
    );
}

#[test]
fn a_tool_without_parameters_lets_nothing_through() {
    let t = tool("()");
    for undeclared in [Undeclared::Strip, Undeclared::Keep, Undeclared::Schema, Undeclared::Reject]
    {
        let p = Policy { undeclared, ..Policy::default() };
        let said = call(&t, r#"{"a":1}"#, p);
        match undeclared {
            Undeclared::Reject => {
                assert_eq!(said, json!(["`a` is not declared: omit it"]));
            }
            _ => assert_eq!(said, json!([{}, [], ["/a"]])),
        }
    }
    assert_eq!(call(&t, "", Policy::default()), json!([{}, [" no-arguments"], []]));
    assert_eq!(call(&t, "null", Policy::default()), json!([{}, [" no-arguments"], []]));
}

#[test]
fn the_host_owns_what_is_pinned_and_what_it_injects() {
    let t = tool("(a::Text)==>(env::Text {pinned: \"prod\"})==>(token::Text {injected: true})");
    let p = Policy::default();
    let fits = json!([{"a":"x","env":"prod"}, [], []]);
    assert_eq!(call(&t, r#"{"a":"x"}"#, p), fits);
    assert_eq!(call(&t, r#"{"a":"x","env":null}"#, p), fits);
    assert_eq!(call(&t, r#"{"a":"x","env":""}"#, p), fits);
    assert_eq!(
        call(&t, r#"{"a":"x","env":"prod","token":"t"}"#, p),
        json!([{"a":"x","env":"prod"}, [], ["/token"]])
    );
    assert_eq!(
        call(&t, r#"{"a":"x","env":"dev"}"#, p),
        json!(["`env` is set by the host to another value: omit it"])
    );
}

#[test]
fn what_a_secret_holds_stands_in_no_problem_of_what_is_around_it() {
    let t = tool("(user::Text)==>(password::Text {secret: true})==>(extra::Text {optional: true})");
    let nested = tool("(user::Text)==>(keys::Object {secret: true})");
    // The object as a whole is checked by a validator, whose message quotes it.
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"user": {"type": "string"}, "password": {"type": "string"}},
        "not": {"required": ["user"]}
    });
    let whole = tool(&format!(
        "(user::Text)==>(password::Text {{secret: true}})==>(o::Object {{schema: json`{schema}`}})"
    ));
    for (tool, arguments) in [
        (&t, r#"{"user": 5, "password": "hunter2\n"}"#),
        (&t, r#""{\"user\": \"a\", \"password\": \"hunter2\"}""#),
        (&nested, r#"{"user": 5, "keys": {"a": ["hunter2"], "n": 4711}}"#),
        (
            &whole,
            r#"{"user": "a", "password": "hunter2", "o": {"user": "x", "password": "hunter2"}}"#,
        ),
    ] {
        let told = match tool.check(arguments, Policy::default()) {
            Ok(accepted) => format!("{:?}", accepted.repairs),
            Err(Rejection::Invalid(invalid)) => format!("{:?}", invalid.problems()),
            Err(Rejection::Malformed(malformed)) => panic!("{malformed}"),
        };
        assert!(told.len() > 2, "{told}");
        assert!(!told.contains("hunter2") && !told.contains("4711"), "{told}");
    }
}

#[test]
fn texts_in_texts_nest_no_deeper_than_what_is_sent() {
    let text = "[T:Alias | (::`T[]`)]\n[t:Tool | (t::T)==>(::Any)]";
    let checked = gramc_check::check(&[parse(SourceFile::new("t.gram", text))]);
    let module = checked.module.unwrap();
    let recursive = ToolCheck::of_tool(&module.types, &module.tools[0]).unwrap();
    let nested = |brackets: usize, levels: usize| {
        let mut json = "[]".to_owned();
        for _ in 0..levels {
            let text = Value::from(json).to_string();
            json = format!("{}{text}{}", "[".repeat(brackets), "]".repeat(brackets));
        }
        format!("{{\"t\": {json}}}")
    };
    // Accepted arguments can be parsed by `serde_json`.
    let fits = |tool: &ToolCheck, arguments: &str| {
        let accepted = tool.check(arguments, Policy::default()).ok()?;
        Some(serde_json::from_str::<Value>(&accepted.arguments).is_ok())
    };
    assert_eq!(fits(&recursive, &nested(40, 3)), Some(true));
    assert_eq!(fits(&recursive, &nested(62, 2)), Some(true));
    assert_eq!(fits(&recursive, &nested(64, 2)), None);
    assert_eq!(fits(&recursive, &nested(125, 2)), None);
    assert_eq!(fits(&recursive, &nested(125, 16)), None);
    // The items of an untyped array are not validated, but their nesting is limited, too.
    let plain = tool("(t::List)");
    let deep = format!("{{\"t\": {}}}", Value::from("[".repeat(126) + &"]".repeat(126)));
    assert_eq!(fits(&plain, &deep), Some(true));
    let deep = format!("{{\"t\": {}}}", Value::from("[".repeat(127) + &"]".repeat(127)));
    assert_eq!(fits(&plain, &deep), None);
}

#[test]
fn a_text_that_breaks_off_is_not_guessed_at() {
    let t = tool(
        "(path::Text)==>(limit::Int {optional: true})==>(filter::`{x: Int}` {optional: true})",
    );
    let p = Policy::default();
    let is_malformed = |arguments: &str| match t.check(arguments, p) {
        Err(Rejection::Malformed(malformed)) => Some((malformed.line, malformed.column)),
        _ => None,
    };
    assert_eq!(is_malformed(r#"{"path": "a.txt", "#), Some((1, 19)));
    assert_eq!(is_malformed(r#"{"path": rea"#), Some((1, 13)));
    assert_eq!(is_malformed(r#"{"path": "a", "limit": 1"#), Some((1, 25)));
    // The position of the missing bracket is ambiguous.
    let unclear = r#"{"path": "a", "filter": {"x": 1, "limit": 5}"#;
    assert_eq!(is_malformed(unclear), Some((1, 32)));
    assert_eq!(
        call(&t, r#"{"path": "a", "filter": {"x": 1}"#, p),
        json!([{"path": "a", "filter": {"x": 1}}, [" malformed-json"], []])
    );
    let wipe = "[t:Tool {destructive: true} | (path::Text)==>(::Any)]";
    let module = gramc_check::check(&[parse(SourceFile::new("t.gram", wipe))]).module.unwrap();
    let wipe = ToolCheck::of_tool(&module.types, &module.tools[0]).unwrap();
    assert!(matches!(wipe.check("{path: everything}", p), Err(Rejection::Malformed(_))));
    assert_eq!(call(&wipe, "{path: 'a'}", p), json!([{"path": "a"}, [" malformed-json"], []]));
}

#[test]
fn a_name_of_a_map_is_not_repaired() {
    let t = tool("(m::Map {keys: \"\\\"Red\\\" | \\\"Blue\\\"\", valueType: \"Int\"})");
    let p = Policy::default();
    assert_eq!(call(&t, r#"{"m": {"Red": "1"}}"#, p)[0], json!({"m": {"Red": 1}}));
    assert_eq!(
        call(&t, r#"{"m": {"RED": 1}}"#, p),
        json!(["`m.RED` must be one of \"Red\", \"Blue\", got \"RED\""])
    );
}

#[test]
fn a_text_that_plainly_means_a_list_is_no_item_of_one() {
    let t = tool("(tags::`Text[]`)");
    let p = Policy::default();
    assert_eq!(
        call(&t, r#"{"tags": " ['a', \"b\",] "}"#, p),
        json!([{"tags": ["a", "b"]}, ["/tags json-text"], []])
    );
    for text in ["[1, {}]", "['a'", "[a] and [b]", "[['a']]"] {
        let told = call(&t, &json!({"tags": text}).to_string(), p);
        assert!(told[0].is_string(), "{told}");
    }
    let wipe = "[t:Tool {destructive: true} | (tags::`Text[]`)==>(::Any)]";
    let module = gramc_check::check(&[parse(SourceFile::new("t.gram", wipe))]).module.unwrap();
    let wipe = ToolCheck::of_tool(&module.types, &module.tools[0]).unwrap();
    assert_eq!(call(&wipe, r#"{"tags": "['a']"}"#, p)[0], json!({"tags": ["a"]}));
    assert!(wipe.check(r#"{"tags": "[a]"}"#, p).is_err());
}

#[test]
fn a_name_is_corrected_where_it_is_sure_and_never_to_its_opposite() {
    let t = tool(
        "(include::Text)==>(max_price::Int {optional: true})==>(token::Text {injected: true})",
    );
    let p = Policy { correct_names: true, ..Policy::default() };
    assert_eq!(
        call(&t, r#"{"inclde": "a", "maxPrice": 5}"#, p),
        json!([{"include": "a", "max_price": 5},
            ["/include name-corrected", "/max_price name-corrected"], []])
    );
    assert_eq!(
        call(&t, r#"{"include": "a", "min_price": 5}"#, p),
        json!(["`min_price` is not declared: omit it or use one of `include`, `max_price`"])
    );
    for sent in ["exclude", "token"] {
        let arguments = json!({sent: "a"}).to_string();
        let told = call(&t, &arguments, p);
        assert_eq!(told[0], json!("`include` is required and must be a string"));
    }
    let t = tool("(context::Text)");
    assert!(call(&t, r#"{"text": "a"}"#, p)[0].is_string());
}

#[test]
fn of_thousands_of_problems_the_first_are_told() {
    let t = tool("(list::`Int[]`)");
    let arguments = json!({"list": vec!["wrong"; 20_000]}).to_string();
    let Err(Rejection::Invalid(invalid)) = t.check(&arguments, Policy::default()) else {
        panic!("it went through")
    };
    assert_eq!((invalid.problems().len(), invalid.more(), invalid.count()), (100, 19_900, 20_000));
    // If there are too many secrets, all values are masked.
    let t = tool("(user::Int)==>(keys::Object {secret: true})");
    let keys: Vec<_> = (0..20_000).map(|key| format!("key-{key}")).collect();
    let arguments = json!({"user": "me", "keys": {"all": keys}}).to_string();
    let Err(Rejection::Invalid(invalid)) = t.check(&arguments, Policy::default()) else {
        panic!("it went through")
    };
    assert_eq!(invalid.problems()[0].attempted.as_deref(), Some("\"***\""));
}

#[test]
fn messages_say_what_is_wanted() {
    let p = Policy::default();
    let t = tool(
        "(m::Map {size: 1..2})==>(o::Object {size: 2..., fields: [{name: \"a\", type: \"Int\"}]})",
    );
    assert_eq!(
        call(&t, r#"{"m": {}, "o": {"a": 1}}"#, p),
        json!([
            "`m` must be an object with 1 to 2 keys, got 0 keys",
            "`o` must be an object with at least 2 keys, such as `a`, got 1 key"
        ])
    );
    let t = tool("(pair::`[Text, Int]`)");
    let Err(Rejection::Invalid(invalid)) = t.check(r#"{"pair": 5}"#, p) else {
        panic!("it went through")
    };
    assert_eq!(invalid.schema_hint(), "{pair: [string, integer]}");
    let guest = json!({"type": "object", "required": ["age"], "properties": {
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 9}},
    }});
    let t = ToolCheck::of_schema(&json!({"type": "object", "properties": {"guest": guest}}));
    let Err(Rejection::Invalid(invalid)) = t.unwrap().check(r#"{"guest": 5}"#, p) else {
        panic!("it went through")
    };
    assert_eq!(
        invalid.schema_hint(),
        "{guest?: {age: integer from 0 to 120, tags?: (string of at most 9 characters)[] with at most 3 items}}"
    );
    let schema = json!({"type": "object", "properties": {"a": {}}, "required": ["b"]});
    let t = ToolCheck::of_schema(&schema).unwrap();
    assert_eq!(call(&t, "{}", p), json!(["`b` is required"]));
}

#[test]
fn only_arguments_in_a_wrapper_are_unwrapped() {
    let t = tool("(label::Text {optional: true})==>(n::Int {optional: true})");
    let p = Policy::default();
    for name in ["input", "arguments", "toolInput", "properties"] {
        let accepted = json!([{"label": "bug"}, [" unwrapped"], []]);
        assert_eq!(call(&t, &json!({name: {"label": "bug"}}).to_string(), p), accepted);
    }
    for (arguments, names) in [
        (r#"{"exclude": {"label": "bug"}}"#, "exclude"),
        (r#"{"input": {"title": "bug"}}"#, "input"),
        (r#"{"input": {"label": "bug", "n": "5"}}"#, "input"),
        (r#"{"input": "{\"n\": 5}"}"#, "input"),
        (r#"{"args": [5]}"#, "args"),
        (r#"{"input": {"label": "bug"}, "n": 5}"#, "input"),
    ] {
        let told = call(&t, arguments, p);
        assert!(told[0].as_str().is_some_and(|told| told.contains(names)), "{arguments}: {told}");
        // Another key may have a meaning that its content alone does not have.
        let is_wrapper = told[0].as_str().is_some_and(|told| told.contains("send its content"));
        assert_eq!(is_wrapper, names != "exclude", "{arguments}: {told}");
    }
    let wipe = tool_of("[t:Tool {destructive: true} | (n::Int {optional: true})==>(::Any)]");
    assert!(wipe.check(r#"{"input": {"n": 5}}"#, p).is_err());
}

#[test]
fn a_name_has_one_value() {
    let t = tool("(a::Int)==>(o::Object {optional: true})");
    let p = Policy::default();
    assert_eq!(call(&t, r#"{"a": 1, "a": 1.0}"#, p)[0], json!({"a": 1}));
    assert_eq!(
        call(&t, r#"{"a": 1, "a": 2}"#, p),
        json!(["`a` is given twice, as 1 and as 2: send one of them"])
    );
    assert_eq!(
        call(&t, r#"{"a": 1, "o": {"x": [{"y": "t", "y": "u"}]}}"#, p)[0],
        json!("`o.x.0.y` is given twice, as \"t\" and as \"u\": send one of them")
    );
    assert!(call(&t, r#"{"a": 1, "A": 2}"#, p)[0].is_string());
}

#[test]
fn repairs_are_counted_and_not_all_listed() {
    let t = tool("(list::`Int[]`)");
    let arguments = json!({"list": vec!["7"; 20_000]}).to_string();
    let accepted = t.check(&arguments, Policy::default()).unwrap();
    assert_eq!((accepted.repairs.len(), accepted.more_repairs), (100, 19_900));
}

/// What cannot be checked is no reason to refuse calls.
#[test]
fn unsupported_parts_of_schemas_are_not_checked() {
    for schema in [
        json!({"properties": {"a": {"type": "string", "pattern": "["}, "b": {"type": "integer"}}}),
        json!({"properties": {"a": {"type": "file"}, "b": {"type": "integer"}}}),
        json!({
            "properties": {"b": {"type": "integer"}},
            "patternProperties": {"[": {"type": "string"}},
            "additionalProperties": false,
        }),
    ] {
        let check = ToolCheck::of_schema(&schema).unwrap();
        assert!(check.check(r#"{"a": "x", "b": 1}"#, Policy::default()).is_ok(), "{schema}");
        assert!(check.check(r#"{"a": "x", "b": "y"}"#, Policy::default()).is_err(), "{schema}");
    }
}
