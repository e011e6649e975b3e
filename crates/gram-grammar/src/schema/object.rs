//! Objects.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::scalar::{Content, count};
use super::{Builder, Schema};
use crate::automaton::{are_disjoint, matches};
use crate::regex::Regex;
use crate::rules::{Expr, RuleId};
use crate::{json_text, pattern};

impl Builder<'_> {
    pub(super) fn object(&mut self, keywords: &Schema, hint: &str) -> Expr {
        let Some(properties) = self.properties(keywords) else { return Expr::NEVER };
        let mut members = Vec::new();
        for Property { name, schema, required } in &properties {
            let value = self.value(&["properties", name], schema, name);
            if value.is_never() {
                if *required {
                    return Expr::NEVER;
                }
                if *schema != Value::Bool(false) {
                    self.lose(name, schema, "the property cannot be given");
                }
                continue;
            }
            let key = Expr::Text(Value::from(name.as_str()).to_string());
            members.push((Expr::seq([key, self.colon(), value]), *required));
        }
        let entry = self.further(keywords, &properties, hint);
        let bounds =
            (count(keywords, "minProperties").unwrap_or(0), count(keywords, "maxProperties"));
        let inner = self.members(&members, entry, bounds, hint);
        let object = Expr::seq([Expr::text("{"), inner, Expr::text("}")]);
        self.rules.rule(hint, object)
    }

    /// The declared properties, and those that are only required. `None` if one is required that
    /// cannot be given.
    fn properties(&mut self, keywords: &Schema) -> Option<Vec<Property>> {
        let declared = keywords.get("properties").and_then(Value::as_object);
        let required = keywords.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        let mut names: Vec<&str> = declared.into_iter().flatten().map(|it| it.0.as_str()).collect();
        for name in &required {
            if !names.contains(name) {
                names.push(name);
            }
        }
        if self.at_root() {
            names.retain(|name| !self.hidden.contains(name));
        }
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let name_rule = keywords.get("propertyNames");
        let mut properties = Vec::with_capacity(names.len());
        for name in names {
            let is_required = required.contains(&name);
            let schema =
                Self::property(keywords, declared.and_then(|it| it.get(name)), patterns, name);
            let named = name_rule.is_none_or(|rule| self.proves(rule, &json!({"const": name})));
            match schema.filter(|_| named) {
                Some(schema) => {
                    let name = name.to_owned();
                    properties.push(Property { name, schema, required: is_required });
                }
                None if is_required => {
                    self.lose("required", &name.into(), "the property cannot be given");
                    return None;
                }
                None => {
                    self.lose("properties", &name.into(), "the property cannot be given");
                    let (name, schema) = (name.to_owned(), Value::Bool(false));
                    properties.push(Property { name, schema, required: false });
                }
            }
        }
        Some(properties)
    }

    /// The schema of a property, with those of the patterns that its name matches. `None` if it is
    /// not known which these are.
    fn property(
        keywords: &Schema,
        declared: Option<&Value>,
        patterns: Option<&Schema>,
        name: &str,
    ) -> Option<Value> {
        let mut all: Vec<&Value> = declared.into_iter().collect();
        for (source, schema) in patterns.into_iter().flatten() {
            let pattern = pattern::read(source)
                .filter(|it| it.exact && it.all_of.is_empty() && it.none_of.is_empty())?;
            if matches(&pattern.texts, name) {
                all.push(schema);
            }
        }
        if all.is_empty() {
            let rest = keywords.get("additionalProperties");
            all.extend(rest.or_else(|| keywords.get("unevaluatedProperties")));
        }
        match all[..] {
            [] => Some(Value::Bool(true)),
            [only] => Some(only.clone()),
            _ => Some(json!({ "allOf": all })),
        }
    }

    /// A property that is not declared: its name and its value.
    fn further(&mut self, keywords: &Schema, declared: &[Property], hint: &str) -> Option<Expr> {
        let schema = keywords.get("additionalProperties");
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.filter(|patterns| !patterns.is_empty());
        if let (Some(rule), true) = (keywords.get("propertyNames"), patterns.is_some()) {
            self.lose("propertyNames", rule, "only declared properties can be given");
            return None;
        }
        if let Some(schema) = keywords.get("unevaluatedProperties").filter(|_| schema.is_none()) {
            if *schema != Value::Bool(false) {
                self.lose("unevaluatedProperties", schema, "only declared properties can be given");
            }
            return self.patterned(patterns?, declared, hint);
        }
        if let Some(patterns) = patterns {
            if schema != Some(&Value::Bool(false)) {
                let value = schema.unwrap_or(&Value::Bool(true));
                self.lose("additionalProperties", value, "only declared properties can be given");
            }
            return self.patterned(patterns, declared, hint);
        }
        let properties = keywords.get("properties").and_then(Value::as_object);
        let has_properties = properties.is_some_and(|properties| !properties.is_empty());
        let schema = match schema {
            Some(Value::Bool(false)) => return None,
            Some(schema) => schema.clone(),
            // The check strips what an object with properties does not declare, and whatever is
            // sent to a tool without parameters.
            None if has_properties || (self.at_root() && declared.is_empty()) => return None,
            None => Value::Bool(true),
        };
        let key = self.other_key(keywords.get("propertyNames"), declared)?;
        let value = self.value(&["additionalProperties"], &schema, hint);
        let entry = Expr::seq([key, self.colon(), value]);
        (!entry.is_never()).then_some(entry)
    }

    /// The key of a property that is not declared.
    fn other_key(&mut self, rule: Option<&Value>, declared: &[Property]) -> Option<Expr> {
        let mut names: Vec<&str> = declared.iter().map(|property| &*property.name).collect();
        if self.at_root() {
            names.extend(self.hidden);
        }
        let Some(rule) = rule.filter(|rule| **rule != Value::Bool(true)) else {
            if names.is_empty() {
                return Some(self.any_string());
            }
            let texts = json_text::none_of(&names);
            return Some(self.rules.token("other-key", json_text::string(&texts)));
        };
        let derived = match self.key_texts(rule) {
            Some(Content::Any { least, most }) if names.is_empty() => {
                return Some(self.rules.token("string", json_text::any_string(least, most)));
            }
            Some(Content::Any { least, most }) => {
                let any = Regex::chars(crate::char_set::CharSet::all()).repeat(least, most);
                // The declared names that are no such keys do not matter.
                names.iter().all(|name| !matches(&any, name)).then_some(any)
            }
            Some(Content::Of { texts, .. }) => {
                let apart = names.iter().all(|name| are_disjoint(&texts, &Regex::literal(name)));
                apart.then_some(texts)
            }
            None => {
                let key = self.value(&["propertyNames"], &string_schema(rule), "key");
                return (names.is_empty() && !key.is_never()).then_some(key);
            }
        };
        if derived.is_none() {
            self.lose("additionalProperties", rule, "only declared properties can be given");
        }
        Some(self.rules.token("key", json_text::string(&derived?)))
    }

    /// The texts of keys, if a schema has nothing but keywords about texts.
    fn key_texts<'k>(&mut self, rule: &'k Value) -> Option<Content<'k>> {
        let keywords = rule.as_object()?;
        let plain = keywords.iter().all(|(key, value)| match key.as_str() {
            "type" => value == "string",
            "minLength" | "maxLength" | "pattern" | "format" => true,
            key => !super::asserts(key),
        });
        if plain { self.content(keywords) } else { None }
    }

    /// A property whose name matches one of the patterns.
    fn patterned(&mut self, patterns: &Schema, declared: &[Property], hint: &str) -> Option<Expr> {
        let mut names: Vec<&str> = declared.iter().map(|property| &*property.name).collect();
        if self.at_root() {
            names.extend(self.hidden);
        }
        let read = patterns.keys().map(|source| {
            let read = pattern::read(source)?;
            (read.exact && read.all_of.is_empty() && read.none_of.is_empty()).then_some(read.texts)
        });
        let read: Option<Vec<Regex>> = read.collect();
        let mut entries = Vec::new();
        for (at, (source, schema)) in patterns.iter().enumerate() {
            // A name must match no other pattern, and not be declared.
            let texts = read.as_ref().map(|all| &all[at]).filter(|texts| {
                let others = read.iter().flatten().enumerate().filter(|other| other.0 != at);
                others.into_iter().all(|(_, other)| are_disjoint(texts, other))
                    && names.iter().all(|name| are_disjoint(texts, &Regex::literal(name)))
            });
            let Some(texts) = texts else {
                let source = source.as_str().into();
                self.lose("patternProperties", &source, "these properties cannot be given");
                continue;
            };
            let value = self.value(&["patternProperties", source], schema, hint);
            let key = self.rules.token("key", json_text::string(texts));
            entries.push(Expr::seq([key, self.colon(), value]));
        }
        let entry = Expr::alt(entries);
        (!entry.is_never()).then_some(entry)
    }

    /// Members in their order, those that are not required or not, then further ones; their number
    /// is within bounds.
    pub(super) fn members(
        &mut self,
        members: &[(Expr, bool)],
        further: Option<Expr>,
        (least, most): (u32, Option<u32>),
        hint: &str,
    ) -> Expr {
        let comma = self.comma();
        let required = members.iter().filter(|member| member.1).count();
        let fits = |count: usize, bound: u32| u32::try_from(count).is_ok_and(|it| it >= bound);
        let least = if fits(required, least) { 0 } else { least };
        let bounded = most.filter(|&most| {
            further.is_some() || !u32::try_from(members.len()).is_ok_and(|count| count <= most)
        });
        let first = members.iter().position(|member| member.1).unwrap_or(members.len());
        let mut chain = Chain {
            members,
            further,
            comma,
            least,
            most: bounded,
            first,
            known: HashMap::new(),
            hint,
        };
        self.chain(&mut chain, 0, 0)
    }

    /// The members from one on, after so many.
    fn chain(&mut self, chain: &mut Chain<'_>, at: usize, count: u32) -> Expr {
        let enough = chain.least.max(1);
        // Without an upper bound, more than enough are as good as enough.
        let count = if chain.most.is_none() { count.min(enough) } else { count };
        let saturated = chain.most.is_none() && count == enough;
        if at == chain.members.len() {
            return chain.end(count);
        }
        if saturated && at > chain.first {
            return Expr::seq(
                chain.members[at..]
                    .iter()
                    .map(|(member, required)| {
                        let next = Expr::seq([chain.comma.clone(), member.clone()]);
                        if *required { next } else { next.optional() }
                    })
                    .chain([chain.end(count)]),
            );
        }
        if let Some(&id) = chain.known.get(&(at, count)) {
            return Expr::Rule(id);
        }
        let is_rule = at > 0;
        let id = is_rule.then(|| self.rules.declare(&format!("{}-rest", chain.hint)));
        if let Some(id) = id {
            chain.known.insert((at, count), id);
        }
        let (member, required) = chain.members[at].clone();
        if saturated {
            let next = Expr::seq([chain.comma.clone(), member]);
            let next = if required { next } else { next.optional() };
            let derived = Expr::seq([next, self.chain(chain, at + 1, count)]);
            return self.finished(id, derived);
        }
        let before = if count == 0 { Expr::EMPTY } else { chain.comma.clone() };
        let with = if chain.most.is_some_and(|most| count >= most) {
            Expr::NEVER
        } else {
            let rest = self.chain(chain, at + 1, count + 1);
            Expr::seq([before, member, rest])
        };
        let without = if required { Expr::NEVER } else { self.chain(chain, at + 1, count) };
        self.finished(id, Expr::alt([with, without]))
    }

    /// Sets a rule, if there is one.
    fn finished(&mut self, id: Option<RuleId>, derived: Expr) -> Expr {
        let Some(id) = id else { return derived };
        self.rules.set(id, derived);
        Expr::Rule(id)
    }
}

/// A declared property.
struct Property {
    name: String,
    schema: Value,
    required: bool,
}

/// The members of an object or an array in progress.
struct Chain<'m> {
    members: &'m [(Expr, bool)],
    further: Option<Expr>,
    comma: Expr,
    least: u32,
    most: Option<u32>,
    /// The first member that is required.
    first: usize,
    /// The rules of members from one on, after so many.
    known: HashMap<(usize, u32), RuleId>,
    hint: &'m str,
}

impl Chain<'_> {
    /// The further members, after so many.
    fn end(&self, count: u32) -> Expr {
        let missing = self.least.saturating_sub(count);
        let room = self.most.map(|most| most.saturating_sub(count));
        if self.most.is_some_and(|most| count > most) {
            return Expr::NEVER;
        }
        let Some(further) = &self.further else {
            return if missing == 0 { Expr::EMPTY } else { Expr::NEVER };
        };
        // Two further members may have the same name, and then count as one.
        if missing > 1 {
            return Expr::NEVER;
        }
        let next = Expr::seq([self.comma.clone(), further.clone()]);
        if count > 0 {
            return next.repeat(missing, room);
        }
        let some =
            Expr::seq([further.clone(), next.repeat(0, room.map(|it| it.saturating_sub(1)))]);
        match (missing, room) {
            (0, Some(0)) => Expr::EMPTY,
            (0, _) => some.optional(),
            (_, Some(0)) => Expr::NEVER,
            _ => some,
        }
    }
}

/// A schema of strings.
fn string_schema(rule: &Value) -> Value {
    json!({"allOf": [{"type": "string"}, rule]})
}
