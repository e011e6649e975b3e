//! Schemas of zod, which check values when the program runs.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use gramc_json_schema::keywords::Keyword;
use gramc_schema::typescript::text::{key, quote};
use serde_json::Value;

use crate::interface::{Field, Interface, NamedType, OtherFields, Shape, Type};

/// The name of the schema of a type.
pub(super) fn name_of(ty: &str) -> String {
    let mut chars = ty.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).chain("Schema".chars()).collect()
}

/// The schema of whole numbers. `z.int()` refuses those above 2^53, which JSON Schema accepts.
const INTEGER: &str = r#"
const integer = z
  .number()
  .refine(Number.isInteger, { error: "Invalid input: expected an integer" })
  .meta({ type: "integer" });
"#;

/// Appends the schemas of all types, each after those that it refers to. TypeScript infers their types, except
/// those of types that refer to themselves.
pub(super) fn write_schemas(out: &mut String, interface: &Interface) {
    let SchemaOrder { types, recursive } = SchemaOrder::new(interface);
    if interface.has_integers() {
        out.push_str(INTEGER);
    }
    for ty in types {
        let (own, name) = (name_of(&ty.name), &ty.name);
        let is_recursive = recursive.contains(name.as_str());
        if is_recursive {
            out.push_str("\n// It refers to itself, so it has no `.shape`.");
        }
        let annotation = if is_recursive { format!(": z.ZodType<{name}>") } else { String::new() };
        let _ = write!(out, "\nexport const {own}{annotation} = ");
        let is_parameters = interface.tools.iter().any(|tool| tool.parameters == *name);
        let doc = if is_parameters { "" } else { &ty.doc };
        match &ty.shape {
            Shape::Alias(alias) => out.push_str(&schema(alias, &recursive)),
            Shape::Record { fields, others } => {
                let is_strict = *others == OtherFields::Refused;
                out.push_str(if is_strict { "z.strictObject({\n" } else { "z.object({\n" });
                for field in fields {
                    let _ = writeln!(
                        out,
                        "  {}: {},",
                        key(&field.name),
                        field_schema(field, &recursive)
                    );
                }
                out.push_str(if *others == OtherFields::Kept {
                    "}).catchall(z.unknown())"
                } else {
                    "})"
                });
            }
        }
        let _ = writeln!(out, "{};", description(doc));
    }
}

/// The types in the order of their schemas.
struct SchemaOrder<'i> {
    types: Vec<&'i NamedType>,
    /// The types that refer to themselves.
    recursive: HashSet<&'i str>,
}

impl<'i> SchemaOrder<'i> {
    fn new(interface: &'i Interface) -> Self {
        let known: HashMap<&str, &NamedType> =
            interface.types.iter().map(|ty| (ty.name.as_str(), ty)).collect();
        let mut order = Self { types: Vec::new(), recursive: HashSet::new() };
        let (mut visited, mut open) = (HashSet::new(), HashSet::new());
        for ty in &interface.types {
            // The types whose references are followed now, with those that remain.
            let mut stack = vec![(ty, vec![ty.name.as_str()])];
            while let Some((ty, names)) = stack.last_mut() {
                let Some(name) = names.pop() else {
                    let ended = *ty;
                    stack.pop();
                    open.remove(ended.name.as_str());
                    // The first entry only starts the search.
                    if !stack.is_empty() {
                        order.types.push(ended);
                    }
                    continue;
                };
                if !visited.insert(name) {
                    if open.contains(name) {
                        order.recursive.insert(name);
                    }
                } else if let Some(next) = known.get(name) {
                    open.insert(name);
                    stack.push((next, names_in(next)));
                }
            }
        }
        order
    }
}

/// The names of the types that a type refers to, last first.
fn names_in(ty: &NamedType) -> Vec<&str> {
    let mut names = match &ty.shape {
        Shape::Alias(alias) => alias.names(),
        Shape::Record { fields, .. } => fields.iter().flat_map(|it| it.ty.names()).collect(),
    };
    names.reverse();
    names
}

fn field_schema(field: &Field, recursive: &HashSet<&str>) -> String {
    let end = match field.filled_default() {
        // The defaults in it are filled in, too.
        Some(value @ (Value::Object(_) | Value::Array(_))) => format!(".prefault({value})"),
        Some(value) => format!(".default({value})"),
        None if field.is_required => String::new(),
        None => ".optional()".to_owned(),
    };
    format!("{}{end}{}", schema(&field.ty, recursive), description(&field.doc))
}

fn description(doc: &str) -> String {
    if doc.is_empty() { String::new() } else { format!(".describe({})", quote(doc)) }
}

/// A type as a schema. Types that refer to themselves may be declared later.
pub(super) fn schema(ty: &Type, recursive: &HashSet<&str>) -> String {
    let all = |types: &[Type]| {
        types.iter().map(|ty| schema(ty, recursive)).collect::<Vec<_>>().join(", ")
    };
    match ty {
        Type::Any => "z.unknown()".to_owned(),
        Type::Never => "z.never()".to_owned(),
        Type::Null => "z.null()".to_owned(),
        Type::Boolean => "z.boolean()".to_owned(),
        Type::Integer => "integer".to_owned(),
        Type::Number => "z.number()".to_owned(),
        Type::Text => "z.string()".to_owned(),
        Type::Literal(values) => literal(values),
        Type::List(item) => format!("z.array({})", schema(item, recursive)),
        Type::Tuple(items) => format!("z.tuple([{}])", all(items)),
        Type::Map(value) => format!("z.record(z.string(), {})", schema(value, recursive)),
        Type::Named(name) if recursive.contains(name.as_str()) => {
            format!("z.lazy(() => {})", name_of(name))
        }
        Type::Named(name) => name_of(name),
        Type::Union(members) => format!("z.union([{}])", all(members)),
        Type::Constrained(inner, constraints) => {
            let mut text = schema(inner, recursive);
            for (constraint, value) in constraints {
                let method = match constraint {
                    Keyword::Format => {
                        text = format_schema(value.as_str().unwrap_or_default());
                        continue;
                    }
                    Keyword::Pattern => {
                        let _ = write!(text, ".regex(new RegExp({value}, \"u\"))");
                        continue;
                    }
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

/// A text in a format. Formats that zod does not check in the same way are kept in its JSON Schema.
fn format_schema(format: &str) -> String {
    let checked = match format {
        "date" => "z.iso.date()",
        "date-time" => "z.iso.datetime({ offset: true })",
        "duration" => "z.iso.duration()",
        // Its own pattern refuses `root@localhost` and quoted names.
        "email" => "z.email({ pattern: /^.+@.+$/u })",
        "ipv4" => "z.ipv4()",
        "ipv6" => "z.ipv6()",
        "uri" => "z.url()",
        "uuid" => "z.guid()",
        other => return format!("z.string().meta({{ format: {} }})", quote(other)),
    };
    checked.to_owned()
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
