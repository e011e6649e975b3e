//! The codes of syntax diagnostics.

crate::declare_codes! {
    /// All codes of syntax diagnostics.
    SYNTAX_CODES;
    UNCLOSED_BRACKET = "unclosed-bracket";
    UNCLOSED_STRING = "unclosed-string";
    COMMENT = "malformed-comment";
    FENCE = "malformed-fence";
    ESCAPE = "unknown-escape";
    NUMBER = "malformed-number";
    NAME = "malformed-name";
    UNEXPECTED_TOKEN = "unexpected-token";
    MISSING_COMMA = "missing-comma";
    EXTRA_COMMA = "extra-comma";
    MISSING_BAR = "missing-bar";
    MISSING_TYPE = "missing-type";
    MISSING_VALUE = "missing-value";
    TYPE_EXPRESSION = "malformed-type";
    NESTED_TOO_DEEP = "nested-too-deep";
    ARROW = "malformed-arrow";
    ANNOTATION = "malformed-annotation";
    HEADER = "misplaced-header";
    JSON_FILE = "json-file";
    FOREIGN_TEXT = "foreign-text";
    NUL_CHARACTER = "nul-character";
    INVALID_UTF8 = "invalid-utf8";
    TOO_DEEP = "too-deep";
    TOO_LARGE = "too-large";
    TOO_MANY_ERRORS = "too-many-errors";
    UNFORMATTED = "unformatted";
}
