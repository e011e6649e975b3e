use std::collections::HashSet;

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Fix, NodeKind as N, SourceFile, Span, TokenKind, hidden_characters};

use crate::context::{Context, Report};
use crate::lint::{Level, Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "hidden-characters",
        page: r#"# A text contains invisible characters

Zero-width characters, characters that change the direction of text, tags and
control characters are invisible, but a model reads them. They can hide
instructions in the description of a tool from reviewers.

Remove them. Joiners are allowed inside of emoji and between letters of scripts
that use them, such as Arabic and Hindi.

```gram bad
[read:Tool {description: "Reads\u200b a file"} | (path::Text)==>(::Text)]
```

```gram good
[read:Tool {description: "Reads a file"} | (path::Text)==>(::Text)]
```
"#,
    },
    level: Level::Deny,
    fix: Some(NeedsLook),
    passes: &[LintPass::Text(run)],
    ..Lint::COMMON
};

fn run(cx: &Context<'_>, file: usize, report: &mut Report) {
    let text = &cx.texts[file];
    let source = text.source().text();
    // Most files have none, which is seen faster in the whole text.
    if hidden_characters(source).next().is_none() && !source.contains("\\u") {
        return;
    }
    for token in text.tree().tokens() {
        let kind = token.kind();
        if !(kind.is_string() || kind == TokenKind::DocComment) || report.is_full(file) {
            continue;
        }
        let start = token.span().start;
        let found: Vec<_> = hidden_characters(token.text()).collect();
        if let Some((at, c)) = found.first() {
            let edits = found.iter().map(|(at, c)| {
                let from = start + offset(*at);
                Span::new(from, from + offset(c.len_utf8()))
            });
            let place = start + offset(*at);
            let span = Span::new(place, place + offset(c.len_utf8()));
            let edits = if stays_whole(token.text()) { edits.collect() } else { Vec::new() };
            add(cx, file, span, *c, found.len(), edits, report);
        }
    }
    // Escapes are visible in the text, but not to the people who see the description elsewhere.
    for node in text.tree().root().descendants() {
        if matches!(node.kind(), N::String | N::QuotedName | N::DoubleQuotedName)
            && node.text().contains("\\u")
            && hidden_characters(node.text()).next().is_none()
            && !report.is_full(file)
        {
            let content = node.content();
            let found: Vec<_> = hidden_characters(&content).collect();
            if let Some((_, c)) = found.first() {
                add(cx, file, node.span(), *c, found.len(), Vec::new(), report);
            }
        }
    }
}

/// Whether a string or comment is still one without its hidden characters.
fn stays_whole(text: &str) -> bool {
    if text.starts_with("/**") {
        return true;
    }
    let hidden: HashSet<usize> = hidden_characters(text).map(|(at, _)| at).collect();
    let rest = text.char_indices().filter(|(at, _)| !hidden.contains(at));
    let rest: String = rest.map(|(_, c)| c).collect();
    // Where a string begins like a comment, what follows it in the file counts.
    if rest.trim_start_matches(['"', '\'', '`', ' ', '\t']).starts_with('/') {
        return false;
    }
    let text = format!("(a {{k: {rest}}})");
    !gramc_syntax::parse(SourceFile::new("string", text)).has_errors()
}

fn add(
    cx: &Context<'_>,
    file: usize,
    span: Span,
    c: char,
    count: usize,
    edits: Vec<Span>,
    report: &mut Report,
) {
    let code = format!("U+{:04X}", u32::from(c));
    let message = match count {
        1 => format!("this text contains a hidden character, {code}"),
        _ => format!("this text contains {count} hidden characters, the first one is {code}"),
    };
    let diagnostic = cx.diagnostic(&LINT, file, span, message).help("remove hidden characters");
    let removed = |span| gramc_syntax::Edit { span, text: String::new() };
    let fix = Fix {
        message: "remove them".to_owned(),
        applicability: NeedsLook,
        edits: edits.into_iter().map(removed).collect(),
    };
    report.add(file, if fix.edits.is_empty() { diagnostic } else { diagnostic.fix(fix) });
}

/// An offset in a text, which has at most 31 bits.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
