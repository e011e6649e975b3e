//! A document: its text, its kind, and the references in it.

use std::borrow::Cow;
use std::cell::RefCell;

use gramc_json_schema::pointer::{decode_fragment, unescape_token};
use serde_json::{Map, Value};

use crate::error::ApiError;
#[cfg(not(target_family = "wasm"))]
use crate::yaml;

/// The longest chain of references.
pub(crate) const MAX_CHAIN: usize = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// `OpenAPI` 3.0 to 3.2.
    OpenApi3,
    Swagger2,
    /// Google Discovery.
    Discovery,
}

impl DocumentKind {
    /// The kind of a document, by the keys that name it.
    pub(crate) fn of(document: &Value) -> Option<Self> {
        let version = |key: &str| match document.get(key)? {
            Value::String(text) => Some(Cow::Borrowed(text.trim())),
            // A version without quotes in YAML is a number.
            Value::Number(number) => Some(Cow::Owned(number.to_string())),
            _ => None,
        };
        if version("openapi").is_some_and(|text| text.starts_with('3')) {
            Some(Self::OpenApi3)
        } else if version("swagger").is_some_and(|text| text.starts_with('2')) {
            Some(Self::Swagger2)
        } else if document.get("discoveryVersion").is_some()
            || document.get("kind").is_some_and(|kind| kind == "discovery#restDescription")
        {
            Some(Self::Discovery)
        } else {
            None
        }
    }
}

/// The description of an API in a text, if it is one.
pub fn api_document(text: &str) -> Option<Result<Value, ApiError>> {
    // Most texts have none of these words and are not parsed.
    let words = ["openapi", "swagger", "discoveryVersion", "discovery#restDescription"];
    if !words.iter().any(|word| text.contains(word)) {
        return None;
    }
    match parse(text) {
        Ok(document) => DocumentKind::of(&document).is_some().then_some(Ok(document)),
        // What is wrong with JSON is said by those who read other JSON, too.
        Err(error) => (!is_json(text)).then_some(Err(error)),
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '['])
}

/// Reads JSON or YAML. A text that begins with a bracket is JSON, unless only YAML accepts it.
pub fn parse(text: &str) -> Result<Value, ApiError> {
    let text = text.trim_start_matches('\u{feff}');
    if !is_json(text) {
        return yaml::parse(text);
    }
    serde_json::from_str(text).or_else(|error| {
        let invalid = ApiError::Syntax { format: "JSON", message: error.to_string() };
        yaml::parse(text).map_err(|_| invalid)
    })
}

#[cfg(target_family = "wasm")]
mod yaml {
    use super::{ApiError, Value};

    /// Reads no YAML.
    pub(super) fn parse(_: &str) -> Result<Value, ApiError> {
        let message = "not supported here; convert it to JSON".to_owned();
        Err(ApiError::Syntax { format: "YAML", message })
    }
}

/// A document whose references are followed.
pub(crate) struct Document<'d> {
    pub(crate) root: &'d Value,
    pub(crate) kind: DocumentKind,
    /// The references to other documents that were followed, with their places.
    remote: RefCell<Vec<(String, String)>>,
}

/// Where a reference leads.
pub(crate) enum Target<'d> {
    /// To a value in the document, by its pointer.
    Here(String, &'d Value),
    Remote,
    /// Nowhere.
    Missing,
}

impl<'d> Document<'d> {
    pub(crate) fn new(root: &'d Value, kind: DocumentKind) -> Self {
        Self { root, kind, remote: RefCell::default() }
    }

    /// Where a reference leads, without the references there.
    pub(crate) fn target(&self, reference: &str) -> Target<'d> {
        if self.kind == DocumentKind::Discovery {
            let schema = self.root.get("schemas").and_then(|schemas| schemas.get(reference));
            return schema.map_or(Target::Missing, |schema| {
                Target::Here(format!("/schemas/{reference}"), schema)
            });
        }
        if reference.trim().is_empty() {
            return Target::Missing;
        }
        let Some(fragment) = reference.strip_prefix('#') else {
            // Some documents name their schemas without the pointer.
            let named = ["/components/schemas", "/definitions"].into_iter().find_map(|folder| {
                let schema = self.root.pointer(folder)?.get(reference)?;
                Some(Target::Here(format!("{folder}/{reference}"), schema))
            });
            return named.unwrap_or(Target::Remote);
        };
        let found = |pointer: String| {
            let value = self.root.pointer(&pointer)?;
            Some(Target::Here(pointer, value))
        };
        found(decode_fragment(fragment))
            .or_else(|| found(fragment.to_owned()))
            .or_else(|| found(self.elsewhere(fragment)?))
            .unwrap_or(Target::Missing)
    }

    /// The value in the document that a reference leads to.
    pub(crate) fn here(&self, reference: &str) -> Option<&'d Value> {
        match self.target(reference) {
            Target::Here(_, value) => Some(value),
            Target::Remote | Target::Missing => None,
        }
    }

    /// The pointer of the schema that a dangling reference names, where another place has it:
    /// `#/definitions/Pet` in a document of `OpenAPI` 3.
    fn elsewhere(&self, fragment: &str) -> Option<String> {
        let (folder, token) = fragment.rsplit_once('/')?;
        let is_schema = folder.ends_with("schemas")
            || folder.ends_with("definitions")
            || folder.ends_with("$defs");
        let name = unescape_token(token);
        let has =
            |folder: &&str| self.root.pointer(folder).is_some_and(|all| all.get(&*name).is_some());
        let folder = ["/components/schemas", "/definitions"].into_iter().find(has)?;
        is_schema.then(|| format!("{folder}/{token}"))
    }

    /// A value, or the one that its reference leads to.
    pub(crate) fn follow(&self, value: &'d Value, place: &str) -> Option<&'d Value> {
        let mut value = value;
        for _ in 0..MAX_CHAIN {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Some(value);
            };
            match self.target(reference) {
                Target::Here(_, target) => value = target,
                Target::Remote => {
                    self.remote(reference, place);
                    return None;
                }
                Target::Missing => return None,
            }
        }
        None
    }

    /// Records a reference to another document.
    pub(crate) fn remote(&self, reference: &str, place: &str) {
        self.remote.borrow_mut().push((place.to_owned(), reference.to_owned()));
    }

    /// Fails if a reference to another document was followed.
    pub(crate) fn check_remote(&self) -> Result<(), ApiError> {
        let mut remote = self.remote.take();
        let mut seen = std::collections::HashSet::new();
        remote.retain(|known| seen.insert(known.clone()));
        if remote.is_empty() { Ok(()) } else { Err(ApiError::Remote(remote)) }
    }
}

/// The text of a key, trimmed. `None` if it is empty.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// Whether a key is true.
pub(crate) fn flag(value: &Value, key: &str) -> bool {
    match value.get(key) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => text == "true",
        _ => false,
    }
}

/// The items of a list, or none.
pub(crate) fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The entries of an object, or none.
pub(crate) fn entries<'v>(
    value: &'v Value,
    key: &str,
) -> impl Iterator<Item = (&'v String, &'v Value)> + use<'v> {
    value.get(key).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}
