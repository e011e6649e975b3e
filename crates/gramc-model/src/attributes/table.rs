//! The table of attributes.

use gramc_json_schema::keywords::{Keyword as K, name as k};

use super::AttributeOwner::{
    self, Agent, Alias, AnyImplementation, Arm, Container, Enum, Experiment, Field, Header,
    Implementation, Library, Member, Record, Tool, Union,
};
use super::ConstraintConstructor as C;
use super::ImplementationKind::{Builtin, Command, Fake, Http, Mcp, Replay};
use super::ValueType::{
    self, Approval, Bytes, Count, Flag, Format, List, Names, OfType, OneOf, Other, Program,
    ProgramOrUrl, Range, Signature, Size, Sources, Step, Text, TextsOf, Time,
};
use super::{AppliesTo, AttributeSpec, ConstraintConstructor, ConstraintSpec};
use crate::ConstraintKind as Kind;
use crate::model::{Constraint, OUTCOMES, Source};

const fn row(
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

const fn limit(
    kind: Kind,
    constructor: ConstraintConstructor,
    keywords: &'static [K],
) -> ConstraintSpec {
    ConstraintSpec { kind, constructor, keywords }
}

const FIELD: &[AttributeOwner] = &[Field];
const TOOL_OR_FIELD: &[AttributeOwner] = &[Tool, Field];
/// The owners whose type has properties.
const OBJECT: &[AttributeOwner] = &[Tool, Field, Record];
const TOOL: &[AttributeOwner] = &[Tool];
const DECLARED: &[AttributeOwner] = &[Record, Enum, Alias, Union];
const AGENT: &[AttributeOwner] = &[Agent];
/// An agent, and an arm that runs it with another value.
const AGENT_OR_ARM: &[AttributeOwner] = &[Agent, Arm];
const EXPERIMENT: &[AttributeOwner] = &[Experiment];
const PROGRAMS: &[AttributeOwner] = &[Library, Implementation(Command), Implementation(Mcp)];
const REQUESTS: &[AttributeOwner] = &[Library, Implementation(Http)];
const HTTP: &[AttributeOwner] = &[Implementation(Http)];
const MCP: &[AttributeOwner] = &[Implementation(Mcp)];
const HTTP_OR_MCP: &[AttributeOwner] = &[Implementation(Http), Implementation(Mcp)];
const POLICY: &[AttributeOwner] = &[Library, AnyImplementation];
const IMPLEMENTATION: &[AttributeOwner] = &[AnyImplementation];
const APPROVERS: &[AttributeOwner] = &[Library, AnyImplementation];

const TITLED: &[AttributeOwner] =
    &[Tool, Field, Record, Enum, Union, Alias, Agent, Container, Library, Experiment];
/// As [`TITLED`], with the parts of declarations.
const DESCRIBED: &[AttributeOwner] = &[
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
];
const APPROVALS: [&str; 3] = ["always", "destructive", "never"];
const BODIES: [&str; 6] = ["json", "form", "multipart", "text", "bytes", "none"];
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
const OAUTH: [&str; 4] = ["clientId", "clientSecret", "privateKey", "scope"];
const SOURCES: [&str; 4] = {
    let [a, b, c, d] = Source::ALL;
    [a.name(), b.name(), c.name(), d.name()]
};
const UNDECLARED: [&str; 4] = ["strip", "reject", "keep", "schema"];

/// The table.
pub static ATTRIBUTES: &[AttributeSpec] = &[
    row("imports", &[Header], List, "Files that declare names used in this file, relative to it"),
    row("gram", &[Header], ValueType::Number, "Version of the language, which is 1"),
    row("default", FIELD, OfType, "Value that is used when it is left out").keywords(&[K::Default]),
    row("optional", FIELD, Flag, "Whether it may be left out").keywords(&[K::Required]),
    row("nullable", FIELD, Flag, "Whether null is allowed").keywords(&[K::Type]),
    row("description", DESCRIBED, Text, "Purpose; a doc comment has the same effect")
        .keywords(&[K::Description]),
    row("title", TITLED, Text, "Display name").keywords(&[K::Title]),
    row("examples", &[Field, Union], List, "Sample values").keywords(&[K::Examples]),
    row("examples", TOOL, List, "Sample arguments of calls: [{city: \"Vienna\", days: 3}]"),
    row(
        "deprecated",
        &[Tool, Field, Record, Enum, Union, Alias],
        Flag,
        "Whether it should no longer be used",
    )
    .keywords(&[K::Deprecated]),
    row("readOnly", FIELD, Flag, "Whether only the server sets it").annotates(K::ReadOnly),
    row("writeOnly", FIELD, Flag, "Whether it is never returned").annotates(K::WriteOnly),
    row("range", FIELD, Range, "Least and greatest number: 1..10, 1... or ...10")
        .on(AppliesTo::Numbers)
        .constrains(&[
            limit(Kind::Minimum, C::Number(Constraint::Minimum), &[K::Minimum]),
            limit(Kind::Maximum, C::Number(Constraint::Maximum), &[K::Maximum]),
        ]),
    row("above", FIELD, ValueType::Number, "Exclusive lower bound of a number")
        .on(AppliesTo::Numbers)
        .constrains(&[limit(Kind::Above, C::Number(Constraint::Above), &[K::ExclusiveMinimum])]),
    row("below", FIELD, ValueType::Number, "Exclusive upper bound of a number")
        .on(AppliesTo::Numbers)
        .constrains(&[limit(Kind::Below, C::Number(Constraint::Below), &[K::ExclusiveMaximum])]),
    row(k::MULTIPLE_OF, FIELD, Step, "Number that every value is a multiple of")
        .on(AppliesTo::Numbers)
        .constrains(&[limit(
            Kind::MultipleOf,
            C::Number(Constraint::MultipleOf),
            &[K::MultipleOf],
        )]),
    row("length", FIELD, Size, "Least and greatest number of characters: 1..80")
        .on(AppliesTo::Texts)
        .constrains(&[
            limit(Kind::MinLength, C::Count(Constraint::MinLength), &[K::MinLength]),
            limit(Kind::MaxLength, C::Count(Constraint::MaxLength), &[K::MaxLength]),
        ]),
    row("pattern", FIELD, Text, "Regular expression that matches somewhere in every value")
        .on(AppliesTo::Texts)
        .constrains(&[limit(Kind::Pattern, C::Text(Constraint::Pattern), &[K::Pattern])]),
    row("format", FIELD, Format, "Format of a text").on(AppliesTo::Formats).constrains(&[limit(
        Kind::Format,
        C::Text(Constraint::Format),
        &[K::Format],
    )]),
    row("size", &[Field, Record], Size, "Least and greatest number of items or entries: 1..10")
        .on(AppliesTo::Collections)
        .constrains(&[
            limit(Kind::MinSize, C::Count(Constraint::MinSize), &[K::MinItems, K::MinProperties]),
            limit(Kind::MaxSize, C::Count(Constraint::MaxSize), &[K::MaxItems, K::MaxProperties]),
        ]),
    row("unique", FIELD, Flag, "Whether all items differ")
        .on(AppliesTo::Lists)
        .constrains(&[limit(Kind::Unique, C::Flag(|| Constraint::Unique), &[K::UniqueItems])]),
    row("enum", FIELD, List, "Allowed values").constrains(&[limit(
        Kind::Enum,
        C::Values(Constraint::Enum),
        &[K::Enum],
    )]),
    row("const", FIELD, OfType, "The only allowed value").constrains(&[limit(
        Kind::Const,
        C::Value(Constraint::Const),
        &[K::Const],
    )]),
    row("open", OBJECT, Other, "Whether undeclared properties are allowed, or their type")
        .on(AppliesTo::Objects)
        .keywords(&[K::AdditionalProperties]),
    row("fieldPatterns", OBJECT, ValueType::TypesByPattern, "Types by patterns of property names")
        // It does not claim `patternProperties`, which `extensions` may hold as well.
        .on(AppliesTo::Objects),
    row("pinned", FIELD, OfType, "Value that the host sets; the model may leave it out"),
    row("injected", FIELD, Flag, "Whether the host supplies it and the model does not see it"),
    row("secret", FIELD, Flag, "Whether it is masked in messages, logs and traces"),
    row("fields", FIELD, List, "Properties of an object")
        .on(AppliesTo::Objects)
        .keywords(&[K::Properties]),
    row("elementType", FIELD, ValueType::Type, "Type of the items")
        .on(AppliesTo::Lists)
        .keywords(&[K::Items]),
    row("valueType", FIELD, ValueType::Type, "Type of the values")
        .on(AppliesTo::Maps)
        .keywords(&[K::AdditionalProperties]),
    row("keys", FIELD, ValueType::Type, "Type of the keys")
        .on(AppliesTo::Maps)
        .constrains(&[limit(Kind::Keys, C::Type(Constraint::Keys), &[K::PropertyNames])]),
    row("requires", TOOL_OR_FIELD, List, "Names in `required` that no property has")
        .on(AppliesTo::Objects)
        .keywords(&[K::Required]),
    row("typeList", FIELD, Flag, "Whether the types of a union are written as a list")
        .keywords(&[K::Type]),
    row("extensions", FIELD, Other, "Keywords of JSON Schema that gram cannot express"),
    row("schema", TOOL_OR_FIELD, Other, "JSON Schema that replaces the generated one"),
    row("unsound", TOOL_OR_FIELD, Flag, "Whether rejected values are kept; imports write it"),
    row("readOnly", TOOL, Flag, "Whether the tool changes nothing"),
    row("destructive", TOOL, Flag, "Whether the tool may destroy something"),
    row("idempotent", TOOL, Flag, "Whether repeating a call has no further effect"),
    row("openWorld", TOOL, Flag, "Whether the tool reaches external systems, such as the web"),
    row(
        "defer",
        &[Tool, Container],
        Flag,
        "Whether models find it by search instead of receiving it",
    ),
    row("once", TOOL, Flag, "Whether calls with the same arguments run at most once"),
    row("approval", TOOL, Approval(&APPROVALS), "Calls that require approval"),
    row("approval", APPROVERS, OneOf(&APPROVALS), "Calls that require approval"),
    row("version", &[Tool, Container, Library, Experiment], Text, "Version"),
    row("schemaTitle", TOOL, Text, "Title of the parameters' schema"),
    row("schemaDescription", TOOL, Text, "Description of the parameters' schema"),
    row("schemaExtensions", TOOL, Other, "Further keywords of the parameters' schema"),
    row("defs", TOOL, List, "Types in `$defs` that nothing refers to"),
    row("timeout", TOOL, Other, "Maximum time of a call: 30s"),
    row("schemaName", DECLARED, Text, "Name in `$defs`"),
    row(
        "inline",
        DECLARED,
        Flag,
        "Whether schemas repeat the type instead of referring to `$defs`",
    ),
    row("extends", &[Record], List, "Records to inherit fields from: [Person]"),
    row("pick", &[Record], List, "Fields to inherit, instead of all"),
    row("omit", &[Record], List, "Fields that are not inherited"),
    row("partial", &[Record], Flag, "Whether inherited fields are optional"),
    row("discriminator", &[Union], Text, "Field that distinguishes the members by its value"),
    row(k::ONE_OF, &[Union], Flag, "Whether a value matches exactly one member")
        .keywords(&[K::OneOf]),
    row("instruction", AGENT_OR_ARM, Text, "System instruction"),
    row("model", AGENT_OR_ARM, Text, "Provider and model: openai/gpt-4o-mini"),
    row("models", AGENT, List, "Models in order of preference, used as fallbacks"),
    row("images", AGENT, Flag, "Whether its models are sent images"),
    row("maxIterations", AGENT_OR_ARM, Count(1), "Maximum model requests per turn"),
    row(
        "temperature",
        AGENT_OR_ARM,
        ValueType::Number,
        "Sampling temperature (0 = most deterministic)",
    ),
    row("topP", AGENT_OR_ARM, ValueType::Number, "Probability mass that is sampled from"),
    row("maxTokens", AGENT_OR_ARM, Count(1), "Maximum tokens of a reply"),
    row("api", AGENT, OneOf(&["tools", "functions"]), "Request field for tools"),
    row("result", AGENT, ValueType::Type, "Type of the answer, if it is not free text"),
    row("source", &[Container], OneOf(&SOURCES), "Source of its tools"),
    row("agent", &[Experiment, Arm], Text, "Agent that runs"),
    row("library", &[Arm], Text, "Library that its calls run against"),
    row("spec", &[Arm], Text, "Specification in place of this one, relative to this file"),
    row("cases", EXPERIMENT, Text, "File of test cases, relative to this file"),
    row("repeats", EXPERIMENT, Count(1), "Runs of each case in each arm"),
    row(
        "seed",
        &[Agent, Arm, Experiment, Implementation(Fake)],
        Count(0),
        "Seed of the random numbers",
    ),
    row("judge", EXPERIMENT, Text, "Model of judges and simulated users that name none"),
    row("primary", EXPERIMENT, OneOf(&OUTCOMES), "Outcome that decides; the others are adjusted"),
    row("inject", POLICY, Sources, "Sources of injected parameters"),
    row(
        "arguments",
        IMPLEMENTATION,
        Other,
        "Arguments for another signature: {place: {city: \"$city\"}}",
    ),
    row("signature", IMPLEMENTATION, Signature, "Signature of the implementation"),
    row(
        "validate",
        &[Agent, AnyImplementation],
        ProgramOrUrl,
        "Program or URL that judges the arguments or the answer",
    ),
    row("undeclared", POLICY, OneOf(&UNDECLARED), "Treatment of undeclared arguments"),
    row("repair", POLICY, Flag, "Whether malformed arguments are repaired"),
    row("correctNames", POLICY, Flag, "Whether misspelled argument names are corrected"),
    row("strictResult", POLICY, Flag, "Whether a result that violates its type is an error"),
    row("maxAttempts", POLICY, Count(0), "Maximum attempts at a call"),
    row("throttle", POLICY, OneOf(&["off", "repeats", "strict"]), "Profile of the limits on calls"),
    row("maxConsecutiveFailures", POLICY, Count(0), "Maximum failures in a row; 0 turns it off"),
    row(
        "sameToolCalls",
        POLICY,
        Count(0),
        "Maximum calls of a tool within `sameToolWindow`; 0 turns it off",
    ),
    row("sameToolWindow", POLICY, Time, "Time window of `sameToolCalls`"),
    row("allToolsCalls", POLICY, Count(0), "Maximum calls within `allToolsWindow`; 0 turns it off"),
    row("allToolsWindow", POLICY, Time, "Time window of `allToolsCalls`"),
    row("maxResponse", POLICY, Bytes, "Maximum size of a response"),
    row("maxOutput", POLICY, Bytes, "Maximum size of the output of a program"),
    row("timeout", POLICY, Time, "Maximum time of a call"),
    row("concurrency", POLICY, Count(0), "Maximum calls in parallel"),
    row("autoExpand", POLICY, Flag, "Whether containers expand by themselves"),
    row("expand", POLICY, OneOf(&["conversation", "turn"]), "How long a container stays expanded"),
    row("run", &[Implementation(Command)], Program, "Command that runs the tool"),
    row("url", HTTP_OR_MCP, ValueType::Url, "URL of the server"),
    row(
        "command",
        &[Agent, Implementation(Mcp)],
        Program,
        "Command line that is the agent or starts the MCP server",
    ),
    row(
        "tool",
        &[Implementation(Mcp), Implementation(Replay)],
        Text,
        "Name of the tool on the server or in the recording",
    ),
    row("only", MCP, Names, "Tools of the MCP server that `*` implements"),
    row("except", MCP, Names, "Tools of the MCP server that `*` does not implement"),
    row("prefix", MCP, Text, "Text that `*` puts before the names of the MCP server's tools"),
    row(
        "onChange",
        MCP,
        OneOf(&["refuse", "warn", "ignore"]),
        "Reaction to a tool of the MCP server that differs",
    ),
    row("shared", MCP, Flag, "Whether all sessions share one connection to the MCP server"),
    row("from", &[Implementation(Replay)], Text, "Recorded trace to replay"),
    row("name", &[Implementation(Builtin)], Text, "Name of the built-in implementation"),
    row(
        "content",
        &[Implementation(Command), Implementation(Http)],
        Flag,
        "Whether the output is MCP content",
    ),
    row("headers", HTTP_OR_MCP, Sources, "Sources of HTTP headers"),
    row(
        "tls",
        HTTP_OR_MCP,
        TextsOf(&["ca", "cert", "key"]),
        "Files with certificates and the key, in PEM format",
    ),
    row("oauth", MCP, TextsOf(&OAUTH), "Credentials for OAuth 2.1"),
    row("method", HTTP, OneOf(&METHODS), "HTTP method"),
    row("body", HTTP, OneOf(&BODIES), "Format of the body"),
    row(
        "parameters",
        REQUESTS,
        ValueType::Places,
        "Places of parameters in the request: {trace: \"header X-Trace\"}",
    ),
    row(
        "pages",
        HTTP,
        TextsOf(&["items", "next", "parameter"]),
        "Where a page of an answer has its items and the next page: {items: \"/value\", next: \"/nextLink\"}",
    ),
    row("maxPages", HTTP, Count(1), "Maximum number of pages of an answer that are joined"),
    row(
        "retries",
        REQUESTS,
        Count(0),
        "Maximum retries; those of a library are for idempotent methods",
    ),
    row("answer", HTTP, OneOf(&["bytes"]), "Whether the answer is bytes, which become base64"),
    row("env", PROGRAMS, Sources, "Sources of environment variables"),
    row("cwd", PROGRAMS, Text, "Working directory of the program"),
];
