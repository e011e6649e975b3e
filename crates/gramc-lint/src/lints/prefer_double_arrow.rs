use gramc_syntax::Applicability::{NeedsLook, Safe};
use gramc_syntax::{Code, Edit, Fix, Node, NodeKind as N, Span, TokenKind};

use crate::context::{Linter, ToolView};
use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "prefer-double-arrow",
        page: r"# A signature uses arrows other than `==>`

All right-pointing arrows have the same meaning in a signature, and so does a
chain that points to the left and is read backwards. Mixed styles suggest a
difference that does not exist.

Use `==>`.

```gram bad
[add:Tool | (a::Int)-->(b::Int)~~>(::Int)]
```

```gram good
[add:Tool | (a::Int)==>(b::Int)==>(::Int)]
```
",
    },
    fix: Some(Safe),
    passes: &[LintPass::Tool(run)],
    ..Lint::COMMON
};

/// What no `==>` is made of.
const ODD: [TokenKind; 7] = [
    TokenKind::Dash,
    TokenKind::DashGreater,
    TokenKind::Tilde,
    TokenKind::TildeGreater,
    TokenKind::LessDash,
    TokenKind::LessEquals,
    TokenKind::LessTilde,
];

fn run(cx: &Linter<'_>, view: &ToolView<'_>) {
    if !view.node.tree().may_have(&ODD) {
        return;
    }
    let Some(path) = view.signature() else { return };
    let mut arrows = path.children().filter(|part| part.is_arrow());
    let Some(odd) = arrows.clone().find(|arrow| !is_double(*arrow)) else { return };
    if cx.is_full(view.file) {
        return;
    }
    // What points nowhere, or both ways, is an error.
    if arrows.clone().any(|arrow| !matches!(arrow.kind(), N::LeftArrow | N::RightArrow)) {
        return;
    }
    let leftwards = arrows.any(|arrow| arrow.kind() == N::LeftArrow);
    let message = if leftwards {
        format!("the signature of `{}` is written from right to left", view.tool.name)
    } else {
        format!("{} is used instead of `==>`", describe_arrow(odd))
    };
    let mut diagnostic = cx.diagnostic(view.file, odd.span(), message);
    if leftwards {
        diagnostic = diagnostic.help("write it from left to right, with `==>` between its parts");
        if let Some(text) = turned_around(path) {
            let fix = Fix::replace(NeedsLook, "turn the signature around", path.span(), text);
            diagnostic = diagnostic.fix(fix);
        }
    } else {
        let arrows = path.children().filter(|part| part.is_arrow());
        let edits = arrows.flat_map(edits).collect();
        diagnostic = diagnostic.help("write `==>`").fix(Fix::new(Safe, "write `==>`", edits));
    }
    cx.add(view.file, diagnostic);
}

fn is_double(arrow: Node<'_>) -> bool {
    let first = arrow.tokens().next().map(gramc_syntax::Token::kind);
    arrow.kind() == N::RightArrow && first == Some(TokenKind::Equals)
}

/// The arrow without content.
fn describe_arrow(arrow: Node<'_>) -> String {
    if is_short(arrow.span()) { format!("`{}`", arrow.text()) } else { "this arrow".to_owned() }
}

/// The arrow's own characters, each in the form that `==>` has.
fn edits(arrow: Node<'_>) -> impl Iterator<Item = Edit> {
    let depth_changes = |kind| match kind {
        TokenKind::LBracket => 1,
        TokenKind::RBracket => -1,
        _ => 0,
    };
    let mut depth = 0;
    arrow.tokens().filter_map(move |token| {
        depth += depth_changes(token.kind());
        let text = match token.kind() {
            TokenKind::Dash | TokenKind::Tilde if depth == 0 => "=",
            TokenKind::DashGreater | TokenKind::TildeGreater if depth == 0 => "=>",
            _ => return None,
        };
        Some(Edit { span: token.span(), text: text.to_owned() })
    })
}

/// A signature of left-pointing arrows from left to right, where only space is between
/// its parts.
fn turned_around(path: Node<'_>) -> Option<String> {
    let comment = |kind| matches!(kind, TokenKind::Comment | TokenKind::DocComment);
    let mut arrows = path.children().filter(|part| part.is_arrow());
    let plain = arrows.all(|arrow| arrow.kind() == N::LeftArrow && is_short(arrow.span()));
    if !plain || path.tokens().any(|token| comment(token.kind())) {
        return None;
    }
    let nodes = path.children().filter(|part| !part.is_arrow()).map(Node::text);
    let mut nodes: Vec<_> = nodes.collect();
    nodes.reverse();
    Some(nodes.join("==>"))
}

/// Whether an arrow has nothing in it.
fn is_short(arrow: Span) -> bool {
    arrow.len() <= 4
}
