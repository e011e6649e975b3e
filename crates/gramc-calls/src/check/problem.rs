//! Problems and repairs of calls.

use smol_str::SmolStr;

use super::shape::ShapeId;

/// The kind of a problem with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemCode {
    /// A required value is missing.
    RequiredField,
    /// The type is wrong.
    TypeMismatch,
    /// No member of a union accepts the value, or several do where only one may.
    NoUnionMember,
    /// The name is not declared.
    UnknownField,
    /// The value is not one of the allowed values.
    NotInEnum,
    /// The value is not the only allowed value.
    ConstMismatch,
    /// The value differs from the one that the host pinned.
    PinnedMismatch,
    /// The number is too small or too large.
    OutOfRange,
    /// The number is not a multiple of the step.
    NotMultiple,
    /// The string is too short or too long.
    WrongLength,
    /// There are too few or too many entries.
    WrongSize,
    /// The string does not match the pattern.
    PatternMismatch,
    /// The string does not match the format.
    FormatMismatch,
    /// An item is repeated.
    NotUnique,
    /// A name is repeated with another value.
    DuplicateField,
    /// A code of a host validator.
    Host(SmolStr),
}

impl ProblemCode {
    /// The code, as used in verdicts.
    pub fn as_str(&self) -> &str {
        match self {
            Self::RequiredField => "REQUIRED_FIELD",
            Self::TypeMismatch => "TYPE_MISMATCH",
            Self::NoUnionMember => "NO_UNION_MEMBER",
            Self::UnknownField => "UNKNOWN_FIELD",
            Self::NotInEnum => "NOT_IN_ENUM",
            Self::ConstMismatch => "CONST_MISMATCH",
            Self::PinnedMismatch => "PINNED_MISMATCH",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::NotMultiple => "NOT_MULTIPLE",
            Self::WrongLength => "WRONG_LENGTH",
            Self::WrongSize => "WRONG_SIZE",
            Self::PatternMismatch => "PATTERN_MISMATCH",
            Self::FormatMismatch => "FORMAT_MISMATCH",
            Self::NotUnique => "NOT_UNIQUE",
            Self::DuplicateField => "DUPLICATE_FIELD",
            Self::Host(code) => code,
        }
    }
}

/// A problem as noted by the validation. Its message is only built on request.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    pub(crate) code: ProblemCode,
    /// The JSON pointer to the value.
    pub(crate) pointer: SmolStr,
    /// The shape that refused the value.
    pub(crate) shape: ShapeId,
    /// The received value as JSON. `None` if it is missing.
    pub(crate) attempted: Option<SmolStr>,
    /// Details for the message.
    pub(crate) detail: NoteDetail,
}

/// Details for the message of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoteDetail {
    None,
    /// No schema describes the expected value.
    Unsaid,
    /// The same name was sent in another form.
    Sent(SmolStr),
    /// A similar name was sent.
    Similar(SmolStr),
    /// The declared name that an undeclared one resembles.
    Near(SmolStr),
    /// The undeclared entry contains declared ones.
    Wrapper,
    /// The declared record that has a field of this name.
    Within(SmolStr),
    /// The first value of a name that is repeated with another one.
    Twice(SmolStr),
    /// The declared names.
    Known(Vec<SmolStr>),
    /// More than one member of a union accepts the value, where only one may.
    Several,
    /// The values of the discriminator of a union, in words.
    Tags(SmolStr),
    /// Why a string that should contain JSON cannot be read.
    NotJson(SmolStr),
    /// The message of a validator.
    Said(SmolStr),
}

/// A repair of a received value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The JSON pointer to the value. Empty for the arguments as a whole.
    pub pointer: SmolStr,
    /// The rule of the repair.
    pub rule: RepairRule,
    /// The received value as JSON.
    pub from: SmolStr,
    /// The replacement as JSON. `None` if the value was dropped.
    pub to: Option<SmolStr>,
}

/// The rules by which values are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairRule {
    /// Malformed JSON whose meaning is unambiguous.
    Malformed,
    /// An empty text or null in place of the arguments.
    NoArguments,
    /// A string that contains a boolean.
    TextToBoolean,
    /// A string that contains an integer.
    TextToInteger,
    /// A string that contains a number.
    TextToNumber,
    /// An integer written with a fraction.
    WholeNumber,
    /// A string that contains the expected value as JSON.
    JsonText,
    /// A single value in place of an array.
    SingleToList,
    /// Null in place of an optional value.
    NullToAbsent,
    /// An empty string or a word such as `null` in place of an optional value.
    EmptyToAbsent,
    /// An enum value in another case.
    EnumCase,
    /// A parameter name in another case, with other separators, or misspelled.
    NameCorrected,
    /// The fields of the only required parameter in place of the parameter.
    FieldsToRecord,
    /// The arguments within another object.
    Unwrapped,
}

impl RepairRule {
    /// The rule's name, as used in verdicts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed-json",
            Self::NoArguments => "no-arguments",
            Self::TextToBoolean => "text-to-boolean",
            Self::TextToInteger => "text-to-integer",
            Self::TextToNumber => "text-to-number",
            Self::WholeNumber => "whole-number",
            Self::JsonText => "json-text",
            Self::SingleToList => "single-to-list",
            Self::NullToAbsent => "null-to-absent",
            Self::EmptyToAbsent => "empty-to-absent",
            Self::EnumCase => "enum-case",
            Self::NameCorrected => "name-corrected",
            Self::FieldsToRecord => "fields-to-record",
            Self::Unwrapped => "unwrapped",
        }
    }
}
