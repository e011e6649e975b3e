use std::collections::{BTreeMap, HashMap, HashSet};

use gramc_syntax::Applicability::{NeedsLook, Safe};
use gramc_syntax::{Code, Fix, Node, NodeKind as N, Span, Token, TokenKind};

use crate::context::Linter;
use crate::fix::item_with_comma;
use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "unused-import",
        page: r#"# An import is unused

An unused import misleads readers. It also makes the names of the other file
visible here and can change the resolution of a name.

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
    fix: Some(Safe),
    passes: &[LintPass::Module(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>) {
    // What a broken declaration uses is not known.
    if cx.project.valid.is_none() || cx.imports.iter().all(Vec::is_empty) {
        return;
    }
    let Some(uses) = cx.project.uses else { return };
    let needs = Needs::new(cx, uses);
    for (file, imports) in cx.imports.iter().enumerate() {
        let mut known: HashMap<usize, Span> = HashMap::new();
        for &(span, other) in imports {
            let path = cx.texts[file].source().slice(span);
            let first = *known.entry(other).or_insert(span);
            let (message, help) = if other == file {
                ("this file imports itself".to_owned(), "remove the import")
            } else if !needs.needs_import(file, other) {
                (format!("unused import {path}"), "remove the import")
            } else if first != span {
                (format!("{path} is imported twice"), "remove one of the two")
            } else {
                continue;
            };
            let mut diagnostic = cx.diagnostic(file, span, message).help(help);
            if first != span {
                diagnostic = diagnostic.label(first, "the first time");
            }
            if let Some(removal) = removal(cx, file, span) {
                // A fix must not delete a comment.
                let comment = kinds_in(cx, file, removal).any(|token| token == TokenKind::Comment);
                let applicability = if comment { NeedsLook } else { Safe };
                diagnostic =
                    diagnostic.fix(Fix::replace(applicability, "remove the import", removal, ""));
            }
            cx.add(file, diagnostic);
        }
    }
}

/// The imports that are used.
///
/// A file needs what it imports itself and uses. Because the names of all files that are read are
/// known, it may also use what only a file that it imports leads to, or what another file brought;
/// then all ways there are kept.
struct Needs<'c> {
    direct: &'c HashSet<(usize, usize)>,
    /// For each file that others use without importing it, the ways that lead to it.
    indirect: Vec<Ways>,
}

/// The ways to a file from those that use it without importing it.
struct Ways {
    /// For each file, whether its imports lead there.
    lead_there: Vec<bool>,
    /// For each file, whether the imports of one that uses it lead here.
    lead_here: Vec<bool>,
    /// Whether one uses it whose imports do not lead there.
    by_luck: bool,
}

impl<'c> Needs<'c> {
    fn new(cx: &Linter<'_>, uses: &'c HashSet<(usize, usize)>) -> Self {
        let mut to = vec![Vec::new(); cx.imports.len()];
        let mut from = vec![Vec::new(); cx.imports.len()];
        for (file, imports) in cx.imports.iter().enumerate() {
            for &(_, import) in imports {
                if let (Some(to), Some(from)) = (to.get_mut(file), from.get_mut(import)) {
                    to.push(import);
                    from.push(file);
                }
            }
        }
        let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &(user, owner) in uses {
            if to.get(user).is_none_or(|imports| !imports.contains(&owner)) {
                users.entry(owner).or_default().push(user);
            }
        }
        let ways = |(owner, users): (usize, Vec<usize>)| {
            let lead_there = find_reachable(&from, &[owner]);
            let by_luck = users.iter().any(|user| !has(&lead_there, *user));
            Ways { lead_here: find_reachable(&to, &users), lead_there, by_luck }
        };
        Self { direct: uses, indirect: users.into_iter().map(ways).collect() }
    }

    /// Whether a file, or one that imports it, needs something that an import brings; or one that
    /// imports nothing that brings it.
    fn needs_import(&self, file: usize, import: usize) -> bool {
        let needed = |ways: &Ways| {
            has(&ways.lead_there, import) && (ways.by_luck || has(&ways.lead_here, file))
        };
        self.direct.contains(&(file, import)) || self.indirect.iter().any(needed)
    }
}

/// For each file, whether one can come there from one of those given.
fn find_reachable(next: &[Vec<usize>], from: &[usize]) -> Vec<bool> {
    let mut reached = vec![false; next.len()];
    let mut open = from.to_vec();
    while let Some(file) = open.pop() {
        if let Some(known) = reached.get_mut(file).filter(|known| !**known) {
            *known = true;
            open.extend(next.get(file).into_iter().flatten());
        }
    }
    reached
}

fn has(files: &[bool], file: usize) -> bool {
    files.get(file).copied().unwrap_or_default()
}

/// What to remove, so that an import is gone: the item, the entry where it has no other, the header
/// where that has no other.
fn removal(cx: &Linter<'_>, file: usize, import: Span) -> Option<Span> {
    let header = cx.texts[file].tree().root().children().next()?;
    let entry = header.children().find(|entry| entry.span().contains(import))?;
    let list = entry.children().find(|value| value.kind() == N::Array)?;
    let within = |node: Node<'_>, part: Span| {
        let parts: Vec<_> = node.children().map(Node::span).collect();
        item_with_comma(&parts, parts.iter().position(|span| *span == part)?)
    };
    within(list, import).or_else(|| within(header, entry.span())).or_else(|| {
        // The header and the empty lines behind it.
        let text = cx.texts[file].source().text();
        let after = text.get(header.span().end as usize..)?;
        let space = after.len() - after.trim_start().len();
        Some(Span::new(header.span().start, header.span().end + u32::try_from(space).ok()?))
    })
}

/// The kinds of the tokens that a removal takes away.
fn kinds_in<'a>(
    cx: &Linter<'a>,
    file: usize,
    removal: Span,
) -> impl Iterator<Item = TokenKind> + use<'a> {
    let header = cx.texts[file].tree().root().children().next();
    let tokens = header.into_iter().flat_map(Node::tokens);
    tokens.filter(move |token| removal.contains(token.span())).map(Token::kind)
}
