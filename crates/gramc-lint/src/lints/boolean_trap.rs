use gramc_syntax::Code;

use crate::context::{FieldView, Linter, ToolView};
use crate::lint::{Lint, LintPass};
use gramc_model::Type;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "boolean-trap",
        page: r#"# A tool has several required booleans

A model has to choose a value for each of them in every call. Several required
booleans often encode one choice with a few valid combinations.

Add defaults to the booleans, or replace them with one parameter with named
values.

```gram bad
[deploy:Tool | (draft::Bool)==>(public::Bool)==>(name::Text)==>(::Null)]
```

```gram good
[deploy:Tool |
  (visibility::`"draft" | "internal" | "public"`)==>(name::Text)==>(::Null)
]

[publish:Tool | (notify::Bool {default: true})==>(pin::Bool)==>(::Null)]
```
"#,
    },
    passes: &[LintPass::Tool(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, view: &ToolView<'_>) {
    let is_one = |field: &FieldView<'_>| {
        field.required() && *cx.known.types.resolve(&field.type_use.ty) == Type::Boolean
    };
    let fields: Vec<_> = view.model_parameters().collect();
    let runs = fields.chunk_by(|a, b| is_one(a) && is_one(b)).filter(|run| run.len() > 1);
    for run in runs {
        let mut names: Vec<_> = run.iter().map(|field| format!("`{}`", field.name)).collect();
        if run.len() > MAX_NAMED {
            names.truncate(MAX_NAMED - 1);
            names.push(format!("{} others", run.len() + 1 - MAX_NAMED));
        }
        let (Some((last, names)), Some((first, others))) = (names.split_last(), run.split_first())
        else {
            continue;
        };
        let message = format!("{} and {last} are required booleans in a row", names.join(", "));
        let mut diagnostic = cx.diagnostic(view.file, first.place(), message);
        for field in others.iter().take(MAX_NAMED) {
            diagnostic = diagnostic.label(field.place(), "");
        }
        cx.add(view.file, diagnostic.help(HELP));
    }
}

/// The maximum number of booleans named in a message.
const MAX_NAMED: usize = 6;

const HELP: &str = "give them defaults, or make them one parameter with named values, such as \
                    `\"draft\" | \"public\"`";
