use std::collections::HashSet;

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{
    Code, Diagnostic, Edit, Fix, NodeKind as N, SourceFile, Span, TokenKind, hidden_characters,
};

use crate::context::Linter;
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

fn run(cx: &Linter<'_>, file: usize) {
    let text = &cx.texts[file];
    let source = text.source().text();
    // Most files have none, which is seen faster in the whole text.
    if hidden_characters(source).next().is_none() && !source.contains("\\u") {
        return;
    }
    for token in text.tree().tokens() {
        let kind = token.kind();
        if !(kind.is_string() || kind == TokenKind::DocComment) || cx.is_full(file) {
            continue;
        }
        let start = token.span().range().start;
        let found = hidden_characters(token.text());
        let found = found.map(|(at, c)| (Span::from(start + at..start + at + c.len_utf8()), c));
        let found: Vec<_> = found.collect();
        if let Some((span, c)) = found.first() {
            let diagnostic = cx.diagnostic(file, *span, message(*c, found.len())).help(HELP);
            let remove = |(span, _): &(Span, char)| Edit { span: *span, text: String::new() };
            let edits = found.iter().map(remove).collect();
            let fix = Some(Fix::new(NeedsLook, "remove them", edits));
            let fix = fix.filter(|_| stays_whole(token.text()));
            cx.add(file, fix.into_iter().fold(diagnostic, Diagnostic::fix));
        }
    }
    // Escapes are visible in the text, but not to the people who see the description elsewhere.
    for node in text.tree().root().descendants() {
        if matches!(node.kind(), N::String | N::QuotedName | N::DoubleQuotedName)
            && node.text().contains("\\u")
            && hidden_characters(node.text()).next().is_none()
            && !cx.is_full(file)
        {
            let content = node.content();
            let mut found = hidden_characters(&content);
            if let Some((_, c)) = found.next() {
                let message = message(c, 1 + found.count());
                cx.add(file, cx.diagnostic(file, node.span(), message).help(HELP));
            }
        }
    }
}

const HELP: &str = "remove hidden characters";

fn message(first: char, count: usize) -> String {
    let code = format!("U+{:04X}", u32::from(first));
    match count {
        1 => format!("this text contains a hidden character, {code}"),
        _ => format!("this text contains {count} hidden characters, the first one is {code}"),
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
