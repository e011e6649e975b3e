//! Unions, negations and conditions.

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::type_set::TypeSet;
use serde_json::{Value, json};

use super::merge::merge;
use super::{Builder, Schema, TYPES};
use crate::json_text;
use crate::rules::Expr;

/// The most properties that others depend on.
const MAX_DEPENDENT: usize = 4;

/// How deep schemas are compared to tell them apart.
const MAX_COMPARED: usize = 4;

impl Builder<'_> {
    pub(super) fn any_of(&mut self, members: &[Value], rest: Schema, hint: &str) -> Expr {
        let rest = Value::Object(rest);
        let derived = members.iter().enumerate().map(|(at, member)| {
            let step = [k::ANY_OF, &at.to_string()];
            self.branch(&step, merge(&rest, member), (k::ANY_OF, member), hint)
        });
        Expr::alt(derived)
    }

    /// The members of an exclusive union, as far as no other one accepts the same values.
    pub(super) fn one_of(&mut self, members: &[Value], rest: Schema, hint: &str) -> Expr {
        let rest = Value::Object(rest);
        let mut derived = Vec::with_capacity(members.len());
        for (at, member) in members.iter().enumerate() {
            let others: Vec<&Value> =
                members.iter().enumerate().filter(|other| other.0 != at).map(|it| it.1).collect();
            let step = [k::ONE_OF, &at.to_string()];
            let Some(merged) = merge(&rest, member) else {
                derived.push(self.refuse_merge(k::ONE_OF, member));
                continue;
            };
            derived.push(match self.set_apart(&merged, &others) {
                Some(Apart::Itself) => self.below(&step, |it| it.schema(&merged, hint)),
                Some(Apart::Narrowed(narrowed)) => {
                    self.below(&step, |it| it.shared_rule(narrowed.to_string(), &narrowed, hint))
                }
                None => {
                    self.lose(k::ONE_OF, member, "its values may also match another member");
                    Expr::NEVER
                }
            });
        }
        Expr::alt(derived)
    }

    /// A schema all of whose values are refused by some others: itself, or without what it shares
    /// with them.
    fn set_apart(&mut self, schema: &Value, others: &[&Value]) -> Option<Apart> {
        let closed = close(&self.resolve(schema), true);
        if others.iter().all(|other| self.are_apart(&closed, other, 0)) {
            // The grammar derives declared properties alone.
            return Some(match schema.get(k::ADDITIONAL_PROPERTIES) {
                None => Apart::Itself,
                Some(_) if closed == *schema => Apart::Itself,
                Some(_) => Apart::Narrowed(closed),
            });
        }
        let mut narrowed = closed;
        for other in others {
            let required = names(&self.resolve(other), k::REQUIRED);
            let own = names(&narrowed, k::REQUIRED);
            for name in required.iter().filter(|name| !own.contains(name)) {
                narrowed = merge(&narrowed, &json!({"properties": {(name): false}}))?;
            }
        }
        let apart = others.iter().all(|other| self.are_apart(&narrowed, other, 0));
        apart.then_some(Apart::Narrowed(narrowed))
    }

    /// The target of a schema that is only a reference.
    fn resolve(&self, schema: &Value) -> Value {
        let mut schema = schema;
        for _ in 0..MAX_COMPARED {
            let Some(reference) = schema.get(k::REF).and_then(Value::as_str) else { break };
            let alone = schema
                .as_object()
                .is_some_and(|map| map.keys().all(|key| key == k::REF || !super::asserts(key)));
            let target = reference.strip_prefix('#').and_then(|it| self.document.pointer(it));
            let Some(target) = target.filter(|_| alone) else { break };
            schema = target;
        }
        schema.clone()
    }

    /// Whether it is proven that no value fits two schemas. In the first one, objects hold nothing
    /// but what is declared.
    fn are_apart(&mut self, one: &Value, other: &Value, depth: usize) -> bool {
        let (one, other) = (close(&self.resolve(one), false), self.resolve(other));
        if one == Value::Bool(false) || other == Value::Bool(false) {
            return true;
        }
        let (mine, theirs) = (all_types(&one), all_types(&other));
        if !mine.meets(theirs) {
            return true;
        }
        if let (Some(mine), Some(theirs)) = (values(&one), values(&other)) {
            return mine
                .iter()
                .all(|it| !theirs.iter().any(|other| gramc_json_schema::values::same(it, other)));
        }
        let are_objects = mine.and(theirs) == TypeSet::OBJECT;
        if are_objects && depth < MAX_COMPARED && self.objects_are_apart(&one, &other, depth) {
            return true;
        }
        depth == 0 && self.proves(&json!({"not": other}), &one)
    }

    fn objects_are_apart(&mut self, one: &Value, other: &Value, depth: usize) -> bool {
        let property = |schema: &Value, name: &str| schema.get(k::PROPERTIES)?.get(name).cloned();
        let refuses = |schema: &Value, name: &str| {
            property(schema, name).map_or_else(
                || {
                    schema.get(k::ADDITIONAL_PROPERTIES) == Some(&Value::Bool(false))
                        && schema.get(k::PATTERN_PROPERTIES).is_none()
                },
                |it| it == Value::Bool(false),
            )
        };
        let (mine, theirs) = (names(one, k::REQUIRED), names(other, k::REQUIRED));
        mine.iter().chain(&theirs).any(|name| {
            if mine.contains(name) && refuses(other, name)
                || theirs.contains(name) && refuses(one, name)
            {
                return true;
            }
            match (property(one, name), property(other, name)) {
                (Some(mine), Some(theirs)) => self.are_apart(&mine, &theirs, depth + 1),
                _ => false,
            }
        })
    }

    pub(super) fn negation(&mut self, refused: &Value, rest: &Schema, hint: &str) -> Expr {
        let schema = Value::Object(rest.clone());
        if *refused == Value::Bool(false) {
            return self.schema(&schema, hint);
        }
        let closed = close(&schema, true);
        if self.are_apart(&closed, refused, 0) {
            return self.schema(&closed, hint);
        }
        let alternatives = refused.as_object().map(|refused| Self::complements(refused, rest));
        if let Some(alternatives) = alternatives.filter(|it| !it.is_empty()) {
            let derived = alternatives
                .iter()
                .map(|it| self.branch(&[], merge(&schema, it), (k::NOT, refused), hint));
            return Expr::alt(derived);
        }
        let texts = values(refused).filter(|_| rest.get(k::TYPE).is_some_and(|it| it == "string"));
        let free = rest.keys().all(|key| key == k::TYPE || !super::asserts(key));
        if let Some(texts) = texts.filter(|_| free) {
            let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
            if let Some(texts) = json_text::none_of(&texts) {
                return self.rules.token(hint, json_text::string(&texts));
            }
        }
        self.lose(k::NOT, refused, "the remaining values cannot be derived");
        Expr::NEVER
    }

    /// Schemas that together accept what a simple one refuses, at most. Empty if it is not simple.
    fn complements(refused: &Schema, rest: &Schema) -> Vec<Value> {
        let keys: Vec<&str> =
            refused.keys().map(String::as_str).filter(|key| super::asserts(key)).collect();
        let refused_value = Value::Object(refused.clone());
        match keys[..] {
            [k::TYPE] => {
                let types = all_types(&refused_value);
                let is_left = |name: &&str| TypeSet::named(name).is_some_and(|it| !it.meets(types));
                let left = TYPES.into_iter().filter(is_left);
                vec![json!({"type": left.collect::<Vec<_>>()})]
            }
            [k::CONST | k::ENUM]
            | [k::TYPE, k::CONST | k::ENUM]
            | [k::CONST | k::ENUM, k::TYPE] => {
                let (own, other) = (values(&Value::Object(rest.clone())), values(&refused_value));
                let Some((own, other)) = own.zip(other) else { return Vec::new() };
                let left = own.into_iter().filter(|it| {
                    !other.iter().any(|other| gramc_json_schema::values::same(it, other))
                });
                vec![json!({"enum": left.collect::<Vec<_>>()})]
            }
            [k::REQUIRED] => {
                let absent =
                    |name: &String| json!({"type": "object", "properties": {(name): false}});
                names(&refused_value, k::REQUIRED).iter().map(absent).collect()
            }
            [k::PROPERTIES] | [k::PROPERTIES, k::REQUIRED] | [k::REQUIRED, k::PROPERTIES] => {
                let required = names(&refused_value, k::REQUIRED);
                let properties = refused.get(k::PROPERTIES).and_then(Value::as_object);
                let wrong = properties.into_iter().flatten().map(|(name, schema)| {
                    json!({"type": "object", "properties": {(name): {"not": schema}}, "required": [name]})
                });
                let absent = required
                    .iter()
                    .map(|name| json!({"type": "object", "properties": {(name): false}}));
                absent.chain(wrong).collect()
            }
            _ => Vec::new(),
        }
    }

    /// `if`, with `then` and `else`.
    pub(super) fn conditional(&mut self, condition: &Value, mut rest: Schema, hint: &str) -> Expr {
        let then = rest.remove(k::THEN).unwrap_or(Value::Bool(true));
        let otherwise = rest.remove(k::ELSE).unwrap_or(Value::Bool(true));
        let rest = Value::Object(rest);
        let met = merge(&rest, condition).and_then(|met| merge(&met, &then));
        let unmet =
            merge(&rest, &json!({"not": condition})).and_then(|unmet| merge(&unmet, &otherwise));
        let branches = [(k::THEN, met), (k::ELSE, unmet)];
        let derived =
            branches.map(|(step, schema)| self.branch(&[step], schema, (k::IF, condition), hint));
        Expr::alt(derived)
    }

    /// Keywords by which properties depend on others.
    pub(super) fn dependent(
        &mut self,
        key: &str,
        dependencies: &Value,
        mut rest: Schema,
        hint: &str,
    ) -> Expr {
        let mut more = dependencies.as_object().cloned().unwrap_or_default();
        let Some((name, needed)) = more.iter().next().map(|(key, it)| (key.clone(), it.clone()))
        else {
            return self.schema(&Value::Object(rest), hint);
        };
        more.remove(&name);
        let many = more.len() >= MAX_DEPENDENT;
        if !more.is_empty() {
            rest.insert(key.to_owned(), more.into());
        }
        let rest = Value::Object(rest);
        let given = json!({"required": [name]});
        let needed = if needed.is_array() { json!({"required": needed}) } else { needed };
        let with = merge(&rest, &given).and_then(|it| merge(&it, &needed));
        let absent = merge(&rest, &json!({"properties": {(&name): false}}));
        let required = names(&rest, k::REQUIRED).contains(&name);
        let (with, without) = match (required, many) {
            (true, _) => (with, Some(Value::Bool(false))),
            (false, true) => {
                self.lose(key, &name.as_str().into(), "the property cannot be given");
                (Some(Value::Bool(false)), absent)
            }
            (false, false) => (with, absent),
        };
        let name = Value::from(name);
        Expr::alt([with, without].map(|schema| self.branch(&[key], schema, (key, &name), hint)))
    }
}

/// How a member of an exclusive union is told from the others.
enum Apart {
    Itself,
    Narrowed(Value),
}

/// A schema whose objects hold nothing but declared properties, if it has any: as grammars have it,
/// or, if forced, even if it says otherwise.
fn close(schema: &Value, force: bool) -> Value {
    let mut closed = schema.clone();
    if let Value::Object(keywords) = &mut closed
        && keywords.contains_key(k::PROPERTIES)
        && !keywords.contains_key(k::PATTERN_PROPERTIES)
        // The least number of properties is reached by others.
        && !keywords.contains_key(k::MIN_PROPERTIES)
        && (force || !keywords.contains_key(k::ADDITIONAL_PROPERTIES))
        && !super::merge::APPLICATORS.iter().any(|key| keywords.contains_key(*key))
    {
        let other = keywords.insert(k::ADDITIONAL_PROPERTIES.to_owned(), Value::Bool(false));
        // A required property is derived even if it is not declared.
        let other = other.unwrap_or(Value::Bool(true));
        let required = names(schema, k::REQUIRED);
        if let Some(Value::Object(properties)) = keywords.get_mut(k::PROPERTIES) {
            for name in required {
                properties.entry(name).or_insert_with(|| other.clone());
            }
        }
    }
    closed
}

/// The names in a list of a schema.
fn names(schema: &Value, key: &str) -> Vec<String> {
    let names = schema.get(key).and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The values that a schema lists.
fn values(schema: &Value) -> Option<Vec<Value>> {
    if let Some(value) = schema.get(k::CONST) {
        return Some(vec![value.clone()]);
    }
    schema.get(k::ENUM)?.as_array().cloned()
}

/// The types that a schema may accept.
fn all_types(schema: &Value) -> TypeSet {
    let listed = || values(schema).map(|values| TypeSet::of_values(&values));
    TypeSet::declared(schema).or_else(listed).unwrap_or(TypeSet::ALL)
}
