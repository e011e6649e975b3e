use gram_syntax::Code;

use crate::context::{Context, Report, ToolView};
use crate::lint::{Lint, LintOption, LintPass};
use gram_model::ValueSource;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "too-many-parameters",
        page: r"# A tool has too many parameters

With every parameter there is one more thing to get wrong, and the parameters
that matter are harder to see. A tool with very many of them mostly does several
things.

Split it into tools that each do one thing, put what belongs together into a
record, or let the host supply what the model need not decide: `pinned` and
`injected` parameters are not counted.

`max` in `gram.toml` sets another limit than 10: `too-many-parameters = {max =
15}`.

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
        about: "the most parameters that a model fills in",
        default: "10",
    }],
    passes: &[LintPass::Tool(run)],
    ..Lint::COMMON
};

fn run(cx: &Context<'_>, view: &ToolView<'_>, report: &mut Report) {
    let most = cx.settings.max_parameters;
    let count =
        view.tool.parameters.iter().filter(|field| field.source == ValueSource::Model).count();
    if count > most {
        let message = format!("the tool `{}` takes {count} parameters", view.tool.name);
        let help =
            format!("take at most {most}: split the tool, or group related parameters in a record");
        report.add(view.file, cx.diagnostic(&LINT, view.file, view.name, message).help(help));
    }
}
