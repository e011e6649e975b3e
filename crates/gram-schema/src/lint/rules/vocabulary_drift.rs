use std::collections::HashMap;

use gram_syntax::{Code, Span};

use crate::check::Meaning;
use crate::lint::context::{Context, Report};
use crate::lint::rule::{Level, Look, Rule};
use crate::model::{Field, Type};

pub(crate) static RULE: Rule = Rule {
    code: Code {
        name: "vocabulary-drift",
        page: r#"# A name is used with two types, and no term says what it means

The same name with different types in two signatures mostly means two things, or
one thing that was declared carelessly. A model that filled in the one will fill
in the other likewise.

Declare the term, so that both take its type: `(user::Text)` at the top level.
Or give different things different names. This lint is off unless it is turned
on, since names such as `id` and `value` mean many things in most collections of
tools.

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
    fix: None,
    options: &[],
    target: None,
    looks: &[Look::Module(look)],
};

fn look(cx: &Context<'_>, report: &mut Report) {
    let mut known: HashMap<&str, (&Type, usize, Span)> = HashMap::new();
    for view in cx.tools() {
        for field in &view.tool.parameters {
            compare(cx, (field, view.file, &|| view.place(field)), &mut known, report);
        }
    }
    for view in cx.module.types.iter().filter_map(|(id, _)| cx.ty(id)) {
        for field in view.fields() {
            compare(cx, (field, view.file, &|| view.place(field)), &mut known, report);
        }
    }
}

fn compare<'a>(
    cx: &Context<'a>,
    (field, file, place): (&'a Field, usize, &dyn Fn() -> Span),
    known: &mut HashMap<&'a str, (&'a Type, usize, Span)>,
    report: &mut Report,
) {
    if cx.terms.find(file, None, &field.name) != Meaning::Unknown {
        return;
    }
    let ty = cx.module.types.resolve(&field.slot.ty);
    let Some(&(first, other, span)) = known.get(field.name.as_str()) else {
        known.insert(&field.name, (ty, file, place()));
        return;
    };
    if first != ty {
        let message = format!("`{}` has another type elsewhere", field.name);
        let finding = cx
            .finding(&RULE, file, place(), message)
            .label_in(cx.texts[other].source(), span, "the other one")
            .help(format!(
                "declare the term ({}::Text) at the top level, or use different names",
                field.name
            ));
        report.add(file, finding);
    }
}
