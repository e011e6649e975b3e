//! Marks types with values that they reject themselves, as real schemas have.

use serde_json::Value;

use gramc_check::{empty_interval, is_empty_enum, refused_literal};
use gramc_model::value_check;
use gramc_model::{Constraint, Module, Optionality, Type, TypeUse, Types};

/// Marks all types with a default, example, enum member or constant that the checker would reject,
/// and returns their number.
pub(super) fn mark(module: &mut Module) -> usize {
    // Marking changes the types that values are checked against, so all types are checked first.
    let verdicts = type_uses(module).map(|type_use| is_unsound(&module.types, type_use));
    let mut verdicts = verdicts.collect::<Vec<_>>().into_iter();
    each_type_use(module, &mut |type_use, _| {
        if verdicts.next() == Some(true) {
            set_unsound(type_use);
        }
    });
    type_uses(module).filter(|type_use| is_marked(type_use)).count()
}

/// Whether a type is marked.
pub(super) fn is_marked(type_use: &TypeUse) -> bool {
    type_use.details.as_ref().is_some_and(|details| details.unsound)
}

/// Removes the sample arguments that their tool would reject, with a note for each.
pub(super) fn remove_rejected_arguments(module: &mut Module, notes: &mut Vec<String>) {
    for tool in &mut module.tools {
        let expected = tool.arguments_type();
        let Some(at) = tool.attributes.iter().position(|(key, _)| key == "examples") else {
            continue;
        };
        let Some((_, Value::Array(examples))) = tool.attributes.get_mut(at) else { continue };
        examples.retain(|example| {
            let refusal = value_check::ty(&module.types, &expected, example).err();
            notes.extend(refusal.as_ref().map(|it| {
                format!("tool `{}`: the example {example} is left out: {}", tool.name, it.message)
            }));
            refusal.is_none()
        });
        if examples.is_empty() {
            tool.attributes.remove(at);
        }
    }
}

/// Removes the defaults and examples that the checker would reject, and returns their number.
pub(super) fn remove_rejected(module: &mut Module) -> usize {
    let mut rejected = Vec::new();
    for type_use in type_uses(module) {
        let rejects =
            |value: &Value| value_check::type_use(&module.types, type_use, value).is_err();
        let default = type_use.default.as_deref().is_some_and(rejects);
        let examples = type_use.details.as_deref().and_then(|details| details.examples.as_ref());
        let examples: Vec<bool> = examples.into_iter().flatten().map(rejects).collect();
        rejected.push((default, examples));
    }
    let removed = |(default, examples): &(bool, Vec<bool>)| {
        usize::from(*default) + examples.iter().filter(|is_rejected| **is_rejected).count()
    };
    let removed = rejected.iter().map(removed).sum();
    let mut rejected = rejected.into_iter();
    each_type_use(module, &mut |type_use, optionality| {
        let Some((default, examples)) = rejected.next() else { return };
        if default {
            type_use.default = None;
            // It could be omitted because of its default.
            if let Some(optionality @ Optionality::ByDefault) = optionality {
                *optionality = Optionality::Optional;
            }
        }
        if let Some(details) = &mut type_use.details {
            let mut examples = examples.into_iter();
            if let Some(all) = &mut details.examples {
                all.retain(|_| examples.next() == Some(false));
            }
            details.examples.take_if(|examples| examples.is_empty());
        }
        type_use.details.take_if(|details| **details == gramc_model::Details::default());
    });
    removed
}

/// All type uses that can have attributes.
fn type_uses(module: &Module) -> impl Iterator<Item = &TypeUse> {
    let tools = module.tools.iter().flat_map(|tool| {
        let parameters = tool.parameters.iter().map(|field| &field.type_use);
        parameters.chain([&tool.result.type_use])
    });
    let types = module.types.0.iter().flat_map(|declared| {
        let fields = fields(&declared.type_use.ty).iter().map(|field| &field.type_use);
        fields.chain([&declared.type_use])
    });
    tools.chain(types)
}

/// Visits the same type uses in the same order. A field also has its optionality.
fn each_type_use(
    module: &mut Module,
    visit: &mut dyn FnMut(&mut TypeUse, Option<&mut Optionality>),
) {
    for tool in &mut module.tools {
        for field in &mut tool.parameters {
            visit(&mut field.type_use, Some(&mut field.optionality));
        }
        visit(&mut tool.result.type_use, None);
    }
    for declared in &mut module.types.0 {
        let object = match &mut declared.type_use.ty {
            Type::Nullable(inner) => &mut **inner,
            ty => ty,
        };
        if let Type::Object(object) = object {
            for field in object.fields.iter_mut().flatten() {
                visit(&mut field.type_use, Some(&mut field.optionality));
            }
        }
        visit(&mut declared.type_use, None);
    }
}

fn fields(ty: &Type) -> &[gramc_model::Field] {
    match ty {
        Type::Nullable(inner) => fields(inner),
        Type::Object(object) => object.fields.as_deref().unwrap_or_default(),
        _ => &[],
    }
}

fn set_unsound(type_use: &mut TypeUse) {
    let nullable = matches!(type_use.ty, Type::Nullable(_));
    let details = type_use.details_mut();
    if details.unsound {
        return;
    }
    details.unsound = true;
    // The enum of an unsound type is written unchanged, so null must be among its members.
    for constraint in &mut type_use.constraints {
        if let Constraint::Enum(values) = constraint
            && nullable
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
}

fn is_unsound(types: &Types, type_use: &TypeUse) -> bool {
    let details = type_use.details.as_deref();
    let constraints = &type_use.constraints;
    let examples = details.and_then(|details| details.examples.as_deref()).unwrap_or_default();
    let rejected = type_use
        .default
        .as_deref()
        .into_iter()
        .chain(examples)
        .any(|value| value_check::type_use(types, type_use, value).is_err());
    let refuses = |values: &[Value]| value_check::members(types, type_use, values).is_err();
    rejected
        || refused_literal(types, type_use).is_some()
        || constraints.iter().any(|constraint| match constraint {
            Constraint::Enum(values) => refuses(values),
            Constraint::Const(value) => refuses(std::slice::from_ref(value)),
            Constraint::Pattern(pattern) => value_check::malformed_pattern(pattern).is_some(),
            _ => false,
        })
        || is_empty_enum(types, constraints)
        // Bounds that contain no integer count as empty for any number type.
        || empty_interval(constraints, &Type::Integer).is_some()
}
