use std::collections::HashMap;

use gramc_syntax::{Code, Span};

use crate::context::{Context, Report, ToolView, TypeView};
use crate::lint::{Level, Lint, LintPass};
use gramc_check::Meaning;
use gramc_model::{Field, Type};

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

/// The first type of each name, and its location.
type Known<'a> = HashMap<&'a str, (&'a Type, usize, Owner<'a>)>;

/// What a parameter or field belongs to.
#[derive(Clone, Copy)]
enum Owner<'a> {
    Tool(ToolView<'a>),
    Type(TypeView<'a>),
}

impl Owner<'_> {
    fn place(&self, field: &Field) -> Span {
        match self {
            Self::Tool(tool) => tool.place(field),
            Self::Type(ty) => ty.place(field),
        }
    }
}

fn run(cx: &Context<'_>, report: &mut Report) {
    let mut known: Known<'_> = HashMap::new();
    for view in cx.tools() {
        for field in &view.tool.parameters {
            compare(cx, field, view.file, Owner::Tool(view), &mut known, report);
        }
    }
    for view in cx.known.types.iter().filter_map(|(id, _)| cx.ty(id)) {
        for field in view.fields() {
            compare(cx, field, view.file, Owner::Type(view), &mut known, report);
        }
    }
}

fn compare<'a>(
    cx: &Context<'a>,
    field: &'a Field,
    file: usize,
    owner: Owner<'a>,
    known: &mut Known<'a>,
    report: &mut Report,
) {
    if cx.known.term_names.find(file, None, &field.name) != Meaning::Unknown || report.is_full(file)
    {
        return;
    }
    let ty = cx.known.types.resolve(&field.type_use.ty);
    let Some(&(first, other, of)) = known.get(field.name.as_str()) else {
        known.insert(&field.name, (ty, file, owner));
        return;
    };
    if first != ty {
        let message = format!("`{}` has a different type elsewhere", field.name);
        let diagnostic = cx
            .diagnostic(&LINT, file, owner.place(field), message)
            .label_in(cx.texts[other].source(), of.place(field), "the other one")
            .help("declare a term of this name at the top level, (name::Type), or use two names");
        report.add(file, diagnostic);
    }
}
