//! Values and numbers that documents write in another type than they mean.

use gramc_json_schema::type_set::TypeSet;
use gramc_syntax::hidden_characters;
use serde_json::{Number, Value};

/// A value as a value of a type. `None` if it is none.
pub(super) fn coerce(value: &Value, ty: Option<TypeSet>) -> Option<Value> {
    let Some(ty) = ty.filter(|ty| !ty.accepts(value)) else { return Some(value.clone()) };
    match value {
        Value::Number(_) | Value::Bool(_) if ty == TypeSet::STRING => {
            Some(value.to_string().into())
        }
        Value::String(text) if ty == TypeSet::BOOLEAN => match text.as_str() {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        Value::String(text) if TypeSet::NUMBER.has(ty) => {
            coerce(&Value::Number(number_of(text)?), Some(ty))
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
