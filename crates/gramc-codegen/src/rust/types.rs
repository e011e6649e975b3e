//! Types as Rust has them: enums have names, and a type does not hold itself.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::interface::{Interface, NamedType, OtherFields, Shape as NamedShape, Type};
use crate::names::{free, pascal};

/// All items of a module.
pub(super) struct Items {
    pub(super) all: Vec<Item>,
    results: Vec<String>,
}

/// A type with a name.
pub(super) struct Item {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) shape: Shape,
}

/// What a type with a name consists of. Types are written out.
pub(super) enum Shape {
    Record {
        fields: Vec<Field>,
        others: OtherFields,
    },
    Alias(String),
    /// A type of its own around another one.
    Newtype(String),
    /// Variants with their texts.
    Texts(Vec<(String, String)>),
    /// Variants with their types.
    Union(Vec<(String, String)>),
}

/// A field of a record.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) ty: String,
    /// Whether it is never left out.
    pub(super) is_required: bool,
}

impl Items {
    pub(super) fn of(interface: &Interface) -> Self {
        let mut maker = Maker {
            all: Vec::new(),
            taken: interface.types.iter().map(|ty| ty.name.clone()).collect(),
            holds: interface.types.iter().map(|ty| (ty.name.as_str(), names_held(ty))).collect(),
            aliases: interface.types.iter().filter_map(alias).collect(),
        };
        for ty in &interface.types {
            maker.add_type(ty);
        }
        let results = interface.tools.iter().map(|tool| {
            let name = format!("{} Result", tool.name);
            maker.text(&tool.result, &name, "")
        });
        let results = results.collect();
        Self { all: maker.all, results }
    }

    /// The result of the tool at a place.
    pub(super) fn result(&self, at: usize) -> &str {
        self.results.get(at).map_or("Value", String::as_str)
    }
}

/// An alias with the names of all types in it.
fn alias(ty: &NamedType) -> Option<(&str, Vec<&str>)> {
    match &ty.shape {
        NamedShape::Alias(alias) => Some((&ty.name, alias.names())),
        NamedShape::Record { .. } => None,
    }
}

/// The names of types that a type holds without a list, a map or a box between.
fn names_held(ty: &NamedType) -> Vec<&str> {
    match &ty.shape {
        NamedShape::Alias(alias) => alias.names_held(),
        NamedShape::Record { fields, .. } => {
            fields.iter().flat_map(|field| field.ty.names_held()).collect()
        }
    }
}

struct Maker<'i> {
    all: Vec<Item>,
    taken: HashSet<String>,
    holds: HashMap<&'i str, Vec<&'i str>>,
    aliases: HashMap<&'i str, Vec<&'i str>>,
}

impl Maker<'_> {
    fn add_type(&mut self, ty: &NamedType) {
        let shape = match &ty.shape {
            NamedShape::Record { fields, others } => {
                let fields = fields.iter().map(|field| {
                    let name = format!("{} {}", ty.name, field.name);
                    let text = self.text(&field.ty, &name, &ty.name);
                    let is_optional = text.starts_with("Option<");
                    let doc = match &field.default {
                        Some(default) => {
                            format!("{}\n\nDefault: `{default}`", field.doc).trim().to_owned()
                        }
                        None => field.doc.clone(),
                    };
                    Field {
                        name: field.name.clone(),
                        doc,
                        ty: if field.is_required || is_optional {
                            text
                        } else {
                            format!("Option<{text}>")
                        },
                        is_required: field.is_required,
                    }
                });
                Shape::Record { fields: fields.collect(), others: *others }
            }
            NamedShape::Alias(alias) => self.enum_of(alias, &ty.name).unwrap_or_else(|| {
                let text = self.text(alias, &format!("{} Value", ty.name), &ty.name);
                // An alias of itself would have no end.
                if self.is_endless(&ty.name) { Shape::Newtype(text) } else { Shape::Alias(text) }
            }),
        };
        self.all.push(Item { name: ty.name.clone(), doc: ty.doc.clone(), shape });
    }

    /// The shape of a type that is an enum.
    fn enum_of(&mut self, ty: &Type, name: &str) -> Option<Shape> {
        match ty {
            Type::Literal(values) => {
                let texts: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
                let mut variants: Vec<(String, String)> = Vec::new();
                for text in texts? {
                    let is_taken = |name: &str| variants.iter().any(|(known, _)| known == name);
                    variants.push((free(&pascal(text), "", is_taken), text.to_owned()));
                }
                Some(Shape::Texts(variants))
            }
            Type::Union(members) => {
                let members: Vec<&Type> = members.iter().filter(|it| **it != Type::Null).collect();
                if members.len() < 2 {
                    return None;
                }
                let mut variants: Vec<(String, String)> = Vec::new();
                for member in members {
                    let is_taken = |name: &str| variants.iter().any(|(known, _)| known == name);
                    let variant = free(&variant_name(member), "", is_taken);
                    let ty = self.text(member, &format!("{name} {variant}"), "");
                    // Variants of like sizes need less memory, and may hold the enum itself.
                    let is_named = matches!(member, Type::Named(_));
                    variants.push((variant, if is_named { format!("Box<{ty}>") } else { ty }));
                }
                Some(Shape::Union(variants))
            }
            Type::Constrained(inner, _) => self.enum_of(inner, name),
            _ => None,
        }
    }

    /// A type written out. `name` is for an enum in it, and `within` is the record that holds it.
    fn text(&mut self, ty: &Type, name: &str, within: &str) -> String {
        match ty {
            Type::Any | Type::Never => "Value".to_owned(),
            Type::Null => "()".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Integer => "i64".to_owned(),
            Type::Number => "f64".to_owned(),
            Type::Text => "String".to_owned(),
            Type::List(item) => format!("Vec<{}>", self.text(item, &format!("{name} Item"), "")),
            Type::Tuple(items) => {
                let items = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| self.text(item, &format!("{name} Item {}", at + 1), within));
                let items: Vec<String> = items.collect();
                // One item needs a comma to be a tuple.
                let end = if items.len() == 1 { "," } else { "" };
                format!("({}{end})", items.join(", "))
            }
            Type::Map(value) => {
                let value = self.text(value, &format!("{name} Value"), "");
                format!("BTreeMap<String, {value}>")
            }
            Type::Named(target) if self.leads_back(target, within) => format!("Box<{target}>"),
            Type::Named(target) => target.clone(),
            Type::Constrained(inner, _) => self.text(inner, name, within),
            Type::Literal(values) => {
                let (nulls, others): (Vec<&Value>, Vec<&Value>) =
                    values.iter().partition(|value| value.is_null());
                let all =
                    |is: fn(&Value) -> bool| !others.is_empty() && others.iter().all(|it| is(it));
                let text = if all(Value::is_string) {
                    let literal = Type::Literal(others.into_iter().cloned().collect());
                    self.new_enum(&literal, name)
                } else if all(Value::is_i64) {
                    "i64".to_owned()
                } else if all(Value::is_boolean) {
                    "bool".to_owned()
                } else {
                    return "Value".to_owned();
                };
                if nulls.is_empty() { text } else { format!("Option<{text}>") }
            }
            Type::Union(members) => {
                let others: Vec<Type> =
                    members.iter().filter(|it| **it != Type::Null).cloned().collect();
                let has_null = others.len() < members.len();
                let text = match others.as_slice() {
                    [only] => self.text(only, name, within),
                    _ => self.new_enum(&Type::Union(others), name),
                };
                if has_null && !text.starts_with("Option<") {
                    format!("Option<{text}>")
                } else {
                    text
                }
            }
        }
    }

    /// Declares an enum, and returns its name.
    fn new_enum(&mut self, ty: &Type, name: &str) -> String {
        let name = free(&pascal(name), "", |name| self.taken.contains(name));
        self.taken.insert(name.clone());
        match self.enum_of(ty, &name) {
            Some(shape) => {
                self.all.push(Item { name: name.clone(), doc: String::new(), shape });
                name
            }
            None => "Value".to_owned(),
        }
    }

    /// Whether a type holds another one, or is it.
    fn leads_back(&self, from: &str, to: &str) -> bool {
        reaches(&self.holds, vec![from], to)
    }

    /// Whether an alias names itself, perhaps by others.
    fn is_endless(&self, name: &str) -> bool {
        let named = self.aliases.get(name).cloned().unwrap_or_default();
        reaches(&self.aliases, named, name)
    }
}

/// Whether one of some names leads to another one.
fn reaches<'n>(names: &HashMap<&'n str, Vec<&'n str>>, mut open: Vec<&'n str>, to: &str) -> bool {
    let mut seen = HashSet::new();
    while let Some(name) = open.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name) {
            open.extend(names.get(name).into_iter().flatten());
        }
    }
    false
}

/// The name of a variant for a type.
fn variant_name(ty: &Type) -> String {
    match ty {
        Type::Any | Type::Never => "Any".to_owned(),
        Type::Null => "Null".to_owned(),
        Type::Boolean => "Boolean".to_owned(),
        Type::Integer => "Integer".to_owned(),
        Type::Number => "Number".to_owned(),
        Type::Text => "Text".to_owned(),
        Type::Literal(_) => "Value".to_owned(),
        Type::List(_) | Type::Tuple(_) => "List".to_owned(),
        Type::Map(_) => "Map".to_owned(),
        Type::Union(_) => "Either".to_owned(),
        Type::Named(name) => name.clone(),
        Type::Constrained(inner, _) => variant_name(inner),
    }
}
