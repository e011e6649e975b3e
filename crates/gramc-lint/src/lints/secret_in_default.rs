use gramc_syntax::{Code, Span};
use serde_json::Value;

use crate::context::{FieldView, Linter, ToolView, TypeView};
use crate::lint::{Lint, LintPass};
use crate::words::words;
use gramc_model::{Constraint, Field, ValueSource};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "secret-in-default",
        page: r#"# A specification contains a secret

Specifications are committed, published, and sent to model providers with every
request. A key, token or password in a default, an example or a pinned value is
exposed with them.

Let the host supply the value: `injected: true`, and in the library `inject:
{token: "env:POD_TOKEN"}`. Revoke the secret as well: it remains in the history
of the repository and in the logs of providers.

The lint reports values that look like keys of well-known services, and values
of parameters and fields that are `secret: true` or have a name such as
`password`. It ignores placeholders such as `<your token>`.

```gram bad
[listPods:Tool | (token::Text {default: "hunter2hunter2"})==>(::`Text[]`)]
```

```gram good
[listPods:Tool | (token::Text {injected: true, secret: true})==>(::`Text[]`)]
```
"#,
    },
    passes: &[LintPass::Tool(tool), LintPass::Type(record), LintPass::Module(terms)],
    ..Lint::COMMON
};

/// What keys of well-known services begin with, and how long they are at least. From the pages
/// on which the services describe their keys.
const PREFIXES: [(&str, usize); 18] = [
    ("sk-", 20),
    ("sk_live_", 20),
    ("rk_live_", 20),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 30),
    ("ya29.", 20),
    ("hf_", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("SG.", 30),
];

/// Words in names of what is secret.
const SECRETS: [&str; 7] =
    ["password", "passwd", "passphrase", "secret", "token", "apikey", "credential"];

/// Words that make a name with one of these one of something else: `maxTokens`, `tokenCount`.
#[rustfmt::skip] // Word lists are more readable in rows.
const OTHERS: [&str; 32] = [
    "max", "min", "count", "limit", "tokens", "type", "name", "length", "size", "page", "next",
    "cursor", "continuation", "sync", "stop", "selector", "field", "policy", "path", "file", "url",
    "uri", "id", "prefix", "symbol", "address", "pair", "version", "format", "header", "label",
    "hint",
];

fn tool(cx: &Linter<'_>, view: &ToolView<'_>) {
    for field in view.parameters() {
        // Values of a term are reported at the term.
        if holds_secret(&field) && !is_brought(cx, &field) {
            add(cx, view.file, field.place(), &field.name, BY_HOST);
        }
    }
    for (key, _) in view.tool.attributes.iter().filter(|(_, value)| holds_key(value)) {
        add(cx, view.file, view.name, key, ELSEWHERE);
    }
}

/// Whether a parameter has its values from the term of its name.
fn is_brought(cx: &Linter<'_>, field: &FieldView<'_>) -> bool {
    let term = cx.term(field.file, &field.name).map(|term| &term.field);
    term.is_some_and(|term| values(term).eq(values(field)))
}

fn record(cx: &Linter<'_>, view: &TypeView<'_>) {
    for field in view.fields().filter(|field| holds_secret(field)) {
        add(cx, view.file, field.place(), &field.name, ELSEWHERE);
    }
}

fn terms(cx: &Linter<'_>) {
    for (term, file, name) in cx.terms().filter(|(term, ..)| holds_secret(term)) {
        add(cx, file, name, &term.name, BY_HOST);
    }
}

/// What to do where the host may supply the value.
const BY_HOST: &str = "inject it from the host, {injected: true}, and revoke the secret";

/// What to do elsewhere.
const ELSEWHERE: &str = "remove it from the file and revoke the secret";

fn add(cx: &Linter<'_>, file: usize, span: Span, name: &str, help: &str) {
    // The value itself stays out of the message.
    let message = format!("a value of `{name}` appears to be a secret");
    cx.add(file, cx.diagnostic(file, span, message).help(help));
}

/// The values that are written down for a field.
fn values(field: &Field) -> impl Iterator<Item = &Value> {
    let details = field.type_use.details.as_deref();
    let examples = details.and_then(|details| details.examples.as_deref()).unwrap_or_default();
    let pinned = match &field.source {
        ValueSource::Pinned(value) => Some(&**value),
        _ => None,
    };
    let constant = field.type_use.constraints.iter().find_map(|constraint| match constraint {
        Constraint::Const(value) => Some(&**value),
        _ => None,
    });
    field.type_use.default.as_deref().into_iter().chain(pinned).chain(constant).chain(examples)
}

fn holds_secret(field: &Field) -> bool {
    let mut values = values(field).peekable();
    if values.peek().is_none() {
        return false;
    }
    values.any(|value| {
        let text = value.as_str().unwrap_or_default();
        let secret = || field.secret || (is_like_secret(text) && is_secret_name(&field.name));
        holds_key(value) || (secret() && is_no_placeholder(text))
    })
}

fn holds_key(value: &Value) -> bool {
    match value {
        Value::String(text) => is_key(text),
        Value::Array(items) => items.iter().any(holds_key),
        Value::Object(entries) => entries.values().any(holds_key),
        _ => false,
    }
}

/// Whether a text is as people make passwords and machines make keys, and no short word.
fn is_like_secret(text: &str) -> bool {
    text.len() >= 8 || (text.len() >= 5 && text.contains(|c: char| c.is_ascii_digit()))
}

fn is_secret_name(name: &str) -> bool {
    let words: Vec<_> = words(name).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&&**word));
    let key = words
        .windows(2)
        .any(|pair| matches!((&*pair[0], &*pair[1]), ("api" | "access" | "private", "key")));
    (has(&SECRETS) || key) && !has(&OTHERS)
}

/// Whether a text looks like a key that a well-known service issues, or holds a password.
fn is_key(text: &str) -> bool {
    let text = text.trim();
    // What is shorter holds neither a key nor a password.
    if text.len() < 9 && !text.starts_with("eyJ") {
        return false;
    }
    let bare = text.strip_prefix("Bearer ").unwrap_or(text);
    let solid = !bare.contains(char::is_whitespace);
    let issued = |(prefix, len): &(&str, usize)| bare.starts_with(prefix) && bare.len() >= *len;
    // Words between hyphens make no key.
    let random = |part: &str| part.len() >= 12 && part.chars().all(|c| c.is_ascii_alphanumeric());
    let varied =
        bare.contains(|c: char| c.is_ascii_digit()) && bare.split(['-', '_', '.']).any(random);
    let web_token = bare.starts_with("eyJ") && bare.matches('.').count() == 2;
    let login = text.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
    let login = login.is_some_and(|(user, _)| {
        let password = user.split_once(':').map(|(_, password)| password);
        !user.contains('/') && password.is_some_and(|it| it.len() > 3 && is_no_placeholder(it))
    });
    let block = text.starts_with("-----BEGIN ") && text.contains("PRIVATE KEY");
    (solid && ((varied && PREFIXES.iter().any(issued)) || web_token)) || login || block
}

fn is_no_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let marks = ["<", "{", "$", "…", "...", "your", "example", "changeme", "xxx", "***", "env:"];
    let short = text.chars().count() < 4;
    !short && !text.contains(char::is_whitespace) && !marks.iter().any(|mark| lower.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_services_are_known() {
        let keys = [
            format!("sk-{}", "a1B2".repeat(10)),
            format!("Bearer ghp_{}", "a1B2".repeat(9)),
            "eyJhbGciOi.eyJzdWIiOi.SflKxwRJ".to_owned(),
            "postgres://app:s3cr3tpw@db.internal/app".to_owned(),
            "-----BEGIN RSA PRIVATE KEY-----\nMII".to_owned(),
        ];
        for key in keys {
            assert!(is_key(&key), "{key}");
        }
        for text in ["sk-learn", "task", "https://a.b/c@d:e", "http://user:PASSWORD…@h", "SG.", ""]
        {
            assert!(!is_key(text), "{text}");
        }
    }

    #[test]
    fn names_of_secrets_are_known() {
        for name in ["password", "apiKey", "api_key", "GITHUB_TOKEN", "clientSecret"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["maxTokens", "tokenCount", "key", "keyName", "tokens", "pageToken"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
