//! Unions: whether a value tells which member it belongs to.

use std::collections::HashMap;

use gram_syntax::Span;
use serde_json::Value;

use super::Checker;
use super::declarations::Declaration;
use crate::codes;
use crate::format::describe;
use crate::model::{Constraint, Details, Slot, Type, Types};
use crate::value;

/// How many members of a union that are no literals are compared with each other.
const MOST_COMPARED: usize = 200;

impl<'t> Checker<'t> {
    /// Checks the members of a declared union.
    pub(super) fn check_union(
        &mut self,
        declaration: &Declaration<'t>,
        slot: &Slot,
        tag: Option<&str>,
    ) {
        let (Type::Union(members) | Type::OneOf(members)) = &slot.ty else { return };
        let (file, span) = (declaration.file, declaration.name_node.span());
        let unsound = slot.details.as_ref().is_some_and(|details| details.unsound);
        match tag {
            Some(tag) => self.tagged_members(file, span, tag, members),
            None => self.same_members(file, span, members, unsound),
        }
    }

    /// Reports two members of a union that are the same.
    pub(super) fn distinct_members(&mut self, file: usize, span: Span, members: &[Type]) {
        self.same_members(file, span, members, false);
    }

    fn same_members(&mut self, file: usize, span: Span, members: &[Type], unsound: bool) {
        if self.silent {
            return;
        }
        let types = self.known_types();
        let Some(twice) = same_members(types, members) else { return };
        let message = format!(
            "two members of this union are {}, which no value tells apart",
            describe(types, twice)
        );
        let finding = if unsound {
            self.warning(&codes::UNSOUND_IMPORT, file, span, message)
        } else {
            self.error(&codes::INDISTINCT_UNION, file, span, message)
        };
        self.report(file, finding.help("remove one of them"));
    }

    /// Checks that each member of a tagged union is an object that names its kind.
    fn tagged_members(&mut self, file: usize, span: Span, tag: &str, members: &[Type]) {
        if self.silent {
            return;
        }
        let mut known: HashMap<String, String> = HashMap::new();
        let mut found = Vec::new();
        for member in members {
            let name = describe(self.known_types(), member);
            let Some(values) = tags(self.known_types(), member, tag) else {
                let message = format!("{name} has no field `{tag}` that says what kind it is");
                let help = format!("give each member a required field ({tag}::`\"name\"`)");
                found.push(self.error(&codes::UNTAGGED_MEMBER, file, span, message).help(help));
                continue;
            };
            for value in values {
                if let Some(other) = known.insert(value::canonical(value), name.clone()) {
                    let message = format!(
                        "`{tag}` is {value} in {other} and in {name}, so it does not tell which it is"
                    );
                    let error = self.error(&codes::INDISTINCT_UNION, file, span, message);
                    found.push(error.help("give each member a value of its own"));
                }
            }
        }
        for error in found {
            self.report(file, error);
        }
    }
}

/// A member of a union that is the same as another one.
fn same_members<'m>(types: &Types, members: &'m [Type]) -> Option<&'m Type> {
    let mut literals = std::collections::HashSet::new();
    let mut others: Vec<&Type> = Vec::new();
    members.iter().find(|member| match member {
        Type::Literal(value) => !literals.insert(value::canonical(value)),
        member => {
            let plain = plain(types, member);
            let twice = others.iter().any(|other| *other == plain);
            if others.len() < MOST_COMPARED {
                others.push(plain);
            }
            twice
        }
    })
}

/// What a type is where its names add nothing to what they stand for, not even a description.
fn plain<'t>(types: &'t Types, mut ty: &'t Type) -> &'t Type {
    for _ in 0..=types.0.len() {
        let Type::Named(id) = ty else { break };
        match types.get(*id) {
            Some(declared) if declared.slot == Slot::new(declared.slot.ty.clone()) => {
                ty = &declared.slot.ty;
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
    constants(types, &field.slot)
}

fn constants<'t>(types: &'t Types, slot: &'t Slot) -> Option<Vec<&'t Value>> {
    for constraint in Details::of(slot.details.as_deref()) {
        match constraint {
            Constraint::Const(value) => return Some(vec![value]),
            Constraint::Enum(values) => return Some(values.iter().collect()),
            _ => {}
        }
    }
    match &slot.ty {
        Type::Literal(value) => Some(vec![value]),
        Type::Union(members) => members
            .iter()
            .map(|member| match member {
                Type::Literal(value) => Some(&**value),
                _ => None,
            })
            .collect(),
        // The checker lets no name stand for itself.
        Type::Named(id) => types.get(*id).and_then(|declared| constants(types, &declared.slot)),
        _ => None,
    }
}
