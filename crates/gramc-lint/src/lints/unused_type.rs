use std::collections::HashSet;

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Fix, Span};

use gramc_check::Meaning;

use crate::context::{Linter, TypeView};
use crate::lint::{Lint, LintPass};
use gramc_model::walk::names_of_type_use;
use gramc_model::{TypeId, TypeUse};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "unused-type",
        page: r"# A declared type is unused

No tool, term, agent or library uses the type, directly or through another type.
Its last use may have been removed, or a use may contain a typo.

Remove the declaration. The lint ignores files that contain only types and that
no checked file imports, because other projects may share them.

```gram bad
[send:Tool | (to::Email)==>(::Null)]

[Address::Record | (street::Text), (city::Text)]
```

```gram good
[send:Tool | (to::Address)==>(::Null)]

[Address::Record | (street::Text), (city::Text)]
```
",
    },
    fix: Some(NeedsLook),
    passes: &[LintPass::Module(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>) {
    // What a broken declaration uses is not known.
    if cx.project.valid.is_none() || cx.known.types.0.is_empty() {
        return;
    }
    let used = find_used_types(cx);
    let in_use = files_in_use(cx);
    for (id, declaration) in cx.known.types.iter() {
        let Some(view) = cx.ty(id).filter(|_| !used.contains(&id)) else { continue };
        if !declaration.local && !in_use.contains(&view.file) {
            continue;
        }
        let message = format!("unused type `{}`", declaration.name);
        let mut diagnostic =
            cx.diagnostic(view.file, view.name, message).help("remove it, or use it");
        if !declaration.local {
            let fix = Fix::replace(NeedsLook, "remove the declaration", removal(cx, &view), "");
            diagnostic = diagnostic.fix(fix);
        }
        cx.add(view.file, diagnostic);
    }
}

/// The types that tools, terms, agents and libraries need, directly or through other types.
fn find_used_types(cx: &Linter<'_>) -> HashSet<TypeId> {
    let mut next = cx.project.named.to_vec();
    let mut add = |type_use: &TypeUse| names_of_type_use(type_use, &mut |id| next.push(id));
    cx.known.terms.iter().for_each(|term| add(&term.field.type_use));
    for ty in cx.module.agents.iter().filter_map(|agent| agent.result.clone()) {
        add(&TypeUse::new(ty));
    }
    let implementations = cx.module.libraries.iter().flat_map(|library| &library.implementations);
    for signature in implementations.filter_map(|implementation| implementation.signature.as_ref())
    {
        signature.parameters.iter().for_each(|parameter| add(&parameter.type_use));
        add(&signature.result.type_use);
    }
    let mut used = HashSet::new();
    while let Some(id) = next.pop() {
        if let (true, Some(declared)) = (used.insert(id), cx.known.types.get(id)) {
            names_of_type_use(&declared.type_use, &mut |id| next.push(id));
            add_extended(cx, id, &mut next);
        }
    }
    used
}

/// Adds the records whose fields a type takes over.
fn add_extended(cx: &Linter<'_>, id: TypeId, next: &mut Vec<TypeId>) {
    let Some(view) = cx.ty(id) else { return };
    let mut entries = view.node.subject().entries();
    let Some(extends) = entries.find(|entry| entry.key.content() == "extends") else { return };
    for parent in extends.value.children() {
        if let Meaning::One(_, id) = cx.known.type_names.find(view.file, None, &parent.content()) {
            next.push(id);
        }
    }
}

/// The files that use types themselves, or that a checked file imports.
fn files_in_use(cx: &Linter<'_>) -> HashSet<usize> {
    let spans = &cx.module.spans;
    let holders = spans.agents.iter().chain(cx.known.term_places);
    let mut files: HashSet<usize> = holders.map(|place| place.file).collect();
    files.extend(cx.project.tools.iter().map(|it| it.file));
    files.extend(cx.imports.iter().flatten().map(|(_, file)| *file));
    files
}

/// The declaration with its doc comment and annotations, and the empty lines behind it.
fn removal(cx: &Linter<'_>, view: &TypeView<'_>) -> Span {
    let top = cx.texts[view.file].tree().nodes_at(view.node.span().start);
    let whole = top.get(1).copied().unwrap_or(view.node);
    let start = whole.doc().map_or(whole.span().start, |doc| doc.span().start);
    let text = cx.texts[view.file].source().text();
    let after = text.get(whole.span().end as usize..).unwrap_or_default();
    let space = after.len() - after.trim_start().len();
    let end = whole.span().end + u32::try_from(space).unwrap_or_default();
    Span::new(start, end)
}
