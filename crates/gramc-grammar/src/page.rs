//! The documentation page of each target.

use serde_json::json;

use crate::grammar::Grammar;
use crate::schema::ToolSchema;
use crate::syntax::Syntax;

/// The page of a target, in Markdown: its grammars and their restrictions.
pub fn page(syntax: Syntax) -> String {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "unit": {"enum": ["celsius", "fahrenheit"]}
        },
        "required": ["city"]
    });
    let tool = ToolSchema { name: "forecast", schema, hidden: Vec::new() };
    let print = |grammar: Grammar| grammar.print(syntax);
    let arguments = Grammar::of_arguments(&tool).map(print).unwrap_or_default();
    let calls = Grammar::of_calls(std::slice::from_ref(&tool)).map(print).unwrap_or_default();
    let (about, usage) = match syntax {
        Syntax::Gbnf => (GBNF, include_str!("pages/gbnf_use.md")),
        Syntax::Lark => (LARK, include_str!("pages/lark_use.md")),
    };
    format!(
        include_str!("pages/page.txt"),
        name = syntax.name(),
        about = about,
        parameters = tool.schema,
        arguments = arguments,
        // The rules after the first ones are the same.
        calls = calls.split_inclusive('\n').take(2).collect::<String>(),
        usage = usage,
    )
}

const GBNF: &str =
    "`gramc compile --target gbnf` writes a grammar in GBNF, the notation of llama.cpp. With this
grammar, a model can generate only calls of the tools.
";

const LARK: &str = "`gramc compile --target lark` writes a grammar in Lark, the notation of llguidance and OpenAI's
custom tools. With this grammar, a model can generate only calls of the tools.
";
