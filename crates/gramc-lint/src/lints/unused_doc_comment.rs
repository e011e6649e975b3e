use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Fix, Token, TokenKind};

use crate::context::Linter;
use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "unused-doc-comment",
        page: r#"# A doc comment documents nothing

A doc comment documents the declaration, the parameter or the field that follows
it. The first of two consecutive doc comments has no effect, and neither has one
at the end of a file or before a closing bracket.

Write one doc comment directly before the item it documents. Other comments
begin with `//`.

```gram bad
/** Tools for rooms */

/** Books a room for a day and returns the number of the booking. */
[book:Tool | (room::Int {description: "As on the door"})==>(::Int)]
```

```gram good
// Tools for rooms

/** Books a room for a day and returns the number of the booking. */
[book:Tool | (room::Int {description: "As on the door"})==>(::Int)]
```
"#,
    },
    fix: Some(NeedsLook),
    passes: &[LintPass::Text(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, file: usize) {
    let text = &cx.texts[file];
    if !text.tree().may_have(&[TokenKind::DocComment]) {
        return;
    }
    let tokens = text.tree().tokens().filter(|token| {
        let kind = token.kind();
        kind == TokenKind::DocComment || !kind.is_trivia()
    });
    let mut tokens = tokens.peekable();
    while let Some(doc) = tokens.next() {
        if doc.kind() != TokenKind::DocComment {
            continue;
        }
        let why = match tokens.peek().map(|next| next.kind()) {
            None => "nothing follows",
            Some(TokenKind::DocComment) => "another one follows",
            Some(
                TokenKind::RBracket
                | TokenKind::RParen
                | TokenKind::RBrace
                | TokenKind::Comma
                | TokenKind::Pipe,
            ) => "it follows the item it documents",
            Some(_) => continue,
        };
        add(cx, file, doc, why);
    }
}

fn add(cx: &Linter<'_>, file: usize, doc: Token<'_>, why: &str) {
    if cx.is_full(file) {
        return;
    }
    let span = doc.span();
    let message = format!("this comment documents nothing: {why}");
    let rest = cx.texts[file].source().text().get(span.end as usize..).unwrap_or_default();
    let alone = rest.split('\n').next().is_none_or(|line| line.trim().is_empty());
    let content = doc.text().trim_start_matches("/**").trim_end_matches("*/").trim();
    let fix = if alone && !content.contains('\n') {
        Fix::replace(NeedsLook, "begin it with `//`", span, format!("// {content}"))
    } else {
        Fix::replace(NeedsLook, "remove it", span, "")
    };
    let diagnostic = cx
        .diagnostic(file, span, message)
        .help("write it before what it documents, or begin its lines with `//`")
        .fix(fix);
    cx.add(file, diagnostic);
}
