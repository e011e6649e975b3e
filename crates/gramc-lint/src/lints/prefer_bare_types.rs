use gramc_check::names::{Kind, declarations};
use gramc_syntax::Applicability::Safe;
use gramc_syntax::{Code, Fix, Node, NodeKind as N, SourceFile, TokenKind, parse};

use crate::context::Linter;
use crate::lint::{Level, Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "prefer-bare-types",
        page: r#"# A type is in backticks unnecessarily

A type expression may follow `::` without backticks, which is easier to read.
Backticks make a file plain gram for other gram tools; see `portable-gram`, the
opposite of this lint.

```gram bad
[plot:Tool | (points::`[Int, Int][]`)==>(::Null)]
```

```gram good
[plot:Tool | (points::[Int, Int][])==>(::Null)]
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
    if !text.tree().may_have(&[TokenKind::Backticked]) {
        return;
    }
    for declaration in declarations(text, |_| true) {
        let typed = match declaration.kind {
            Kind::Tool | Kind::Record | Kind::Alias | Kind::Union | Kind::Term => true,
            Kind::Enum | Kind::Container | Kind::Agent | Kind::Library | Kind::Experiment => false,
        };
        if !typed {
            continue;
        }
        let node = text.tree().node(declaration.node);
        for label in labels(node) {
            if cx.is_full(file) {
                return;
            }
            let Some(bare) = bare(label) else { continue };
            let message = "this type needs no backticks";
            let diagnostic = cx.diagnostic(file, label.span(), message);
            let mut diagnostic = diagnostic.help("remove the backticks");
            // Its fix and that of the opposite lint would undo each other for ever.
            if cx.settings.level(&super::portable_gram::LINT) == Level::Allow {
                let fix = Fix::replace(Safe, "remove the backticks", label.span(), bare);
                diagnostic = diagnostic.fix(fix);
            }
            cx.add(file, diagnostic);
        }
    }
}

/// The labels in backticks of a declaration's nodes, without those of declarations inside of it.
fn labels(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let own = (node.kind() == N::NodePattern).then_some(node);
    let elements = node.elements().filter(|element| element.kind() == N::Path);
    let nodes = own.into_iter().chain(elements.flat_map(Node::children));
    nodes
        .filter(|part| part.kind() == N::NodePattern)
        .flat_map(|node| node.subject().labels())
        .filter(|label| label.kind() == N::QuotedName)
}

/// The type expression of a label in backticks, if it means the same without them.
fn bare(label: Node<'_>) -> Option<String> {
    let content = label.content();
    let parse = parse(SourceFile::new("label", format!("(::{content})")));
    let mut patterns = parse.tree().root().children();
    let (Some(path), None) = (patterns.next(), patterns.next()) else { return None };
    let label = path.children().next()?.subject().labels().next()?;
    // Without backticks, these words are names.
    if matches!(label.text(), "true" | "false" | "null") {
        return None;
    }
    let whole = label.span().len() as usize == content.trim().len();
    (whole && !parse.has_errors()).then(|| content.trim().to_owned())
}
