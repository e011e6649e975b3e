//! `anyOf` and `oneOf`.

use gramc_json_schema::keywords::name as k;
use serde_json::{Map, Value, json};

use super::merge::{Merged, Union, is_annotation};
use super::{Lowerer, types};

/// The most members that keywords next to a union are added to.
pub(crate) const MAX_DISTRIBUTED: usize = 64;

impl Lowerer<'_> {
    /// Rewrites a merged schema.
    pub(super) fn finish(&mut self, mut merged: Merged) -> Value {
        if merged.unions.is_empty() {
            return self.typed(merged.map, merged.is_nullable);
        }
        let Union { keyword, members } = merged.unions.remove(0);
        let (annotations, mut base): (Map<String, Value>, Map<String, Value>) =
            merged.map.into_iter().partition(|(key, _)| is_annotation(key));
        if base.get(k::ADDITIONAL_PROPERTIES).is_some_and(|open| *open == false)
            && !base.contains_key(k::PROPERTIES)
        {
            // A document closes the whole, whose properties are those of the members.
            base.shift_remove(k::ADDITIONAL_PROPERTIES);
        }
        if !merged.unions.is_empty() {
            let rest = merged.unions.drain(..);
            let rest = rest.map(|union| json!({union.keyword: union.members}));
            base.insert(k::ALL_OF.to_owned(), rest.collect());
        }
        if members.len() > MAX_DISTRIBUTED && has_more_than_type(&base) {
            self.note("a union next to other keywords has too many members and is left out");
            base.extend(annotations);
            return self.typed(base, merged.is_nullable);
        }
        let mut all: Vec<Value> = Vec::with_capacity(members.len());
        let mut is_nullable = merged.is_nullable;
        for member in &members {
            let lowered = self.member(&base, member);
            if lowered == json!({"type": "null"}) {
                is_nullable = true;
            } else if !all.contains(&lowered) {
                all.push(lowered);
            }
        }
        self.union(keyword, all, is_nullable, &annotations)
    }

    fn union(
        &mut self,
        keyword: &str,
        mut members: Vec<Value>,
        is_nullable: bool,
        annotations: &Map<String, Value>,
    ) -> Value {
        let mut out = Map::new();
        match (members.len(), is_nullable) {
            (0, true) => {
                out.insert(k::TYPE.to_owned(), "null".into());
            }
            (0, false) => {}
            (1, false) => {
                let Value::Object(only) = members.swap_remove(0) else { return json!({}) };
                out = only;
            }
            // Any value includes null.
            (1, true) if members.first().is_some_and(|it| *it == json!({})) => {}
            (count, _) => {
                if is_nullable {
                    members.push(json!({"type": "null"}));
                }
                if let Some(simple) = simple_nullable(&members).filter(|_| count == 1) {
                    out = simple;
                } else {
                    let keyword = if count == 1 { k::ANY_OF } else { keyword };
                    out.insert(keyword.to_owned(), Value::Array(members));
                }
            }
        }
        self.annotate(annotations, &mut out, None);
        Value::Object(out)
    }

    /// A member, with the keywords next to its union.
    fn member(&mut self, base: &Map<String, Value>, member: &Value) -> Value {
        if base.is_empty() || self.is_implied(base, member) {
            return self.lower(member);
        }
        self.lower(&json!({"allOf": [base, member]}))
    }

    /// Whether a member has the type next to its union, if that is all.
    fn is_implied(&mut self, base: &Map<String, Value>, member: &Value) -> bool {
        if has_more_than_type(base) {
            return false;
        }
        let reference = member.get(k::REF).and_then(Value::as_str).map(str::to_owned);
        let member = match reference {
            Some(reference) => match self.resolve(&reference) {
                Some((_, target)) => target.as_object().cloned(),
                None => return true,
            },
            None => member.as_object().cloned(),
        };
        let Some(member) = member else { return true };
        let (ours, theirs) = (types::read_types(base), types::read_types(&member));
        let is_composed =
            [k::ALL_OF, k::ANY_OF, k::ONE_OF].iter().any(|key| member.contains_key(*key));
        theirs.is_null
            || (ours.types == theirs.types && !ours.types.is_empty())
            || (theirs.types.is_empty() && is_composed)
    }
}

fn has_more_than_type(base: &Map<String, Value>) -> bool {
    base.keys().any(|key| key != k::TYPE)
}

/// A single type and null, as a list of types.
fn simple_nullable(members: &[Value]) -> Option<Map<String, Value>> {
    let [Value::Object(only), _] = members else { return None };
    let name = only.get(k::TYPE)?.as_str()?;
    if only.contains_key(k::CONST) {
        return None;
    }
    let mut out = only.clone();
    out.insert(k::TYPE.to_owned(), json!([name, "null"]));
    if let Some(Value::Array(values)) = out.get_mut(k::ENUM)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    Some(out)
}
