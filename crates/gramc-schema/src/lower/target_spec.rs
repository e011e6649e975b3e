//! The rules of a target as plain data. Each file of `targets` contains one table.

use super::patterns::PatternRule;
use super::target::Target;
use gramc_json_schema::keywords::{Keyword, Keywords};

/// What a target accepts in the definition of a tool.
#[derive(Debug)]
pub struct TargetSpec {
    /// The target.
    pub target: Target,
    /// A noun phrase that introduces the target on its page, without a final period.
    pub about: &'static str,
    /// The format of a tool and of the tool list.
    pub shape: ToolShape,
    /// Allowed tool names. `None` if any name is allowed.
    pub names: Option<NameRule>,
    /// Whether a tool needs a non-empty description.
    pub needs_description: bool,
    /// Further keys of a tool that are written unchanged.
    pub extras: &'static [&'static str],
    /// The schema of all parameters.
    pub root: RootRule,
    /// Allowed property keys. `None` if any key is allowed.
    pub keys: Option<KeyRule>,
    /// The keywords that are supported below the root.
    pub keep: Keywords,
    /// The supported values of `format`. `None` if all are supported.
    pub formats: Option<&'static [FormatRule]>,
    /// The regular expressions that `pattern` may contain.
    pub patterns: PatternRule,
    /// How bounds of numbers and sizes are written.
    pub bounds: BoundRule,
    /// How objects are written.
    pub objects: ObjectRule,
    /// How a schema declares its types.
    pub types: TypeRule,
    /// Whether every array needs `items`.
    pub arrays_need_items: bool,
    /// Whether `enum` may only contain strings.
    pub enum_of_text_only: bool,
    /// The sibling keywords that `anyOf` may have.
    pub any_of: AnyOfRule,
    /// How schemas may refer to other schemas.
    pub refs: RefRule,
    /// The limits of a request.
    pub limits: Limits,
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
    /// Whether there is a place for a description outside of the schema.
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
pub struct NameRule {
    /// The allowed first characters of a name.
    pub first: First,
    /// The allowed characters besides letters and digits.
    pub signs: &'static str,
    /// The maximum number of characters.
    pub longest: usize,
}

/// The allowed first characters of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// Any allowed character.
    Any,
    /// A letter.
    Letter,
    /// A letter or `_`.
    LetterOrUnderscore,
}

impl NameRule {
    /// Whether the target accepts a name.
    pub fn allows(&self, name: &str) -> bool {
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
pub struct RootRule {
    /// Whether it needs `type: object`.
    pub object: bool,
    /// Keywords that are supported only below the root.
    pub refused: Keywords,
    /// Keywords that are supported only in the root.
    pub allowed: Keywords,
}

/// The allowed property keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRule {
    /// The rule for a key.
    pub rule: NameRule,
    /// Whether the rule applies only to the root's properties.
    pub root_only: bool,
}

/// Supported values of `format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatRule {
    /// The type that they are supported for.
    pub kind: &'static str,
    /// The values.
    pub formats: &'static [&'static str],
}

/// How bounds of numbers and sizes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundRule {
    /// The maximum of `minItems`. `None` if it is not limited.
    pub min_items: Option<u64>,
    /// The maximum of `maxItems`. `None` if it is not limited.
    pub max_items: Option<u64>,
    /// The maximum of `minLength`. `None` if it is not limited.
    pub min_length: Option<u64>,
    /// Whether bounds of integers are 64-bit integers, and no range is empty.
    pub whole: bool,
    /// Whether a length may be next to a `pattern` or `format`.
    pub length_with_pattern: bool,
}

/// How objects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a table of independent rules")]
pub struct ObjectRule {
    /// Whether every object needs `additionalProperties: false`.
    pub closed: bool,
    /// Whether `additionalProperties: false` is not supported, but other values are.
    pub never_closed: bool,
    /// Whether every property must be required. Optional properties then accept null instead.
    pub all_required: bool,
    /// Whether an object without properties below the root, such as a map, becomes a string of JSON
    /// text.
    pub empty_as_text: bool,
    /// Whether `required` may only contain declared properties.
    pub required_exist: bool,
}

/// How a schema declares its types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeRule {
    /// Whether every schema below the root needs a type. A schema for any value then becomes a
    /// string of JSON text.
    pub always: bool,
    /// How several types are declared.
    pub several: SeveralTypes,
}

/// How several types are declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeveralTypes {
    /// As a list of names.
    List,
    /// As `anyOf` with one member for each type, including null.
    AnyOf,
    /// As `anyOf` with one member for each type, but null as `nullable`.
    Nullable,
}

/// The sibling keywords that `anyOf` may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyOfRule {
    /// All keywords.
    Anything,
    /// Only annotations, such as a description.
    Annotations,
    /// None.
    Nothing,
}

/// How schemas may refer to other schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefRule {
    /// Any reference.
    Any,
    /// Only references to the root and to its `$defs`.
    Defs {
        /// Whether `$ref` may have sibling keywords.
        siblings: bool,
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
pub struct Limits {
    /// Tools in a request.
    pub tools: Option<u64>,
    /// Optional properties, summed over all tools of a request.
    pub optional_properties: Option<u64>,
    /// Properties with several types, summed over all tools of a request.
    pub unions: Option<u64>,
    /// Properties of a tool.
    pub properties: Option<u64>,
    /// Enum values of a tool.
    pub enum_values: Option<u64>,
    /// Characters in a tool's property and definition names, and in its `enum` and `const` values.
    pub characters: Option<u64>,
    /// Levels of nested objects.
    pub depth: Option<u64>,
    /// Characters of a description.
    pub description: Option<u64>,
}

impl Limits {
    /// No known limits.
    pub const NONE: Self = Self {
        tools: None,
        optional_properties: None,
        unions: None,
        properties: None,
        enum_values: None,
        characters: None,
        depth: None,
        description: None,
    };
}

impl TargetSpec {
    /// Rules that change nothing. Each target overrides the fields that differ.
    pub(super) const OPEN: Self = Self {
        target: Target::JsonSchema,
        about: "",
        shape: ToolShape::Schema,
        names: None,
        needs_description: false,
        extras: &[],
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
            length_with_pattern: true,
        },
        objects: ObjectRule {
            closed: false,
            never_closed: false,
            all_required: false,
            empty_as_text: false,
            required_exist: false,
        },
        types: TypeRule { always: false, several: SeveralTypes::List },
        arrays_need_items: false,
        enum_of_text_only: false,
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
    pub fn keeps(&self, keyword: Keyword) -> bool {
        self.keep.has(keyword)
    }

    /// Whether a keyword is supported in the root.
    pub fn root_keeps(&self, keyword: Keyword) -> bool {
        self.root_keep().has(keyword)
    }

    /// The keywords that are supported in the root.
    pub(super) const fn root_keep(&self) -> Keywords {
        self.keep.and_those_of(self.root.allowed).minus(self.root.refused)
    }
}
