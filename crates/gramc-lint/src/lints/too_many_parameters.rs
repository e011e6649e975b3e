use gramc_syntax::Code;

use crate::context::{Linter, ToolView};
use crate::lint::{Lint, LintOption, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "too-many-parameters",
        page: r"# A tool has too many parameters

Every parameter is another value that a model can get wrong. A tool with many
parameters often has several purposes.

Split it into several tools, group related parameters in a record, or let the
host supply values that the model does not choose: `pinned` and `injected`
parameters are not counted.

The default limit is 10. Set `max` in `gram.toml` to change it:
`too-many-parameters = {max = 15}`.

```gram bad
[book:Tool |
  (name::Text)==>(street::Text)==>(city::Text)==>(zip::Text)==>(country::Text)
  ==>(mail::Email)==>(arrival::Date)==>(departure::Date)==>(guests::Int)
  ==>(room::Text)==>(notes::Text)==>(::Text)
]
```

```gram good
[book:Tool |
  (guest::Guest)==>(arrival::Date)==>(departure::Date)==>(guests::Int)
  ==>(room::Text)==>(notes::Text)==>(::Text)
]

[Guest::Record |
  (name::Text),
  (street::Text),
  (city::Text),
  (zip::Text),
  (country::Text),
  (mail::Email)
]
```
",
    },
    options: &[LintOption {
        name: "max",
        about: "the maximum number of parameters that a model fills in",
        default: "10",
    }],
    passes: &[LintPass::Tool(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, view: &ToolView<'_>) {
    let most = cx.settings.max_parameters;
    let count = view.model_parameters().count();
    if count > most {
        let message = format!("the tool `{}` takes {count} parameters", view.tool.name);
        let help =
            format!("take at most {most}: split the tool, or group related parameters in a record");
        cx.add(view.file, cx.diagnostic(view.file, view.name, message).help(help));
    }
}
