//! Types as type expressions.

use super::super::expression::MAX_DEPTH;
use crate::format::Format;
use crate::model::{Field, Host, ObjectType, Open, Presence, Slot, Type};

/// A type as a type expression.
pub(super) struct Expression {
    /// Its text.
    pub(super) text: String,
    /// Whether the text stands for exactly the type: it says all that is to be said of the
    /// fields of objects, and does not nest too deep to be read.
    pub(super) exact: bool,
}

/// The expression of a type.
pub(super) fn of(ty: &Type) -> Expression {
    let mut writer = Writer { text: String::new(), exact: true };
    writer.union(ty, 0);
    Expression { text: writer.text, exact: writer.exact }
}

/// The expression of an object type of which nothing but its fields is said.
pub(super) fn of_fields(fields: Option<&[Field]>) -> Expression {
    let mut writer = Writer { text: String::new(), exact: true };
    writer.fields(fields, 0);
    Expression { text: writer.text, exact: writer.exact }
}

struct Writer {
    text: String,
    exact: bool,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// `type = member { "|" member }`
    fn union(&mut self, ty: &Type, depth: u32) {
        self.exact &= depth <= MAX_DEPTH;
        let Type::Union(members) = ty else { return self.member(ty, depth) };
        self.exact &= members.len() > 1;
        for (at, member) in members.iter().enumerate() {
            self.push(if at == 0 { "" } else { " | " });
            self.member(member, depth);
        }
    }

    /// `member = primary { "[]" | "?" }`
    ///
    /// A member takes only so many suffixes. Of a longer chain, some lists are written in the
    /// other spelling, `[T]`, or a part of the chain stands in parentheses; each such bracket
    /// goes one level deeper, so there are as few of them as can be.
    fn member(&mut self, ty: &Type, depth: u32) {
        let (core, lists) = chain(ty);
        let long = lists.len() > MAX_DEPTH as usize;
        let mut lists = lists.into_iter().rev().peekable();
        let mut opens = Vec::new();
        let mut tail = String::new();
        if matches!(core, Type::Union(_)) {
            let list = lists.next_if(|list| *list && long).is_some();
            bracket(list, &mut opens, &mut tail);
        }
        let mut suffixes = 0;
        for list in lists {
            if suffixes == MAX_DEPTH {
                suffixes = 0;
                bracket(list, &mut opens, &mut tail);
                if list {
                    continue;
                }
            }
            suffixes += 1;
            tail.push_str(if list { "[]" } else { "?" });
        }
        let depth = u32::try_from(opens.len()).map_or(u32::MAX, |more| depth.saturating_add(more));
        self.text.extend(opens.iter().rev());
        if matches!(core, Type::Union(_)) {
            self.union(core, depth);
        } else {
            self.exact &= depth <= MAX_DEPTH;
            self.primary(core, depth);
        }
        self.push(&tail);
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
                return self.push(&value.to_string());
            }
            Type::List(_) => "Array",
            Type::Map(value) if **value == Type::Any => "Map",
            Type::Map(value) => {
                self.push("Map<");
                self.union(value, depth + 1);
                return self.push(">");
            }
            Type::Tuple(items) => return self.tuple(items, depth),
            Type::Object(object) => return self.object(object, depth),
            Type::Nullable(_) | Type::Union(_) => return self.union(ty, depth),
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
        self.exact &= object.open == Open::Unsaid;
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

    /// `field = ( Name | string ) [ "?" ] ":" type [ "=" literal ]`
    fn field(&mut self, field: &Field, depth: u32) {
        let Field { name, slot, presence, host, secret } = field;
        let Slot { ty, description, default, details } = slot;
        self.exact &= description.is_none() && details.is_none();
        self.exact &= *host == Host::No && !secret && *presence != Presence::Required;
        if is_name(name) {
            self.push(name);
        } else {
            self.push(&serde_json::Value::from(name.as_str()).to_string());
        }
        self.push(if *presence == Presence::Optional { "?: " } else { ": " });
        self.union(ty, depth + 1);
        if let Some(default) = default {
            self.exact &= !(default.is_array() || default.is_object());
            self.push(" = ");
            self.push(&default.to_string());
        }
    }
}

/// What a chain of lists and nullables holds at last, and the chain from the outside in: whether
/// each is a list.
fn chain(ty: &Type) -> (&Type, Vec<bool>) {
    let mut core = ty;
    let mut lists = Vec::new();
    loop {
        core = match core {
            Type::List(item) if **item != Type::Any => {
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

/// Puts what was written in brackets: in those of a list, or in parentheses.
fn bracket(list: bool, opens: &mut Vec<char>, tail: &mut String) {
    opens.push(if list { '[' } else { '(' });
    tail.push(if list { ']' } else { ')' });
}

/// `Name = [A-Za-z_][A-Za-z0-9_]*`
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
