//! JSON Schema in attributes: keywords and whole schemas, and words of it that are not ours.

use gramc_json_schema::keywords::{Keyword, Keywords};
use serde_json::Value;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use gramc_model::attributes::{ValueType, states_keyword};

/// The keywords that the types state. Attributes state the others that gramc writes.
const OF_TYPES: Keywords = Keywords::of(&[
    Keyword::PrefixItems,
    Keyword::AdditionalItems,
    Keyword::AnyOf,
    Keyword::Ref,
    Keyword::Defs,
    Keyword::Definitions,
    Keyword::ContentEncoding,
    Keyword::Schema,
]);

/// Whether gramc writes a keyword itself.
fn is_reserved(keyword: &str) -> bool {
    let keyword = Keyword::of(keyword);
    OF_TYPES.has(keyword) || states_keyword(keyword)
}

impl Attribute<'_> {
    /// The value as a JSON Schema: an object, true or false.
    pub(crate) fn schema(&self, checker: &mut Checker<'_>) -> Option<Value> {
        let schema = self.json(checker)?;
        if schema.is_object() || schema.is_boolean() {
            return Some(schema);
        }
        let words = "a JSON Schema, such as json`{\"type\": \"string\"}`";
        self.wrong_as(checker, ValueType::Other, words);
        None
    }

    /// The value as a map of keywords of JSON Schema that gram has no word for.
    pub(crate) fn extensions(&self, checker: &mut Checker<'_>) -> Option<Vec<(SmolStr, Value)>> {
        let Value::Object(map) = self.json(checker)? else {
            let words = "a map of keywords, such as {readOnly: true}";
            self.wrong_as(checker, ValueType::Other, words);
            return None;
        };
        if let Some(keyword) = map.keys().find(|keyword| is_reserved(keyword)) {
            let message = format!("`{keyword}` is a keyword that gramc generates");
            let help =
                "use the type and its attributes, or write the whole schema: schema: json`{…}`";
            checker.reject(&codes::ATTRIBUTE_VALUE, self.span(), message, help);
            return None;
        }
        Some(map.into_iter().map(|(key, value)| (SmolStr::new(key), value)).collect())
    }
}
