//! Keys that descriptions quote and that a target renames.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::super::target_spec::KeyRule;
use super::parts::Object;
use gramc_json_schema::keywords::{any_schema, name as k};

/// What descriptions should call the keys that they quote.
#[derive(Default)]
pub(super) struct Mentions {
    /// The new names of the renamed keys that some description quotes.
    names: BTreeMap<String, BTreeSet<String>>,
    /// Those that other objects still use.
    kept: HashSet<String>,
}

/// Whether a schema has property keys that the target rejects.
pub(super) fn may_rename(keys: &KeyRule, schema: &Value) -> bool {
    any_schema(schema, &mut |map| {
        let properties = map.get(k::PROPERTIES).and_then(Value::as_object);
        properties.is_some_and(|map| map.keys().any(|key| !keys.rule.allows(key)))
    })
}

impl Mentions {
    /// The renamed keys of a lowered schema that its original descriptions quote.
    pub(super) fn of(
        renamed: Vec<(String, String)>,
        lowered: &Value,
        description: Option<&str>,
        original: &Value,
    ) -> Self {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (key, to) in renamed {
            all.entry(key).or_default().insert(to);
        }
        let mut quoted = BTreeSet::new();
        let mut find = |text: &str| {
            replace_quoted(text, |key| {
                if all.contains_key(key) {
                    quoted.insert(key.to_owned());
                }
                None
            });
        };
        description.into_iter().for_each(&mut find);
        descriptions(original, &mut find);
        if quoted.is_empty() {
            return Self::default();
        }
        all.retain(|key, _| quoted.contains(key));
        let mut kept = HashSet::new();
        property_keys(lowered, &mut |key| {
            if all.contains_key(key) {
                kept.insert(key.to_owned());
            }
        });
        // Values that are written as JSON text have their original keys.
        descriptions(lowered, &mut |text| {
            let Some((_, schema)) = text.split_once("JSON Schema") else { return };
            let is_in = |key: &&String| schema.contains(&format!("{}:", Value::from(key.as_str())));
            kept.extend(all.keys().filter(is_in).cloned());
        });
        Self { names: all, kept }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The new name of a key, if it has one in all objects.
    fn name(&self, key: &str) -> Option<&str> {
        let names = self.names.get(key)?;
        let only = names.first().filter(|_| names.len() == 1)?;
        (!self.kept.contains(key)).then_some(only)
    }

    /// Changes the keys that a schema's description quotes.
    pub(super) fn rewrite(&self, map: &mut Object) {
        if !self.is_empty()
            && let Some(Value::String(text)) = map.get_mut(k::DESCRIPTION)
            && let Cow::Owned(new) = self.rewrite_text(text)
        {
            *text = new;
        }
    }

    /// A description with the new keys.
    pub(super) fn rewrite_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        replace_quoted(text, |key| self.name(key))
    }

    /// Sentences about the keys that could not be changed in descriptions.
    pub(super) fn notes(&self) -> Vec<String> {
        let open = self.names.iter().filter(|(key, _)| self.name(key).is_none());
        let note = |(key, names): (&String, &BTreeSet<String>)| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("What is called `{key}` may be named {} here.", names.join(" or "))
        };
        open.map(note).collect()
    }
}

/// A text in which `name` replaces some of the words in quotation marks.
fn replace_quoted<'t, 'n>(
    text: &'t str,
    mut name: impl FnMut(&str) -> Option<&'n str>,
) -> Cow<'t, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '"', '\'']) {
        // A quotation mark is one byte.
        let inside = &rest[at + 1..];
        let end = inside.find(&rest[at..=at]);
        let new = end.and_then(|end| Some((end, name(&inside[..end])?)));
        let Some((end, new)) = new else {
            out.push_str(&rest[..=at]);
            rest = inside;
            continue;
        };
        out.push_str(&rest[..=at]);
        out.push_str(new);
        out.push_str(&rest[at..=at]);
        rest = &inside[end + 1..];
    }
    if out.len() + rest.len() == text.len() && text.starts_with(&out) {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Calls `call` with each description of a schema.
fn descriptions(schema: &Value, call: &mut impl FnMut(&str)) {
    any_schema(schema, &mut |map| {
        map.get(k::DESCRIPTION).and_then(Value::as_str).into_iter().for_each(&mut *call);
        false
    });
}

/// Calls `call` with each property key of a schema.
fn property_keys(schema: &Value, call: &mut impl FnMut(&str)) {
    any_schema(schema, &mut |map| {
        let properties = map.get(k::PROPERTIES).and_then(Value::as_object);
        properties.into_iter().flat_map(Object::keys).for_each(|key| call(key));
        false
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::Target;
    use super::super::super::testing::{described, root_becomes};

    #[test]
    fn descriptions_quote_the_new_names_of_keys() {
        let schema = json!({
            "type": "object",
            "description": "Needs `a-b` and 'c d', it's \"a-b\": or a-b, `x`",
            "properties": {
                "a-b": {"type": "string", "description": "Not with `c d`"},
                "c d": {"type": "object", "properties": {"c d": {"type": "null", "const": null}}}
            }
        });
        let expected = json!({
            "type": "object",
            "description": "Needs `a_b` and 'c_d', it's \"a_b\": or a-b, `x`",
            "properties": {
                "a_b": {"type": "string", "description": "Not with `c_d`"},
                "c_d": {"type": "object", "properties": {
                    "c_d": {"type": "string", "nullable": true, "description": "Always null."}
                }}
            }
        });
        root_becomes(Target::Gemini, &schema, &expected, "");
        let tool = described(Target::Gemini, "Give \"a-b\"!", &schema);
        assert_eq!(tool.value["description"], "Give \"a_b\"!");
    }

    #[test]
    fn keys_that_are_renamed_in_some_places_alone_are_explained() {
        let text = json!({"type": "object", "additionalProperties": {
            "type": "object", "properties": {"a-b": {"type": "string"}}
        }});
        let schema = json!({
            "type": "object",
            "description": "Each has `a-b`",
            "properties": {"a-b": {"type": "string"}, "all": text}
        });
        let tool = described(Target::Gemini, "D", &schema);
        assert_eq!(tool.value["description"], "D. What is called `a-b` may be named `a_b` here.");
        assert_eq!(tool.value["parameters"]["description"], "Each has `a-b`");
        let inner = json!({"type": "object", "properties": {"a b": {"description": "`a b`!"}}});
        let schema = json!({"type": "object", "properties": {"a b": inner}});
        let tool = described(Target::Anthropic, "D", &schema);
        assert_eq!(tool.value["description"], "D. What is called `a b` may be named `a_b` here.");
        // Keys in JSON text keep their names, and so do the descriptions.
        let schema = json!({"type": "object", "description": "`a-b`", "properties": {"all": text}});
        let tool = described(Target::Gemini, "D `a-b`", &schema);
        assert_eq!(tool.value["description"], "D `a-b`");
    }
}
