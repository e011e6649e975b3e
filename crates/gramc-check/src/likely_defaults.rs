//! Defaults that a type does not accept, and what was likely meant.

use gramc_model::format::Format;
use gramc_model::walk;
use gramc_model::{Constraint, Field, Type, ValueSource, value_check};
use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Diagnostic, Fix, NodeKind as N, Span};
use serde_json::Value;

use crate::checker::Checker;
use crate::foreign_values::{flag, split_list, split_time};
use crate::named::Named;

impl Checker<'_> {
    /// Adds to the error about a value what was likely meant.
    pub(crate) fn explain_rejected(
        &self,
        span: Span,
        what: Named,
        field: &Field,
        error: Diagnostic,
    ) -> Diagnostic {
        let write = |error: Diagnostic, text: &str| {
            let message = format!("write `{text}`");
            error.advise(message, span, text)
        };
        if let Some(text) = self.accepted_value(span, field) {
            return write(error, &text);
        }
        let value = match (what, &field.source) {
            (Named::Default, _) => field.type_use.default.as_deref(),
            (Named::Pinned, ValueSource::Pinned(value)) => Some(&**value),
            _ => None,
        };
        let Some(value) = value else { return error };
        let accepts =
            |meant: &Value| value_check::type_use(&self.types, &field.type_use, meant).is_ok();
        let ty = self.types.resolve(&field.type_use.ty);
        if let Some(meant) = Self::guess_values(field, ty, value).into_iter().find(accepts) {
            return write(error, &write_value(&meant));
        }
        match ty.without_null() {
            Type::Formatted(format) => {
                error.help(format!("write it as in `\"{}\"`", example(*format)))
            }
            _ if value.is_null() => self.nullable_type(span, error),
            _ => error,
        }
    }

    /// What a value may mean for a type, the likeliest first.
    fn guess_values(field: &Field, ty: &Type, value: &Value) -> Vec<Value> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Array(items) => match items.as_slice() {
                [only] => return vec![only.clone()],
                _ => return Vec::new(),
            },
            Value::Null | Value::Object(_) => return Vec::new(),
        };
        let mut meant = Vec::new();
        match ty.without_null() {
            Type::Boolean => meant.extend(flag(&text).map(Value::Bool)),
            Type::List(_) => {
                let items = split_list(&text).unwrap_or_else(|| vec![&text]);
                let item = |text: &str| -> Value {
                    serde_json::from_str(text).unwrap_or_else(|_| text.into())
                };
                meant.push(items.iter().map(|text| Value::from(*text)).collect());
                meant.push(items.iter().map(|text| item(text)).collect());
            }
            Type::Text if !value.is_string() => meant.push(Value::String(text.clone())),
            Type::Formatted(format) => meant.extend(format_text(*format, &text).map(Value::String)),
            _ => {}
        }
        let mut members = Vec::new();
        let mut add = |part: &Type| {
            if let Type::Literal(value) = part {
                members.extend(value.as_str().map(str::to_owned));
            }
        };
        add(ty);
        walk::parts(ty, &mut add);
        for constraint in &field.type_use.constraints {
            if let Constraint::Enum(values) = constraint {
                members.extend(values.iter().filter_map(Value::as_str).map(str::to_owned));
            }
        }
        let same = members.into_iter().find(|member| member.eq_ignore_ascii_case(&text));
        meant.extend(same.map(Value::String));
        meant
    }

    /// The help for null where the type has none.
    fn nullable_type(&self, span: Span, error: Diagnostic) -> Diagnostic {
        let help = "write `optional: true` without a default, or a type that may be null";
        let source = self.source();
        let around = self.texts[self.file].tree().nodes_at(span.start);
        let holder = around.into_iter().rev().find(|node| node.kind() == N::NodePattern);
        let label = holder.and_then(|holder| holder.subject().labels().next());
        let label = label.filter(|label| label.kind() != N::QuotedName);
        let Some(label) = label.filter(|_| self.unescaped.is_none()) else {
            return error.help(help);
        };
        let ty = source.slice(label.span());
        if ty.contains(['|', '`']) {
            return error.help(help);
        }
        let message = format!("write the type `{ty}?`");
        let fix = Fix::replace(NeedsLook, message, Span::empty(label.span().end), "?");
        error.help(format!("{help}: `{ty}?`")).fix(fix)
    }
}

/// A value as gram.
fn write_value(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(write_value).collect();
            format!("[{}]", items.join(", "))
        }
        _ => value.to_string(),
    }
}

/// A text of a format.
fn example(format: Format) -> &'static str {
    match format {
        Format::Date => "2026-01-02",
        Format::Time => "10:00:00Z",
        Format::DateTime => "2026-01-02T10:00:00Z",
        Format::Duration => "PT2S",
        Format::Email => "ada@example.com",
        Format::Uri => "https://example.com/",
        Format::Uuid => "123e4567-e89b-12d3-a456-426614174000",
        Format::Ipv4 => "192.0.2.1",
        Format::Ipv6 => "2001:db8::1",
        Format::Hostname => "example.com",
    }
}

/// The text of a format that another notation may mean.
fn format_text(format: Format, text: &str) -> Option<String> {
    match format {
        Format::Date => date(text),
        Format::Time => time(text),
        Format::DateTime => {
            let (day, rest) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
            Some(format!("{}T{}", date(day)?, time(rest)?))
        }
        Format::Duration => duration(text),
        Format::Uri => Some(format!("https://{text}")),
        _ => None,
    }
}

/// A date as year, month and day, if their order is clear.
fn date(text: &str) -> Option<String> {
    let separator = text.chars().find(|c| !c.is_ascii_digit())?;
    let parts: Vec<&str> = text.trim_end_matches('.').split(separator).map(str::trim).collect();
    let [first, second, third] = parts.as_slice() else { return None };
    let number = |part: &str| part.parse::<u32>().ok();
    let (a, b) = (number(first)?, number(second)?);
    number(third)?;
    let (year, month, day) = match (first.len(), third.len(), separator) {
        (4, ..) => (first, b, number(third)?),
        (_, 4, '.') => (third, b, a),
        (_, 4, _) if a > 12 => (third, b, a),
        (_, 4, _) if b > 12 => (third, a, b),
        _ => return None,
    };
    Some(format!("{year}-{month:02}-{day:02}"))
}

/// A time of day with seconds and an offset.
fn time(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['Z', 'z']);
    let (hour, rest) = text.split_once(':')?;
    let hour: u32 = hour.parse().ok()?;
    Some(match rest.len() {
        2 => format!("{hour:02}:{rest}:00Z"),
        _ => format!("{hour:02}:{rest}Z"),
    })
}

/// A duration of ISO 8601 of a number and a unit.
fn duration(text: &str) -> Option<String> {
    let (number, unit) = split_time(text)?;
    Some(match unit {
        "s" => format!("PT{number}S"),
        "min" => format!("PT{number}M"),
        "h" => format!("PT{number}H"),
        "d" => format!("P{number}D"),
        "w" => format!("P{number}W"),
        _ => return None,
    })
}
