//! Rules about the bounds of numbers, lengths and counts.

use serde_json::{Map, Value};

use super::target::Rule;
use super::walk::{Node, is_kind};
use crate::same::member;

const NUMBERS: [&str; 4] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

/// Applies a rule to the bounds of one schema; `report` receives a path and a reason.
pub(super) fn check(
    rule: Rule,
    node: &Node<'_>,
    members: &Map<String, Value>,
    report: &mut dyn FnMut(String, &str),
) {
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| members.contains_key(*keyword));
    match rule {
        Rule::Most(keyword, most) => {
            #[expect(clippy::cast_precision_loss, reason = "the bounds of the rules are small")]
            let exceeds = |count: &Value| count.as_f64().is_some_and(|count| count > most as f64);
            if members.get(keyword).is_some_and(exceeds) {
                report(member(&node.path, keyword), &format!("is above {most}"));
            }
        }
        Rule::WholeBounds if members.get("type").is_some_and(|kind| kind == "integer") => {
            for keyword in NUMBERS {
                if members.get(keyword).is_some_and(|bound| bound.as_i64().is_none()) {
                    report(member(&node.path, keyword), "is not a whole number of 64 bits");
                }
            }
        }
        Rule::LengthAlone
            if is_kind(node.schema, "string")
                && has(&["minLength", "maxLength"])
                && has(&["pattern", "format"]) =>
        {
            report(node.path.clone(), "has a length with a pattern or a format");
        }
        Rule::Satisfiable if !is_satisfiable(node.schema, members) => {
            report(node.path.clone(), "has bounds that contradict each other");
        }
        _ => {}
    }
}

/// Whether the bounds leave a value of each type. Without a type, xgrammar reads them only for objects.
fn is_satisfiable(schema: &Value, members: &Map<String, Value>) -> bool {
    let number = |keyword: &str| members.get(keyword).and_then(Value::as_f64);
    let difference = |low: &str, high: &str| Some(number(high)? - number(low)?);
    let is_ordered = |low, high| difference(low, high).is_none_or(|gap| gap >= 0.0);
    let is_apart = |low, high| difference(low, high).is_none_or(|gap| gap > 0.0);
    let is = |kind: &str| is_kind(schema, kind);
    if is("integer") || is("number") {
        // Between exclusive bounds of an integer is at least one whole number.
        let gap = difference("exclusiveMinimum", "exclusiveMaximum");
        return is_ordered("minimum", "maximum")
            && is_apart("minimum", "exclusiveMaximum")
            && is_apart("exclusiveMinimum", "maximum")
            && gap.is_none_or(|gap| gap > if is("integer") { 1.0 } else { 0.0 });
    }
    let count = |keyword: &str| match members.get(keyword) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(named)) => named.len(),
        _ => 0,
    };
    // Objects without `additionalProperties` are closed (`strict_mode`).
    let closed = matches!(members.get("additionalProperties"), None | Some(Value::Bool(false)));
    let no_more_items = members.get("items") == Some(&Value::Bool(false));
    let prefix = count("prefixItems");
    #[expect(clippy::cast_precision_loss, reason = "schemas have few properties")]
    let is_at_most =
        |keyword: &str, most: usize| number(keyword).is_none_or(|number| number <= most as f64);
    #[expect(clippy::cast_precision_loss, reason = "schemas have few properties")]
    let is_at_least =
        |keyword: &str, least: usize| number(keyword).is_none_or(|number| number >= least as f64);
    let list = is_ordered("minItems", "maxItems")
        && is_at_least("maxItems", prefix)
        && (!no_more_items || is_at_most("minItems", prefix));
    let object = is_ordered("minProperties", "maxProperties")
        && is_at_least("maxProperties", count("required"))
        && (!closed || is_at_most("minProperties", count("properties")));
    (!is("string") || is_ordered("minLength", "maxLength"))
        && (!is("array") || list)
        && (!is("object") || object)
}
