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
        check_values(cx, &library.attributes, INJECTED, *place);
        for (implementation, place) in library.implementations.iter().zip(places) {
            check_values(cx, &implementation.attributes, INJECTED, *place);
            check_values(cx, &implementation.attributes, CLIENT_SECRET, *place);
        }
    }
}

/// The key of an attribute, and which of its values come from elsewhere.
type Values = (&'static str, fn(&str) -> bool);

const INJECTED: Values = ("inject", |_| true);
const CLIENT_SECRET: Values = ("oauth", |name| name == "clientSecret");

fn check_values(cx: &Linter<'_>, attributes: &[(SmolStr, Value)], values: Values, place: Place) {
    let (key, is_external) = values;
    let found = attributes.iter().find(|(known, _)| known == key);
    let entries = found.and_then(|(_, value)| value.as_object()).into_iter().flatten();
    for (name, value) in entries.filter(|(name, _)| is_external(name)) {
        let is_literal = |text: &str| !text.starts_with("env:") && !text.starts_with("file:");
        if value.as_str().is_some_and(is_literal) && !cx.is_full(place.file) {
            let node = cx.texts.get(place.file).map(|text| text.tree().node(place.node));
            let span = node.and_then(|node| span_of(node, key, name)).unwrap_or(place.name);
            // The value itself stays out of the message.
            let message = format!("the value of `{name}` is hard-coded");
            let diagnostic = cx.diagnostic(place.file, span, message);
            let help = format!(
                "read it from a source such as \"env:{}\"",
                convert_case(name, Case::Snake).to_uppercase()
            );
            cx.add(place.file, diagnostic.help(help));
        }
    }
}

/// The span of a value in an attribute.
fn span_of(node: Node<'_>, key: &str, name: &str) -> Option<Span> {
    let inject = node.subject().entries().find(|entry| entry.key.content() == key)?.value;
    let value = inject.entries().find(|entry| entry.key.content() == name);
    // In a tagged string, the entries have no places of their own.
    Some(value.map_or(inject, |entry| entry.value).span())
}
