//! The page of the manual that compares the providers.

use std::fmt::Write as _;

use super::target::Target;
use super::target_spec::{Recursion, RefRule, SeveralTypes, TargetSpec};
use gramc_json_schema::keywords::Keyword as K;

/// The documentation of the provider that the rules follow.
const fn source(target: Target) -> Option<&'static str> {
    Some(match target {
        Target::JsonSchema => return None,
        Target::OpenAi | Target::OpenAiFunctions | Target::OpenAiResponses => {
            "https://platform.openai.com/docs/guides/function-calling"
        }
        Target::OpenAiStrict | Target::OpenAiResponseFormat | Target::OpenAiTextFormat => {
            "https://platform.openai.com/docs/guides/structured-outputs"
        }
        Target::Anthropic => "https://docs.claude.com/en/docs/agents-and-tools/tool-use/overview",
        Target::AnthropicStrict | Target::AnthropicOutputFormat => {
            "https://docs.claude.com/en/docs/build-with-claude/structured-outputs"
        }
        Target::Gemini => "https://ai.google.dev/api/caching#Schema",
        Target::GeminiJson | Target::GeminiResponseSchema => {
            "https://ai.google.dev/gemini-api/docs/structured-output"
        }
        Target::Bedrock => {
            "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html"
        }
        Target::Mistral => "https://docs.mistral.ai/capabilities/function_calling",
        Target::Ollama => "https://github.com/ollama/ollama/blob/main/docs/api.md",
        Target::LlamaCpp => "https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md",
        Target::Vllm => "https://docs.vllm.ai/en/latest/features/structured_outputs.html",
        Target::Mcp => "https://modelcontextprotocol.io/specification",
    })
}

/// The keywords that the table covers. The page of a target lists all others.
const ASKED: [K; 16] = [
    K::OneOf,
    K::AllOf,
    K::Not,
    K::Const,
    K::Pattern,
    K::Format,
    K::Default,
    K::MinLength,
    K::Minimum,
    K::MultipleOf,
    K::MinItems,
    K::UniqueItems,
    K::PrefixItems,
    K::PatternProperties,
    K::AdditionalProperties,
    K::If,
];

/// The table of the schemas that each provider accepts, in Markdown.
pub fn providers_table() -> String {
    let mut page =
        "| target | objects | not supported | references | several types | limits | source |\n\
                    | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for target in Target::ALL.into_iter().chain(Target::OUTPUTS) {
        let (name, spec) = (target.name(), target.spec());
        let Some(source) = source(target) else { continue };
        let cells = [objects(spec), unsupported(spec), references(spec), types(spec), limits(spec)];
        // Writing to a string does not fail.
        let _ = write!(page, "| [`{name}`](targets/{name}.md) |");
        for cell in cells {
            let _ = write!(page, " {cell} |");
        }
        let _ = writeln!(page, " [documentation]({source}) |");
    }
    page
}

fn objects(spec: &TargetSpec) -> String {
    let rules = [
        (spec.objects.closed, "closed"),
        (spec.objects.all_required, "all properties required"),
        (spec.objects.never_closed, "never closed"),
        (spec.objects.empty_as_text, "no maps"),
    ];
    let rules: Vec<_> = rules.into_iter().filter(|(has, _)| *has).map(|(_, rule)| rule).collect();
    if rules.is_empty() { "any".to_owned() } else { rules.join(", ") }
}

fn unsupported(spec: &TargetSpec) -> String {
    let lacks = ASKED.into_iter().filter(|keyword| !spec.keeps(*keyword));
    let lacks: Vec<_> = lacks.map(|keyword| format!("`{}`", keyword.name())).collect();
    let in_root: Vec<_> = [K::OneOf, K::AllOf, K::AnyOf, K::Not]
        .into_iter()
        .filter(|keyword| spec.keeps(*keyword) && !spec.root_keeps(*keyword))
        .map(|keyword| format!("`{}`", keyword.name()))
        .collect();
    match (lacks.is_empty(), in_root.is_empty()) {
        (true, true) => "–".to_owned(),
        (false, true) => lacks.join(", "),
        (true, false) => format!("{} in the root", in_root.join(", ")),
        (false, false) => format!("{}; {} in the root", lacks.join(", "), in_root.join(", ")),
    }
}

fn references(spec: &TargetSpec) -> String {
    let text = match spec.refs {
        RefRule::Any => "any",
        RefRule::Defs { recursion: Recursion::Never, .. } => "`$defs`, without recursion",
        RefRule::Defs { recursion: Recursion::Optional, .. } => {
            "`$defs`, recursion through optional properties"
        }
        RefRule::Defs { .. } => "`$defs`",
        RefRule::Inline => "none",
    };
    text.to_owned()
}

fn types(spec: &TargetSpec) -> String {
    let text = match spec.types.several {
        SeveralTypes::List => "list",
        SeveralTypes::AnyOf => "`anyOf`",
        SeveralTypes::Nullable => "`nullable`, `anyOf`",
    };
    text.to_owned()
}

fn limits(spec: &TargetSpec) -> String {
    let limits = &spec.limits;
    let all = [
        (limits.tools, "tools"),
        (limits.properties, "properties"),
        (limits.optional_properties, "optional properties"),
        (limits.enum_values, "enum values"),
        (limits.depth, "levels"),
    ];
    let all: Vec<_> =
        all.into_iter().filter_map(|(limit, noun)| Some(format!("{} {noun}", limit?))).collect();
    if all.is_empty() { "–".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_PAGES=1` writes the table.
    #[test]
    fn the_table_in_the_manual_is_that_of_the_rules() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/providers.md");
        let page = std::fs::read_to_string(path).unwrap_or_default();
        let start = page.find("| target |").unwrap_or(page.len());
        let (before, rest) = page.split_at(start);
        let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
        let table = providers_table();
        if std::env::var_os("UPDATE_PAGES").is_some() {
            assert!(std::fs::write(path, format!("{before}{table}{}", &rest[end..])).is_ok());
        } else {
            assert_eq!(&rest[..end], table, "{path}: UPDATE_PAGES=1 writes it");
        }
    }
}
