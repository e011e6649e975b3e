//! The targets, by name.

use super::target_spec::TargetSpec;
use super::targets;

/// A target that tools are compiled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// An object with each tool's parameter schema by tool name.
    JsonSchema,
    /// The field `tools` of OpenAI's Chat Completions API.
    OpenAi,
    /// The deprecated field `functions` of OpenAI's Chat Completions API.
    OpenAiFunctions,
    /// The field `tools` of OpenAI's Chat Completions API, in strict mode.
    OpenAiStrict,
    /// The field `tools` of OpenAI's Responses API.
    OpenAiResponses,
    /// The field `tools` of Anthropic's Messages API.
    Anthropic,
    /// The field `tools` of Anthropic's Messages API, in strict mode.
    AnthropicStrict,
    /// The field `tools` of Gemini, with `parameters` in its own subset of `OpenAPI`.
    Gemini,
    /// The field `tools` of Gemini, with `parametersJsonSchema`.
    GeminiJson,
    /// The tools of Amazon Bedrock's `toolConfig`.
    Bedrock,
    /// The field `tools` of Mistral's chat completions.
    Mistral,
    /// The field `tools` of Ollama's chat API.
    Ollama,
    /// The result of `tools/list` in the Model Context Protocol.
    Mcp,
}

impl Target {
    /// All targets, in the order in which help and pages list them.
    pub const ALL: [Self; 13] = [
        Self::JsonSchema,
        Self::OpenAi,
        Self::OpenAiFunctions,
        Self::OpenAiStrict,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::AnthropicStrict,
        Self::Gemini,
        Self::GeminiJson,
        Self::Bedrock,
        Self::Mistral,
        Self::Ollama,
        Self::Mcp,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonSchema => "json-schema",
            Self::OpenAi => "openai",
            Self::OpenAiFunctions => "openai-functions",
            Self::OpenAiStrict => "openai-strict",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::AnthropicStrict => "anthropic-strict",
            Self::Gemini => "gemini",
            Self::GeminiJson => "gemini-json",
            Self::Bedrock => "bedrock",
            Self::Mistral => "mistral",
            Self::Ollama => "ollama",
            Self::Mcp => "mcp",
        }
    }

    /// The target with a name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// The rules of the target.
    pub const fn spec(self) -> &'static TargetSpec {
        match self {
            Self::JsonSchema => &targets::json_schema::RULES,
            Self::OpenAi => &targets::openai::RULES,
            Self::OpenAiFunctions => &targets::openai_functions::RULES,
            Self::OpenAiStrict => &targets::openai_strict::RULES,
            Self::OpenAiResponses => &targets::openai_responses::RULES,
            Self::Anthropic => &targets::anthropic::RULES,
            Self::AnthropicStrict => &targets::anthropic_strict::RULES,
            Self::Gemini => &targets::gemini::RULES,
            Self::GeminiJson => &targets::gemini_json::RULES,
            Self::Bedrock => &targets::bedrock::RULES,
            Self::Mistral => &targets::mistral::RULES,
            Self::Ollama => &targets::ollama::RULES,
            Self::Mcp => &targets::mcp::RULES,
        }
    }
}
