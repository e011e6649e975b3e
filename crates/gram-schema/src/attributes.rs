//! The table of attributes, by kind of declaration.

pub use gram_model::attributes::*;

use crate::names::Kind;

/// The owner of the attributes of a declaration.
pub fn owner_of(kind: Kind) -> AttributeOwner {
    match kind {
        Kind::Tool => AttributeOwner::Tool,
        Kind::Agent => AttributeOwner::Agent,
        Kind::Container => AttributeOwner::Container,
        Kind::Library => AttributeOwner::Library,
        Kind::Experiment => AttributeOwner::Experiment,
        Kind::Union => AttributeOwner::Union,
        Kind::Record => AttributeOwner::Record,
        Kind::Enum => AttributeOwner::Enum,
        Kind::Alias => AttributeOwner::Alias,
        Kind::Term => AttributeOwner::Field,
    }
}
