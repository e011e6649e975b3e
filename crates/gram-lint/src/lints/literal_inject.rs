use gram_syntax::{Code, Node, Span};
use serde_json::Value;
use smol_str::SmolStr;

use crate::context::{Context, Report};
use crate::lint::{Lint, LintPass};
use crate::settings::Case;
use crate::words::written_in;
use gram_model::spans::Place;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "literal-inject",
        page: r#"# An injected value is hard-coded in a library

Injected values are often secrets or deployment settings: a token, an account,
the address of a server. Libraries are committed and shared, so a hard-coded
value is visible to every reader and the same in every environment.

Name where the value comes from: `env:NAME` is a variable of the environment,
`file:PATH` the content of a file. Where the value is no secret and the same
everywhere, allow it with a comment, `// gram-allow: literal-inject`.

```gram bad
[cluster:Library |
  (listPods:Builtin {inject: {token: "abc", namespace: "env:POD_NAMESPACE"}})
]
```

```gram good
[cluster:Library |
  (listPods:Builtin {inject: {token: "env:POD_TOKEN", namespace: "file:pods"}})
]
```
"#,
    },
    passes: &[LintPass::Module(run)],
    ..Lint::COMMON
};

fn run(cx: &Context<'_>, report: &mut Report) {
    let spans = &cx.module.spans;
    let all = cx.module.libraries.iter().zip(&spans.libraries).zip(&spans.implementations);
    for ((library, place), places) in all {
        check_injected(cx, &library.attributes, *place, report);
        for (implementation, place) in library.implementations.iter().zip(places) {
            check_injected(cx, &implementation.attributes, *place, report);
        }
    }
}

/// What a library, or one of its implementations, injects.
fn check_injected(
    cx: &Context<'_>,
    attributes: &[(SmolStr, Value)],
    place: Place,
    report: &mut Report,
) {
    let inject = attributes.iter().find(|(key, _)| key == "inject");
    let entries = inject.and_then(|(_, value)| value.as_object());
    for (name, value) in entries.into_iter().flatten() {
        if value.as_str().is_some_and(is_literal) && !report.is_full(place.file) {
            let node = cx.texts.get(place.file).map(|text| text.tree().node(place.node));
            let span = node.and_then(|node| span_of(node, name)).unwrap_or(place.name);
            // The value itself stays out of the message.
            let message = format!("the value of `{name}` is hard-coded");
            let diagnostic = cx.diagnostic(&LINT, place.file, span, message);
            let help = format!("read it from a source such as \"env:{}\"", shouted(name));
            report.add(place.file, diagnostic.help(help));
        }
    }
}

fn is_literal(text: &str) -> bool {
    !["env:", "file:"].iter().any(|source| text.starts_with(source))
}

/// The span of the value of an injected parameter.
fn span_of(node: Node<'_>, name: &str) -> Option<Span> {
    let inject = node.subject().entries().find(|entry| entry.key.content() == "inject")?.value;
    let value = inject.entries().find(|entry| entry.key.content() == name);
    // In a tagged string, the entries have no places of their own.
    Some(value.map_or(inject, |entry| entry.value).span())
}

/// A name as variables of the environment are written: `podToken`, `POD_TOKEN`.
fn shouted(name: &str) -> String {
    written_in(name, Case::Snake).to_uppercase()
}
