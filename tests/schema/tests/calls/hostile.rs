//! Arguments that are made to take long, or too much memory: they are answered soon, and rightly.

use gramc_calls::check::{Accepted, Policy, Rejection, ToolCheck, Undeclared};
use gramc_schema_tests::arguments::{STRICT, Subject};
use serde_json::{Value, json};

/// The answer to a text, with all messages.
fn answer(check: &ToolCheck, text: &str, policy: Policy) -> Result<Accepted, Vec<String>> {
    check.check(text, policy).map_err(|refused| match refused {
        Rejection::Malformed(malformed) => vec![malformed.to_string()],
        Rejection::Invalid(invalid) => {
            let _ = invalid.schema_hint();
            invalid.problems().into_iter().map(|problem| problem.message).collect()
        }
    })
}

/// The answers of all policies are the same: whether it is accepted.
fn always(tool: &str, text: &str, accepted: bool) {
    let subject = Subject::new(tool);
    for undeclared in [Undeclared::Strip, Undeclared::Reject, Undeclared::Keep, Undeclared::Schema]
    {
        for (repair, correct_names) in [(false, false), (true, true)] {
            let policy = Policy { repair, correct_names, undeclared, complete: false };
            let found = answer(&subject.check, text, policy);
            assert_eq!(found.is_ok(), accepted, "{policy:?} {tool}");
            let length: usize = found.err().into_iter().flatten().map(|told| told.len()).sum();
            assert!(length < 100_000 + 100 * text.len(), "{length} bytes are told");
        }
    }
}

/// Whether it is accepted with repairs.
fn repaired(tool: &str, text: &str) -> Result<Accepted, Vec<String>> {
    let policy = Policy { correct_names: true, ..Policy::default() };
    answer(&Subject::new(tool).check, text, policy)
}

const TEXT: &str = "[t:Tool | (path::Text)==>(::Any)]";
const INT: &str = "[t:Tool | (n::Int {optional: true})==>(::Any)]";

#[test]
fn long_texts_are_answered() {
    let long = "x".repeat(10_000_000);
    always(TEXT, &format!(r#"{{"path":"{long}"}}"#), true);
    always(INT, &format!(r#"{{"n":"{long}"}}"#), false);
    always(TEXT, &format!(r#"{{"path":"{long}"#), false);
    let single = repaired(TEXT, &format!("{{'path': '{long}', }}")).unwrap();
    assert!(single.arguments.len() > long.len());
    let backslashes = "\\".repeat(1_000_000);
    always(TEXT, &format!(r#"{{"path":"{backslashes}"}}"#), true);
    always(TEXT, &format!(r#"{{"path":"{backslashes}\"}}"#), false);
    assert!(repaired(TEXT, &format!(r"{{'path':'{backslashes}'}}")).is_ok());
    let limited = "[t:Tool | (path::Text {length: 1..10, pattern: \"^(a+)+$\"})==>(::Any)]";
    always(limited, &format!(r#"{{"path":"{backslashes}"}}"#), false);
    always(limited, &format!(r#"{{"path":"{}!"}}"#, "a".repeat(100_000)), false);
    always(TEXT, r#"{"path":"\ud800"}"#, false);
    always(TEXT, r#"{"path":"\udc00\ud800"}"#, false);
    always(TEXT, r#"{"path":"\ud83d\ude00"}"#, true);
    always(
        "[t:Tool | (raw::Bytes)==>(day::Date {optional: true})==>(::Any)]",
        &format!(r#"{{"raw":"{}"}}"#, "aGkh".repeat(1_000_000)),
        true,
    );
    assert!(repaired(INT, &format!("{}{{}}", "# no\n".repeat(200_000))).is_ok());
    assert!(repaired(INT, &"/*".repeat(500_000)).is_err());
    assert!(repaired(INT, &format!("{}{{}}", " ".repeat(1_000_000))).is_ok());
    assert!(repaired(INT, &"x".repeat(1_000_000)).is_err());
}

#[test]
fn deep_texts_are_answered() {
    for open in ["[", "{\"a\":", "{a:", "[[{'a':["] {
        always(TEXT, &open.repeat(100_000), false);
        always(TEXT, &format!(r#"{{"path":{}"#, open.repeat(100_000)), false);
    }
    always(TEXT, &("[".repeat(100_000) + &"]".repeat(100_000)), false);
    always(TEXT, &"]".repeat(100_000), false);
    always(TEXT, &"```".repeat(100_000), false);
}

#[test]
fn many_entries_are_answered() {
    let many = |name: &dyn Fn(usize) -> String| {
        let entries: Vec<_> = (0..100_000).map(|at| format!("\"{}\":{at}", name(at))).collect();
        entries.join(",")
    };
    let wide = format!(
        "[t:Tool | {}(path::Text)==>(::Any)]",
        (0..50)
            .map(|at| format!("(field{at}::Int {{optional: true}})==>"))
            .collect::<Vec<_>>()
            .concat()
    );
    for tool in [TEXT, &wide] {
        let subject = Subject::new(tool);
        for entries in [many(&|at| format!("path{at}")), many(&|at| format!("field_{at}"))] {
            for undeclared in
                [Undeclared::Strip, Undeclared::Reject, Undeclared::Keep, Undeclared::Schema]
            {
                let policy = Policy { correct_names: true, undeclared, ..Policy::default() };
                let text = format!(r#"{{"path":"x",{entries}}}"#);
                let found = answer(&subject.check, &text, policy);
                // So many entries are data, and no slip.
                let is_kept = matches!(undeclared, Undeclared::Keep | Undeclared::Schema);
                assert_eq!(found.is_ok(), is_kept);
                assert!(found.is_err() || found.is_ok_and(|found| found.stripped.is_empty()));
                assert!(answer(&subject.check, &format!("{{{entries}}}"), policy).is_err());
            }
        }
        let repeated = format!(r#"{{{},"path":"x"}}"#, many(&|_| "path".to_owned()));
        let found = answer(&subject.check, &repeated, STRICT).unwrap_err();
        assert!(found.iter().any(|told| told.contains("`path` is given twice")), "{found:?}");
        let other = format!(r#"{{"path":"x",{}}}"#, many(&|_| "other".to_owned()));
        let found = answer(&subject.check, &other, STRICT).unwrap_err();
        assert!(found.iter().any(|told| told.contains("`other` is given twice")), "{found:?}");
    }
    let map = "[t:Tool {open: \"Int\"} | (n::Int {optional: true})==>(::Any)]";
    always(map, &format!("{{{}}}", many(&|at| format!("k{at}"))), true);
    let wrong = (0..100_000).map(|at| format!("\"k{at}\":[]")).collect::<Vec<_>>().join(",");
    always(map, &format!("{{{wrong}}}"), false);
}

#[test]
fn long_lists_are_answered() {
    let items =
        |item: &dyn Fn(usize) -> String| (0..100_000).map(item).collect::<Vec<_>>().join(",");
    let tool = "[t:Tool | (all::`Number[]` {unique: true})==>(::Any)]";
    always(tool, &format!(r#"{{"all":[{}]}}"#, items(&|at| at.to_string())), true);
    always(tool, &format!(r#"{{"all":[{}]}}"#, items(&|_| "1".to_owned())), false);
    let texts = format!(r#"{{"all":[{}]}}"#, items(&|at| format!("\"{at}\"")));
    assert!(repaired(tool, &texts).is_ok());
    assert!(answer(&Subject::new(tool).check, &texts, STRICT).is_err());
    let tool = "[t:Tool | (all::`(\"soft\" | \"hard\")[]`)==>(::Any)]";
    let text = format!(r#"{{"all":[{}]}}"#, items(&|_| "\"SOFT\"".to_owned()));
    let Accepted { repairs, more_repairs, .. } = repaired(tool, &text).unwrap();
    assert_eq!((repairs.len(), more_repairs), (100, 99_900));
    let objects = format!(r#"{{"all":[{}]}}"#, items(&|_| "{}".to_owned()));
    always("[t:Tool | (all::`{a: Int}[]`)==>(::Any)]", &objects, false);
}

fn tagged(union: &str, count: usize) -> ToolCheck {
    let members: Vec<_> = (0..1_000)
        .map(|at| {
            json!({
                "type": "object",
                "properties": {"kind": {"const": format!("k{at}")}, "v": {"type": "integer"}},
                "required": ["kind", "v"],
            })
        })
        .collect();
    let all = json!({"type": "array", "items": {union: members}, "maxItems": count});
    let schema = json!({"type": "object", "properties": {"all": all}, "required": ["all"]});
    ToolCheck::of_schema(&schema).unwrap()
}

#[test]
fn unions_of_a_thousand_are_answered() {
    for union in ["anyOf", "oneOf"] {
        let check = tagged(union, 100);
        let all = |item: &dyn Fn(usize) -> Value| {
            json!({"all": (0..100).map(|at| item(at * 10 + 9)).collect::<Vec<_>>()}).to_string()
        };
        let right = all(&|at| json!({"kind": format!("k{at}"), "v": at}));
        assert!(answer(&check, &right, STRICT).is_ok());
        assert!(answer(&check, &right, Policy::default()).is_ok());
        let nearly = all(&|at| json!({"kind": format!("K{at}"), "v": at.to_string()}));
        assert!(answer(&check, &nearly, STRICT).is_err());
        assert!(answer(&check, &nearly, Policy::default()).is_ok());
        let wrong = all(&|at| json!({"kind": format!("x{at}"), "v": at}));
        assert!(answer(&check, &wrong, Policy::default()).is_err());
    }
}

#[test]
fn deep_recursive_types_are_answered() {
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        open.repeat(depth) + inner + &close.repeat(depth)
    };
    let json = "[Json:Union | Null, Bool, Number, Text, `Json[]`, `Map<Json>`]\n\
        [t:Tool | (json::Json)==>(::Any)]";
    let nest = "[Nest:Union | Int, `Nest[]`]\n[t:Tool | (nest::Nest)==>(::Any)]";
    let one =
        "[One:Union {oneOf: true} | Int, `{of: One}`, `One[]`]\n[t:Tool | (one::One)==>(::Any)]";
    let tree = "[Tree:Record | (value::Number), (left::Tree {optional: true})]\n\
        [t:Tool | (tree::Tree)==>(::Any)]";
    for depth in [10, 40, 120] {
        always(json, &format!(r#"{{"json":{}}}"#, nested("[", "1", "]", depth)), true);
        always(json, &format!(r#"{{"json":{}}}"#, nested("[{\"a\":", "1", "}]", depth / 2)), true);
        always(nest, &format!(r#"{{"nest":{}}}"#, nested("[", "1", "]", depth)), true);
        always(nest, &format!(r#"{{"nest":{}}}"#, nested("[", "true", "]", depth)), false);
        always(one, &format!(r#"{{"one":{}}}"#, nested("[", "1", "]", depth)), true);
        always(one, &format!(r#"{{"one":{}}}"#, nested("{\"of\":", "1", "}", depth)), true);
        let text = format!(r#"{{"nest":{}}}"#, nested("[", "\"1\"", "]", depth));
        assert!(repaired(nest, &text).is_ok(), "{depth}");
        let text = format!(r#"{{"one":{}}}"#, nested("{\"of\":", "\"1\"", "}", depth));
        assert!(repaired(one, &text).is_ok(), "{depth}");
        let trees = nested("{\"value\":1,\"left\":", "{\"value\":2}", "}", depth);
        always(tree, &format!(r#"{{"tree":{trees}}}"#), true);
    }
    // A list of itself takes lists alone, however many are put around another value.
    let deep = "[Deep:Alias | (::`Deep[]`)]\n[t:Tool | (deep::Deep)==>(::Any)]";
    for inner in ["5", "\"x\"", "{}", "\"[5]\"", "\"[[[\""] {
        always(deep, &format!(r#"{{"deep":{inner}}}"#), false);
        assert!(repaired(deep, &format!(r#"{{"deep":{}}}"#, nested("[", inner, "]", 50))).is_err());
    }
    for inner in ["\"x\"", "{}", "\"[null]\""] {
        always(nest, &format!(r#"{{"nest":{inner}}}"#), false);
    }
}

#[test]
fn json_in_texts_in_json_is_answered() {
    let tree = "[Tree:Record | (value::Number), (left::Tree {optional: true})]\n\
        [t:Tool | (tree::Tree)==>(::Any)]";
    let mut value = json!({"value": 1});
    for _ in 0..15 {
        value = json!({"value": "1", "left": value.to_string()});
    }
    let found = repaired(tree, &json!({"tree": value}).to_string()).unwrap();
    assert!(!found.arguments.contains('\\'), "{}", found.arguments);
    let nest = "[Nest:Union | Int, `Nest[]`]\n[t:Tool | (nest::Nest)==>(::Any)]";
    let mut text = "1".to_owned();
    for _ in 0..15 {
        text = json!([text]).to_string();
    }
    assert!(repaired(nest, &json!({"nest": text}).to_string()).is_ok());
}

#[test]
fn numbers_of_many_digits_are_answered() {
    let digits = "7".repeat(1_000_000);
    let ranged = "[t:Tool | (n::Int {range: 0..100})==>(::Any)]";
    always(ranged, &format!(r#"{{"n":{digits}}}"#), false);
    // No double is that large.
    always(INT, &format!(r#"{{"n":{digits}}}"#), false);
    let stepped = "[t:Tool | (n::Number {multipleOf: 7})==>(::Any)]";
    // A number that is too large to divide exactly counts as a multiple.
    always(stepped, &format!(r#"{{"n":{}}}"#, &digits[..300]), true);
    let schema = json!({"type": "object", "properties": {"n": {
        "type": "integer", "multipleOf": 7, "minimum": 3, "not": {"const": 3},
    }}});
    let check = ToolCheck::of_schema(&schema).unwrap();
    for number in ["1e99999", "1e-99999", "-1E+99999", "0e99999", &digits[..100_000]] {
        let text = format!(r#"{{"n":{number}}}"#);
        for tool in [INT, ranged, stepped] {
            let _ = answer(&Subject::new(tool).check, &text, Policy::default());
        }
        let _ = answer(&check, &text, STRICT);
        let _ = answer(&check, &text, Policy::default());
    }
    let _ = repaired(ranged, &format!(r#"{{"n":"{digits}"}}"#));
    let _ = repaired(ranged, &format!(r#"{{"n":0.{digits}}}"#));
}

#[test]
fn schemas_that_are_circles_are_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {
                "A": {"oneOf": [{"type": "integer"}, {"$ref": "#/$defs/B"}]},
                "B": {"$ref": "#/$defs/A"},
            },
        }),
    ] {
        assert!(ToolCheck::of_schema(&schema).is_err(), "{schema}");
    }
    let tree = json!({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]});
    assert!(ToolCheck::of_schema(&tree).unwrap().fits("[null,[null]]").is_ok());
}
