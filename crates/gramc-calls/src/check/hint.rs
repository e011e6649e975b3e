//! Descriptions of shapes in words.

use std::fmt::Write as _;

use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;

use super::shape::{Composition, ListRules, NumberRules, Shape, ShapeId, Shapes, TextRules};

/// The maximum depth of types that are written out.
pub(super) const MAX_LEVELS: u32 = 3;
/// The maximum number of enum members and object fields that are listed.
pub(super) const MAX_NAMED: usize = 10;

/// A description of the expected value.
pub(super) fn describe(shapes: &Shapes, id: ShapeId) -> &str {
    shapes.list[id as usize].words.get_or_init(|| words(shapes, id, 0).into())
}

fn words(shapes: &Shapes, id: ShapeId, depth: u32) -> String {
    let shape = &shapes.list[id as usize];
    if let Some(values) = &shape.values {
        return match &values.list[..] {
            [only] => only.to_string(),
            [] => "absent".to_owned(),
            all => format!("one of {}", list_values(all)),
        };
    }
    match &shape.others {
        Composition::Same(other) => return words(shapes, *other, depth),
        Composition::Any(members) | Composition::One(members) if depth < MAX_LEVELS => {
            let mut all: Vec<_> = members.iter().map(|&id| words(shapes, id, depth + 1)).collect();
            all.dedup();
            return all.join(" or ");
        }
        _ => {}
    }
    if shape.kinds == TypeSet::ALL {
        let any = if shape.is_any() { "any value" } else { "a value that matches the schema" };
        return any.to_owned();
    }
    let mut all = Vec::new();
    let has = |kind: TypeSet| shape.kinds.meets(kind);
    if has(TypeSet::STRING) {
        all.push(format!("a {}", text_words(shape.text.as_deref())));
    }
    if has(TypeSet::FRACTION) {
        all.push(format!("a number{}", range_words(shape.number.as_deref())));
    } else if has(TypeSet::INTEGER) {
        all.push(format!("an integer{}", range_words(shape.number.as_deref())));
    }
    if has(TypeSet::BOOLEAN) {
        all.push("true or false".to_owned());
    }
    if has(TypeSet::ARRAY) {
        all.push(list_words(shapes, shape.list.as_deref(), depth));
    }
    if has(TypeSet::OBJECT) {
        all.push(object_words(shape));
    }
    if has(TypeSet::NULL) {
        all.push("null".to_owned());
    }
    if all.is_empty() { "absent".to_owned() } else { all.join(" or ") }
}

fn list_values(values: &[Value]) -> String {
    let mut named: Vec<_> = values.iter().take(MAX_NAMED).map(Value::to_string).collect();
    if values.len() > MAX_NAMED {
        named.push("…".to_owned());
    }
    named.join(", ")
}

/// `1 to 5 items`, `at least 1 item`, `at most 5 items`
fn sizes(least: u64, most: Option<u64>, noun: &str) -> Option<String> {
    let s = if most.unwrap_or(least) == 1 { "" } else { "s" };
    Some(match (least, most) {
        (0, None) => return None,
        (0, Some(most)) if most > 0 => format!("at most {most} {noun}{s}"),
        (least, None) => format!("at least {least} {noun}{s}"),
        (least, Some(most)) if least == most => format!("{most} {noun}{s}"),
        (least, Some(most)) => format!("{least} to {most} {noun}{s}"),
    })
}

/// ` with 1 to 5 items`
pub(super) fn size_words(least: u64, most: Option<u64>, noun: &str) -> String {
    sizes(least, most, noun).map_or_else(String::new, |sizes| format!(" with {sizes}"))
}

/// `string of 1 to 5 characters`. Writing to a string cannot fail, here and below.
pub(super) fn text_words(rules: Option<&TextRules>) -> String {
    let mut out = "string".to_owned();
    let Some(rules) = rules else { return out };
    if let Some(sizes) = sizes(rules.least, rules.most, "character") {
        let _ = write!(out, " of {sizes}");
    }
    if let Some((format, _)) = &rules.format {
        let _ = write!(out, " in {format} format");
        if let Some(example) = example(format) {
            let _ = write!(out, " (such as {example})");
        }
    }
    if rules.encoding.is_some() {
        out += " in base64";
    }
    if let Some((pattern, _)) = &rules.pattern {
        let _ = write!(out, " that matches {pattern}");
    }
    out
}

fn example(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2026-01-31",
        "time" => "14:30:00Z",
        "date-time" => "2026-01-31T14:30:00Z",
        "duration" => "P3DT4H",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "email" => "ada@example.org",
        "uri" => "https://example.org/a",
        _ => return None,
    })
}

/// ` from 1 to 5`
pub(super) fn range_words(rules: Option<&NumberRules>) -> String {
    let Some(rules) = rules else { return String::new() };
    let text = |bound: &super::shape::NumericBound| bound.number.to_string();
    let mut all = Vec::new();
    match (rules.least.as_ref().map(text), rules.most.as_ref().map(text)) {
        (Some(least), Some(most)) => all.push(format!(" from {least} to {most}")),
        (Some(least), None) => all.push(format!(" of at least {least}")),
        (None, Some(most)) => all.push(format!(" of at most {most}")),
        (None, None) => {}
    }
    all.extend(rules.above.as_ref().map(|above| format!(" greater than {}", above.number)));
    all.extend(rules.below.as_ref().map(|below| format!(" less than {}", below.number)));
    let mut out = all.join(" and");
    if let Some(step) = &rules.step {
        let _ = write!(out, " that is a multiple of {}", step.number);
    }
    out
}

fn list_words(shapes: &Shapes, rules: Option<&ListRules>, depth: u32) -> String {
    let Some(rules) = rules else { return "an array".to_owned() };
    let sizes = size_words(rules.least, rules.most, "item");
    let items = match rules.rest.filter(|_| depth < MAX_LEVELS && rules.first.is_empty()) {
        Some(item) if !shapes.list[item as usize].is_any() => {
            format!(", each {}", words(shapes, item, depth + 1))
        }
        _ => String::new(),
    };
    format!("an array{sizes}{items}")
}

fn object_words(shape: &Shape) -> String {
    let Some(rules) = shape.object.as_deref() else { return "an object".to_owned() };
    let sizes = size_words(rules.least, rules.most, "key");
    if rules.fields.is_empty() {
        return format!("an object{sizes}");
    }
    let mut names: Vec<_> =
        rules.fields.iter().take(MAX_NAMED).map(|field| format!("`{}`", field.name)).collect();
    if rules.fields.len() > MAX_NAMED {
        names.push("…".to_owned());
    }
    let with = if sizes.is_empty() { " with" } else { ", such as" };
    format!("an object{sizes}{with} {}", names.join(", "))
}
