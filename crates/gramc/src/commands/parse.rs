//! `gramc parse`

use std::fmt::Write as _;

use gramc_diff::report::printable;
use gramc_project::Inputs;
use gramc_syntax::{Diagnostic, Node, NodeKind, Tree as SyntaxTree};

use crate::args::{Display, Parse, Tree};
use crate::failure::{Failure, Outcome};
use crate::{output, report};

/// A text as it is shown, and what is wrong in it.
struct Shown {
    name: String,
    text: String,
    found: Vec<Diagnostic>,
}

pub(super) fn run(args: &Parse, display: Display) -> Outcome {
    if args.tree != Tree::None {
        report::reserve_stdout(display, "add --tree none")?;
    }
    let all = Inputs::from(&args.inputs).map_files(|_, text| {
        let text = text?;
        let shown = match args.tree {
            Tree::Sexp => text.sexp() + "\n",
            Tree::Json => json(text.tree()),
            Tree::Tokens => tokens(text.tree()),
            Tree::None => String::new(),
        };
        let (name, found) = (text.source().name().to_owned(), text.diagnostics().to_vec());
        Ok(Shown { name, text: shown, found })
    })?;
    let all = all.into_iter().collect::<Result<Vec<_>, Failure>>()?;
    // The output format must not depend on the number of files in a folder.
    let one = args.inputs.is_one();
    for Shown { name, text, .. } in &all {
        match args.tree {
            Tree::None => {}
            Tree::Json if one => output::print(&format!("{text}\n"))?,
            Tree::Json => {
                let name = serde_json::Value::from(name.as_str());
                output::print(&format!("{{\"file\":{name},\"tree\":{text}}}\n"))?;
            }
            Tree::Sexp | Tree::Tokens if one => output::print(text)?,
            // What begins with a semicolon is a comment in S-expressions.
            Tree::Sexp | Tree::Tokens => {
                output::print(&format!("; {}\n{text}", printable(name)))?;
            }
        }
    }
    let found: Vec<_> = all.into_iter().flat_map(|shown| shown.found).collect();
    let counts = report::show(display, &found)?;
    Ok(counts.exit_code(false))
}

/// The tokens, one a line.
fn tokens(tree: &SyntaxTree) -> String {
    let mut out = String::new();
    for token in tree.tokens() {
        let span = token.span();
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}..{} {:?} {:?}", span.start, span.end, token.kind(), token.text());
    }
    out
}

/// The tree as JSON: kind, byte offsets, and the text of leaves or the children of others. It is
/// written without recursion, so any depth can be shown.
fn json(tree: &SyntaxTree) -> String {
    enum Step<'t> {
        Open(Node<'t>),
        Text(&'static str),
    }
    let mut out = String::new();
    let mut stack = vec![Step::Open(tree.root())];
    while let Some(step) = stack.pop() {
        let node = match step {
            Step::Text(text) => {
                out.push_str(text);
                continue;
            }
            Step::Open(node) => node,
        };
        let (kind, span) = (snake_case(node.kind()), node.span());
        let _ = write!(out, "{{\"kind\":\"{kind}\",\"start\":{},\"end\":{}", span.start, span.end);
        let children: Vec<_> = node.children().collect();
        if children.is_empty() && node.kind() != NodeKind::Document {
            let text = serde_json::Value::from(node.text());
            let _ = write!(out, ",\"text\":{text}}}");
            continue;
        }
        out.push_str(",\"children\":[");
        stack.push(Step::Text("]}"));
        for (at, child) in children.into_iter().enumerate().rev() {
            stack.push(Step::Open(child));
            if at > 0 {
                stack.push(Step::Text(","));
            }
        }
    }
    out
}

/// `SubjectPattern` as `subject_pattern`.
fn snake_case(kind: NodeKind) -> String {
    let mut name = String::new();
    for c in format!("{kind:?}").chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
