use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Fix, Node, NodeKind, Span, foreign_type_name, is_type};
use serde_json::Value;

use crate::context::{FieldView, Linter, ToolView};
use crate::lint::{Lint, LintPass};
use gramc_check::Meaning;
use gramc_model::Type;
use gramc_model::expression::{self, Word};
use gramc_model::format::built_in;
use gramc_model::walk;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "literal-looks-like-type",
        page: r#"# A literal type contains a type in quotes

A text in quotes is a literal type: its only value is that text. A parameter of
the type `"Text[]"` accepts the text Text[], but no list.

The same mistake occurs with a schema, `{"type": "object"}`, and a list of
texts, `["a", "b"]`, used as a type: the first is a record with one field named
`type`, the second a list of exactly these two texts. Alternatives in one pair
of quotes, `"single|double"`, are one text, too.

Write the type without quotes. If the text itself is intended, allow it with a
comment, `// gram-allow: literal-looks-like-type`.

```gram bad
[tag:Tool | (tags::`"Text[]"`)==>(::Null)]
```

```gram good
[tag:Tool | (tags::`Text[]`)==>(::Null)]
```
"#,
    },
    fix: Some(NeedsLook),
    passes: &[LintPass::Field(run), LintPass::Tool(result)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, field: &FieldView<'_>) {
    match foreign(cx, &field.type_use.ty).filter(|_| field.is_parameter) {
        Some(found) => report_foreign(cx, field, found),
        None => check_literal(cx, field.file, &field.type_use.ty, || (field.node(), field.place())),
    }
}

fn result(cx: &Linter<'_>, view: &ToolView<'_>) {
    let ty = &view.tool.result.type_use.ty;
    check_literal(cx, view.file, ty, || (view.result(), view.name));
}

/// Reports a schema, or a list of texts, in the place of the type of a field.
fn report_foreign(cx: &Linter<'_>, field: &FieldView<'_>, found: (&str, String)) {
    let (message, ty) = found;
    let label = field.node().and_then(|node| node.subject().labels().next());
    let span = label.map_or_else(|| field.place(), Node::span);
    let name = gramc_model::print::identifier(&field.name);
    let help = format!("write the type itself: ({name}::{ty})");
    let mut diagnostic = cx.diagnostic(field.file, span, message).help(help);
    if label.is_some_and(|label| label.kind() == NodeKind::TypeExpression) {
        diagnostic = diagnostic.fix(Fix::replace(NeedsLook, format!("write `{ty}`"), span, ty));
    }
    cx.add(field.file, diagnostic);
}

/// Why a type is likely a schema or a list of values, and the type that is meant.
fn foreign(cx: &Linter<'_>, ty: &Type) -> Option<(&'static str, String)> {
    match ty {
        Type::Tuple(items) if items.len() > 1 => {
            let text = |item: &Type| match item {
                Type::Literal(value) if value.is_string() => Some(value.to_string()),
                _ => None,
            };
            let texts: Option<Vec<_>> = items.iter().map(text).collect();
            Some(("this type accepts only the list of these texts", texts?.join(" | ")))
        }
        Type::Object(object) => {
            let fields = object.fields.as_deref()?;
            let [field] = fields else { return None };
            if field.name != "type" {
                return None;
            }
            let ours = match &field.type_use.ty {
                Type::Literal(value) => foreign_type_name(value.as_str()?)?.to_owned(),
                Type::Named(_) | Type::Object(_) | Type::Any => return None,
                plain => gramc_model::print::type_expression(cx.known.types, plain)?,
            };
            Some(("this type is a record with a field `type`", ours))
        }
        _ => None,
    }
}

/// Reports the first literal type in a type that is hardly meant as one. `place` has the node of the
/// typed item and the span of its name.
fn check_literal<'n>(
    cx: &Linter<'_>,
    file: usize,
    ty: &Type,
    place: impl Fn() -> (Option<Node<'n>>, Span),
) {
    let Some(Quoted { text, meant }) = literal(cx, file, ty) else { return };
    let (node, name) = place();
    let label = node.and_then(|node| node.subject().labels_node());
    let span = label.map_or(name, Node::span);
    let message = format!("the literal type \"{text}\" accepts only this text");
    let (help, fix) = if meant == text {
        (format!("write the type without quotes: {text}"), "remove the quotes")
    } else {
        (format!("quote each alternative: {meant}"), "quote each alternative")
    };
    let mut diagnostic = cx.diagnostic(file, span, message).help(help);
    let quoted = Value::from(text.as_str()).to_string();
    if let Some(at) = cx.texts[file].source().slice(span).find(&quoted) {
        let start = span.range().start + at;
        let span = Span::from(start..start + quoted.len());
        diagnostic = diagnostic.fix(Fix::replace(NeedsLook, fix, span, meant));
    }
    cx.add(file, diagnostic);
}

/// A literal type that is hardly meant as one.
struct Quoted {
    text: String,
    meant: String,
}

/// The first literal type in a type that is hardly meant as one.
fn literal(cx: &Linter<'_>, file: usize, ty: &Type) -> Option<Quoted> {
    let looks = |ty: &Type, alone: bool| {
        let Type::Literal(value) = ty else { return None };
        let text = value.as_str()?;
        let meant = if looks_like_type(cx, file, text, alone) {
            text.to_owned()
        } else if alone {
            alternatives(text)?
        } else {
            return None;
        };
        Some(Quoted { text: text.to_owned(), meant })
    };
    let mut found = looks(ty, true);
    walk::parts(ty, &mut |part| {
        found = found.take().or_else(|| looks(part, false));
    });
    found
}

/// The literal types of the alternatives in a text, `"single" | "double"` for `single|double`.
fn alternatives(text: &str) -> Option<String> {
    let is_word = |it: &str| {
        !it.is_empty() && it.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'))
    };
    let all: Vec<&str> = text.split('|').map(str::trim).collect();
    let is_list = all.len() > 1 && all.iter().all(|it| is_word(it));
    is_list.then(|| all.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(" | "))
}

/// Whether a text is a type expression of known types. One of several literals that is a single
/// name is hardly meant as a type.
fn looks_like_type(cx: &Linter<'_>, file: usize, text: &str, alone: bool) -> bool {
    let known = |name: &str| {
        built_in(name).is_some()
            || !matches!(cx.known.type_names.find(file, None, name), Meaning::Unknown)
    };
    let types = if expression::is_name(text) { alone } else { is_type(text) };
    let words = expression::words(text);
    let mut names = words.iter().filter_map(|(_, word)| match word {
        Word::Type(name) => Some(*name),
        Word::Field(_) | Word::Literal(_) => None,
    });
    types && names.clone().next().is_some() && names.all(|name| known(name) || name == "Map")
}
