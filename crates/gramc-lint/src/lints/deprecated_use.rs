use std::collections::HashMap;

use gramc_syntax::{Code, Node, NodeKind as N, Span};

use crate::context::{FieldView, Linter, ListedTool, ToolView, TypeView};
use crate::lint::{Lint, LintPass};
use gramc_check::Meaning;
use gramc_model::TypeUse;
use gramc_model::walk::names_of_type_use;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "deprecated-use",
        page: r"# A deprecated declaration is used

The declaration is marked as deprecated and may be removed. Uses inside
deprecated declarations are not reported.

Use the replacement.

```gram bad
[find:Tool {deprecated: true} | (query::Text)==>(::`Text[]`)]

[search:Tool | (query::Text)==>(limit::Int)==>(::`Text[]`)]

[librarian:Agent | find, search]
```

```gram good
[find:Tool {deprecated: true} | (query::Text)==>(::`Text[]`)]

[search:Tool | (query::Text)==>(limit::Int)==>(::`Text[]`)]

[librarian:Agent | search]
```
",
    },
    passes: &[LintPass::Tool(tool), LintPass::Type(ty), LintPass::Module(members)],
    ..Lint::COMMON
};

fn tool(cx: &Linter<'_>, view: &ToolView<'_>) {
    if view.tool.deprecated {
        return;
    }
    for field in view.parameters() {
        if is_deprecated(&field.type_use) {
            check_term(cx, &field);
            continue;
        }
        check_types(cx, view.file, &field.type_use, || {
            // Terms are reported at their declaration.
            let node = field.node().filter(|node| node.subject().labels_node().is_some());
            node.map(|_| field.place())
        });
    }
    let result = || Some(view.result().map_or(view.name, Node::span));
    check_types(cx, view.file, &view.tool.result.type_use, result);
}

/// Checks a deprecated parameter, whose type may be that of a deprecated term.
fn check_term(cx: &Linter<'_>, field: &FieldView<'_>) {
    let is_typed = |node: Node<'_>| node.subject().labels_node().is_some();
    if cx.is_full(field.file) || field.node().is_none_or(is_typed) {
        return;
    }
    if let Meaning::One(file, term) = cx.known.term_names.find(field.file, None, &field.name)
        && cx.known.terms.get(term).is_some_and(|term| is_deprecated(&term.field.type_use))
    {
        let declared = cx.known.term_places.get(term).map(|place| (file, place.name));
        add(cx, field.file, field.place(), ("term", &field.name), declared);
    }
}

fn ty(cx: &Linter<'_>, view: &TypeView<'_>) {
    if is_deprecated(&view.declaration.type_use) {
        return;
    }
    let is_around = |it: &ListedTool<'_>| it.file == view.file && it.at.span().contains(view.name);
    // A type inside of a deprecated tool belongs to it.
    let is_own = || {
        let mut deprecated = cx.project.tools.iter().filter(|it| it.tool().deprecated);
        !view.declaration.local || !deprecated.any(is_around)
    };
    for field in view.fields().filter(|field| !is_deprecated(&field.type_use)) {
        check_types(cx, view.file, &field.type_use, || is_own().then(|| field.place()));
    }
    if view.fields().next().is_none() {
        let place = || is_own().then_some(view.name);
        check_types(cx, view.file, &view.declaration.type_use, place);
    }
}

fn check_types(cx: &Linter<'_>, file: usize, type_use: &TypeUse, place: impl Fn() -> Option<Span>) {
    names_of_type_use(type_use, &mut |id| {
        let declared = cx.known.types.get(id).is_some_and(|ty| is_deprecated(&ty.type_use));
        if declared
            && !cx.is_full(file)
            && let (Some(view), Some(place)) = (cx.ty(id), place())
        {
            let name = &view.declaration.name;
            add(cx, file, place, ("type", name), Some((view.file, view.name)));
        }
    });
}

/// Checks the types of terms and of the results of agents, and the members of agents and containers.
fn members(cx: &Linter<'_>) {
    for (term, file, name) in cx.terms().filter(|(term, ..)| !is_deprecated(&term.type_use)) {
        check_types(cx, file, &term.type_use, || Some(name));
    }
    let spans = &cx.module.spans;
    for (agent, place) in cx.module.agents.iter().zip(&spans.agents) {
        if let Some(ty) = &agent.result {
            check_types(cx, place.file, &TypeUse::new(ty.clone()), || Some(place.name));
        }
    }
    if spans.agents.is_empty() && spans.containers.is_empty() {
        return;
    }
    let deprecated = cx.project.tools.iter().filter(|it| it.tool().deprecated);
    let deprecated: HashMap<_, _> = deprecated.map(|it| (it.tool().name.as_str(), it)).collect();
    for place in spans.agents.iter().chain(&spans.containers) {
        let node = cx.texts[place.file].tree().node(place.node);
        for element in node.elements().filter(|element| element.kind() == N::PatternReference) {
            let name = element.children().next().map(Node::content).unwrap_or_default();
            if let Some(listed) = deprecated.get(&*name) {
                let declared = Some((listed.file, listed.place()));
                add(cx, place.file, element.span(), ("tool", &name), declared);
            }
        }
    }
}

fn is_deprecated(type_use: &TypeUse) -> bool {
    type_use.details.as_ref().is_some_and(|details| details.deprecated)
}

/// Reports a use. `name` has the kind of the declaration before it.
fn add(
    cx: &Linter<'_>,
    file: usize,
    span: Span,
    name: (&str, &str),
    declared: Option<(usize, Span)>,
) {
    let (kind, name) = name;
    let mut diagnostic = cx.diagnostic(file, span, format!("the {kind} `{name}` is deprecated"));
    if let Some((other, span)) = declared {
        diagnostic = diagnostic.label_in(cx.texts[other].source(), span, "deprecated here");
    }
    cx.add(file, diagnostic.help("use its replacement"));
}
