//! Values that real schemas name and that their own types reject: they are kept, and marked.

use serde_json::Value;

use gram_check::{empty_interval, is_empty_enum};
use gram_model::value_check;
use gram_model::{Constraint, Module, Slot, Type, Types};

/// Marks all types of which the checker would otherwise refuse a default, an example, a member of
/// an enum or a constant, and gives how many are marked.
pub(super) fn mark(module: &mut Module) -> usize {
    // A value may have to be compared with the type that is being marked, so nothing is marked
    // before all are judged.
    let mut verdicts = Vec::new();
    for slot in slots(module) {
        verdicts.push(is_unsound(&module.types, slot));
    }
    let mut verdicts = verdicts.into_iter();
    each_slot(module, &mut |slot| {
        if verdicts.next() == Some(true) {
            set_unsound(slot);
        }
    });
    let marked = |slot: &&Slot| slot.details.as_ref().is_some_and(|details| details.unsound);
    slots(module).filter(marked).count()
}

/// All slots that attributes can stand in.
fn slots(module: &Module) -> impl Iterator<Item = &Slot> {
    let tools = module.tools.iter().flat_map(|tool| {
        let parameters = tool.parameters.iter().map(|field| &field.slot);
        parameters.chain([&tool.result.slot])
    });
    let types = module.types.0.iter().flat_map(|declared| {
        let fields = fields(&declared.slot.ty).iter().map(|field| &field.slot);
        fields.chain([&declared.slot])
    });
    tools.chain(types)
}

/// The same slots in the same order, to change them.
fn each_slot(module: &mut Module, visit: &mut dyn FnMut(&mut Slot)) {
    for tool in &mut module.tools {
        tool.parameters.iter_mut().for_each(|field| visit(&mut field.slot));
        visit(&mut tool.result.slot);
    }
    for declared in &mut module.types.0 {
        let object = match &mut declared.slot.ty {
            Type::Nullable(inner) => &mut **inner,
            ty => ty,
        };
        if let Type::Object(object) = object {
            object.fields.iter_mut().flatten().for_each(|field| visit(&mut field.slot));
        }
        visit(&mut declared.slot);
    }
}

fn fields(ty: &Type) -> &[gram_model::Field] {
    match ty {
        Type::Nullable(inner) => fields(inner),
        Type::Object(object) => object.fields.as_deref().unwrap_or_default(),
        _ => &[],
    }
}

fn set_unsound(slot: &mut Slot) {
    let nullable = matches!(slot.ty, Type::Nullable(_));
    let details = slot.details_mut();
    if details.unsound {
        return;
    }
    details.unsound = true;
    // From now on an enum is written as it is, so null has to be among its members.
    for constraint in &mut slot.constraints {
        if let Constraint::Enum(values) = constraint
            && nullable
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
}

fn is_unsound(types: &Types, slot: &Slot) -> bool {
    let details = slot.details.as_deref();
    let constraints = &slot.constraints;
    let examples = details.and_then(|details| details.examples.as_deref()).unwrap_or_default();
    let rejected = slot
        .default
        .as_deref()
        .into_iter()
        .chain(examples)
        .any(|value| value_check::slot(types, slot, value).is_err());
    let bare = |value: &Value| value_check::ty(types, &slot.ty, value).is_err();
    rejected
        || constraints.iter().any(|constraint| match constraint {
            Constraint::Enum(values) => values.iter().any(bare),
            Constraint::Const(value) => bare(value),
            Constraint::Pattern(pattern) => value_check::malformed_pattern(pattern).is_some(),
            _ => false,
        })
        || is_empty_enum(types, constraints)
        // What is left between two whole numbers is taken for nothing, whichever numbers it takes.
        || empty_interval(constraints, &Type::Integer).is_some()
}
