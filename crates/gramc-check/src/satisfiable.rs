//! Whether any value meets all constraints of a type together.

use std::cmp::Ordering;

use gramc_syntax::Span;
use serde_json::Value;

use crate::checker::Checker;
use crate::codes;
use gramc_model::value;
use gramc_model::value_check;
use gramc_model::walk::names_of_type_use;
use gramc_model::{Constraint, Type, TypeUse, Types};

impl Checker<'_> {
    /// Reports constraints that no value meets together, and literals that they refuse.
    pub(crate) fn satisfiable(&mut self, span: Span, type_use: &TypeUse) {
        let constraints = &type_use.constraints;
        names_of_type_use(type_use, &mut |_| self.reads_fields = true);
        let is_empty =
            |it: &Constraint| matches!(it, Constraint::Enum(values) if values.is_empty());
        let mut help = "widen one of them";
        let mut code = &codes::EMPTY_CONSTRAINT;
        let message = if constraints.iter().any(is_empty) {
            help = "list the allowed values, such as [\"a\", \"b\"], or remove the attribute";
            "the list of allowed values is empty".to_owned()
        } else if let Some((least, most)) = empty_interval(constraints, &type_use.ty) {
            format!("no number is {least} and {most}")
        } else if is_empty_enum(&self.types, constraints) {
            "no enum value satisfies the other constraints".to_owned()
        } else if let Some(refusal) = refused_literal(&self.types, type_use) {
            help = "remove the literal, or widen the constraint";
            code = &codes::REJECTED_VALUE;
            format!("a literal of the type does not match the constraint: {refusal}")
        } else {
            return;
        };
        let unsound = type_use.details.as_ref().is_some_and(|details| details.unsound);
        let diagnostic = if unsound {
            self.warning(&codes::UNSOUND_IMPORT, span, message)
        } else {
            self.error(code, span, message)
        };
        self.report(diagnostic.help(help));
    }
}

/// Why a constraint refuses a literal of the type that it constrains.
pub fn refused_literal(types: &Types, type_use: &TypeUse) -> Option<String> {
    let constrains =
        |known: &&Constraint| !matches!(known, Constraint::Enum(_) | Constraint::Const(_));
    let constraints = || type_use.constraints.iter().filter(constrains);
    literals(&type_use.ty).iter().find_map(|value| {
        let refusal = |it: &Constraint| value_check::constraint(types, it, value).err();
        constraints().find_map(refusal).map(|refusal| refusal.message)
    })
}

/// The values of a literal type, or of the literals in a union.
pub fn literals(ty: &Type) -> Vec<Value> {
    match ty.without_null() {
        Type::Literal(value) => vec![(**value).clone()],
        Type::Union(members) | Type::OneOf(members) => members.iter().flat_map(literals).collect(),
        _ => Vec::new(),
    }
}

/// Whether there is an enum of which the other constraints leave no value.
pub fn is_empty_enum(types: &Types, constraints: &[Constraint]) -> bool {
    let Some(Constraint::Enum(values)) =
        constraints.iter().find(|constraint| matches!(constraint, Constraint::Enum(_)))
    else {
        return false;
    };
    let meets = |value: &Value| {
        constraints
            .iter()
            .filter(|constraint| !matches!(constraint, Constraint::Enum(_)))
            .all(|constraint| value_check::constraint(types, constraint, value).is_ok())
    };
    !values.iter().any(meets)
}

/// The two bounds between which no number lies, in words.
pub fn empty_interval(constraints: &[Constraint], ty: &Type) -> Option<(String, String)> {
    let ty = ty.without_null();
    let lower = constraints.iter().filter_map(|constraint| match constraint {
        Constraint::Minimum(least) => Some((least, true)),
        Constraint::Above(least) => Some((least, false)),
        _ => None,
    });
    let upper = constraints.iter().filter_map(|constraint| match constraint {
        Constraint::Maximum(most) => Some((most, true)),
        Constraint::Below(most) => Some((most, false)),
        _ => None,
    });
    for (least, least_included) in lower {
        for (most, most_included) in upper.clone() {
            let empty = match value::compare(least, most) {
                Ordering::Greater => true,
                Ordering::Equal => !(least_included && most_included),
                // Between two whole numbers that are left out and follow each other.
                Ordering::Less => {
                    *ty == Type::Integer
                        && !least_included
                        && !most_included
                        && least.as_i64().and_then(|least| least.checked_add(1)) == most.as_i64()
                        && most.as_i64().is_some()
                }
            };
            if empty {
                let lower = if least_included { "at least" } else { "above" };
                let upper = if most_included { "at most" } else { "below" };
                return Some((format!("{lower} {least}"), format!("{upper} {most}")));
            }
        }
    }
    None
}
