use gramc_syntax::{Code, Node, Span};
use serde_json::Value;
use smol_str::SmolStr;

use crate::context::Linter;
use crate::lint::{Lint, LintPass};
use crate::settings::Case;
use crate::words::convert_case;
use gramc_model::spans::Place;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "literal-inject",
        page: r#"# An injected value is hard-coded in a library

Injected values are often secrets or deployment settings: a token, an account,
the address of a server. The secret of an OAuth client is another example.
Libraries are committed and shared, so a hard-coded value is visible to every
reader and the same in every environment.

Name the source of the value: `env:NAME` is an environment variable, `file:PATH`
the content of a file. If the value is not secret and the same everywhere, allow
it with a comment, `// gram-allow: literal-inject`.

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

fn run(cx: &Linter<'_>) {
    let spans = &cx.module.spans;
    let all = cx.module.libraries.iter().zip(&spans.libraries).zip(&spans.implementations);
    for ((library, place), places) in all {
        check_injected(cx, &library.attributes, *place);
        for (implementation, place) in library.implementations.iter().zip(places) {
            check_injected(cx, &implementation.attributes, *place);
            check_values(cx, &implementation.attributes, ("oauth", is_client_secret), *place);
        }
    }
}

/// What a library, or one of its implementations, injects.
fn check_injected(cx: &Linter<'_>, attributes: &[(SmolStr, Value)], place: Place) {
    check_values(cx, attributes, ("inject", |_| true), place);
}

/// The key of an attribute, and which of its values come from elsewhere.
type Values = (&'static str, fn(&str) -> bool);

fn check_values(
    cx: &Linter<'_>,
    attributes: &[(SmolStr, Value)],
    (key, is_external): Values,
    place: Place,
) {
    let found = attributes.iter().find(|(known, _)| known == key);
    let entries = found.and_then(|(_, value)| value.as_object()).into_iter().flatten();
    for (name, value) in entries.filter(|(name, _)| is_external(name)) {
        if value.as_str().is_some_and(is_literal) && !cx.is_full(place.file) {
            let node = cx.texts.get(place.file).map(|text| text.tree().node(place.node));
            let span = node.and_then(|node| span_of(node, key, name)).unwrap_or(place.name);
            // The value itself stays out of the message.
            let message = format!("the value of `{name}` is hard-coded");
            let diagnostic = cx.diagnostic(place.file, span, message);
            let help = format!("read it from a source such as \"env:{}\"", upper_snake(name));
            cx.add(place.file, diagnostic.help(help));
        }
    }
}

fn is_literal(text: &str) -> bool {
    !["env:", "file:"].iter().any(|source| text.starts_with(source))
}

fn is_client_secret(name: &str) -> bool {
    name == "clientSecret"
}

/// The span of a value in an attribute.
fn span_of(node: Node<'_>, key: &str, name: &str) -> Option<Span> {
    let inject = node.subject().entries().find(|entry| entry.key.content() == key)?.value;
    let value = inject.entries().find(|entry| entry.key.content() == name);
    // In a tagged string, the entries have no places of their own.
    Some(value.map_or(inject, |entry| entry.value).span())
}

/// A name as variables of the environment are written: `podToken`, `POD_TOKEN`.
fn upper_snake(name: &str) -> String {
    convert_case(name, Case::Snake).to_uppercase()
}
