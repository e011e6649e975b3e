//! A text that was parsed before is parsed again: only the top-level patterns around what changed
//! are read, all others are taken over.
//!
//! What is taken over has to be what reading all of the text would give. A pattern of the top level
//! is read without a look at what stands before it; and of what stands behind it, tokens and patterns
//! depend on the next token that is no trivia, errors on some more. Where anything else might matter,
//! nothing is taken over.

use std::ops::Range;
use std::sync::Arc;

use super::errors::LOOK_AHEAD;
use super::{Parsed, Parser};
use crate::change::Change;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::lexer::{self, Lexed};
use crate::limits::Limits;
use crate::parse::ExtensionUse;
use crate::source::SourceFile;
use crate::span::{Span, offset};
use crate::tree::{Node, NodeData, NodeKind, Tree};

/// The most errors of a text of which something is taken over.
const MOST_ERRORS: usize = 64;

/// What is known of a text.
pub(crate) struct Before<'b> {
    pub(crate) diagnostics: &'b [Diagnostic],
    pub(crate) extensions: &'b [ExtensionUse],
}

/// From where on all of a text is as before: the start of a pattern of the top level, or its end.
#[derive(Clone, Copy)]
struct Rest {
    start: u32,
    token: u32,
    node: u32,
    /// Findings from there on are as before.
    found: u32,
}

impl Rest {
    fn from(top: Node<'_>) -> Self {
        let start = top.span().start;
        Self { start, token: top.first(), node: top.id().0, found: start }
    }

    fn end(tree: &Tree) -> Self {
        let start = offset(tree.source.text().len());
        let (token, node) = (offset(tree.tokens.len() - 1), offset(tree.nodes.len()));
        // What is wrong with the last pattern may be said at the end.
        Self { start, token, node, found: u32::MAX }
    }
}

/// What is read again: the tokens of a stretch, and what they replace.
struct Plan {
    change: Change,
    /// Where the stretch begins; nothing means at the start of the text.
    first: Option<First>,
    lexed: Lexed,
    rest: Rest,
}

/// The first pattern that is read again.
struct First {
    start: u32,
    token: u32,
    node: u32,
    /// The last token of the pattern before it.
    before: u32,
}

/// Parses a text by what is known of an earlier form of it, whose tree becomes the new one. Gives
/// nothing where all has to be read.
pub(crate) fn again(
    tree: Tree,
    known: &Before<'_>,
    source: &Arc<SourceFile>,
    limits: &Limits,
) -> Option<Parsed> {
    let Plan { change, first, lexed, rest } = plan(&tree, known, source)?;
    let Tree { mut tokens, mut nodes, mut docs, .. } = tree;
    let (start, from) = first.as_ref().map_or((0, 0), |first| (first.start, first.token));
    tokens.replace(from..rest.token, &lexed.tokens, change.by);
    let stop = from + offset(lexed.tokens.len());
    let end = tokens.span(stop).start;
    if source.text().as_bytes()[start as usize..end as usize].contains(&0) {
        return None;
    }
    let mut parser = Parser::new(source, limits, tokens);
    parser.note(&lexed);
    let id = match &first {
        Some(first) => {
            (parser.at, parser.last) = (first.token, first.before);
            first.node
        }
        None => parser.begin(),
    };
    parser.patterns(Some(stop));
    if parser.at != stop {
        return None;
    }
    parser.order();
    // Only at the end of the text a pattern has a say on what stands behind it.
    let behind = |found: &Diagnostic| found.span().start >= end;
    if rest.found < u32::MAX && parser.diagnostics.iter().any(behind) {
        return None;
    }
    // The nodes of the stretch, and those behind it.
    let by_tokens = stop.wrapping_sub(rest.token);
    let by_nodes = (id + offset(parser.nodes.len())).wrapping_sub(rest.node);
    if by_tokens != 0 || by_nodes != 0 {
        for node in nodes.iter_mut().skip(rest.node as usize) {
            node.first = node.first.wrapping_add(by_tokens);
            node.last = node.last.wrapping_add(by_tokens);
            node.end = node.end.wrapping_add(by_nodes);
        }
    }
    parser.nodes.iter_mut().for_each(|node| node.end += id);
    replace(&mut nodes, id..rest.node, &parser.nodes);
    let (last, count) = (offset(parser.tokens.len() - 1), offset(nodes.len()));
    let root = nodes.first_mut()?;
    (root.last, root.end) = (last, count);
    parser.nodes = nodes;
    // A doc comment before the stretch's first token stands there still.
    docs.retain(|(token, _)| (first.is_some() && *token <= from) || *token > rest.token);
    for (token, doc) in docs.iter_mut().filter(|(token, _)| *token > rest.token) {
        (*token, *doc) = (token.wrapping_add(by_tokens), doc.wrapping_add(by_tokens));
    }
    docs.append(&mut parser.docs);
    docs.sort_unstable();
    parser.docs = docs;
    parser.take_over(known, (start, rest.found), change.by);
    (parser.diagnostics.len() <= limits.max_diagnostics)
        .then(|| parser.parsed(lexed.farsighted, lexed.unclosed()))
}

/// What has to be read again; nothing where it is all.
fn plan(tree: &Tree, known: &Before<'_>, source: &Arc<SourceFile>) -> Option<Plan> {
    let nul = |found: &Diagnostic| *found.code == codes::NUL_CHARACTER;
    let found = known.diagnostics;
    if tree.farsighted || found.len() > MOST_ERRORS || found.iter().any(nul) {
        return None;
    }
    let change = Change::between(tree.source.text(), source.text());
    let tops: Vec<Node<'_>> = tree.root().children().collect();
    let first = first(tree, found, &tops, change.old.start).map(|first| First {
        start: first.span().start,
        token: first.first(),
        node: first.id().0,
        before: tops.iter().rev().find(|top| top.id() < first.id()).map_or(0, |top| top.last()),
    });
    let start = first.as_ref().map_or(0, |first| first.start);
    let (lexed, rest) = stretch(tree, found, &tops, (source.text(), start as usize), change);
    // A string without its end may be paired with another one, however far away.
    let unclosed = tree.unclosed.unwrap_or(Span::empty(start));
    let paired = unclosed.start < start || rest.start < unclosed.end;
    (!paired && !lexed.ambiguous).then_some(Plan { change, first, lexed, rest })
}

/// The tokens of a text from a place on, up to where all is as before.
fn stretch(
    tree: &Tree,
    found: &[Diagnostic],
    tops: &[Node<'_>],
    (text, start): (&str, usize),
    change: Change,
) -> (Lexed, Rest) {
    let behind = tops.partition_point(|top| top.span().start < change.old.end);
    let mut tops = tops.iter().skip(behind);
    let mut next = tops.next();
    let mut rest = Rest::end(tree);
    let lexed = lexer::lex_stretch(text, start, |end| {
        while let Some(top) = next {
            let at = top.span().start.wrapping_add_signed(change.by) as usize;
            if at == end && may_follow(found, *top, text, end) {
                rest = Rest::from(*top);
                return true;
            }
            if at > end {
                break;
            }
            next = tops.next();
        }
        false
    });
    (lexed, rest)
}

impl Parser<'_> {
    /// Takes over what was found before `start` and from `rest` on, which stands `by` bytes further.
    fn take_over(&mut self, before: &Before<'_>, (start, rest): (u32, u32), by: i32) {
        // It stands in the order of the text.
        let source = self.source;
        let own = std::mem::take(&mut self.diagnostics);
        let found = before.diagnostics.iter();
        let earlier = found.clone().take_while(|found| found.span().start < start);
        let later = found.filter(|found| found.span().start >= rest);
        self.diagnostics.extend(earlier.map(|found| found.moved(source, 0)));
        self.diagnostics.extend(own);
        self.diagnostics.extend(later.map(|found| found.moved(source, by)));
        let own = std::mem::take(&mut self.extensions);
        let used = before.extensions.iter();
        self.extensions.extend(used.clone().take_while(|used| used.span.start < start));
        self.extensions.extend(own);
        let later = used.filter(|used| used.span.start >= rest);
        let moved = |used: &ExtensionUse| ExtensionUse { span: used.span.moved(by), ..*used };
        self.extensions.extend(later.map(moved));
    }
}

/// Replaces nodes by others, at no more memory than they need.
fn replace(nodes: &mut Vec<NodeData>, old: Range<u32>, new: &[NodeData]) {
    nodes.reserve_exact(new.len().saturating_sub(old.len()));
    nodes.splice(old.start as usize..old.end as usize, new.iter().copied());
}

/// The first pattern to be read again: what stands before it is taken over. Nothing means the start
/// of the text.
fn first<'t>(
    tree: &Tree,
    found: &[Diagnostic],
    tops: &[Node<'t>],
    changed: u32,
) -> Option<Node<'t>> {
    let text = tree.source.text();
    let mut at = changed;
    loop {
        // Something of it stands before the change, so that what is before it still sees its start.
        let count = tops.partition_point(|top| top.span().start < at);
        // The first one may be the record of the text.
        let (top, index) = (tops.get(count.checked_sub(1)?)?, count - 1);
        if index == 0 {
            return None;
        }
        let start = top.span().start;
        if !begins_line(text, start as usize) {
            at = start;
            continue;
        }
        // Who words an error looks ahead from there on in its pattern, maybe as far as the change.
        let near = found.iter().find(|found| {
            let place = found.span().start;
            let of = tops.partition_point(|top| top.span().start <= place).saturating_sub(1);
            place <= start && tops[of].last() + LOOK_AHEAD >= top.first()
        });
        match near {
            Some(found) => at = (found.span().start + 1).min(start),
            None => return Some(*top),
        }
    }
}

/// Whether all from a pattern on is as before, where it begins at `at` in the new text.
fn may_follow(found: &[Diagnostic], top: Node<'_>, text: &str, at: usize) -> bool {
    let start = top.span().start;
    !matches!(top.kind(), NodeKind::Error | NodeKind::Record)
        && begins_line(text, at)
        && begins_line(top.tree().source().text(), start as usize)
        && !found.iter().any(|found| found.span().start == start)
}

fn begins_line(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n')
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;
    use crate::parser;

    const TEXT: &str = "{imports: [\"a.gram\"]}\n\n/** One. */\n[one:Tool | (a::Text)==>(::Text)]\n\
                        (term::Int)\n[two:Tool | (b::Text)==>(::Text)]\n\n[three:Tool | ()==>(::Text)]\n";

    /// Whether something is taken over, where a part of a text becomes another one.
    fn taken(text: &str, old: &str, new: &str) -> bool {
        assert!(text.contains(old), "{old}");
        let (limits, after) = (Limits::default(), text.replacen(old, new, 1));
        let source = |text: &str| Arc::new(SourceFile::new("a.gram", text));
        let Parsed { tree, diagnostics, extensions } = parser::parse(&source(text), &limits);
        let before = Before { diagnostics: &diagnostics, extensions: &extensions };
        let source = source(&after);
        let parsed = again(tree, &before, &source, &limits);
        if let Some(parsed) = &parsed {
            let new = parser::parse(&source, &limits);
            assert_eq!(format!("{:?}", parsed.tree.nodes), format!("{:?}", new.tree.nodes));
            assert_eq!(parsed.tree.docs, new.tree.docs);
        }
        parsed.is_some()
    }

    #[test]
    fn most_is_taken_over() {
        let edits = [
            ("b::Text", "b::Txt"),
            ("b::Text", "b::`"),
            ("[two:Tool | (b::Text)==>(::Text)]", "[two:Tool | (b::Text"),
            ("[two:Tool | (b::Text)==>(::Text)]", ""),
            ("\n\n[three", "\n\n[four:Tool | ()==>(::Int)]\n[three"),
            ("::Text)]\n", "::Text)]\n"),
            ("a.gram", "b.gram"),
            ("{imports", "{import"),
            ("One", "Two"),
            ("three:Tool | ()==>(::Text)]\n", "three:Tool | ()==>(::Text)]\n[four:Tool |"),
            ("(term::Int)", "@note(1) (term::Int)"),
        ];
        for (old, new) in edits {
            assert!(taken(TEXT, old, new), "{old} {new}");
        }
        // An error elsewhere, far enough away, stays what it is.
        let far = format!("[broken:Tool | (a::Text)==>]\n\n{}{TEXT}", "(a)\n".repeat(100));
        assert!(taken(&far, "b::Text", "b::Txt"));
    }

    #[test]
    fn what_reaches_far_is_read_whole() {
        let fence = "[a:Tool {default: ```\n| ()==>(::Int)]\n";
        for far in [fence, "/** never ended\n", "(a {b: \"// c\"})\n"] {
            assert!(!taken(&format!("{TEXT}{far}"), "b::Text", "b::Txt"), "{far}");
        }
        assert!(!taken(TEXT, "b::Text", "b::Text \0"));
    }
}
