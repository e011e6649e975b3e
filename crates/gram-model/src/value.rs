//! Values of attributes as JSON.

use gram_syntax::{Node, NodeKind as N, Span};
use serde_json::{Map, Number, Value};

/// How deep values may nest: what `serde_json` reads back.
const MAX_DEPTH: u32 = 120;

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

/// The JSON value that a value of gram stands for. Numbers keep their exact decimal text.
pub fn json(node: Node<'_>) -> Result<Value, ValueError> {
    json_at(node, 0)
}

fn json_at(node: Node<'_>, depth: u32) -> Result<Value, ValueError> {
    if depth > MAX_DEPTH {
        return Err(ValueError::new(node, format!("values nest more than {MAX_DEPTH} deep")));
    }
    Ok(match node.kind() {
        N::Symbol if node.text() == "null" => Value::Null,
        N::Boolean => Value::Bool(node.text() == "true"),
        N::Integer | N::Decimal | N::Hexadecimal | N::Octal => Value::Number(number(node)?),
        N::TaggedString if node.tag() == Some("json") => {
            let text = node.content();
            serde_json::from_str(&text)
                .map_err(|error| ValueError::new(node, format!("this is no JSON: {error}")))?
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
                    return Err(ValueError::new(entry.key, "this key stands here twice"));
                }
            }
            Value::Object(map)
        }
        N::Range => return Err(ValueError::new(node, "a range is no JSON value")),
        N::Error => return Err(ValueError::new(node, "this is no value")),
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
        _ => return Err(ValueError::new(node, "a number belongs here")),
    };
    // The digits of an integer or decimal are a JSON number by the grammar.
    Ok(Number::from_string_unchecked(text))
}

/// Whether a number is whole: `5`, `5.0`, `50e-1`.
pub fn is_integer(number: &Number) -> bool {
    let text = number.as_str();
    if !text.contains(['.', 'e', 'E']) {
        return true;
    }
    decimal(text).is_some_and(|(_, exponent)| exponent >= 0)
}

/// The significant digits of a decimal number, with its sign, and the exponent of their last one.
/// `None` for exponents beyond reason.
fn decimal(text: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_end_matches('0');
    if trimmed.is_empty() || trimmed == "-" {
        return Some(("0".to_owned(), 0));
    }
    let dropped = i64::try_from(digits.len() - trimmed.len()).ok()?;
    let fraction = i64::try_from(fraction.len()).ok()?;
    let sign = if trimmed.starts_with('-') { "-" } else { "" };
    let digits = trimmed.trim_start_matches(['-', '0']);
    Some((format!("{sign}{digits}"), exponent.checked_sub(fraction)?.checked_add(dropped)?))
}

/// Whether two numbers are the same number, however they are written.
pub fn same_number(a: &Number, b: &Number) -> bool {
    a == b || decimal(a.as_str()) == decimal(b.as_str())
}

/// The order of two numbers. Exact for those that a double holds.
pub fn compare(a: &Number, b: &Number) -> std::cmp::Ordering {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a.cmp(&b);
    }
    if let (Some(a), Some(b)) = (a.as_i128(), b.as_i128()) {
        return a.cmp(&b);
    }
    let float = |number: &Number| number.as_str().parse::<f64>().unwrap_or(f64::NAN);
    float(a).partial_cmp(&float(b)).unwrap_or(std::cmp::Ordering::Equal)
}

/// Whether a number is a whole multiple of a step. What is beyond exact reckoning counts as one.
pub fn is_multiple(number: &Number, step: &Number) -> bool {
    let parts = |number: &Number| {
        let (digits, exponent) = decimal(number.as_str())?;
        Some((digits.parse::<i128>().ok()?, exponent))
    };
    let (Some((number, low)), Some((step, other))) = (parts(number), parts(step)) else {
        return true;
    };
    // Both in units of the smaller of their last digits.
    let unit = low.min(other);
    let scaled = |digits: i128, exponent: i64| {
        let zeros = u32::try_from(exponent - unit).ok()?;
        digits.checked_mul(10_i128.checked_pow(zeros)?)
    };
    match (scaled(number, low), scaled(step, other)) {
        (Some(number), Some(step)) if step != 0 => number % step == 0,
        _ => true,
    }
}

/// Whether two values are equal as JSON: `1` and `1.0` are.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// A text that two values share exactly when they are equal as JSON.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => match decimal(number.as_str()) {
            Some((digits, exponent)) => format!("{digits}e{exponent}"),
            None => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| format!("{key:?}:{}", canonical(value));
            let mut entries: Vec<_> = map.iter().map(entry).collect();
            entries.sort_unstable();
            format!("{{{}}}", entries.join(","))
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::from_string_unchecked(text.to_owned())
    }

    #[test]
    fn numbers_are_compared_by_value() {
        assert!(same_number(&number("1.50"), &number("15e-1")));
        assert!(same_number(&number("0"), &number("-0.0")));
        assert!(!same_number(&number("9007199254740993"), &number("9007199254740992")));
        assert!(is_integer(&number("5.0")));
        assert!(is_integer(&number("1e3")));
        assert!(!is_integer(&number("5.5")));
        assert!(is_multiple(&number("0.3"), &number("0.1")));
        assert!(is_multiple(&number("1e3"), &number("250")));
        assert!(!is_multiple(&number("7"), &number("5")));
        assert_eq!(compare(&number("2"), &number("10")), std::cmp::Ordering::Less);
        assert_eq!(compare(&number("-1.5"), &number("-2")), std::cmp::Ordering::Greater);
    }
}
