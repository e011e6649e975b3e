//! Compact signatures of tools, for messages to models.

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::type_set::TypeSet;
use gramc_model::Format;
use serde_json::Value;

use super::hint::{MAX_LEVELS, MAX_NAMED};
use super::shape::{
    Composition, ExtraProperties, FieldRule, ListRules, NumericBound, ObjectRules, Shape, ShapeId,
    Shapes,
};

/// The signature of a tool: `(path::Text {length: 1..80})==>(limit::Integer {default: 10})==>…`.
pub(super) fn signature(shapes: &Shapes) -> String {
    let root = &shapes.list[shapes.root as usize];
    let Some(object) = &root.object else { return "(…)==>…".to_owned() };
    // Models leave pinned parameters out.
    let fields = object.fields.iter().filter(|field| field.pinned.is_none());
    let mut parts: Vec<_> = fields.map(|field| parameter(shapes, field)).collect();
    if parts.is_empty() {
        parts.push("()".to_owned());
    }
    parts.push("…".to_owned());
    parts.join("==>")
}

fn parameter(shapes: &Shapes, field: &FieldRule) -> String {
    let mut attributes = constraints(shapes.behind(field.shape));
    match field.default.as_ref().filter(|_| !field.refuses_default) {
        Some(_) if field.secret => attributes.push("default: \"***\"".to_owned()),
        Some(default) => attributes.push(format!("default: {default}")),
        None if field.required => {}
        None => attributes.push("optional: true".to_owned()),
    }
    let attributes = join_attributes(&attributes);
    format!("({}::{}{attributes})", symbol(&field.name), label(shapes, field.shape))
}

/// Attributes as they follow a type.
fn join_attributes(attributes: &[String]) -> String {
    match attributes {
        [] => String::new(),
        all => format!(" {{{}}}", all.join(", ")),
    }
}

fn constraints(shape: &Shape) -> Vec<String> {
    let mut all = Vec::new();
    let mut put = |key: &str, value: Option<String>| {
        all.extend(value.map(|value| format!("{key}: {value}")));
    };
    if let Some(rules) = &shape.number {
        let text = |bound: &Option<NumericBound>| bound.as_ref().map(|it| it.number.to_string());
        put("range", range(text(&rules.least), text(&rules.most)));
        put("above", text(&rules.above));
        put("below", text(&rules.below));
        put(k::MULTIPLE_OF, text(&rules.step));
    }
    let size = |least: u64, most: Option<u64>| {
        range((least > 0).then(|| least.to_string()), most.map(|most| most.to_string()))
    };
    if let Some(rules) = &shape.text {
        put("length", size(rules.least, rules.most));
        let pattern = rules.pattern.as_ref().map(|(pattern, _)| Value::from(&**pattern));
        put("pattern", pattern.map(|pattern| pattern.to_string()));
        let format = rules.format.as_ref().map(|(format, _)| &**format);
        let format = format.filter(|format| Format::from_json_name(format).is_none());
        put("format", format.map(|format| Value::from(format).to_string()));
    }
    // The type of a tuple says its size.
    if let Some(rules) = shape.list.as_ref().filter(|rules| rules.first.is_empty()) {
        put("size", size(rules.least, rules.most));
        put("unique", rules.unique.then(|| "true".to_owned()));
    }
    if let Some(rules) = &shape.object {
        put("size", size(rules.least, rules.most));
    }
    all
}

/// `1..5`, `1...`, `...5`
fn range(least: Option<String>, most: Option<String>) -> Option<String> {
    match (least, most) {
        (None, None) => None,
        (Some(least), None) => Some(format!("{least}...")),
        (None, Some(most)) => Some(format!("...{most}")),
        (Some(least), Some(most)) => Some(format!("{least}..{most}")),
    }
}

/// The type of a string: that of its format, if there is one.
fn text_expression(shape: &Shape) -> String {
    let format = shape.text.as_ref().and_then(|rules| rules.format.as_ref());
    let format = format.and_then(|(format, _)| Format::from_json_name(format));
    format.map_or("Text", Format::type_name).to_owned()
}

fn is_symbol(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn symbol(name: &str) -> String {
    if is_symbol(name) { name.to_owned() } else { format!("`{name}`") }
}

fn label(shapes: &Shapes, id: ShapeId) -> String {
    let expression = expression(shapes, id, 0);
    if is_symbol(&expression) { expression } else { format!("`{expression}`") }
}

/// A shape as a type expression of gram, without constraints of its own.
fn expression(shapes: &Shapes, id: ShapeId, depth: u32) -> String {
    let shape = &shapes.list[id as usize];
    if let Some(values) = &shape.values
        && values.list.len() <= MAX_NAMED
    {
        return values.list.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    match &shape.others {
        Composition::Same(other) => return expression(shapes, *other, depth),
        Composition::Any(members) | Composition::One(members) if depth < MAX_LEVELS => {
            let mut all: Vec<_> =
                members.iter().map(|&id| expression(shapes, id, depth + 1)).collect();
            all.dedup();
            return all.join(" | ");
        }
        _ => {}
    }
    if shape.kinds == TypeSet::ALL {
        return "Any".to_owned();
    }
    let has = |kind: TypeSet| shape.kinds.meets(kind);
    let mut all = Vec::new();
    if has(TypeSet::STRING) {
        all.push(text_expression(shape));
    }
    if has(TypeSet::FRACTION) {
        all.push("Number".to_owned());
    } else if has(TypeSet::INTEGER) {
        all.push("Integer".to_owned());
    }
    if has(TypeSet::BOOLEAN) {
        all.push("Boolean".to_owned());
    }
    if has(TypeSet::ARRAY) {
        all.push(list_expression(shapes, shape.list.as_deref(), depth));
    }
    if has(TypeSet::OBJECT) {
        all.push(object_expression(shapes, shape.object.as_deref(), depth));
    }
    if has(TypeSet::NULL) {
        all.push("Null".to_owned());
    }
    all.join(" | ")
}

fn list_expression(shapes: &Shapes, rules: Option<&ListRules>, depth: u32) -> String {
    let rules = rules.filter(|_| depth < MAX_LEVELS);
    let first = rules.map_or(&[][..], |rules| &rules.first).iter();
    let first: Vec<_> = first.map(|&item| expression(shapes, item, depth + 1)).collect();
    if !first.is_empty() {
        return format!("[{}]", first.join(", "));
    }
    match rules.and_then(|rules| rules.rest) {
        Some(item) => {
            let item = expression(shapes, item, depth + 1);
            if item.contains('|') { format!("[{item}]") } else { format!("{item}[]") }
        }
        None => "List".to_owned(),
    }
}

fn object_expression(shapes: &Shapes, rules: Option<&ObjectRules>, depth: u32) -> String {
    let Some(rules) = rules.filter(|_| depth < MAX_LEVELS) else { return "Object".to_owned() };
    if rules.fields.is_empty() {
        return match rules.extra {
            ExtraProperties::Of(id) => format!("Map<{}>", expression(shapes, id, depth + 1)),
            _ => "Object".to_owned(),
        };
    }
    let field = |field: &FieldRule| {
        let name = if is_symbol(&field.name) {
            field.name.to_string()
        } else {
            Value::from(&*field.name).to_string()
        };
        let optional = if field.required { "" } else { "?" };
        let constraints = join_attributes(&constraints(shapes.behind(field.shape)));
        format!("{name}{optional}: {}{constraints}", expression(shapes, field.shape, depth + 1))
    };
    let fields: Vec<_> = rules.fields.iter().map(field).collect();
    format!("{{{}}}", fields.join(", "))
}
