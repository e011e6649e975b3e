//! The attributes that declarations, parameters and implementations have, with a line about each:
//! for who completes and explains them.

use crate::check;
use crate::model::{ImplementationKind, Source, Type, Types};
use crate::names::Kind;

/// What the value of an attribute is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// A text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number.
    Number,
    /// A range.
    Range,
    /// A list.
    List,
    /// A type expression in quotes.
    Type,
    /// The name of a format of text.
    Format,
    /// A value of the type that it stands beside.
    OfType,
    /// One of these words, in quotes.
    OneOf(&'static [&'static str]),
    /// Something else.
    Other,
}

/// An attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its key.
    pub name: &'static str,
    /// What it says, in a line.
    pub about: String,
    /// What its value is.
    pub values: Values,
}

/// Where attributes stand.
#[derive(Debug, Clone, Copy)]
pub enum Owner<'t> {
    /// In a text's header.
    Header,
    /// At a declaration.
    Declaration(Kind),
    /// At an implementation of a library.
    Implementation(ImplementationKind),
    /// At a member of an enum.
    Member,
    /// At a parameter, field, result or term; of this type, where it is known.
    Field(Option<(&'t Types, &'t Type)>),
}

/// The attributes of a place, those that fit its type.
pub fn of(owner: Owner<'_>) -> Vec<Attribute> {
    match owner {
        Owner::Header => ["imports", "gram"].map(header).to_vec(),
        Owner::Member => vec![attribute("description")],
        Owner::Declaration(Kind::Tool) => named(&check::TOOL_ATTRIBUTES),
        Owner::Declaration(Kind::Agent) => named(&check::AGENT_ATTRIBUTES),
        Owner::Declaration(Kind::Container) => named(&check::CONTAINER_ATTRIBUTES),
        Owner::Declaration(Kind::Experiment) => named(&check::EXPERIMENT_ATTRIBUTES),
        Owner::Declaration(Kind::Library) => bound(None),
        Owner::Implementation(kind) => bound(Some(kind)),
        Owner::Declaration(Kind::Union) => {
            let own = ["discriminator", "oneOf", "schemaName", "inline"];
            let of_types = ["description", "title", "examples", "deprecated"];
            named(&own).into_iter().chain(named(&of_types)).collect()
        }
        Owner::Declaration(Kind::Record) => {
            named(&["description", "title", "open", "size", "schemaName", "inline", "deprecated"])
        }
        Owner::Declaration(Kind::Enum | Kind::Alias) => {
            named(&["description", "title", "schemaName", "inline", "deprecated"])
        }
        Owner::Declaration(Kind::Term) => named(&check::FIELD_ATTRIBUTES),
        Owner::Field(ty) => {
            let mut all = named(&check::FIELD_ATTRIBUTES);
            if let Some((types, ty)) = ty {
                all.retain(|one| check::attribute_fits(types, ty, one.name));
            }
            all
        }
    }
}

fn named(names: &[&'static str]) -> Vec<Attribute> {
    names.iter().copied().map(attribute).collect()
}

fn bound(kind: Option<ImplementationKind>) -> Vec<Attribute> {
    let all = check::of_libraries(kind).map(|(name, wanted, words, flag)| {
        let values = match words {
            [] if flag => Values::Flag,
            [] if wanted == "text" => Values::Text,
            [] => Values::Other,
            words => Values::OneOf(words),
        };
        Attribute { name, about: format!("{name}: {wanted}"), values }
    });
    all.collect()
}

fn header(name: &'static str) -> Attribute {
    let (about, values) = match name {
        "imports" => ("Files whose names this file uses, relative to it", Values::List),
        _ => ("The version of the language, which is 1", Values::Number),
    };
    Attribute { name, about: about.to_owned(), values }
}

/// Where the tools of a container come from.
const SOURCES: [&str; 4] =
    [Source::ALL[0].name(), Source::ALL[1].name(), Source::ALL[2].name(), Source::ALL[3].name()];

fn attribute(name: &'static str) -> Attribute {
    use Values::{Flag, Format, List, Number, OfType, OneOf, Other, Range, Text};
    let (about, values) = match name {
        "default" => ("The value that stands for one that is left out", OfType),
        "optional" => ("Whether it may be left out", Flag),
        "nullable" => ("Whether null may stand in its place", Flag),
        "description" => ("What it is for; a doc comment says the same", Text),
        "title" => ("A name for people", Text),
        "examples" => ("Sample values", List),
        "deprecated" => ("Whether it should no longer be used", Flag),
        "range" => ("The least and the greatest number: 1..10, 1... or ...10", Range),
        "above" => ("A number that every value lies above", Number),
        "below" => ("A number that every value lies below", Number),
        "multipleOf" => ("A number that every value is a multiple of", Number),
        "length" => ("The fewest and the most characters: 1..80", Range),
        "pattern" => ("A regular expression that finds something in every value", Text),
        "format" => ("The format of a text", Format),
        "size" => ("The fewest and the most items or entries: 1..10", Range),
        "unique" => ("Whether no item may come twice", Flag),
        "enum" => ("The only values", List),
        "const" => ("The only value", OfType),
        "open" => ("Whether properties are allowed that are not declared, or of which type", Other),
        "pinned" => ("The value that the host sets; the model may leave it out", OfType),
        "injected" => ("Whether the host supplies it, and no model sees it", Flag),
        "secret" => ("Whether it is masked in every message, log and trace", Flag),
        "fields" => ("The properties of an object", List),
        "elementType" => ("The type of the items", Values::Type),
        "valueType" => ("The type of the values", Values::Type),
        "keys" => ("The type of the keys", Values::Type),
        "requires" => ("Names that `required` holds though nothing has them", List),
        "typeList" => ("Whether the types of a union are written as a list", Flag),
        "extensions" => ("Keywords of JSON Schema that gram has no word for", Other),
        "schema" => ("The JSON Schema of this place, word for word", Other),
        "unsound" => ("Whether values may stay that their type rejects; imports write it", Flag),
        "readOnly" => ("Whether it changes nothing", Flag),
        "destructive" => ("Whether it may destroy something", Flag),
        "idempotent" => {
            ("Whether a second call with the same arguments changes nothing more", Flag)
        }
        "openWorld" => ("Whether it reaches things outside, such as the web", Flag),
        "version" => ("Its version", Text),
        "timeout" => ("How long it may take: 30s", Other),
        "schemaTitle" => ("The title of the parameters' schema", Text),
        "schemaDescription" => ("The description of the parameters' schema", Text),
        "schemaExtensions" => {
            ("Keywords of the parameters' schema that gram has no word for", Other)
        }
        "defs" => ("Types that stand in `$defs` though nothing refers to them", List),
        "instruction" => ("What its model is told before the conversation", Text),
        "model" => ("Its provider and model: openai/gpt-4o-mini", Text),
        "maxIterations" => ("How often it may ask its model for one user message", Number),
        "api" => ("How it passes tools to the model", OneOf(&["tools", "functions"])),
        "result" => ("The type of its answers, where they are not free text", Values::Type),
        "source" => ("Where its tools come from", OneOf(&SOURCES)),
        "agent" => ("The agent that runs on each library", Text),
        "cases" => ("The file of its cases, relative to this one", Text),
        "repeats" => ("How often each case runs in each arm", Number),
        "seed" => ("What chance comes from", Number),
        "schemaName" => ("Its name in `$defs`", Text),
        "inline" => ("Whether schemas write it in its place and not in `$defs`", Flag),
        "discriminator" => ("The field whose value tells the members apart", Text),
        "oneOf" => ("Whether a value is of exactly one member", Flag),
        _ => ("", Other),
    };
    Attribute { name, about: about.to_owned(), values }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each attribute that the checker knows has a line about it.
    #[test]
    fn all_attributes_are_explained() {
        let owners = Kind::LABELLED.map(Owner::Declaration);
        let more = [Owner::Header, Owner::Member, Owner::Field(None)];
        let kinds = ImplementationKind::ALL.map(Owner::Implementation);
        for owner in owners.into_iter().chain(more).chain(kinds) {
            for one in of(owner) {
                assert!(!one.about.is_empty(), "{} of {owner:?}", one.name);
            }
        }
    }

    #[test]
    fn only_what_fits_a_type_is_offered() {
        let names = |ty: &Type| -> Vec<_> {
            let types = Types::default();
            of(Owner::Field(Some((&types, ty)))).iter().map(|one| one.name).collect()
        };
        assert!(names(&Type::Integer).contains(&"range") && !names(&Type::Text).contains(&"range"));
        assert!(names(&Type::Text).contains(&"length"));
        assert!(names(&Type::List(None)).contains(&"elementType"));
    }
}
