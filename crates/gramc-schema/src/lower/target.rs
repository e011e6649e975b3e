//! The targets, by name.

use super::target_spec::TargetSpec;
use super::targets;

/// A target that tools are compiled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the table of each target describes it")]
pub enum Target {
    JsonSchema,
    OpenAi,
    OpenAiFunctions,
    OpenAiStrict,
    OpenAiResponses,
    Anthropic,
    AnthropicStrict,
    Gemini,
    GeminiJson,
    Bedrock,
    Mistral,
    Ollama,
    LlamaCpp,
    Vllm,
    Mcp,
    OpenAiResponseFormat,
    OpenAiTextFormat,
    GeminiResponseSchema,
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

    /// The name on the command line, and the rules.
    const fn entry(self) -> (&'static str, &'static TargetSpec) {
        match self {
            Self::JsonSchema => ("json-schema", &targets::json_schema::RULES),
            Self::OpenAi => ("openai", &targets::openai::RULES),
            Self::OpenAiFunctions => ("openai-functions", &targets::openai_functions::RULES),
            Self::OpenAiStrict => ("openai-strict", &targets::openai_strict::RULES),
            Self::OpenAiResponses => ("openai-responses", &targets::openai_responses::RULES),
            Self::Anthropic => ("anthropic", &targets::anthropic::RULES),
            Self::AnthropicStrict => ("anthropic-strict", &targets::anthropic_strict::RULES),
            Self::Gemini => ("gemini", &targets::gemini::RULES),
            Self::GeminiJson => ("gemini-json", &targets::gemini_json::RULES),
            Self::Bedrock => ("bedrock", &targets::bedrock::RULES),
            Self::Mistral => ("mistral", &targets::mistral::RULES),
            Self::Ollama => ("ollama", &targets::ollama::RULES),
            Self::LlamaCpp => ("llamacpp", &targets::llamacpp::RULES),
            Self::Vllm => ("vllm", &targets::vllm::RULES),
            Self::Mcp => ("mcp", &targets::mcp::RULES),
            Self::OpenAiResponseFormat => {
                ("openai-response-format", &targets::openai_response_format::RULES)
            }
            Self::OpenAiTextFormat => ("openai-text-format", &targets::openai_text_format::RULES),
            Self::GeminiResponseSchema => {
                ("gemini-response-schema", &targets::gemini_response_schema::RULES)
            }
            Self::AnthropicOutputFormat => {
                ("anthropic-output-format", &targets::anthropic_output_format::RULES)
            }
        }
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        self.entry().0
    }

    /// Whether the path of a loss leads into the schema of a result.
    pub fn is_in_result(self, path: &str) -> bool {
        self.spec().output.is_some_and(|output| path.starts_with(output.key))
    }

    /// The rules of the target.
    pub const fn spec(self) -> &'static TargetSpec {
        self.entry().1
    }

    /// The target of tools or of structured output with a name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().chain(Self::OUTPUTS).find(|target| target.name() == name)
    }
}
