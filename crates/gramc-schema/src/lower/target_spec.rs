//! The rules of a target as plain data. Each file of `targets` contains one table.

use super::patterns::PatternRule;
use gramc_json_schema::keywords::{Keyword, Keywords, name as k};

/// What a target accepts in the definition of a tool.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "a table of independent rules")]
pub struct TargetSpec {
    /// A noun phrase that introduces the target on its page, without a final period.
    pub about: &'static str,
    /// The format of a tool and of the tool list.
    pub shape: ToolShape,
    /// Allowed tool names. `None` if any name is allowed.
    pub(crate) names: Option<NameRule>,
    /// Whether a tool needs a non-empty description.
    pub(crate) needs_description: bool,
    /// Further fields of a tool, with the attributes that they are written from.
    pub(crate) fields: &'static [ToolField],
    /// The schema of the result, for targets that take one.
    pub(crate) output: Option<OutputRule>,
    /// The schema of all parameters.
    pub(crate) root: RootRule,
    /// Allowed property keys. `None` if any key is allowed.
    pub(crate) keys: Option<KeyRule>,
    /// The keywords that are supported below the root.
    pub(crate) keep: Keywords,
    /// The supported values of `format`. `None` if all are supported.
    pub(crate) formats: Option<&'static [FormatRule]>,
    pub(crate) patterns: PatternRule,
    pub(crate) bounds: BoundRule,
    pub(crate) objects: ObjectRule,
    pub(crate) types: TypeRule,
    pub(crate) arrays_need_items: bool,
    /// Whether `enum` may only contain strings, and none that is empty.
    pub(crate) enum_of_text_only: bool,
    /// Whether keywords next to `enum` and `const` are ignored.
    pub(crate) enum_alone: bool,
    pub(crate) any_of: AnyOfRule,
    /// How schemas may refer to other schemas.
    pub refs: RefRule,
    pub(crate) limits: Limits,
}

/// A field of a tool whose value is that of an attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolField {
    pub(crate) attribute: &'static str,
    pub(crate) key: &'static str,
}

impl ToolField {
    /// A field with the name of its attribute.
    pub(crate) const fn same(key: &'static str) -> Self {
        Self { attribute: key, key }
    }
}

/// How a target takes the schema of a tool's result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputRule {
    /// The field of the tool.
    pub(crate) key: &'static str,
    /// Whether only schemas of objects are taken.
    pub(crate) only_objects: bool,
    /// Why other schemas are left out. `None` if that is no loss, because models get the value anyway.
    pub(crate) reason: Option<&'static str>,
    /// Whether the rules of the parameters apply.
    pub(crate) is_lowered: bool,
}

/// The format of a tool and of the tool list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolShape {
    /// Only the schema of the parameters.
    Schema,
    /// `{"type": "function", "function": {"name", "description", "parameters", "strict"}}`.
    Function {
        /// The value of `strict`.
        strict: bool,
    },
    /// `{"name", "description", "parameters"}`.
    BareFunction,
    /// `{"type": "function", "name", "description", "parameters", "strict"}`.
    FlatFunction {
        /// The value of `strict`.
        strict: bool,
    },
    /// `{"name", "description", "input_schema"}`, with `"strict": true` in strict mode.
    InputSchema {
        /// Whether `"strict": true` is written.
        strict: bool,
    },
    /// `{"name", "description", …}`, in a list `[{"functionDeclarations": […]}]`.
    Declaration {
        /// The key of the parameters' schema.
        parameters: &'static str,
        /// Whether a tool without parameters omits that key.
        omit_empty: bool,
    },
    /// `{"toolSpec": {"name", "description", "inputSchema": {"json": …}}}`.
    ToolSpec,
    /// `{"type": "json_schema", "json_schema": {"name", "description", "schema", "strict"}}`.
    ResponseFormat,
    /// `{"type": "json_schema", "name", "description", "schema", "strict"}`.
    TextFormat,
    /// `{"responseMimeType", "responseJsonSchema"}`.
    ResponseSchema,
    /// `{"type": "json_schema", "schema"}`.
    OutputFormat,
    /// `{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}`, in a list
    /// `{"tools": […]}`.
    Mcp,
}

impl ToolShape {
    /// The keys on the way to the schema. If there are several, the first one is that of the object
    /// with the name and the description.
    pub(crate) fn schema_path(self) -> Vec<&'static str> {
        match self {
            Self::Schema => vec![],
            Self::Function { .. } => vec!["function", "parameters"],
            Self::BareFunction | Self::FlatFunction { .. } => vec!["parameters"],
            Self::InputSchema { .. } => vec!["input_schema"],
            Self::Declaration { parameters, .. } => vec![parameters],
            Self::ToolSpec => vec!["toolSpec", "inputSchema", "json"],
            Self::ResponseFormat => vec!["json_schema", "schema"],
            Self::TextFormat | Self::OutputFormat => vec!["schema"],
            Self::ResponseSchema => vec!["responseJsonSchema"],
            Self::Mcp => vec!["inputSchema"],
        }
    }

    /// The first key and its value.
    pub(super) const fn kind(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Function { .. } | Self::FlatFunction { .. } => Some((k::TYPE, "function")),
            Self::ResponseFormat | Self::TextFormat | Self::OutputFormat => {
                Some((k::TYPE, "json_schema"))
            }
            Self::ResponseSchema => Some(("responseMimeType", "application/json")),
            _ => None,
        }
    }

    /// The value of `strict`.
    pub(super) const fn strict(self) -> Option<bool> {
        match self {
            Self::Function { strict } | Self::FlatFunction { strict } => Some(strict),
            Self::InputSchema { strict: true } | Self::ResponseFormat | Self::TextFormat => {
                Some(true)
            }
            _ => None,
        }
    }

    /// Whether there is a place for a name and a description outside of the schema.
    pub(super) const fn has_description(self) -> bool {
        !matches!(self, Self::ResponseSchema | Self::OutputFormat)
    }

    /// Whether it is a type for a model's answer, and not a tool.
    pub const fn is_output(self) -> bool {
        matches!(
            self,
            Self::ResponseFormat | Self::TextFormat | Self::ResponseSchema | Self::OutputFormat
        )
    }
}

/// The characters and the length of a name. ASCII letters and digits are always allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameRule {
    pub(crate) first: First,
    /// The allowed characters besides letters and digits.
    pub(crate) signs: &'static str,
    pub(crate) longest: usize,
}

/// The allowed first characters of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    Any,
    Letter,
    LetterOrUnderscore,
}

impl NameRule {
    /// Whether the target accepts a name.
    pub(crate) fn allows(&self, name: &str) -> bool {
        let first = name.as_bytes().first();
        first.is_some_and(|&first| self.allows_first(first))
            && name.len() <= self.longest
            && name.bytes().all(|byte| self.allows_byte(byte))
    }

    /// Whether an allowed byte may be the first one.
    pub(super) fn allows_first(&self, byte: u8) -> bool {
        match self.first {
            First::Any => true,
            First::Letter => byte.is_ascii_alphabetic(),
            First::LetterOrUnderscore => byte.is_ascii_alphabetic() || byte == b'_',
        }
    }

    /// Whether a byte is allowed.
    pub(super) fn allows_byte(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || self.signs.as_bytes().contains(&byte)
    }
}

/// The schema of all parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RootRule {
    /// Whether it needs `type: object`.
    pub(crate) object: bool,
    /// Keywords that are supported only below the root.
    pub(crate) refused: Keywords,
    /// Keywords that are supported only in the root.
    pub(crate) allowed: Keywords,
}

/// The allowed property keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyRule {
    pub(crate) rule: NameRule,
    /// Whether the rule applies only to the root's properties.
    pub(crate) root_only: bool,
}

/// Supported values of `format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FormatRule {
    pub(crate) kind: &'static str,
    /// The values, separated by spaces.
    pub(crate) formats: &'static str,
}

/// How bounds of numbers and sizes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BoundRule {
    /// The maximum of `minItems`. `None` if it is not limited.
    pub(crate) min_items: Option<u64>,
    /// The maximum of `maxItems`. `None` if it is not limited.
    pub(crate) max_items: Option<u64>,
    /// The maximum of `minLength`. `None` if it is not limited.
    pub(crate) min_length: Option<u64>,
    /// Whether bounds of integers are 64-bit integers, and no range is empty.
    pub(crate) whole: bool,
    /// Whether bounds of numbers that are not integers are ignored.
    pub(crate) integers_only: bool,
    /// Whether a length may be next to a `pattern` or `format`.
    pub(crate) length_with_pattern: bool,
}

/// How objects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a table of independent rules")]
pub(crate) struct ObjectRule {
    /// Whether every object needs `additionalProperties: false`.
    pub(crate) closed: bool,
    /// Whether `additionalProperties: false` is not supported, but other values are.
    pub(crate) never_closed: bool,
    /// Whether every property must be required. Optional properties then accept null instead.
    pub(crate) all_required: bool,
    /// Whether an object without properties below the root, such as a map, becomes a string of JSON
    /// text.
    pub(crate) empty_as_text: bool,
    /// Whether `required` may only contain declared properties.
    pub(crate) required_exist: bool,
}

/// How a schema declares its types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeRule {
    /// Whether every schema below the root needs a type. A schema for any value then becomes a
    /// string of JSON text.
    pub(crate) always: bool,
    /// Whether constraints are ignored where no type is declared.
    pub(crate) with_constraints: bool,
    /// How several types are declared.
    pub(crate) several: SeveralTypes,
}

/// How several types are declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeveralTypes {
    List,
    /// As `anyOf` with one member for each type, including null.
    AnyOf,
    /// As `anyOf` with one member for each type, but null as `nullable`.
    Nullable,
}

/// The sibling keywords that `anyOf` may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnyOfRule {
    Anything,
    /// Only annotations, such as a description.
    Annotations,
    Nothing,
}

/// How schemas may refer to other schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefRule {
    /// Any reference.
    Any,
    /// Only references to the root and to its `$defs`, without sibling keywords.
    Defs {
        /// Whether a reference to the root is supported. If not, the root is also a definition.
        root: bool,
        /// Which schemas may be recursive.
        recursion: Recursion,
    },
    /// No references: their targets are inlined.
    Inline,
}

/// Which schemas may be recursive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recursion {
    /// All schemas.
    Any,
    /// Schemas that are recursive through optional properties.
    Optional,
    /// No schemas.
    Never,
}

/// The limits of a request. `None` if no limit is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) tools: Option<u64>,
    /// Optional properties, summed over all tools of a request.
    pub(crate) optional_properties: Option<u64>,
    /// Properties with several types, summed over all tools of a request.
    pub(crate) unions: Option<u64>,
    /// Properties of a tool.
    pub(crate) properties: Option<u64>,
    /// Enum values of a tool.
    pub(crate) enum_values: Option<u64>,
    /// Characters in the values of one enum with more than 250 of them.
    pub(crate) large_enum_characters: Option<u64>,
    /// Characters in a tool's property and definition names, and in its `enum` and `const` values.
    pub(crate) characters: Option<u64>,
    pub(crate) depth: Option<u64>,
    pub(crate) description: Option<u64>,
}

impl Limits {
    pub(crate) const NONE: Self = Self {
        tools: None,
        optional_properties: None,
        unions: None,
        properties: None,
        enum_values: None,
        large_enum_characters: None,
        characters: None,
        depth: None,
        description: None,
    };
}

/// The keywords that every target supports.
pub(super) const CORE: Keywords = Keywords::of(&[
    Keyword::Type,
    Keyword::Description,
    Keyword::Enum,
    Keyword::Properties,
    Keyword::Required,
    Keyword::Items,
    Keyword::AnyOf,
]);

impl TargetSpec {
    /// Rules that change nothing. Each target overrides the fields that differ.
    pub(super) const OPEN: Self = Self {
        about: "",
        shape: ToolShape::Schema,
        names: None,
        needs_description: false,
        fields: &[],
        output: None,
        root: RootRule { object: true, refused: Keywords::NONE, allowed: Keywords::NONE },
        keys: None,
        keep: Keywords::ALL,
        formats: None,
        patterns: PatternRule::Any,
        bounds: BoundRule {
            min_items: None,
            max_items: None,
            min_length: None,
            whole: false,
            integers_only: false,
            length_with_pattern: true,
        },
        objects: ObjectRule {
            closed: false,
            never_closed: false,
            all_required: false,
            empty_as_text: false,
            required_exist: false,
        },
        types: TypeRule { always: false, with_constraints: false, several: SeveralTypes::List },
        arrays_need_items: false,
        enum_of_text_only: false,
        enum_alone: false,
        any_of: AnyOfRule::Anything,
        refs: RefRule::Any,
        limits: Limits::NONE,
    };

    /// Whether all keywords are supported below the root, with at most a few exceptions. A schema
    /// that breaks no rule is then left unchanged.
    pub(super) fn is_open(&self) -> bool {
        self.keep.has(Keyword::Unknown)
    }

    /// Whether null is declared with `nullable`.
    pub(super) fn has_nullable(&self) -> bool {
        self.types.several == SeveralTypes::Nullable
    }

    /// Whether a keyword is supported below the root.
    pub(crate) fn keeps(&self, keyword: Keyword) -> bool {
        self.keep.has(keyword)
    }

    /// Whether a keyword is supported in the root.
    pub(crate) fn root_keeps(&self, keyword: Keyword) -> bool {
        self.root_keep().has(keyword)
    }

    /// The keywords that are supported in the root.
    pub(super) const fn root_keep(&self) -> Keywords {
        self.keep.and_those_of(self.root.allowed).minus(self.root.refused)
    }
}
