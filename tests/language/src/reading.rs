//! A second reading of the model: which values a type takes, as the language's pages say it.
//!
//! It is written for the tests alone and shares nothing with the checker or the emitted schemas,
//! so that an error would have to be made twice to stay hidden. It is slow and plain on purpose.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

use gramc_model::{
    Constraint, Field, FieldPattern, ObjectType, Open, Optionality, Root, Tool, Type, TypeUse,
    Types, ValueSource,
};
use jsonschema::{Draft, Validator};
use serde_json::{Map, Number, Value};

/// Regular expressions, each with what it says in plain code.
#[expect(clippy::type_complexity, reason = "a table of a pattern and what it means")]
pub const PATTERNS: [(&str, fn(&str) -> bool); 6] = [
    ("^[a-z]+$", |text| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase())),
    ("a", |text| text.contains('a')),
    ("^$|^.", |text| text.is_empty() || !text.starts_with('\n')),
    ("^[^/].*$", |text| text.chars().count() > 0 && !text.starts_with('/') && one_line(text)),
    ("^\\\\`\"", |text| text.starts_with("\\`\"")),
    ("//|/\\*\\*", |text| text.contains("//") || text.contains("/**")),
];

/// Patterns of names, each with what it says in plain code.
#[expect(clippy::type_complexity, reason = "a table of a pattern and what it means")]
pub const NAME_PATTERNS: [(&str, fn(&str) -> bool); 5] = [
    ("^x-", |name| name.starts_with("x-")),
    ("^[a-d]", |name| name.starts_with(['a', 'b', 'c', 'd'])),
    ("e$", |name| name.ends_with('e')),
    ("^.{1,6}$", |name| (1..=6).contains(&name.chars().count()) && !name.contains('\n')),
    ("open", |name| name.contains("open")),
];

/// Whether a name matches a pattern of names.
pub fn matches_name(pattern: &str, name: &str) -> bool {
    let known = NAME_PATTERNS.iter().find(|(known, _)| *known == pattern);
    known.unwrap_or_else(|| panic!("a pattern that the tests do not know: {pattern}")).1(name)
}

/// The formats that are checked; others are remarks.
const FORMATS: [&str; 10] =
    ["date", "time", "date-time", "duration", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"];

/// Whether a text has a format, as `jsonschema` reads it.
pub fn has_format(format: &str, text: &str) -> bool {
    !FORMATS.contains(&format) || says("format", format, text)
}

/// Whether a text is base64, as `jsonschema` reads it.
pub fn is_base64(text: &str) -> bool {
    says("contentEncoding", "base64", text)
}

/// Whether a keyword accepts a text. Draft 7 asserts encodings, and draft 2020-12 knows all formats.
fn says(keyword: &'static str, value: &str, text: &str) -> bool {
    type Known = HashMap<(&'static str, String), Validator>;
    thread_local!(static KNOWN: RefCell<Known> = RefCell::default());
    KNOWN.with_borrow_mut(|known| {
        let validator = known.entry((keyword, value.to_owned())).or_insert_with(|| {
            let draft = if keyword == "format" { Draft::Draft202012 } else { Draft::Draft7 };
            let options = jsonschema::options().with_draft(draft);
            let schema = serde_json::json!({keyword: value});
            options.should_validate_formats(true).build(&schema).expect("a schema")
        });
        validator.is_valid(&Value::from(text))
    })
}

/// Schemas that replace generated ones, each with its meaning in plain code.
#[expect(clippy::type_complexity, reason = "a table of a schema and what it means")]
pub const VERBATIM: [(&str, fn(&Value) -> bool); 7] = [
    ("true", |_| true),
    (r#"{"type":["string","null"],"description":"`a` \\ \"b\""}"#, |value| {
        value.is_string() || value.is_null()
    }),
    (r#"{"not":{"type":"array"}}"#, |value| !value.is_array()),
    (r#"{"allOf":[{"minLength":2},{"maxLength":4}],"x-kept":[1.50,{}]}"#, |value| {
        value.as_str().is_none_or(|text| (2..=4).contains(&text.chars().count()))
    }),
    (r#"{"if":{"type":"object"},"then":{"required":["a"]}}"#, |value| {
        value.as_object().is_none_or(|map| map.contains_key("a"))
    }),
    (r#"{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}"#, |value| {
        value.get("q").is_some_and(Value::is_string)
    }),
    (r#"{"type":"object","properties":{},"minProperties":1,"title":"T"}"#, |value| {
        value.as_object().is_some_and(|map| !map.is_empty())
    }),
];

/// Whether a schema that replaces a generated one accepts a value.
pub fn verbatim(schema: &Value, value: &Value) -> bool {
    let text = schema.to_string();
    let known = VERBATIM.iter().find(|(known, _)| *known == text);
    known.unwrap_or_else(|| panic!("a schema that the tests do not know: {text}")).1(value)
}

/// Whether `.*` can go over the whole of it, past its first character.
fn one_line(text: &str) -> bool {
    !text.chars().skip(1).any(|c| c == '\n')
}

/// Whether a type with attributes accepts a value.
pub fn type_use(types: &Types, type_use: &TypeUse, value: &Value) -> bool {
    narrowed(types, type_use, &[], value)
}

/// Whether a type that is used with the attributes `over` accepts a value:
/// they override those of the type.
fn narrowed(types: &Types, type_use: &TypeUse, over: &[&Constraint], value: &Value) -> bool {
    if let Some(schema) = type_use.details.as_ref().and_then(|details| details.verbatim.as_deref())
    {
        return verbatim(schema, value) && over.iter().all(|over| constraint(types, over, value));
    }
    if matches!(type_use.ty, Type::Nullable(_)) && value.is_null() {
        return true;
    }
    let own = type_use.constraints.iter().filter(|own| !over.iter().any(|over| alike(over, own)));
    let all: Vec<&Constraint> = own.chain(over.iter().copied()).collect();
    let inner = match &type_use.ty {
        Type::Nullable(inner) => inner,
        ty => ty,
    };
    if let Type::Named(id) = inner {
        let declared = types.get(*id).expect("a type of this module");
        return narrowed(types, &declared.type_use, &all, value);
    }
    let has_format = all.iter().any(|known| matches!(known, Constraint::Format(_)));
    let fits = match inner {
        // The attribute replaces the format of the type.
        Type::Formatted(_) if has_format => value.is_string(),
        Type::Tuple(items) if type_use.details.as_ref().is_some_and(|known| known.open_tuple) => {
            let mut pairs = items.iter().zip(value.as_array().into_iter().flatten());
            value.is_array() && pairs.all(|(item, value)| ty(types, item, value))
        }
        inner => ty(types, inner, value),
    };
    fits && all.iter().all(|all| constraint(types, all, value))
}

/// Whether two constraints are of one attribute: both ends of a range, length or size are.
fn alike(a: &Constraint, b: &Constraint) -> bool {
    use Constraint as C;
    let bounds = |known: &C| match known {
        C::Minimum(_) | C::Maximum(_) => 1,
        C::MinLength(_) | C::MaxLength(_) => 2,
        C::MinSize(_) | C::MaxSize(_) => 3,
        _ => 0,
    };
    std::mem::discriminant(a) == std::mem::discriminant(b)
        || (bounds(a) > 0 && bounds(a) == bounds(b))
}

/// Whether a type takes a value.
pub fn ty(types: &Types, expected: &Type, value: &Value) -> bool {
    let takes = |expected: &Type, value: &Value| ty(types, expected, value);
    match expected {
        Type::Any => true,
        Type::Null => value.is_null(),
        Type::Boolean => value.is_boolean(),
        Type::Number => value.is_number(),
        Type::Integer => match value {
            Value::Number(number) => Decimal::of(number).exponent >= 0,
            _ => false,
        },
        Type::Text => value.is_string(),
        Type::Bytes => value.as_str().is_some_and(is_base64),
        Type::Formatted(format) => {
            value.as_str().is_some_and(|text| has_format(format.json_name(), text))
        }
        Type::Literal(literal) => equal(literal, value),
        Type::List(None) => value.is_array(),
        Type::List(Some(item)) => {
            value.as_array().is_some_and(|items| items.iter().all(|value| takes(item, value)))
        }
        Type::Tuple(types) => value.as_array().is_some_and(|items| {
            items.len() == types.len()
                && types.iter().zip(items).all(|(item, value)| takes(item, value))
        }),
        Type::Map(None) => value.is_object(),
        Type::Map(Some(inner)) => {
            value.as_object().is_some_and(|map| map.values().all(|value| takes(inner, value)))
        }
        Type::Object(expected) => value.as_object().is_some_and(|map| object(types, expected, map)),
        Type::Nullable(inner) => value.is_null() || takes(inner, value),
        Type::Union(members) => members.iter().any(|member| takes(member, value)),
        Type::OneOf(members) => members.iter().filter(|member| takes(member, value)).count() == 1,
        Type::Named(id) => {
            let declared = types.get(*id).expect("a type of this module");
            type_use(types, &declared.type_use, value)
        }
    }
}

fn object(types: &Types, expected: &ObjectType, map: &Map<String, Value>) -> bool {
    let fields = expected.fields.as_deref().unwrap_or_default();
    self::fields(types, fields, &expected.patterns, &expected.open, map)
        && expected.requires.iter().all(|name| map.contains_key(name.as_str()))
}

/// Whether a value may be the arguments of a tool, by what its schema says.
pub fn arguments(types: &Types, tool: &Tool, value: &Value) -> bool {
    let root = tool.root.as_deref();
    if let Some(schema) = root.and_then(|root| root.verbatim.as_ref()) {
        return verbatim(schema, value);
    }
    let requires = root.map_or(&[][..], |Root { requires, .. }| requires);
    value.as_object().is_some_and(|map| {
        fields(types, &tool.parameters, tool.patterns(), &tool.open, map)
            && requires.iter().all(|name| map.contains_key(name.as_str()))
    })
}

/// Whether an object may be an object of the given fields.
fn fields(
    types: &Types,
    fields: &[Field],
    patterns: &[FieldPattern],
    open: &Open,
    map: &Map<String, Value>,
) -> bool {
    let matches = |known: &FieldPattern, name: &str| matches_name(&known.pattern, name);
    let are_matched_fine = map.iter().all(|(name, value)| {
        patterns
            .iter()
            .filter(|known| matches(known, name))
            .all(|known| ty(types, &known.ty, value))
    });
    // An injected field is in no schema that a model sees.
    let mut shown = fields.iter().filter(|field| field.source != ValueSource::Injected);
    let declared = |name: &str| {
        shown.clone().any(|field| field.name == name)
            || patterns.iter().any(|known| matches(known, name))
    };
    let mut others = map.iter().filter(|(name, _)| !declared(name));
    let others = match open {
        Open::Unsaid | Open::Yes => true,
        Open::No => others.next().is_none(),
        Open::Of(inner) => others.all(|(_, value)| ty(types, inner, value)),
    };
    others
        && are_matched_fine
        && shown.all(|field| match map.get(field.name.as_str()) {
            Some(value) => type_use(types, &field.type_use, value),
            None => !required(field),
        })
}

/// Whether a field has to be there.
fn required(field: &Field) -> bool {
    field.source == ValueSource::Model
        && match field.optionality {
            Optionality::Required => true,
            Optionality::Optional => false,
            Optionality::ByDefault => field.type_use.default.is_none(),
        }
}

/// Whether a value lies within what narrows a type. What speaks of other kinds of value says
/// nothing of this one.
pub fn constraint(types: &Types, constraint: &Constraint, value: &Value) -> bool {
    let number = |holds: &dyn Fn(&Decimal) -> bool| match value {
        Value::Number(number) => holds(&Decimal::of(number)),
        _ => true,
    };
    let length = |holds: &dyn Fn(u64) -> bool| match value {
        Value::String(text) => holds(text.chars().count() as u64),
        _ => true,
    };
    let size = |holds: &dyn Fn(u64) -> bool| match value {
        Value::Array(items) => holds(items.len() as u64),
        Value::Object(map) => holds(map.len() as u64),
        _ => true,
    };
    match constraint {
        Constraint::Enum(members) => members.iter().any(|member| equal(member, value)),
        Constraint::Const(constant) => equal(constant, value),
        Constraint::Minimum(least) => number(&|it| it.compare(&Decimal::of(least)).is_ge()),
        Constraint::Maximum(most) => number(&|it| it.compare(&Decimal::of(most)).is_le()),
        Constraint::Above(bound) => number(&|it| it.compare(&Decimal::of(bound)).is_gt()),
        Constraint::Below(bound) => number(&|it| it.compare(&Decimal::of(bound)).is_lt()),
        Constraint::MultipleOf(step) => number(&|it| it.is_multiple_of(&Decimal::of(step))),
        Constraint::MinLength(least) => length(&|it| it >= *least),
        Constraint::MaxLength(most) => length(&|it| it <= *most),
        Constraint::MinSize(least) => size(&|it| it >= *least),
        Constraint::MaxSize(most) => size(&|it| it <= *most),
        Constraint::Pattern(pattern) => value
            .as_str()
            .is_none_or(|text| PATTERNS.iter().any(|(known, says)| pattern == known && says(text))),
        Constraint::Format(format) => value.as_str().is_none_or(|text| has_format(format, text)),
        Constraint::Unique => value.as_array().is_none_or(|items| {
            (1..items.len()).all(|at| !items[..at].iter().any(|other| equal(other, &items[at])))
        }),
        Constraint::Keys(keys) => value
            .as_object()
            .is_none_or(|map| map.keys().all(|key| ty(types, keys, &Value::String(key.clone())))),
    }
}

/// Whether two values are equal as JSON.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Decimal::of(a).compare(&Decimal::of(b)).is_eq(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// A number as whole digits times a power of ten, exactly.
struct Decimal {
    negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn of(number: &Number) -> Self {
        let text = number.to_string();
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let mut exponent: i64 = exponent.parse().expect("exponents in tests are small");
        let negative = mantissa.starts_with('-');
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        exponent -= i64::try_from(fraction.len()).expect("numbers in tests are short");
        let all = format!("{}{fraction}", whole.trim_start_matches('-'));
        let digits = all.trim_end_matches('0');
        exponent += i64::try_from(all.len() - digits.len()).expect("numbers in tests are short");
        let digits = digits.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: 0 };
        }
        Self { negative, digits, exponent }
    }

    /// The digits down to a power of ten.
    fn at(&self, exponent: i64) -> String {
        let zeros = usize::try_from(self.exponent - exponent).expect("exponents are small");
        format!("{}{}", self.digits, "0".repeat(zeros))
    }

    fn compare(&self, other: &Self) -> Ordering {
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.at(exponent), other.at(exponent));
        let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (negative, _) => {
                let magnitude = a.len().cmp(&b.len()).then_with(|| a.cmp(b));
                if negative { magnitude.reverse() } else { magnitude }
            }
        }
    }

    fn is_multiple_of(&self, step: &Self) -> bool {
        let exponent = self.exponent.min(step.exponent);
        let whole = |text: String| if text.is_empty() { Ok(0) } else { text.parse::<u128>() };
        match (whole(self.at(exponent)), whole(step.at(exponent))) {
            (Ok(value), Ok(step)) => value % step == 0,
            // The tests have no such long numbers with a step.
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn number(text: &str) -> Number {
        text.parse().expect("a number")
    }

    #[test]
    fn numbers_are_read_exactly() {
        let compare = |a, b| Decimal::of(&number(a)).compare(&Decimal::of(&number(b)));
        assert_eq!(compare("1.50", "15e-1"), Ordering::Equal);
        assert_eq!(compare("-0.0", "0"), Ordering::Equal);
        assert_eq!(compare("9007199254740993", "9007199254740992"), Ordering::Greater);
        assert_eq!(compare("-2", "-1.5"), Ordering::Less);
        assert_eq!(compare("0.09", "0.1"), Ordering::Less);
        assert!(Decimal::of(&number("1.5")).is_multiple_of(&Decimal::of(&number("0.25"))));
        assert!(!Decimal::of(&number("1.1")).is_multiple_of(&Decimal::of(&number("0.25"))));
        let integer = |value| ty(&Types::default(), &Type::Integer, &value);
        assert!(integer(json!(5.0)) && !integer(json!(5.5)));
    }
}
