//! The table of attributes.

use gramc_json_schema::keywords::{Keyword as K, name as k};

use super::AttributeOwner::{
    self, Agent, Alias, AnyImplementation, Arm, Container, Enum, Experiment, Field, Header,
    Implementation, Library, Member, Record, Tool, Union,
};
use super::ConstraintConstructor as C;
use super::ImplementationKind::{Builtin, Command, Fake, Http, Mcp, Replay};
use super::ValueType::{
    self, Bytes, Count, Flag, Format, List, Names, OfType, OneOf, Other, Program, ProgramOrUrl,
    Range, Signature, Size, Sources, Step, Text, TextsOf, Time,
};
use super::{AppliesTo, AttributeSpec, ConstraintConstructor, ConstraintSpec};
use crate::ConstraintKind as Kind;
use crate::model::{Constraint, OUTCOMES, Source};

const fn attribute(
    name: &'static str,
    owners: &'static [AttributeOwner],
    value: ValueType,
    documentation: &'static str,
) -> AttributeSpec {
    AttributeSpec {
        name,
        owners,
        value,
        applies_to: AppliesTo::Every,
        constraints: &[],
        keywords: &[],
        annotation: None,
        documentation,
    }
}

const fn constraint(
    kind: Kind,
    constructor: ConstraintConstructor,
    keywords: &'static [K],
) -> ConstraintSpec {
    ConstraintSpec { kind, constructor, keywords }
}

const FIELD: &[AttributeOwner] = &[Field];
const TOOL: &[AttributeOwner] = &[Tool];
const DECLARED: &[AttributeOwner] = &[Record, Enum, Alias, Union];
const AGENT: &[AttributeOwner] = &[Agent];
/// An agent, and an arm that runs it with another value.
const AGENT_OR_ARM: &[AttributeOwner] = &[Agent, Arm];
const EXPERIMENT: &[AttributeOwner] = &[Experiment];
/// The implementations that are programs, and a library for all of its own.
const PROGRAMS: &[AttributeOwner] = &[Library, Implementation(Command), Implementation(Mcp)];
/// The implementations that are requests, and a library for all of its own.
const REQUESTS: &[AttributeOwner] = &[Library, Implementation(Http)];
/// A library and its implementations.
const POLICY: &[AttributeOwner] = &[Library, AnyImplementation];
const IMPLEMENTATION: &[AttributeOwner] = &[AnyImplementation];
/// A tool, and what may implement it.
const APPROVED: &[AttributeOwner] = &[Tool, Library, AnyImplementation];

/// The table.
pub static ATTRIBUTES: &[AttributeSpec] = &[
    attribute("imports", &[Header], List, "Files whose names this file uses, relative to it"),
    attribute("gram", &[Header], ValueType::Number, "Version of the language, which is 1"),
    attribute("default", FIELD, OfType, "Value that is used when it is left out")
        .keywords(&[K::Default]),
    attribute("optional", FIELD, Flag, "Whether it may be left out").keywords(&[K::Required]),
    attribute("nullable", FIELD, Flag, "Whether null is allowed").keywords(&[K::Type]),
    attribute(
        "description",
        &[
            Tool,
            Field,
            Record,
            Enum,
            Member,
            Union,
            Alias,
            Agent,
            Container,
            Library,
            AnyImplementation,
            Experiment,
        ],
        Text,
        "What it is for; a doc comment says the same",
    )
    .keywords(&[K::Description]),
    attribute(
        "title",
        &[Tool, Field, Record, Enum, Union, Alias, Agent, Container, Library, Experiment],
        Text,
        "Display name",
    )
    .keywords(&[K::Title]),
    attribute("examples", &[Field, Union], List, "Sample values").keywords(&[K::Examples]),
    attribute(
        "deprecated",
        &[Tool, Field, Record, Enum, Union, Alias],
        Flag,
        "Whether it should no longer be used",
    )
    .keywords(&[K::Deprecated]),
    attribute("readOnly", FIELD, Flag, "Whether only the server sets it").annotates(K::ReadOnly),
    attribute("writeOnly", FIELD, Flag, "Whether it is never returned").annotates(K::WriteOnly),
    attribute("range", FIELD, Range, "Least and greatest number: 1..10, 1... or ...10")
        .on(AppliesTo::Numbers)
        .constrains(&[
            constraint(Kind::Minimum, C::Number(Constraint::Minimum), &[K::Minimum]),
            constraint(Kind::Maximum, C::Number(Constraint::Maximum), &[K::Maximum]),
        ]),
    attribute("above", FIELD, ValueType::Number, "Exclusive lower bound of a number")
        .on(AppliesTo::Numbers)
        .constrains(&[constraint(
            Kind::Above,
            C::Number(Constraint::Above),
            &[K::ExclusiveMinimum],
        )]),
    attribute("below", FIELD, ValueType::Number, "Exclusive upper bound of a number")
        .on(AppliesTo::Numbers)
        .constrains(&[constraint(
            Kind::Below,
            C::Number(Constraint::Below),
            &[K::ExclusiveMaximum],
        )]),
    attribute(k::MULTIPLE_OF, FIELD, Step, "Number that every value is a multiple of")
        .on(AppliesTo::Numbers)
        .constrains(&[constraint(
            Kind::MultipleOf,
            C::Number(Constraint::MultipleOf),
            &[K::MultipleOf],
        )]),
    attribute("length", FIELD, Size, "Least and greatest number of characters: 1..80")
        .on(AppliesTo::Texts)
        .constrains(&[
            constraint(Kind::MinLength, C::Count(Constraint::MinLength), &[K::MinLength]),
            constraint(Kind::MaxLength, C::Count(Constraint::MaxLength), &[K::MaxLength]),
        ]),
    attribute("pattern", FIELD, Text, "Regular expression that matches somewhere in every value")
        .on(AppliesTo::Texts)
        .constrains(&[constraint(Kind::Pattern, C::Text(Constraint::Pattern), &[K::Pattern])]),
    attribute("format", FIELD, Format, "Format of a text")
        .on(AppliesTo::Formats)
        .constrains(&[constraint(Kind::Format, C::Text(Constraint::Format), &[K::Format])]),
    attribute(
        "size",
        &[Field, Record],
        Size,
        "Least and greatest number of items or entries: 1..10",
    )
    .on(AppliesTo::Collections)
    .constrains(&[
        constraint(Kind::MinSize, C::Count(Constraint::MinSize), &[K::MinItems, K::MinProperties]),
        constraint(Kind::MaxSize, C::Count(Constraint::MaxSize), &[K::MaxItems, K::MaxProperties]),
    ]),
    attribute("unique", FIELD, Flag, "Whether all items differ")
        .on(AppliesTo::Lists)
        .constrains(&[constraint(Kind::Unique, C::Flag(|| Constraint::Unique), &[K::UniqueItems])]),
    attribute("enum", FIELD, List, "Allowed values").constrains(&[constraint(
        Kind::Enum,
        C::Values(Constraint::Enum),
        &[K::Enum],
    )]),
    attribute("const", FIELD, OfType, "The only allowed value").constrains(&[constraint(
        Kind::Const,
        C::Value(Constraint::Const),
        &[K::Const],
    )]),
    attribute(
        "open",
        &[Tool, Field, Record],
        Other,
        "Whether undeclared properties are allowed, or their type",
    )
    .on(AppliesTo::Objects)
    .keywords(&[K::AdditionalProperties]),
    attribute(
        "fieldPatterns",
        &[Tool, Field, Record],
        ValueType::TypesByPattern,
        "Types of properties by patterns of their names",
    )
    // It does not claim `patternProperties`, which `extensions` may hold as well.
    .on(AppliesTo::Objects),
    attribute("pinned", FIELD, OfType, "Value that the host sets; the model may leave it out"),
    attribute(
        "injected",
        FIELD,
        Flag,
        "Whether the host supplies it and the model does not see it",
    ),
    attribute("secret", FIELD, Flag, "Whether it is masked in messages, logs and traces"),
    attribute("fields", FIELD, List, "Properties of an object")
        .on(AppliesTo::Objects)
        .keywords(&[K::Properties]),
    attribute("elementType", FIELD, ValueType::Type, "Type of the items")
        .on(AppliesTo::Lists)
        .keywords(&[K::Items]),
    attribute("valueType", FIELD, ValueType::Type, "Type of the values")
        .on(AppliesTo::Maps)
        .keywords(&[K::AdditionalProperties]),
    attribute("keys", FIELD, ValueType::Type, "Type of the keys")
        .on(AppliesTo::Maps)
        .constrains(&[constraint(Kind::Keys, C::Type(Constraint::Keys), &[K::PropertyNames])]),
    attribute("requires", &[Tool, Field], List, "Names in `required` that no property has")
        .on(AppliesTo::Objects)
        .keywords(&[K::Required]),
    attribute("typeList", FIELD, Flag, "Whether the types of a union are written as a list")
        .keywords(&[K::Type]),
    attribute("extensions", FIELD, Other, "Keywords of JSON Schema that gram cannot express"),
    attribute("schema", &[Tool, Field], Other, "JSON Schema that replaces the generated one"),
    attribute(
        "unsound",
        &[Tool, Field],
        Flag,
        "Whether values that the type rejects are kept; imports write it",
    ),
    attribute("readOnly", TOOL, Flag, "Whether the tool changes nothing"),
    attribute("destructive", TOOL, Flag, "Whether the tool may destroy something"),
    attribute(
        "idempotent",
        TOOL,
        Flag,
        "Whether a second call with the same arguments has no further effect",
    ),
    attribute(
        "openWorld",
        TOOL,
        Flag,
        "Whether the tool reaches external systems, such as the web",
    ),
    attribute("once", TOOL, Flag, "Whether calls with the same arguments run at most once"),
    attribute(
        "approval",
        APPROVED,
        OneOf(&["always", "destructive", "never"]),
        "Which calls have to be approved before they run",
    ),
    attribute("version", &[Tool, Container, Library, Experiment], Text, "Version"),
    attribute("schemaTitle", TOOL, Text, "Title of the parameters' schema"),
    attribute("schemaDescription", TOOL, Text, "Description of the parameters' schema"),
    attribute(
        "schemaExtensions",
        TOOL,
        Other,
        "Keywords of the parameters' schema that gram cannot express",
    ),
    attribute("defs", TOOL, List, "Types in `$defs` that nothing refers to"),
    attribute("timeout", TOOL, Other, "Maximum time of a call: 30s"),
    attribute("schemaName", DECLARED, Text, "Name in `$defs`"),
    attribute(
        "inline",
        DECLARED,
        Flag,
        "Whether schemas repeat the type where it is used instead of referring to `$defs`",
    ),
    attribute("extends", &[Record], List, "Records whose fields it takes over: [Person]"),
    attribute("pick", &[Record], List, "Fields that it takes over, instead of all"),
    attribute("omit", &[Record], List, "Fields that it does not take over"),
    attribute("partial", &[Record], Flag, "Whether the fields that it takes over are optional"),
    attribute("discriminator", &[Union], Text, "Field whose value distinguishes the members"),
    attribute(k::ONE_OF, &[Union], Flag, "Whether a value matches exactly one member")
        .keywords(&[K::OneOf]),
    attribute("instruction", AGENT_OR_ARM, Text, "System instruction"),
    attribute("model", AGENT_OR_ARM, Text, "Provider and model: openai/gpt-4o-mini"),
    attribute(
        "models",
        AGENT,
        List,
        "Models in order of preference; the next one is used if one is unavailable",
    ),
    attribute("images", AGENT, Flag, "Whether its models are sent images"),
    attribute("maxIterations", AGENT_OR_ARM, Count(1), "Maximum model requests per turn"),
    attribute(
        "temperature",
        AGENT_OR_ARM,
        ValueType::Number,
        "Sampling temperature (0 = most deterministic)",
    ),
    attribute("topP", AGENT_OR_ARM, ValueType::Number, "Probability mass that is sampled from"),
    attribute("maxTokens", AGENT_OR_ARM, Count(1), "Maximum tokens of a reply"),
    attribute(
        "api",
        AGENT,
        OneOf(&["tools", "functions"]),
        "Request field that passes tools to the model",
    ),
    attribute("result", AGENT, ValueType::Type, "Type of the answer, if it is not free text"),
    attribute(
        "source",
        &[Container],
        OneOf(&[
            Source::ALL[0].name(),
            Source::ALL[1].name(),
            Source::ALL[2].name(),
            Source::ALL[3].name(),
        ]),
        "Source of its tools",
    ),
    attribute("agent", &[Experiment, Arm], Text, "Agent that runs"),
    attribute("library", &[Arm], Text, "Library that its calls run against"),
    attribute("spec", &[Arm], Text, "Specification in place of this one, relative to this file"),
    attribute("cases", EXPERIMENT, Text, "File of test cases, relative to this file"),
    attribute("repeats", EXPERIMENT, Count(1), "Runs of each case in each arm"),
    attribute(
        "seed",
        &[Agent, Arm, Experiment, Implementation(Fake)],
        Count(0),
        "Seed of the random numbers",
    ),
    attribute("judge", EXPERIMENT, Text, "Model of judges and simulated users that name none"),
    attribute(
        "primary",
        EXPERIMENT,
        OneOf(&OUTCOMES),
        "Outcome that decides; the others are adjusted for their number",
    ),
    attribute("inject", POLICY, Sources, "Sources of injected parameters"),
    attribute(
        "arguments",
        IMPLEMENTATION,
        Other,
        "Arguments of an implementation with another signature: {place: {city: \"$city\"}}",
    ),
    attribute("signature", IMPLEMENTATION, Signature, "Signature of the implementation"),
    attribute(
        "validate",
        &[Agent, AnyImplementation],
        ProgramOrUrl,
        "Program or URL that judges the arguments, or the answer of an agent",
    ),
    attribute(
        "undeclared",
        POLICY,
        OneOf(&["strip", "reject", "keep", "schema"]),
        "Treatment of undeclared arguments",
    ),
    attribute("repair", POLICY, Flag, "Whether malformed arguments are repaired"),
    attribute("correctNames", POLICY, Flag, "Whether misspelled argument names are corrected"),
    attribute("strictResult", POLICY, Flag, "Whether a result that violates its type is an error"),
    attribute("maxAttempts", POLICY, Count(0), "Maximum attempts at a call"),
    attribute(
        "throttle",
        POLICY,
        OneOf(&["off", "agent", "server"]),
        "Profile of the limits on calls, which single limits change",
    ),
    attribute(
        "maxConsecutiveFailures",
        POLICY,
        Count(0),
        "Maximum consecutive failures of a tool; 0 turns the limit off",
    ),
    attribute(
        "sameToolCalls",
        POLICY,
        Count(0),
        "Maximum calls of one tool within `sameToolWindow`; 0 turns the limit off",
    ),
    attribute("sameToolWindow", POLICY, Time, "Time window of `sameToolCalls`"),
    attribute(
        "allToolsCalls",
        POLICY,
        Count(0),
        "Maximum calls of all tools within `allToolsWindow`; 0 turns the limit off",
    ),
    attribute("allToolsWindow", POLICY, Time, "Time window of `allToolsCalls`"),
    attribute("historyRetention", POLICY, Time, "Time that past calls are remembered"),
    attribute("maxResponse", POLICY, Bytes, "Maximum size of a response"),
    attribute("maxOutput", POLICY, Bytes, "Maximum size of the output of a program"),
    attribute("timeout", POLICY, Time, "Maximum time of a call"),
    attribute("concurrency", POLICY, Count(0), "Maximum calls in parallel"),
    attribute("autoExpand", POLICY, Flag, "Whether containers expand by themselves"),
    attribute(
        "expand",
        POLICY,
        OneOf(&["conversation", "turn"]),
        "How long a container stays expanded",
    ),
    attribute(
        "run",
        &[Implementation(Command)],
        Program,
        "Program that runs the tool, with its arguments",
    ),
    attribute(
        "url",
        &[Implementation(Http), Implementation(Mcp)],
        ValueType::Url,
        "URL of the server",
    ),
    attribute(
        "command",
        &[Agent, Implementation(Mcp)],
        Program,
        "Program that is the agent or starts the MCP server, with its arguments",
    ),
    attribute(
        "tool",
        &[Implementation(Mcp), Implementation(Replay)],
        Text,
        "Name of the tool on the MCP server or in the recording",
    ),
    attribute("only", &[Implementation(Mcp)], Names, "Tools of the MCP server that `*` implements"),
    attribute(
        "except",
        &[Implementation(Mcp)],
        Names,
        "Tools of the MCP server that `*` does not implement",
    ),
    attribute(
        "prefix",
        &[Implementation(Mcp)],
        Text,
        "Text that `*` puts before the names of the MCP server's tools",
    ),
    attribute(
        "onChange",
        &[Implementation(Mcp)],
        OneOf(&["refuse", "warn", "ignore"]),
        "What `gramc mcp` and `run` do if a tool of the MCP server does not fit the specification",
    ),
    attribute(
        "shared",
        &[Implementation(Mcp)],
        Flag,
        "Whether all sessions of `gramc mcp` share one connection to the MCP server",
    ),
    attribute("from", &[Implementation(Replay)], Text, "Recorded trace to replay"),
    attribute("name", &[Implementation(Builtin)], Text, "Name of the built-in implementation"),
    attribute(
        "content",
        &[Implementation(Command), Implementation(Http)],
        Flag,
        "Whether the output is a list of MCP content blocks",
    ),
    attribute(
        "headers",
        &[Implementation(Http), Implementation(Mcp)],
        Sources,
        "Sources of HTTP headers",
    ),
    attribute(
        "tls",
        &[Implementation(Http), Implementation(Mcp)],
        TextsOf(&["ca", "cert", "key"]),
        "Files with certificates in PEM format: authorities, client, and its private key",
    ),
    attribute(
        "oauth",
        &[Implementation(Mcp)],
        TextsOf(&["clientId", "clientSecret", "privateKey", "scope"]),
        "Credentials of gramc for an MCP server that wants OAuth 2.1",
    ),
    attribute(
        "method",
        &[Implementation(Http)],
        OneOf(&["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]),
        "HTTP method",
    ),
    attribute(
        "body",
        &[Implementation(Http)],
        OneOf(&["json", "form", "multipart", "text", "bytes", "none"]),
        "Format of the body",
    ),
    attribute(
        "parameters",
        REQUESTS,
        ValueType::Places,
        "Where parameters go that do not go where the method implies: {trace: \"header X-Trace\"}",
    ),
    attribute(
        "pages",
        &[Implementation(Http)],
        TextsOf(&["items", "next", "parameter"]),
        "Where a page of an answer has its items and the next page: {items: \"/value\", next: \"/nextLink\"}",
    ),
    attribute(
        "maxPages",
        &[Implementation(Http)],
        Count(1),
        "Maximum number of pages of an answer that are joined",
    ),
    attribute(
        "retries",
        REQUESTS,
        Count(0),
        "Maximum repetitions of a request that failed; a library's concern idempotent methods only",
    ),
    attribute(
        "answer",
        &[Implementation(Http)],
        OneOf(&["bytes"]),
        "Whether the answer is bytes, which become base64",
    ),
    attribute("env", PROGRAMS, Sources, "Sources of environment variables"),
    attribute("cwd", PROGRAMS, Text, "Working directory of the program"),
];
