use gram_syntax::Applicability::Safe;
use gram_syntax::{Code, Fix, Node, NodeKind as N, Span};

use crate::lint::context::{Context, Report};
use crate::lint::rule::{Level, Look, Rule};

pub(crate) static RULE: Rule = Rule {
    code: Code {
        name: "unused-import",
        page: r#"# A file imports another one of which it uses nothing

Whoever reads the header looks for what comes from there. The import also makes
the other file's names known here, and so may change what a name means.

Remove the import.

```gram bad
{imports: ["types.gram"]}

[now:Tool | ()==>(::DateTime)]
```

```gram good
[now:Tool | ()==>(::DateTime)]
```
"#,
    },
    level: Level::Warn,
    fix: Some(Safe),
    options: &[],
    target: None,
    looks: &[Look::Module(look)],
};

fn look(cx: &Context<'_>, report: &mut Report) {
    // What a broken declaration uses is not known.
    if !cx.complete {
        return;
    }
    for (file, imports) in cx.imports.iter().enumerate() {
        for (at, &(span, other)) in imports.iter().enumerate() {
            let again = imports[..at].iter().any(|(_, text)| *text == other);
            if !again && other != file && is_used(cx, file, other) {
                continue;
            }
            let path = cx.texts[file].source().slice(span);
            let message = format!("nothing of {path} is used here");
            let mut finding = cx.finding(&RULE, file, span, message).help("remove the import");
            if let Some(removal) = removal(cx, file, span) {
                finding = finding.fix(Fix::replace(Safe, "remove the import", removal, ""));
            }
            report.add(file, finding);
        }
    }
}

/// Whether somebody needs a file's import of another one: the file itself for a name, or, because
/// names of all files that are read are known, any that does not import it.
fn is_used(cx: &Context<'_>, file: usize, import: usize) -> bool {
    let brought = reached(cx, import);
    cx.uses.iter().any(|(user, owner)| {
        brought.contains(owner)
            && !brought.contains(user)
            && (*user == file || !reached(cx, *user).contains(owner))
    })
}

/// A file and all that it imports, and what they import.
fn reached(cx: &Context<'_>, file: usize) -> std::collections::HashSet<usize> {
    let mut reached = std::collections::HashSet::from([file]);
    let mut next = vec![file];
    while let Some(file) = next.pop() {
        for (_, import) in cx.imports.get(file).into_iter().flatten() {
            if reached.insert(*import) {
                next.push(*import);
            }
        }
    }
    reached
}

/// What to remove, so that an import is gone: the item, the entry where it has no other, the header
/// where that has no other.
fn removal(cx: &Context<'_>, file: usize, import: Span) -> Option<Span> {
    let header = cx.texts[file].tree().root().children().next()?;
    let entry = header.children().find(|entry| holds(*entry, import))?;
    let list = entry.children().find(|value| value.kind() == N::Array)?;
    let within = |node: Node<'_>, part: Span| {
        let parts: Vec<_> = node.children().map(Node::span).collect();
        let at = parts.iter().position(|span| *span == part)?;
        match (at.checked_sub(1).and_then(|at| parts.get(at)), parts.get(at + 1)) {
            (_, Some(next)) => Some(Span::new(part.start, next.start)),
            (Some(before), None) => Some(Span::new(before.end, part.end)),
            (None, None) => None,
        }
    };
    within(list, import).or_else(|| within(header, entry.span())).or_else(|| {
        // The header and the empty lines behind it.
        let text = cx.texts[file].source().text();
        let after = text.get(header.span().end as usize..)?;
        let space = after.len() - after.trim_start().len();
        Some(Span::new(header.span().start, header.span().end + u32::try_from(space).ok()?))
    })
}

fn holds(node: Node<'_>, part: Span) -> bool {
    node.span().start <= part.start && part.end <= node.span().end
}
