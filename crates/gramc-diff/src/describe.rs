//! Differences of schemas in words.

use std::collections::HashSet;

use gramc_calls::check::ToolCheck;
use gramc_json_schema::containment::Counterexample;
use gramc_json_schema::keywords::Keyword;
use gramc_json_schema::pointer::{dotted, follow, unescape_token};
use gramc_json_schema::values::canonical;
use serde_json::{Value, json};

use crate::parts::{Difference, Part};
use crate::relation::{Breaks, is_anything};

/// The number of listed values that are named.
const MAX_NAMED: usize = 8;

static ANYTHING: Value = Value::Bool(true);

/// The schemas of one part of a tool in both versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Versions<'s> {
    pub(crate) old: &'s Value,
    pub(crate) new: &'s Value,
    /// Whether they describe the result and not the parameters.
    pub(crate) is_result: bool,
}

impl Versions<'_> {
    /// What a difference is, as a sentence without a full stop. Of secrets it tells no values.
    pub(crate) fn message(&self, difference: &Difference, is_secret: bool) -> String {
        let name = self.subject(&difference.pointer);
        let is_parameter = !self.is_result && difference.pointer.matches('/').count() == 1;
        let kind = if is_parameter { "parameter" } else { "property" };
        match (difference.part, self.is_result) {
            (Part::Values, _) if is_secret => format!("{name} changed"),
            (Part::Values, _) => self.values(difference, &name),
            (Part::Presence, false) if difference.relaxes => {
                format!("{name} was required and is now optional")
            }
            (Part::Presence, false) => format!("{name} was optional and is now required"),
            (Part::Presence, true) if difference.relaxes => {
                format!("{name} could be missing and is now always present")
            }
            (Part::Presence, true) => format!("{name} was always present and may now be missing"),
            (Part::OnlyConsumed { required: true }, false) => format!("{name} is new and required"),
            (Part::OnlyConsumed { required: false }, false) => {
                format!("{name} is a new optional {kind}")
            }
            (Part::OnlyConsumed { .. }, true) | (Part::OnlyProduced, false) => {
                let ignored = match difference.breaks {
                    Breaks::No if !self.is_result => ", and calls with it are still accepted",
                    _ => "",
                };
                format!("{name} is no longer a {kind}{ignored}")
            }
            (Part::OnlyProduced, true) => format!("{name} is a new {kind}"),
            (Part::Undeclared, _) => self.describe_undeclared(),
        }
    }

    /// The place of a value in terms of the schemas: `*` for any item, and for any property that is not
    /// declared.
    pub(crate) fn place(&self, pointer: &str) -> String {
        let mut places =
            [self.old, self.new].map(|root| Some((root, follow_references(root, root))));
        let mut out = String::new();
        for token in pointer.split('/').skip(1) {
            let name = unescape_token(token);
            let known = || places.iter().flatten();
            let is_declared = known().any(|(root, schema)| declares(root, schema, &name, 0));
            let is_unknown = known().next().is_none();
            out.push('/');
            out.push_str(if is_declared || is_unknown { token } else { "*" });
            for place in &mut places {
                *place = place.and_then(|(root, schema)| {
                    Some((root, follow_references(root, below(root, schema, &name)?)))
                });
            }
        }
        out
    }

    /// How messages call a part.
    fn subject(&self, pointer: &str) -> String {
        match (pointer, self.is_result) {
            ("", false) => "the tool".to_owned(),
            ("", true) => "the result".to_owned(),
            (pointer, false) => format!("`{}`", dotted(pointer)),
            (pointer, true) => format!("`{}` of the result", dotted(pointer)),
        }
    }

    fn values(&self, difference: &Difference, name: &str) -> String {
        let pointer = &difference.pointer;
        let (old, new) = (schema_at(self.old, pointer), schema_at(self.new, pointer));
        let declared = |schema: Option<&Value>| schema.is_some_and(|schema| *schema != false);
        match (declared(old), declared(new)) {
            (false, true) if matches!(difference.breaks, Breaks::Yes(_)) => {
                return self.reason(difference, name);
            }
            (false, true) => return format!("{name} is new"),
            (true, false) => return format!("{name} is no longer declared"),
            _ => {}
        }
        let (Some(old), Some(new)) = (old, new) else {
            return self.reason(difference, name);
        };
        if let Some(message) = self.describe_lists(name, old, new) {
            return message;
        }
        let (old, new) = (words(self.old, old), words(self.new, new));
        match (old, new) {
            (Some(old), Some(new)) if old != new => {
                let (old, new) = without_shared_noun(&old, &new);
                self.was(name, old, new)
            }
            _ => self.reason(difference, name),
        }
    }

    fn was(&self, name: &str, old: &str, new: &str) -> String {
        if self.is_result {
            format!("{name} was {old} and is now {new}")
        } else {
            format!("{name} allowed {old} and now allows {new}")
        }
    }

    fn describe_lists(&self, name: &str, old: &Value, new: &Value) -> Option<String> {
        let (old, new) = (values_of(old)?, values_of(new)?);
        let without = |all: &[&Value], others: &[&Value]| -> Vec<String> {
            let others: HashSet<_> = others.iter().map(|other| canonical(other)).collect();
            let gone = all.iter().filter(|value| !others.contains(&canonical(value)));
            gone.map(ToString::to_string).collect()
        };
        let (gone, more) = (without(&old, &new), without(&new, &old));
        let allows = if self.is_result { "is" } else { "allows" };
        let also = if self.is_result { "may now also be" } else { "now also allows" };
        let (lost, gained) = (list_values(&gone), list_values(&more));
        Some(match (gone.is_empty(), more.is_empty()) {
            (true, true) => return None,
            (false, true) => format!("{name} no longer {allows} {lost}"),
            (true, false) => format!("{name} {also} {gained}"),
            (false, false) => format!("{name} no longer {allows} {lost}, and {also} {gained}"),
        })
    }

    /// What a validator says of the counterexample.
    fn reason(&self, difference: &Difference, name: &str) -> String {
        match &difference.breaks {
            Breaks::Yes(Counterexample { reason, .. }) if self.is_result => {
                format!("{name} may now be a value that it was not: {reason}")
            }
            Breaks::Yes(Counterexample { reason, .. }) => {
                format!("{name} no longer allows some values: {reason}")
            }
            Breaks::No if self.is_result => format!("{name} has fewer values"),
            Breaks::No => format!("{name} allows more values"),
            Breaks::Unknown(_) => format!("{name} changed"),
        }
    }

    fn describe_undeclared(&self) -> String {
        let anything = Value::Bool(true);
        let others =
            |schema: &'_ Value| schema.get("additionalProperties").unwrap_or(&anything).clone();
        let what = if self.is_result { "properties of the result" } else { "parameters" };
        let said = |schema: &Value, others: &Value| match others {
            Value::Bool(false) => "none".to_owned(),
            others if is_anything(others) => "any value".to_owned(),
            others => words(schema, others).unwrap_or_else(|| "some values".to_owned()),
        };
        let (old, new) = (others(self.old), others(self.new));
        match (is_anything(&old), &new) {
            (true, Value::Bool(false)) if self.is_result => {
                format!("undeclared {what} no longer occur")
            }
            (true, Value::Bool(false)) => {
                format!("undeclared {what} were accepted and are now refused")
            }
            _ if old == false && is_anything(&new) => format!("undeclared {what} are now allowed"),
            _ => self.was(
                &format!("undeclared {what}"),
                &said(self.old, &old),
                &said(self.new, &new),
            ),
        }
    }
}

/// A few values, in words.
fn list_values(values: &[String]) -> String {
    let more = if values.len() > MAX_NAMED { ", …" } else { "" };
    let named: Vec<_> = values.iter().take(MAX_NAMED).map(String::as_str).collect();
    format!("{}{more}", named.join(", "))
}

fn values_of(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => Some(values.iter().collect()),
        (_, Some(value)) => Some(vec![value]),
        _ => None,
    }
}

/// What a schema allows, in words.
fn words(root: &Value, schema: &Value) -> Option<String> {
    if is_anything(schema) {
        return Some("any value".to_owned());
    }
    let mut document = json!({"type": "object", "properties": {"value": schema}});
    for key in ["$defs", "definitions"] {
        if let (Some(defs), Some(document)) = (root.get(key), document.as_object_mut()) {
            document.insert(key.to_owned(), defs.clone());
        }
    }
    ToolCheck::of_schema(&document).ok()?.describe_parameter("value")
}

/// Two descriptions without the noun that both begin with: `1 to 30` and `1 to 14`.
fn without_shared_noun<'w>(old: &'w str, new: &'w str) -> (&'w str, &'w str) {
    for noun in ["an integer from ", "a number from "] {
        if let (Some(old), Some(new)) = (old.strip_prefix(noun), new.strip_prefix(noun)) {
            return (old, new);
        }
    }
    (old, new)
}

/// The schema of the values at a place. `None` where no single schema says what they are.
fn schema_at<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut schema = follow_references(root, root);
    for token in pointer.split('/').skip(1) {
        schema = follow_references(root, below(root, schema, &unescape_token(token))?);
    }
    Some(schema)
}

/// The schema of a property or of an item.
fn below<'s>(root: &'s Value, schema: &'s Value, token: &str) -> Option<&'s Value> {
    let declared = declared_child(schema, token);
    let is_item = token == "*" || token.parse::<usize>().is_ok();
    let items = schema.get("items").filter(|_| is_item && schema.get("properties").is_none());
    let others = schema.get("additionalProperties").filter(|others| others.is_object());
    if let Some(found) = declared.or(items).or(others) {
        return Some(found);
    }
    // A value or null.
    let members = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let mut found =
        members.iter().filter_map(|member| below(root, follow_references(root, member), token));
    found.next().filter(|_| found.next().is_none())
}

/// Whether a schema or a part of it that applies to the same value declares a property or an item.
fn declares(root: &Value, schema: &Value, token: &str, depth: usize) -> bool {
    /// The most unions within each other, where recursive ones are cut off.
    const MAX_UNIONS: usize = 8;
    let schema = follow_references(root, schema);
    let Value::Object(keywords) = schema else { return false };
    if depth > MAX_UNIONS || declared_child(schema, token).is_some() {
        return true;
    }
    let parts = keywords.iter().filter(|(key, _)| Keyword::of(key).applies_in_place());
    let mut parts = parts.flat_map(|(key, value)| Keyword::of(key).subschemas(value));
    parts.any(|part| declares(root, part, token, depth + 1))
}

/// The schema of a property or item that a schema itself declares.
fn declared_child<'s>(schema: &'s Value, token: &str) -> Option<&'s Value> {
    if let Some(properties) = schema.get("properties") {
        if let Some(property) = properties.get(token) {
            return Some(property);
        }
    } else if let Ok(index) = token.parse::<usize>()
        && let Some(item) = schema.get("prefixItems").and_then(|items| items.get(index))
    {
        return Some(item);
    }
    let required = schema.get("required").and_then(Value::as_array)?;
    let others = schema.get("additionalProperties").unwrap_or(&ANYTHING);
    required.iter().any(|name| name == token).then_some(others)
}

fn follow_references<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    follow(root, schema).unwrap_or(schema)
}
