//! What comments are about: their line, what begins behind them, or the whole text.

use gramc_syntax::{Node, NodeKind as N, Parse, Span, Token, TokenKind};

/// What each of some comments is about. They are in order, and so is the work: one walk through
/// the tree, however many there are.
pub(super) fn ranges(text: &Parse, comments: &[Span]) -> Vec<Span> {
    let nexts = nexts(text, comments);
    let mut walk = Walk::new(text);
    let code = first_of_text(text);
    let source = text.source();
    let whole = Span::from(0..source.text().len());
    let range = |(comment, next): (&Span, Option<u32>)| {
        let lines = source.lines();
        let line = lines.span(lines.line_of(comment.start), source.text());
        let before = source.slice(Span::new(line.start, comment.start));
        if !before.trim_matches(is_space).is_empty() {
            // What ends here may begin on another line.
            let ends = declaration_ending_at(text, line.start, comment.start);
            return Span::new(
                ends.map_or(line.start, |node| node.span().start.min(line.start)),
                line.end,
            );
        }
        let Some(next) = next else { return Span::empty(whole.end) };
        let between = source.slice(Span::new(comment.end, next));
        if comment.start < code && ends_block(between) {
            return whole;
        }
        Span::new(comment.end, walk.end_of_what_begins(next))
    };
    comments.iter().zip(nexts).map(range).collect()
}

/// White space and the byte order mark.
fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Where the first thing begins behind each comment that means something.
fn nexts(text: &Parse, comments: &[Span]) -> Vec<Option<u32>> {
    let mut nexts = vec![None; comments.len()];
    // The start of the code after the next comment, and the span of that comment.
    let (mut known, mut until) = (None, u32::MAX);
    for (comment, next) in comments.iter().zip(&mut nexts).rev() {
        let found = tokens_from(text, comment.end)
            .find(|token| !token.kind().is_trivia() || token.span().start >= until);
        *next = found.and_then(|token| {
            let start = token.span().start;
            if token.kind().is_trivia() { known } else { Some(start) }
        });
        (known, until) = (*next, comment.start);
    }
    nexts
}

/// The tokens of a text from an offset on.
fn tokens_from(text: &Parse, from: u32) -> impl Iterator<Item = Token<'_>> {
    let tree = text.tree();
    let mut at = from;
    std::iter::from_fn(move || {
        let is_inside = (at as usize) < tree.source().text().len();
        let token = is_inside.then(|| tree.token_at(at))?;
        at = token.span().end.max(at + 1);
        Some(token)
    })
}

/// The position of the first token other than space and comments.
fn first_of_text(text: &Parse) -> u32 {
    let plain =
        |token: &Token<'_>| !matches!(token.kind(), TokenKind::Whitespace | TokenKind::Comment);
    text.tree().tokens().find(plain).map_or(u32::MAX, |token| token.span().start)
}

/// The largest thing that ends with the last token before a comment, on the line of the comment.
fn declaration_ending_at(text: &Parse, line: u32, comment: u32) -> Option<Node<'_>> {
    let before = text.source().slice(Span::new(line, comment)).trim_end();
    let end = line + u32::try_from(before.len()).ok()?;
    let nodes = text.tree().nodes_at(end.checked_sub(1)?);
    let whole = |node: &Node<'_>| {
        let part = matches!(node.kind(), N::Document | N::Path | N::Elements);
        !part && node.span().end == end
    };
    nodes.into_iter().find(whole)
}

/// Whether an empty line follows a comment, with nothing but more comments before it.
fn ends_block(between: &str) -> bool {
    let lines: Vec<_> = between.split('\n').map(str::trim).collect();
    // The first one is the comment's own, on the last one something begins.
    let whole = lines.get(1..lines.len() - 1).unwrap_or_default();
    whole.iter().find(|line| !line.starts_with("//")) == Some(&"")
}

/// A walk through the nodes of a text, from the first to the last.
struct Walk<'t> {
    nodes: std::iter::Peekable<Box<dyn Iterator<Item = Node<'t>> + 't>>,
    /// The nodes that are begun and not ended, the largest first.
    open: Vec<Node<'t>>,
    /// The last answer.
    last: (u32, u32),
}

impl<'t> Walk<'t> {
    fn new(text: &'t Parse) -> Self {
        let nodes: Box<dyn Iterator<Item = Node<'t>>> = Box::new(text.tree().root().descendants());
        Self { nodes: nodes.peekable(), open: Vec::new(), last: (u32::MAX, 0) }
    }

    /// The end of the largest thing that begins at an offset: a declaration, an element, an entry.
    /// An arrow begins what it leads to. Where nothing begins, the end of what holds the offset.
    /// The offsets may not become less from one call to the next.
    fn end_of_what_begins(&mut self, start: u32) -> u32 {
        if self.last.0 != start {
            self.last = (start, self.find(start));
        }
        self.last.1
    }

    fn find(&mut self, start: u32) -> u32 {
        while let Some(node) = self.nodes.next_if(|node| node.span().start < start) {
            self.enter(node);
        }
        self.close(start);
        let holder = self.open.last().map_or(start, |node| node.span().end);
        let mut found = None;
        while let Some(node) = self.nodes.next_if(|node| node.span().start == start) {
            // The first pattern of a signature does not begin the whole of it.
            let part = matches!(node.kind(), N::Document | N::Path | N::Elements);
            found = found.or((!part).then_some(node));
            self.enter(node);
        }
        let Some(node) = found else { return holder };
        self.arrow_target(node).unwrap_or(node).span().end
    }

    /// What an arrow leads to.
    fn arrow_target(&self, arrow: Node<'t>) -> Option<Node<'t>> {
        let path = self.open.iter().rev().find(|node| node.kind() == N::Path);
        let mut parts = path.filter(|_| arrow.is_arrow())?.children();
        parts.find(|part| part.span().start >= arrow.span().end)
    }

    fn enter(&mut self, node: Node<'t>) {
        self.close(node.span().start);
        self.open.push(node);
    }

    /// Forgets the nodes that end before an offset.
    fn close(&mut self, at: u32) {
        while self.open.last().is_some_and(|node| node.span().end <= at) {
            self.open.pop();
        }
    }
}
