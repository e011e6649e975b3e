//! The keywords of JSON Schema, and sets of them.

use serde_json::{Map, Value};

use crate::path::Path;
use crate::type_set::TypeSet;

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

/// Declares each keyword once: its variant, the constant of its name, its name, the types that it
/// applies to, and the kind of its value.
macro_rules! keywords {
    ($($variant:ident $constant:ident $name:literal: $applies_to:ident, $value:ident;)*) => {
        /// The names of the keywords, for tables, patterns of `match`, and look-ups in schemas.
        #[allow(missing_docs, reason = "each constant is named after its keyword")]
        pub mod name {
            $(pub const $constant: &str = $name;)*
        }

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

            /// The types that it constrains or describes. It ignores values of other types.
            pub const fn applies_to(self) -> TypeSet {
                match self {
                    $(Self::$variant => TypeSet::$applies_to,)*
                    Self::Unknown => TypeSet::ALL,
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
    Type TYPE "type": ALL, Types;
    Nullable NULLABLE "nullable": ALL, Boolean;
    Format FORMAT "format": STRING, Text;
    Title TITLE "title": ALL, Text;
    Description DESCRIPTION "description": ALL, Text;
    Enum ENUM "enum": ALL, Values;
    Const CONST "const": ALL, Value;
    Default DEFAULT "default": ALL, Value;
    Example EXAMPLE "example": ALL, Value;
    Examples EXAMPLES "examples": ALL, Values;
    Properties PROPERTIES "properties": OBJECT, SchemaMap;
    Required REQUIRED "required": OBJECT, Names;
    AdditionalProperties ADDITIONAL_PROPERTIES "additionalProperties": OBJECT, Schema;
    PatternProperties PATTERN_PROPERTIES "patternProperties": OBJECT, SchemaMap;
    PropertyNames PROPERTY_NAMES "propertyNames": OBJECT, Schema;
    MinProperties MIN_PROPERTIES "minProperties": OBJECT, Count;
    MaxProperties MAX_PROPERTIES "maxProperties": OBJECT, Count;
    DependentRequired DEPENDENT_REQUIRED "dependentRequired": OBJECT, NamesMap;
    DependentSchemas DEPENDENT_SCHEMAS "dependentSchemas": OBJECT, SchemaMap;
    Dependencies DEPENDENCIES "dependencies": OBJECT, SchemaOrNamesMap;
    UnevaluatedProperties UNEVALUATED_PROPERTIES "unevaluatedProperties": OBJECT, Schema;
    Items ITEMS "items": ARRAY, SchemaOrList;
    PrefixItems PREFIX_ITEMS "prefixItems": ARRAY, SchemaList;
    AdditionalItems ADDITIONAL_ITEMS "additionalItems": ARRAY, Schema;
    MinItems MIN_ITEMS "minItems": ARRAY, Count;
    MaxItems MAX_ITEMS "maxItems": ARRAY, Count;
    UniqueItems UNIQUE_ITEMS "uniqueItems": ARRAY, Boolean;
    Contains CONTAINS "contains": ARRAY, Schema;
    MinContains MIN_CONTAINS "minContains": ARRAY, Count;
    MaxContains MAX_CONTAINS "maxContains": ARRAY, Count;
    UnevaluatedItems UNEVALUATED_ITEMS "unevaluatedItems": ARRAY, Schema;
    MinLength MIN_LENGTH "minLength": STRING, Count;
    MaxLength MAX_LENGTH "maxLength": STRING, Count;
    Pattern PATTERN "pattern": STRING, Text;
    ContentEncoding CONTENT_ENCODING "contentEncoding": STRING, Text;
    ContentMediaType CONTENT_MEDIA_TYPE "contentMediaType": STRING, Text;
    ContentSchema CONTENT_SCHEMA "contentSchema": STRING, Schema;
    Minimum MINIMUM "minimum": NUMBER, Number;
    Maximum MAXIMUM "maximum": NUMBER, Number;
    ExclusiveMinimum EXCLUSIVE_MINIMUM "exclusiveMinimum": NUMBER, Number;
    ExclusiveMaximum EXCLUSIVE_MAXIMUM "exclusiveMaximum": NUMBER, Number;
    MultipleOf MULTIPLE_OF "multipleOf": NUMBER, Number;
    AnyOf ANY_OF "anyOf": ALL, SchemaList;
    OneOf ONE_OF "oneOf": ALL, SchemaList;
    AllOf ALL_OF "allOf": ALL, SchemaList;
    Not NOT "not": ALL, Schema;
    If IF "if": ALL, Schema;
    Then THEN "then": ALL, Schema;
    Else ELSE "else": ALL, Schema;
    Ref REF "$ref": ALL, Reference;
    DynamicRef DYNAMIC_REF "$dynamicRef": ALL, Reference;
    RecursiveRef RECURSIVE_REF "$recursiveRef": ALL, Reference;
    Defs DEFS "$defs": ALL, SchemaMap;
    Definitions DEFINITIONS "definitions": ALL, SchemaMap;
    Id ID "$id": ALL, Reference;
    Anchor ANCHOR "$anchor": ALL, Text;
    DynamicAnchor DYNAMIC_ANCHOR "$dynamicAnchor": ALL, Text;
    Schema SCHEMA "$schema": ALL, Reference;
    Vocabulary VOCABULARY "$vocabulary": ALL, Value;
    Comment COMMENT "$comment": ALL, Text;
    Deprecated DEPRECATED "deprecated": ALL, Boolean;
    ReadOnly READ_ONLY "readOnly": ALL, Boolean;
    WriteOnly WRITE_ONLY "writeOnly": ALL, Boolean;
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

    /// Calls `call` with each schema that a value of this keyword holds, and with its path.
    pub fn each_subschema_mut(
        self,
        value: &mut Value,
        path: &Path<'_>,
        call: &mut dyn FnMut(&mut Value, &Path<'_>),
    ) {
        use KeywordValue as V;
        match (self.value(), value) {
            (V::Schema | V::SchemaOrList, value @ (Value::Object(_) | Value::Bool(_))) => {
                call(value, path);
            }
            (V::SchemaList | V::SchemaOrList, Value::Array(items)) => {
                for (at, item) in items.iter_mut().enumerate() {
                    call(item, &path.index(at));
                }
            }
            (V::SchemaMap | V::SchemaOrNamesMap, Value::Object(map)) => {
                for (key, schema) in map.iter_mut().filter(|(_, schema)| !schema.is_array()) {
                    call(schema, &path.key(key));
                }
            }
            _ => {}
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

    /// The keywords that apply to values of these types alone.
    pub const fn applying_to(types: TypeSet) -> Self {
        let mut set = Self::NONE;
        let mut at = 0;
        while at < Keyword::ALL.len() {
            let keyword = Keyword::ALL[at];
            if types.has(keyword.applies_to()) {
                set = set.with(keyword);
            }
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

    /// The intersection of two sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
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

/// Whether a predicate is true for a schema or a schema within it.
pub fn any_schema(schema: &Value, is_match: &mut dyn FnMut(&Map<String, Value>) -> bool) -> bool {
    let Value::Object(map) = schema else { return false };
    let mut parts = map.iter().flat_map(|(key, value)| Keyword::of(key).subschemas(value));
    is_match(map) || parts.any(|part| any_schema(part, is_match))
}

/// Whether a part of a schema is a resource of its own, which references within are relative to.
pub fn has_several_resources(schema: &Value) -> bool {
    let mut is_root = true;
    any_schema(schema, &mut |map| {
        !std::mem::take(&mut is_root) && map.get(name::ID).is_some_and(Value::is_string)
    })
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
