//! Schemas of zod, which check values when the program runs.

use std::fmt::Write as _;

use gramc_json_schema::keywords::Keyword;
use gramc_schema::typescript::text::key;
use serde_json::Value;

use crate::interface::{NamedType, Shape, Type};

/// The name of the schema of a type.
pub(super) fn name_of(ty: &str) -> String {
    let mut chars = ty.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).chain("Schema".chars()).collect()
}

/// Appends the schema of a type with a name.
pub(super) fn write_schema(out: &mut String, ty: &NamedType) {
    let (own, name) = (name_of(&ty.name), &ty.name);
    let _ = match &ty.shape {
        Shape::Alias(alias) => {
            writeln!(out, "\nexport const {own}: z.ZodType<{name}> = {};", schema(alias))
        }
        Shape::Record { fields, is_open } => {
            let _ = writeln!(out, "\nexport const {own}: z.ZodType<{name}> = z.object({{");
            for field in fields {
                let optional = if field.is_required { "" } else { ".optional()" };
                let _ = writeln!(out, "  {}: {}{optional},", key(&field.name), schema(&field.ty));
            }
            writeln!(out, "}}){};", if *is_open { ".catchall(z.unknown())" } else { "" })
        }
    };
}

/// A type as a schema.
pub(super) fn schema(ty: &Type) -> String {
    match ty {
        Type::Any => "z.unknown()".to_owned(),
        Type::Never => "z.never()".to_owned(),
        Type::Null => "z.null()".to_owned(),
        Type::Boolean => "z.boolean()".to_owned(),
        Type::Integer => "z.number().int()".to_owned(),
        Type::Number => "z.number()".to_owned(),
        Type::Text => "z.string()".to_owned(),
        Type::Literal(values) => literal(values),
        Type::List(item) => format!("z.array({})", schema(item)),
        Type::Tuple(items) => {
            let items: Vec<String> = items.iter().map(schema).collect();
            format!("z.tuple([{}])", items.join(", "))
        }
        Type::Map(value) => format!("z.record(z.string(), {})", schema(value)),
        // The schema may be declared later, or be this one.
        Type::Named(name) => format!("z.lazy(() => {})", name_of(name)),
        Type::Union(members) => {
            let members: Vec<String> = members.iter().map(schema).collect();
            format!("z.union([{}])", members.join(", "))
        }
        Type::Constrained(inner, constraints) => {
            let mut text = schema(inner);
            for (constraint, value) in constraints {
                let method = match constraint {
                    Keyword::Minimum => "gte",
                    Keyword::Maximum => "lte",
                    Keyword::ExclusiveMinimum => "gt",
                    Keyword::ExclusiveMaximum => "lt",
                    Keyword::MinLength | Keyword::MinItems => "min",
                    Keyword::MaxLength | Keyword::MaxItems => "max",
                    other => other.name(),
                };
                let _ = write!(text, ".{method}({value})");
            }
            text
        }
    }
}

fn literal(values: &[Value]) -> String {
    let single = |value: &Value| match value {
        Value::Null => "z.null()".to_owned(),
        value => format!("z.literal({value})"),
    };
    match values {
        [only] => single(only),
        values if values.iter().all(Value::is_string) => {
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            format!("z.enum([{}])", values.join(", "))
        }
        values => {
            let members: Vec<String> = values.iter().map(single).collect();
            format!("z.union([{}])", members.join(", "))
        }
    }
}
