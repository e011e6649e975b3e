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
    /// The field `tools` of llama.cpp's server.
    LlamaCpp,
    /// The field `tools` of vLLM's server, with xgrammar.
    Vllm,
    /// The result of `tools/list` in the Model Context Protocol.
    Mcp,
    /// The field `response_format` of OpenAI's Chat Completions API.
    OpenAiResponseFormat,
    /// The field `text.format` of OpenAI's Responses API.
    OpenAiTextFormat,
    /// The structured output of Gemini's `generationConfig`.
    GeminiResponseSchema,
    /// The field `output_config.format` of Anthropic's Messages API.
    AnthropicOutputFormat,
}

impl Target {
    /// All targets of tools, in the order in which help and pages list them.
    pub const ALL: [Self; 15] = [
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
        Self::LlamaCpp,
        Self::Vllm,
        Self::Mcp,
    ];

    /// All targets of structured output: they take a type, and no tools.
    pub const OUTPUTS: [Self; 4] = [
        Self::OpenAiResponseFormat,
        Self::OpenAiTextFormat,
        Self::GeminiResponseSchema,
        Self::AnthropicOutputFormat,
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
            Self::LlamaCpp => "llamacpp",
            Self::Vllm => "vllm",
            Self::Mcp => "mcp",
            Self::OpenAiResponseFormat => "openai-response-format",
            Self::OpenAiTextFormat => "openai-text-format",
            Self::GeminiResponseSchema => "gemini-response-schema",
            Self::AnthropicOutputFormat => "anthropic-output-format",
        }
    }

    /// The target of tools or of structured output with a name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().chain(Self::OUTPUTS).find(|target| target.name() == name)
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
            Self::LlamaCpp => &targets::llamacpp::RULES,
            Self::Vllm => &targets::vllm::RULES,
            Self::Mcp => &targets::mcp::RULES,
            Self::OpenAiResponseFormat => &targets::openai_response_format::RULES,
            Self::OpenAiTextFormat => &targets::openai_text_format::RULES,
            Self::GeminiResponseSchema => &targets::gemini_response_schema::RULES,
            Self::AnthropicOutputFormat => &targets::anthropic_output_format::RULES,
        }
    }
}
