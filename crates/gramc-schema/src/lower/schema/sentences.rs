//! Expresses constraints as sentences of a description.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use gramc_json_schema::keywords::{Keyword, name as k};

/// The sentence that asks a model not to supply a pinned value.
pub(crate) const PINNED: &str = "Leave this out: the host sets it.";
/// The same, for a target that requires all properties.
pub(super) const PINNED_NULL: &str = "Always null: the host sets it.";

/// A description with sentences appended. `None` if both are empty.
pub(in super::super) fn join<'d>(
    description: Option<&'d str>,
    notes: &[String],
) -> Option<Cow<'d, str>> {
    if notes.is_empty() {
        return description.map(Cow::Borrowed);
    }
    let mut text = description.unwrap_or_default().trim_end().to_owned();
    for note in notes {
        if text.contains(note.as_str()) {
            continue;
        }
        if !text.is_empty() {
            // A sentence directly after a list or a table would become part of its last line.
            let several_lines = text.contains('\n') && !text.ends_with("\n\n");
            let ended = text.ends_with(['.', '!', '?', ':', ';', '。', '`', '}', ')']);
            let gap = match (several_lines, ended) {
                (true, _) => "\n",
                (false, true) => " ",
                (false, false) => ". ",
            };
            text.push_str(gap);
        }
        text.push_str(note);
    }
    Some(Cow::Owned(text))
}

/// A sentence about a part of the described schema.
pub(super) fn about(name: &str, note: &str) -> String {
    format!("`{name}`: {note}")
}

/// A keyword as a sentence. `None` if it contains nothing that the model can act on.
pub(in super::super) fn sentence(
    keyword: Keyword,
    value: &Value,
    schemas: &mut Printer<'_>,
) -> Option<String> {
    use Keyword as K;
    if !keyword.is_annotation() && super::merge::says_nothing(keyword, value) {
        return None;
    }
    let text = match (keyword, value) {
        (K::Description, Value::String(text)) => text.clone(),
        (K::MinLength, n) => format!("At least {}.", number_of(n, "character", "characters")),
        (K::MaxLength, n) => format!("At most {}.", number_of(n, "character", "characters")),
        (K::MinItems, n) => format!("At least {}.", number_of(n, "item", k::ITEMS)),
        (K::MaxItems, n) => format!("At most {}.", number_of(n, "item", k::ITEMS)),
        (K::MinProperties, n) => {
            format!("At least {}.", number_of(n, "property", k::PROPERTIES))
        }
        (K::MaxProperties, n) => format!("At most {}.", number_of(n, "property", k::PROPERTIES)),
        (K::Minimum, n) => format!("At least {n}."),
        (K::Maximum, n) => format!("At most {n}."),
        (K::ExclusiveMinimum | K::ExclusiveMaximum, Value::Bool(_)) => {
            return None;
        }
        (K::ExclusiveMinimum, n) => format!("More than {n}."),
        (K::ExclusiveMaximum, n) => format!("Less than {n}."),
        (K::MultipleOf, n) => format!("A multiple of {n}."),
        (K::Pattern, Value::String(pattern)) => {
            format!("Matches the regular expression `{pattern}`.")
        }
        (K::Format, Value::String(format)) => format!("Format: {format}."),
        (K::ContentEncoding, Value::String(encoding)) => format!("Encoded as {encoding}."),
        (K::ContentMediaType, Value::String(kind)) => format!("Its content is {kind}."),
        (K::ContentSchema, schema) => {
            format!("Its content fits this JSON Schema: {}", schemas.print(schema))
        }
        (K::UniqueItems, Value::Bool(true)) => "All items are different.".to_owned(),
        (K::Enum, Value::Array(values)) => format!("One of: {}.", list(values)),
        (K::Const, value) => format!("Always: {value}."),
        (K::Default, value) => format!("Default: {value}."),
        (K::Example, value) => format!("Example: {value}."),
        (K::Examples, Value::Array(values)) if values.is_empty() => return None,
        (K::Examples, Value::Array(values)) if values.len() == 1 => {
            format!("Example: {}.", list(values))
        }
        (K::Examples, Value::Array(values)) => format!("Examples: {}.", list(values)),
        (K::Deprecated, Value::Bool(true)) => "Deprecated.".to_owned(),
        (K::ReadOnly, Value::Bool(true)) => "Read-only.".to_owned(),
        (K::WriteOnly, Value::Bool(true)) => "Write-only.".to_owned(),
        _ => return structural(keyword, value, schemas),
    };
    Some(text)
}

/// The same for keywords with subschemas.
fn structural(keyword: Keyword, value: &Value, schemas: &mut Printer<'_>) -> Option<String> {
    use Keyword as K;
    let text = match (keyword, value) {
        (K::AdditionalProperties | K::UnevaluatedProperties, Value::Bool(false)) => {
            "No other properties.".to_owned()
        }
        (K::UnevaluatedItems | K::AdditionalItems | K::Items, Value::Bool(false)) => {
            "No other items.".to_owned()
        }
        (_, Value::Bool(true)) => return None,
        (_, Value::Object(map)) if map.is_empty() && keyword != K::Not => return None,
        (K::AdditionalProperties | K::UnevaluatedProperties, schema) => {
            format!("Every other property: {}.", schemas.short(schema))
        }
        (K::UnevaluatedItems | K::AdditionalItems, schema) => {
            format!("Every other item: {}.", schemas.short(schema))
        }
        (K::PatternProperties, Value::Object(patterns)) => {
            let each = patterns.iter().map(|(pattern, schema)| {
                format!("Every property that matches `{pattern}`: {}.", schemas.short(schema))
            });
            each.collect::<Vec<_>>().join(" ")
        }
        (K::PropertyNames, schema) => format!("Every key: {}.", schemas.short(schema)),
        (K::Contains, schema) => format!("At least one item: {}.", schemas.short(schema)),
        (K::MinContains, n) => {
            format!("At least {} of that kind.", number_of(n, "item", k::ITEMS))
        }
        (K::MaxContains, n) => {
            format!("At most {} of that kind.", number_of(n, "item", k::ITEMS))
        }
        (K::DependentRequired | K::DependentSchemas | K::Dependencies, Value::Object(map)) => {
            let each = map.iter().map(|(key, needs)| match needs {
                Value::Array(keys) => {
                    format!("With `{key}`, also needed: {}.", keys_of(keys, ", "))
                }
                schema => format!(
                    "With `{key}`, all of it fits this JSON Schema: {}",
                    schemas.print(schema)
                ),
            });
            each.collect::<Vec<_>>().join(" ")
        }
        (K::Not, schema) => match only_required(schema) {
            Some(keys) => format!("Not together: {keys}."),
            None => format!("Does not fit this JSON Schema: {}", schemas.print(schema)),
        },
        (K::AnyOf | K::OneOf, Value::Array(parts)) => alternatives(keyword, parts, schemas),
        (K::AllOf, Value::Array(parts)) => {
            let each = parts
                .iter()
                .map(|part| format!("Also fits this JSON Schema: {}", schemas.print(part)));
            each.collect::<Vec<_>>().join(" ")
        }
        (K::DynamicRef | K::RecursiveRef | K::Ref, Value::String(to)) => {
            format!("As described at `{to}`.")
        }
        (K::Required, Value::Array(keys)) => format!("Also needed: {}.", keys_of(keys, ", ")),
        (K::PrefixItems, Value::Array(parts)) => {
            let each: Vec<String> = parts.iter().map(|part| schemas.short(part)).collect();
            format!("Items in this order: {}.", each.join("; "))
        }
        _ => return None,
    };
    Some(text)
}

/// `if`, `then` and `else` as one sentence.
pub(super) fn condition(
    condition: &Value,
    then: Option<&Value>,
    otherwise: Option<&Value>,
    schemas: &mut Printer<'_>,
) -> Option<String> {
    if then.is_none() && otherwise.is_none() {
        return None;
    }
    let mut text = format!("If it fits the JSON Schema {}", schemas.print(condition));
    if let Some(then) = then {
        let _ = write!(text, ", it also fits {}", schemas.print(then));
    }
    if let Some(otherwise) = otherwise {
        let _ = write!(text, ", else it also fits {}", schemas.print(otherwise));
    }
    text.push('.');
    Some(text)
}

fn alternatives(keyword: Keyword, parts: &[Value], schemas: &mut Printer<'_>) -> String {
    let how_many = if keyword == Keyword::OneOf { "Exactly one" } else { "At least one" };
    let required: Option<Vec<String>> = parts.iter().map(only_required).collect();
    if let Some(required) = required {
        return format!("Give {} of {}.", how_many.to_lowercase(), required.join(", "));
    }
    let mut all = Map::new();
    all.insert(keyword.name().to_owned(), parts.to_vec().into());
    format!("Fits this JSON Schema: {}", schemas.print(&all.into()))
}

/// The members of a union of objects, whose properties are known, in words. `None` if a member says
/// nothing.
pub(super) fn union_of_objects(keyword: Keyword, members: &[Value]) -> Option<String> {
    let how_many = if keyword == Keyword::OneOf { "Exactly one" } else { "At least one" };
    // Which of several schemas a property has would be lost.
    let mut known: HashMap<&str, &Value> = HashMap::new();
    for (key, property) in members.iter().filter_map(properties_of).flatten() {
        let is_fixed = matches!(super::parts::listed_values(property), Some([_]));
        if !is_fixed && *known.entry(key).or_insert(property) != property {
            return None;
        }
    }
    let members = members.iter().map(object_in_words).collect::<Option<Vec<_>>>()?;
    Some(format!("{how_many} of these applies: {}.", members.join("; ")))
}

fn properties_of(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get(k::PROPERTIES)?.as_object()
}

fn object_in_words(member: &Value) -> Option<String> {
    let properties = properties_of(member)?;
    let required = member.get(k::REQUIRED).and_then(Value::as_array)?;
    let is_required = |key: &str| required.iter().any(|name| name == key);
    let (mut fixed, mut with, mut optional) = (Vec::new(), Vec::new(), Vec::new());
    for (key, property) in properties {
        match super::parts::listed_values(property) {
            Some([only]) if is_required(key) => fixed.push(format!("`{key}` is {only}")),
            _ if is_required(key) => with.push(format!("`{key}`")),
            _ => optional.push(format!("`{key}`")),
        }
    }
    let undeclared = required.iter().filter_map(Value::as_str);
    let undeclared = undeclared.filter(|key| !properties.contains_key(*key));
    with.extend(undeclared.map(|key| format!("`{key}`")));
    let mut words = fixed.join(" and ");
    for (name, keys) in [("with", with), ("optionally with", optional)] {
        if !keys.is_empty() {
            let gap = if words.is_empty() { "" } else { ", " };
            words = format!("{words}{gap}{name} {}", keys.join(", "));
        }
    }
    let is_closed = member.get(k::ADDITIONAL_PROPERTIES).is_some_and(|it| *it == false);
    let end = if is_closed { ", without other properties" } else { "" };
    (!words.is_empty()).then(|| words + end)
}

/// Whether a schema has only `required`.
pub(super) fn is_only_required(schema: &Value) -> bool {
    only_required(schema).is_some()
}

/// The keys of a schema that has only `required`.
fn only_required(schema: &Value) -> Option<String> {
    let map = schema.as_object()?;
    let keys = map.get(k::REQUIRED)?.as_array()?;
    let nothing_else = map.keys().all(|key| key == k::REQUIRED || Keyword::of(key).is_annotation());
    (nothing_else && !keys.is_empty()).then(|| keys_of(keys, " and "))
}

fn keys_of(keys: &[Value], between: &str) -> String {
    let keys: Vec<String> =
        keys.iter().filter_map(Value::as_str).map(|key| format!("`{key}`")).collect();
    keys.join(between)
}

/// A count with its noun: `1 item`, `2 items`.
fn number_of(number: &Value, one: &str, many: &str) -> String {
    let word = if number.as_u64() == Some(1) { one } else { many };
    format!("{number} {word}")
}

fn list(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(Value::to_string).collect();
    values.join(", ")
}

/// The maximum length of one schema in a description.
pub(in crate::lower) const MAX_LENGTH: usize = 4_000;
/// The maximum length of all schemas in one tool's descriptions.
const ALL_TOGETHER: usize = 32_000;

/// Writes schemas into sentences, in words or as JSON.
pub(in super::super) struct Printer<'d> {
    /// The root schema, which contains the definitions.
    root: Option<&'d Value>,
    written: &'d mut usize,
    /// Whether a schema was too long.
    pub(super) has_omitted: bool,
}

impl<'d> Printer<'d> {
    /// `root` is the original root schema, and `written` the length of the tool's schemas printed
    /// so far.
    pub(in super::super) fn new(root: Option<&'d Value>, written: &'d mut usize) -> Self {
        Self { root, written, has_omitted: false }
    }

    /// A short description of the accepted values: `string`, `integer or null`.
    pub(super) fn short(&mut self, schema: &Value) -> String {
        match schema {
            Value::Bool(true) => return "any value".to_owned(),
            Value::Bool(false) => return "none".to_owned(),
            Value::Object(map) if map.is_empty() => return "any value".to_owned(),
            Value::Object(map) => {
                if let Some(words) = simple(map) {
                    return words;
                }
            }
            _ => {}
        }
        format!("fits the JSON Schema {}", self.print(schema))
    }

    /// The schema as JSON on one line, with the definitions that it refers to.
    pub(super) fn print(&mut self, schema: &Value) -> String {
        let mut text = schema.to_string();
        if let Some(definitions) = self.definitions(schema)
            && let Value::Object(map) = schema
        {
            let mut whole = map.clone();
            whole.insert(k::DEFS.to_owned(), Value::Object(definitions));
            text = Value::Object(whole).to_string();
        }
        if text.len() > MAX_LENGTH || *self.written + text.len() > ALL_TOGETHER {
            self.has_omitted = true;
            return String::new();
        }
        *self.written += text.len();
        text
    }

    /// The definitions that a schema refers to, directly or indirectly. `None` if there are none.
    fn definitions(&self, schema: &Value) -> Option<Map<String, Value>> {
        let root = self.root?;
        let mut found = Map::new();
        let mut open = references_in(schema);
        while let Some(to) = open.pop() {
            let Some(name) = to.strip_prefix("#/$defs/") else { continue };
            if found.contains_key(name) || found.len() > 50 {
                continue;
            }
            if let Some(definition) = root.pointer(&to[1..]) {
                open.extend(references_in(definition));
                found.insert(name.to_owned(), definition.clone());
            }
        }
        (!found.is_empty()).then_some(found)
    }
}

/// All references in a schema.
pub(crate) fn references_in(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    references(schema, &mut found, 0);
    found
}

fn references(value: &Value, found: &mut Vec<String>, depth: usize) {
    if depth > gramc_json_schema::text::MAX_SCHEMA_DEPTH {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(to) if key == k::REF => found.push(to.clone()),
                    value => references(value, found, depth + 1),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found, depth + 1)),
        _ => {}
    }
}

/// The type names of a schema without other keywords.
fn simple(map: &Map<String, Value>) -> Option<String> {
    let only_type = map.keys().all(|key| {
        let keyword = Keyword::of(key);
        keyword == Keyword::Type || keyword.is_bookkeeping()
    });
    let types = TypeSet::of_keyword(map.get(k::TYPE)?)?;
    only_type.then(|| types.names().collect::<Vec<_>>().join(" or "))
}
