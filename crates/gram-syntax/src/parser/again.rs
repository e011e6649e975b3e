//! A text that was parsed before is parsed again: only the top-level patterns around what changed
//! are read, all others are taken over.
//!
//! What is taken over has to be what reading all of the text would give. A pattern of the top level
//! is read without a look at what stands before it; and of what stands behind it, tokens and patterns
//! depend on the next token that is no trivia, errors on some more. Where anything else might matter,
//! nothing is taken over.

use std::sync::Arc;

use super::errors::LOOK_AHEAD;
use super::{Parsed, Parser};
use crate::change::Change;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::lexer;
use crate::limits::Limits;
use crate::parse::ExtensionUse;
use crate::source::SourceFile;
use crate::span::{Span, offset};
use crate::tree::{Node, NodeData, NodeKind, Tree};

/// The most errors of a text of which something is taken over.
const MOST_ERRORS: usize = 64;

/// What is known of a text.
pub(crate) struct Before<'b> {
    pub(crate) tree: &'b Tree,
    pub(crate) diagnostics: &'b [Diagnostic],
    pub(crate) extensions: &'b [ExtensionUse],
}

/// Parses a text by what is known of an earlier form of it. Gives nothing where all has to be read.
pub(crate) fn again(
    before: &Before<'_>,
    source: &Arc<SourceFile>,
    limits: &Limits,
) -> Option<Parsed> {
    let tree = before.tree;
    let known = before.diagnostics;
    let nul = |found: &Diagnostic| *found.code == codes::NUL_CHARACTER;
    if tree.farsighted || known.len() > MOST_ERRORS || known.iter().any(nul) {
        return None;
    }
    let change = Change::between(tree.source.text(), source.text());
    let tops: Vec<Node<'_>> = tree.root().children().collect();
    let first = first(before, &tops, change.old.start);
    let start = first.map_or(0, |first| first.span().start);
    let text = source.text();
    // From the start of a pattern behind the change on, all is as before.
    let behind = tops.partition_point(|top| top.span().start < change.old.end);
    let mut rest = tops.get(behind..)?.iter();
    let mut next = rest.next();
    let lexed = lexer::lex_stretch(text, start as usize, |end| {
        while let Some(top) = next {
            let at = top.span().start.wrapping_add_signed(change.by) as usize;
            if at == end && may_follow(before, *top, text, end) {
                return true;
            }
            if at > end {
                break;
            }
            next = rest.next();
        }
        false
    })?;
    let (old, from) = (next?, first.map_or(0, Node::first));
    // A string without its end may be paired with another one, however far away.
    let unclosed = tree.unclosed.unwrap_or(Span::empty(start));
    if unclosed.start < start || unclosed.end > old.span().start {
        return None;
    }
    let tokens = tree.tokens.changed(from, &lexed.tokens, old.first(), change.by);
    let stop = from + offset(lexed.tokens.len());
    let end = tokens.span(stop).start;
    if text.as_bytes()[start as usize..end as usize].contains(&0) {
        return None;
    }
    let mut parser = Parser::new(source, limits, tokens);
    parser.note(&lexed);
    let nodes = tree.nodes.len();
    parser.nodes.reserve_exact(nodes + lexed.tokens.len());
    if let Some(first) = first {
        parser.nodes.extend_from_slice(tree.nodes.get(..first.id().0 as usize)?);
        parser.at = from;
        parser.last = tops.iter().rev().find(|top| top.first() < from).map_or(0, |top| top.last());
        parser.docs.extend(tree.docs.iter().take_while(|(token, _)| *token <= from));
    } else {
        parser.begin();
    }
    parser.patterns(Some(stop));
    if parser.at != stop {
        return None;
    }
    parser.order();
    if parser.diagnostics.iter().any(|found| found.span().start >= end) {
        return None;
    }
    // Behind it all stands further on.
    let id = old.id().0;
    let by_nodes = offset(parser.nodes.len()).wrapping_sub(id);
    let by_tokens = stop.wrapping_sub(old.first());
    let further = |node: &NodeData| NodeData {
        kind: node.kind,
        first: node.first.wrapping_add(by_tokens),
        last: node.last.wrapping_add(by_tokens),
        end: node.end.wrapping_add(by_nodes),
    };
    parser.nodes.extend(tree.nodes.get(id as usize..)?.iter().map(further));
    let docs = tree.docs.iter().filter(|(token, _)| *token > old.first());
    let docs =
        docs.map(|(token, doc)| (token.wrapping_add(by_tokens), doc.wrapping_add(by_tokens)));
    parser.docs.extend(docs);
    let (last, count) = (offset(parser.tokens.len() - 1), offset(parser.nodes.len()));
    let root = parser.nodes.first_mut()?;
    (root.last, root.end) = (last, count);
    // What was found stands in the order of the text.
    let own = std::mem::take(&mut parser.diagnostics);
    let earlier = known.iter().take_while(|found| found.span().start < start);
    let later = known.iter().filter(|found| found.span().start >= old.span().start);
    let mut diagnostics: Vec<_> = earlier.map(|found| found.moved(source, 0)).collect();
    diagnostics.extend(own);
    diagnostics.extend(later.map(|found| found.moved(source, change.by)));
    if diagnostics.len() > limits.max_diagnostics {
        return None;
    }
    let own = std::mem::take(&mut parser.extensions);
    let earlier = before.extensions.iter().take_while(|used| used.span.start < start);
    let later = before.extensions.iter().filter(|used| used.span.start >= old.span().start);
    let later = later.map(|used| ExtensionUse { span: used.span.moved(change.by), ..*used });
    parser.extensions = earlier.copied().chain(own).chain(later).collect();
    parser.diagnostics = diagnostics;
    Some(parser.parsed(lexed.farsighted, lexed.unclosed()))
}

/// The first pattern to be read again: what stands before it is taken over. Nothing means the start
/// of the text.
fn first<'t>(before: &Before<'_>, tops: &[Node<'t>], changed: u32) -> Option<Node<'t>> {
    let text = before.tree.source.text();
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
        let near = before.diagnostics.iter().find(|found| {
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
fn may_follow(before: &Before<'_>, top: Node<'_>, text: &str, at: usize) -> bool {
    let start = top.span().start;
    !matches!(top.kind(), NodeKind::Error | NodeKind::Record)
        && begins_line(text, at)
        && begins_line(before.tree.source.text(), start as usize)
        && !before.diagnostics.iter().any(|found| found.span().start == start)
}

fn begins_line(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n')
}
