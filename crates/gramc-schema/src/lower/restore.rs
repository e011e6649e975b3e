//! Converts the arguments of a call back to the form of the tool's own schema.

use std::collections::HashMap;

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::text::{MAX_DEPTH, MAX_SCHEMA_LEVELS};
use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::schema::parts::listed_values;

/// Converts arguments for a lowered schema back to the original schema: it renames keys, parses
/// strings of JSON text, and removes nulls that represent omitted properties.
#[derive(Debug, Clone, Default)]
pub struct Restore {
    root: RestorePlan,
    definitions: HashMap<String, Alternative>,
}

/// How to restore a value.
#[derive(Debug, Clone, Default)]
pub(super) enum RestorePlan {
    /// Leave the value unchanged.
    #[default]
    Keep,
    /// Parse a string as JSON. The string is kept if the result has none of the types.
    Text(TypeSet),
    /// The plans of fields, and one for all other properties.
    Object(Vec<FieldPlan>, Box<Self>),
    /// The plans of the first items, and one for all other items.
    Array(Vec<Self>, Box<Self>),
    /// Use the plan of the member that fits best. The first one wins a tie.
    Union(Vec<Alternative>),
    /// Use the plan of a definition.
    Ref(String),
}

#[derive(Debug, Clone)]
pub(super) struct FieldPlan {
    /// The key in the lowered schema.
    pub(super) key: String,
    /// The key in the original schema, if it differs.
    pub(super) original: Option<String>,
    /// Whether null means that the property is omitted.
    pub(super) null_is_absent: bool,
    pub(super) plan: RestorePlan,
}

/// A member of a union, or a definition of the lowered schema.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    fit: Fit,
    plan: RestorePlan,
}

impl Alternative {
    pub(super) fn new(schema: &Value, plan: RestorePlan) -> Self {
        Self { fit: Fit::of(schema), plan }
    }
}

/// How to recognize the values of a union member.
#[derive(Debug, Clone)]
enum Fit {
    /// Matches like a definition.
    Ref(String),
    /// Matches like the best of several.
    AnyOf(Vec<Fit>),
    /// Matches on types, required properties, and properties with few possible values.
    Here { types: TypeSet, required: Vec<String>, values: Vec<(String, Vec<Value>)> },
}

impl Restore {
    pub(super) const fn new(root: RestorePlan, definitions: HashMap<String, Alternative>) -> Self {
        Self { root, definitions }
    }

    /// Restores the arguments for the tool's own schema. Values that do not match the lowered
    /// schema are left unchanged, so that validation reports them.
    #[must_use]
    pub fn arguments(&self, arguments: Value) -> Value {
        self.apply(&self.root, arguments, 0)
    }

    /// Arguments as the lowered schema has them. `None` if restoring them gives other arguments.
    pub(super) fn reversed(&self, arguments: &Value) -> Option<Value> {
        let reversed = self.reverse(&self.root, arguments, 0);
        (self.arguments(reversed.clone()) == *arguments).then_some(reversed)
    }

    fn reverse(&self, plan: &RestorePlan, value: &Value, depth: usize) -> Value {
        let next = depth + 1;
        match (self.follow(plan), value) {
            _ if depth > MAX_DEPTH => value.clone(),
            (RestorePlan::Text(_), value) => Value::String(value.to_string()),
            (plan @ RestorePlan::Union(alternatives), value) => {
                let mut reversed =
                    alternatives.iter().map(|it| self.reverse(&it.plan, value, next));
                let is_right = |it: &Value| self.apply(plan, it.clone(), depth) == *value;
                reversed.find(is_right).unwrap_or_else(|| value.clone())
            }
            (RestorePlan::Array(prefix, rest), Value::Array(items)) => {
                let plans = prefix.iter().chain(std::iter::repeat(&**rest));
                items.iter().zip(plans).map(|(item, plan)| self.reverse(plan, item, next)).collect()
            }
            (RestorePlan::Object(fields, rest), Value::Object(map)) => {
                let own_key =
                    |field: &'_ FieldPlan| field.original.clone().unwrap_or(field.key.clone());
                let by_key: HashMap<String, &FieldPlan> =
                    fields.iter().map(|field| (own_key(field), field)).collect();
                let mut out = Map::new();
                for (key, value) in map {
                    let field = by_key.get(key);
                    let plan = field.map_or(&**rest, |field| &field.plan);
                    let to = field.map_or(key, |field| &field.key);
                    out.insert(to.clone(), self.reverse(plan, value, next));
                }
                for field in fields.iter().filter(|field| field.null_is_absent) {
                    out.entry(&field.key).or_insert(Value::Null);
                }
                out.into()
            }
            (_, value) => value.clone(),
        }
    }

    /// Whether all arguments stay unchanged.
    pub fn is_identity(&self) -> bool {
        self.root.is_keep()
    }

    fn apply(&self, plan: &RestorePlan, value: Value, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return value;
        }
        let next = depth + 1;
        match (plan, value) {
            (RestorePlan::Ref(name), value) => match self.definitions.get(name) {
                Some(definition) => self.apply(&definition.plan, value, next),
                None => value,
            },
            (RestorePlan::Text(types), Value::String(text)) => match serde_json::from_str(&text) {
                Ok(read) if types.accepts(&read) => read,
                _ => Value::String(text),
            },
            (RestorePlan::Union(alternatives), value) => match self.best(alternatives, &value) {
                Some(plan) => self.apply(plan, value, next),
                None => value,
            },
            (RestorePlan::Array(prefix, rest), Value::Array(items)) => {
                let restored = items
                    .into_iter()
                    .enumerate()
                    .map(|(at, item)| self.apply(prefix.get(at).unwrap_or(rest), item, next));
                Value::Array(restored.collect())
            }
            (RestorePlan::Object(fields, rest), Value::Object(map)) => {
                let mut out = Map::new();
                for (key, value) in map {
                    let Some(field) = fields.iter().find(|field| field.key == key) else {
                        let value = self.apply(rest, value, next);
                        out.entry(key).or_insert(value);
                        continue;
                    };
                    if value.is_null() && field.null_is_absent {
                        continue;
                    }
                    let value = self.apply(&field.plan, value, next);
                    out.insert(field.original.clone().unwrap_or(key), value);
                }
                Value::Object(out)
            }
            (_, value) => value,
        }
    }

    /// The plan of the member that best fits a value.
    fn best<'p>(
        &'p self,
        alternatives: &'p [Alternative],
        value: &Value,
    ) -> Option<&'p RestorePlan> {
        if let Value::String(text) = value
            && let Some(plan) = self.best_for_text(alternatives, text)
        {
            return Some(plan);
        }
        let mut best = None;
        for alternative in alternatives {
            let score = self.score(&alternative.fit, value, 0);
            if score > best.map_or(0, |(score, _)| score) {
                best = Some((score, &alternative.plan));
            }
        }
        best.map(|(_, plan)| plan)
    }

    /// The member that accepts a text as JSON. If another member accepts plain strings, only
    /// objects and arrays are parsed, because they are unlikely to be plain text.
    fn best_for_text<'p>(
        &'p self,
        alternatives: &'p [Alternative],
        text: &str,
    ) -> Option<&'p RestorePlan> {
        let texts = |alternative: &'p Alternative| match self.follow(&alternative.plan) {
            RestorePlan::Text(types) => Some((alternative, *types)),
            _ => None,
        };
        alternatives.iter().find_map(texts)?;
        let read: Value = serde_json::from_str(text).ok()?;
        let plain = alternatives.iter().any(|alternative| {
            texts(alternative).is_none()
                && self.score(&alternative.fit, &Value::String(String::new()), 0) > 0
        });
        if plain && !matches!(read, Value::Object(_) | Value::Array(_)) {
            return None;
        }
        let mut fitting = alternatives.iter().filter_map(texts);
        fitting.find(|(_, types)| types.accepts(&read)).map(|(found, _)| &found.plan)
    }

    /// Follows references to a plan.
    fn follow<'p>(&'p self, mut plan: &'p RestorePlan) -> &'p RestorePlan {
        for _ in 0..MAX_DEPTH {
            let RestorePlan::Ref(name) = plan else { break };
            let Some(definition) = self.definitions.get(name) else { break };
            plan = &definition.plan;
        }
        plan
    }

    /// Scores how well a value fits: 0 not at all, 1 by its type, 2 also by its properties, 3 also
    /// by their values.
    fn score(&self, fit: &Fit, value: &Value, depth: usize) -> u8 {
        match fit {
            Fit::Ref(name) => match self.definitions.get(name) {
                Some(definition) if depth < MAX_DEPTH => {
                    self.score(&definition.fit, value, depth + 1)
                }
                _ => 1,
            },
            Fit::AnyOf(members) => {
                let scores = members.iter().map(|member| self.score(member, value, depth + 1));
                scores.max().unwrap_or_default()
            }
            Fit::Here { types, .. } if !types.accepts(value) => 0,
            Fit::Here { required, values, .. } => {
                let Value::Object(map) = value else { return 3 };
                if values
                    .iter()
                    .any(|(key, values)| map.get(key).is_some_and(|value| !values.contains(value)))
                {
                    return 1;
                }
                let complete = required.iter().all(|key| map.contains_key(key));
                let told = values.iter().any(|(key, _)| map.contains_key(key));
                1 + u8::from(complete) + u8::from(told)
            }
        }
    }
}

impl FieldPlan {
    /// A property whose value is left unchanged.
    pub(super) const fn keep(key: String, original: Option<String>) -> Self {
        Self { key, original, null_is_absent: false, plan: RestorePlan::Keep }
    }
}

impl RestorePlan {
    pub(super) const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// The plan, or another one if there is nothing to restore.
    pub(super) fn or(self, other: Self) -> Self {
        if self.is_keep() { other } else { self }
    }

    /// A plan for an object, or `Keep` if there is nothing to restore.
    pub(super) fn object(fields: Vec<FieldPlan>, rest: Self) -> Self {
        if fields.is_empty() && rest.is_keep() {
            return Self::Keep;
        }
        Self::Object(fields, Box::new(rest))
    }

    /// A plan for an array, or `Keep` if there is nothing to restore.
    pub(super) fn array(prefix: Vec<Self>, items: Self) -> Self {
        if items.is_keep() && prefix.iter().all(Self::is_keep) {
            return Self::Keep;
        }
        Self::Array(prefix, Box::new(items))
    }

    /// A plan for a union with these members, or `Keep` if there is nothing to restore.
    pub(super) fn union(plans: Vec<Self>, members: &[Value]) -> Self {
        if plans.iter().all(Self::is_keep) {
            return Self::Keep;
        }
        let both = members.iter().zip(plans);
        Self::Union(both.map(|(member, plan)| Alternative::new(member, plan)).collect())
    }

    /// Lets a member with something to restore win a tie. This is for members of which one alone
    /// may accept a value: JSON text that also fits another member as plain text would fit both.
    pub(super) fn prefer_changes(&mut self) {
        if let Self::Union(alternatives) = self {
            alternatives.sort_by_key(|alternative| alternative.plan.is_keep());
        }
    }
}

impl Fit {
    /// How to recognize the values of a lowered schema.
    fn of(schema: &Value) -> Self {
        if let Some(name) = schema.get(k::REF).and_then(Value::as_str) {
            return Self::Ref(name.to_owned());
        }
        if let (Some(Value::Array(members)), None) = (schema.get(k::ANY_OF), schema.get(k::TYPE)) {
            return Self::AnyOf(members.iter().map(Self::of).collect());
        }
        let types = declared_or_united(schema, 0);
        let list = schema.get(k::REQUIRED).and_then(Value::as_array);
        let required = list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let properties = schema.get(k::PROPERTIES).and_then(Value::as_object);
        let values = properties
            .into_iter()
            .flatten()
            .filter_map(|(key, property)| Some((key.clone(), listed_values(property)?.to_vec())));
        Self::Here { types, required: required.collect(), values: values.collect() }
    }
}

/// The types in a schema's `type`, or else those of its union members. All types if unknown.
fn declared_or_united(schema: &Value, depth: usize) -> TypeSet {
    let alternatives = schema.get(k::ANY_OF).or_else(|| schema.get(k::ONE_OF));
    match (TypeSet::declared(schema), alternatives) {
        (Some(types), _) => types,
        (None, Some(Value::Array(parts))) if depth < MAX_SCHEMA_LEVELS => parts
            .iter()
            .map(|part| declared_or_united(part, depth + 1))
            .fold(TypeSet::NONE, TypeSet::or),
        _ => TypeSet::ALL,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Target;
    use super::super::testing::lowered;

    /// Asserts that calls for the lowered schema restore to the expected arguments.
    #[track_caller]
    fn restores(target: Target, schema: &Value, calls: &[(Value, Value)]) {
        let out = lowered(target, schema);
        for (call, expected) in calls {
            let restored = out.restore.arguments(call.clone());
            assert_eq!(restored.to_string(), expected.to_string(), "{call}\n{}", out.value);
        }
    }

    fn object(properties: &Value, required: &Value) -> Value {
        json!({"type": "object", "properties": properties, "required": required})
    }

    #[test]
    fn a_null_for_what_is_left_out_is_removed() {
        let schema = object(
            &json!({
                "a": {"type": "integer"},
                "b": {"type": ["integer", "null"]},
                "c": {"type": "object", "properties": {"d": {"type": "string"}}},
                "e": {}
            }),
            &json!(["a"]),
        );
        restores(
            Target::OpenAiStrict,
            &schema,
            &[
                (json!({"a": 1, "b": null, "c": null, "e": null}), json!({"a": 1, "b": null})),
                (json!({"a": null, "c": {"d": null}}), json!({"a": null, "c": {}})),
                (json!({"a": 1, "e": "null"}), json!({"a": 1, "e": null})),
                (json!({"a": 1, "x": null}), json!({"a": 1, "x": null})),
            ],
        );
        restores(Target::OpenAi, &schema, &[(json!({"b": null}), json!({"b": null}))]);
    }

    #[test]
    fn a_null_that_the_schema_refuses_means_left_out() {
        let schema = json!({
            "type": "object",
            "properties": {
                "count": {"type": ["integer", "null"]},
                "total": {"type": ["integer", "null"]},
                "either": {"oneOf": [{"type": ["string", "null"]}, {"type": ["integer", "null"]}]},
                "one": {"oneOf": [{"type": ["string", "null"]}, {"type": "integer"}]}
            },
            "patternProperties": {"^c": {"type": "integer"}}
        });
        let call = json!({"count": null, "total": null, "either": null, "one": null});
        restores(Target::OpenAiStrict, &schema, &[(call, json!({"total": null, "one": null}))]);
    }

    #[test]
    fn json_text_in_one_of_several_is_read() {
        let map = |of: Value| json!({"type": "object", "additionalProperties": of});
        let mut schema = object(
            &json!({"a": {"oneOf": [map(json!({"type": "string"})), {"$ref": "#/$defs/Tree"}]}}),
            &json!(["a"]),
        );
        schema["$defs"] = json!({"Tree": map(json!({"$ref": "#/$defs/Node"})),
            "Node": {"oneOf": [{"type": "integer"}, {"$ref": "#/$defs/Tree"}]}});
        let restored = (json!({"a": {"b": "{\"c\":1}"}}), json!({"a": {"b": {"c": 1}}}));
        restores(Target::GeminiJson, &schema, &[restored]);
    }

    #[test]
    fn text_that_holds_json_is_read() {
        let schema = object(
            &json!({
                "map": {"type": "object", "additionalProperties": {"type": "integer"}},
                "any": {},
                "list": {"type": "array"},
                "either": {"anyOf": [{"type": "string"}, {"type": "object"}]}
            }),
            &json!(["map", "any", "list", "either"]),
        );
        for target in [Target::OpenAiStrict, Target::AnthropicStrict, Target::Gemini] {
            restores(
                target,
                &schema,
                &[
                    (json!({"map": "{\"a\": 1}"}), json!({"map": {"a": 1}})),
                    (json!({"map": "[1]"}), json!({"map": "[1]"})),
                    (json!({"map": "{"}), json!({"map": "{"})),
                    (json!({"map": {"a": 1}}), json!({"map": {"a": 1}})),
                    (json!({"any": "5"}), json!({"any": 5})),
                    (json!({"any": "\"5\""}), json!({"any": "5"})),
                    (json!({"any": "hello"}), json!({"any": "hello"})),
                    (json!({"list": ["1", "x", "[]"]}), json!({"list": [1, "x", []]})),
                    (json!({"either": "{\"a\": \"1\"}"}), json!({"either": {"a": "1"}})),
                    (json!({"either": "5"}), json!({"either": "5"})),
                    (json!([1]), json!([1])),
                    (json!(null), json!(null)),
                ],
            );
        }
    }

    #[test]
    fn null_and_text_are_told_apart_where_each_is_an_alternative() {
        let part = json!({"type": ["object", "null"], "properties": {"m": {"type": "object"}}});
        let schema = object(
            &json!({
                "map": {"type": ["object", "null"]},
                "part": part,
                "either": {"anyOf": [part, {"type": ["array", "null"], "items": {}}]}
            }),
            &json!(["map"]),
        );
        restores(
            Target::AnthropicStrict,
            &schema,
            &[
                (json!({"map": null}), json!({"map": null})),
                (json!({"map": "{\"a\": [1]}"}), json!({"map": {"a": [1]}})),
                (json!({"map": "null"}), json!({"map": null})),
                (json!({"map": "5", "part": null}), json!({"map": "5", "part": null})),
                (json!({"part": {"m": "{}"}}), json!({"part": {"m": {}}})),
                (json!({"either": {"m": "{}"}}), json!({"either": {"m": {}}})),
                (json!({"either": ["1", "{}"]}), json!({"either": [1, {}]})),
            ],
        );
    }

    #[test]
    fn keys_get_their_own_names_at_every_depth() {
        let inner = object(&json!({"MA(5)": {"type": "number"}}), &json!(["MA(5)"]));
        let schema = object(
            &json!({
                "Content-Type": {"type": "string"},
                "rows": {"type": "array", "items": inner},
                "one": {"oneOf": [inner, {"type": "string"}]}
            }),
            &json!(["Content-Type"]),
        );
        restores(
            Target::Gemini,
            &schema,
            &[(
                json!({"Content_Type": "x", "rows": [{"MA_5_": 1}, {"b": 2}], "one": {"MA_5_": 3}}),
                json!({"Content-Type": "x", "rows": [{"MA(5)": 1}, {"b": 2}], "one": {"MA(5)": 3}}),
            )],
        );
        let schema = object(&json!({"a b": inner}), &json!([]));
        restores(
            Target::Anthropic,
            &schema,
            &[(json!({"a_b": {"MA(5)": 1}}), json!({"a b": {"MA(5)": 1}}))],
        );
    }

    #[test]
    fn references_and_unions_are_followed() {
        let schema = json!({
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/Tree"}, "shape": {"$ref": "#/$defs/Shape"}},
            "required": ["tree"],
            "$defs": {
                "Tree": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "integer"},
                        "left": {"$ref": "#/$defs/Tree"},
                        "more": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
                    }
                },
                "Shape": {"oneOf": [{"$ref": "#/$defs/Disc"}, {"$ref": "#/$defs/Box"}]},
                "Disc": {
                    "type": "object",
                    "properties": {"kind": {"const": "disc"}, "note": {"type": "string"}},
                    "required": ["kind"]
                },
                "Box": {
                    "type": "object",
                    "properties": {
                        "kind": {"const": "box"},
                        "note": {"type": ["string", "null"]},
                        "size": {"type": "object"}
                    },
                    "required": ["kind"]
                }
            }
        });
        restores(
            Target::OpenAiStrict,
            &schema,
            &[
                (
                    json!({"tree": {"value": null, "left": {"value": 1, "left": null, "more": null},
                        "more": [{"value": null}]}, "shape": null}),
                    json!({"tree": {"left": {"value": 1}, "more": [{}]}}),
                ),
                (
                    json!({"shape": {"kind": "disc", "note": null}}),
                    json!({"shape": {"kind": "disc"}}),
                ),
                (
                    json!({"shape": {"kind": "box", "note": null, "size": "{\"w\":1}"}}),
                    json!({"shape": {"kind": "box", "note": null, "size": {"w": 1}}}),
                ),
            ],
        );
        let tree =
            json!({"tree": {"left": "{\"left\": {\"value\": 2}}", "more": ["{\"value\":1}"]}});
        let whole = json!({"tree": {"left": {"left": {"value": 2}}, "more": [{"value": 1}]}});
        for target in [Target::AnthropicStrict, Target::Gemini] {
            restores(target, &schema, &[(tree.clone(), whole.clone())]);
        }
    }

    #[test]
    fn what_is_as_it_was_stays_as_it_is() {
        let schema = object(&json!({"a": {"type": "string"}}), &json!(["a"]));
        for target in Target::ALL {
            let out = lowered(target, &schema);
            assert!(out.restore.is_identity(), "{}", target.name());
        }
        let deep = (0..400).fold(json!(1), |inner, _| json!({"a": inner}));
        let out = lowered(Target::OpenAiStrict, &object(&json!({"a": {}}), &json!([])));
        assert_eq!(out.restore.arguments(deep.clone()), deep);
    }
}
