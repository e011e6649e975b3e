//! Values as other languages write them.

use gramc_model::attributes::ValueType;
use gramc_model::print::identifier;
use gramc_model::value_check;
use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Fix, Node, NodeKind as N, Span, Words, is_type, translate_range};
use serde_json::Value;

use crate::checker::Checker;
use crate::codes;
use crate::foreign_attributes::{program, without_comma};
use crate::named::Named;
use gramc_model::Field;

/// What a word of another language is in gram: `null`, `true` or `false`.
pub(crate) fn spelling(word: &str) -> Option<&'static str> {
    match word {
        "None" | "nil" | "undefined" | "NULL" | "Null" | "nullptr" => Some("null"),
        "True" | "TRUE" => Some("true"),
        "False" | "FALSE" => Some("false"),
        _ => None,
    }
}

/// A value that was likely meant.
pub(crate) struct Likely {
    pub(crate) text: String,
    /// Its meaning, where there are several.
    pub(crate) meaning: &'static str,
}

/// The values that may be meant where one of another type is expected, the likeliest first.
pub(crate) fn likely_values(node: Node<'_>, expected: ValueType) -> Vec<Likely> {
    let number = matches!(node.kind(), N::Integer | N::Decimal).then(|| node.text());
    let likely = |text: String, meaning| Likely { text, meaning };
    match (expected, number) {
        (ValueType::Range | ValueType::Size, Some(number)) => vec![
            likely(format!("...{number}"), "at most"),
            likely(format!("{number}..."), "at least"),
            likely(format!("{number}..{number}"), "exactly"),
        ],
        (ValueType::Time, Some(number)) => match number.parse::<u64>() {
            Ok(count) if count >= 1000 && count % 1000 == 0 => {
                vec![likely(format!("{}s", count / 1000), ""), likely(format!("{count}ms"), "")]
            }
            Ok(count) if count >= 100 => vec![
                likely(format!("{count}ms"), "milliseconds"),
                likely(format!("{count}s"), "seconds"),
            ],
            _ => likely_value(node, expected).map(|text| likely(text, "")).into_iter().collect(),
        },
        _ => likely_value(node, expected).map(|text| likely(text, "")).into_iter().collect(),
    }
}

/// The value that was likely meant where one of another type is expected.
pub(crate) fn likely_value(node: Node<'_>, expected: ValueType) -> Option<String> {
    let (text, content) = (node.text(), node.content());
    let is_text = matches!(node.kind(), N::String | N::Symbol);
    match expected {
        ValueType::Flag => flag(&content).map(|flag| flag.to_string()),
        ValueType::Range | ValueType::Size => likely_range(node),
        ValueType::List => {
            let scalar = !matches!(node.kind(), N::Map | N::Range | N::Array | N::Error);
            scalar.then(|| format!("[{text}]"))
        }
        ValueType::Names => is_text.then(|| format!("[\"{content}\"]")),
        ValueType::Text => match node.kind() {
            N::Map => only_text(node.entries().map(|entry| entry.value)),
            N::Array => only_text(node.children()),
            N::Integer | N::Decimal => Some(format!("\"{text}\"")),
            _ => None,
        },
        ValueType::Type => {
            (is_type(text) && !text.contains(['"', '\n'])).then(|| format!("\"{text}\""))
        }
        ValueType::Sources => likely_sources(node),
        ValueType::Places => {
            let names = node.children().map(|item| identifier(&item.content()));
            let places: Vec<_> = names.map(|name| format!("{name}: \"query\"")).collect();
            let is_list = node.kind() == N::Array && !places.is_empty();
            is_list.then(|| format!("{{{}}}", places.join(", ")))
        }
        ValueType::Program | ValueType::ProgramOrUrl => {
            (node.kind() == N::String).then(|| program(&content))
        }
        ValueType::Time => likely_time(&content),
        ValueType::Bytes => likely_size(&content),
        ValueType::Url => is_text.then(|| likely_url(&content)).flatten(),
        ValueType::OneOf(words) | ValueType::Approval(words) => {
            let word = words.iter().find(|word| word.eq_ignore_ascii_case(&content))?;
            Some(format!("\"{word}\""))
        }
        ValueType::Number => {
            let number = content.parse::<f64>().is_ok_and(f64::is_finite);
            let plain = content.starts_with(|c: char| c.is_ascii_digit());
            (number && plain && !content.ends_with('.') && node.kind() == N::String)
                .then(|| content.into_owned())
        }
        ValueType::Step | ValueType::Count(_) => {
            let positive = content.parse::<u64>().is_ok_and(|number| number > 0);
            (positive && node.kind() == N::String).then(|| content.into_owned())
        }
        _ => None,
    }
}

/// The text of the only one of some nodes, if that is a string.
fn only_text<'t>(mut nodes: impl Iterator<Item = Node<'t>>) -> Option<String> {
    let only = nodes.next().filter(|node| node.kind() == N::String)?;
    nodes.next().is_none().then(|| only.text().to_owned())
}

/// The boolean that a word means.
pub(crate) fn flag(word: &str) -> Option<bool> {
    match word.to_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" | "none" | "null" => Some(false),
        _ => None,
    }
}

/// The list of what one text separates by commas or bars.
pub(crate) fn several(node: Node<'_>) -> Option<String> {
    let content = node.content();
    if node.kind() != N::String || content.contains(['"', '\\']) {
        return None;
    }
    let items = split_list(&content)?;
    let items: Vec<_> = items.iter().map(|item| format!("\"{item}\"")).collect();
    Some(format!("[{}]", items.join(", ")))
}

/// The words that a text separates by commas or bars; at least two.
pub(crate) fn split_list(text: &str) -> Option<Vec<&str>> {
    let separator = [',', '|', ';'].into_iter().find(|separator| text.contains(*separator))?;
    let items: Vec<_> = text.split(separator).map(str::trim).collect();
    items.iter().all(|item| !item.is_empty()).then_some(items)
}

/// A map of texts that is written as a list of `NAME=value`, or has other values than texts.
fn likely_sources(node: Node<'_>) -> Option<String> {
    let entry = |key: &str, value: &str| format!("{}: \"{value}\"", identifier(key));
    let entries: Option<Vec<_>> = match node.kind() {
        N::Array | N::String => {
            let items: Vec<_> =
                if node.kind() == N::Array { node.children().collect() } else { vec![node] };
            let pair = |item: &Node<'_>| {
                let text = item.content().into_owned();
                let (key, value) = text.split_once(['=', ':'])?;
                let (key, value) = (key.trim(), value.trim());
                let plain = !key.is_empty() && !key.contains(' ') && !value.contains(['"', '\\']);
                (item.kind() == N::String && plain).then(|| entry(key, value))
            };
            items.iter().map(pair).collect()
        }
        N::Map => node
            .entries()
            .map(|it| match it.value.kind() {
                N::String => Some(format!("{}: {}", it.key.text(), it.value.text())),
                N::Integer | N::Decimal | N::Boolean | N::Symbol => {
                    Some(format!("{}: \"{}\"", it.key.text(), it.value.text()))
                }
                _ => None,
            })
            .collect(),
        _ => None,
    };
    let entries = entries.filter(|entries| !entries.is_empty())?;
    Some(format!("{{{}}}", entries.join(", ")))
}

/// A size whose unit is missing, or another one.
fn likely_size(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim().to_lowercase().as_str() {
        "" | "b" | "byte" | "bytes" => "b",
        "k" | "kb" | "kib" | "kilobyte" | "kilobytes" => "kb",
        "m" | "mb" | "mib" | "megabyte" | "megabytes" => "mb",
        "g" | "gb" | "gib" | "gigabyte" | "gigabytes" => "gb",
        _ => return None,
    };
    if number.parse::<u64>().is_ok() {
        return Some(format!("{number}{unit}"));
    }
    // A part of a unit is a number of the next smaller one.
    let (whole, part) = number.split_once('.')?;
    let smaller = ["b", "kb", "mb", "gb"].windows(2).find(|pair| pair[1] == unit)?[0];
    let number: u64 = format!("{whole}{part:0<3}").parse().ok().filter(|_| part.len() <= 3)?;
    Some(format!("{number}{smaller}"))
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
    let (number, unit) = split_time(text)?;
    matches!(unit, "ms" | "s" | "min" | "h").then(|| format!("{number}{unit}"))
}

/// Units of time, and words for them.
const TIMES: [(&str, Words); 6] = [
    ("s", Words(" s sec secs second seconds")),
    ("ms", Words("ms msec millis milliseconds")),
    ("min", Words("m min mins minute minutes")),
    ("h", Words("h hr hrs hour hours")),
    ("d", Words("d day days")),
    ("w", Words("w week weeks")),
];

/// The number and the unit of a time; without a unit, seconds.
pub(crate) fn split_time(text: &str) -> Option<(&str, &'static str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim().to_lowercase();
    let known = TIMES.iter().find(|(_, words)| words.contains(&unit));
    known.filter(|_| number.parse::<u64>().is_ok()).map(|(unit, _)| (number, *unit))
}

impl Checker<'_> {
    /// The value that was meant, if the type accepts that instead: `3` of `"3"`, or the member of
    /// an enum without its name: `celsius` of `Unit.celsius`.
    pub(crate) fn accepted_value(&self, span: Span, field: &Field) -> Option<String> {
        let unquoted = self.unquoted_value(span, field);
        unquoted.or_else(|| {
            let (_, member) = self.source().slice(span).rsplit_once('.')?;
            let value = Value::from(member);
            let accepted = value_check::type_use(&self.types, &field.type_use, &value).is_ok();
            let plain = member.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            (accepted && plain).then(|| member.to_owned())
        })
    }

    /// The value in a text, if the type accepts that instead: `3` of `"3"`.
    fn unquoted_value(&self, span: Span, field: &Field) -> Option<String> {
        let text = self.source().slice(span);
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
        span: Span,
        entry: Option<Span>,
        what: Named,
        field: &Field,
    ) -> bool {
        let source = self.source();
        let word = source.slice(span);
        let Some(spelling) = spelling(word) else { return false };
        let accepts =
            |value: Value| value_check::type_use(&self.types, &field.type_use, &value).is_ok();
        if accepts(Value::from(word)) && !accepts(Value::from("any other text")) {
            return false;
        }
        let message = format!("`{word}` is not a value of gram");
        let mut error = self.error(&codes::FOREIGN_VALUE, span, message);
        let null = spelling == "null";
        let write = format!("write `{spelling}`");
        error = match (what, entry) {
            (Named::Default, Some(entry)) if null && !accepts(Value::Null) => {
                let optional = field.optionality == gramc_model::Optionality::Optional;
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
            _ => error.help(write.clone()).replace_safely(write, span, spelling),
        };
        self.report(error);
        true
    }
}
