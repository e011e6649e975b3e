//! What a target accepts, as plain data. One table of it stands in each file of `targets`.

use super::target::Target;
use json_schema_kit::keywords::{Keyword, Keywords};

/// What a target accepts in the definition of a tool.
#[derive(Debug)]
pub struct TargetSpec {
    /// The target.
    pub target: Target,
    /// What the target is, as a page introduces it: half a sentence, without a full stop.
    pub about: &'static str,
    /// How one tool, and the list of them, is wrapped.
    pub shape: ToolShape,
    /// Names of tools. None: any.
    pub names: Option<NameRule>,
    /// Whether a tool needs a description of at least one character.
    pub needs_description: bool,
    /// What else of a tool the target takes, by key, as it is written.
    pub extras: &'static [&'static str],
    /// The schema of all parameters.
    pub root: RootRule,
    /// The keys of properties. None: any.
    pub keys: Option<KeyRule>,
    /// The keywords that a schema below the root may hold.
    pub keep: Keywords,
    /// The values of `format` that may stay. None: any.
    pub formats: Option<&'static [FormatRule]>,
    /// The most `minItems` may say. None: anything.
    pub largest_min_items: Option<u64>,
    /// How objects are written.
    pub objects: ObjectRule,
    /// How a schema says which types of values it takes.
    pub types: TypeRule,
    /// Whether each array has to say what its items are.
    pub arrays_need_items: bool,
    /// Whether `enum` may list text only.
    pub enum_of_text_only: bool,
    /// What may stand beside `anyOf` in its schema.
    pub any_of: AnyOfRule,
    /// How a schema refers to another.
    pub refs: RefRule,
    /// The numbers beyond which the target refuses a request.
    pub limits: Limits,
}

/// How one tool, and the list of them, is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolShape {
    /// The schema of the parameters, and nothing else.
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
    /// `{"name", "description", …}`, all together in `[{"functionDeclarations": […]}]`.
    Declaration {
        /// The key of the parameters' schema.
        parameters: &'static str,
        /// Whether a tool without parameters leaves that key out.
        omit_empty: bool,
    },
    /// `{"toolSpec": {"name", "description", "inputSchema": {"json": …}}}`.
    ToolSpec,
    /// `{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}`, all
    /// together in `{"tools": […]}`.
    Mcp,
}

/// Which characters a name may have, beside the letters and digits of ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameRule {
    /// What a name may begin with.
    pub first: First,
    /// The signs that it may have, beside letters and digits.
    pub signs: &'static str,
    /// The most characters that it may have.
    pub longest: usize,
}

/// What a name may begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// Any of the characters that it may have.
    Any,
    /// A letter.
    Letter,
    /// A letter or `_`.
    LetterOrUnderscore,
}

impl NameRule {
    /// Whether the target takes this name.
    pub fn allows(&self, name: &str) -> bool {
        let first = name.as_bytes().first();
        first.is_some_and(|&first| self.allows_first(first))
            && name.len() <= self.longest
            && name.bytes().all(|byte| self.allows_byte(byte))
    }

    /// Whether a name may begin with this byte, if it may have it at all.
    pub(super) fn allows_first(&self, byte: u8) -> bool {
        match self.first {
            First::Any => true,
            First::Letter => byte.is_ascii_alphabetic(),
            First::LetterOrUnderscore => byte.is_ascii_alphabetic() || byte == b'_',
        }
    }

    /// Whether a name may have this byte.
    pub(super) fn allows_byte(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || self.signs.as_bytes().contains(&byte)
    }
}

/// The schema of all parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootRule {
    /// Whether it has to say `type: object`.
    pub object: bool,
    /// The keywords that it may not hold, though a schema below it may.
    pub refused: Keywords,
    /// The keywords that it may hold, though a schema below it may not.
    pub allowed: Keywords,
}

/// The keys of properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRule {
    /// Which ones the target takes.
    pub rule: NameRule,
    /// Whether only those of the root are looked at.
    pub root_only: bool,
}

/// Values of `format` that may stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatRule {
    /// The type beside which they may stay.
    pub kind: &'static str,
    /// The values.
    pub formats: &'static [&'static str],
}

/// How objects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a table of independent rules")]
pub struct ObjectRule {
    /// Whether each says `additionalProperties: false`.
    pub closed: bool,
    /// Whether `additionalProperties: false` is refused, and only that.
    pub never_closed: bool,
    /// Whether every property is required, so that an optional one takes null in its stead.
    pub all_required: bool,
    /// Whether an object below the root without properties, and so a map, becomes text that
    /// holds JSON.
    pub empty_as_text: bool,
    /// Whether `required` may name properties only that there are.
    pub required_exist: bool,
}

/// How a schema says which types of values it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeRule {
    /// Whether every schema below the root has a type, so that one for any value becomes text that
    /// holds JSON.
    pub always: bool,
    /// How it says that it takes values of several types.
    pub several: SeveralTypes,
}

/// How a schema says that it takes values of several types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeveralTypes {
    /// With a list of their names.
    List,
    /// With an alternative of `anyOf` for each, null included.
    AnyOf,
    /// With an alternative of `anyOf` for each, but null with `nullable`.
    Nullable,
}

/// What may stand beside `anyOf` in its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyOfRule {
    /// Anything.
    Anything,
    /// What says nothing about values, such as a description.
    Annotations,
    /// Nothing.
    Nothing,
}

/// How a schema refers to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefRule {
    /// In any way.
    Any,
    /// To the root and to its `$defs` only.
    Defs {
        /// Whether anything may stand beside `$ref`.
        siblings: bool,
        /// Which schemas may hold themselves.
        recursion: Recursion,
    },
    /// Not at all: what is referred to is written in its place.
    Inline,
}

/// Which schemas may hold themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recursion {
    /// All.
    Any,
    /// Those that do so through properties that are not required.
    Optional,
    /// None.
    Never,
}

/// The numbers beyond which a target refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tools of a request.
    pub tools: Option<u64>,
    /// Optional properties, over all tools of a request.
    pub optional_properties: Option<u64>,
    /// Properties with a union of types, over all tools of a request.
    pub unions: Option<u64>,
    /// Properties of a tool.
    pub properties: Option<u64>,
    /// Members of enums of a tool.
    pub enum_values: Option<u64>,
    /// Characters of the names of properties and definitions, and of the values of `enum` and
    /// `const`, of a tool.
    pub characters: Option<u64>,
    /// Objects within each other.
    pub depth: Option<u64>,
    /// Characters of a description.
    pub description: Option<u64>,
}

impl Limits {
    /// None that is known.
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
    /// Rules that change nothing. A target's table changes what is different.
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
        largest_min_items: None,
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

    /// Whether it refuses nothing below the root but, at most, a few keys: then a schema is
    /// changed only where it breaks a rule, and else comes out as it went in.
    pub(super) fn is_open(&self) -> bool {
        self.keep.has(Keyword::Unknown)
    }

    /// Whether a schema says with `nullable` that it takes null.
    pub(super) fn has_nullable(&self) -> bool {
        self.types.several == SeveralTypes::Nullable
    }

    /// Whether a schema below the root may hold the keyword.
    pub fn keeps(&self, keyword: Keyword) -> bool {
        self.keep.has(keyword)
    }

    /// Whether the root may hold the keyword.
    pub fn root_keeps(&self, keyword: Keyword) -> bool {
        self.root_keep().has(keyword)
    }

    /// The keywords that the root may hold.
    pub(super) const fn root_keep(&self) -> Keywords {
        self.keep.and_those_of(self.root.allowed).minus(self.root.refused)
    }
}
