use gramc_syntax::Applicability::{NeedsLook, Safe};
use gramc_syntax::{
    Applicability, Code, Edit, Extension, Fix, Node, NodeKind as N, Parse, Span, Token, TokenKind,
    hidden_characters,
};
use serde_json::Value;

use crate::context::Linter;
use crate::fix::item_with_comma;
use crate::lint::{Level, Lint, LintPass};
use gramc_model::print::{in_backticks, value_text};
use gramc_model::value;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "portable-gram",
        page: r#"# A file uses a gramc extension of gram notation

gramc extends plain gram notation with nested arrays and maps, empty arrays,
records in angle brackets, `\u` escapes, strings that start with `//`, types
without backticks, and `?` after the name of an optional parameter. Other gram
tools, such as highlighters and graph viewers, do not support these.

The fix converts them to plain gram: a JSON string with a tag, braces, the
character itself, `"\/\/…"`, a type in backticks, or `{optional: true}`.

```gram bad
[plot:Tool |
  (points::`[Int, Int][]` {default: [[0, 0]]})==>(size::Int <default: 5>)
  ==>(::Null)
]
```

```gram good
[plot:Tool | (points::`[Int, Int][]` {default: json`[[0,0]]`})
  ==>(size::Int {default: 5})==>(::Null)
]
```
"#,
    },
    level: Level::Allow,
    fix: Some(Safe),
    passes: &[LintPass::Text(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, file: usize) {
    let text = &cx.texts[file];
    // The span of the last diagnostic: one value may contain several uses, and one string several
    // escapes.
    let mut last = Span::default();
    for used in text.extensions() {
        if last.contains(used.span) {
            continue;
        }
        if cx.is_full(file) {
            return;
        }
        let (span, message, fix) = match used.kind {
            Extension::NestedValue => {
                let Some(value) = outermost(text.tree().nodes_at(used.span.start)) else {
                    continue;
                };
                let message = if used.span == value.span() && value.children().next().is_none() {
                    "empty arrays are a gramc extension"
                } else {
                    "nested arrays and maps are a gramc extension"
                };
                last = value.span();
                if is_broken(text, value) {
                    continue;
                }
                (value.span(), message, nest_value(cx, file, value))
            }
            Extension::AngleRecord => {
                (used.span, "`<…>` records are a gramc extension", braces(cx, file, used.span))
            }
            Extension::UnicodeEscape => {
                let token = text.tree().token_at(used.span.start);
                last = token.span();
                (used.span, "`\\u` escapes are a gramc extension", characters(token))
            }
            Extension::BareType => {
                last = used.span;
                let fix = backticks(cx, file, used.span);
                (used.span, "types without backticks are a gramc extension", fix)
            }
            Extension::OptionalMark => {
                let fix = optional(cx, file, used.span);
                (used.span, "`?` after a name is a gramc extension", fix)
            }
            Extension::SlashString => {
                let message = "strings that begin with `//` are a gramc extension";
                (used.span, message, slashes(cx, file, used.span))
            }
        };
        let without = match used.kind {
            Extension::UnicodeEscape => "remove the character; plain gram cannot express it",
            _ => "rewrite it, for example with a declared Record",
        };
        let diagnostic = cx.diagnostic(file, span, message);
        let diagnostic = match fix {
            Some(fix) => diagnostic.help(fix.message.clone()).fix(fix),
            None => diagnostic.help(without),
        };
        cx.add(file, diagnostic);
    }
}

/// A type expression in backticks, on one line.
fn backticks(cx: &Linter<'_>, file: usize, span: Span) -> Option<Fix> {
    let text = &cx.texts[file];
    let label = text.tree().nodes_at(span.start).into_iter().find(|it| it.span() == span)?;
    if is_broken(text, label) {
        return None;
    }
    let (mut line, mut applicability, mut gap) = (String::new(), Safe, false);
    for token in label.tokens() {
        match token.kind() {
            TokenKind::Whitespace => gap = true,
            TokenKind::Comment => applicability = NeedsLook,
            _ => {
                if gap && !line.ends_with(['{', '(', '[', '<']) {
                    line.push(' ');
                }
                gap = false;
                line.push_str(token.text());
            }
        }
    }
    Some(Fix::replace(applicability, "write the type in backticks", span, in_backticks(&line)))
}

/// `{optional: true}` in place of the mark.
fn optional(cx: &Linter<'_>, file: usize, mark: Span) -> Option<Fix> {
    let text = &cx.texts[file];
    let nodes = text.tree().nodes_at(mark.start);
    let node = nodes.into_iter().rev().find(|it| it.kind() == N::NodePattern)?;
    if is_broken(text, node) {
        return None;
    }
    let subject = node.subject();
    let (at, attribute) = if let Some(record) = subject.record {
        let comma = if record.children().next().is_some() { ", " } else { "" };
        (record.span().start + 1, format!("optional: true{comma}"))
    } else {
        let end = subject.labels_node().map_or(mark.end, |labels| labels.span().end);
        (end, " {optional: true}".to_owned())
    };
    let edits = vec![
        Edit { span: mark, text: String::new() },
        Edit { span: Span::empty(at), text: attribute },
    ];
    Some(Fix::new(Safe, "write `{optional: true}`", edits))
}

/// Whether a value contains a syntax error.
fn is_broken(text: &Parse, value: Node<'_>) -> bool {
    let starts = text.diagnostics().iter().map(|diagnostic| Span::empty(diagnostic.span().start));
    starts.into_iter().any(|start| value.span().contains(start))
}

/// The array or map that all others are inside of.
fn outermost(nodes: Vec<Node<'_>>) -> Option<Node<'_>> {
    nodes.into_iter().find(|node| matches!(node.kind(), N::Array | N::Map))
}

fn braces(cx: &Linter<'_>, file: usize, record: Span) -> Option<Fix> {
    // In a broken text, the end may be missing.
    let inner = cx.texts[file].source().slice(record).strip_prefix('<')?;
    inner.strip_suffix('>')?;
    let (start, end) = (record.start, record.end);
    let edit = |span, text: &str| Edit { span, text: text.to_owned() };
    let (first, last) = (Span::new(start, start + 1), Span::new(end.checked_sub(1)?, end));
    let edits = vec![edit(first, "{"), edit(last, "}")];
    Some(Fix::new(Safe, "write braces: `{…}`", edits))
}

/// A value as JSON in a tagged string; the fields of an object as an inline record type.
fn nest_value(cx: &Linter<'_>, file: usize, value: Node<'_>) -> Option<Fix> {
    let comments = value
        .tokens()
        .any(|token| matches!(token.kind(), TokenKind::Comment | TokenKind::DocComment));
    let applicability = if comments { NeedsLook } else { Safe };
    let nodes = cx.texts[file].tree().nodes_at(value.span().start);
    let at = nodes.iter().position(|node| node.id() == value.id())?;
    let entry = nodes.get(at.checked_sub(1)?)?;
    let key = entry.children().next().filter(|_| entry.kind() == N::RecordProperty);
    if key.is_some_and(|key| key.content() == "fields") {
        let record = nodes.get(at.checked_sub(2)?)?;
        let owner = nodes.get(at.checked_sub(3)?)?;
        return inline(*owner, *record, *entry, value, applicability);
    }
    let json = value::json(value).ok()?;
    let message = "write JSON in a tagged string: json`…`";
    Some(Fix::replace(applicability, message, value.span(), value_text(&json)))
}

/// `Object {fields: […]}` as `` `{name: Type}` ``.
fn inline(
    owner: Node<'_>,
    record: Node<'_>,
    entry: Node<'_>,
    value: Node<'_>,
    applicability: Applicability,
) -> Option<Fix> {
    let mut labels = owner.subject().labels();
    let label = labels.next().filter(|label| label.text() == "Object")?;
    if labels.next().is_some() {
        return None;
    }
    let Value::Array(fields) = value::json(value).ok()? else { return None };
    let ty = record_type(&fields)?;
    let entries: Vec<_> = record.children().collect();
    let at = entries.iter().position(|other| other.id() == entry.id())?;
    let spans: Vec<_> = entries.iter().map(|entry| entry.span()).collect();
    let removal = item_with_comma(&spans, at).unwrap_or_else(|| {
        let between = Span::new(label.span().end, record.span().start);
        let space = label.tree().source().slice(between).trim().is_empty();
        if space { Span::new(between.start, record.span().end) } else { record.span() }
    });
    let edits = vec![
        Edit { span: label.span(), text: in_backticks(&ty) },
        Edit { span: removal, text: String::new() },
    ];
    Some(Fix::new(applicability, "write an inline record type", edits))
}

/// The fields of an object as an inline record type, where each says nothing but its name, its
/// type, whether it is optional, and a plain default.
fn record_type(fields: &[Value]) -> Option<String> {
    let field = |field: &Value| {
        let field = field.as_object()?;
        let name = field.get("name")?.as_str()?;
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let mut text = if plain { name.to_owned() } else { Value::from(name).to_string() };
        let (mut ty, mut default) = (None, None);
        for (key, value) in field {
            match (key.as_str(), value) {
                ("name", _) => {}
                ("type", Value::String(own)) => ty = Some(own.clone()),
                ("fields", Value::Array(inner)) => ty = Some(record_type(inner)?),
                ("optional", Value::Bool(true)) => text.push('?'),
                ("default", value) if !value.is_array() && !value.is_object() => {
                    default = Some(value.to_string());
                }
                _ => return None,
            }
        }
        let both = field.contains_key("type") && field.contains_key("fields");
        let ty = ty.filter(|_| !both)?;
        text = format!("{text}: {ty}");
        Some(default.map_or(text.clone(), |default| format!("{text} = {default}")))
    };
    let fields: Option<Vec<_>> = fields.iter().map(field).collect();
    Some(format!("{{{}}}", fields?.join(", ")))
}

/// The characters of a string's `\u` escapes; `None` where one has no plain form.
fn characters(token: Token<'_>) -> Option<Fix> {
    let (text, start) = (token.text(), token.span().range().start);
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let mut edits = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find('\\') {
        at += found;
        if !text.get(at + 1..)?.starts_with('u') {
            // Any other escape: the character after the backslash belongs to it.
            at += 1 + text.get(at + 1..)?.chars().next().map_or(0, char::len_utf8);
            continue;
        }
        let (c, len) = character(text.get(at..)?)?;
        // A hidden character is better seen.
        if hidden_characters(c.encode_utf8(&mut [0; 4])).next().is_some() {
            return None;
        }
        let span = Span::from(start + at..start + at + len);
        edits.push(Edit { span, text: write_char(c, quote)? });
        at += len;
    }
    Some(Fix::new(Safe, "write the character itself", edits))
}

/// The character of one or two `\u` escapes, and how long they are.
fn character(text: &str) -> Option<(char, usize)> {
    let unit = |from: usize| {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let second = unit(6).unwrap_or_default();
    let c = char::decode_utf16([unit(0)?, second]).next()?.ok()?;
    Some((c, 6 * c.len_utf16()))
}

/// A character as it is written between quotes. Where the quotes are not known, those of all kinds
/// are escaped.
fn write_char(c: char, quote: Option<char>) -> Option<String> {
    Some(match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\\' => "\\\\".to_owned(),
        '/' => "\\/".to_owned(),
        c if !is_visible(c) => return None,
        '"' | '\'' | '`' if quote.is_none() => return None,
        c if Some(c) == quote => format!("\\{c}"),
        c => c.to_string(),
    })
}

/// Whether a reader sees a character for itself: no control, no space but the plain one, nothing
/// that joins, turns or marks other characters.
fn is_visible(c: char) -> bool {
    let joins = matches!(u32::from(c),
        0xad | 0x300..=0x36f | 0x61c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f
        | 0xfe00..=0xfe0f | 0xfeff | 0xfff0..=0xffff | 0xe0000..=0xe0fff | 0xe000..=0xf8ff
    );
    c == ' ' || !(joins || c.is_control() || c.is_whitespace())
}

fn slashes(cx: &Linter<'_>, file: usize, string: Span) -> Option<Fix> {
    let text = cx.texts[file].source().slice(string);
    let at = text.find("//").filter(|at| *at <= 1 && !text.starts_with("```"))?;
    let start = string.range().start + at;
    Some(Fix::replace(Safe, "write `\\/\\/`", Span::from(start..start + 2), "\\/\\/"))
}
