//! The codes of diagnostics about declarations.

pub(crate) use gramc_syntax::codes::{NESTED_TOO_DEEP, TYPE_EXPRESSION};

gramc_syntax::declare_codes! {
    /// All codes of diagnostics about declarations.
    CHECK_CODES;
    NAMELESS = "nameless-declaration";
    SEVERAL_LABELS = "several-labels";
    DUPLICATE_NAME = "duplicate-name";
    UNKNOWN_NAME = "unknown-name";
    MISPLACED_ELEMENT = "misplaced-element";
    MISSING_SIGNATURE = "missing-signature";
    ARROW_DIRECTION = "arrow-direction";
    MISPLACED_UNIT = "misplaced-unit";
    MISSING_NAME = "missing-parameter-name";
    MISSING_TYPE = "missing-parameter-type";
    SEVERAL_TYPES = "several-types";
    DUPLICATE_PARAMETER = "duplicate-parameter";
    MISSING_RESULT = "missing-result-type";
    UNKNOWN_TYPE = "unknown-type";
    EFFECT_TYPE = "effect-type";
    DUPLICATE_KEY = "duplicate-attribute";
    ATTRIBUTE_VALUE = "attribute-value";
    ATTRIBUTE_TYPE = "attribute-mismatch";
    REJECTED_VALUE = "rejected-value";
    EMPTY_CONSTRAINT = "empty-constraint";
    TYPE_NAME = "type-name";
    AMBIGUOUS_NAME = "ambiguous-name";
    UNKNOWN_IMPORT = "unknown-import";
    ENDLESS_TYPE = "endless-type";
    INDISTINCT_UNION = "indistinct-union";
    UNTAGGED_MEMBER = "untagged-member";
    MALFORMED_PATTERN = "malformed-pattern";
    UNKNOWN_FORMAT = "unknown-format";
    IMPLEMENTATION_KIND = "implementation-kind";
    INCOMPLETE_IMPLEMENTATION = "incomplete-implementation";
    CONFLICTING_ATTRIBUTES = "conflicting-attributes";
    MISSING_LIBRARY = "missing-library";
    UNKNOWN_LIBRARY = "unknown-library";
    FOREIGN_ATTRIBUTE = "foreign-attribute";
    FOREIGN_VALUE = "foreign-value";
    HEADER_KEY = "header-key";
    PROJECT_FILE = "project-file";
    OVER_BUDGET = "over-budget";
    UNKNOWN_MODEL = "unknown-model";
    UNKNOWN_BUILTIN = "unknown-builtin";
    MISSING_FILE = "missing-file";
    CASE_FILE = "case-file";
}

gramc_syntax::declare_codes! {
    /// The codes of the lints that the checker reports.
    CHECKER_LINTS;
    UNKNOWN_ATTRIBUTE = "unknown-attribute";
    UNKNOWN_LABEL = "unknown-label";
    SUSPICIOUS_ATTRIBUTE = "suspicious-attribute";
    UNSOUND_IMPORT = "unsound-import";
}
