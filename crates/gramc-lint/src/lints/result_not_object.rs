use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Fix, Node};

use crate::context::{Linter, ToolView};
use crate::lint::{Level, Lint, LintPass};
use gramc_model::Type;
use gramc_schema::lower::Target;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "result-not-object",
        page: r"# The result of an MCP tool is not an object

Revisions of the Model Context Protocol before 2026 support an output schema
only for results that are objects. For any other result, the client receives no
schema, so it can neither validate the result nor use it as data.

Put the result into an object, in a field with a descriptive name. This lint is
enabled if the `targets` of `gram.toml` contain `mcp`; results of the types
`Null` and `Any` are allowed.

```gram bad
[countWords:Tool | (text::Text)==>(::Int)]
```

```gram good
[countWords:Tool | (text::Text)==>(::`{words: Int}`)]
```
",
    },
    level: Level::Allow,
    fix: Some(NeedsLook),
    target: Some(Target::Mcp),
    passes: &[LintPass::Tool(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, view: &ToolView<'_>) {
    let ty = cx.known.types.resolve(&view.tool.result.type_use.ty);
    if matches!(ty, Type::Object(_) | Type::Map(_) | Type::Any | Type::Null) {
        return;
    }
    let Some(node) = view.result() else { return };
    let message = format!("the result of `{}` is not an object", view.tool.name);
    let mut diagnostic = cx
        .diagnostic(view.file, node.span(), message)
        .help("wrap it in an object: (::{result: Text})");
    let label = node.subject().labels().next();
    if let (Some(label), None) = (label, node.subject().record) {
        // A type in backticks stays in backticks.
        let inner = label.text();
        let text = match inner.strip_prefix('`').and_then(|inner| inner.strip_suffix('`')) {
            Some(inner) => format!("`{{result: {inner}}}`"),
            None => format!("{{result: {inner}}}"),
        };
        let fix = Fix::replace(NeedsLook, "wrap it in an object", Node::span(label), text);
        diagnostic = diagnostic.fix(fix);
    }
    cx.add(view.file, diagnostic);
}
