//! Objects.

use std::collections::HashSet;

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::regular::{Automaton, CharSet, Language, Regex};
use serde_json::{Value, json};

use super::scalar::{Content, count};
use super::{Builder, Schema};
use crate::json_text;
use crate::rules::{Expr, ExprExt as _};

impl Builder<'_> {
    pub(super) fn object(&mut self, keywords: &Schema, hint: &str) -> Expr {
        let patterns = NamePattern::all(keywords);
        let Some(properties) = self.properties(keywords, &patterns) else { return Expr::NEVER };
        let mut members = Vec::new();
        for Property { name, schema, required } in &properties {
            let value = self.value(&[k::PROPERTIES, name], schema, name);
            if value.is_never() {
                if *required {
                    return Expr::NEVER;
                }
                if *schema != Value::Bool(false) {
                    self.lose(name, schema, "the property cannot be given");
                }
                continue;
            }
            let key = Expr::text(Value::from(name.as_str()).to_string());
            members.push((Expr::seq([key, self.colon(), value]), *required));
        }
        let entry = self.further(keywords, &patterns, &properties, hint);
        let least = count(keywords, k::MIN_PROPERTIES).unwrap_or(0);
        let most = count(keywords, k::MAX_PROPERTIES);
        let inner = self.members(members, entry, least, most, hint);
        let object = Expr::seq([Expr::text("{"), inner, Expr::text("}")]);
        self.rules.rule(hint, object)
    }

    /// The declared properties, and those that are only required. `None` if one is required that
    /// cannot be given.
    fn properties(
        &mut self,
        keywords: &Schema,
        patterns: &[NamePattern<'_>],
    ) -> Option<Vec<Property>> {
        let declared = keywords.get(k::PROPERTIES).and_then(Value::as_object);
        let required = keywords.get(k::REQUIRED).and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let mut names: Vec<&str> = declared.into_iter().flatten().map(|it| it.0.as_str()).collect();
        let mut required_names = HashSet::new();
        for name in required {
            let is_declared = declared.is_some_and(|declared| declared.contains_key(name));
            if required_names.insert(name) && !is_declared {
                names.push(name);
            }
        }
        if self.at_root() {
            let hidden: HashSet<&str> = self.hidden.iter().copied().collect();
            names.retain(|name| !hidden.contains(name));
        }
        let name_rule = keywords.get(k::PROPERTY_NAMES);
        let mut properties = Vec::with_capacity(names.len());
        for name in names {
            let is_required = required_names.contains(name);
            let schema =
                Self::property(keywords, declared.and_then(|it| it.get(name)), patterns, name);
            let named = name_rule.is_none_or(|rule| self.proves(rule, &json!({"const": name})));
            match schema.filter(|_| named) {
                Some(schema) => {
                    let name = name.to_owned();
                    properties.push(Property { name, schema, required: is_required });
                }
                None if is_required => {
                    self.lose(k::REQUIRED, &name.into(), "the property cannot be given");
                    return None;
                }
                None => {
                    self.lose(k::PROPERTIES, &name.into(), "the property cannot be given");
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
        patterns: &[NamePattern<'_>],
        name: &str,
    ) -> Option<Value> {
        let mut all: Vec<&Value> = declared.into_iter().collect();
        for pattern in patterns {
            if pattern.matches(name)? {
                all.push(pattern.schema);
            }
        }
        if all.is_empty() {
            let rest = keywords.get(k::ADDITIONAL_PROPERTIES);
            all.extend(rest.or_else(|| keywords.get(k::UNEVALUATED_PROPERTIES)));
        }
        match all[..] {
            [] => Some(Value::Bool(true)),
            [only] => Some(only.clone()),
            _ => Some(json!({ "allOf": all })),
        }
    }

    /// A property that is not declared: its name and its value.
    fn further(
        &mut self,
        keywords: &Schema,
        patterns: &[NamePattern<'_>],
        declared: &[Property],
        hint: &str,
    ) -> Option<Expr> {
        let schema = keywords.get(k::ADDITIONAL_PROPERTIES);
        if let (Some(rule), false) = (keywords.get(k::PROPERTY_NAMES), patterns.is_empty()) {
            return self.lose_further(k::PROPERTY_NAMES, rule);
        }
        if let Some(schema) = keywords.get(k::UNEVALUATED_PROPERTIES).filter(|_| schema.is_none()) {
            if *schema != Value::Bool(false) {
                self.lose_further(k::UNEVALUATED_PROPERTIES, schema);
            }
            return self.pattern_properties(patterns, declared, hint);
        }
        if !patterns.is_empty() {
            if schema != Some(&Value::Bool(false)) {
                let value = schema.unwrap_or(&Value::Bool(true));
                self.lose_further(k::ADDITIONAL_PROPERTIES, value);
            }
            return self.pattern_properties(patterns, declared, hint);
        }
        let properties = keywords.get(k::PROPERTIES).and_then(Value::as_object);
        let has_properties = properties.is_some_and(|properties| !properties.is_empty());
        let schema = match schema {
            Some(Value::Bool(false)) => return None,
            Some(schema) => schema.clone(),
            // The check strips what an object with properties does not declare, and whatever is
            // sent to a tool without parameters.
            None if has_properties || (self.at_root() && declared.is_empty()) => return None,
            None => Value::Bool(true),
        };
        let key = self.other_key(keywords.get(k::PROPERTY_NAMES), declared)?;
        let value = self.value(&[k::ADDITIONAL_PROPERTIES], &schema, hint);
        let entry = Expr::seq([key, self.colon(), value]);
        (!entry.is_never()).then_some(entry)
    }

    /// Notes that undeclared properties cannot be given, and returns none.
    fn lose_further(&mut self, keyword: &str, value: &Value) -> Option<Expr> {
        self.lose(keyword, value, "only declared properties can be given");
        None
    }

    /// The names that no undeclared property has.
    fn taken_names<'p>(&self, declared: &'p [Property]) -> Vec<&'p str>
    where
        Self: 'p,
    {
        let mut names: Vec<&str> = declared.iter().map(|property| &*property.name).collect();
        if self.at_root() {
            names.extend(self.hidden);
        }
        names
    }

    fn other_key(&mut self, rule: Option<&Value>, declared: &[Property]) -> Option<Expr> {
        let names = self.taken_names(declared);
        let Some(rule) = rule.filter(|rule| **rule != Value::Bool(true)) else {
            if names.is_empty() {
                return Some(self.any_string());
            }
            let Some(texts) = json_text::none_of(&names) else {
                return self.lose_further(k::ADDITIONAL_PROPERTIES, &Value::Null);
            };
            return Some(self.rules.token("other-key", json_text::string(&texts)));
        };
        let derived = match self.key_texts(rule) {
            Some(Content::Any { least, most }) if names.is_empty() => {
                return Some(self.rules.token("string", json_text::any_string(least, most)));
            }
            Some(Content::Any { least, most }) => {
                // The declared names that are no such keys do not matter.
                let is_key = |name: &str| {
                    let length = u32::try_from(name.chars().count()).unwrap_or(u32::MAX);
                    length >= least && most.is_none_or(|most| length <= most)
                };
                let any = || Regex::chars(CharSet::all()).repeat(least, most);
                (!names.iter().any(|name| is_key(name))).then(any)
            }
            Some(Content::Of { texts, .. }) => {
                let automaton = Automaton::of(&texts);
                let apart = automaton.is_some_and(|it| !names.iter().any(|name| it.matches(name)));
                apart.then_some(texts)
            }
            None => {
                let key = self.value(&[k::PROPERTY_NAMES], &string_schema(rule), "key");
                return (names.is_empty() && !key.is_never()).then_some(key);
            }
        };
        if derived.is_none() {
            self.lose_further(k::ADDITIONAL_PROPERTIES, rule);
        }
        Some(self.rules.token("key", json_text::string(&derived?)))
    }

    /// The texts of keys, if a schema has nothing but keywords about texts.
    fn key_texts<'k>(&mut self, rule: &'k Value) -> Option<Content<'k>> {
        let keywords = rule.as_object()?;
        let plain = keywords.iter().all(|(key, value)| match key.as_str() {
            k::TYPE => value == "string",
            k::MIN_LENGTH | k::MAX_LENGTH | k::PATTERN | k::FORMAT => true,
            key => !super::asserts(key),
        });
        if plain { self.content(keywords) } else { None }
    }

    /// A property whose name matches one of the patterns.
    fn pattern_properties(
        &mut self,
        patterns: &[NamePattern<'_>],
        declared: &[Property],
        hint: &str,
    ) -> Option<Expr> {
        let names = self.taken_names(declared);
        let is_apart: Vec<bool> = (0..patterns.len())
            .map(|at| self.matches_alone(patterns, at, &names).unwrap_or(false))
            .collect();
        let mut entries = Vec::new();
        for (NamePattern { source, schema, texts, .. }, is_apart) in patterns.iter().zip(is_apart) {
            let Some(texts) = texts.as_ref().filter(|_| is_apart) else {
                let source = (*source).into();
                self.lose(k::PATTERN_PROPERTIES, &source, "these properties cannot be given");
                continue;
            };
            let value = self.value(&[k::PATTERN_PROPERTIES, source], schema, hint);
            let key = self.rules.token("key", json_text::string(texts));
            entries.push(Expr::seq([key, self.colon(), value]));
        }
        let entry = Expr::alt(entries);
        (!entry.is_never()).then_some(entry)
    }

    /// Whether it is proven that what one pattern matches is no taken name, and matched by no other
    /// pattern.
    fn matches_alone(
        &mut self,
        patterns: &[NamePattern<'_>],
        at: usize,
        taken: &[&str],
    ) -> Option<bool> {
        let pattern = patterns.get(at)?;
        let automaton = pattern.automaton.as_ref()?;
        if taken.iter().any(|name| pattern.matches(name) != Some(false)) {
            return None;
        }
        for (_, other) in patterns.iter().enumerate().filter(|other| other.0 != at) {
            self.proofs = self.proofs.checked_sub(1)?;
            if !automaton.is_disjoint_from(other.automaton.as_ref()?) {
                return None;
            }
        }
        Some(true)
    }
}

/// A pattern of property names.
struct NamePattern<'k> {
    source: &'k str,
    schema: &'k Value,
    /// The names that match. `None` if these are not known exactly.
    texts: Option<Regex>,
    automaton: Option<Automaton>,
}

impl<'k> NamePattern<'k> {
    /// Whether a name matches. `None` if that is not known.
    fn matches(&self, name: &str) -> Option<bool> {
        // Engines differ in what ends a line.
        let is_unsure = self.source.contains('.') && name.contains(['\r', '\u{2028}', '\u{2029}']);
        self.automaton.as_ref().filter(|_| !is_unsure).map(|automaton| automaton.matches(name))
    }

    fn all(keywords: &'k Schema) -> Vec<Self> {
        let patterns = keywords.get(k::PATTERN_PROPERTIES).and_then(Value::as_object);
        let read = patterns.into_iter().flatten().map(|(source, schema)| {
            let read = Language::of_pattern(source)
                .filter(|it| it.exact && it.all_of.is_empty() && it.none_of.is_empty());
            let texts = read.map(|it| it.texts);
            let automaton = texts.as_ref().and_then(Automaton::of);
            Self { source, schema, texts, automaton }
        });
        read.collect()
    }
}

/// A declared property.
struct Property {
    name: String,
    schema: Value,
    required: bool,
}

/// A schema of strings.
fn string_schema(rule: &Value) -> Value {
    json!({"allOf": [{"type": "string"}, rule]})
}
