use gram_syntax::Code;

use crate::lint::context::{Context, Report, ToolView};
use crate::lint::rule::{Look, Rule};
use crate::lint::words;
use crate::model::{Field, Host, Type};

pub(crate) static RULE: Rule = Rule {
    code: Code {
        name: "missing-description",
        page: r#"# A tool or a parameter has no description

All that a model knows of a tool is what its declaration says. Without a
description of the tool it guesses from the name when to call it; without one of
a parameter it guesses what to put there: which unit, which format, whose name.

Write a doc comment before it, or the attribute `description`. What means the
same in many tools is described once, as a vocabulary term. A parameter whose
declared type has a description needs none of its own, and neither does one that
the host supplies. What a term does not say is reported at the term, once.

```gram bad
[remind:Tool | (at::DateTime)==>(::Null)]
```

```gram good
/** Reminds the person who asks, by a message on their phone */
[remind:Tool |
  (at::DateTime {description: "When, in the person's own time zone"})==>(::Null)
]
```
"#,
    },
    looks: &[Look::Tool(look), Look::Module(terms)],
    ..Rule::COMMON
};

fn look(cx: &Context<'_>, view: &ToolView<'_>, report: &mut Report) {
    let tool = view.tool;
    if is_blank(tool.description.as_deref()) {
        let message = format!("the tool `{}` has no description", tool.name);
        let finding = cx.finding(&RULE, view.file, view.name, message).help(
            "say what it does and when to use it: /** … */ before it, or {description: \"…\"}",
        );
        report.add(view.file, finding);
    }
    let own = tool.parameters.iter().filter(|field| lacks_one(cx, field));
    // What a term does not say is missing there.
    for field in own.filter(|field| !is_brought(cx, view.file, field)) {
        if report.is_full(view.file) {
            return;
        }
        let message = format!("the parameter `{}` has no description", field.name);
        let finding = cx
            .finding(&RULE, view.file, view.place(field), message)
            .help("say what to put there: {description: \"…\"}, or /** … */ before it");
        report.add(view.file, finding);
    }
}

fn terms(cx: &Context<'_>, report: &mut Report) {
    for (term, file, name) in cx.terms().filter(|(term, ..)| lacks_one(cx, term)) {
        let message = format!("the term `{}` has no description", term.name);
        let finding = cx
            .finding(&RULE, file, name, message)
            .help("say what it means wherever it stands: /** … */ before it");
        report.add(file, finding);
    }
}

/// Whether a parameter has the description, or has none, because the term of its name has.
pub(super) fn is_brought(cx: &Context<'_>, file: usize, field: &Field) -> bool {
    let term = cx.term(file, &field.name);
    term.is_some_and(|term| term.field.slot.description == field.slot.description)
}

fn lacks_one(cx: &Context<'_>, field: &Field) -> bool {
    if !is_blank(field.slot.description.as_deref()) || field.host == Host::Injected {
        return false;
    }
    let ty = match &field.slot.ty {
        Type::Nullable(inner) => inner,
        ty => ty,
    };
    let Type::Named(id) = *ty else { return true };
    cx.known.types.get(id).is_none_or(|ty| is_blank(ty.slot.description.as_deref()))
}

fn is_blank(text: Option<&str>) -> bool {
    text.is_none_or(words::is_blank)
}
