//! Arrays.

use gramc_json_schema::keywords::name as k;
use serde_json::{Value, json};

use super::scalar::count;
use super::{Builder, Schema};
use crate::rules::{Expr, ExprExt as _};

impl Builder<'_> {
    pub(super) fn array(&mut self, keywords: &Schema, hint: &str) -> Expr {
        let mut items = keywords.get(k::ITEMS).cloned().unwrap_or(Value::Bool(true));
        let prefix = keywords.get(k::PREFIX_ITEMS).and_then(Value::as_array);
        let prefix = prefix.map_or(&[][..], Vec::as_slice);
        let mut least = count(keywords, k::MIN_ITEMS).unwrap_or(0);
        let most = count(keywords, k::MAX_ITEMS);
        if items.is_array() {
            self.lose(k::ITEMS, &items, "a list of schemas is not supported");
            return Expr::NEVER;
        }
        if let Some(rest) = keywords.get(k::UNEVALUATED_ITEMS)
            && !keywords.contains_key(k::ITEMS)
        {
            items = rest.clone();
        }
        if let Some(contains) = keywords.get(k::CONTAINS) {
            if !prefix.is_empty() || keywords.contains_key(k::MAX_CONTAINS) {
                self.lose(k::CONTAINS, contains, "it cannot be combined with its siblings");
                return Expr::NEVER;
            }
            self.lose(k::CONTAINS, contains, "all items have to match it");
            items = json!({"allOf": [items, contains]});
            least = least.max(count(keywords, k::MIN_CONTAINS).unwrap_or(1));
        }
        if most.is_some_and(|most| most < least) {
            return Expr::NEVER;
        }
        if keywords.get(k::UNIQUE_ITEMS) == Some(&Value::Bool(true))
            && most.is_none_or(|most| most > 1)
        {
            return self.unique(&items, prefix, least, most, hint);
        }
        let first: Vec<Expr> = prefix
            .iter()
            .enumerate()
            .map(|(at, schema)| self.value(&[k::PREFIX_ITEMS, &at.to_string()], schema, hint))
            .collect();
        let item = self.value(&[k::ITEMS], &items, hint);
        let list = self.list(&first, &item, least, most, hint);
        self.rules.rule(hint, list)
    }

    /// The items of an array, with its brackets.
    fn list(
        &mut self,
        first: &[Expr],
        item: &Expr,
        least: u32,
        most: Option<u32>,
        hint: &str,
    ) -> Expr {
        let comma = self.comma();
        let fixed = u32::try_from(first.len()).unwrap_or(u32::MAX);
        let left = most.map(|most| most.saturating_sub(fixed));
        let missing = least.saturating_sub(fixed);
        let mut tail = if fixed == 0 {
            Expr::list(item.clone(), comma.clone(), missing, left)
        } else {
            Expr::seq([comma.clone(), item.clone()]).repeat(missing, left)
        };
        for (at, schema) in (0..fixed).zip(first).rev() {
            let before = if at == 0 { Expr::EMPTY } else { comma.clone() };
            let with = Expr::seq([before, schema.clone(), tail]);
            tail = match most {
                Some(most) if most <= at => Expr::EMPTY,
                _ if least > at => with,
                _ => with.optional(),
            };
            if at > 0 && at % MAX_NESTED == 0 {
                tail = self.rules.rule(&format!("{hint}-rest"), tail);
            }
        }
        Expr::seq([Expr::text("["), tail, Expr::text("]")])
    }

    /// An array of different items: at most one, or some of a list of values, in its order.
    fn unique(
        &mut self,
        items: &Value,
        prefix: &[Value],
        least: u32,
        most: Option<u32>,
        hint: &str,
    ) -> Expr {
        let is_true = Value::Bool(true);
        let values = items.get(k::ENUM).and_then(Value::as_array).filter(|_| prefix.is_empty());
        let Some(values) = values.filter(|values| values.len() <= MAX_UNIQUE) else {
            self.lose(k::UNIQUE_ITEMS, &is_true, "at most one item can be given");
            if least > 1 {
                return Expr::NEVER;
            }
            let first = prefix.first().unwrap_or(items);
            let item = self.value(&[k::ITEMS], first, hint);
            let list = self.list(&[], &item, least, Some(1), hint);
            return self.rules.rule(hint, list);
        };
        self.lose(k::UNIQUE_ITEMS, &is_true, "the items can only be given in the order of `enum`");
        let mut members = Vec::new();
        let mut seen = Vec::new();
        for value in values {
            let text = gramc_json_schema::values::canonical(value);
            if seen.contains(&text) {
                continue;
            }
            seen.push(text);
            let mut member = items.clone();
            if let Value::Object(keywords) = &mut member {
                keywords.remove(k::ENUM);
                keywords.insert(k::CONST.to_owned(), value.clone());
            }
            let item = self.value(&[k::ITEMS], &member, hint);
            if !item.is_never() {
                members.push((item, false));
            }
        }
        let inner = self.members(members, None, least, most, hint);
        let list = Expr::seq([Expr::text("["), inner, Expr::text("]")]);
        self.rules.rule(hint, list)
    }
}

/// The most items of a tuple that are nested in one rule.
const MAX_NESTED: u32 = 16;

/// The most values of which arrays of different items are made.
const MAX_UNIQUE: usize = 60;
