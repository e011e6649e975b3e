//! Unions: whether a value tells which member it belongs to.

use std::collections::{HashMap, HashSet};

use gramc_syntax::Span;
use serde_json::Value;
use smol_str::SmolStr;

use crate::checker::Checker;
use crate::codes;
use gramc_model::format::describe;
use gramc_model::value;
use gramc_model::{Constraint, Type, TypeDeclaration, TypeUse, Types};

/// How many members of a union that are no literals are compared with each other.
const MAX_COMPARED: usize = 200;

impl Checker<'_> {
    /// Checks the members of a declared union, located at `spans`.
    pub(crate) fn check_union(&mut self, type_use: &TypeUse, tag: Option<&str>, spans: &[Span]) {
        let (Type::Union(members) | Type::OneOf(members)) = &type_use.ty else { return };
        if self.silent {
            return;
        }
        if let Some(tag) = tag {
            return self.tagged_members(tag, members, spans);
        }
        let unsound = type_use.details.as_ref().is_some_and(|details| details.unsound);
        if let Some((_, second)) = same_members(self.known_types(), members, true)
            && let (Some(member), Some(span)) = (members.get(second), spans.get(second))
        {
            self.indistinct(*span, member, unsound);
        }
    }

    /// Reports two members of a union in a type expression that are the same.
    pub(crate) fn distinct_members(&mut self, span: Span, members: &[Type]) {
        for member in members {
            gramc_model::walk::names(member, &mut |_| self.reads_fields = true);
        }
        if !self.silent
            && let Some((_, second)) = same_members(self.known_types(), members, false)
            && let Some(member) = members.get(second)
        {
            self.indistinct(span, member, false);
        }
    }

    fn indistinct(&mut self, span: Span, member: &Type, unsound: bool) {
        let what = describe(self.known_types(), member);
        let message = format!("two members of this union are {what}, which no value distinguishes");
        let diagnostic = if unsound {
            self.warning(&codes::UNSOUND_IMPORT, span, message)
        } else {
            self.error(&codes::INDISTINCT_UNION, span, message)
        };
        self.report(diagnostic.help("remove one of them"));
    }

    /// Checks that each member of a tagged union is an object that names its kind.
    fn tagged_members(&mut self, tag: &str, members: &[Type], spans: &[Span]) {
        let mut known: HashMap<String, (String, Span)> = HashMap::new();
        let mut found = Vec::new();
        for (member, span) in members.iter().zip(spans) {
            let name = describe(self.known_types(), member);
            let Some(values) = tags(self.known_types(), member, tag) else {
                let name =
                    name.strip_prefix("a ").filter(|it| it.starts_with('`')).unwrap_or(&name);
                let message = format!("{name} has no discriminator field `{tag}`");
                let meant = discriminator(self.known_types(), members);
                let is_known = meant.is_some() && !found.is_empty();
                let help = match meant {
                    Some(other) => format!("did you mean `{other}`?"),
                    None => format!("give each member a required field ({tag}::\"name\")"),
                };
                // One error is about the field of all members.
                if is_known {
                    continue;
                }
                found.push(self.error(&codes::UNTAGGED_MEMBER, *span, message).help(help));
                continue;
            };
            for value in values {
                let key = value::canonical(value);
                if let Some((other, first)) = known.insert(key, (name.clone(), *span)) {
                    let message = format!(
                        "`{tag}` is {value} in {other} and in {name}, so it does not distinguish them"
                    );
                    let error = self.error(&codes::INDISTINCT_UNION, *span, message);
                    let error = error.label(first, "the other one");
                    found.push(error.help("give each member a unique value"));
                }
            }
        }
        for error in found {
            self.report(error);
        }
    }
}

/// The field whose values distinguish the members of a union, if there is one.
pub fn discriminator(types: &Types, members: &[Type]) -> Option<SmolStr> {
    let Type::Object(first) = types.resolve(members.first()?) else { return None };
    let distinguishes = |tag: &SmolStr| {
        let mut known = HashSet::new();
        members.iter().all(|member| {
            tags(types, member, tag).is_some_and(|values| {
                values.into_iter().all(|it| it.is_string() && known.insert(value::canonical(it)))
            })
        })
    };
    let mut names = first.fields.iter().flatten().map(|field| &field.name);
    names.find(|name| distinguishes(name)).filter(|_| members.len() > 1).cloned()
}

/// The indices of the first two equal members of a union. In a type expression, a name and its type
/// count as different members.
pub fn same_members(types: &Types, members: &[Type], declared: bool) -> Option<(usize, usize)> {
    twins(members, |member| {
        let named = !declared && matches!(member, Type::Named(_));
        (named, plain(types, member, |_| true))
    })
}

/// The first two members of a union that are the same literal, or that `known_as` says the same of.
pub fn twins<'t, K: PartialEq>(
    members: &'t [Type],
    known_as: impl Fn(&'t Type) -> K,
) -> Option<(usize, usize)> {
    let mut literals: HashMap<String, usize> = HashMap::new();
    let mut others: Vec<(usize, K)> = Vec::new();
    for (at, member) in members.iter().enumerate() {
        if let Type::Literal(value) = member {
            if let Some(first) = literals.insert(value::canonical(value), at) {
                return Some((first, at));
            }
            continue;
        }
        let member = known_as(member);
        if let Some((first, _)) = others.iter().find(|(_, other)| *other == member) {
            return Some((*first, at));
        }
        if others.len() < MAX_COMPARED {
            others.push((at, member));
        }
    }
    None
}

/// Follows names that add nothing to their types, not even a description.
/// Names of other types than those `known` are not followed.
pub fn plain<'t>(
    types: &'t Types,
    mut ty: &'t Type,
    known: impl Fn(&TypeDeclaration) -> bool,
) -> &'t Type {
    for _ in 0..=types.0.len() {
        let Type::Named(id) = ty else { break };
        match types.get(*id) {
            Some(declared) if known(declared) && declared.type_use.is_bare() => {
                ty = &declared.type_use.ty;
            }
            _ => break,
        }
    }
    ty
}

/// The values that an object's field may have that says what kind of object it is.
fn tags<'t>(types: &'t Types, member: &'t Type, tag: &str) -> Option<Vec<&'t Value>> {
    let Type::Object(object) = types.resolve(member) else { return None };
    let field = object.fields.as_deref()?.iter().find(|field| field.name == tag)?;
    if !field.required() {
        return None;
    }
    constants(types, &field.type_use)
}

fn constants<'t>(types: &'t Types, type_use: &'t TypeUse) -> Option<Vec<&'t Value>> {
    for constraint in &type_use.constraints {
        match constraint {
            Constraint::Const(value) => return Some(vec![value]),
            Constraint::Enum(values) => return Some(values.iter().collect()),
            _ => {}
        }
    }
    match &type_use.ty {
        Type::Literal(value) => Some(vec![value]),
        Type::Union(members) => members
            .iter()
            .map(|member| match member {
                Type::Literal(value) => Some(&**value),
                _ => None,
            })
            .collect(),
        // The checker rejects a name that is an alias of itself.
        Type::Named(id) => types.get(*id).and_then(|declared| constants(types, &declared.type_use)),
        _ => None,
    }
}

/// Whether a type is a union of types that JSON Schema has a name for.
pub(crate) fn lists_types(ty: &Type) -> bool {
    match ty {
        Type::Union(members) => {
            let mut names = std::collections::HashSet::new();
            let mut all = members.iter().map(Type::json_name);
            all.all(|name| name.is_some_and(|name| names.insert(name)))
        }
        _ => false,
    }
}
