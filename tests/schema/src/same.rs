//! Whether a schema that was imported and compiled is the schema that was imported.
//!
//! The language's page lets few things differ: the order of keys and of `required`, an empty
//! `required` or `properties` against none, and the root's `$schema`. Numbers are equal when their
//! values are, however they are written. Everything else is a difference. Schemas of older drafts
//! are compared as [`newest`] writes them.
//!
//! The comparison knows where schemas are: a property may be called `required`, and what is
//! below `default` or `enum` is data, where nothing may be left out.

use std::collections::BTreeMap;

use gramc_json_schema::normalize::normalize;
use serde_json::{Map, Number, Value};

/// How deep the comparison goes. Parsed JSON has at most 128 levels; a deeper value was built in
/// memory, and is reported instead of compared.
const DEPTH: usize = 256;

/// What a path begins with.
const ROOT: &str = "$";

/// Keywords whose value is a schema.
const SCHEMAS: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas. `items` is one in draft 7.
const LISTS: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];

/// Keywords whose value is an object of schemas. `dependencies` also holds lists of names.
const MAPS: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// The path of the member `key` of the value at `path`.
pub(crate) fn member(path: &str, key: &str) -> String {
    let plain = !key.is_empty()
        && !key.starts_with(|first: char| first.is_ascii_digit())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
    if plain { format!("{path}.{key}") } else { format!("{path}[{}]", Value::from(key)) }
}

/// The path of the item `index` of the list at `path`.
pub(crate) fn item(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// The first difference between two schemas that means something, with its JSON path, or `None`
/// where the compiled schema says what the original says.
pub fn difference(original: &Value, compiled: &Value) -> Option<String> {
    root(original, compiled, ROOT)
}

/// The first difference between an MCP tool that was imported and what it compiles to, with its
/// JSON path.
///
/// Both schemas may differ as [`difference`] lets them, and everything else not at all. A member of
/// the tool that is null says nothing, and is the same as none. An original without `inputSchema`
/// takes no arguments.
pub fn tool_difference(original: &Value, compiled: &Value) -> Option<String> {
    let (Some(original), Some(compiled)) = (original.as_object(), compiled.as_object()) else {
        return (original != compiled).then(|| told(ROOT, Some(original), Some(compiled)));
    };
    let nothing = || {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), Value::from("object"));
        Value::Object(schema)
    };
    for key in keys(original, compiled) {
        let path = member(ROOT, key);
        let said = |tool: &Map<String, Value>| tool.get(key).filter(|it| !it.is_null()).cloned();
        let (mut ours, theirs) = (said(original), said(compiled));
        if key == "inputSchema" && ours.is_none() {
            ours = Some(nothing());
        }
        let found = match (&ours, &theirs) {
            (Some(ours), Some(theirs)) if key == "inputSchema" || key == "outputSchema" => {
                root(ours, theirs, &path)
            }
            (Some(ours), Some(theirs)) => data(ours, theirs, &path, DEPTH),
            (None, None) => None,
            (ours, theirs) => Some(told(&path, ours.as_ref(), theirs.as_ref())),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// A tool with its schemas in draft 2020-12, which an import rewrites them in.
pub fn newest(tool: &Value) -> Value {
    let mut tool = tool.clone();
    for key in ["inputSchema", "outputSchema"] {
        let schema = tool.get_mut(key).filter(|schema| schema.is_object());
        if let Some(schema) = schema
            && let Ok(normalized) = normalize(schema.clone())
        {
            *schema = normalized.schema;
        }
    }
    tool
}

/// The keys of both objects, those of the original first and in its order.
fn keys<'a>(
    original: &'a Map<String, Value>,
    compiled: &'a Map<String, Value>,
) -> impl Iterator<Item = &'a String> {
    original.keys().chain(compiled.keys().filter(|key| !original.contains_key(*key)))
}

/// The root of a schema, whose `$schema` may differ.
fn root(original: &Value, compiled: &Value, path: &str) -> Option<String> {
    let without = |schema: &Value| match schema {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(key, _)| *key != "$schema")
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        ),
        other => other.clone(),
    };
    schema(&without(original), &without(compiled), path, DEPTH)
}

/// A schema.
fn schema(original: &Value, compiled: &Value, path: &str, depth: usize) -> Option<String> {
    let (Some(ours), Some(theirs)) = (original.as_object(), compiled.as_object()) else {
        return data(original, compiled, path, depth);
    };
    if depth == 0 {
        return Some(format!("{path} is nested too deep to compare"));
    }
    keys(ours, theirs).find_map(|key| {
        let (ours, theirs) = (ours.get(key), theirs.get(key));
        let path = member(path, key);
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => keyword(key, ours, theirs, &path, depth - 1),
            (Some(only), None) | (None, Some(only)) if says_nothing(key, only) => None,
            (ours, theirs) => Some(told(&path, ours, theirs)),
        }
    })
}

/// Whether a keyword with this value says as much as its absence, by the language's page.
fn says_nothing(keyword: &str, value: &Value) -> bool {
    match value {
        Value::Array(names) => keyword == "required" && names.is_empty(),
        Value::Object(properties) => keyword == "properties" && properties.is_empty(),
        _ => false,
    }
}

/// The values that a keyword has in both schemas.
fn keyword(key: &str, ours: &Value, theirs: &Value, path: &str, depth: usize) -> Option<String> {
    if depth == 0 {
        return Some(format!("{path} is nested too deep to compare"));
    }
    match (ours, theirs) {
        (Value::Array(left), Value::Array(right)) if key == "required" => {
            (counted(left) != counted(right)).then(|| told(path, Some(ours), Some(theirs)))
        }
        (Value::Array(left), Value::Array(right)) if LISTS.contains(&key) => {
            if left.len() != right.len() {
                return Some(told(path, Some(ours), Some(theirs)));
            }
            left.iter()
                .zip(right)
                .enumerate()
                .find_map(|(at, (left, right))| schema(left, right, &item(path, at), depth - 1))
        }
        (Value::Object(left), Value::Object(right)) if MAPS.contains(&key) => keys(left, right)
            .find_map(|name| {
                let path = member(path, name);
                match (left.get(name), right.get(name)) {
                    (Some(left), Some(right)) => schema(left, right, &path, depth - 1),
                    (left, right) => Some(told(&path, left, right)),
                }
            }),
        _ if SCHEMAS.contains(&key) => schema(ours, theirs, path, depth - 1),
        _ => data(ours, theirs, path, depth - 1),
    }
}

/// How often each value occurs in a list of names. A value that is no name counts by its text.
fn counted(names: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name.to_string()).or_insert(0) += 1;
    }
    counts
}

/// Data, of which everything counts but the order of keys and how numbers are written.
fn data(original: &Value, compiled: &Value, path: &str, depth: usize) -> Option<String> {
    if depth == 0 {
        return Some(format!("{path} is nested too deep to compare"));
    }
    match (original, compiled) {
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => left
            .iter()
            .zip(right)
            .enumerate()
            .find_map(|(at, (left, right))| data(left, right, &item(path, at), depth - 1)),
        (Value::Object(left), Value::Object(right)) => keys(left, right).find_map(|key| {
            let path = member(path, key);
            match (left.get(key), right.get(key)) {
                (Some(left), Some(right)) => data(left, right, &path, depth - 1),
                (left, right) => Some(told(&path, left, right)),
            }
        }),
        (Value::Number(left), Value::Number(right)) if equal(left, right) => None,
        _ => (original != compiled).then(|| told(path, Some(original), Some(compiled))),
    }
}

/// Whether two numbers have the same value, exactly.
fn equal(left: &Number, right: &Number) -> bool {
    let (left, right) = (left.to_string(), right.to_string());
    left == right || decimal(&left).is_some_and(|value| decimal(&right) == Some(value))
}

/// The value of a number as sign, digits without zeros at either end, and the power of ten of the
/// last digit. `None` for an exponent that no machine could count with.
pub(crate) fn decimal(text: &str) -> Option<(bool, String, i128)> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let kept = digits.trim_end_matches('0');
    if kept.is_empty() {
        return Some((false, String::new(), 0));
    }
    let exponent: i128 = exponent.trim_start_matches('+').parse().ok()?;
    let power = exponent
        .checked_sub(i128::try_from(fraction.len()).ok()?)?
        .checked_add(i128::try_from(digits.len() - kept.len()).ok()?)?;
    Some((negative, kept.to_owned(), power))
}

/// A difference as a sentence.
fn told(path: &str, original: Option<&Value>, compiled: Option<&Value>) -> String {
    let shown = |value: Option<&Value>| {
        value.map_or_else(
            || "nothing".to_owned(),
            |value| {
                let text = value.to_string();
                match text.char_indices().nth(120) {
                    Some((end, _)) => format!("{}…", &text[..end]),
                    None => text,
                }
            },
        )
    };
    format!("{path} was {} and is {}", shown(original), shown(compiled))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemas::Schemas;
    use gramc_language_tests::rng::Rng;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).expect("the test's JSON is JSON")
    }

    fn same(left: &str, right: &str) {
        let (left, right) = (read(left), read(right));
        assert_eq!(difference(&left, &right), None);
        assert_eq!(difference(&right, &left), None);
        assert_eq!(difference(&left, &left), None);
    }

    /// That two schemas differ, both ways, and at which path.
    fn differ(left: &str, right: &str, path: &str) {
        let (left, right) = (read(left), read(right));
        for found in [difference(&left, &right), difference(&right, &left)] {
            let found = found.unwrap_or_else(|| panic!("{left} and {right} are taken for equal"));
            assert!(found.starts_with(&format!("{path} was ")), "{found} is not at {path}");
        }
    }

    #[test]
    fn what_means_nothing_may_differ() {
        same(r#"{"type":"object","title":"A"}"#, r#"{"title":"A","type":"object"}"#);
        same(r#"{"required":["a","b"]}"#, r#"{"required":["b","a"]}"#);
        same(r#"{"required":[],"properties":{}}"#, "{}");
        same(r#"{"$schema":"https://json-schema.org/draft/2020-12/schema"}"#, "{}");
        same(r#"{"$schema":"a"}"#, r#"{"$schema":"b"}"#);
        same(
            r#"{"properties":{"a":{"type":"object","properties":{}},"b":{}}}"#,
            r#"{"properties":{"b":{},"a":{"required":[],"type":"object"}}}"#,
        );
    }

    #[test]
    fn what_means_something_may_not() {
        differ(r#"{"type":"object"}"#, "{}", "$.type");
        differ(r#"{"required":["a"]}"#, "{}", "$.required");
        differ(r#"{"required":["a"]}"#, r#"{"required":["a","b"]}"#, "$.required");
        differ(r#"{"required":["a","a"]}"#, r#"{"required":["a"]}"#, "$.required");
        differ(r#"{"properties":{"a":{}}}"#, "{}", "$.properties");
        differ(r#"{"properties":{"a":{}}}"#, r#"{"properties":{}}"#, "$.properties.a");
        differ(r#"{"properties":{"a b":{}}}"#, r#"{"properties":{}}"#, "$.properties[\"a b\"]");
        differ(
            r#"{"items":{"$schema":"a","type":"null"}}"#,
            r#"{"items":{"type":"null"}}"#,
            "$.items.$schema",
        );
        differ(r#"{"type":["a","null"]}"#, r#"{"type":["null","a"]}"#, "$.type[0]");
        differ(r#"{"enum":[1,2]}"#, r#"{"enum":[2,1]}"#, "$.enum[0]");
        differ(r#"{"anyOf":[{},{"title":"A"}]}"#, r#"{"anyOf":[{},{}]}"#, "$.anyOf[1].title");
        differ(r#"{"anyOf":[{}],"oneOf":[{}]}"#, r#"{"oneOf":[{}]}"#, "$.anyOf");
        differ(r#"{"anyOf":[{}]}"#, r#"{"anyOf":[{},{}]}"#, "$.anyOf");
        differ(
            r#"{"additionalProperties":{}}"#,
            r#"{"additionalProperties":true}"#,
            "$.additionalProperties",
        );
        differ(r#"{"additionalProperties":true}"#, "{}", "$.additionalProperties");
        differ(r#"{"default":null}"#, "{}", "$.default");
        differ(r#"{"$defs":{"A":{}}}"#, r#"{"$defs":{}}"#, "$.$defs.A");
        differ(r#"{"$defs":{}}"#, "{}", "$.$defs");
        differ(r#"{"description":"a"}"#, r#"{"description":"a "}"#, "$.description");
        differ("true", "false", "$");
        differ("true", "{}", "$");
    }

    #[test]
    fn schemas_are_told_from_data() {
        // Properties, definitions and patterns may have the names of keywords.
        for place in ["properties", "$defs", "patternProperties", "dependentSchemas"] {
            differ(
                &format!(r#"{{"{place}":{{"required":{{}}}}}}"#),
                &format!(r#"{{"{place}":{{}}}}"#),
                &format!("$.{place}.required"),
            );
            same(
                &format!(r#"{{"{place}":{{"properties":{{"required":[]}}}}}}"#),
                &format!(r#"{{"{place}":{{"properties":{{}}}}}}"#),
            );
        }
        for place in ["default", "const", "example", "x-anything"] {
            let start = member(ROOT, place);
            differ(
                &format!(r#"{{"{place}":{{"required":[]}}}}"#),
                &format!(r#"{{"{place}":{{}}}}"#),
                &format!("{start}.required"),
            );
            differ(
                &format!(r#"{{"{place}":{{"required":["a","b"]}}}}"#),
                &format!(r#"{{"{place}":{{"required":["b","a"]}}}}"#),
                &format!("{start}.required[0]"),
            );
            same(
                &format!(r#"{{"{place}":{{"a":1,"b":[2.0]}}}}"#),
                &format!(r#"{{"{place}":{{"b":[2],"a":1}}}}"#),
            );
        }
        differ(r#"{"enum":[{"properties":{}}]}"#, r#"{"enum":[{}]}"#, "$.enum[0].properties");
        for place in SCHEMAS {
            same(&format!(r#"{{"{place}":{{"required":[]}}}}"#), &format!(r#"{{"{place}":{{}}}}"#));
        }
        for place in LISTS {
            same(
                &format!(r#"{{"{place}":[{{"required":[]}}]}}"#),
                &format!(r#"{{"{place}":[{{}}]}}"#),
            );
        }
    }

    #[test]
    fn numbers_are_equal_by_value() {
        let pairs = [
            ("1", "1.0"),
            ("1.50", "15e-1"),
            ("1e-7", "0.0000001"),
            ("-0.0", "0"),
            ("0e99999999999999999999999999999999999999999999", "0"),
            ("1E+400", "10e399"),
            ("1200", "12e2"),
        ];
        for (left, right) in pairs {
            same(&format!(r#"{{"maximum":{left}}}"#), &format!(r#"{{"maximum":{right}}}"#));
        }
        let pairs = [
            ("9007199254740993", "9007199254740992"),
            ("0.1", "0.10000000000000001"),
            ("1", "-1"),
            ("1e400", "1e401"),
            ("10", "1"),
            ("100", "1e3"),
            ("1", "\"1\""),
            ("1e99999999999999999999999999999999999999999999", "1e9"),
        ];
        for (left, right) in pairs {
            differ(
                &format!(r#"{{"maximum":{left}}}"#),
                &format!(r#"{{"maximum":{right}}}"#),
                "$.maximum",
            );
        }
    }

    #[test]
    fn what_is_too_deep_is_said_and_not_walked() {
        let mut deep = Value::Null;
        for _ in 0..2_000 {
            deep = Value::Array(vec![deep]);
        }
        let mut outer = Map::new();
        outer.insert("default".to_owned(), deep);
        let outer = Value::Object(outer);
        let found = difference(&outer, &outer).expect("the depth is reported");
        assert!(found.ends_with("is nested too deep to compare"), "{found}");
    }

    #[test]
    fn tools_are_compared_whole() {
        let tool = read(
            r#"{"name":"a","description":"b","title":null,"inputSchema":{"$schema":"x",
                "type":"object","properties":{"b":{},"a":{}},"required":["a","b"]},
                "annotations":{"readOnlyHint":true,"x":1.0},"_meta":{"required":[]}}"#,
        );
        let good = read(
            r#"{"name":"a","description":"b","annotations":{"x":1,"readOnlyHint":true},
                "inputSchema":{"type":"object","properties":{"a":{},"b":{}},
                "required":["b","a"]},"_meta":{"required":[]}}"#,
        );
        assert_eq!(tool_difference(&tool, &good), None);
        let changed = |path: &[&str], value: Option<&str>| {
            let mut tool = good.clone();
            let (last, before) = path.split_last().expect("a path has a last part");
            let mut place = &mut tool;
            for key in before {
                place = &mut place[*key];
            }
            let members = place.as_object_mut().expect("an object");
            match value {
                Some(value) => members.insert((*last).to_owned(), read(value)),
                None => members.shift_remove(*last),
            };
            tool_difference(&good, &tool).unwrap_or_else(|| panic!("{path:?} is not seen"))
        };
        assert!(changed(&["name"], Some("\"b\"")).starts_with("$.name was"));
        assert!(changed(&["description"], None).starts_with("$.description was"));
        assert!(changed(&["title"], Some("\"T\"")).starts_with("$.title was nothing"));
        assert!(changed(&["annotations", "x"], None).starts_with("$.annotations.x was 1"));
        assert!(changed(&["_meta", "required"], None).starts_with("$._meta.required was []"));
        assert!(changed(&["inputSchema", "type"], None).starts_with("$.inputSchema.type was"));
        assert!(
            changed(&["outputSchema"], Some("{}")).starts_with("$.outputSchema was nothing"),
            "an output schema that was added is seen"
        );
        let none = read(r#"{"name":"a"}"#);
        let empty = read(r#"{"name":"a","inputSchema":{"type":"object","properties":{}}}"#);
        assert_eq!(tool_difference(&none, &empty), None);
        assert!(tool_difference(&read("1"), &good).is_some());
    }

    /// The values of a JSON tree that hold no others, each with its path and its pointer.
    fn leaves(value: &Value, path: &str, pointer: &str, found: &mut Vec<(String, String)>) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                for (at, value) in items.iter().enumerate() {
                    leaves(value, &item(path, at), &format!("{pointer}/{at}"), found);
                }
            }
            Value::Object(members) if !members.is_empty() => {
                for (key, value) in members {
                    let escaped = key.replace('~', "~0").replace('/', "~1");
                    leaves(value, &member(path, key), &format!("{pointer}/{escaped}"), found);
                }
            }
            _ => found.push((path.to_owned(), pointer.to_owned())),
        }
    }

    /// The same JSON with the keys of all objects in the opposite order.
    fn turned(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(turned).collect(),
            Value::Object(members) => {
                members.iter().rev().map(|(key, value)| (key.clone(), turned(value))).collect()
            }
            other => other.clone(),
        }
    }

    #[test]
    fn any_change_of_a_random_schema_is_found_where_it_was_made() {
        for case in 0..5_000 {
            let mut rng = Rng::for_case(3, case);
            let original = Schemas::new(&mut rng).wild(true).schema();
            assert_eq!(difference(&original, &turned(&original)), None, "case {case}");
            let mut places = Vec::new();
            leaves(&original, ROOT, "", &mut places);
            let (path, pointer) = places.swap_remove(rng.below(places.len()));
            if pointer == "/$schema" {
                continue;
            }
            let mut compiled = turned(&original);
            *compiled.pointer_mut(&pointer).expect("the place is there") = Value::from("changed");
            let found = difference(&original, &compiled).expect("the change is seen");
            // Names in `required` have no order, and so no place of their own.
            let list = path.rfind('[').map_or("", |end| &path[..end]);
            let right = found.starts_with(&format!("{path} was "))
                || list.ends_with(".required") && found.starts_with(&format!("{list} was "));
            assert!(right, "case {case}: {found} is not {path}");
        }
    }
}
