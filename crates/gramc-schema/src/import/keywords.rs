//! Decides whether gram can express a schema, before it is split.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use gramc_json_schema::keywords::{InstanceType, Keyword, Keywords, name as k};
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
    Keywords::VALIDATOR_ONLY.has(Keyword::of(keyword))
        || matches!(keyword, k::PATTERN_PROPERTIES | "disallow" | "extends")
}

/// The families of a schema's keywords.
#[derive(Default)]
struct Families {
    all: u16,
    /// The number of keywords that set a minimum or maximum.
    bounds: u8,
}

impl Families {
    const TEXT: u16 = 1;
    const NUMBER: u16 = 1 << 1;
    const LIST: u16 = 1 << 2;
    const OBJECT: u16 = 1 << 3;
    const VALUES: u16 = 1 << 4;
    const FORMAT: u16 = 1 << 5;
    const BYTES: u16 = 1 << 6;
    const ANY_OF: u16 = 1 << 7;
    const ONE_OF: u16 = 1 << 8;
    const REFERENCE: u16 = 1 << 9;

    fn add(&mut self, family: u16) -> bool {
        self.all |= family;
        true
    }

    fn has(&self, family: u16) -> bool {
        self.all & family != 0
    }

    /// Whether there are no other families.
    fn only(&self, families: u16) -> bool {
        self.all & !families == 0
    }
}

/// Decides how to read a schema. An error if gram cannot express it.
pub(super) fn plan(
    schema: &Map<String, Value>,
    definitions: Option<&HashMap<String, TypeId>>,
) -> Result<ReadPlan, Reason> {
    let mut families = Families::default();
    let mut ty = None;
    for (key, value) in schema {
        if key == k::TYPE {
            ty = Some(value);
        } else if !known(&mut families, key, value)? {
            return Err(format!("gram cannot express this value of `{key}`"));
        }
    }
    let (shape, nullable) = shape(schema, ty, &families, definitions)?;
    let allowed = match shape {
        ValueShape::Any => Families::VALUES | Families::TEXT | Families::NUMBER | Families::FORMAT,
        ValueShape::Null | ValueShape::Boolean => Families::VALUES,
        ValueShape::Integer | ValueShape::Number => {
            Families::VALUES | Families::NUMBER | Families::FORMAT
        }
        ValueShape::Text => Families::VALUES | Families::TEXT | Families::FORMAT | Families::BYTES,
        ValueShape::List => Families::VALUES | Families::LIST,
        ValueShape::Object => Families::VALUES | Families::OBJECT,
        ValueShape::AnyOf => Families::ANY_OF,
        ValueShape::OneOf => Families::ONE_OF,
        ValueShape::Several => of_several(schema, &families)?,
        ValueShape::Reference(_) => Families::REFERENCE,
    };
    if !families.only(allowed) {
        return Err("some of its keywords apply to another type".to_owned());
    }
    if nullable && schema.contains_key(k::CONST) {
        return Err("it combines a constant with a nullable type".to_owned());
    }
    if families.bounds > 1 {
        bounds(schema)?;
    }
    match shape {
        ValueShape::List => tuple(schema)?,
        ValueShape::Object => required(schema)?,
        _ => {}
    }
    Ok(ReadPlan { shape, nullable })
}

/// Whether gram can express this value of a keyword. An error if it cannot express the keyword.
fn known(families: &mut Families, key: &str, value: &Value) -> Result<bool, Reason> {
    use Families as F;
    if key.starts_with("min") || key.starts_with("max") {
        families.bounds = families.bounds.saturating_add(1);
    }
    let is_schema = || value.is_object() || value.is_boolean();
    Ok(match key {
        k::TITLE | k::DESCRIPTION => value.is_string(),
        k::EXAMPLES => value.is_array(),
        k::DEPRECATED => *value == Value::Bool(true),
        k::CONTENT_ENCODING => families.add(F::BYTES) && value == "base64",
        k::ITEMS => families.add(F::LIST) && is_schema(),
        k::PREFIX_ITEMS => {
            families.add(F::LIST) && value.as_array().is_some_and(|items| items.len() > 1)
        }
        k::PROPERTIES => families.add(F::OBJECT) && value.is_object(),
        k::REQUIRED => families.add(F::OBJECT) && value.is_array(),
        k::ADDITIONAL_PROPERTIES => families.add(F::OBJECT) && is_schema(),
        k::ANY_OF => families.add(F::ANY_OF) && value.as_array().is_some_and(|all| !all.is_empty()),
        k::ONE_OF => families.add(F::ONE_OF) && value.as_array().is_some_and(|all| !all.is_empty()),
        k::REF => families.add(F::REFERENCE) && value.is_string(),
        // gramc writes these only at the root.
        k::DEFS | k::DEFINITIONS | k::SCHEMA | k::ADDITIONAL_ITEMS => {
            return Err(format!("gram cannot express `{key}` here"));
        }
        key => match of_keyword(Keyword::of(key)) {
            Some(spec) => families.add(family(Keyword::of(key))) && is_operand(spec, value),
            None => true,
        },
    })
}

/// The family of a constraint keyword.
fn family(keyword: Keyword) -> u16 {
    match (keyword, keyword.applies_to()) {
        (Keyword::Format, _) => Families::FORMAT,
        (_, InstanceType::Number) => Families::NUMBER,
        (_, InstanceType::String) => Families::TEXT,
        (_, InstanceType::Array) => Families::LIST,
        (_, InstanceType::Object) => Families::OBJECT,
        (_, InstanceType::Any) => Families::VALUES,
    }
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
    ty: Option<&Value>,
    families: &Families,
    definitions: Option<&HashMap<String, TypeId>>,
) -> Result<(ValueShape, bool), Reason> {
    let several = [Families::ANY_OF, Families::ONE_OF, Families::REFERENCE];
    let several = several.iter().filter(|family| families.has(**family)).count();
    if several + usize::from(ty.is_some()) > 1 {
        return Err("it declares its type in several ways".to_owned());
    }
    if families.has(Families::REFERENCE)
        && let Some(Value::String(target)) = schema.get(k::REF)
    {
        return match definition(target).and_then(|name| definitions?.get(&*name)) {
            Some(id) => Ok((ValueShape::Reference(*id), false)),
            None => Err(format!("it refers to `{target}`, which is not an entry of `$defs`")),
        };
    }
    match ty {
        None if families.has(Families::ANY_OF) => Ok((ValueShape::AnyOf, false)),
        None if families.has(Families::ONE_OF) => Ok((ValueShape::OneOf, false)),
        None => Ok((ValueShape::Any, false)),
        Some(Value::String(name)) => Ok((named(name)?, false)),
        Some(Value::Array(names)) => match names.as_slice() {
            [Value::String(name), Value::String(null)] if null == "null" && name != "null" => {
                Ok((named(name)?, true))
            }
            names => {
                let mut known = HashSet::new();
                for name in names {
                    named(name.as_str().unwrap_or_default())?;
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

/// The keyword families that a list of types allows.
fn of_several(schema: &Map<String, Value>, families: &Families) -> Result<u16, Reason> {
    use Families as F;
    let names = schema.get(k::TYPE).and_then(Value::as_array);
    let has = |name: &str| names.is_some_and(|names| names.iter().any(|known| known == name));
    let mut allowed = F::VALUES;
    for (name, family) in [
        ("string", F::TEXT | F::FORMAT | F::BYTES),
        ("integer", F::NUMBER | F::FORMAT),
        ("number", F::NUMBER | F::FORMAT),
        ("array", F::LIST),
    ] {
        if has(name) {
            allowed |= family;
        }
    }
    // In a list of types, gram can only express the value type of an object.
    let open = schema.get(k::ADDITIONAL_PROPERTIES);
    let others =
        [k::PROPERTIES, k::REQUIRED, k::PROPERTY_NAMES, k::MIN_PROPERTIES, k::MAX_PROPERTIES];
    if families.has(F::OBJECT) && has("object") {
        if !open.is_some_and(Value::is_object) || others.iter().any(|key| schema.contains_key(*key))
        {
            return Err(
                "gram cannot express its constraints on objects in a list of types".to_owned()
            );
        }
        allowed |= F::OBJECT;
    }
    if families.has(F::LIST) && has("array") {
        let sized = [k::MIN_ITEMS, k::MAX_ITEMS].iter().any(|key| schema.contains_key(*key));
        if schema.contains_key(k::PREFIX_ITEMS) || (sized && has("object")) {
            return Err(
                "gram cannot express its constraints on arrays in a list of types".to_owned()
            );
        }
    }
    Ok(allowed)
}

pub(super) fn named(name: &str) -> Result<ValueShape, Reason> {
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
    const MAX_EXPONENT: i64 = 400;
    let Value::Number(number) = value else { return None };
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return Some(number.clone());
    };
    let exponent: i64 = exponent.parse().ok().filter(|e: &i64| e.abs() <= MAX_EXPONENT)?;
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let point = i64::try_from(whole.len()).ok()? + exponent;
    let text = match usize::try_from(point) {
        Ok(point) if point >= digits.len() => {
            let digits = digits.trim_start_matches('0');
            let zeros = if digits.is_empty() {
                1
            } else {
                point.checked_sub(whole.len() + fraction.len())?
            };
            format!("{sign}{digits}{}", "0".repeat(zeros))
        }
        Ok(point) if point > 0 => {
            let (whole, fraction) = digits.split_at_checked(point)?;
            let whole = whole.trim_start_matches('0');
            let whole = if whole.is_empty() { "0" } else { whole };
            format!("{sign}{whole}.{fraction}")
        }
        _ => format!("{sign}0.{}{digits}", "0".repeat(usize::try_from(-point).ok()?)),
    };
    Some(Number::from_string_unchecked(text))
}

/// Rejects empty ranges, which are errors in gram.
fn bounds(schema: &Map<String, Value>) -> Result<(), Reason> {
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
fn tuple(schema: &Map<String, Value>) -> Result<(), Reason> {
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
fn required(schema: &Map<String, Value>) -> Result<(), Reason> {
    let Some(Value::Array(names)) = schema.get(k::REQUIRED) else { return Ok(()) };
    if !names.iter().all(Value::is_string) {
        return Err("`required` contains a value that is not a string".to_owned());
    }
    if let Some(name) = twice(names) {
        return Err(format!("`required` names {name} twice"));
    }
    Ok(())
}

/// A value that occurs twice in a list.
fn twice(values: &[Value]) -> Option<&Value> {
    /// The list length from which a hash set is faster than pairwise comparison.
    const MANY: usize = 20;
    if values.len() < MANY {
        let known = |at: usize, value: &Value| values.iter().take(at).any(|other| other == value);
        return values
            .iter()
            .enumerate()
            .find(|(at, value)| known(*at, value))
            .map(|(_, value)| value);
    }
    let mut known = HashSet::with_capacity(values.len());
    values.iter().find(|value| !known.insert(*value))
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
