//! Values that are written out: members of enums, constants, examples.

use gramc_json_schema::keywords::name as k;
use serde_json::{Value, json};

use super::{Builder, Schema, asserts};
use crate::decimal::Decimal;
use crate::rules::{Expr, ExprExt as _};

/// The most values that are not a rule of their own.
const MAX_INLINE: usize = 4;

impl Builder<'_> {
    /// The values of `enum` and `const` that the other keywords accept.
    pub(super) fn listed_values(&mut self, keywords: &Schema, hint: &str) -> Expr {
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
        let types = self.type_set(&others);
        others.remove(k::TYPE);
        let asserted = others.keys().any(|key| asserts(key));
        let others = Value::Object(others);
        // The check strips what objects with properties do not declare.
        let may_strip = others.to_string().contains("\"properties\"");
        let mut derived = Vec::with_capacity(count);
        for value in values.iter().filter(|value| types.accepts(value)) {
            let compound = value.is_array() || value.is_object();
            if asserted
                && ((compound && may_strip) || !self.proves(&others, &json!({"const": value})))
            {
                self.lose(k::ENUM, value, "it is not known whether the other keywords accept it");
            } else {
                derived.push(self.literal(value));
            }
        }
        self.few_or_rule(derived, hint)
    }

    /// Alternatives, which are a rule if there are many.
    fn few_or_rule(&mut self, alternatives: Vec<Expr>, hint: &str) -> Expr {
        match alternatives.len() {
            0..=MAX_INLINE => Expr::alt(alternatives),
            _ => self.rules.rule(hint, Expr::alt(alternatives)),
        }
    }

    /// The examples and the default of a schema that has no grammar.
    pub(super) fn examples(&mut self, keywords: &Schema, hint: &str) -> Expr {
        let values = keywords.get(k::EXAMPLES).and_then(Value::as_array).into_iter().flatten();
        let values = values.chain(keywords.get(k::EXAMPLE)).chain(keywords.get(k::DEFAULT));
        let scalars: Vec<Value> =
            values.filter(|value| !value.is_array() && !value.is_object()).cloned().collect();
        if scalars.is_empty() || self.at_root() {
            return Expr::NEVER;
        }
        let mut rules = keywords.clone();
        rules.retain(|key, _| asserts(key));
        let rules = Value::Object(rules);
        let types = self.type_set(keywords);
        let mut fitting = scalars;
        fitting
            .retain(|value| types.accepts(value) && self.proves(&rules, &json!({"const": value})));
        if !fitting.is_empty() {
            self.lose(k::EXAMPLES, &fitting.clone().into(), "only these values can be given");
        }
        let derived = fitting.iter().map(|value| self.literal(value)).collect();
        self.few_or_rule(derived, hint)
    }

    /// A value, token by token.
    pub(super) fn literal(&mut self, value: &Value) -> Expr {
        let (open, close) = if value.is_array() { ("[", "]") } else { ("{", "}") };
        let parts: Vec<Expr> = match value {
            Value::Array(items) => items.iter().map(|item| self.literal(item)).collect(),
            Value::Object(map) => {
                let entries = map.iter().map(|(key, value)| {
                    let key = Expr::text(Value::from(key.as_str()).to_string());
                    Expr::seq([key, self.colon(), self.literal(value)])
                });
                entries.collect()
            }
            Value::Number(number) => {
                // An integer as a model writes it, whatever the schema has.
                let plain = Decimal::of(number).and_then(|number| number.integer_text());
                return Expr::text(plain.unwrap_or_else(|| number.to_string()));
            }
            scalar => return Expr::text(scalar.to_string()),
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
