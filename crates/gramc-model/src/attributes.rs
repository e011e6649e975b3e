//! The table of attributes: where each one is allowed, the type of its value, and its keywords.

mod implementation_kind;
mod table;

pub use implementation_kind::ImplementationKind;
pub use table::ATTRIBUTES;

use gramc_json_schema::keywords::Keyword as K;
use serde_json::{Number, Value};
use smol_str::SmolStr;

use crate::ConstraintKind as Kind;
use crate::model::{Constraint, Type, Types};
use crate::request_place::RequestPlace;
use crate::units;

/// What an attribute belongs to.
#[allow(missing_docs, reason = "the names are those of the declarations")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeOwner {
    Header,
    Tool,
    /// A parameter, field, result or vocabulary term.
    Field,
    Record,
    Enum,
    Member,
    Union,
    Alias,
    Agent,
    Container,
    Library,
    AnyImplementation,
    Implementation(ImplementationKind),
    Experiment,
    Arm,
}

/// The type of an attribute's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// A text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number.
    Number,
    /// A number above 0.
    Step,
    /// A range of numbers.
    Range,
    /// A range of whole numbers.
    Size,
    /// A whole number of at least this.
    Count(u64),
    /// A list.
    List,
    /// A list of names.
    Names,
    /// A type expression in quotes.
    Type,
    /// Type expressions in quotes, by patterns of names.
    TypesByPattern,
    /// The name of a text format.
    Format,
    /// A value of the annotated type.
    OfType,
    /// One of these words, in quotes.
    OneOf(&'static [&'static str]),
    /// A duration, or 0.
    Time,
    /// A number of bytes, or 0.
    Bytes,
    /// A program and its arguments.
    Program,
    /// A URL of HTTP.
    Url,
    /// A program and its arguments, or a URL of HTTP.
    ProgramOrUrl,
    /// The sources of values, by name.
    Sources,
    /// Where arguments go in a request, by name.
    Places,
    /// Texts under some of these names.
    TextsOf(&'static [&'static str]),
    /// A signature in quotes.
    Signature,
    /// Which calls have to be approved: one of these words, or `unless` with parameters.
    Approval(&'static [&'static str]),
    /// Any other value.
    Other,
}

/// The parameters in an approval such as `unless (amount::Int {range: 0..100})`: calls whose arguments have
/// these types need no approval.
pub fn approval_condition(approval: &str) -> Option<&str> {
    approval.strip_prefix("unless ").map(str::trim)
}

impl ValueType {
    /// The expected value, for messages.
    pub fn expected(self) -> String {
        let text = match self {
            Self::Text => "text",
            Self::Flag => "true or false",
            Self::Number => "a number",
            Self::Step => "a number above 0",
            Self::Range => "a range such as 1..10, 1... or ...10",
            Self::Size => "a range of whole numbers such as 1..10, 1... or ...10",
            Self::List => "a list, such as [1, 2]",
            Self::Names => "a list of names, such as [\"search\"]",
            Self::Type => "a type in quotes, such as \"Text\"",
            Self::TypesByPattern => "a map of types by patterns, such as {\"^x-\": \"Text\"}",
            Self::Format => "the name of a format",
            Self::OfType | Self::Other => "a value",
            Self::Time => "a time, such as 2s, 500ms, 5min or 1h",
            Self::Bytes => "a size, such as 100kb or 1mb",
            Self::Program => "a program and its arguments, such as [\"python3\", \"a.py\"]",
            Self::Url => "a whole URL, such as \"https://example.com/search\"",
            Self::ProgramOrUrl => {
                "a program and its arguments, such as [\"python3\", \"a.py\"], or a URL"
            }
            Self::TextsOf(names) => {
                let named: Vec<_> = names.iter().map(|name| format!("{name}: \"…\"")).collect();
                return format!("a map of texts, such as {{{}}}", named.join(", "));
            }
            Self::Sources => "a map of texts, such as {token: \"env:POD_TOKEN\"}",
            Self::Places => "a map of places in a request, such as {trace: \"header X-Trace\"}",
            Self::Signature => "a signature in quotes, such as \"(a::Int)==>(::Text)\"",
            Self::Count(least) => return format!("a whole number from {least} on"),
            Self::Approval(words) => {
                let condition = "\"unless (amount::Int {range: 0..100})\"";
                return format!("{} or {condition}", Self::OneOf(words).expected());
            }
            Self::OneOf(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                return match words.split_last() {
                    Some((last, before)) if !before.is_empty() => {
                        format!("{} or {last}", before.join(", "))
                    }
                    _ => words.concat(),
                };
            }
        };
        text.to_owned()
    }

    /// Whether a value is of this type, where JSON can tell.
    pub fn accepts(self, value: &Value) -> bool {
        let text = value.as_str();
        match self {
            Self::Text | Self::Type | Self::Format | Self::Signature => text.is_some(),
            Self::Flag => value.is_boolean(),
            Self::Number | Self::Step => value.is_number(),
            Self::List => value.is_array(),
            Self::Names => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Self::Count(least) => value.as_u64().is_some_and(|count| count >= least),
            Self::OneOf(words) => text.is_some_and(|text| words.contains(&text)),
            Self::Approval(words) => {
                text.is_some_and(|text| words.contains(&text) || approval_condition(text).is_some())
            }
            // A limit of 0 turns its rule off, whatever its unit is.
            Self::Time => text.and_then(units::time).is_some() || value.as_u64() == Some(0),
            Self::Bytes => text.and_then(units::size).is_some() || value.as_u64() == Some(0),
            Self::Program => value.as_array().is_some_and(|items| {
                items.iter().all(Value::is_string) && items.first().is_some_and(|it| *it != "")
            }),
            Self::Url => text.is_some_and(|text| {
                ["http://", "https://"].iter().any(|scheme| {
                    let start = text.get(..scheme.len()).unwrap_or_default();
                    start.eq_ignore_ascii_case(scheme) && text.len() > scheme.len()
                })
            }),
            Self::ProgramOrUrl => Self::Program.accepts(value) || Self::Url.accepts(value),
            Self::TextsOf(names) => value.as_object().is_some_and(|entries| {
                entries.iter().all(|(key, text)| names.contains(&&**key) && text.is_string())
            }),
            Self::Places => value.as_object().is_some_and(|entries| {
                let is_place = |text: &str| RequestPlace::parse(text).is_some();
                entries.values().all(|place| place.as_str().is_some_and(is_place))
            }),
            Self::Sources | Self::TypesByPattern => {
                value.as_object().is_some_and(|entries| entries.values().all(Value::is_string))
            }
            Self::Range | Self::Size | Self::OfType | Self::Other => true,
        }
    }
}

/// The types that an attribute applies to.
#[allow(missing_docs, reason = "`words` describes the types")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppliesTo {
    Every,
    Numbers,
    Texts,
    Formats,
    Collections,
    Lists,
    Objects,
    Maps,
}

impl AppliesTo {
    /// The types, for messages.
    pub fn words(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Texts => "text",
            Self::Formats => "text and numbers",
            Self::Collections => "lists, maps and objects",
            Self::Lists => "lists",
            Self::Objects => "objects",
            Self::Maps => "maps",
            Self::Every => "values",
        }
    }

    /// Whether a type is one of them, or may be.
    pub fn includes(self, types: &Types, ty: &Type) -> bool {
        match types.resolve(ty) {
            _ if self == Self::Every => true,
            Type::Any | Type::Named(_) => true,
            Type::Nullable(inner) => self.includes(types, inner),
            Type::Union(members) | Type::OneOf(members) => {
                members.iter().any(|member| self.includes(types, member))
            }
            Type::Literal(value) => match &**value {
                Value::Number(_) => matches!(self, Self::Numbers | Self::Formats),
                Value::String(_) => matches!(self, Self::Texts | Self::Formats),
                _ => false,
            },
            Type::Integer | Type::Number => matches!(self, Self::Numbers | Self::Formats),
            Type::Text | Type::Bytes | Type::Formatted(_) => {
                matches!(self, Self::Texts | Self::Formats)
            }
            Type::List(_) | Type::Tuple(_) => matches!(self, Self::Collections | Self::Lists),
            Type::Map(_) => matches!(self, Self::Collections | Self::Maps),
            Type::Object(_) => matches!(self, Self::Collections | Self::Objects | Self::Maps),
            Type::Null | Type::Boolean => false,
        }
    }
}

/// The constructor of a constraint, by the type of its value.
#[allow(missing_docs, reason = "the names are those of the types")]
#[derive(Debug, Clone, Copy)]
pub enum ConstraintConstructor {
    Values(fn(Vec<Value>) -> Constraint),
    Value(fn(Box<Value>) -> Constraint),
    Number(fn(Number) -> Constraint),
    Count(fn(u64) -> Constraint),
    Text(fn(SmolStr) -> Constraint),
    Flag(fn() -> Constraint),
    Type(fn(Box<Type>) -> Constraint),
}

/// A constraint that an attribute sets.
#[derive(Debug, Clone, Copy)]
pub struct ConstraintSpec {
    /// The kind of the constraint.
    pub kind: Kind,
    /// Makes the constraint.
    pub constructor: ConstraintConstructor,
    /// The keywords of JSON Schema that state it.
    pub keywords: &'static [K],
}

/// An attribute: one entry of the table.
#[derive(Debug, Clone, Copy)]
pub struct AttributeSpec {
    /// Its name.
    pub name: &'static str,
    /// Where it is allowed.
    pub owners: &'static [AttributeOwner],
    /// The type of its value.
    pub value: ValueType,
    /// The types that it applies to, where it belongs to a type.
    pub applies_to: AppliesTo,
    /// The constraints that it sets; of a range, the lower and the upper bound.
    pub constraints: &'static [ConstraintSpec],
    /// The keywords of JSON Schema that state it, those of its constraints aside.
    pub keywords: &'static [K],
    /// The keyword that it writes as it is. Such an attribute needs only its entry in the table.
    pub annotation: Option<K>,
    /// Its documentation, on one line.
    pub documentation: &'static str,
}

/// An attribute that an implementation needs.
#[derive(Debug, Clone, Copy)]
pub struct RequiredAttribute {
    /// Its name; of several names, exactly one is needed.
    pub one_of: &'static [&'static str],
    /// What is missing without it, for messages.
    pub missing: &'static str,
    /// How to add it.
    pub help: &'static str,
}

impl AttributeSpec {
    /// Whether it is allowed at an owner.
    pub fn is_allowed_at(&self, owner: AttributeOwner) -> bool {
        let any = matches!(owner, AttributeOwner::Implementation(_))
            && self.owners.contains(&AttributeOwner::AnyImplementation);
        any || self.owners.contains(&owner)
    }

    /// Whether it applies to a type.
    pub fn applies_to(&self, types: &Types, ty: &Type) -> bool {
        self.applies_to.includes(types, ty) || (self.name == "open" && matches!(ty, Type::Tuple(_)))
    }

    /// Whether it is a range of two bounds.
    pub fn is_range(&self) -> bool {
        matches!(self.value, ValueType::Range | ValueType::Size)
    }

    const fn on(mut self, types: AppliesTo) -> Self {
        self.applies_to = types;
        self
    }

    const fn keywords(mut self, keywords: &'static [K]) -> Self {
        self.keywords = keywords;
        self
    }

    const fn annotates(mut self, keyword: K) -> Self {
        self.annotation = Some(keyword);
        self
    }

    const fn constrains(mut self, constraints: &'static [ConstraintSpec]) -> Self {
        self.constraints = constraints;
        self
    }
}

/// The attribute of a name.
pub fn find(owner: AttributeOwner, name: &str) -> Option<&'static AttributeSpec> {
    ATTRIBUTES.iter().find(|spec| spec.name == name && spec.is_allowed_at(owner))
}

/// All attributes that are allowed at an owner.
pub fn of_owner(owner: AttributeOwner) -> impl Iterator<Item = &'static AttributeSpec> + Clone {
    ATTRIBUTES.iter().filter(move |spec| spec.is_allowed_at(owner))
}

/// The attribute that sets a kind of constraint, and the constraint's entry.
pub fn of_constraint(kind: Kind) -> Option<(&'static AttributeSpec, &'static ConstraintSpec)> {
    constraints().find(|(_, constraint)| constraint.kind == kind)
}

/// The constraint that a keyword states.
pub fn of_keyword(keyword: K) -> Option<&'static ConstraintSpec> {
    let mut constraints = constraints().map(|(_, constraint)| constraint);
    constraints.find(|constraint| constraint.keywords.contains(&keyword))
}

/// The attribute that writes a keyword of a field as it is: an annotation, or the keyword itself if
/// it begins with `x-`.
pub fn writes_as_is<'k>(keyword: &'k str, value: &Value) -> Option<&'k str> {
    if keyword.starts_with("x-") {
        return Some(keyword);
    }
    let known = Some(K::of(keyword));
    of_owner(AttributeOwner::Field)
        .find(|spec| spec.annotation.is_some() && spec.annotation == known)
        .filter(|spec| spec.value.accepts(value))
        .map(|spec| spec.name)
}

/// Whether an attribute states a keyword.
pub fn states_keyword(keyword: K) -> bool {
    ATTRIBUTES.iter().any(|spec| spec.keywords.contains(&keyword)) || of_keyword(keyword).is_some()
}

fn constraints() -> impl Iterator<Item = (&'static AttributeSpec, &'static ConstraintSpec)> {
    ATTRIBUTES.iter().flat_map(|spec| spec.constraints.iter().map(move |one| (spec, one)))
}

#[cfg(test)]
mod tests {
    use super::AttributeOwner::Field;
    use super::ConstraintConstructor as C;
    use super::*;

    /// An owner's attribute has one entry, and each entry has a documentation of one line.
    #[test]
    fn names_are_unique_at_each_owner() {
        for (at, spec) in ATTRIBUTES.iter().enumerate() {
            assert!(!spec.documentation.is_empty() && !spec.documentation.contains('\n'));
            for other in &ATTRIBUTES[at + 1..] {
                let both = other.owners.iter().any(|owner| spec.is_allowed_at(*owner));
                assert!(!(both && other.name == spec.name), "{}", spec.name);
            }
        }
    }

    /// Each constraint is set by an attribute whose constructor makes it.
    #[test]
    fn each_constraint_has_its_attribute() {
        for (spec, constraint) in constraints() {
            let made = match constraint.constructor {
                C::Values(make) => make(Vec::new()),
                C::Value(make) => make(Box::default()),
                C::Number(make) => make(Number::from(1)),
                C::Count(make) => make(1),
                C::Text(make) => make("x".into()),
                C::Flag(make) => make(),
                C::Type(make) => make(Box::default()),
            };
            assert_eq!(made.kind(), constraint.kind, "{}", spec.name);
        }
        let kinds: Vec<_> = constraints().map(|(_, constraint)| constraint.kind).collect();
        assert!(Kind::ALL.iter().all(|kind| kinds.contains(kind)));
    }

    #[test]
    fn attributes_apply_to_types() {
        let applies = |name: &str, ty: &Type| {
            find(Field, name).is_some_and(|spec| spec.applies_to(&Types::default(), ty))
        };
        assert!(applies("range", &Type::Integer) && !applies("range", &Type::Text));
        assert!(applies("length", &Type::Text));
        assert!(applies("elementType", &Type::List(None)));
    }
}
