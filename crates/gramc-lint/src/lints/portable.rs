//! One lint for each target: what of a tool does not fit it.

use gramc_syntax::{Code, Span};

use crate::context::{Linter, ToolView};
use crate::lint::{Level, Lint, LintPass};
use gramc_schema::emit::{Compilation, Entry, Options};
use gramc_schema::lower::{Became, Loss, Target};

/// Declares the lint about a target.
macro_rules! portable {
    ($lint:ident, $target:ident, $name:literal) => {
        pub(crate) static $lint: Lint = Lint {
            code: Code {
                name: concat!("portable-", $name),
                page: concat!(
                    "# A tool uses features not supported by the target ",
                    $name,
                    "

Features that the target does not support are moved to the description, encoded
as JSON in a text, or renamed. gramc still enforces them, but the model is no
longer prevented from violating them. Features with an equivalent in the target
are not reported.

`gramc explain ",
                    $name,
                    "` lists the supported features. The lint is
enabled if the `targets` of `gram.toml` contain `",
                    $name,
                    "`.

```gram bad
[`find files`:Tool |
  (name::Text {pattern: \"^[a-z]+$\"})==>(::`{paths: Text[]}`)
]
```

```gram good
[findFiles:Tool | (name::Text)==>(::`{paths: Text[]}`)]
```
"
                ),
            },
            level: Level::Allow,
            target: Some(Target::$target),
            passes: &[LintPass::Whole(run)],
            ..Lint::COMMON
        };
    };
}

portable!(ANTHROPIC, Anthropic, "anthropic");
portable!(ANTHROPIC_STRICT, AnthropicStrict, "anthropic-strict");
portable!(BEDROCK, Bedrock, "bedrock");
portable!(GEMINI, Gemini, "gemini");
portable!(GEMINI_JSON, GeminiJson, "gemini-json");
portable!(LLAMACPP, LlamaCpp, "llamacpp");
portable!(MCP, Mcp, "mcp");
portable!(MISTRAL, Mistral, "mistral");
portable!(OLLAMA, Ollama, "ollama");
portable!(OPENAI, OpenAi, "openai");
portable!(OPENAI_FUNCTIONS, OpenAiFunctions, "openai-functions");
portable!(OPENAI_RESPONSES, OpenAiResponses, "openai-responses");
portable!(OPENAI_STRICT, OpenAiStrict, "openai-strict");
portable!(VLLM, Vllm, "vllm");

/// The lint about JSON Schema itself, which holds everything.
pub(crate) static JSON_SCHEMA: Lint = Lint {
    code: Code {
        name: "portable-json-schema",
        page: "\
# A tool uses features not supported by JSON Schema

JSON Schema supports everything a tool can declare, so this lint never reports a
diagnostic. It exists because every target has a lint.

```gram good
[findFiles:Tool | (name::Text)==>(::`{paths: Text[]}`)]
```
",
    },
    level: Level::Allow,
    target: Some(Target::JsonSchema),
    passes: &[],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>) {
    let (Some(module), Some(target)) = (cx.project.valid, cx.lint.target) else { return };
    let mut options = Options::new(target, cx.texts.len());
    options.expanded = true;
    let compilation = Compilation::new(module, &options);
    let mut views = cx.tools();
    for entry in compilation.entries() {
        let Entry::Tool(tool) = entry else { continue };
        let Some(view) = views.find(|view| std::ptr::eq(view.tool, *tool)) else { return };
        // Lowering costs more than all else that a lint does.
        if cx.is_full(view.file) {
            continue;
        }
        let is_reported = |loss: &&Loss| is_grave(loss) && !target.is_in_result(&loss.path);
        for loss in compilation.compile(*entry).losses().iter().filter(is_reported) {
            let text = loss.to_string();
            let what = text.strip_prefix(&format!("{}: ", tool.name)).unwrap_or(&text);
            let what = what.trim_end_matches('.');
            let target = target.name();
            let message = match what.strip_prefix("name ") {
                Some(what) => format!("for {target}, the tool `{}` {what}", tool.name),
                None => format!("for {target}, {what}"),
            };
            let diagnostic = cx
                .diagnostic(view.file, place(&view, &loss.path), message)
                .help(format!("run `gramc explain {target}` for the limits of the target"));
            cx.add(view.file, diagnostic);
        }
    }
}

/// Whether something is lost for the model, and not only said in another way.
fn is_grave(loss: &Loss) -> bool {
    let same = matches!(loss.became, Became::Rewritten { .. } | Became::Inlined | Became::Nullable);
    // What was not written was hardly meant.
    let default = loss.became == Became::Closed && loss.value.is_null();
    // Models read examples in the description, too.
    !same && !default && loss.path != "examples"
}

fn place(view: &ToolView<'_>, path: &str) -> Span {
    let Some(rest) = path.strip_prefix("properties") else { return view.name };
    let belongs = |name: &str| {
        let plain = rest.strip_prefix('.').and_then(|rest| rest.strip_prefix(name));
        let quoted = format!("[{}]", serde_json::Value::from(name));
        plain
            .or_else(|| rest.strip_prefix(&quoted))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let field = view.parameters().find(|field| belongs(&field.name));
    field.map_or(view.name, |field| field.place())
}
