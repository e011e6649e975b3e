//! A type where it is used: what its use says of it laid over what its declaration says.

use std::borrow::Cow;

use serde_json::Value;
use smol_str::SmolStr;

use super::defs::Defs;
use gram_model::{Constraint, Type, TypeUse};

/// A type and all that is said of it in its place.
#[expect(clippy::struct_excessive_bools, reason = "each is said by an attribute of its own")]
pub(super) struct TypePlace<'m> {
    /// The type; a name only where the schema refers to it.
    pub(super) ty: &'m Type,
    /// Whether null may stand in its place.
    pub(super) nullable: bool,
    pub(super) title: Option<&'m str>,
    pub(super) description: Option<Cow<'m, str>>,
    pub(super) default: Option<&'m Value>,
    pub(super) examples: Option<&'m [Value]>,
    pub(super) deprecated: bool,
    pub(super) unsound: bool,
    /// Whether a tuple says nothing of how many items there are.
    pub(super) open_tuple: bool,
    /// Whether the members of a union are written as a list of types.
    pub(super) type_list: bool,
    pub(super) constraints: Cow<'m, [Constraint]>,
    pub(super) extensions: Cow<'m, [(SmolStr, Value)]>,
    pub(super) verbatim: Option<&'m Value>,
    /// Whether anything but the type is said.
    pub(super) says_more: bool,
}

impl<'m> TypePlace<'m> {
    /// A type of which nothing more is said.
    pub(super) fn of_type(defs: &Defs<'m>, ty: &'m Type) -> Self {
        let mut place = Self::bare(ty);
        place.enter(defs, false);
        place
    }

    /// A type with attributes.
    pub(super) fn new(defs: &Defs<'m>, type_use: &'m TypeUse) -> Self {
        let mut place = Self::bare(&type_use.ty);
        place.lay_under(type_use, None);
        place.enter(defs, false);
        place
    }

    /// The same, with its name written out even where schemas refer to it elsewhere.
    pub(super) fn written_out(defs: &Defs<'m>, type_use: &'m TypeUse) -> Self {
        let mut place = Self::bare(&type_use.ty);
        place.lay_under(type_use, None);
        place.enter(defs, true);
        place
    }

    fn bare(ty: &'m Type) -> Self {
        Self {
            ty,
            nullable: false,
            title: None,
            description: None,
            default: None,
            examples: None,
            deprecated: false,
            unsound: false,
            open_tuple: false,
            type_list: false,
            constraints: Cow::Borrowed(&[]),
            extensions: Cow::Borrowed(&[]),
            verbatim: None,
            says_more: false,
        }
    }

    /// A member of a union whose types are written beside each other.
    pub(super) fn of_member(&self, member: &'m Type) -> Self {
        Self { constraints: self.constraints.clone(), ..Self::bare(member) }
    }

    /// Goes through null and through names that are written in place, to what there is.
    fn enter(&mut self, defs: &Defs<'m>, write_out: bool) {
        // No name that is written in place is made of itself; the count is for models made by
        // hand.
        for _ in 0..=defs.types().0.len() {
            match self.ty {
                Type::Nullable(inner)
                    if !self.nullable && defs.has_one_kind(inner, &self.constraints) =>
                {
                    self.nullable = true;
                    self.ty = inner;
                }
                Type::Named(id)
                    if (write_out && defs.in_root(*id, &self.constraints))
                        || defs.in_place(*id, &self.constraints) =>
                {
                    let Some(declared) = defs.types().get(*id) else { return };
                    let details = declared.type_use.details.as_deref();
                    if let Some(schema) = details.and_then(|details| details.verbatim.as_deref()) {
                        self.verbatim = Some(schema);
                        self.ty = &Type::Any;
                        return;
                    }
                    self.ty = &declared.type_use.ty;
                    self.lay_under(&declared.type_use, defs.description(*id));
                }
                _ => break,
            }
        }
        if let (Type::Nullable(inner), false) = (self.ty, self.nullable) {
            self.nullable = true;
            self.ty = inner;
        }
    }

    /// Takes from a type use what is not said yet.
    fn lay_under(&mut self, type_use: &'m TypeUse, description: Option<Cow<'m, str>>) {
        self.says_more |= !type_use.is_bare();
        let own = description.or_else(|| type_use.description.as_deref().map(Cow::Borrowed));
        self.description = self.description.take().or(own);
        self.default = self.default.or(type_use.default.as_deref());
        if self.constraints.is_empty() {
            self.constraints = Cow::Borrowed(&type_use.constraints);
        } else if !type_use.constraints.is_empty() {
            let mut all = type_use.constraints.clone();
            all.retain(|own| !self.constraints.iter().any(|here| here.is_like(own)));
            for constraint in self.constraints.iter() {
                Constraint::add(&mut all, constraint.clone());
            }
            self.constraints = Cow::Owned(all);
        }
        let Some(details) = type_use.details.as_deref() else { return };
        self.title = self.title.or(details.title.as_deref());
        self.examples = self.examples.or(details.examples.as_deref());
        self.deprecated |= details.deprecated;
        self.unsound |= details.unsound;
        self.open_tuple |= details.open_tuple;
        self.type_list |= details.type_list;
        self.verbatim = self.verbatim.or(details.verbatim.as_deref());
        if self.extensions.is_empty() {
            self.extensions = Cow::Borrowed(&details.extensions);
        } else if !details.extensions.is_empty() {
            let mut all = details.extensions.clone();
            all.retain(|(key, _)| self.extensions.iter().all(|(known, _)| known != key));
            all.extend(self.extensions.iter().cloned());
            self.extensions = Cow::Owned(all);
        }
    }

    /// The constant that attributes name, unless it is null.
    pub(super) fn constant(&self) -> Option<&Value> {
        self.constraints.iter().find_map(|constraint| match constraint {
            Constraint::Const(constant) if !constant.is_null() => Some(&**constant),
            _ => None,
        })
    }

    /// The values of a type that is a constant or null: the constant only where an enum allows it.
    pub(super) fn constant_or_null<'v>(&self, constant: &'v Value) -> Vec<&'v Value> {
        let allowed = self.constraints.iter().all(|other| match other {
            Constraint::Enum(values) => {
                values.iter().any(|value| gram_model::value::same(value, constant))
            }
            _ => true,
        });
        allowed.then_some(constant).into_iter().chain([&Value::Null]).collect()
    }
}
