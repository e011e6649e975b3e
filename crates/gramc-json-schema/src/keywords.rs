//! The keywords of JSON Schema, and sets of them.

use serde_json::Value;

/// The instances that a keyword constrains or describes. It ignores instances of other types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceType {
    /// Instances of any type.
    Any,
    /// Numbers.
    Number,
    /// Strings.
    String,
    /// Arrays.
    Array,
    /// Objects.
    Object,
}

/// What the value of a keyword holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordValue {
    /// A schema.
    Schema,
    /// A list of schemas.
    SchemaList,
    /// A schema, or, up to draft 2019-09, a list of schemas.
    SchemaOrList,
    /// Schemas by name.
    SchemaMap,
    /// By name, either a schema or a list of names.
    SchemaOrNamesMap,
    /// A list of property names.
    Names,
    /// Lists of property names by name.
    NamesMap,
    /// The name of a type, or a list of them.
    Types,
    /// A number.
    Number,
    /// A non-negative integer.
    Count,
    /// A boolean.
    Boolean,
    /// A string.
    Text,
    /// A URI reference.
    Reference,
    /// Any JSON value.
    Value,
    /// A list of JSON values.
    Values,
}

/// Declares each keyword once: its variant, its name, the instances that it applies to, and what
/// its value holds.
macro_rules! keywords {
    ($($variant:ident $name:literal: $applies_to:ident, $value:ident;)*) => {
        /// A keyword of JSON Schema 2020-12, of an older draft, or of `OpenAPI`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each variant is named after its keyword")]
        pub enum Keyword {
            $($variant,)*
            /// Any other key.
            Unknown,
        }

        impl Keyword {
            /// All keywords, in the order in which documentation lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The keyword of a name.
            pub fn of(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    _ => Self::Unknown,
                }
            }

            /// The name in a schema. Empty for an unknown keyword.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Unknown => "",
                }
            }

            /// The instances that it applies to.
            pub const fn applies_to(self) -> InstanceType {
                match self {
                    $(Self::$variant => InstanceType::$applies_to,)*
                    Self::Unknown => InstanceType::Any,
                }
            }

            /// What its value holds.
            pub const fn value(self) -> KeywordValue {
                match self {
                    $(Self::$variant => KeywordValue::$value,)*
                    Self::Unknown => KeywordValue::Value,
                }
            }
        }
    };
}

keywords! {
    Type "type": Any, Types;
    Nullable "nullable": Any, Boolean;
    Format "format": String, Text;
    Title "title": Any, Text;
    Description "description": Any, Text;
    Enum "enum": Any, Values;
    Const "const": Any, Value;
    Default "default": Any, Value;
    Example "example": Any, Value;
    Examples "examples": Any, Values;
    Properties "properties": Object, SchemaMap;
    Required "required": Object, Names;
    AdditionalProperties "additionalProperties": Object, Schema;
    PatternProperties "patternProperties": Object, SchemaMap;
    PropertyNames "propertyNames": Object, Schema;
    MinProperties "minProperties": Object, Count;
    MaxProperties "maxProperties": Object, Count;
    DependentRequired "dependentRequired": Object, NamesMap;
    DependentSchemas "dependentSchemas": Object, SchemaMap;
    Dependencies "dependencies": Object, SchemaOrNamesMap;
    UnevaluatedProperties "unevaluatedProperties": Object, Schema;
    Items "items": Array, SchemaOrList;
    PrefixItems "prefixItems": Array, SchemaList;
    AdditionalItems "additionalItems": Array, Schema;
    MinItems "minItems": Array, Count;
    MaxItems "maxItems": Array, Count;
    UniqueItems "uniqueItems": Array, Boolean;
    Contains "contains": Array, Schema;
    MinContains "minContains": Array, Count;
    MaxContains "maxContains": Array, Count;
    UnevaluatedItems "unevaluatedItems": Array, Schema;
    MinLength "minLength": String, Count;
    MaxLength "maxLength": String, Count;
    Pattern "pattern": String, Text;
    ContentEncoding "contentEncoding": String, Text;
    ContentMediaType "contentMediaType": String, Text;
    ContentSchema "contentSchema": String, Schema;
    Minimum "minimum": Number, Number;
    Maximum "maximum": Number, Number;
    ExclusiveMinimum "exclusiveMinimum": Number, Number;
    ExclusiveMaximum "exclusiveMaximum": Number, Number;
    MultipleOf "multipleOf": Number, Number;
    AnyOf "anyOf": Any, SchemaList;
    OneOf "oneOf": Any, SchemaList;
    AllOf "allOf": Any, SchemaList;
    Not "not": Any, Schema;
    If "if": Any, Schema;
    Then "then": Any, Schema;
    Else "else": Any, Schema;
    Ref "$ref": Any, Reference;
    DynamicRef "$dynamicRef": Any, Reference;
    RecursiveRef "$recursiveRef": Any, Reference;
    Defs "$defs": Any, SchemaMap;
    Definitions "definitions": Any, SchemaMap;
    Id "$id": Any, Reference;
    Anchor "$anchor": Any, Text;
    DynamicAnchor "$dynamicAnchor": Any, Text;
    Schema "$schema": Any, Reference;
    Vocabulary "$vocabulary": Any, Value;
    Comment "$comment": Any, Text;
    Deprecated "deprecated": Any, Boolean;
    ReadOnly "readOnly": Any, Boolean;
    WriteOnly "writeOnly": Any, Boolean;
}

impl Keyword {
    /// The schemas that a value of this keyword holds.
    pub fn subschemas(self, value: &Value) -> Vec<&Value> {
        use KeywordValue as V;
        match self.value() {
            V::Schema | V::SchemaOrList if value.is_object() || value.is_boolean() => vec![value],
            V::SchemaList | V::SchemaOrList => value.as_array().into_iter().flatten().collect(),
            V::SchemaMap | V::SchemaOrNamesMap => {
                let schemas = value.as_object().into_iter().flat_map(|map| map.values());
                schemas.filter(|value| !value.is_array()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The schemas that a value of this keyword holds, to be changed.
    pub fn subschemas_mut(self, value: &mut Value) -> Vec<&mut Value> {
        use KeywordValue as V;
        match self.value() {
            V::Schema | V::SchemaOrList if value.is_object() || value.is_boolean() => vec![value],
            V::SchemaList | V::SchemaOrList => value.as_array_mut().into_iter().flatten().collect(),
            V::SchemaMap | V::SchemaOrNamesMap => {
                let schemas = value.as_object_mut().into_iter().flat_map(|map| map.values_mut());
                schemas.filter(|value| !value.is_array()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it applies schemas to the instance itself, and not to a part of it.
    pub const fn applies_in_place(self) -> bool {
        matches!(
            self,
            Self::Ref
                | Self::DynamicRef
                | Self::RecursiveRef
                | Self::AllOf
                | Self::AnyOf
                | Self::OneOf
                | Self::Not
                | Self::If
                | Self::Then
                | Self::Else
                | Self::DependentSchemas
                | Self::Dependencies
        )
    }

    /// Whether it neither constrains instances nor tells a model anything that it could act on.
    pub const fn is_bookkeeping(self) -> bool {
        matches!(
            self,
            Self::Title
                | Self::Id
                | Self::Anchor
                | Self::DynamicAnchor
                | Self::Schema
                | Self::Vocabulary
                | Self::Comment
                | Self::Unknown
        )
    }

    /// Whether it only describes instances, and refuses none.
    pub const fn is_annotation(self) -> bool {
        self.is_bookkeeping()
            || matches!(
                self,
                Self::Description
                    | Self::Default
                    | Self::Example
                    | Self::Examples
                    | Self::Deprecated
                    | Self::ReadOnly
                    | Self::WriteOnly
                    | Self::ContentEncoding
                    | Self::ContentMediaType
                    | Self::ContentSchema
                    | Self::Defs
                    | Self::Definitions
            )
    }
}

/// A set of keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keywords(u64);

const _: () = assert!(Keyword::ALL.len() < 64, "a set has a bit for each keyword");

impl Keywords {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// Every keyword, including unknown ones.
    pub const ALL: Self = Self(u64::MAX);
    /// Keywords that constrain a value and that only a full validator can check: types and their
    /// own constraints cannot express them.
    pub const VALIDATOR_ONLY: Self = Self::of(&[
        Keyword::AllOf,
        Keyword::Not,
        Keyword::If,
        Keyword::Then,
        Keyword::Else,
        Keyword::DependentRequired,
        Keyword::DependentSchemas,
        Keyword::Dependencies,
        Keyword::Contains,
        Keyword::MinContains,
        Keyword::MaxContains,
        Keyword::UnevaluatedProperties,
        Keyword::UnevaluatedItems,
        Keyword::DynamicRef,
        Keyword::RecursiveRef,
    ]);

    /// The set of the given keywords.
    pub const fn of(keywords: &[Keyword]) -> Self {
        let mut set = Self::NONE;
        let mut at = 0;
        while at < keywords.len() {
            set = set.with(keywords[at]);
            at += 1;
        }
        set
    }

    /// The set without the given keywords.
    #[must_use]
    pub const fn without(self, keywords: &[Keyword]) -> Self {
        Self(self.0 & !Self::of(keywords).0)
    }

    /// The set with one more keyword.
    #[must_use]
    pub const fn with(self, keyword: Keyword) -> Self {
        Self(self.0 | 1 << keyword as u32)
    }

    /// The set without the keywords of another set.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The union of two sets.
    #[must_use]
    pub const fn and_those_of(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set holds a keyword.
    pub const fn has(self, keyword: Keyword) -> bool {
        self.0 >> keyword as u32 & 1 == 1
    }

    /// Whether the set holds any of the given keywords.
    pub const fn has_any(self, keywords: &[Keyword]) -> bool {
        self.0 & Self::of(keywords).0 != 0
    }
}

/// Whether a part of a schema is a resource of its own, which references within are relative to.
pub fn has_several_resources(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return false };
    let mut parts = map.iter().flat_map(|(key, value)| Keyword::of(key).subschemas(value));
    parts.any(|part| part.get("$id").is_some_and(Value::is_string) || has_several_resources(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_keyword_is_found_by_its_name() {
        for &keyword in Keyword::ALL {
            assert_eq!(Keyword::of(keyword.name()), keyword);
        }
        assert_eq!(Keyword::of("x-other"), Keyword::Unknown);
    }

    #[test]
    fn subschemas_are_found_in_each_kind_of_value() {
        let (one, two) = (json!({"type": "null"}), json!(true));
        let count = |keyword: Keyword, value: &Value| keyword.subschemas(value).len();
        assert_eq!(Keyword::Not.subschemas(&one), [&one]);
        assert_eq!(count(Keyword::AnyOf, &json!([one, two])), 2);
        assert_eq!(count(Keyword::Items, &json!([one, two])), 2);
        assert_eq!(count(Keyword::Items, &one), 1);
        assert_eq!(count(Keyword::Properties, &json!({"a": one, "b": two})), 2);
        assert_eq!(count(Keyword::Dependencies, &json!({"a": one, "b": ["a"]})), 1);
        assert_eq!(count(Keyword::Default, &one), 0);
    }

    #[test]
    fn resources_are_schemas_and_not_values() {
        let part = json!({"$id": "https://example.com/part"});
        assert!(!has_several_resources(&part));
        assert!(!has_several_resources(&json!({"enum": [part], "properties": {"$id": true}})));
        assert!(has_several_resources(&json!({"items": {"not": part}})));
    }
}
