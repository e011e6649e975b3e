//! The words of JSON Schema and of other libraries for attributes, and what they mean.

use crate::unknown_attributes::find_at;
use gramc_json_schema::keywords::name as k;
use gramc_model::attributes::{AttributeOwner, find};

/// What a word of another language says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The lower bound of a range.
    Least(&'static str),
    /// The upper bound of a range.
    Most(&'static str),
    /// What an attribute says.
    Is(&'static str),
    /// One item of the list that an attribute holds.
    ItemOf(&'static str),
    /// Whether a parameter is required, or which parameters are.
    Required,
    /// The type.
    Type,
    /// The members of an agent, a container or an experiment.
    Tools,
    /// A hint about a tool, by the name of its attribute there.
    HintOfTool(&'static str),
    /// What an agent or an arm says, at an experiment.
    OfArm,
    /// The arguments of a program.
    Arguments(&'static str),
    /// What only a type or an attribute of another form says, as this help explains.
    Other(&'static str),
    /// What the head or the signature of a tool says, or a target, as this help explains.
    OfTool(&'static str),
    /// What the choice of a target says, as this help explains.
    OfTarget(&'static str),
}

use Meaning::{
    Arguments, HintOfTool, Is, ItemOf, Least, Most, OfArm, OfTarget, OfTool, Other, Required, Tools,
};

/// The words, by their meaning.
const WORDS: &[(&[&str], Meaning)] = &[
    (&["minimum", "min", "ge", "gte", "minValue", "min_value", "atLeast"], Least("range")),
    (&["maximum", "max", "le", "lte", "maxValue", "max_value", "atMost"], Most("range")),
    (&[k::MIN_LENGTH, "min_length", "minLen", "min_len", "min-length"], Least("length")),
    (&[k::MAX_LENGTH, "max_length", "maxLen", "max_len", "max-length"], Most("length")),
    (&[k::MIN_ITEMS, "min_items", "minSize", "min_size", k::MIN_PROPERTIES], Least("size")),
    (&[k::MAX_ITEMS, "max_items", "maxSize", "max_size", k::MAX_PROPERTIES], Most("size")),
    (
        &[k::EXCLUSIVE_MINIMUM, "exclusive_minimum", "gt", "greaterThan", "greater_than"],
        Is("above"),
    ),
    (&[k::EXCLUSIVE_MAXIMUM, "exclusive_maximum", "lt", "lessThan", "less_than"], Is("below")),
    (&["multiple_of", "divisibleBy", "step"], Is(k::MULTIPLE_OF)),
    (&["regex", "regexp", "regExp", "patternRegex", "matches"], Is("pattern")),
    (&["len"], Is("length")),
    (&["hidden"], Is("injected")),
    (&["sensitive"], Is("secret")),
    (&["pin", "fixed"], Is("pinned")),
    (&["verb", "httpMethod"], Is("method")),
    (&["parallel", "maxParallel", "max_parallel"], Is("concurrency")),
    (&[k::UNIQUE_ITEMS, "unique_items", "distinct"], Is("unique")),
    (&[k::ADDITIONAL_PROPERTIES, "additional_properties"], Is("open")),
    (&[k::PROPERTY_NAMES], Is("keys")),
    (&["desc", "doc", "docs", "docstring", k::COMMENT], Is("description")),
    (&["defaultValue", "default_value"], Is("default")),
    (&["allowNull", "allow_null", "allowNone", "allow_none"], Is("nullable")),
    (
        &["choices", "options", "values", k::ONE_OF, "one_of", "in", "allowed", "allowedValues"],
        Is("enum"),
    ),
    (&["readOnlyHint"], Is("readOnly")),
    (&["destructiveHint"], Is("destructive")),
    (&["idempotentHint"], Is("idempotent")),
    (&["openWorldHint"], Is("openWorld")),
    (&["example"], ItemOf("examples")),
    (&["required"], Required),
    (&["type"], Meaning::Type),
    (&["items", "itemType"], Is("elementType")),
    (
        &["properties"],
        Other(
            "write the fields as a type, {street: Text}, or as fields: [{name: \"street\", type: \"Text\"}]",
        ),
    ),
    (
        &[k::ANY_OF, k::ALL_OF, "not", "if", k::REF, k::PATTERN_PROPERTIES, k::DEPENDENT_REQUIRED],
        Other("write a type expression, or the whole schema: schema: json`…`"),
    ),
    (&["between"], Other("write the range: range: 1..5")),
    (&["positive"], Other("write the bound: above: 0")),
    (&["nonempty", "nonEmpty", "non_empty"], Other("write the least length or size: length: 1...")),
    (&["decimal_places", "decimalPlaces", "precision"], Other("write the step: multipleOf: 0.01")),
    (&["extend", "inherits", "inherit", "superclass"], Is("extends")),
    (&["tag", "discriminant", "discriminatedBy"], Is("discriminator")),
    (&["strict"], OfTarget("choose a strict target instead: gramc compile --target openai-strict")),
    (
        &[
            "parameters",
            "params",
            "inputSchema",
            "input_schema",
            "input",
            "inputs",
            "args",
            "arguments",
            "properties",
        ],
        OfTool("write the parameters in the signature: [name:Tool | (count::Int)==>(::Text)]"),
    ),
    (
        &[
            "returns",
            "return",
            "returnType",
            "return_type",
            "result",
            "output",
            "outputs",
            "outputSchema",
            "output_schema",
        ],
        OfTool("write the type of the result at the end of the signature: ==>(::Text)"),
    ),
    (&["gram"], OfTool("write it in the header, at the start of the file: {gram: 1}")),
    (
        &["imports", "import", "include"],
        OfTool("write it in the header, at the start of the file: {imports: [\"types.gram\"]}"),
    ),
    (&["system", "systemPrompt", "system_prompt", "prompt"], Is("instruction")),
    (&["tools", "functions"], Tools),
    (&["uri", "endpoint", "address", "server"], Is("url")),
    (&["file", "path", "recording", "trace"], Is("from")),
    (&["cmd", "command", "exec", "program"], Is("run")),
    (&["cmd", "run", "exec", "program"], Is("command")),
    (&["args", "arguments"], Arguments("command")),
    (&["args", "arguments"], Arguments("run")),
];

/// Words that have a meaning at some owners only.
const WORDS_AT: &[(&[&str], &[AttributeOwner], Meaning)] = &[
    (
        &["agents", "handoffs", "subAgents", "sub_agents", "subagents"],
        &[AttributeOwner::Agent],
        Tools,
    ),
    (&["libraries", "arms", "variants", "conditions"], &[AttributeOwner::Experiment], Tools),
    (
        &["maxTurns", "max_turns", "maxSteps", "max_steps", "recursionLimit", "recursion_limit"],
        &[AttributeOwner::Agent, AttributeOwner::Arm],
        Is("maxIterations"),
    ),
    (
        &["maxOutputTokens", "max_output_tokens", "max_completion_tokens"],
        &[AttributeOwner::Agent, AttributeOwner::Arm],
        Is("maxTokens"),
    ),
    (
        &[
            "outputType",
            "output_type",
            "outputSchema",
            "output_schema",
            "resultType",
            "result_type",
            "responseFormat",
            "response_format",
        ],
        &[AttributeOwner::Agent],
        Is("result"),
    ),
    (
        &["library", "libraries"],
        &[AttributeOwner::Agent],
        Other("remove it: a library is bound at run time, `gramc run FILE --library LIBRARY`"),
    ),
    (&["runs", "repetitions", "trials", "samples"], &[AttributeOwner::Experiment], Is("repeats")),
    (
        &["dataset", "data", "testCases", "test_cases", "caseFile"],
        &[AttributeOwner::Experiment],
        Is("cases"),
    ),
    (&["n"], &[AttributeOwner::Experiment], Is("repeats")),
    (&["metric", "metrics"], &[AttributeOwner::Experiment], Is("primary")),
    (&["lib"], &[AttributeOwner::Arm], Is("library")),
    (
        &["role", "goal", "backstory"],
        &[AttributeOwner::Agent],
        Other("write it in `instruction`, as part of the text"),
    ),
    (
        &["provider"],
        &[AttributeOwner::Agent, AttributeOwner::Arm],
        Other("write the provider in `model`: model: \"openai/gpt-4o\""),
    ),
    (
        &["requiresApproval", "requires_approval", "needsApproval", "needs_approval", "confirm"],
        &[AttributeOwner::Tool],
        Other("write approval: \"always\""),
    ),
    (
        &["sideEffects", "side_effects", "mutates", "pure"],
        &[AttributeOwner::Tool],
        Other("write readOnly: true for a tool without effects, or destructive: true"),
    ),
    (
        &["implementation", "handler", "run", "command", "url"],
        &[AttributeOwner::Tool],
        Other("bind the tool in a library: [name:Library | (tool:Command {run: [\"program\"]})]"),
    ),
];

/// The hints of MCP and the attributes of tools that say the same.
const HINTS: &[(&str, &str)] = &[
    ("readOnlyHint", "readOnly"),
    ("destructiveHint", "destructive"),
    ("idempotentHint", "idempotent"),
    ("openWorldHint", "openWorld"),
];

/// The attribute that a meaning is about.
pub(crate) fn target(meaning: Meaning) -> Option<&'static str> {
    match meaning {
        Least(name) | Most(name) | Is(name) | ItemOf(name) | Arguments(name) => Some(name),
        _ => None,
    }
}

/// What a key means at an owner, if it is a word of another language there.
pub(crate) fn meaning(key: &str, owner: AttributeOwner) -> Option<Meaning> {
    use AttributeOwner as O;
    if find_at(owner, key).is_some() {
        return None;
    }
    if owner == O::Field
        && let Some((_, ours)) = HINTS.iter().find(|(hint, _)| *hint == key)
    {
        return Some(HintOfTool(ours));
    }
    let at_owner =
        WORDS_AT.iter().find(|(words, owners, _)| words.contains(&key) && owners.contains(&owner));
    if let Some((.., meaning)) = at_owner {
        return Some(*meaning);
    }
    if owner == O::Experiment && key != "agent" && find(O::Agent, key).is_some() {
        return Some(OfArm);
    }
    let in_field = |meaning| match target(meaning) {
        Some(name) => find(O::Field, name).is_some(),
        None => matches!(meaning, Required | Meaning::Type | Other(_)),
    };
    let mut known = WORDS.iter().filter(|(words, _)| words.contains(&key)).map(|(_, it)| *it);
    known.find(|meaning| match owner {
        O::Field => in_field(*meaning),
        O::Record | O::Union | O::Enum | O::Alias => match target(*meaning) {
            Some(name) => find_at(owner, name).is_some(),
            None => in_field(*meaning),
        },
        // A constraint of a tool constrains nothing; other attributes are kept for targets.
        O::Tool => match *meaning {
            OfTool(_) | OfTarget(_) => true,
            Is("description") => !matches!(key, "docs" | k::COMMENT),
            Is("enum" | "unique" | "default" | "nullable" | k::MULTIPLE_OF)
            | ItemOf(_)
            | Meaning::Type
            | Other(_) => false,
            Is(name) if find(O::Tool, name).is_some() => true,
            _ => in_field(*meaning),
        },
        O::Agent | O::Container => match *meaning {
            Tools => true,
            Is(name) => name != "description" && find(owner, name).is_some(),
            _ => false,
        },
        O::Implementation(_) => target(*meaning)
            .is_some_and(|name| name != "description" && find(owner, name).is_some()),
        _ => false,
    })
}
