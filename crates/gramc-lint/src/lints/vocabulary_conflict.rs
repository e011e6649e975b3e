use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Fix, Node};

use crate::context::{FieldView, Linter};
use crate::lint::{Lint, LintPass};
use gramc_check::Meaning;
use gramc_model::{Field, Type};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "vocabulary-conflict",
        page: r#"# The type of a parameter conflicts with the vocabulary

A vocabulary term defines a name for all signatures. A parameter or field of
that name with a different type is easily mistaken for the term.

Remove the type to use the type of the term, or choose another name.

```gram bad
(person::Text {description: "A full name"})

[greet:Tool | (person)==>(::Text)]

[dismiss:Tool | (person::Int)==>(::Null)]
```

```gram good
(person::Text {description: "A full name"})

[greet:Tool | (person)==>(::Text)]

[dismiss:Tool | (personId::Int)==>(::Null)]
```
"#,
    },
    fix: Some(NeedsLook),
    passes: &[LintPass::Field(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, field: &FieldView<'_>) {
    if cx.known.terms.is_empty() {
        return;
    }
    let Meaning::One(other, index) = cx.known.term_names.find(field.file, None, &field.name) else {
        return;
    };
    let Some(term) = cx.known.terms.get(index) else { return };
    if own_type(cx, &term.field) == own_type(cx, field) || cx.is_full(field.file) {
        return;
    }
    let Some(subject) = field.node().map(Node::subject) else { return };
    // Without a type of its own it is the term, whose type an attribute made nullable.
    let (Some(name), Some(labels)) = (subject.identifier, subject.labels_node()) else { return };
    let message = format!("`{}` has a different type than the vocabulary term", field.name);
    let mut diagnostic = cx.diagnostic(field.file, name.span(), message);
    if let Some(place) = cx.known.term_places.get(index) {
        diagnostic = diagnostic.label_in(cx.texts[other].source(), place.name, "the term");
    }
    let fix = Fix::replace(NeedsLook, "use the term's type", labels.span(), "");
    cx.add(field.file, diagnostic.help("remove the type, or choose another name").fix(fix));
}

/// The type of a field that names refer to; a record is its own type. Whether null may be in
/// its place does not matter: the thing is the same, and may be absent.
fn own_type<'a>(cx: &'a Linter<'_>, field: &'a Field) -> &'a Type {
    let mut ty = &field.type_use.ty;
    loop {
        ty = match ty {
            Type::Nullable(inner) => inner,
            Type::Named(id) => {
                match cx.known.types.get(*id).map(|declared| &declared.type_use.ty) {
                    Some(inner) if !matches!(inner, Type::Object(_)) => inner,
                    _ => return ty,
                }
            }
            _ => return ty,
        };
    }
}
