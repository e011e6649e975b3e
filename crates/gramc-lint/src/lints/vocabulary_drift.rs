use std::collections::HashMap;

use gramc_syntax::Code;

use crate::context::{FieldView, Linter};
use crate::lint::{Level, Lint, LintPass};
use gramc_check::Meaning;
use gramc_model::Type;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "vocabulary-drift",
        page: r#"# A name has different types in different signatures

A model that has passed a parameter to one tool expects the same type for a
parameter of the same name in another tool.

Declare the name as a vocabulary term, `(user::Text)` at the top level, so that
both parameters have its type. Or rename one of them. This lint is disabled by
default, because names such as `id` and `value` have several meanings in most
sets of tools.

```gram bad
[greet:Tool | (user::Text)==>(::Text)]

[dismiss:Tool | (user::Int)==>(::Null)]
```

```gram good
(user::Text {description: "A login name"})

[greet:Tool | (user)==>(::Text)]

[dismiss:Tool | (user)==>(::Null)]
```
"#,
    },
    level: Level::Allow,
    passes: &[LintPass::Whole(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>) {
    let mut known: HashMap<&str, (&Type, FieldView<'_>)> = HashMap::new();
    let parameters = cx.tools().flat_map(|view| view.parameters());
    for field in parameters.chain(cx.types().flat_map(|view| view.fields())) {
        if cx.known.term_names.find(field.file, None, &field.name) != Meaning::Unknown
            || cx.is_full(field.file)
        {
            continue;
        }
        let ty = cx.known.types.resolve(&field.field.type_use.ty);
        let (first, other) = *known.entry(&field.field.name).or_insert((ty, field));
        if first != ty {
            let message = format!("`{}` has a different type elsewhere", field.name);
            let diagnostic = cx
                .diagnostic(field.file, field.place(), message)
                .label_in(cx.texts[other.file].source(), other.place(), "the other one")
                .help(
                    "declare a term of this name at the top level, (name::Type), or use two names",
                );
            cx.add(field.file, diagnostic);
        }
    }
}
