//! Edits of valid texts that keep what they mean, more or less, and that lints object to.

use std::fmt::Write as _;

use gramc_syntax::{Node, NodeKind as N, SourceFile, Tree, parse};

use super::rules;
use crate::rng::Rng;

/// A text with some random edits. Most texts that were without errors are so still.
pub fn roughen(rng: &mut Rng, text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..rng.between(1, 5) {
        let parsed = parse(SourceFile::new("rough.gram", text.as_str()));
        let tree = parsed.tree();
        let edited = match rng.below(12) {
            0 | 1 => arrows(rng, tree),
            2 => turned(rng, tree),
            3 | 4 => angles(rng, tree),
            5 => escape(rng, tree),
            6 => slashes(rng, tree),
            7 | 8 => nested(rng, tree),
            _ => allow(rng, tree),
        };
        if let Some(edited) = edited
            && !parse(SourceFile::new("rough.gram", edited.as_str())).has_errors()
        {
            text = edited;
        }
    }
    if rng.chance(5) { text.replace('\n', "\r\n") } else { text }
}

fn pick<'t>(rng: &mut Rng, tree: &'t Tree, want: impl Fn(Node<'t>) -> bool) -> Option<Node<'t>> {
    let found: Vec<_> = tree.root().descendants().filter(|node| want(*node)).collect();
    found.get(rng.below(found.len())).copied()
}

fn replaced(tree: &Tree, range: std::ops::Range<usize>, by: &str) -> String {
    let mut text = tree.source().text().to_owned();
    text.replace_range(range, by);
    text
}

/// Another arrow to the right.
fn arrows(rng: &mut Rng, tree: &Tree) -> Option<String> {
    let arrow = pick(rng, tree, |node| node.kind() == N::RightArrow)?;
    let other = rng.pick(&[
        "-->",
        "~~>",
        "==>",
        "-[x]->",
        "~[:Then {k: 1}]~>",
        "=[a:B <c: 1>]=>",
        "-[ // c\n ]->",
        "=[`->`]=>",
        "-[x {k: \"-->\"}]->",
    ]);
    Some(replaced(tree, arrow.span().range(), other))
}

/// A signature from right to left.
fn turned(rng: &mut Rng, tree: &Tree) -> Option<String> {
    let path = pick(rng, tree, |node| node.kind() == N::Path && node.children().count() > 2)?;
    let mut nodes: Vec<_> =
        path.children().filter(|part| !part.is_arrow()).map(Node::text).collect();
    nodes.reverse();
    let arrow = rng.pick(&["<==", "<--", "<~~", "\n<==", "<=[x]=", " /** D */ <== // c\n"]);
    Some(replaced(tree, path.span().range(), &nodes.join(arrow)))
}

/// A record in angle brackets.
fn angles(rng: &mut Rng, tree: &Tree) -> Option<String> {
    let record = pick(rng, tree, |node| node.kind() == N::Record)?;
    let inner = record.text().strip_prefix('{')?.strip_suffix('}')?;
    let inner =
        if rng.chance(30) { format!("{inner} // }} a comment\n") } else { inner.to_owned() };
    Some(replaced(tree, record.span().range(), &format!("<{inner}>")))
}

/// Characters of a string as escapes.
fn escape(rng: &mut Rng, tree: &Tree) -> Option<String> {
    let quoted = |node: Node<'_>| {
        let name = matches!(node.kind(), N::String | N::QuotedName | N::DoubleQuotedName);
        name && !node.text().starts_with("```")
    };
    let string = pick(rng, tree, quoted)?;
    let chars: Vec<(usize, char)> = string.text().char_indices().skip(1).collect();
    let (at, c) = *chars.get(rng.below(chars.len()))?;
    let (start, mut by) = (string.span().start as usize + at, String::new());
    let other =
        rng.pick(&["\"", "'", "`", "\\", "/", "\n", "\t", "\0", "é", "😀", "u", "\u{2028}"]);
    let units: Vec<u16> =
        if rng.chance(50) { c.to_string() } else { other.to_owned() }.encode_utf16().collect();
    for unit in units {
        let _ = write!(by, "\\u{unit:04x}");
    }
    Some(replaced(tree, start..start + c.len_utf8(), &by))
}

/// A string that begins with slashes.
fn slashes(rng: &mut Rng, tree: &Tree) -> Option<String> {
    let string = pick(rng, tree, |node| node.kind() == N::String)?;
    let start = string.span().start as usize + 1;
    Some(replaced(tree, start..start, rng.pick(&["//", "// ", "/", "//\\u0041"])))
}

/// An attribute with values inside of each other.
fn nested(rng: &mut Rng, tree: &Tree) -> Option<String> {
    let value = rng.pick(&[
        "[]",
        "[[1, 2], []]",
        "{a: {b: 1}}",
        "[{}]",
        "[{a: [\"//x\", \"\\u0041\"]}]",
        "{a: {}}",
        "[[1], // a comment\n [2]]",
        "{a: [[`b`]]}",
        "[[json`[1]`]]",
        "[[1..2, x, 3s, 017]]",
    ]);
    let key = rng.pick(&["default", "examples", "zz", "meta", "enum"]);
    let record = pick(rng, tree, |node| matches!(node.kind(), N::Record | N::SubjectPattern))?;
    let at = record.span().start as usize + 1;
    if record.kind() == N::Record {
        let comma = if record.entries().next().is_some() { ", " } else { "" };
        return Some(replaced(tree, at..at, &format!("{key}: {value}{comma}")));
    }
    let subject = record.subject();
    if subject.record.is_some() {
        return None;
    }
    let at = subject.labels_node()?.span().end as usize;
    Some(replaced(tree, at..at, &format!(" {{{key}: {value}}}")))
}

/// A comment that allows lints.
fn allow(rng: &mut Rng, tree: &Tree) -> Option<String> {
    let known: Vec<&str> = rules().collect();
    let mut names: Vec<&str> = (0..rng.between(1, 3)).map(|_| rng.pick(&known)).collect();
    if rng.chance(15) {
        let odd = ["nameing", "unclosed-string", "", " ", "all", "é", "unused-alow", "*"];
        names.push(rng.pick(&odd));
    }
    if rng.chance(10) {
        names.push(names[0]);
    }
    let list = names.join(rng.pick(&[", ", ",", " , "]));
    let reason = rng.pick(&["", "", " -- as the service says", " -- naming, -- é", " --"]);
    let comment = format!(
        "//{}gram-allow:{}{list}{reason}",
        rng.pick(&[" ", "", "/ "]),
        rng.pick(&[" ", ""])
    );
    let text = tree.source().text();
    if rng.chance(15) {
        return Some(format!("{comment}\n{}{text}", rng.pick(&["", "\n", "\n\n", "// more\n\n"])));
    }
    if rng.chance(10) {
        return Some(format!("{text}\n{comment}"));
    }
    let spaces: Vec<_> = tree.tokens().filter(|token| token.text().trim().is_empty()).collect();
    let space = spaces.get(rng.below(spaces.len()))?.span();
    // Behind something on its line, or on a line of its own.
    let by = rng
        .pick(&[" @\n", "\n@\n", "\n  @\n\n", "\n\n@\n// more\n", "\t@\r\n"])
        .replace('@', &comment);
    Some(replaced(tree, space.range(), &by))
}
