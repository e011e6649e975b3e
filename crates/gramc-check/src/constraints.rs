//! Attributes that set constraints.

use std::collections::HashSet;

use gramc_syntax::{Node, NodeKind as N, Span};
use serde_json::Value;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::field::Draft;
use crate::named::Named;
use gramc_model::attributes::{
    AttributeOwner, AttributeSpec, ConstraintConstructor, ValueType, find,
};
use gramc_model::format::describe;
use gramc_model::nearest::{nearest, question};
use gramc_model::{Constraint, Type};

/// Attributes that say the same of values of different types.
const SAME_OF_TYPES: [&[&str]; 2] = [&["range", "length", "size"], &["elementType", "valueType"]];

impl Checker<'_> {
    /// Applies an attribute that sets constraints.
    pub(crate) fn constraint(
        &mut self,
        draft: &mut Draft<'_>,
        attribute: &Attribute<'_>,
        spec: &'static AttributeSpec,
    ) {
        // A wrong value must not leave the bounds that a term brings.
        if spec.is_range() || spec.value == ValueType::Flag {
            draft.forget(|known| spec.constraints.iter().any(|one| one.kind == known.kind()));
        }
        match &*attribute.key {
            "pattern" => draft.pattern = Some(attribute.span()),
            "enum" => draft.name(Named::Member, attribute),
            "const" => draft.name(Named::Constant, attribute),
            _ => {}
        }
        draft.narrowed.get_or_insert(attribute.span());
        let constraints = self.constraints_of(attribute, spec);
        let type_use = &mut draft.field.type_use;
        type_use.constraints.reserve_exact(constraints.iter().flatten().count());
        for constraint in constraints.into_iter().flatten() {
            type_use.constrain(constraint);
        }
        if !self.silent && !spec.applies_to(&self.types, &draft.field.type_use.ty) {
            draft.misfits.push((spec, attribute.key_span));
        }
    }

    /// The constraints that an attribute's value gives.
    fn constraints_of(
        &mut self,
        attribute: &Attribute<'_>,
        spec: &AttributeSpec,
    ) -> [Option<Constraint>; 2] {
        use ConstraintConstructor as C;
        let of = |at: usize| spec.constraints.get(at).map(|one| one.constructor);
        match (of(0), of(1)) {
            (Some(C::Number(least)), Some(C::Number(most))) => {
                let bounds = attribute.range(self).unwrap_or_default();
                [bounds.0.map(least), bounds.1.map(most)]
            }
            (Some(C::Count(least)), Some(C::Count(most))) => {
                let bounds = attribute.size(self).unwrap_or_default();
                [bounds.0.map(least), bounds.1.map(most)]
            }
            (Some(C::Number(make)), _) => {
                let number = match spec.value {
                    ValueType::Step => attribute.step(self),
                    _ => attribute.number(self),
                };
                [number.map(make), None]
            }
            (Some(C::Count(make)), _) => [attribute.count(self).map(make), None],
            (Some(C::Text(make)), _) if spec.value == ValueType::Format => {
                [self.format(attribute).map(make), None]
            }
            (Some(C::Text(make)), _) => [attribute.text(self).map(make), None],
            (Some(C::Flag(make)), _) => {
                [attribute.flag(self).filter(|flag| *flag).map(|_| make()), None]
            }
            (Some(C::Values(make)), _) => {
                let values = attribute.list(self);
                self.repeated_value(attribute, values.as_deref().unwrap_or_default());
                [values.map(make), None]
            }
            (Some(C::Value(make)), _) => {
                [attribute.json(self).map(|value| make(Box::new(value))), None]
            }
            (Some(C::Type(make)), _) => {
                [attribute.type_expression(self).map(|ty| make(Box::new(ty))), None]
            }
            (None, _) => [None, None],
        }
    }

    /// Notes the first value that a list has twice, which changes nothing.
    fn repeated_value(&mut self, attribute: &Attribute<'_>, values: &[Value]) {
        let mut seen = HashSet::new();
        let Some(at) = values.iter().position(|value| !seen.insert(value)) else { return };
        let items = attribute.node().filter(|node| node.kind() == N::Array);
        let span =
            items.and_then(|node| node.children().nth(at)).map_or(attribute.span(), Node::span);
        let message = format!("duplicate value {}", self.source().slice(span));
        let note = self.note(&codes::DUPLICATE_NAME, span, message);
        self.report(note.help("remove one of them"));
    }

    /// The name of a format, with a note if it is not checked at run time.
    fn format(&mut self, attribute: &Attribute<'_>) -> Option<SmolStr> {
        let format = attribute.text(self)?;
        if !gramc_model::format::is_checked(&format) {
            let message = format!("the format `{format}` is not checked at run time");
            let note = self.note(&codes::UNKNOWN_FORMAT, attribute.span(), message);
            let near = nearest(&format, gramc_model::format::json_names());
            let help = question(&near).unwrap_or_else(|| {
                "add a pattern to enforce it; the schema keeps the format".to_owned()
            });
            self.report(note.help(help));
        }
        Some(format)
    }

    /// Reports an attribute that does not apply to a type, and the one that says the same of it.
    pub(crate) fn misfit(&mut self, span: Span, spec: &AttributeSpec, ty: &Type) {
        let (key, applies_to) = (spec.name, spec.applies_to.words());
        let message =
            format!("`{key}` is about {applies_to}, and this is {}", describe(&self.types, ty));
        let error = self
            .error(&codes::ATTRIBUTE_TYPE, span, message)
            .help(format!("remove `{key}`, or change the type"));
        let same = SAME_OF_TYPES.iter().find(|keys| keys.contains(&key));
        let fits = same.into_iter().flat_map(|keys| keys.iter()).find_map(|other| {
            let spec = find(AttributeOwner::Field, other)?;
            spec.applies_to(&self.types, ty).then_some(spec)
        });
        let error = match fits {
            Some(other) => error
                .help(format!(
                    "write `{}`, which is about {}",
                    other.name,
                    other.applies_to.words()
                ))
                .replace(format!("write `{}`", other.name), span, other.name),
            None => error,
        };
        self.report(error);
    }
}
