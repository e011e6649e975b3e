//! Decides whether gram can express a schema, before it is split.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use gramc_json_schema::keywords::{Keyword as K, Keywords, name as k};
use gramc_json_schema::numbers::PlainNumber;
use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Number, Value};

use gramc_json_schema::pointer::{
    escape_fragment_token as escaped, unescape_fragment_token as unescaped,
};
use gramc_model::attributes::{ConstraintConstructor, ConstraintSpec, of_keyword};
use gramc_model::value;
use gramc_model::{ConstraintKind, TypeId};

/// The kind of value that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueShape {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    List,
    Object,
    AnyOf,
    OneOf,
    /// A list of types.
    Several,
    Reference(TypeId),
}

/// How to read a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadPlan {
    pub(super) shape: ValueShape,
    /// Whether null is also allowed.
    pub(super) nullable: bool,
}

/// Why gram cannot express a schema.
pub(super) type Reason = String;

/// Whether a keyword constrains a value in a way that gram cannot express, where it is not
/// converted. `disallow` and `extends` are keywords of draft 3.
pub(super) fn is_assertion(keyword: &str) -> bool {
    Keywords::VALIDATOR_ONLY.has(K::of(keyword))
        || matches!(keyword, k::PATTERN_PROPERTIES | "disallow" | "extends")
}

/// The keywords that gram expresses as attributes of values of any type.
const VALUES: Keywords = Keywords::of(&[K::Enum, K::Const]);

/// Those of numbers, and their formats.
const OF_NUMBERS: Keywords = Keywords::applying_to(TypeSet::NUMBER).with(K::Format);

/// Decides how to read a schema. An error if gram cannot express it.
pub(super) fn plan(
    schema: &Map<String, Value>,
    definitions: Option<&HashMap<String, TypeId>>,
) -> Result<ReadPlan, Reason> {
    // The keywords that depend on the type.
    let mut found = Keywords::NONE;
    for (key, value) in schema {
        if !is_known(&mut found, key, value)? {
            return Err(format!("gram cannot express this value of `{key}`"));
        }
    }
    let (shape, nullable) = shape(schema, found, definitions)?;
    let allowed = match shape {
        ValueShape::Any => OF_NUMBERS
            .and_those_of(Keywords::applying_to(TypeSet::STRING))
            .without(&[K::ContentEncoding])
            .and_those_of(VALUES),
        ValueShape::Null | ValueShape::Boolean => VALUES,
        ValueShape::Integer | ValueShape::Number => OF_NUMBERS.and_those_of(VALUES),
        ValueShape::Text => Keywords::applying_to(TypeSet::STRING).and_those_of(VALUES),
        ValueShape::List => Keywords::applying_to(TypeSet::ARRAY).and_those_of(VALUES),
        ValueShape::Object => Keywords::applying_to(TypeSet::OBJECT).and_those_of(VALUES),
        ValueShape::AnyOf => Keywords::of(&[K::AnyOf]),
        ValueShape::OneOf => Keywords::of(&[K::OneOf]),
        ValueShape::Several => of_several(schema, found)?,
        ValueShape::Reference(_) => Keywords::of(&[K::Ref]),
    };
    if !found.minus(allowed).is_empty() {
        return Err("some of its keywords apply to another type".to_owned());
    }
    if nullable && found.has(K::Const) {
        return Err("it combines a constant with a nullable type".to_owned());
    }
    if found.has_any(&[K::Maximum, K::MaxLength, K::MaxItems, K::MaxProperties]) {
        check_bounds(schema)?;
    }
    match shape {
        ValueShape::List => check_tuple(schema)?,
        ValueShape::Object => check_required(schema)?,
        _ => {}
    }
    Ok(ReadPlan { shape, nullable })
}

/// Whether gram can express this value of a keyword. An error if it cannot express the keyword.
/// Keywords that depend on the type are added to `found`.
fn is_known(found: &mut Keywords, key: &str, value: &Value) -> Result<bool, Reason> {
    let keyword = K::of(key);
    let is_schema = || value.is_object() || value.is_boolean();
    let is_list = |least| value.as_array().is_some_and(|items| items.len() >= least);
    let is_expressible = match keyword {
        K::Type => return Ok(true),
        K::Title | K::Description => return Ok(value.is_string()),
        K::Examples => return Ok(value.is_array()),
        K::Deprecated => return Ok(*value == Value::Bool(true)),
        K::ContentEncoding => value == "base64",
        K::Items | K::AdditionalProperties => is_schema(),
        K::PrefixItems => is_list(2),
        K::Properties => value.is_object(),
        K::Required => value.is_array(),
        K::AnyOf | K::OneOf => is_list(1),
        K::Ref => value.is_string(),
        // gramc writes these only at the root.
        K::Defs | K::Definitions | K::Schema | K::AdditionalItems => {
            return Err(format!("gram cannot express `{key}` here"));
        }
        keyword => match of_keyword(keyword) {
            Some(spec) => is_operand(spec, value),
            None => return Ok(true),
        },
    };
    *found = found.with(keyword);
    Ok(is_expressible)
}

/// Whether gram can express the value of a constraint keyword.
fn is_operand(spec: &ConstraintSpec, value: &Value) -> bool {
    use ConstraintConstructor as C;
    match spec.constructor {
        C::Number(_) if spec.kind == ConstraintKind::MultipleOf => bound(value)
            .is_some_and(|step| value::compare(&step, &Number::from(0)) == Ordering::Greater),
        C::Number(_) => bound(value).is_some(),
        C::Count(_) => value.is_u64(),
        C::Text(_) => value.is_string(),
        C::Flag(_) => *value == Value::Bool(true),
        C::Values(_) => value.as_array().is_some_and(|all| !all.is_empty()),
        C::Value(_) => true,
        C::Type(_) => value.is_object() || value.is_boolean(),
    }
}

/// The kind of value that a schema describes, and whether null is also allowed.
fn shape(
    schema: &Map<String, Value>,
    found: Keywords,
    definitions: Option<&HashMap<String, TypeId>>,
) -> Result<(ValueShape, bool), Reason> {
    let ty = schema.get(k::TYPE);
    let several = [K::AnyOf, K::OneOf, K::Ref].iter().filter(|key| found.has(**key)).count();
    if several + usize::from(ty.is_some()) > 1 {
        return Err("it declares its type in several ways".to_owned());
    }
    if let Some(Value::String(target)) = schema.get(k::REF) {
        return match definition(target).and_then(|name| definitions?.get(&*name)) {
            Some(id) => Ok((ValueShape::Reference(*id), false)),
            None => Err(format!("it refers to `{target}`, which is not an entry of `$defs`")),
        };
    }
    match ty {
        None if found.has(K::AnyOf) => Ok((ValueShape::AnyOf, false)),
        None if found.has(K::OneOf) => Ok((ValueShape::OneOf, false)),
        None => Ok((ValueShape::Any, false)),
        Some(Value::String(name)) => Ok((shape_of_type(name)?, false)),
        Some(Value::Array(names)) => match names.as_slice() {
            [Value::String(name), Value::String(null)] if null == "null" && name != "null" => {
                Ok((shape_of_type(name)?, true))
            }
            names => {
                let mut known = HashSet::new();
                for name in names {
                    shape_of_type(name.as_str().unwrap_or_default())?;
                    if !known.insert(name) {
                        return Err("its list of types contains a duplicate".to_owned());
                    }
                }
                if names.is_empty() {
                    return Err("its list of types is empty".to_owned());
                }
                Ok((ValueShape::Several, false))
            }
        },
        Some(_) => Err("its `type` is not a name".to_owned()),
    }
}

/// The keywords that a list of types allows.
fn of_several(schema: &Map<String, Value>, found: Keywords) -> Result<Keywords, Reason> {
    let names = schema.get(k::TYPE).and_then(Value::as_array);
    let has = |name: &str| names.is_some_and(|names| names.iter().any(|known| known == name));
    let mut allowed = VALUES;
    for (name, keywords) in [
        ("string", Keywords::applying_to(TypeSet::STRING)),
        ("integer", OF_NUMBERS),
        ("number", OF_NUMBERS),
        ("array", Keywords::applying_to(TypeSet::ARRAY)),
    ] {
        if has(name) {
            allowed = allowed.and_those_of(keywords);
        }
    }
    // In a list of types, gram can only express the value type of an object.
    let of_objects = found.and(Keywords::applying_to(TypeSet::OBJECT));
    if has("object") && !of_objects.is_empty() {
        let is_schema = schema.get(k::ADDITIONAL_PROPERTIES).is_some_and(Value::is_object);
        if of_objects != Keywords::of(&[K::AdditionalProperties]) || !is_schema {
            return Err(
                "gram cannot express its constraints on objects in a list of types".to_owned()
            );
        }
        allowed = allowed.and_those_of(of_objects);
    }
    let is_sized = found.has_any(&[K::MinItems, K::MaxItems]) && has("object");
    if has("array") && (found.has(K::PrefixItems) || is_sized) {
        return Err("gram cannot express its constraints on arrays in a list of types".to_owned());
    }
    Ok(allowed)
}

pub(super) fn shape_of_type(name: &str) -> Result<ValueShape, Reason> {
    Ok(match name {
        "null" => ValueShape::Null,
        "boolean" => ValueShape::Boolean,
        "integer" => ValueShape::Integer,
        "number" => ValueShape::Number,
        "string" => ValueShape::Text,
        "array" => ValueShape::List,
        "object" => ValueShape::Object,
        name => return Err(format!("JSON Schema has no type `{name}`")),
    })
}

/// The entry of `$defs` that a reference names. `None` if it is not spelled as gramc writes it.
pub(super) fn definition(target: &str) -> Option<Cow<'_, str>> {
    let written = target.strip_prefix("#/$defs/")?;
    if !written.contains(['~', '/', '%']) {
        return (escaped(written) == written).then_some(Cow::Borrowed(written));
    }
    let name = unescaped(written);
    (escaped(&name) == written).then_some(Cow::Owned(name))
}

/// A number without an exponent, as bounds are in gram. `None` if the value is not a number or
/// would be too long.
pub(super) fn bound(value: &Value) -> Option<Number> {
    /// The most zeros that are written in place of an exponent.
    const MAX_ZEROS: usize = 400;
    let Value::Number(number) = value else { return None };
    if !number.as_str().contains(['e', 'E']) {
        return Some(number.clone());
    }
    let PlainNumber { is_negative, whole, fraction } = PlainNumber::of(number, MAX_ZEROS)?;
    let (sign, point) =
        (if is_negative { "-" } else { "" }, if fraction.is_empty() { "" } else { "." });
    Some(Number::from_string_unchecked(format!("{sign}{whole}{point}{fraction}")))
}

/// Rejects empty ranges, which are errors in gram.
fn check_bounds(schema: &Map<String, Value>) -> Result<(), Reason> {
    for (least, most) in [
        (k::MINIMUM, k::MAXIMUM),
        (k::MIN_LENGTH, k::MAX_LENGTH),
        (k::MIN_ITEMS, k::MAX_ITEMS),
        (k::MIN_PROPERTIES, k::MAX_PROPERTIES),
    ] {
        if let (Some(Value::Number(low)), Some(Value::Number(high))) =
            (schema.get(least), schema.get(most))
            && value::compare(low, high) == Ordering::Greater
        {
            return Err(format!("its `{least}` is greater than its `{most}`"));
        }
    }
    Ok(())
}

/// Rejects tuples with a type for the other items.
fn check_tuple(schema: &Map<String, Value>) -> Result<(), Reason> {
    if !schema.contains_key(k::PREFIX_ITEMS) {
        return Ok(());
    }
    match schema.get(k::ITEMS) {
        None => Ok(()),
        Some(Value::Bool(false)) if is_closed(schema) => Ok(()),
        Some(_) => Err("it declares types for the first items of an array".to_owned()),
    }
}

/// Whether a tuple has a fixed length that `minItems` states and `maxItems` does not.
fn is_closed(schema: &Map<String, Value>) -> bool {
    let count =
        schema.get(k::PREFIX_ITEMS).and_then(Value::as_array).map(|items| items.len() as u64);
    let least = schema.get(k::MIN_ITEMS).and_then(Value::as_u64);
    least == count && !schema.contains_key(k::MAX_ITEMS)
}

/// Rejects required names that are not strings, or are duplicates.
fn check_required(schema: &Map<String, Value>) -> Result<(), Reason> {
    let Some(Value::Array(names)) = schema.get(k::REQUIRED) else { return Ok(()) };
    if !names.iter().all(Value::is_string) {
        return Err("`required` contains a value that is not a string".to_owned());
    }
    let mut known = HashSet::with_capacity(names.len());
    if let Some(name) = names.iter().find(|name| !known.insert(*name)) {
        return Err(format!("`required` names {name} twice"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_lose_their_exponents() {
        for (text, expected) in [
            ("1e3", "1000"),
            ("1.5E1", "15"),
            ("1.25e1", "12.5"),
            ("-1e-7", "-0.0000001"),
            ("12.5e-1", "1.25"),
            ("0e5", "0"),
            ("0.001e2", "0.1"),
            ("0.5", "0.5"),
        ] {
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            let number = bound(&value).map(|number| number.to_string());
            assert_eq!(number.as_deref(), Some(expected), "{text}");
        }
        let huge: Value = serde_json::from_str("1e999").unwrap_or_default();
        assert_eq!(bound(&huge), None);
    }

    #[test]
    fn references_name_definitions() {
        assert_eq!(definition("#/$defs/A").as_deref(), Some("A"));
        assert_eq!(definition("#/$defs/a~1b~0c").as_deref(), Some("a/b~c"));
        assert_eq!(definition("#/$defs/Foo[Bar]").as_deref(), Some("Foo[Bar]"));
        assert_eq!(definition("#/$defs/%C3%BCber%20x").as_deref(), Some("über x"));
        for unlike in ["über", "a b", "%41", "%", "%zz", "%c3%bc", "%FF"] {
            assert_eq!(definition(&format!("#/$defs/{unlike}")), None, "{unlike}");
        }
        assert_eq!(definition("#/$defs/a/b"), None);
        assert_eq!(definition("#/$defs/a~2"), None);
        assert_eq!(definition("#"), None);
        assert_eq!(definition("#/definitions/A"), None);
    }
}
