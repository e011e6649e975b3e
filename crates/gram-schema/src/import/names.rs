//! Names of types, made from the names of properties.

/// A name as types have it: `shipping_address` is `ShippingAddress`. Empty where the name has no
/// letter or digit of ASCII.
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

/// One of what a plural names, where that can be told: `entries` is `entry`.
pub(super) fn singular(name: &str) -> Option<String> {
    let cut = |ending: &str, instead: &str| {
        let stem = name.strip_suffix(ending)?;
        (stem.len() > 1).then(|| format!("{stem}{instead}"))
    };
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&["ss", "us", "is", "news", "series"]) {
        return None;
    }
    if ends(&["ies"]) {
        return cut("ies", "y");
    }
    if ends(&["sses", "xes", "ches", "shes"]) {
        return cut("es", "");
    }
    cut("s", "")
}

/// What a type is for, from which its name is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint<'h> {
    /// The property's name, or what comes nearest.
    pub(super) key: &'h str,
    /// What it is of that.
    pub(super) role: Role,
    /// The name of what it is a part of, as types have it.
    pub(super) owner: &'h str,
}

/// What a type is of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Its type.
    Whole,
    /// An item of its list.
    Item,
    /// A value of its map.
    Value,
    /// A name of its map's entries.
    Key,
    /// One of several types, by its place.
    Member(usize),
}

impl<'h> Hint<'h> {
    pub(super) fn new(key: &'h str, owner: &'h str) -> Self {
        Self { key, role: Role::Whole, owner }
    }

    pub(super) fn of(self, role: Role) -> Self {
        // An item of an item is one of the same.
        let role = if self.role == Role::Whole { role } else { self.role };
        Self { role, ..self }
    }

    /// The name that a type of this use would best have.
    pub(super) fn name(&self) -> String {
        let own = pascal(self.key);
        let own = match self.role {
            Role::Whole => own,
            Role::Item => singular(&own).unwrap_or_else(|| own + "Item"),
            Role::Value => own + "Value",
            Role::Key => own + "Key",
            Role::Member(at) => format!("{own}Option{}", at + 1),
        };
        if own.is_empty() { "Part".to_owned() } else { own }
    }
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
        for (name, expected) in [
            ("entries", Some("entry")),
            ("Addresses", Some("Address")),
            ("boxes", Some("box")),
            ("orders", Some("order")),
            ("status", None),
            ("address", None),
            ("data", None),
        ] {
            assert_eq!(singular(name).as_deref(), expected, "{name}");
        }
    }
}
