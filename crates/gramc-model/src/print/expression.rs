//! Types as type expressions.

use gramc_syntax::{MAX_TYPE_DEPTH as MAX_DEPTH, is_type};

use super::text;
use crate::format::Format;
use crate::model::{Field, ObjectType, Open, Optionality, Type, Types};

pub(super) struct PrintedType {
    pub(super) text: String,
    /// Whether the text represents the type exactly: it has all attributes of the fields of
    /// objects, and does not nest too deep to be parsed.
    pub(super) exact: bool,
}

pub(super) fn of(types: &Types, ty: &Type) -> PrintedType {
    of_at(types, ty, 0)
}

/// The expression of a type that nests at the given depth.
pub(super) fn of_at(types: &Types, ty: &Type, depth: u32) -> PrintedType {
    let mut writer = Writer::new(types);
    writer.union(ty, depth);
    writer.finish()
}

/// A type as a type expression for people, without the attributes of fields.
pub fn shape(types: &Types, ty: &Type) -> String {
    let mut writer = Writer { shape: true, ..Writer::new(types) };
    writer.union(ty, 0);
    writer.text
}

/// The expression of an object type that only has fields.
pub(super) fn of_fields(types: &Types, fields: Option<&[Field]>, depth: u32) -> PrintedType {
    let mut writer = Writer::new(types);
    writer.fields(fields, depth);
    writer.finish()
}

/// How deep an expression may nest without a doubt that it can be read.
const UNDOUBTED: u32 = MAX_DEPTH / 2;

struct Writer<'m> {
    types: &'m Types,
    text: String,
    exact: bool,
    /// How deep it nests.
    deepest: u32,
    /// Whether attributes of fields are left out.
    shape: bool,
}

impl<'m> Writer<'m> {
    fn new(types: &'m Types) -> Self {
        Self { types, text: String::with_capacity(24), exact: true, deepest: 0, shape: false }
    }

    fn finish(self) -> PrintedType {
        let Self { text, exact, deepest, .. } = self;
        let exact = exact && (deepest <= UNDOUBTED || is_type(&text));
        PrintedType { text, exact }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// `type = member { "|" member }`
    fn union(&mut self, ty: &Type, depth: u32) {
        self.deepest = self.deepest.max(depth);
        let (Type::Union(members) | Type::OneOf(members)) = ty else {
            return self.member(ty, depth);
        };
        // Only a declaration can say that one of the types excludes the others.
        self.exact &= members.len() > 1 && matches!(ty, Type::Union(_));
        for (at, member) in members.iter().enumerate() {
            self.push(if at == 0 { "" } else { " | " });
            self.member(member, depth);
        }
    }

    /// `member = primary { "[]" | "?" }`
    ///
    /// The number of suffixes is limited. In longer chains, some lists are written as `[T]`, or
    /// parts of the chain are put in parentheses. Every bracket adds a level of nesting, so there
    /// are as few as possible.
    fn member(&mut self, ty: &Type, mut depth: u32) {
        let (core, lists) = chain(ty);
        let mut room = MAX_DEPTH.saturating_sub(depth);
        let mut tail: Vec<&str> = Vec::with_capacity(lists.len());
        for list in lists {
            if room == 0 {
                depth = depth.saturating_add(1);
                room = MAX_DEPTH.saturating_sub(depth);
                self.push(if list { "[" } else { "(" });
                tail.push(if list { "]" } else { ")" });
                if list {
                    continue;
                }
            }
            room = room.saturating_sub(1);
            tail.push(if list { "[]" } else { "?" });
        }
        self.deepest = self.deepest.max(MAX_DEPTH - room);
        if matches!(core, Type::Union(_) | Type::OneOf(_)) {
            // A list in the other spelling holds a union as it is.
            let inside = tail.last() == Some(&"]");
            self.push(if inside { "" } else { "(" });
            self.union(core, if inside { depth } else { depth.saturating_add(1) });
            self.push(if inside { "" } else { ")" });
        } else {
            self.primary(core, depth);
        }
        for suffix in tail.into_iter().rev() {
            self.push(suffix);
        }
    }

    fn primary(&mut self, ty: &Type, depth: u32) {
        let name = match ty {
            Type::Any => "Any",
            Type::Null => "Null",
            Type::Boolean => "Bool",
            Type::Integer => "Int",
            Type::Number => "Number",
            Type::Text => "Text",
            Type::Bytes => "Bytes",
            Type::Formatted(format) => Format::type_name(*format),
            Type::Literal(value) => {
                let scalar = !(value.is_null() || value.is_array() || value.is_object());
                self.exact &= scalar;
                return match value.as_str() {
                    Some(text) => self.push(&text::quote(text, '"')),
                    None => self.push(&value.to_string()),
                };
            }
            Type::Named(id) => {
                let name = self.types.get(*id).map_or("Any", |declared| &declared.name);
                return self.text.push_str(name);
            }
            Type::List(_) => "Array",
            Type::Map(None) => "Map",
            Type::Map(Some(value)) => {
                self.push("Map<");
                let start = self.text.len();
                self.union(value, depth + 1);
                // `<-` would be the start of an arrow.
                if self.text.get(start..).is_some_and(|value| value.starts_with('-')) {
                    self.text.insert(start, ' ');
                }
                return self.push(">");
            }
            Type::Tuple(items) => return self.tuple(items, depth),
            Type::Object(object) => return self.object(object, depth),
            Type::Nullable(_) | Type::Union(_) | Type::OneOf(_) => return self.union(ty, depth),
        };
        self.push(name);
    }

    fn tuple(&mut self, items: &[Type], depth: u32) {
        self.exact &= items.len() > 1;
        self.push("[");
        for (at, item) in items.iter().enumerate() {
            self.push(if at == 0 { "" } else { ", " });
            self.union(item, depth + 1);
        }
        self.push("]");
    }

    fn object(&mut self, object: &ObjectType, depth: u32) {
        let says_all = object.patterns.is_empty() && object.requires.is_empty();
        self.exact &= says_all && object.open == Open::Unsaid;
        self.fields(object.fields.as_deref(), depth);
    }

    fn fields(&mut self, fields: Option<&[Field]>, depth: u32) {
        let Some(fields) = fields else { return self.push("Object") };
        self.push("{");
        for (at, field) in fields.iter().enumerate() {
            self.push(if at == 0 { "" } else { ", " });
            self.field(field, depth);
        }
        self.push("}");
    }

    fn field(&mut self, field: &Field, depth: u32) {
        if self.shape {
            self.push(&text::field_name(&field.name));
            self.push(if field.optionality == Optionality::Optional { "?: " } else { ": " });
            return self.union(&field.type_use.ty, depth + 1);
        }
        if depth > MAX_DEPTH {
            self.exact = false;
            return;
        }
        let (text, exact) = super::field::inline(self.types, field, depth + 1);
        self.exact &= exact;
        self.push(&text);
    }
}

/// What a chain of lists and nullables holds at last, and the chain from the outside in: whether
/// each is a list.
fn chain(ty: &Type) -> (&Type, Vec<bool>) {
    let mut core = ty;
    let mut lists = Vec::new();
    loop {
        core = match core {
            Type::List(Some(item)) => {
                lists.push(true);
                item
            }
            Type::Nullable(inner) => {
                lists.push(false);
                inner
            }
            core => return (core, lists),
        };
    }
}
