//! Values that are written out: members of enums, constants, examples.

use gramc_json_schema::keywords::name as k;
use serde_json::{Value, json};

use super::{Builder, Schema, asserts};
use crate::decimal::Decimal;
use crate::rules::Expr;

/// The most values that are not a rule of their own.
const MAX_INLINE: usize = 4;

impl Builder<'_> {
    /// The values of `enum` and `const` that the other keywords accept.
    pub(super) fn listed(&mut self, keywords: &Schema, hint: &str) -> Expr {
        let mut others = keywords.clone();
        let constant = others.remove(k::CONST);
        let members = others.remove(k::ENUM);
        let values: Vec<Value> = match (constant, members.as_ref().and_then(Value::as_array)) {
            (Some(value), Some(list)) => list
                .iter()
                .filter(|it| gramc_json_schema::values::same(it, &value))
                .cloned()
                .collect(),
            (Some(value), None) => vec![value],
            (None, list) => list.cloned().unwrap_or_default(),
        };
        let count = values.len();
        let types = self.types(&others);
        others.remove(k::TYPE);
        let asserted = others.keys().any(|key| asserts(key));
        let others = Value::Object(others);
        // The check strips what objects with properties do not declare.
        let may_strip = others.to_string().contains("\"properties\"");
        let mut derived = Vec::with_capacity(count);
        for value in values.iter().filter(|value| types.contains(&type_of(value, &types))) {
            let compound = value.is_array() || value.is_object();
            if asserted
                && ((compound && may_strip) || !self.proves(&others, &json!({"const": value})))
            {
                self.lose(k::ENUM, value, "it is not known whether the other keywords accept it");
            } else {
                derived.push(self.literal(value));
            }
        }
        match derived.len() {
            0..=MAX_INLINE => Expr::alt(derived),
            _ => self.rules.rule(hint, Expr::alt(derived)),
        }
    }

    /// The examples and the default of a schema that has no grammar.
    pub(super) fn examples(&mut self, keywords: &Schema, hint: &str) -> Expr {
        let lists = [keywords.get(k::EXAMPLES).and_then(Value::as_array)];
        let values = lists.into_iter().flatten().flatten();
        let values = values.chain(keywords.get(k::EXAMPLE)).chain(keywords.get(k::DEFAULT));
        let scalars: Vec<Value> =
            values.filter(|value| !value.is_array() && !value.is_object()).cloned().collect();
        if scalars.is_empty() || self.at_root() {
            return Expr::NEVER;
        }
        let mut rules = keywords.clone();
        rules.retain(|key, _| asserts(key));
        let rules = Value::Object(rules);
        let types = self.types(keywords);
        let fitting: Vec<Value> = scalars
            .into_iter()
            .filter(|value| {
                types.contains(&type_of(value, &types))
                    && self.proves(&rules, &json!({"const": value}))
            })
            .collect();
        if !fitting.is_empty() {
            self.lose(k::EXAMPLES, &fitting.clone().into(), "only these values can be given");
        }
        let derived: Vec<Expr> = fitting.iter().map(|value| self.literal(value)).collect();
        match derived.len() {
            0..=MAX_INLINE => Expr::alt(derived),
            _ => self.rules.rule(hint, Expr::alt(derived)),
        }
    }

    /// A value, token by token.
    pub(super) fn literal(&mut self, value: &Value) -> Expr {
        let (open, close) = if value.is_array() { ("[", "]") } else { ("{", "}") };
        let parts: Vec<Expr> = match value {
            Value::Array(items) => items.iter().map(|item| self.literal(item)).collect(),
            Value::Object(map) => {
                let entries = map.iter().map(|(key, value)| {
                    let key = Expr::Text(Value::from(key.as_str()).to_string());
                    Expr::seq([key, self.colon(), self.literal(value)])
                });
                entries.collect()
            }
            Value::Number(number) => {
                // An integer as a model writes it, whatever the schema has.
                let plain = Decimal::of(number).and_then(|number| number.integer_text());
                return Expr::Text(plain.unwrap_or_else(|| number.to_string()));
            }
            scalar => return Expr::Text(scalar.to_string()),
        };
        let mut all = vec![Expr::text(open)];
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                all.push(self.comma());
            }
            all.push(part);
        }
        all.push(Expr::text(close));
        Expr::seq(all)
    }
}

/// The type of a value, as its name in `types`.
fn type_of(value: &Value, types: &[&str]) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) => {
            let integer = gramc_json_schema::numbers::is_integer(number);
            if integer && !types.contains(&"number") { "integer" } else { "number" }
        }
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
