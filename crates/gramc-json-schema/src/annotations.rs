//! Differences of what two schemas say about values without constraining them. Formats are among it:
//! most of them are for readers.

use serde_json::{Map, Value, json};

use crate::keywords::{Keyword, name as k};
use crate::pointer::{decode_fragment, escape_token};
use crate::values::same;

/// The keywords that are compared.
const COMPARED: [Keyword; 10] = [
    Keyword::Title,
    Keyword::Description,
    Keyword::Default,
    Keyword::Examples,
    Keyword::Deprecated,
    Keyword::ReadOnly,
    Keyword::WriteOnly,
    Keyword::ContentEncoding,
    Keyword::ContentMediaType,
    Keyword::Format,
];

/// The most pairs of schemas that are compared within each other, and references in a row.
const MAX_OPEN: usize = 32;

/// The number of differences at which the comparison ends.
const MAX_CHANGES: usize = 1_000;

/// A keyword that two schemas have with different values, or that only one of them has.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationChange {
    /// The part of the values that it describes, as a JSON pointer. `*` is any item, or any property
    /// that is not declared.
    pub pointer: String,
    /// The keyword.
    pub keyword: Keyword,
    /// Its value in the old schema.
    pub old: Option<Value>,
    /// Its value in the new schema.
    pub new: Option<Value>,
}

/// A schema without annotations and without lists of required properties that are empty. `keeps_defs` is
/// whether definitions and the identity of the schema stay.
pub fn assertions(schema: &Value, keeps_defs: bool) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut kept = Map::new();
    for (key, value) in keywords {
        let keyword = Keyword::of(key);
        let is_def = matches!(keyword, Keyword::Defs | Keyword::Definitions);
        let is_kept = !keyword.is_annotation()
            || (keeps_defs && (keyword == Keyword::Id || (is_def && *value != json!({}))));
        if !is_kept || (keyword == Keyword::Required && *value == json!([])) {
            continue;
        }
        let mut value = value.clone();
        for part in keyword.subschemas_mut(&mut value) {
            *part = assertions(part, keeps_defs);
        }
        if let (Keyword::Required, Value::Array(names)) = (keyword, &mut value) {
            names.sort_unstable_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
        kept.insert(key.clone(), value);
    }
    Value::Object(kept)
}

/// The annotations in which two schemas differ, for the parts of values that both describe. Texts
/// that differ in white space are alike.
///
/// ```
/// use gramc_json_schema::annotations::changes;
/// use serde_json::json;
///
/// let old = json!({"properties": {"city": {"description": "A city"}}});
/// let new = json!({"properties": {"city": {"description": "The name of a city"}}});
/// let found = changes(&old, &new);
/// assert_eq!((found.len(), &*found[0].pointer), (1, "/city"));
/// ```
pub fn changes(old: &Value, new: &Value) -> Vec<AnnotationChange> {
    let mut walk = Walk { old, new, open: Vec::new(), found: Vec::new() };
    walk.compare(old, new, "");
    walk.found
}

struct Walk<'s> {
    old: &'s Value,
    new: &'s Value,
    /// The pairs that are being compared, by their addresses: recursive schemas have no end.
    open: Vec<(usize, usize)>,
    found: Vec<AnnotationChange>,
}

impl<'s> Walk<'s> {
    fn compare(&mut self, old: &'s Value, new: &'s Value, pointer: &str) {
        let pair = (std::ptr::from_ref(old).addr(), std::ptr::from_ref(new).addr());
        if self.open.contains(&pair)
            || self.open.len() >= MAX_OPEN
            || self.found.len() >= MAX_CHANGES
        {
            return;
        }
        self.open.push(pair);
        let (old, new) = (Described::new(self.old, old), Described::new(self.new, new));
        for keyword in COMPARED {
            let (old, new) = (old.get(keyword), new.get(keyword));
            if !is_alike(old, new) {
                let (pointer, old, new) = (pointer.to_owned(), old.cloned(), new.cloned());
                self.found.push(AnnotationChange { pointer, keyword, old, new });
            }
        }
        for (name, old) in old.properties().into_iter().flatten() {
            if let Some(new) = new.properties().and_then(|new| new.get(name)) {
                self.compare(old, new, &format!("{pointer}/{}", escape_token(name)));
            }
        }
        for keyword in [Keyword::Items, Keyword::AdditionalProperties] {
            if let (Some(old), Some(new)) = (old.get(keyword), new.get(keyword)) {
                self.compare(old, new, &format!("{pointer}/*"));
            }
        }
        for keyword in [Keyword::PrefixItems, Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf] {
            let list = |schema: &Described<'s>| schema.get(keyword).and_then(Value::as_array);
            let (Some(old), Some(new)) = (list(&old), list(&new)) else { continue };
            if old.len() != new.len() {
                continue;
            }
            for (at, (old, new)) in old.iter().zip(new).enumerate() {
                let place = match keyword {
                    Keyword::PrefixItems => format!("{pointer}/{at}"),
                    _ => pointer.to_owned(),
                };
                self.compare(old, new, &place);
            }
        }
        self.open.pop();
    }
}

/// A schema and the schemas that it refers to.
struct Described<'s>(Vec<&'s Map<String, Value>>);

impl<'s> Described<'s> {
    fn new(root: &'s Value, schema: &'s Value) -> Self {
        let mut all = Vec::new();
        let mut next = schema.as_object();
        while let Some(keywords) = next {
            if all.len() >= MAX_OPEN {
                break;
            }
            all.push(keywords);
            let reference = keywords.get(k::REF).and_then(Value::as_str);
            let path = reference.and_then(|reference| reference.strip_prefix('#'));
            let target = path.and_then(|path| root.pointer(&decode_fragment(path)));
            next = target.and_then(Value::as_object);
        }
        Self(all)
    }

    /// The value of a keyword; that of a schema takes precedence over those that it refers to.
    fn get(&self, keyword: Keyword) -> Option<&'s Value> {
        self.0.iter().find_map(|keywords| keywords.get(keyword.name()))
    }

    fn properties(&self) -> Option<&'s Map<String, Value>> {
        self.get(Keyword::Properties).and_then(Value::as_object)
    }
}

fn is_alike(old: Option<&Value>, new: Option<&Value>) -> bool {
    match (old, new) {
        (Some(Value::String(old)), Some(Value::String(new))) => {
            old.split_whitespace().eq(new.split_whitespace())
        }
        (Some(old), Some(new)) => same(old, new),
        // A flag that is not set is false.
        (Some(only), None) | (None, Some(only)) => only == false,
        (None, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(old: &Value, new: &Value) -> Vec<(String, &'static str)> {
        let found = changes(old, new).into_iter();
        found.map(|change| (change.pointer, change.keyword.name())).collect()
    }

    #[test]
    fn parts_are_compared_through_references() {
        let old = json!({"properties": {
            "a/b": {"$ref": "#/$defs/A"}, "list": {"type": "array", "items": {"title": "x"}},
            "gone": {"title": "x"}, "flag": {"deprecated": false, "description": "two  words\n"}
        }, "$defs": {"A": {"default": 1, "anyOf": [{"type": "null"}, {"description": "x"}]}}});
        let new = json!({"properties": {
            "a/b": {"default": 2, "anyOf": [{"type": "null"}, {"description": "y"}]},
            "list": {"type": "array", "items": {"title": "y"}},
            "flag": {"description": "two words"}
        }});
        let expected = [("/a~1b", "default"), ("/a~1b", "description"), ("/list/*", "title")];
        assert_eq!(found(&old, &new), expected.map(|(at, key)| (at.to_owned(), key)));
        assert_eq!(found(&old, &old), []);
    }

    #[test]
    fn recursive_schemas_have_an_end() {
        let tree = |text: &str| json!({"description": text, "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        assert!(found(&tree("x"), &tree("y")).len() < 100);
    }
}
