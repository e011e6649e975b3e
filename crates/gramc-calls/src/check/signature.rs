//! The type of a tool's arguments, for hosts: as in TypeScript, with constraints in words.

use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;

use super::hint::{MAX_LEVELS, MAX_NAMED, range_words, size_words, text_words};
use super::shape::{
    Composition, ExtraProperties, FieldRule, ListRules, ObjectRules, ShapeId, Shapes,
};

/// The type of the arguments of a tool: `{city: string, nights?: integer from 1 to 30 = 1}`.
pub(super) fn signature(shapes: &Shapes) -> String {
    match &shapes.list[shapes.root as usize].object {
        Some(rules) => object_expression(shapes, Some(rules), 0),
        // Shapes that a root delegates to do not know the parameters of the host, such as secrets.
        None if shapes.host.is_some() => "object".to_owned(),
        None => expression(shapes, shapes.root, 0),
    }
}

/// The type of the values of a shape. The root is at depth 0.
fn expression(shapes: &Shapes, id: ShapeId, depth: u32) -> String {
    let shape = &shapes.list[id as usize];
    if let Some(values) = &shape.values
        && values.list.len() <= MAX_NAMED
    {
        return values.list.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    match &shape.others {
        Composition::Same(other) => return expression(shapes, *other, depth),
        Composition::Any(members) | Composition::One(members) if depth <= MAX_LEVELS => {
            let mut all: Vec<_> =
                members.iter().map(|&id| expression(shapes, id, depth + 1)).collect();
            all.dedup();
            return all.join(" | ");
        }
        _ => {}
    }
    if shape.kinds == TypeSet::ALL {
        return "any".to_owned();
    }
    let has = |kind: TypeSet| shape.kinds.meets(kind);
    let mut all = Vec::new();
    if has(TypeSet::STRING) {
        all.push(text_words(shape.text.as_deref()));
    }
    if has(TypeSet::INTEGER) {
        let name = if has(TypeSet::FRACTION) { "number" } else { "integer" };
        all.push(format!("{name}{}", range_words(shape.number.as_deref())));
    }
    if has(TypeSet::BOOLEAN) {
        all.push("boolean".to_owned());
    }
    if has(TypeSet::ARRAY) {
        all.push(list_expression(shapes, shape.list.as_deref(), depth));
    }
    if has(TypeSet::OBJECT) {
        all.push(object_expression(shapes, shape.object.as_deref(), depth));
    }
    if has(TypeSet::NULL) {
        all.push("null".to_owned());
    }
    all.join(" | ")
}

fn list_expression(shapes: &Shapes, rules: Option<&ListRules>, depth: u32) -> String {
    let Some(rules) = rules else { return "array".to_owned() };
    let item = |id: ShapeId| expression(shapes, id, depth + 1);
    let items = match rules.rest {
        _ if depth > MAX_LEVELS => "array".to_owned(),
        // The type of a tuple shows its size.
        _ if !rules.first.is_empty() => {
            let first: Vec<_> = rules.first.iter().map(|&id| item(id)).collect();
            return format!("[{}]", first.join(", "));
        }
        Some(rest) => match item(rest) {
            item if item.contains(' ') && !item.starts_with('{') => format!("({item})[]"),
            item => format!("{item}[]"),
        },
        None => "array".to_owned(),
    };
    let unique = if rules.unique { " without repeated items" } else { "" };
    format!("{items}{}{unique}", size_words(rules.least, rules.most, "item"))
}

fn object_expression(shapes: &Shapes, rules: Option<&ObjectRules>, depth: u32) -> String {
    let Some(rules) = rules else { return "object".to_owned() };
    let size = size_words(rules.least, rules.most, "key");
    if depth > MAX_LEVELS {
        return format!("object{size}");
    }
    // Models omit pinned and injected parameters.
    let fields = rules.fields.iter();
    let fields = fields.filter(|it| it.pinned.is_none() && !rules.is_injected(&it.name));
    let mut fields: Vec<_> = fields.map(|field| field_expression(shapes, field, depth)).collect();
    let required = rules.required.iter();
    let required = required.filter(|it| rules.field(it, 0).is_none() && !rules.is_injected(it));
    fields.extend(required.map(|it| format!("{}: any", name(it))));
    match rules.extra {
        ExtraProperties::Of(id) => {
            fields.push(format!("[key: string]: {}", expression(shapes, id, depth + 1)));
        }
        _ if fields.is_empty() && rules.fields.is_empty() && !rules.closed => {
            return format!("object{size}");
        }
        ExtraProperties::Yes => fields.push("[key: string]: any".to_owned()),
        ExtraProperties::No | ExtraProperties::Unsaid => {}
    }
    format!("{{{}}}{size}", fields.join(", "))
}

fn field_expression(shapes: &Shapes, field: &FieldRule, depth: u32) -> String {
    let default = match &field.default {
        Some(_) if field.refuses_default => String::new(),
        Some(_) if field.secret => " = \"***\"".to_owned(),
        Some(default) => format!(" = {default}"),
        None => String::new(),
    };
    let optional = if field.required { "" } else { "?" };
    let value = expression(shapes, field.shape, depth + 1);
    format!("{}{optional}: {value}{default}", name(&field.name))
}

/// The name of a field, quoted as in TypeScript if it is not an identifier.
fn name(name: &str) -> String {
    let is_identifier = !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_identifier { name.to_owned() } else { Value::from(name).to_string() }
}
