//! Whether a type accepts a value: for defaults, examples and the members of enums.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use gramc_json_schema::shorten::shorten;
use gramc_json_schema::strings::StringCheck;
use serde_json::{Number, Value};
use smol_str::SmolStr;

use crate::format::describe;
use crate::model::{Constraint, Field, ObjectType, Open, Type, TypeUse, Types, ValueSource};
use crate::value;
use crate::walk::{parts, parts_of_type_use};

/// Why a type does not accept a value.
pub struct Refusal {
    /// Where in the value: `items.0.name`; empty for the value itself.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

type Verdict = Result<(), Refusal>;

fn refuse(message: impl Into<String>) -> Verdict {
    Err(Refusal { path: String::new(), message: message.into() })
}

fn within(step: impl std::fmt::Display, verdict: Verdict) -> Verdict {
    verdict.map_err(|inner| Refusal {
        path: if inner.path.is_empty() {
            step.to_string()
        } else {
            format!("{step}.{}", inner.path)
        },
        message: inner.message,
    })
}

/// How many steps are taken for one value. Unions of unions can ask for ever more of them; what is
/// not found out by then counts as accepted.
const MAX_STEPS: u32 = 200_000;

/// Compiled checks of strings; nothing where one cannot be compiled.
type StringChecks = HashMap<(StringRule, SmolStr), Option<Rc<StringCheck>>>;

struct ValueCheck<'t> {
    types: &'t Types,
    steps: Cell<u32>,
    strings: RefCell<StringChecks>,
}

/// What a string is checked against.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum StringRule {
    Pattern,
    Format,
    Encoding,
}

impl<'t> ValueCheck<'t> {
    fn new(types: &'t Types) -> Self {
        Self { types, steps: Cell::new(0), strings: RefCell::default() }
    }

    /// The check of a rule, built once. `None` if the rule accepts every string, or if it is
    /// malformed, which is reported elsewhere.
    fn string(&self, rule: StringRule, name: &str) -> Option<Rc<StringCheck>> {
        let mut known = self.strings.borrow_mut();
        let check = known.entry((rule, SmolStr::new(name))).or_insert_with(|| {
            let check = match rule {
                StringRule::Pattern => StringCheck::of_pattern(name),
                StringRule::Format => StringCheck::of_format(name),
                StringRule::Encoding => StringCheck::of_encoding(name),
            };
            check.map(Rc::new)
        });
        check.clone()
    }

    fn accepts(&self, rule: StringRule, name: &str, text: &str) -> bool {
        self.string(rule, name).is_none_or(|check| check.accepts(text))
    }
}

/// Whether a type use accepts a value, its constraints included.
pub fn type_use(types: &Types, type_use: &TypeUse, value: &Value) -> Verdict {
    narrow(&ValueCheck::new(types), type_use, &[], value)
}

/// Whether a type use accepts the members of its enum or its constant: whether they are of its type
/// and satisfy its other constraints.
pub fn members(types: &Types, type_use: &TypeUse, members: &[Value]) -> Verdict {
    let mut expected = TypeUse::new(type_use.ty.clone());
    let others = |known: &&Constraint| !matches!(known, Constraint::Enum(_) | Constraint::Const(_));
    expected.constraints = type_use.constraints.iter().filter(others).cloned().collect();
    let check = ValueCheck::new(types);
    members.iter().try_for_each(|member| narrow(&check, &expected, &[], member))
}

/// Whether a type accepts a value.
pub fn ty(types: &Types, expected: &Type, value: &Value) -> Verdict {
    of_type(&ValueCheck::new(types), expected, value)
}

/// Whether a type use accepts a value. A constraint in `over` replaces one of the same kind.
fn narrow(
    check: &ValueCheck<'_>,
    type_use: &TypeUse,
    over: &[Constraint],
    value: &Value,
) -> Verdict {
    let types = check.types;
    let details = type_use.details.as_deref();
    // Only a validator can check a verbatim schema.
    if details.is_some_and(|details| details.verbatim.is_some()) {
        return Ok(());
    }
    let (ty, nullable) = match &type_use.ty {
        Type::Nullable(inner) => (&**inner, true),
        ty => (ty, false),
    };
    if nullable && value.is_null() {
        return Ok(());
    }
    let own = type_use.constraints.iter();
    let own = own.filter(|own| !over.iter().any(|other| other.is_like(own)));
    match ty {
        Type::Named(id) => {
            let Some(declared) = types.get(*id) else { return Ok(()) };
            let mut all = own.cloned().collect::<Vec<_>>();
            all.extend_from_slice(over);
            narrow(check, &declared.type_use, &all, value)
        }
        ty => {
            let mut all = own.clone().chain(over);
            let ty = match ty {
                // The schema has one format.
                Type::Formatted(_) if all.any(|known| matches!(known, Constraint::Format(_))) => {
                    &Type::Text
                }
                ty => ty,
            };
            match (ty, value) {
                (Type::Tuple(members), Value::Array(items))
                    if details.is_some_and(|details| details.open_tuple) =>
                {
                    let mut pairs = members.iter().zip(items).enumerate();
                    pairs.try_for_each(|(at, (ty, item))| within(at, of_type(check, ty, item)))?;
                }
                _ => of_type(check, ty, value)?,
            }
            own.chain(over).try_for_each(|constraint| check_constraint(check, constraint, value))
        }
    }
}

/// Whether a type accepts a value, as far as there are steps left.
fn of_type(check: &ValueCheck<'_>, expected: &Type, value: &Value) -> Verdict {
    let types = check.types;
    check.steps.set(check.steps.get().saturating_add(1));
    if check.steps.get() > MAX_STEPS {
        return Ok(());
    }
    let ty = |expected: &Type, value: &Value| of_type(check, expected, value);
    let each = |pairs: &mut dyn Iterator<Item = (&Type, &Value)>| {
        pairs.enumerate().try_for_each(|(at, (expected, value))| within(at, ty(expected, value)))
    };
    let fits = match (expected, value) {
        (Type::Any, _)
        | (Type::List(None), Value::Array(_))
        | (Type::Map(None), Value::Object(_))
        | (Type::Null, Value::Null)
        | (Type::Boolean, Value::Bool(_))
        | (Type::Number, Value::Number(_))
        | (Type::Text, Value::String(_)) => true,
        (Type::Bytes, Value::String(text)) => check.accepts(StringRule::Encoding, "base64", text),
        (Type::Formatted(format), Value::String(text)) => {
            check.accepts(StringRule::Format, format.json_name(), text)
        }
        (Type::Integer, Value::Number(number)) => value::is_integer(number),
        (Type::Literal(literal), value) => value::same(literal, value),
        (Type::Named(id), value) => {
            return types
                .get(*id)
                .map_or(Ok(()), |known| narrow(check, &known.type_use, &[], value));
        }
        (Type::Nullable(inner), value) => {
            return if value.is_null() { Ok(()) } else { ty(inner, value) };
        }
        (Type::List(Some(item)), Value::Array(items)) => {
            return each(&mut std::iter::repeat(&**item).zip(items));
        }
        (Type::Tuple(types), Value::Array(items)) if types.len() == items.len() => {
            return each(&mut types.iter().zip(items));
        }
        (Type::Map(Some(inner)), Value::Object(map)) => {
            return map.iter().try_for_each(|(key, value)| within(key, ty(inner, value)));
        }
        (Type::Object(object), Value::Object(map)) => return self::object(check, object, map),
        (Type::Union(members), value) => members.iter().any(|member| ty(member, value).is_ok()),
        (Type::OneOf(members), value) => {
            let mut fitting = members.iter().filter(|member| ty(member, value).is_ok());
            // Keywords that are not evaluated here may reject it.
            match (fitting.next(), fitting.next()) {
                (Some(first), Some(second)) => {
                    [first, second].into_iter().chain(fitting).any(|ty| is_presumed(types, ty))
                }
                (first, _) => first.is_some(),
            }
        }
        _ => false,
    };
    if fits {
        return Ok(());
    }
    refuse(format!("{} is not {}", brief(value), describe(types, expected)))
}

/// Whether a type contains a malformed pattern or a verbatim schema, which are not evaluated here.
fn is_presumed(types: &Types, ty: &Type) -> bool {
    fn type_use<'t>(type_use: &'t TypeUse, open: &mut Vec<&'t Type>) -> bool {
        parts_of_type_use(type_use, &mut |part| open.push(part));
        let details = type_use.details.as_deref();
        details.is_some_and(|details| details.verbatim.is_some())
            || type_use
                .constraints
                .iter()
                .any(|known| matches!(known, Constraint::Pattern(pattern) if malformed_pattern(pattern).is_some()))
    }
    let (mut open, mut seen) = (vec![ty], HashSet::new());
    while let Some(ty) = open.pop() {
        match ty {
            Type::Named(id) if seen.insert(*id) => {
                if types.get(*id).is_some_and(|known| type_use(&known.type_use, &mut open)) {
                    return true;
                }
            }
            Type::Object(object) => {
                let fields = object.fields.iter().flatten();
                if fields.into_iter().any(|field| type_use(&field.type_use, &mut open)) {
                    return true;
                }
                open.extend(object.undeclared_types());
            }
            ty => parts(ty, &mut |part| open.push(part)),
        }
    }
    false
}

fn object(
    check: &ValueCheck<'_>,
    object: &ObjectType,
    map: &serde_json::Map<String, Value>,
) -> Verdict {
    let fields = object.fields.as_deref().unwrap_or_default();
    for field in fields {
        match map.get(field.name.as_str()) {
            Some(value) => within(&field.name, self::field(check, field, value))?,
            None if field.required() => {
                return refuse(format!("the field `{}` is missing", field.name));
            }
            None => {}
        }
    }
    if let Some(name) = object.requires.iter().find(|name| !map.contains_key(name.as_str())) {
        return refuse(format!("the field `{name}` is missing"));
    }
    let mut matched = HashSet::new();
    for known in &object.patterns {
        let Some(pattern) = check.string(StringRule::Pattern, &known.pattern) else { continue };
        for (key, value) in map.iter().filter(|(key, _)| pattern.accepts(key)) {
            within(key, of_type(check, &known.ty, value))?;
            matched.insert(key);
        }
    }
    let declared =
        |key: &String| matched.contains(key) || fields.iter().any(|field| field.name == *key);
    let mut others = map.iter().filter(|(key, _)| !declared(key));
    match &object.open {
        Open::No => match others.next() {
            Some((key, _)) => refuse(format!("there is no field `{key}`")),
            None => Ok(()),
        },
        Open::Of(inner) => {
            others.try_for_each(|(key, value)| within(key, of_type(check, inner, value)))
        }
        Open::Unsaid | Open::Yes => Ok(()),
    }
}

/// Whether a field accepts a value.
fn field(check: &ValueCheck<'_>, field: &Field, value: &Value) -> Verdict {
    match &field.source {
        ValueSource::Pinned(pinned) if !value::same(pinned, value) => {
            refuse(format!("`{}` is pinned to {}", field.name, brief(pinned)))
        }
        _ => narrow(check, &field.type_use, &[], value),
    }
}

/// Checks a value against one constraint.
pub fn constraint(types: &Types, constraint: &Constraint, value: &Value) -> Verdict {
    check_constraint(&ValueCheck::new(types), constraint, value)
}

fn check_constraint(check: &ValueCheck<'_>, constraint: &Constraint, value: &Value) -> Verdict {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let bound = |bound: &Number, allowed: &[std::cmp::Ordering], words: &str| match value {
        Value::Number(number) if !allowed.contains(&value::compare(number, bound)) => {
            refuse(format!("{number} is {words} {bound}"))
        }
        _ => Ok(()),
    };
    let length = match value {
        Value::String(text) => Some(text.chars().count() as u64),
        _ => None,
    };
    let (size, what) = match value {
        Value::Array(items) => (Some(items.len() as u64), ["item", "items"]),
        Value::Object(map) => (Some(map.len() as u64), ["entry", "entries"]),
        _ => (None, [""; 2]),
    };
    let characters = ["character", "characters"];
    let count = |found: Option<u64>, allowed: std::ops::RangeInclusive<u64>, what: [&str; 2]| {
        let Some(found) = found.filter(|found| !allowed.contains(found)) else { return Ok(()) };
        let limit = match (found < *allowed.start(), *allowed.end()) {
            (true, _) => format!("at least {} are required", allowed.start()),
            (false, 1) => "at most 1 is allowed".to_owned(),
            (false, most) => format!("at most {most} are allowed"),
        };
        let what = what[usize::from(found != 1)];
        refuse(format!("{} has {found} {what}, {limit}", brief(value)))
    };
    let is_text_of = |rule, name: &str| match value {
        Value::String(text) => check.accepts(rule, name, text),
        _ => true,
    };
    match constraint {
        Constraint::Enum(values) if !values.iter().any(|member| value::same(member, value)) => {
            refuse(format!("{} is not one of the enum's values", brief(value)))
        }
        Constraint::Const(constant) if !value::same(constant, value) => {
            refuse(format!("{} is not {}", brief(value), brief(constant)))
        }
        Constraint::Minimum(least) => bound(least, &[Greater, Equal], "below the minimum"),
        Constraint::Maximum(most) => bound(most, &[Less, Equal], "above the maximum"),
        Constraint::Above(least) => bound(least, &[Greater], "not above"),
        Constraint::Below(most) => bound(most, &[Less], "not below"),
        Constraint::MinLength(least) => count(length, *least..=u64::MAX, characters),
        Constraint::MaxLength(most) => count(length, 0..=*most, characters),
        Constraint::MinSize(least) => count(size, *least..=u64::MAX, what),
        Constraint::MaxSize(most) => count(size, 0..=*most, what),
        Constraint::MultipleOf(step) => match value {
            Value::Number(number) if !value::is_multiple(number, step) => {
                refuse(format!("{number} is not a multiple of {step}"))
            }
            _ => Ok(()),
        },
        Constraint::Keys(keys) => match value {
            Value::Object(map) => map
                .keys()
                .try_for_each(|key| within(key, of_type(check, keys, &Value::String(key.clone())))),
            _ => Ok(()),
        },
        Constraint::Pattern(pattern) if !is_text_of(StringRule::Pattern, pattern) => {
            refuse(format!("{} does not match the pattern {pattern}", brief(value)))
        }
        Constraint::Format(format) if !is_text_of(StringRule::Format, format) => {
            refuse(format!("{} is not text of the format {format}", brief(value)))
        }
        Constraint::Unique if has_twins(value) => refuse("an item occurs twice"),
        _ => Ok(()),
    }
}

/// The longest pattern that is looked at; compiling one takes a stack that grows with it.
const MAX_PATTERN_LENGTH: usize = 4096;

/// Why a pattern is no regular expression of ECMAScript, with the flag `u` or without it.
pub fn malformed_pattern(pattern: &str) -> Option<String> {
    if pattern.len() > MAX_PATTERN_LENGTH || regress::Regex::with_flags(pattern, "u").is_ok() {
        return None;
    }
    regress::Regex::new(pattern).err().map(|error| error.text.to_lowercase())
}

fn has_twins(value: &Value) -> bool {
    let Value::Array(items) = value else { return false };
    let mut known = HashSet::new();
    !items.iter().all(|item| known.insert(value::canonical(item)))
}

/// A value for a message, cut where it is long.
pub fn brief(value: &Value) -> String {
    let text = match value {
        // What is long is not printed whole first.
        Value::String(text) if text.len() > 200 => {
            format!("{:?}", text.chars().take(40).collect::<String>())
        }
        Value::Array(_) => "the list".to_owned(),
        Value::Object(_) => "the object".to_owned(),
        value => value.to_string(),
    };
    if text.chars().count() <= 40 {
        return text;
    }
    shorten(&text, 37)
}
