//! The rules of a target for the schemas inside a tool.

use serde_json::{Map, Value};

use super::dialect::{Circles, Dialect, Wrap, dotted};
use super::walk::{self, Link, Node, is_kind, resolve};
use super::{Violations, gemini, meta, patterns, texts};
use crate::same::member;

/// Checks one schema of a tool and all schemas inside it.
pub(super) fn check(
    dialect: &Dialect,
    tool: &str,
    (path, root): (&str, &Value),
    violations: &mut Violations,
) {
    let openapi = dialect.wrap == Wrap::Gemini("parameters");
    if !openapi {
        for (path, wrong) in meta::problems(root, path) {
            violations.add(tool, &path, &wrong);
        }
    }
    check_root(dialect, tool, path, root, violations);
    for node in walk::nodes(root, path) {
        if openapi {
            gemini::check(tool, &node, violations);
        }
        if dialect.closed_and_typed && node.link != Link::Root && !typed(node.schema) {
            let told = "has no type";
            // A false `additionalProperties` is what these targets ask for.
            let closing = node.link == Link::Keyword("additionalProperties");
            if !(closing && node.schema == &Value::Bool(false)) {
                violations.add(tool, &node.path, told);
            }
        }
        if dialect.only_objects
            && node.schema.is_boolean()
            && node.link != Link::Keyword("additionalProperties")
        {
            violations.add(tool, &node.path, "is true or false");
        }
        if let Some(members) = node.schema.as_object() {
            engines(dialect, tool, &node, members, violations);
            keywords(dialect, tool, &node, members, violations);
            objects(dialect, tool, &node, members, violations);
            references(dialect, tool, root, &node, violations);
            texts::check(dialect, tool, &node, members, violations);
        }
    }
    // Schemas alone come out as they were declared.
    if dialect.wrap != Wrap::Schemas {
        for path in walk::endless(root, path) {
            violations.add(tool, &path, "leads back to itself without an end");
        }
    }
    let around = match dialect.circles {
        Circles::Allowed => Vec::new(),
        Circles::ThroughOptional => walk::circles(root, path, true),
        Circles::Forbidden => walk::circles(root, path, false),
    };
    for path in around {
        violations.add(tool, &path, "refers back to itself");
    }
}

fn check_root(
    dialect: &Dialect,
    tool: &str,
    path: &str,
    root: &Value,
    violations: &mut Violations,
) {
    if dialect.root_object && root.get("type").is_none_or(|kind| kind != "object") {
        violations.add(tool, path, "is not of type `object` at the root");
    }
    for keyword in dialect.root_without {
        if root.get(keyword).is_some() {
            violations.add(tool, &member(path, keyword), "must not stand at the root");
        }
    }
    if let (Some(rule), Some(Value::Object(properties))) =
        (dialect.root_keys, root.get("properties"))
    {
        for key in properties.keys().filter(|key| !rule.allow(key)) {
            let at = member(&member(path, "properties"), key);
            violations.add(tool, &at, "has a key that is not allowed at the root");
        }
    }
}

/// Which keywords a schema uses, and with which values.
fn keywords(
    dialect: &Dialect,
    tool: &str,
    node: &Node<'_>,
    members: &Map<String, Value>,
    violations: &mut Violations,
) {
    for key in members.keys() {
        let key = key.as_str();
        let at_root = node.link == Link::Root && dialect.only_at_root.contains(&key);
        let known = dialect.only.is_none_or(|only| only.contains(&key) || at_root);
        if !known || dialect.without.contains(&key) {
            violations.add(tool, &member(&node.path, key), "is a keyword that is not allowed");
        }
    }
    if let (Some(allowed), Some(Value::String(format))) = (dialect.formats, members.get("format"))
        && !allowed.contains(&format.as_str())
    {
        let told = format!("`{format}` is not among the formats");
        violations.add(tool, &member(&node.path, "format"), &told);
    }
    if let Some(Value::String(pattern)) = members.get("pattern")
        && let Some(wrong) = patterns::wrong(dialect.patterns, pattern)
    {
        violations.add(tool, &member(&node.path, "pattern"), wrong);
    }
    if dialect.items && is_kind(node.schema, "array") && !members.contains_key("items") {
        violations.add(tool, &node.path, "is an array without `items`");
    }
    if let (Some(most), Some(Value::Number(least))) = (dialect.min_items, members.get("minItems"))
        && least.as_f64().is_some_and(|least| {
            #[expect(clippy::cast_precision_loss, reason = "the rule's numbers are small")]
            let most = most as f64;
            least > most
        })
    {
        violations.add(tool, &member(&node.path, "minItems"), &format!("is above {most}"));
    }
    if !dialect.closable && members.get("additionalProperties") == Some(&Value::Bool(false)) {
        violations.add(tool, &member(&node.path, "additionalProperties"), "must not be false");
    }
}

/// What the engines that make grammars refuse.
fn engines(
    dialect: &Dialect,
    tool: &str,
    node: &Node<'_>,
    members: &Map<String, Value>,
    violations: &mut Violations,
) {
    let number = |key: &str| members.get(key).and_then(Value::as_f64);
    if dialect.only_objects || dialect.xgrammar {
        if members.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            violations.add(tool, &member(&node.path, "enum"), "is empty");
        }
        if members.contains_key("anyOf") && members.keys().any(|key| !ANNOTATIONS.contains(&&**key))
        {
            violations.add(tool, &node.path, "has other keywords next to `anyOf`");
        }
        let reference = members.get("$ref").and_then(Value::as_str);
        let name = reference.map(|to| to.strip_prefix("#/$defs/").unwrap_or(to));
        let plain = |c: char| dotted(c) || (c == '#' && !dialect.plain_definitions);
        if name.is_some_and(|name| !name.chars().all(plain)) {
            violations.add(tool, &member(&node.path, "$ref"), "has a name that needs escapes");
        }
    }
    for (key, most) in [("minLength", dialect.min_length), ("maxItems", dialect.max_items)] {
        if let (Some(most), Some(count)) = (most, members.get(key))
            && count.as_u64().is_none_or(|count| count > most)
        {
            violations.add(tool, &member(&node.path, key), &format!("is above {most}"));
        }
    }
    if !dialect.whole {
        return;
    }
    let lengths = ["minLength", "maxLength"].iter().any(|key| members.contains_key(*key));
    let shaped = ["pattern", "format"].iter().any(|key| members.contains_key(*key));
    if dialect.xgrammar && lengths && shaped {
        violations.add(tool, &node.path, "has a length with a pattern or a format");
    }
    let bounds = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];
    for key in bounds.into_iter().filter(|_| members.get("type").is_some_and(|it| it == "integer"))
    {
        if members.get(key).is_some_and(|bound| bound.as_i64().is_none()) {
            violations.add(tool, &member(&node.path, key), "is not a whole number of 64 bits");
        }
    }
    let low = [number("minimum"), number("exclusiveMinimum")];
    let high = [number("maximum"), number("exclusiveMaximum")];
    let crossed = |low: f64| high.iter().flatten().any(|high| *high < low);
    if low.into_iter().flatten().any(crossed) {
        violations.add(tool, &node.path, "has bounds that contradict each other");
    }
}

/// The keywords that a union may have next to it.
const ANNOTATIONS: [&str; 7] =
    ["anyOf", "title", "description", "default", "examples", "deprecated", "$defs"];

/// Keys of properties, closed objects, `required`, depth.
fn objects(
    dialect: &Dialect,
    tool: &str,
    node: &Node<'_>,
    members: &Map<String, Value>,
    violations: &mut Violations,
) {
    let none = Map::new();
    let properties = members.get("properties").and_then(Value::as_object).unwrap_or(&none);
    if let Some(rule) = dialect.keys {
        for key in properties.keys().filter(|key| !rule.allow(key)) {
            let at = member(&member(&node.path, "properties"), key);
            violations.add(tool, &at, "has a key that is not allowed");
        }
    }
    if !is_kind(node.schema, "object") {
        return;
    }
    if dialect.closed_and_typed {
        if members.get("additionalProperties") != Some(&Value::Bool(false)) {
            violations.add(tool, &node.path, "is an object without `additionalProperties: false`");
        }
        if properties.is_empty() && node.link != Link::Root {
            violations.add(tool, &node.path, "is an object without properties");
        }
    }
    if dialect.all_required {
        for key in properties.keys().filter(|key| !walk::requires(members, key)) {
            let at = member(&member(&node.path, "properties"), key);
            violations.add(tool, &at, "is not in `required`");
        }
        let required = members.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !properties.contains_key(name) {
                let told = format!("names `{name}`, which is no property");
                violations.add(tool, &member(&node.path, "required"), &told);
            }
        }
    }
    if dialect.depth.is_some_and(|most| node.objects > most) {
        violations.add(tool, &node.path, "is nested too deep");
    }
}

/// Where references lead, and their sibling keywords.
fn references(
    dialect: &Dialect,
    tool: &str,
    root: &Value,
    node: &Node<'_>,
    violations: &mut Violations,
) {
    let Some(Value::String(reference)) = node.schema.get("$ref") else { return };
    let at = member(&node.path, "$ref");
    let outward = dialect.outward && !reference.starts_with('#');
    if !outward && resolve(root, reference).is_none() {
        violations.add(tool, &at, &format!("`{reference}` leads nowhere"));
    }
    if dialect.plain_references {
        let name = reference.strip_prefix("#/$defs/");
        if reference != "#" && name.is_none_or(|name| name.contains('/')) {
            violations.add(tool, &at, "is neither `#` nor `#/$defs/…`");
        }
        if node.schema.as_object().is_some_and(|members| members.len() > 1) {
            violations.add(tool, &at, "has keywords next to it");
        }
    }
}

/// Whether a schema states the type of a value: by itself, by a reference, or in each member of
/// its union.
fn typed(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return false };
    if members.contains_key("type") || members.contains_key("$ref") {
        return true;
    }
    // The members are checked for themselves.
    members.get("anyOf").and_then(Value::as_array).is_some_and(|members| !members.is_empty())
}
