//! A type where it is used, with the attributes of the use and of the declaration merged.

use std::borrow::Cow;

use serde_json::Value;
use smol_str::SmolStr;

use super::defs::Defs;
use gramc_model::{Constraint, Type, TypeUse};

/// A type with all attributes that apply at this position.
#[expect(clippy::struct_excessive_bools, reason = "each is said by an attribute of its own")]
pub(super) struct TypePlace<'m> {
    /// The type, which is a name only if the schema refers to it.
    pub(super) ty: &'m Type,
    /// Whether null is allowed.
    pub(super) nullable: bool,
    pub(super) title: Option<&'m str>,
    pub(super) description: Option<Cow<'m, str>>,
    pub(super) default: Option<&'m Value>,
    pub(super) examples: Option<&'m [Value]>,
    pub(super) deprecated: bool,
    pub(super) unsound: bool,
    /// Whether a tuple leaves the number of its items open.
    pub(super) open_tuple: bool,
    /// Whether the members of a union are written as a list of types.
    pub(super) type_list: bool,
    pub(super) constraints: Cow<'m, [Constraint]>,
    pub(super) extensions: Cow<'m, [(SmolStr, Value)]>,
    pub(super) verbatim: Option<&'m Value>,
}

impl<'m> TypePlace<'m> {
    /// A type without attributes.
    pub(super) fn of_type(defs: &Defs<'m>, ty: &'m Type) -> Self {
        let mut place = Self::bare(ty);
        place.enter(defs, false);
        place
    }

    /// A type with attributes. `write_out` inlines its declaration even if other schemas refer to it.
    pub(super) fn new(defs: &Defs<'m>, type_use: &'m TypeUse, write_out: bool) -> Self {
        let mut place = Self::bare(&type_use.ty);
        place.lay_under(type_use, None);
        place.enter(defs, write_out);
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
        }
    }

    /// A member of a union that is written as a list of types.
    pub(super) fn of_member(&self, member: &'m Type) -> Self {
        Self { constraints: self.constraints.clone(), ..Self::bare(member) }
    }

    /// Resolves `Nullable` and names that are inlined.
    fn enter(&mut self, defs: &Defs<'m>, write_out: bool) {
        // An inlined name is never recursive. The limit guards against models that were not
        // checked.
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
            if defs.overrides(inner, &self.constraints) {
                self.enter(defs, write_out);
            }
        }
    }

    /// Adds the attributes of a type use that are not set yet.
    fn lay_under(&mut self, type_use: &'m TypeUse, description: Option<Cow<'m, str>>) {
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

    /// The constant of a `Const` constraint, unless it is null.
    pub(super) fn constant(&self) -> Option<&Value> {
        self.constraints.iter().find_map(|constraint| match constraint {
            Constraint::Const(constant) if !constant.is_null() => Some(&**constant),
            _ => None,
        })
    }

    /// The constant and null. The constant is left out if an enum does not allow it.
    pub(super) fn constant_or_null<'v>(&self, constant: &'v Value) -> Vec<&'v Value> {
        let allowed = self.constraints.iter().all(|other| match other {
            Constraint::Enum(values) => {
                values.iter().any(|value| gramc_model::value::same(value, constant))
            }
            _ => true,
        });
        allowed.then_some(constant).into_iter().chain([&Value::Null]).collect()
    }
}
