//! The keywords of JSON Schema, and sets of them.

/// Declares the keywords once: the variant, and how it is written.
macro_rules! keywords {
    ($($variant:ident $name:literal,)*) => {
        /// A keyword of JSON Schema 2020-12, of an older draft, or of `OpenAPI`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each variant is named after its keyword")]
        pub enum Keyword {
            $($variant,)*
            /// Any other key.
            Unknown,
        }

        impl Keyword {
            /// All keywords, in the order in which pages list them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The keyword that is written so.
            pub fn of(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    _ => Self::Unknown,
                }
            }

            /// How it is written.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Unknown => "",
                }
            }
        }
    };
}

keywords! {
    Type "type",
    Nullable "nullable",
    Format "format",
    Title "title",
    Description "description",
    Enum "enum",
    Const "const",
    Default "default",
    Example "example",
    Examples "examples",
    Properties "properties",
    Required "required",
    AdditionalProperties "additionalProperties",
    PatternProperties "patternProperties",
    PropertyNames "propertyNames",
    MinProperties "minProperties",
    MaxProperties "maxProperties",
    DependentRequired "dependentRequired",
    DependentSchemas "dependentSchemas",
    Dependencies "dependencies",
    UnevaluatedProperties "unevaluatedProperties",
    Items "items",
    PrefixItems "prefixItems",
    AdditionalItems "additionalItems",
    MinItems "minItems",
    MaxItems "maxItems",
    UniqueItems "uniqueItems",
    Contains "contains",
    MinContains "minContains",
    MaxContains "maxContains",
    UnevaluatedItems "unevaluatedItems",
    MinLength "minLength",
    MaxLength "maxLength",
    Pattern "pattern",
    ContentEncoding "contentEncoding",
    ContentMediaType "contentMediaType",
    ContentSchema "contentSchema",
    Minimum "minimum",
    Maximum "maximum",
    ExclusiveMinimum "exclusiveMinimum",
    ExclusiveMaximum "exclusiveMaximum",
    MultipleOf "multipleOf",
    AnyOf "anyOf",
    OneOf "oneOf",
    AllOf "allOf",
    Not "not",
    If "if",
    Then "then",
    Else "else",
    Ref "$ref",
    DynamicRef "$dynamicRef",
    RecursiveRef "$recursiveRef",
    Defs "$defs",
    Definitions "definitions",
    Id "$id",
    Anchor "$anchor",
    DynamicAnchor "$dynamicAnchor",
    Schema "$schema",
    Vocabulary "$vocabulary",
    Comment "$comment",
    Deprecated "deprecated",
    ReadOnly "readOnly",
    WriteOnly "writeOnly",
}

impl Keyword {
    /// Whether it says nothing about which values are allowed, nor anything that a model could
    /// act on.
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

    /// Whether it only speaks of a value, and refuses none.
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
    /// No keyword.
    pub const NONE: Self = Self(0);
    /// Every key, the unknown ones included.
    pub const ALL: Self = Self(u64::MAX);

    /// The set of these.
    pub const fn of(keywords: &[Keyword]) -> Self {
        let mut set = Self::NONE;
        let mut at = 0;
        while at < keywords.len() {
            set = set.with(keywords[at]);
            at += 1;
        }
        set
    }

    /// The set without these.
    #[must_use]
    pub const fn without(self, keywords: &[Keyword]) -> Self {
        Self(self.0 & !Self::of(keywords).0)
    }

    /// The set and one more.
    #[must_use]
    pub const fn with(self, keyword: Keyword) -> Self {
        Self(self.0 | 1 << keyword as u32)
    }

    /// The set without those of another.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The keywords of both sets.
    #[must_use]
    pub const fn and_those_of(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether there is none in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the keyword is one of them.
    pub const fn has(self, keyword: Keyword) -> bool {
        self.0 >> keyword as u32 & 1 == 1
    }

    /// Whether any of these is one of them.
    pub const fn has_any(self, keywords: &[Keyword]) -> bool {
        self.0 & Self::of(keywords).0 != 0
    }
}
