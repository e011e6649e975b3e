//! Values that real schemas name and that their own types reject: they are kept, and marked.

use std::cmp::Ordering;

use serde_json::Value;

use crate::accept;
use crate::model::{Constraint, Details, Module, Slot, Type, Types};
use crate::value;

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

fn fields(ty: &Type) -> &[crate::model::Field] {
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
    for constraint in &mut details.constraints {
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
    let constraints = Details::of(details);
    let examples = details.and_then(|details| details.examples.as_deref()).unwrap_or_default();
    let rejected = slot
        .default
        .as_deref()
        .into_iter()
        .chain(examples)
        .any(|value| accept::slot(types, slot, value).is_err());
    let bare = |value: &Value| accept::ty(types, &slot.ty, value).is_err();
    rejected
        || constraints.iter().any(|constraint| match constraint {
            Constraint::Enum(values) => values.iter().any(bare),
            Constraint::Const(value) => bare(value),
            Constraint::Pattern(pattern) => accept::malformed_pattern(pattern).is_some(),
            _ => false,
        })
        || is_empty_enum(types, constraints)
        || is_empty_interval(constraints)
}

/// Whether there is an enum of which the other constraints leave no value.
fn is_empty_enum(types: &Types, constraints: &[Constraint]) -> bool {
    let others = |value: &Value| {
        let mut others = constraints.iter().filter(|known| !matches!(known, Constraint::Enum(_)));
        others.all(|known| accept::constraint(types, known, value).is_ok())
    };
    constraints.iter().any(|constraint| match constraint {
        Constraint::Enum(values) => !values.iter().any(others),
        _ => false,
    })
}

/// Whether there may be no number between the bounds. One that leaves a few is taken for empty,
/// too, where it costs less to mark it.
fn is_empty_interval(constraints: &[Constraint]) -> bool {
    let lower = || {
        constraints.iter().filter_map(|constraint| match constraint {
            Constraint::Minimum(least) => Some((least, true)),
            Constraint::Above(least) => Some((least, false)),
            _ => None,
        })
    };
    let upper = constraints.iter().filter_map(|constraint| match constraint {
        Constraint::Maximum(most) => Some((most, true)),
        Constraint::Below(most) => Some((most, false)),
        _ => None,
    });
    let mut pairs = upper.flat_map(|upper| lower().map(move |lower| (lower, upper)));
    pairs.any(|((least, least_in), (most, most_in))| match value::compare(least, most) {
        Ordering::Greater => true,
        Ordering::Equal => !(least_in && most_in),
        Ordering::Less => {
            let next = least.as_i64().and_then(|least| least.checked_add(1));
            !least_in && !most_in && next.is_some() && next == most.as_i64()
        }
    })
}
