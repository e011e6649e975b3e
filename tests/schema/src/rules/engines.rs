//! Servers that compile the schemas of tools to grammars: llama.cpp, and vLLM with xgrammar.
//!
//! Sources:
//! - \[GBNF\] llama.cpp, `grammars/README.md`, "JSON Schemas → GBNF": the list of limitations.
//! - \[CONV\] llama.cpp, `common/json-schema-to-grammar.cpp` (2026): `resolve_refs`, `visit`, `_visit_pattern`.
//! - \[RUN\] llama.cpp of `xllamacpp` 2026.10.11549, asked with one schema per case.
//! - \[VLLM\] vLLM, `v1/structured_output/backend_xgrammar.py` (2026-09):
//!   `has_xgrammar_unsupported_json_features`.
//! - \[XG\] xgrammar 0.2.8, `cpp/json_schema_converter.cc` and `cpp/regex_converter.cc` (2026).

use super::openai;
use super::patterns;
use super::target::{FREE, Keys, List, Rule, Target, Wrap};

const WRAP: Wrap = Wrap {
    list: List::Items,
    inner: Some("function"),
    fixed: &[("type", "function")],
    needed: &["name", "parameters"],
    optional: &["description", "strict"],
    not_empty: &[],
    schema: &["parameters"],
};

/// Keywords that neither engine reads, and which change no grammar.
const ANNOTATIONS: Keys =
    &["$defs", "title", "description", "default", "examples", "deprecated", "$comment"];

fn is_annotation(key: &str) -> bool {
    ANNOTATIONS.contains(&key)
}

/// \[CONV\], \[XG\] `ResolveRef`: pointers are split at `/`, and no escape is decoded.
fn is_plain_pointer(reference: &str) -> bool {
    reference.strip_prefix("#/").is_some_and(|pointer| !pointer.contains('~'))
}

const COMMON: &[Rule] = &[
    Rule::JsonSchema,
    // Open: no document. Both servers imitate OpenAI's functions.
    Rule::RootObject,
    Rule::Resolved,
    Rule::Ends,
    // [CONV], [XG]: both return at a reference or a union, and ignore what else the schema has.
    Rule::BesideReference(is_annotation),
    Rule::BesideAnyOf(is_annotation),
];

pub(super) const LLAMA_CPP: Target = Target {
    wrap: Some(&WRAP),
    names: Some(openai::NAMES),
    rules: &[
        COMMON,
        &[
            // [GBNF] Skipped silently.
            Rule::Without(&[
                "patternProperties",
                "uniqueItems",
                "contains",
                "minContains",
                "$anchor",
                "not",
                "if",
                "then",
                "else",
                "dependentSchemas",
            ]),
            // [CONV] Only objects, strings and schemas without a type, and in these only properties and enums.
            Rule::Without(&["allOf"]),
            // [CONV] `STRING_FORMAT_RULES` and `uuid`; others are ignored.
            Rule::Formats(&["date", "time", "date-time", "uuid"]),
            Rule::References(is_plain_pointer, "has a name that needs escapes"),
            // [RUN] "schema must be an object", also for `items`.
            Rule::OnlyObjects,
            // [RUN] "must not be empty", "must be a non-empty array".
            Rule::NotEmpty(&["enum", "anyOf"]),
            // [CONV] `get<int64_t>`.
            Rule::WholeBounds,
            // [RUN] A least length above the greatest length, and such counts of items, are never answered.
            Rule::Satisfiable,
            Rule::Pattern(patterns::check_llama_cpp),
            // `MAX_REPETITION_THRESHOLD` of `llama-grammar.cpp`, 2,000. [RUN] Of arrays, the first item is not
            // counted, and an optional group counts for itself; without a greatest length, only the least counts.
            Rule::Most("minItems", 2_001),
            Rule::Most("maxItems", 1_999),
            Rule::Most("minLength", 2_000),
        ],
    ],
    ..FREE
};

// Open: for numbers, llama.cpp ignores bounds ([GBNF]), and for objects the number of properties ([CONV]).
// Both remain in the prompt.

pub(super) const VLLM: Target = Target {
    wrap: Some(&WRAP),
    names: Some(openai::NAMES),
    rules: &[
        COMMON,
        &[
            // [VLLM] Refused, some only beside other keywords or types.
            Rule::Without(&[
                "multipleOf",
                "uniqueItems",
                "contains",
                "minContains",
                "maxContains",
                "propertyNames",
                "patternProperties",
            ]),
            // [XG] "Keyword … is not supported", a warning. `allOf` of several schemas is one, too ([RUN]).
            Rule::Without(&[
                "not",
                "if",
                "then",
                "else",
                "dependentRequired",
                "dependentSchemas",
                "allOf",
            ]),
            // [VLLM] `STRING_SUPPORTED_FORMATS`.
            Rule::Formats(&[
                "email",
                "date",
                "time",
                "date-time",
                "duration",
                "ipv4",
                "ipv6",
                "hostname",
                "uuid",
                "uri",
                "uri-reference",
                "uri-template",
                "json-pointer",
                "relative-json-pointer",
            ]),
            // [VLLM] `_has_pattern_and_length_bounds`.
            Rule::LengthAlone,
            Rule::References(
                |reference| reference == "#" || is_plain_pointer(reference),
                "has a name that needs escapes",
            ),
            // [XG] `ParseEnum`.
            Rule::NotEmpty(&["enum"]),
            // [XG] `ParseInteger`, `ParseNumber`, `ParseString`, `ParseArray`, `ParseObject`.
            Rule::WholeBounds,
            Rule::Satisfiable,
            Rule::Pattern(patterns::check_xgrammar),
        ],
    ],
    ..FREE
};
