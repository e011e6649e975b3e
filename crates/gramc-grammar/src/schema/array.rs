//! Arrays.

use std::collections::HashSet;

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::pointer::decode_fragment;
use gramc_json_schema::values::canonical;
use gramc_schema::lower::Became;
use serde_json::{Value, json};

use super::scalar::count;
use super::{Builder, Schema, asserts};
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

    /// An array of different items. If the values of the items are listed, some of them; otherwise at
    /// most one item or, if more are required, also equal ones.
    fn unique(
        &mut self,
        items: &Value,
        prefix: &[Value],
        least: u32,
        most: Option<u32>,
        hint: &str,
    ) -> Expr {
        let is_true = Value::Bool(true);
        let listed = if prefix.is_empty() { self.distinct_items(items) } else { None };
        let Some(listed) = listed else {
            let (reason, most) = if least > 1 {
                let reason = "equal items can be given, which the validation of calls rejects";
                (Became::Lost { reason }, most)
            } else {
                (Became::Narrowed { reason: "at most one item can be given" }, Some(1))
            };
            self.note(k::UNIQUE_ITEMS, &is_true, reason);
            let mut keywords = Schema::new();
            keywords.insert(k::PREFIX_ITEMS.to_owned(), prefix.into());
            keywords.insert(k::ITEMS.to_owned(), items.clone());
            keywords.insert(k::MIN_ITEMS.to_owned(), least.into());
            keywords.extend(most.map(|most| (k::MAX_ITEMS.to_owned(), most.into())));
            return self.array(&keywords, hint);
        };
        let derived: Vec<Expr> = listed
            .iter()
            .map(|item| self.value(&[k::ITEMS], item, hint))
            .filter(|item| !item.is_never())
            .collect();
        let inner = if derived.len() <= MAX_PERMUTED {
            self.permutations(&derived, least, most, hint)
        } else {
            let reason = "the items can only be given in the order of their values";
            self.lose(k::UNIQUE_ITEMS, &is_true, reason);
            let members = derived.into_iter().map(|item| (item, false)).collect();
            self.members(members, None, least, most, hint)
        };
        let list = Expr::seq([Expr::text("["), inner, Expr::text("]")]);
        self.rules.rule(hint, list)
    }

    /// The schemas of all values that items can have. `None` if these are not listed, or too many.
    fn distinct_items(&self, items: &Value) -> Option<Vec<Value>> {
        let mut schema = items.as_object()?;
        let constant = |value: Value| json!({k::CONST: value});
        for _ in 0..MAX_REFERENCES {
            let asserted: Vec<&str> =
                schema.keys().map(String::as_str).filter(|key| asserts(key)).collect();
            if let Some(values) = schema.get(k::ENUM).and_then(Value::as_array) {
                let mut seen = HashSet::new();
                let distinct = values.iter().filter(|value| seen.insert(canonical(value)));
                let members = distinct.map(|value| {
                    let mut member = schema.clone();
                    member.remove(k::ENUM);
                    member.insert(k::CONST.to_owned(), value.clone());
                    Value::Object(member)
                });
                return (values.len() <= MAX_UNIQUE).then(|| members.collect());
            }
            match asserted[..] {
                _ if schema.contains_key(k::CONST) => {
                    return Some(vec![Value::Object(schema.clone())]);
                }
                [k::REF] if !self.has_ids => {
                    let pointer = schema.get(k::REF)?.as_str()?.strip_prefix('#')?;
                    schema = self.document.pointer(&decode_fragment(pointer))?.as_object()?;
                }
                [k::TYPE] => {
                    let values = match schema.get(k::TYPE)?.as_str()? {
                        "boolean" => vec![constant(false.into()), constant(true.into())],
                        "null" => vec![constant(Value::Null)],
                        _ => return None,
                    };
                    return Some(values);
                }
                [..] => {
                    let whole = |key| schema.get(key).and_then(Value::as_i64);
                    let keys = [k::TYPE, k::MINIMUM, k::MAXIMUM];
                    let (low, high) = (whole(k::MINIMUM)?, whole(k::MAXIMUM)?);
                    let is_range = schema.get(k::TYPE)? == "integer"
                        && asserted.iter().all(|key| keys.contains(key))
                        && high.checked_sub(low)? < i64::try_from(MAX_UNIQUE).ok()?;
                    return is_range.then(|| (low..=high).map(|it| constant(it.into())).collect());
                }
            }
        }
        None
    }

    /// Different ones of some items in any order, without brackets. A rule for each set of items that
    /// were given before derives the others.
    fn permutations(&mut self, items: &[Expr], least: u32, most: Option<u32>, hint: &str) -> Expr {
        let comma = self.comma();
        let all = (1_usize << items.len()) - 1;
        let mut after = vec![Expr::EMPTY; all + 1];
        for given in (0..=all).rev() {
            let count = given.count_ones();
            let has_room = most.is_none_or(|most| count < most);
            let open = (0..items.len()).filter(|at| has_room && given & (1 << at) == 0);
            let next = open.map(|at| {
                let before = if count == 0 { Expr::EMPTY } else { comma.clone() };
                Expr::seq([before, items[at].clone(), after[given | (1 << at)].clone()])
            });
            let next = Expr::alt(next.collect::<Vec<_>>());
            let derived = match count >= least {
                true if next.is_never() => Expr::EMPTY,
                true => next.optional(),
                false => next,
            };
            let is_rule = count > 0 && !derived.is_never() && derived != Expr::EMPTY;
            let name = format!("{hint}-rest");
            after[given] = if is_rule { self.rules.rule(&name, derived) } else { derived };
        }
        after.swap_remove(0)
    }
}

/// The most items of a tuple that are nested in one rule.
const MAX_NESTED: u32 = 16;

/// The most values of which arrays of different items are made.
const MAX_UNIQUE: usize = 60;

/// The most values of which arrays in any order are made.
const MAX_PERMUTED: usize = 5;

/// The most references that lead from one to another.
const MAX_REFERENCES: usize = 16;
