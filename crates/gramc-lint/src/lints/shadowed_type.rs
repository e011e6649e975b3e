use gramc_syntax::Code;

use crate::context::{Linter, TypeView};
use crate::lint::{Lint, LintPass};
use gramc_check::Meaning;
use gramc_model::TypeId;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "shadowed-type",
        page: r"# A type shadows another type

A type declared inside a tool shadows the type of the same name outside, and a
type of a file shadows an imported one. The signature alone does not show which
type applies.

Rename one of them, or remove the inner one if both have the same meaning.

```gram bad
[send:Tool | (to::Address)==>(::Null),
  [Address::Record | (street::Text), (city::Text)]
]

[Address::Record | (mail::Email)]

[forget:Tool | (who::Address)==>(::Null)]
```

```gram good
[send:Tool | (to::PostalAddress)==>(::Null),
  [PostalAddress::Record | (street::Text), (city::Text)]
]

[Address::Record | (mail::Email)]

[forget:Tool | (who::Address)==>(::Null)]
```
",
    },
    passes: &[LintPass::Type(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, view: &TypeView<'_>) {
    let name = &view.declaration.name;
    let hidden = if view.declaration.local {
        match cx.known.type_names.find(view.file, None, name) {
            // One in a file that has nothing to do with this one is not hidden by it.
            Meaning::One(file, id) if file == view.file || imports(cx, view.file, file) => Some(id),
            _ => None,
        }
    } else {
        imported_type(cx, view)
    };
    let Some(other) = hidden.filter(|id| *id != view.id).and_then(|id| cx.ty(id)) else { return };
    let message = format!("this `{name}` hides another type `{name}`");
    let diagnostic = cx
        .diagnostic(view.file, view.name, message)
        .label_in(cx.texts[other.file].source(), other.name, "the hidden one")
        .help("rename one of them, or remove this one if both mean the same");
    cx.add(view.file, diagnostic);
}

fn imports(cx: &Linter<'_>, file: usize, other: usize) -> bool {
    cx.imports.get(file).is_some_and(|imports| imports.iter().any(|(_, text)| *text == other))
}

/// The type of the same name in a file that the type's own file imports.
fn imported_type(cx: &Linter<'_>, view: &TypeView<'_>) -> Option<TypeId> {
    let imports = cx.imports.get(view.file)?;
    let name = &view.declaration.name;
    imports.iter().find_map(|(_, text)| cx.known.type_names.of_file(*text, name))
}
