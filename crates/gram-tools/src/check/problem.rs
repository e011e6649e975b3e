//! What the check of a call finds.

use smol_str::SmolStr;

use super::shape::Id;

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// It is not there, and has to be.
    RequiredField,
    /// It is of another type.
    TypeMismatch,
    /// It is none of the things that it may be, or more than one where only one is allowed.
    NoUnionMember,
    /// Nothing of this name is declared.
    UnknownField,
    /// It is none of the allowed values.
    NotInEnum,
    /// It is not the one allowed value.
    ConstMismatch,
    /// The host owns the value, and it is another one.
    PinnedMismatch,
    /// The number is too small or too large.
    OutOfRange,
    /// The number is no multiple of the step.
    NotMultiple,
    /// The text is too short or too long.
    WrongLength,
    /// There are too few or too many entries.
    WrongSize,
    /// The text does not match the pattern.
    PatternMismatch,
    /// The text is not in the format.
    FormatMismatch,
    /// An item comes twice.
    NotUnique,
    /// What a validator of the host program calls it.
    Host(SmolStr),
}

impl Code {
    /// The code as verdicts show it.
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
            Self::Host(code) => code,
        }
    }
}

/// A problem as the walk notes it; what people read of it is made when somebody asks.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    pub(crate) code: Code,
    /// The place in the arguments, as a JSON pointer.
    pub(crate) pointer: SmolStr,
    /// What was asked for there.
    pub(crate) shape: Id,
    /// What was received, as JSON; nothing where nothing was.
    pub(crate) attempted: Option<SmolStr>,
    /// What else there is to say.
    pub(crate) remark: Remark,
}

/// What else there is to say of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Remark {
    None,
    /// Nobody says what is wanted.
    Unsaid,
    /// A name that was sent looks like this one.
    Sent(SmolStr),
    /// The names that there are.
    Known(Vec<SmolStr>),
    /// More than one member of a union takes the value, where only one may.
    Several,
    /// What a validator says.
    Said(SmolStr),
}

/// A repair: what was put in the place of what was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The place in the arguments, as a JSON pointer; empty for all of them.
    pub pointer: SmolStr,
    /// The rule that was followed.
    pub rule: Rule,
    /// What was sent, as JSON.
    pub from: SmolStr,
    /// What stands in its place, as JSON; nothing where it was left out.
    pub to: Option<SmolStr>,
}

/// The rules by which values are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The text of the arguments was no JSON, and it is certain what was meant.
    Malformed,
    /// There were no arguments: an empty text, or null.
    NoArguments,
    /// A text that says yes or no.
    TextToBoolean,
    /// A text that is a whole number.
    TextToInteger,
    /// A text that is a number.
    TextToNumber,
    /// A whole number that was written with a fraction.
    WholeNumber,
    /// A text that holds the JSON of what is wanted.
    JsonText,
    /// One value where a list of them is wanted.
    SingleToList,
    /// Null for what may be left out.
    NullToAbsent,
    /// A member of an enum in another case.
    EnumCase,
    /// A parameter under a name that is nearly its own.
    NameCorrected,
}

impl Rule {
    /// The rule's name, as verdicts show it.
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
            Self::EnumCase => "enum-case",
            Self::NameCorrected => "name-corrected",
        }
    }
}
