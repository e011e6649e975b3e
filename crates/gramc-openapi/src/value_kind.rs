//! How values become text in requests.

use gramc_json_schema::keywords::name as k;
use gramc_model::{RequestLocation, ValueStyle};
use serde_json::Value;

use crate::schema::Lowerer;

/// What a value can be, as far as its text in a request depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Scalar,
    List,
    /// An object, or any value.
    Other,
}

pub(crate) fn kind_of(lowerer: &Lowerer<'_>, schema: &Value) -> ValueKind {
    let schema = lowerer.resolved(schema);
    if let Some(members) =
        schema.get(k::ANY_OF).or_else(|| schema.get(k::ONE_OF)).and_then(Value::as_array)
    {
        let kinds: Vec<ValueKind> = members
            .iter()
            .map(|member| match lowerer.resolved(member).get(k::TYPE) {
                Some(Value::String(name)) => kind_of_name(name),
                _ => ValueKind::Other,
            })
            .collect();
        let is_simple = kinds.iter().all(|kind| *kind == ValueKind::Scalar);
        let has_object = kinds.contains(&ValueKind::Other);
        return match (is_simple, has_object) {
            (true, _) => ValueKind::Scalar,
            (_, true) => ValueKind::Other,
            _ => ValueKind::List,
        };
    }
    match schema.get(k::TYPE) {
        Some(Value::String(name)) => kind_of_name(name),
        Some(Value::Array(names))
            if names.len() == 2 && names.get(1).is_some_and(|it| it == "null") =>
        {
            names.first().and_then(Value::as_str).map_or(ValueKind::Other, kind_of_name)
        }
        Some(Value::Array(_)) => ValueKind::Scalar,
        _ if schema.get(k::ENUM).is_some() || schema.get(k::CONST).is_some() => ValueKind::Scalar,
        _ => ValueKind::Other,
    }
}

fn kind_of_name(name: &str) -> ValueKind {
    match name {
        "array" => ValueKind::List,
        "object" => ValueKind::Other,
        _ => ValueKind::Scalar,
    }
}

/// The style of a parameter, unless it is the usual one of its place or makes no difference.
pub(crate) fn style(
    location: RequestLocation,
    kind: ValueKind,
    style: ValueStyle,
    is_exploded: bool,
) -> Option<(ValueStyle, bool)> {
    let usual = match location {
        RequestLocation::Header => (ValueStyle::Simple, false),
        _ => (ValueStyle::Form, true),
    };
    match kind {
        ValueKind::Scalar if style != ValueStyle::Json => None,
        // A list repeats its name; an object is JSON unless a style says otherwise.
        ValueKind::List if (style, is_exploded) == usual => None,
        ValueKind::Other if location == RequestLocation::Query && style == ValueStyle::Json => None,
        _ => Some((style, is_exploded)),
    }
}
