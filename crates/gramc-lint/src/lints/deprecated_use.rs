use gramc_syntax::{Code, Node, NodeKind as N, Span};

use crate::context::{Context, ListedTool, Report, ToolView, TypeView};
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

fn tool(cx: &Context<'_>, view: &ToolView<'_>, report: &mut Report) {
    if view.tool.deprecated {
        return;
    }
    for field in &view.tool.parameters {
        term(cx, view, field, report);
        if is_deprecated(&field.type_use) {
            continue;
        }
        types(cx, view.file, &field.type_use, report, || {
            // Terms are reported at their declaration.
            let node = view.parameter(field).filter(|node| node.subject().labels_node().is_some());
            node.map(|_| view.place(field))
        });
    }
    let result = || Some(view.result().map_or(view.name, Node::span));
    types(cx, view.file, &view.tool.result.type_use, report, result);
}

/// A parameter that takes its type from a deprecated term.
fn term(cx: &Context<'_>, view: &ToolView<'_>, field: &gramc_model::Field, report: &mut Report) {
    if !is_deprecated(&field.type_use) || report.is_full(view.file) {
        return;
    }
    let Some(node) = view.parameter(field) else { return };
    if node.subject().labels_node().is_some() {
        return;
    }
    let Meaning::One(file, term) = cx.known.term_names.find(view.file, None, &field.name) else {
        return;
    };
    if cx.known.terms.get(term).is_some_and(|term| is_deprecated(&term.field.type_use)) {
        let declared = cx.known.term_places.get(term).map(|place| (file, place.name));
        add(cx, view.file, view.place(field), "term", &field.name, declared, report);
    }
}

fn ty(cx: &Context<'_>, view: &TypeView<'_>, report: &mut Report) {
    if is_deprecated(&view.declaration.type_use) {
        return;
    }
    // One inside of a tool that is deprecated belongs to it.
    let local = view.declaration.local;
    let holds = |it: &ListedTool<'_>| {
        let span = it.at.span();
        it.tool().deprecated
            && it.file == view.file
            && span.start <= view.name.start
            && view.name.end <= span.end
    };
    let own = || !local || !cx.summaries().iter().any(holds);
    for field in view.fields().iter().filter(|field| !is_deprecated(&field.type_use)) {
        types(cx, view.file, &field.type_use, report, || own().then(|| view.place(field)));
    }
    if view.fields().is_empty() {
        types(cx, view.file, &view.declaration.type_use, report, || own().then_some(view.name));
    }
}

/// The deprecated types that a place names.
fn types(
    cx: &Context<'_>,
    file: usize,
    type_use: &TypeUse,
    report: &mut Report,
    place: impl Fn() -> Option<Span>,
) {
    names_of_type_use(type_use, &mut |id| {
        let declared = cx.known.types.get(id).is_some_and(|ty| is_deprecated(&ty.type_use));
        if !declared || report.is_full(file) {
            return;
        }
        let (Some(view), Some(place)) = (cx.ty(id), place()) else { return };
        let name = &view.declaration.name;
        add(cx, file, place, "type", name, Some((view.file, view.name)), report);
    });
}

/// The deprecated types that terms and the results of agents name, and the deprecated tools that
/// agents and containers hold.
fn members(cx: &Context<'_>, report: &mut Report) {
    for (term, file, name) in cx.terms().filter(|(term, ..)| !is_deprecated(&term.type_use)) {
        types(cx, file, &term.type_use, report, || Some(name));
    }
    for (agent, place) in cx.module.agents.iter().zip(&cx.module.spans.agents) {
        if let Some(ty) = &agent.result {
            types(cx, place.file, &TypeUse::new(ty.clone()), report, || Some(place.name));
        }
    }
    let spans = &cx.module.spans;
    if spans.agents.is_empty() && spans.containers.is_empty() {
        return;
    }
    let deprecated: std::collections::HashMap<_, _> = cx
        .summaries()
        .iter()
        .filter(|it| it.tool().deprecated)
        .map(|it| (&it.tool().name, it))
        .collect();
    if deprecated.is_empty() {
        return;
    }
    for place in spans.agents.iter().chain(&spans.containers) {
        let node = cx.texts[place.file].tree().node(place.node);
        for element in node.elements().filter(|element| element.kind() == N::PatternReference) {
            let Some(listed) = deprecated.get(&smol_str::SmolStr::new(name(element))) else {
                continue;
            };
            let declared = Some((listed.file, listed.place()));
            add(cx, place.file, element.span(), "tool", &listed.tool().name, declared, report);
        }
    }
}

fn name(element: Node<'_>) -> std::borrow::Cow<'_, str> {
    element.children().next().map(Node::content).unwrap_or_default()
}

fn is_deprecated(type_use: &TypeUse) -> bool {
    type_use.details.as_ref().is_some_and(|details| details.deprecated)
}

fn add(
    cx: &Context<'_>,
    file: usize,
    span: Span,
    kind: &str,
    name: &str,
    declared: Option<(usize, Span)>,
    report: &mut Report,
) {
    let mut diagnostic =
        cx.diagnostic(&LINT, file, span, format!("the {kind} `{name}` is deprecated"));
    if let Some((other, span)) = declared {
        diagnostic = diagnostic.label_in(cx.texts[other].source(), span, "deprecated here");
    }
    report.add(file, diagnostic.help("use its replacement"));
}
