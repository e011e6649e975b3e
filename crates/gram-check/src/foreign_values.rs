//! Values as other languages write them.

use gram_model::attributes::ValueType;
use gram_model::value_check;
use gram_syntax::Applicability::{NeedsLook, Safe};
use gram_syntax::{Fix, Node, NodeKind as N, Span, translate_range};
use serde_json::Value;

use crate::checker::Checker;
use crate::codes;
use crate::foreign_attributes::{program, without_comma};
use crate::named::Named;
use gram_model::Field;

/// What a word of another language is in gram: `null`, `true` or `false`.
pub(crate) fn spelling(word: &str) -> Option<&'static str> {
    match word {
        "None" | "nil" | "undefined" | "NULL" | "Null" | "nullptr" => Some("null"),
        "True" | "TRUE" => Some("true"),
        "False" | "FALSE" => Some("false"),
        _ => None,
    }
}

/// The value that was likely meant where one of another type is expected.
pub(crate) fn likely_value(node: Node<'_>, expected: ValueType) -> Option<String> {
    let (text, content) = (node.text(), node.content());
    let is_text = matches!(node.kind(), N::String | N::Symbol);
    match expected {
        ValueType::Flag => Some(match content.to_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => "true".to_owned(),
            "false" | "no" | "off" | "0" | "none" | "null" => "false".to_owned(),
            _ => return None,
        }),
        ValueType::Range | ValueType::Size => likely_range(node),
        ValueType::List => {
            let scalar = !matches!(node.kind(), N::Map | N::Range | N::Array | N::Error);
            scalar.then(|| format!("[{text}]"))
        }
        ValueType::Names => is_text.then(|| format!("[\"{content}\"]")),
        ValueType::Text if node.kind() == N::Map => {
            let mut entries = node.entries().map(|entry| entry.value);
            let only = entries.next().filter(|value| value.kind() == N::String)?;
            entries.next().is_none().then(|| only.text().to_owned())
        }
        ValueType::Program | ValueType::ProgramOrUrl => {
            (node.kind() == N::String).then(|| program(&content))
        }
        ValueType::Time => likely_time(&content),
        ValueType::Url => is_text.then(|| likely_url(&content)).flatten(),
        ValueType::OneOf(words) => {
            let word = words.iter().find(|word| word.eq_ignore_ascii_case(&content))?;
            Some(format!("\"{word}\""))
        }
        ValueType::Number | ValueType::Step | ValueType::Count(_) => {
            let positive = content.parse::<u64>().is_ok_and(|number| number > 0);
            (positive && node.kind() == N::String).then(|| content.into_owned())
        }
        _ => None,
    }
}

/// A URL without its scheme.
fn likely_url(text: &str) -> Option<String> {
    let (host, _) = text.trim_start_matches('/').split_once('/').unwrap_or((text, ""));
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-:".contains(c);
    if host.is_empty() || text.contains("://") || !host.chars().all(plain) {
        return None;
    }
    let local = host.starts_with("localhost") || host.starts_with("127.");
    let scheme = if local { "http" } else { "https" };
    Some(format!("\"{scheme}://{}\"", text.trim_start_matches('/')))
}

/// A range that is written as a list, a map, a text or a number.
fn likely_range(node: Node<'_>) -> Option<String> {
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    let range = |least: &str, most: &str| {
        (is_number(least) && is_number(most)).then(|| format!("{least}..{most}"))
    };
    match node.kind() {
        N::Integer | N::Decimal => range(node.text(), node.text()),
        N::Array => {
            let items: Vec<_> = node.children().map(Node::text).collect();
            if let (Some(only), 1) = (node.children().next(), items.len()) {
                return (only.kind() == N::Range).then(|| only.text().to_owned());
            }
            let [least, most] = items.as_slice() else { return None };
            range(least, most)
        }
        N::Map => {
            let bound = |keys: &[&str]| {
                let mut entries = node.entries();
                entries
                    .find(|entry| keys.contains(&&*entry.key.content()))
                    .map(|it| it.value.text())
            };
            match (bound(&["min", "minimum", "from"]), bound(&["max", "maximum", "to"])) {
                (Some(least), Some(most)) => range(least, most),
                (Some(least), None) if is_number(least) => Some(format!("{least}...")),
                (None, Some(most)) if is_number(most) => Some(format!("...{most}")),
                _ => None,
            }
        }
        N::String | N::Symbol => translate_range(&node.content()),
        _ => None,
    }
}

/// A time whose unit is missing, or written out.
fn likely_time(text: &str) -> Option<String> {
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let unit = match unit.trim() {
        "" | "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "ms" | "msec" | "millis" | "milliseconds" => "ms",
        "m" | "min" | "mins" | "minute" | "minutes" => "min",
        "h" | "hr" | "hour" | "hours" => "h",
        _ => return None,
    };
    (!number.is_empty()).then(|| format!("{number}{unit}"))
}

impl Checker<'_> {
    /// The value that was meant, if the type accepts that instead: `3` of `"3"`, or the member of
    /// an enum without its name: `celsius` of `Unit.celsius`.
    pub(crate) fn accepted_value(&self, file: usize, span: Span, field: &Field) -> Option<String> {
        let unquoted = self.unquoted_value(file, span, field);
        unquoted.or_else(|| {
            let (_, member) = self.source(file).slice(span).rsplit_once('.')?;
            let value = Value::from(member);
            let accepted = value_check::type_use(&self.types, &field.type_use, &value).is_ok();
            let plain = member.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            (accepted && plain).then(|| member.to_owned())
        })
    }

    /// The value in a text, if the type accepts that instead: `3` of `"3"`.
    fn unquoted_value(&self, file: usize, span: Span, field: &Field) -> Option<String> {
        let text = self.source(file).slice(span);
        let inner = text.strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
        let value: Value = serde_json::from_str(inner).ok()?;
        let scalar = !matches!(value, Value::Array(_) | Value::Object(_) | Value::String(_));
        let accepted = value_check::type_use(&self.types, &field.type_use, &value).is_ok();
        (scalar && accepted && !inner.contains(['e', 'E', '+'])).then(|| inner.to_owned())
    }

    /// Reports a value that is a word of another language, such as `None`, unless the type has a
    /// text of that name.
    pub(crate) fn foreign_value(
        &mut self,
        file: usize,
        (span, entry): (Span, Option<Span>),
        what: Named,
        field: &Field,
    ) -> bool {
        let source = self.source(file);
        let word = source.slice(span);
        let Some(spelling) = spelling(word) else { return false };
        let accepts =
            |value: Value| value_check::type_use(&self.types, &field.type_use, &value).is_ok();
        if accepts(Value::from(word)) && !accepts(Value::from("any other text")) {
            return false;
        }
        let message = format!("`{word}` is not a value of gram");
        let mut error = self.error(&codes::FOREIGN_VALUE, file, span, message);
        let null = spelling == "null";
        let write = format!("write `{spelling}`");
        error = match (what, entry) {
            (Named::Default, Some(entry)) if null && !accepts(Value::Null) => {
                let optional = field.optionality == gram_model::Optionality::Optional;
                let (place, text) = if optional {
                    (without_comma(source, entry), "")
                } else {
                    (entry, "optional: true")
                };
                let fix =
                    Fix::replace(NeedsLook, "make it optional without a default", place, text);
                error
                    .help("write `optional: true` without a default, or `nullable: true` and `default: null`")
                    .fix(fix)
            }
            _ if word == spelling || (null && !accepts(Value::Null)) => error.help(write),
            _ => error.help(write.clone()).fix(Fix::replace(Safe, write, span, spelling)),
        };
        self.report(file, error);
        true
    }
}
