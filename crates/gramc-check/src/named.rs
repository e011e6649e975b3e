//! Values that attributes name.

use gramc_model::{Constraint, Field, ValueSource};

/// A value that attributes name and that the type has to accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Default,
    Example,
    Pinned,
    Member,
    Constant,
}

/// All of them.
pub(crate) const NAMED: [Named; 5] =
    [Named::Default, Named::Example, Named::Pinned, Named::Member, Named::Constant];

impl Named {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Example => "example",
            Self::Pinned => "pinned value",
            Self::Member => "enum member",
            Self::Constant => "constant",
        }
    }
}

/// Which values a field names that its type has to accept.
pub(crate) fn values_of(field: &Field) -> impl Iterator<Item = Named> {
    let details = field.type_use.details.as_deref();
    let constraint = |found: fn(&Constraint) -> bool| field.type_use.constraints.iter().any(found);
    let examples = details.is_some_and(|details| details.examples.is_some());
    [
        (Named::Default, field.type_use.default.is_some()),
        (Named::Example, examples),
        (Named::Pinned, matches!(field.source, ValueSource::Pinned(_))),
        (Named::Member, constraint(|found| matches!(found, Constraint::Enum(_)))),
        (Named::Constant, constraint(|found| matches!(found, Constraint::Const(_)))),
    ]
    .into_iter()
    .filter_map(|(what, named)| named.then_some(what))
}
