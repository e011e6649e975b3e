//! The rules of each target, one table.

/// How the tools of a target are wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrap {
    /// An object, name to schema.
    Schemas,
    /// A list of `{"type":"function","function":{…}}`.
    Function,
    /// A list of `{"name","description","parameters"}`.
    OldFunction,
    /// A list of `{"type":"function","name","description","parameters","strict"}`.
    FlatFunction,
    /// A list of `{"name","description","input_schema"}`.
    Anthropic,
    /// `[{"functionDeclarations":[…]}]`, with the schema under this key.
    Gemini(&'static str),
    /// A list of `{"toolSpec":{"name","description","inputSchema":{"json":…}}}`.
    Bedrock,
    /// `{"tools":[…]}`.
    Mcp,
    /// A type for answers: the key of an object around it, if there is one, the keys that must be
    /// there, those that may, and the key of the schema.
    Output(Option<&'static str>, &'static [&'static str], &'static [&'static str], &'static str),
}

/// Which names tools may have: what the first character may be, what the others, and how many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    pub(super) first: fn(char) -> bool,
    pub(super) other: fn(char) -> bool,
    pub(super) most: usize,
}

impl Names {
    /// Whether a name keeps the rule.
    pub(super) fn allow(self, name: &str) -> bool {
        let mut letters = name.chars();
        letters.next().is_some_and(self.first)
            && letters.all(self.other)
            && name.chars().count() <= self.most
    }
}

/// Which schemas may refer to themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Circles {
    Allowed,
    ThroughOptional,
    Forbidden,
}

/// Which regular expressions a target takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patterns {
    All,
    /// Without lookaround and backreferences.
    WithoutLookaround,
    /// Also without word boundaries, properties of Unicode, and anchors inside.
    Xgrammar,
    /// Also from `^` to `$`, and without escapes for classes.
    LlamaCpp,
}

/// What a target accepts.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table, not a state")]
pub(super) struct Dialect {
    pub(super) wrap: Wrap,
    /// What `strict` has to be, where the tool has the key.
    pub(super) strict: Option<bool>,
    pub(super) names: Option<Names>,
    /// Whether the root has to say `"type":"object"`.
    pub(super) root_object: bool,
    /// What must not be at the root.
    pub(super) root_without: &'static [&'static str],
    /// Which keys the root's properties may have.
    pub(super) root_keys: Option<Names>,
    /// Which keys any properties may have.
    pub(super) keys: Option<Names>,
    /// The only keywords that may be used.
    pub(super) only: Option<&'static [&'static str]>,
    /// The keywords that may be used at the root besides.
    pub(super) only_at_root: &'static [&'static str],
    /// Keywords that must not be used.
    pub(super) without: &'static [&'static str],
    /// The only formats.
    pub(super) formats: Option<&'static [&'static str]>,
    /// Which regular expressions `pattern` may hold.
    pub(super) patterns: Patterns,
    /// Whether an array has to say what its items are.
    pub(super) items: bool,
    /// The rules of the strict targets: objects are closed, and below the root each schema has a
    /// type and each object properties.
    pub(super) closed_and_typed: bool,
    /// Whether objects require all their properties.
    pub(super) all_required: bool,
    /// Whether a reference has no siblings and leads to the root or to one of its `$defs`.
    pub(super) plain_references: bool,
    /// Whether every schema is an object: true and false are none, but for `additionalProperties`.
    pub(super) only_objects: bool,
    /// Whether references lead to `$defs` whose names need no escapes.
    pub(super) plain_definitions: bool,
    /// The highest `maxItems`.
    pub(super) max_items: Option<u64>,
    /// The highest `minLength`.
    pub(super) min_length: Option<u64>,
    /// Whether integers have whole bounds.
    pub(super) whole: bool,
    /// Whether strings with a pattern or a format have no length, as xgrammar requires.
    pub(super) xgrammar: bool,
    /// Whether a reference may lead to another document.
    pub(super) outward: bool,
    pub(super) circles: Circles,
    /// How deep objects may nest.
    pub(super) depth: Option<usize>,
    /// The highest `minItems`.
    pub(super) min_items: Option<u64>,
    /// Whether `additionalProperties` may be false.
    pub(super) closable: bool,
}

/// A target without rules.
const BASE: Dialect = Dialect {
    wrap: Wrap::Schemas,
    strict: None,
    names: None,
    root_object: false,
    root_without: &[],
    root_keys: None,
    keys: None,
    only: None,
    only_at_root: &[],
    without: &[],
    formats: None,
    patterns: Patterns::All,
    items: false,
    closed_and_typed: false,
    all_required: false,
    plain_references: false,
    only_objects: false,
    plain_definitions: false,
    max_items: None,
    min_length: None,
    whole: false,
    xgrammar: false,
    outward: false,
    circles: Circles::Allowed,
    depth: None,
    min_items: None,
    closable: true,
};

const fn dashed(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

pub(super) const fn dotted(c: char) -> bool {
    dashed(c) || c == '.'
}

const fn letter(c: char) -> bool {
    c.is_ascii_alphabetic()
}

const fn word_start(c: char) -> bool {
    letter(c) || c == '_'
}

const fn word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

const fn gemini_name(c: char) -> bool {
    dotted(c) || c == ':'
}

const OPENAI: Dialect = Dialect {
    wrap: Wrap::Function,
    strict: Some(false),
    names: Some(Names { first: dashed, other: dashed, most: 64 }),
    root_object: true,
    root_without: &["oneOf", "anyOf", "allOf", "enum", "not"],
    patterns: Patterns::WithoutLookaround,
    items: true,
    ..BASE
};

/// The rules of `openai-strict`, which hold for strict tools of `openai-responses`, too.
pub(super) const OPENAI_STRICT: Dialect = Dialect {
    strict: Some(true),
    without: &[
        "oneOf",
        "default",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "contains",
        "minContains",
        "maxContains",
        "uniqueItems",
        "unevaluatedItems",
        "unevaluatedProperties",
        "allOf",
        "not",
        "if",
        "then",
        "else",
    ],
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    closed_and_typed: true,
    all_required: true,
    plain_references: true,
    depth: Some(10),
    ..OPENAI
};

const ANTHROPIC: Dialect = Dialect {
    wrap: Wrap::Anthropic,
    names: Some(Names { first: dashed, other: dashed, most: 128 }),
    root_object: true,
    root_without: &["oneOf", "allOf", "anyOf"],
    root_keys: Some(Names { first: dotted, other: dotted, most: 64 }),
    ..BASE
};

const ANTHROPIC_STRICT: Dialect = Dialect {
    strict: Some(true),
    without: &[
        "oneOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "uniqueItems",
        "maxItems",
        "propertyNames",
        "patternProperties",
        "not",
        "if",
        "then",
        "else",
    ],
    closed_and_typed: true,
    circles: Circles::Forbidden,
    min_items: Some(1),
    ..ANTHROPIC
};

const GEMINI: Dialect = Dialect {
    wrap: Wrap::Gemini("parameters"),
    names: Some(Names { first: word_start, other: gemini_name, most: 128 }),
    root_object: true,
    keys: Some(Names { first: word_start, other: word, most: 64 }),
    only: Some(&[
        "type",
        "nullable",
        "enum",
        "format",
        "items",
        "properties",
        "required",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "pattern",
        "default",
        "example",
        "title",
        "description",
        "anyOf",
    ]),
    items: true,
    ..BASE
};

const GEMINI_JSON: Dialect = Dialect {
    wrap: Wrap::Gemini("parametersJsonSchema"),
    keys: None,
    only: Some(&[
        "$id",
        "$defs",
        "$ref",
        "$anchor",
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "oneOf",
        "properties",
        "additionalProperties",
        "required",
    ]),
    items: false,
    circles: Circles::ThroughOptional,
    ..GEMINI
};

/// What llama.cpp and xgrammar make grammars of, and what only describes.
const ENGINES: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "enum",
    "const",
    "default",
    "examples",
    "deprecated",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "anyOf",
    "$ref",
];

/// The formats that vLLM lets pass to xgrammar.
const XGRAMMAR_FORMATS: &[&str] = &[
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
];

/// The rules of a target; `None` for a name that is no target.
#[allow(clippy::too_many_lines)] // A table, a target after the other.
pub(super) fn dialect(target: &str) -> Option<Dialect> {
    Some(match target {
        "json-schema" => Dialect { outward: true, ..BASE },
        "openai" => OPENAI,
        "openai-functions" => Dialect { wrap: Wrap::OldFunction, ..OPENAI },
        "openai-strict" => OPENAI_STRICT,
        // The page repeats only what is new; the service and its root are the same. A tool that
        // says it is strict is held to the strict target's rules.
        "openai-responses" => {
            Dialect { wrap: Wrap::FlatFunction, without: &["oneOf"], strict: None, ..OPENAI }
        }
        "anthropic" => ANTHROPIC,
        "anthropic-strict" => ANTHROPIC_STRICT,
        "gemini" => GEMINI,
        "gemini-json" => GEMINI_JSON,
        "bedrock" => Dialect {
            wrap: Wrap::Bedrock,
            names: Some(Names { first: letter, other: dashed, most: 64 }),
            root_object: true,
            ..BASE
        },
        "mistral" => Dialect {
            root_object: false,
            root_without: &[],
            patterns: Patterns::All,
            items: false,
            without: &["$id", "$schema"],
            closable: false,
            ..OPENAI
        },
        "ollama" => Dialect {
            wrap: Wrap::Function,
            strict: Some(false),
            only: Some(&[
                "type",
                "anyOf",
                "items",
                "description",
                "enum",
                "properties",
                "required",
            ]),
            only_at_root: &["$defs"],
            ..BASE
        },
        "llamacpp" => Dialect {
            root_without: &[],
            items: false,
            only: Some(ENGINES),
            only_at_root: &["$defs"],
            formats: Some(&["date", "time", "date-time", "uuid"]),
            patterns: Patterns::LlamaCpp,
            only_objects: true,
            plain_definitions: true,
            min_items: Some(2_000),
            max_items: Some(1_999),
            min_length: Some(2_000),
            whole: true,
            ..OPENAI
        },
        "vllm" => Dialect {
            root_without: &[],
            items: false,
            only: Some(ENGINES),
            only_at_root: &["$defs"],
            formats: Some(XGRAMMAR_FORMATS),
            patterns: Patterns::Xgrammar,
            whole: true,
            xgrammar: true,
            ..OPENAI
        },
        "openai-response-format" => Dialect {
            wrap: Wrap::Output(
                Some("json_schema"),
                &["name", "schema", "strict"],
                &["description"],
                "schema",
            ),
            ..OPENAI_STRICT
        },
        "openai-text-format" => Dialect {
            wrap: Wrap::Output(
                None,
                &["type", "name", "schema", "strict"],
                &["description"],
                "schema",
            ),
            ..OPENAI_STRICT
        },
        "anthropic-output-format" => Dialect {
            wrap: Wrap::Output(None, &["type", "schema"], &[], "schema"),
            names: None,
            root_keys: None,
            ..ANTHROPIC_STRICT
        },
        "gemini-response-schema" => Dialect {
            wrap: Wrap::Output(
                None,
                &["responseMimeType", "responseJsonSchema"],
                &[],
                "responseJsonSchema",
            ),
            names: None,
            ..GEMINI_JSON
        },
        "mcp" => Dialect {
            wrap: Wrap::Mcp,
            names: Some(Names { first: dotted, other: dotted, most: 128 }),
            root_object: true,
            outward: true,
            ..BASE
        },
        _ => return None,
    })
}
