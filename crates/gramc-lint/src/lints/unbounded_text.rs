use gramc_syntax::Code;

use crate::context::{Linter, ToolView};
use crate::lint::{Level, Lint, LintPass};
use gramc_model::{Constraint, Type, TypeUse};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "unbounded-text",
        page: r"# A text has no maximum length

Without a bound, a model can send a text of any size. Set a length, a pattern, a
format or an enum.

This lint is disabled by default, because many tools accept texts of any length.
Set a maximum, such as `length: ...200`.

```gram bad
[rename:Tool | (name::Text)==>(::Null)]
```

```gram good
[rename:Tool | (name::Text {length: 1..200})==>(::Null)]
```
",
    },
    level: Level::Allow,
    passes: &[LintPass::Tool(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, view: &ToolView<'_>) {
    for field in view.model_parameters() {
        let mut type_use = &field.field.type_use;
        // Bounds may be set at the use, or at any alias of the type.
        let mut bounded = is_bounded(type_use);
        for _ in 0..=cx.known.types.0.len() {
            let Type::Named(id) = type_use.ty else { break };
            let Some(declared) = cx.known.types.get(id) else { break };
            type_use = &declared.type_use;
            bounded |= is_bounded(type_use);
        }
        let text = match &type_use.ty {
            Type::Nullable(inner) => **inner == Type::Text,
            ty => *ty == Type::Text,
        };
        if cx.is_full(view.file) {
            return;
        }
        if text && !bounded {
            let message = format!("the text `{}` has no maximum length", field.name);
            let diagnostic = cx
                .diagnostic(view.file, field.place(), message)
                .help("add {length: ...200}, a pattern, a format or an enum");
            cx.add(view.file, diagnostic);
        }
    }
}

fn is_bounded(type_use: &TypeUse) -> bool {
    type_use.constraints.iter().any(|constraint| {
        matches!(
            constraint,
            Constraint::MaxLength(_)
                | Constraint::Enum(_)
                | Constraint::Const(_)
                | Constraint::Pattern(_)
                | Constraint::Format(_)
        )
    })
}
