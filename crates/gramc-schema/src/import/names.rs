//! Derives type names from property names.

use gramc_model::words::singular;
use serde_json::Value;

/// A name in `PascalCase`: `shipping_address` becomes `ShippingAddress`. Empty if the name has no
/// ASCII letter or digit.
pub(super) fn pascal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut begins = true;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            begins = true;
        } else if begins {
            if out.is_empty() && c.is_ascii_digit() {
                out.push('_');
            }
            out.push(c.to_ascii_uppercase());
            begins = false;
        } else {
            out.push(c);
        }
    }
    out
}

/// The context of a type, from which its name is derived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint<'h> {
    /// The property's name, or the closest equivalent.
    pub(super) key: &'h str,
    /// The role of the type in that property.
    pub(super) role: Role,
    /// The name of the enclosing type.
    pub(super) owner: &'h str,
}

/// The role of a type in a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The property's type.
    Whole,
    /// An item of a list.
    Item,
    /// A value of a map.
    Value,
    /// A key of a map.
    Key,
    /// A union member, by its index.
    Member(usize),
}

impl<'h> Hint<'h> {
    pub(super) fn new(key: &'h str, owner: &'h str) -> Self {
        Self { key, role: Role::Whole, owner }
    }

    pub(super) fn of(self, role: Role) -> Self {
        // Items of nested lists keep the outer role.
        let role = if self.role == Role::Whole { role } else { self.role };
        Self { role, ..self }
    }

    /// The preferred name of the type.
    pub(super) fn name(&self) -> String {
        let own = pascal(self.key);
        let own = match self.role {
            Role::Whole => own,
            Role::Item => match singular(&own) {
                singular if *singular == *own => own + "Item",
                singular => singular.into_owned(),
            },
            Role::Value => own + "Value",
            Role::Key => own + "Key",
            Role::Member(at) => format!("{own}Option{}", at + 1),
        };
        if own.is_empty() { "Part".to_owned() } else { own }
    }
}

/// The type name from a title.
pub(super) fn title_of(schema: &Value) -> Option<String> {
    const MAX_LENGTH: usize = 40;
    let title = schema.get("title")?.as_str()?;
    let known = schema.get("properties").is_some() || schema.get("enum").is_some();
    (known && title.len() <= MAX_LENGTH).then(|| pascal(title))
}

/// The name of a union member from a property with a single value.
pub(super) fn kind_of(member: &Value) -> Option<String> {
    const MAX_LENGTH: usize = 30;
    let properties = member.get("properties")?.as_object()?;
    let kind = properties.values().find_map(|property| {
        let only = property.get("enum").and_then(Value::as_array).filter(|all| all.len() == 1);
        property.get("const").or_else(|| only?.first())?.as_str()
    })?;
    let name = if kind.len() <= MAX_LENGTH { pascal(kind) } else { String::new() };
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_from_names() {
        for (name, expected) in [
            ("shippingAddress", "ShippingAddress"),
            ("shipping_address", "ShippingAddress"),
            ("Content-Type", "ContentType"),
            ("MA(5)", "MA5"),
            ("3d", "_3d"),
            ("año", "AO"),
            ("数", ""),
        ] {
            assert_eq!(pascal(name), expected);
        }
    }
}
