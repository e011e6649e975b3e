//! Validators, which confirm counterexamples.

use std::borrow::Cow;

use jsonschema::canonical::Containment as CanonicalContainment;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

use super::Counterexample;
use super::document::Dialect;
use super::pattern_samples::repetitions;
use crate::keywords::{Keyword, any_schema, name as k};
use crate::shorten::shorten;

/// How long a reason may be that quotes a value.
const MAX_REASON: usize = 300;

/// The first error of an invalid schema. Only for schemas of bounded depth.
pub(super) fn fault(dialect: Dialect, schema: &Value) -> Option<String> {
    let valid = match dialect {
        Dialect::Draft2020 => jsonschema::draft202012::meta::validate(schema),
        Dialect::Draft7 => jsonschema::draft7::meta::validate(schema),
    };
    let error = valid.err()?;
    Some(format!("a schema is not valid at `{}`: {}", error.instance_path(), reason(&error)))
}

/// The first pattern that takes too long to match, as a sentence. Only for schemas of bounded depth.
pub(super) fn slow_pattern(schema: &Value) -> Option<String> {
    /// The most repetitions of a part in other ones.
    const MAX_REPETITIONS: u64 = 100_000;
    let is_slow = any_schema(schema, &mut |keywords| {
        let names = keywords.get(k::PATTERN_PROPERTIES).and_then(Value::as_object);
        let names = names.into_iter().flat_map(Map::keys).map(String::as_str);
        let own = keywords.get(k::PATTERN).and_then(Value::as_str);
        own.into_iter().chain(names).any(|pattern| repetitions(pattern) > MAX_REPETITIONS)
    });
    is_slow.then(|| format!("a pattern repeats a part more than {MAX_REPETITIONS} times"))
}

/// The validators of two schemas.
#[derive(Debug)]
pub(super) struct ValidatorPair {
    wide: Validator,
    narrow: Validator,
}

impl ValidatorPair {
    /// Builds both, for schemas without slow patterns.
    pub(super) fn new(wide: &Value, narrow: &Value) -> Result<Self, ValidationError<'static>> {
        let options = jsonschema::options().should_validate_formats(true);
        let build = |schema| options.build(&with_encoded_references(schema));
        Ok(Self { wide: build(wide)?, narrow: build(narrow)? })
    }

    /// Builds both. `None` if a schema is invalid or has slow patterns.
    pub(super) fn quick(wide: &Value, narrow: &Value) -> Option<Self> {
        let is_slow = [wide, narrow].into_iter().any(|schema| slow_pattern(schema).is_some());
        if is_slow { None } else { Self::new(wide, narrow).ok() }
    }

    /// The value as a counterexample, if it is one.
    pub(super) fn confirm(&self, value: Value) -> Option<Counterexample> {
        if self.wide.is_valid(&value) || !self.narrow.is_valid(&value) {
            return None;
        }
        let (pointer, reason) = {
            let error = self.wide.iter_errors(&value).next()?;
            (error.instance_path().to_string(), reason(&error))
        };
        Some(Counterexample { value, pointer, reason })
    }
}

/// A schema whose references are URI references, where percent signs make them so: generic types are
/// called `#/$defs/Pair[Stop]` by some writers.
fn with_encoded_references(schema: &Value) -> Cow<'_, Value> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/?#%".contains(c);
    let is_odd = |reference: &str| !reference.chars().all(is_plain);
    if !any_schema(schema, &mut |it| it.get(k::REF).and_then(Value::as_str).is_some_and(is_odd)) {
        return Cow::Borrowed(schema);
    }
    let mut schema = schema.clone();
    encode_references(&mut schema, &|c| {
        if is_plain(c) {
            return c.into();
        }
        let escape = |byte| format!("%{byte:02X}");
        c.to_string().bytes().map(escape).collect::<Vec<_>>().concat()
    });
    Cow::Owned(schema)
}

/// Replaces the characters of all references.
fn encode_references(schema: &mut Value, encode: &dyn Fn(char) -> String) {
    let Value::Object(keywords) = schema else { return };
    for (key, value) in keywords {
        if let (Keyword::Ref, Value::String(reference)) = (Keyword::of(key), &mut *value) {
            *reference = reference.chars().map(encode).collect();
        }
        for part in Keyword::of(key).subschemas_mut(value) {
            encode_references(part, encode);
        }
    }
}

/// The message of an error, shortened if it quotes much.
pub(super) fn reason(error: &ValidationError<'_>) -> String {
    let text = match error.kind() {
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            "none of the alternatives allows this value".to_owned()
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            "more than one of the alternatives fits this value, and only one may".to_owned()
        }
        ValidationErrorKind::FalseSchema => "nothing is allowed here".to_owned(),
        _ => error.to_string(),
    };
    shorten(&text, MAX_REASON)
}

/// Whether the canonical forms of two schemas prove that one contains the other.
pub(super) fn proves(wide: &Value, narrow: &Value) -> bool {
    let canonical = |schema| {
        jsonschema::canonical::options().should_validate_formats(true).canonicalize(schema).ok()
    };
    let (Some(wide), Some(narrow)) = (canonical(wide), canonical(narrow)) else { return false };
    matches!(wide.covers(&narrow), Ok(CanonicalContainment::Yes))
}
