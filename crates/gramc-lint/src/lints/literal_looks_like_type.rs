use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Fix, Node, NodeKind, Span, foreign_type_name, is_type};
use serde_json::Value;

use crate::context::{Context, Report, ToolView, TypeView};
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
    passes: &[LintPass::Tool(run), LintPass::Type(run_type)],
    ..Lint::COMMON
};

fn run(cx: &Context<'_>, view: &ToolView<'_>, report: &mut Report) {
    for field in &view.tool.parameters {
        if let Some(found) = foreign(cx, &field.type_use.ty) {
            let (node, place) = (view.parameter(field), view.place(field));
            report_foreign(cx, view.file, (&field.name, found), node, place, report);
            continue;
        }
        if let Some(found) = literal(cx, view.file, &field.type_use.ty) {
            report_in(cx, view.file, view.parameter(field), view.place(field), &found, report);
        }
    }
    if let Some(found) = literal(cx, view.file, &view.tool.result.type_use.ty) {
        report_in(cx, view.file, view.result(), view.name, &found, report);
    }
}

fn run_type(cx: &Context<'_>, view: &TypeView<'_>, report: &mut Report) {
    for field in view.fields() {
        if let Some(found) = literal(cx, view.file, &field.type_use.ty) {
            report_in(cx, view.file, view.field(field), view.place(field), &found, report);
        }
    }
}

/// Reports a schema, or a list of texts, in the place of the type of a field.
fn report_foreign(
    cx: &Context<'_>,
    file: usize,
    (name, (message, ty)): (&str, (&str, String)),
    node: Option<Node<'_>>,
    place: Span,
    report: &mut Report,
) {
    let label = node.and_then(|node| node.subject().labels().next());
    let span = label.map_or(place, Node::span);
    let name = gramc_model::print::identifier(name);
    let diagnostic = cx.diagnostic(&LINT, file, span, message);
    let help = format!("write the type itself: ({name}::{ty})");
    report.add(
        file,
        match label {
            Some(label) if label.kind() == NodeKind::TypeExpression => diagnostic
                .help(help)
                .fix(Fix::replace(NeedsLook, format!("write `{ty}`"), span, ty)),
            _ => diagnostic.help(help),
        },
    );
}

/// Why a type is likely a schema or a list of values, and the type that is meant.
fn foreign(cx: &Context<'_>, ty: &Type) -> Option<(&'static str, String)> {
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

fn report_in(
    cx: &Context<'_>,
    file: usize,
    node: Option<Node<'_>>,
    name: Span,
    Quoted { text, meant }: &Quoted,
    report: &mut Report,
) {
    let label = node.and_then(|node| node.subject().labels_node());
    let span = label.map_or(name, Node::span);
    let message = format!("the literal type \"{text}\" accepts only this text");
    let (help, fix) = if meant == text {
        (format!("write the type without quotes: {text}"), "remove the quotes")
    } else {
        (format!("quote each alternative: {meant}"), "quote each alternative")
    };
    let diagnostic = cx.diagnostic(&LINT, file, span, message).help(help);
    let source = cx.texts[file].source();
    let quoted = Value::from(text.as_str()).to_string();
    let diagnostic = match source.slice(span).find(&quoted) {
        Some(at) => {
            let start = span.start + u32::try_from(at).unwrap_or_default();
            let end = start + u32::try_from(quoted.len()).unwrap_or_default();
            let span = Span::new(start, end);
            diagnostic.fix(Fix::replace(NeedsLook, fix, span, meant.as_str()))
        }
        None => diagnostic,
    };
    report.add(file, diagnostic);
}

/// A literal type that is hardly meant as one.
struct Quoted {
    text: String,
    /// The type that is meant.
    meant: String,
}

/// The first literal type in a type that is hardly meant as one.
fn literal(cx: &Context<'_>, file: usize, ty: &Type) -> Option<Quoted> {
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
fn looks_like_type(cx: &Context<'_>, file: usize, text: &str, alone: bool) -> bool {
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
