//! Rewrites schemas of draft 2020-12 as draft 7.

use std::iter::once;

use serde_json::{Map, Value};

use crate::keywords::{Keyword, KeywordValue, name as k};
use crate::normalize::normalize;
use crate::pointer::{below, decode_fragment, escape_fragment_token, unescape_token};

/// A schema as draft 7.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft7 {
    /// The schema, without `$schema`.
    pub schema: Value,
    /// The keywords that draft 7 cannot express, in the order of the schema.
    pub lost: Vec<LostKeyword>,
}

/// A keyword that draft 7 cannot express.
#[derive(Debug, Clone, PartialEq)]
pub struct LostKeyword {
    /// The JSON pointer to the schema that had it, in the given schema.
    pub from: String,
    /// The JSON pointer to that schema in the rewritten one.
    pub place: String,
    /// The keyword.
    pub keyword: Keyword,
    /// Its value.
    pub value: Value,
}

/// Rewrites a schema of draft 2020-12 as draft 7: definitions, tuples, dependencies and references
/// with siblings. The result allows all values that the schema allows, and more only where
/// keywords are lost: `unevaluatedProperties`, `unevaluatedItems`, `minContains`, `maxContains` and
/// dynamic references.
pub fn to_draft7(schema: &Value) -> Draft7 {
    // A schema whose references lead nowhere stays as it is.
    let schema = normalize(schema.clone()).map_or_else(|_| schema.clone(), |it| it.schema);
    let mut rewriter = Rewriter { root: &schema, lost: Vec::new() };
    let written = rewriter.schema(&schema, "", "");
    Draft7 { schema: written, lost: rewriter.lost }
}

struct Rewriter<'s> {
    root: &'s Value,
    lost: Vec<LostKeyword>,
}

impl Rewriter<'_> {
    /// Rewrites a schema. `from` is its pointer in the given schema, `place` that in the new one.
    fn schema(&mut self, schema: &Value, from: &str, place: &str) -> Value {
        let Value::Object(map) = schema else { return schema.clone() };
        let mut written = Map::with_capacity(map.len());
        // What draft 7 can only say in schemas of their own.
        let mut apart = Vec::new();
        for (key, value) in map {
            let keyword = Keyword::of(key);
            if is_lost(keyword, value, map) {
                self.lost.push(LostKeyword {
                    from: from.to_owned(),
                    place: place.to_owned(),
                    keyword,
                    value: value.clone(),
                });
                continue;
            }
            match keyword {
                Keyword::Schema | Keyword::MinContains => {}
                Keyword::Contains if map.get(k::MIN_CONTAINS).is_some_and(is_zero) => {}
                Keyword::Ref => {
                    let reference = self.reference(value);
                    if map.len() == 1 {
                        written.insert(key.clone(), reference);
                    } else {
                        // Draft 7 ignores the siblings of `$ref`.
                        written.entry(k::ALL_OF).or_insert_with(|| Value::Array(Vec::new()));
                        apart.push(object(k::REF, reference));
                    }
                }
                Keyword::DependentRequired if map.contains_key(k::DEPENDENT_SCHEMAS) => {
                    apart.push(object(k::DEPENDENCIES, value.clone()));
                }
                Keyword::DependentRequired => {
                    written.insert(k::DEPENDENCIES.to_owned(), value.clone());
                }
                _ => {
                    let name = name_in_draft7(key, map);
                    let (from, place) = (below(from, key), below(place, name));
                    let value = self.keyword(keyword, value, &from, &place);
                    written.insert(name.to_owned(), value);
                }
            }
        }
        if !apart.is_empty()
            && let Value::Array(members) =
                written.entry(k::ALL_OF).or_insert_with(|| Value::Array(Vec::new()))
        {
            members.extend(apart);
        }
        Value::Object(written)
    }

    /// Rewrites the schemas in the value of a keyword.
    fn keyword(&mut self, keyword: Keyword, value: &Value, from: &str, place: &str) -> Value {
        use KeywordValue as V;
        match (keyword.value(), value) {
            (V::Schema | V::SchemaOrList, _) => self.schema(value, from, place),
            (V::SchemaList, Value::Array(items)) => {
                let items = items.iter().enumerate().map(|(at, item)| {
                    self.schema(item, &format!("{from}/{at}"), &format!("{place}/{at}"))
                });
                items.collect()
            }
            (V::SchemaMap, Value::Object(map)) => {
                let all = map.iter().map(|(key, schema)| {
                    (key.clone(), self.schema(schema, &below(from, key), &below(place, key)))
                });
                Value::Object(all.collect())
            }
            _ => value.clone(),
        }
    }

    /// A reference, to where its target is now.
    fn reference(&self, reference: &Value) -> Value {
        let Some(fragment) = reference.as_str().and_then(|text| text.strip_prefix('#')) else {
            return reference.clone();
        };
        let pointer = decode_fragment(fragment);
        let mut moved = String::from("#");
        let mut at = Step::Schema(self.root);
        for token in pointer.split('/').skip(1) {
            let name = unescape_token(token);
            let (name, next) = at.step(&name);
            moved.push('/');
            moved.push_str(&escape_fragment_token(name));
            at = next;
        }
        Value::String(moved)
    }
}

/// What a pointer leads to.
enum Step<'s> {
    Schema(&'s Value),
    /// Schemas by name or in a list.
    Schemas(&'s Value),
    /// Anything else.
    Other,
}

impl Step<'_> {
    /// The token in draft 7, and what it leads to.
    fn step<'t>(&self, token: &'t str) -> (&'t str, Self) {
        use KeywordValue as V;
        let Self::Schema(Value::Object(map)) = self else {
            let next = match self {
                Self::Schemas(Value::Object(map)) => map.get(token),
                Self::Schemas(Value::Array(all)) => {
                    token.parse().ok().and_then(|at: usize| all.get(at))
                }
                _ => None,
            };
            return (token, next.map_or(Self::Other, Self::Schema));
        };
        let next = map.get(token).map_or(Self::Other, |value| match Keyword::of(token).value() {
            V::Schema | V::SchemaOrList => Self::Schema(value),
            V::SchemaList | V::SchemaMap => Self::Schemas(value),
            _ => Self::Other,
        });
        (name_in_draft7(token, map), next)
    }
}

/// The name of a keyword in draft 7.
fn name_in_draft7<'k>(key: &'k str, schema: &Map<String, Value>) -> &'k str {
    match key {
        k::DEFS => k::DEFINITIONS,
        k::PREFIX_ITEMS => k::ITEMS,
        k::ITEMS if schema.contains_key(k::PREFIX_ITEMS) => k::ADDITIONAL_ITEMS,
        k::DEPENDENT_SCHEMAS => k::DEPENDENCIES,
        key => key,
    }
}

/// Whether draft 7 cannot express a keyword.
fn is_lost(keyword: Keyword, value: &Value, schema: &Map<String, Value>) -> bool {
    match keyword {
        Keyword::UnevaluatedProperties | Keyword::UnevaluatedItems => *value != Value::Bool(true),
        Keyword::MaxContains => schema.contains_key(k::CONTAINS),
        Keyword::MinContains => schema.contains_key(k::CONTAINS) && value.as_f64() > Some(1.0),
        Keyword::DynamicRef => true,
        _ => false,
    }
}

fn is_zero(value: &Value) -> bool {
    value.as_f64() == Some(0.0)
}

fn object(key: &str, value: Value) -> Value {
    Value::Object(once((key.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_keyword_is_written_in_the_words_of_draft_7() {
        for (schema, expected) in [
            (
                json!({"prefixItems": [{"type": "string"}], "items": false}),
                json!({"items": [{"type": "string"}], "additionalItems": false}),
            ),
            (json!({"items": {"type": "string"}}), json!({"items": {"type": "string"}})),
            (
                json!({"$ref": "#/$defs/A", "maximum": 3, "$defs": {"A": {"type": "integer"}}}),
                json!({
                    "allOf": [{"$ref": "#/definitions/A"}],
                    "maximum": 3,
                    "definitions": {"A": {"type": "integer"}}
                }),
            ),
            (
                json!({
                    "properties": {
                        "a b": {"prefixItems": [{"type": "integer"}], "items": {"minimum": 1}},
                        "c": {"$ref": "#/properties/a%20b/prefixItems/0"},
                        "d": {"$ref": "#/properties/a%20b/items"}
                    }
                }),
                json!({
                    "properties": {
                        "a b": {"items": [{"type": "integer"}], "additionalItems": {"minimum": 1}},
                        "c": {"$ref": "#/properties/a%20b/items/0"},
                        "d": {"$ref": "#/properties/a%20b/additionalItems"}
                    }
                }),
            ),
            (json!({"dependentRequired": {"a": ["b"]}}), json!({"dependencies": {"a": ["b"]}})),
            (
                json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {"not": {}}}}),
                json!({
                    "dependencies": {"a": {"not": {}}},
                    "allOf": [{"dependencies": {"a": ["b"]}}]
                }),
            ),
            (json!({"contains": {"type": "null"}, "minContains": 0}), json!({})),
            (json!({"contains": true, "minContains": 1}), json!({"contains": true})),
            (json!({"unevaluatedProperties": true}), json!({"unevaluatedProperties": true})),
        ] {
            let written = to_draft7(&schema);
            assert_eq!(written.schema, expected);
            assert_eq!(written.lost, [], "{schema}");
        }
    }

    #[test]
    fn what_it_cannot_express_is_reported() {
        let schema = json!({"prefixItems": [
            {"contains": {"type": "null"}, "minContains": 2, "maxContains": 3},
            {"unevaluatedProperties": false}
        ]});
        let written = to_draft7(&schema);
        assert_eq!(written.schema, json!({"items": [{"contains": {"type": "null"}}, {}]}));
        let lost: Vec<_> =
            written.lost.iter().map(|it| (&*it.from, &*it.place, it.keyword)).collect();
        assert_eq!(
            lost,
            [
                ("/prefixItems/0", "/items/0", Keyword::MinContains),
                ("/prefixItems/0", "/items/0", Keyword::MaxContains),
                ("/prefixItems/1", "/items/1", Keyword::UnevaluatedProperties),
            ]
        );
    }
}
