//! The JSON Schema keywords of a type.

use gramc_json_schema::keywords::{Keyword, name as k};
use gramc_json_schema::type_set::TypeSet;
use serde::ser::SerializeMap;
use serde_json::Value;

use super::defs::Defs;
use super::json_schema::{Items, TypeSchema, fields, open, patterns, texts};
use super::place::TypePlace;
use gramc_model::attributes::of_constraint;
use gramc_model::{Constraint, ObjectType, Type, Types};

/// Writes all keywords of a type.
pub(super) fn keywords<M: SerializeMap>(
    map: &mut M,
    place: &TypePlace<'_>,
    remark: Option<&str>,
    defs: &Defs<'_>,
) -> Result<(), M::Error> {
    head(map, place, defs)?;
    let description = match (place.description.as_deref(), remark) {
        (Some(description), Some(remark)) => Some(format!("{description} {remark}")),
        (None, Some(remark)) => Some(remark.to_owned()),
        (_, None) => None,
    };
    texts(map, place.title, description.as_deref().or(place.description.as_deref()))?;
    constraints(map, place, defs)?;
    body(map, place, defs)?;
    if let Some(default) = place.default {
        map.serialize_entry(k::DEFAULT, default)?;
    }
    if let Some(examples) = place.examples {
        map.serialize_entry(k::EXAMPLES, examples)?;
    }
    if place.deprecated {
        map.serialize_entry(k::DEPRECATED, &true)?;
    }
    for (key, value) in place.extensions.iter() {
        map.serialize_entry(&**key, value)?;
    }
    Ok(())
}

/// Writes the keywords of constraints.
fn constraints<M: SerializeMap>(
    map: &mut M,
    place: &TypePlace<'_>,
    defs: &Defs<'_>,
) -> Result<(), M::Error> {
    let nullable = place.nullable && !place.unsound;
    for constraint in place.constraints.iter() {
        match constraint {
            // The constant writes the `enum` in this case.
            Constraint::Enum(_) if nullable && place.constant().is_some() => {}
            Constraint::Enum(values) => {
                let null = (nullable && !values.contains(&Value::Null)).then_some(&Value::Null);
                map.serialize_entry(k::ENUM, &Items(|| values.iter().chain(null)))?;
            }
            Constraint::Const(constant) if nullable && !constant.is_null() => {
                map.serialize_entry(k::ENUM, &place.constant_or_null(constant))?;
            }
            Constraint::Keys(ty) => {
                map.serialize_entry(k::PROPERTY_NAMES, &TypeSchema { ty, defs })?;
            }
            constraint => {
                let Some((_, spec)) = of_constraint(constraint.kind()) else { continue };
                let written = |keyword: &&Keyword| {
                    spec.keywords.len() == 1 || is_size_of(**keyword, place, defs.types())
                };
                spec.keywords.iter().filter(written).try_for_each(|keyword| {
                    map.serialize_entry(keyword.name(), &constraint.value())
                })?;
            }
        }
    }
    Ok(())
}

/// Whether a size constraint of this type writes the given keyword, which is for arrays or for
/// objects.
fn is_size_of(keyword: Keyword, place: &TypePlace<'_>, types: &Types) -> bool {
    match keyword {
        // `tuple` writes `minItems`.
        Keyword::MinItems if holds_tuple(place) => false,
        keyword if keyword.applies_to() == TypeSet::ARRAY => may_be(types, place.ty, "array"),
        _ => may_be(types, place.ty, "object"),
    }
}

/// Whether the type writes the keywords of a tuple.
fn holds_tuple(place: &TypePlace<'_>) -> bool {
    match place.ty {
        Type::Tuple(_) => true,
        Type::Union(members) if place.type_list => {
            members.iter().any(|member| matches!(member, Type::Tuple(_)))
        }
        _ => false,
    }
}

/// Whether values of a type may have the given JSON type.
fn may_be(types: &Types, ty: &Type, name: &str) -> bool {
    match types.resolve(ty) {
        Type::Any => true,
        Type::Nullable(inner) => may_be(types, inner, name),
        Type::Union(members) | Type::OneOf(members) => {
            members.iter().any(|member| may_be(types, member, name))
        }
        ty => ty.json_name() == Some(name),
    }
}

/// Writes the keywords for a value's type.
///
/// A constraint for the same keyword overrides the type.
fn head<M: SerializeMap>(
    map: &mut M,
    place: &TypePlace<'_>,
    defs: &Defs<'_>,
) -> Result<(), M::Error> {
    let said = |kind: fn(&Constraint) -> bool| place.constraints.iter().any(kind);
    let union = |map: &mut M, key, members: &[&Type]| {
        map.serialize_entry(key, &Items(|| members.iter().map(|ty| TypeSchema { ty, defs })))
    };
    if place.nullable {
        return match place.ty.json_name() {
            Some("null") => map.serialize_entry(k::TYPE, "null"),
            Some(name) => map.serialize_entry(k::TYPE, &[name, "null"]),
            None => union(map, k::ANY_OF, &[place.ty, &Type::Null]),
        };
    }
    if let Some(name) = place.ty.json_name() {
        return map.serialize_entry(k::TYPE, name);
    }
    match place.ty {
        Type::Named(id) => map.serialize_entry(k::REF, &defs.reference(*id)),
        Type::Literal(_) if said(|known| matches!(known, Constraint::Const(_))) => Ok(()),
        Type::Literal(value) => map.serialize_entry(k::CONST, value),
        Type::OneOf(members) => union(map, k::ONE_OF, &members.iter().collect::<Vec<_>>()),
        Type::Union(members) if place.type_list => {
            let names: Vec<_> = members.iter().filter_map(Type::json_name).collect();
            map.serialize_entry(k::TYPE, &names)
        }
        Type::Union(members) => {
            if let Some((name, values)) = literals(members) {
                map.serialize_entry(k::TYPE, name)?;
                if said(|known| matches!(known, Constraint::Enum(_))) {
                    return Ok(());
                }
                map.serialize_entry(k::ENUM, &values)
            } else {
                union(map, k::ANY_OF, &members.iter().collect::<Vec<_>>())
            }
        }
        _ => Ok(()),
    }
}

/// The values of a union of literals of one JSON type, and the name of that type.
fn literals(members: &[Type]) -> Option<(&'static str, Vec<&Value>)> {
    let kind = |value: &Value| match value {
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if gramc_model::value::is_integer(number) => Some("integer"),
        Value::Number(_) => Some("number"),
        _ => None,
    };
    let literals = members.iter().map(|member| match member {
        Type::Literal(value) => Some((kind(value)?, &**value)),
        _ => None,
    });
    let literals: Option<Vec<_>> = literals.collect();
    let (kinds, values): (Vec<_>, Vec<_>) = literals?.into_iter().unzip();
    let first = *kinds.first()?;
    if kinds.iter().all(|other| *other == first) {
        return Some((first, values));
    }
    // Integers and other numbers are the same kind in a type expression.
    let numbers = kinds.iter().all(|kind| matches!(*kind, "integer" | "number"));
    numbers.then_some(("number", values))
}

/// Writes the keywords for a value's contents.
fn body<M: SerializeMap>(
    map: &mut M,
    place: &TypePlace<'_>,
    defs: &Defs<'_>,
) -> Result<(), M::Error> {
    match place.ty {
        Type::Union(members) if place.type_list => {
            members.iter().try_for_each(|member| self::body(map, &place.of_member(member), defs))
        }
        Type::Formatted(_)
            if place.constraints.iter().any(|c| matches!(c, Constraint::Format(_))) =>
        {
            Ok(())
        }
        Type::Formatted(format) => map.serialize_entry(k::FORMAT, format.json_name()),
        Type::Bytes => map.serialize_entry(k::CONTENT_ENCODING, "base64"),
        Type::List(Some(ty)) => map.serialize_entry(k::ITEMS, &TypeSchema { ty, defs }),
        Type::Tuple(items) => tuple(map, items, place, defs),
        Type::Map(Some(ty)) => {
            map.serialize_entry(k::ADDITIONAL_PROPERTIES, &TypeSchema { ty, defs })
        }
        Type::Object(object) => self::object(map, object, defs),
        _ => Ok(()),
    }
}

fn object<M: SerializeMap>(
    map: &mut M,
    object: &ObjectType,
    defs: &Defs<'_>,
) -> Result<(), M::Error> {
    if object.fields.is_some() || !object.requires.is_empty() {
        let declared = object.fields.as_deref().unwrap_or_default();
        fields(map, declared, &object.requires, defs)?;
    }
    patterns(map, &object.patterns, defs)?;
    open(map, &object.open, defs)
}

/// Writes the keywords of a tuple. A maximum size of at most its length makes `items: false`
/// redundant.
fn tuple<M: SerializeMap>(
    map: &mut M,
    items: &[Type],
    place: &TypePlace<'_>,
    defs: &Defs<'_>,
) -> Result<(), M::Error> {
    let count = items.len() as u64;
    let ends = place.constraints.iter().any(|constraint| match constraint {
        Constraint::MaxSize(most) => *most <= count,
        _ => false,
    });
    let schemas = || items.iter().map(|ty| TypeSchema { ty, defs });
    map.serialize_entry(k::PREFIX_ITEMS, &Items(schemas))?;
    let least = place.constraints.iter().find_map(|constraint| match constraint {
        Constraint::MinSize(least) => Some(*least),
        _ => None,
    });
    if place.open_tuple {
        return least.map_or(Ok(()), |least| map.serialize_entry(k::MIN_ITEMS, &least));
    }
    if !ends {
        map.serialize_entry(k::ITEMS, &false)?;
    }
    map.serialize_entry(k::MIN_ITEMS, &count.max(least.unwrap_or_default()))
}
