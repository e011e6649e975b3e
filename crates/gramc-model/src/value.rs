//! Values of attributes as JSON.

use gramc_json_schema::text::MAX_INNER_DEPTH;
use gramc_syntax::{Node, NodeKind as N, Span};
use serde_json::{Map, Number, Value};

pub use gramc_json_schema::numbers::{compare, is_integer, is_multiple};
pub use gramc_json_schema::values::{canonical, same};

/// Why a node is no JSON value.
#[derive(Debug)]
pub struct ValueError {
    /// The text that is not a JSON value.
    pub span: Span,
    /// The reason.
    pub message: String,
}

impl ValueError {
    fn new(node: Node<'_>, message: impl Into<String>) -> Self {
        Self { span: node.span(), message: message.into() }
    }
}

/// The JSON value of a gram value. Numbers keep their exact decimal text.
pub fn json(node: Node<'_>) -> Result<Value, ValueError> {
    json_at(node, 0)
}

fn json_at(node: Node<'_>, depth: usize) -> Result<Value, ValueError> {
    if depth > MAX_INNER_DEPTH {
        return Err(ValueError::new(node, format!("values nest more than {MAX_INNER_DEPTH} deep")));
    }
    Ok(match node.kind() {
        N::Symbol if node.text() == "null" => Value::Null,
        N::Boolean => Value::Bool(node.text() == "true"),
        N::Integer | N::Decimal | N::Hexadecimal | N::Octal => Value::Number(number(node)?),
        N::TaggedString if node.tag() == Some("json") => {
            let text = node.content();
            if let Some(fault) = gramc_json_schema::text::fault(&text) {
                return Err(ValueError::new(node, format!("invalid JSON: {fault}")));
            }
            serde_json::from_str(&text)
                .map_err(|error| ValueError::new(node, format!("invalid JSON: {error}")))?
        }
        N::Array => {
            let items = node.children().map(|item| json_at(item, depth + 1));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        N::Map => {
            let mut map = Map::new();
            for entry in node.entries() {
                let key = entry.key.content().into_owned();
                if map.insert(key, json_at(entry.value, depth + 1)?).is_some() {
                    return Err(ValueError::new(entry.key, "duplicate key"));
                }
            }
            Value::Object(map)
        }
        N::Range => return Err(ValueError::new(node, "a range is not a JSON value")),
        N::Error => return Err(ValueError::new(node, "invalid value")),
        _ => Value::String(node.content().into_owned()),
    })
}

/// A number of any notation, with its exact decimal text.
pub fn number(node: Node<'_>) -> Result<Number, ValueError> {
    let text = node.text();
    let digits = |digits: &str, radix| {
        u128::from_str_radix(digits, radix)
            .map(|value| value.to_string())
            .map_err(|_| ValueError::new(node, "this number has more than 128 bits"))
    };
    let text = match node.kind() {
        N::Hexadecimal => digits(text.get(2..).unwrap_or_default(), 16)?,
        N::Octal => digits(text, 8)?,
        N::Integer | N::Decimal => text.to_owned(),
        _ => return Err(ValueError::new(node, "expected a number")),
    };
    // The digits of an integer or decimal are a JSON number by the grammar.
    Ok(Number::from_string_unchecked(text))
}
