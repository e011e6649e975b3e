//! Values and numbers that documents write in another type than they mean.

use gramc_syntax::hidden_characters;
use serde_json::{Number, Value};

use super::types::JsonType;

/// A value as a value of a type. `None` if it is none.
pub(super) fn coerced(value: &Value, ty: Option<JsonType>) -> Option<Value> {
    let Some(ty) = ty else { return Some(value.clone()) };
    match (ty, value) {
        (JsonType::String, Value::String(_))
        | (JsonType::Boolean, Value::Bool(_))
        | (JsonType::Number, Value::Number(_))
        | (JsonType::Array, Value::Array(_))
        | (JsonType::Object, Value::Object(_)) => Some(value.clone()),
        (JsonType::String, Value::Number(_) | Value::Bool(_)) => Some(value.to_string().into()),
        (JsonType::Integer, Value::Number(number)) => {
            gramc_model::value::is_integer(number).then(|| value.clone())
        }
        (JsonType::Boolean, Value::String(text)) => match text.as_str() {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        (JsonType::Integer | JsonType::Number, Value::String(text)) => {
            let number = number_of(text)?;
            coerced(&Value::Number(number), Some(ty))
        }
        _ => None,
    }
}

/// The number of a keyword.
pub(super) fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => number_of(text),
        _ => None,
    }
}

fn number_of(text: &str) -> Option<Number> {
    serde_json::from_str(text.trim()).ok()
}

/// The count of a keyword.
pub(super) fn count(value: &Value) -> Option<u64> {
    let number = number(value)?;
    if let Some(count) = number.as_u64() {
        return Some(count);
    }
    // `1.0` and `1e3` are whole, too.
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    format!("{float:.0}").parse().ok()
}

/// A text for people, without characters that are not visible.
pub(crate) fn clean(text: &str) -> String {
    let text = text.trim().replace("\r\n", "\n").replace('\r', "\n");
    let hidden: Vec<usize> = hidden_characters(&text).map(|(at, _)| at).collect();
    if hidden.is_empty() {
        return text;
    }
    let mut hidden = hidden.into_iter().peekable();
    let visible = text.char_indices().filter(|(at, _)| hidden.next_if_eq(at).is_none());
    visible.map(|(_, c)| c).collect::<String>().trim().to_owned()
}
