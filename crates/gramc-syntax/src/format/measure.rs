//! How wide things are on one line, measured once for a whole pattern.

use crate::token::TokenKind as T;
use crate::tree::{NodeData, NodeKind as N, Tree};

/// What is known of a token, counted from the start of its pattern as if all of it stood on one
/// line. A node's share is the difference between its last token and its first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    /// The column where it starts.
    start: u32,
    /// The column where it ends.
    end: u32,
    /// How many line breaks there are that nothing can take away: behind comments, between
    /// paragraphs, in strings of several lines.
    forced: u32,
    /// How many gaps before it are not as they would be on one line.
    changed: u32,
}

/// The marks of a pattern's tokens.
#[derive(Debug, Default)]
pub(super) struct Marks {
    base: u32,
    marks: Vec<Mark>,
}

impl Marks {
    fn mark(&self, token: u32) -> Mark {
        self.marks.get(token.wrapping_sub(self.base) as usize).copied().unwrap_or_default()
    }

    /// The characters from one token to another, both included, on one line.
    pub(super) fn width(&self, first: u32, last: u32) -> u32 {
        self.mark(last).end.saturating_sub(self.mark(first).start)
    }

    pub(super) fn fits_a_line(&self, node: &NodeData) -> bool {
        self.mark(node.first).forced == self.mark(node.last).forced
    }

    /// Whether a node is on one line and correctly formatted.
    pub(super) fn is_laid_out(&self, node: &NodeData) -> bool {
        self.mark(node.first).changed == self.mark(node.last).changed
    }

    /// Whether a space separates two adjacent tokens on one line.
    pub(super) fn needs_space(&self, before: u32, token: u32) -> bool {
        self.mark(token).start > self.mark(before).end
    }

    /// Measures the tokens from `first` to `last`, which belong to one pattern of the top level.
    pub(super) fn measure(&mut self, tree: &Tree, first: u32, last: u32) {
        self.base = first;
        self.marks.clear();
        self.marks.resize((last - first) as usize + 1, Mark::default());
        let text = tree.source.text();
        let mut mark = Mark::default();
        let mut context = Context::default();
        let mut gap_start = tree.tokens.span(first).start;
        let mut comments = false;
        let mut types = Types::new(tree, first);
        let mut token = first;
        while token <= last {
            let kind = tree.tokens.kind(token);
            if kind.is_trivia() {
                comments |= kind != T::Whitespace;
                token += 1;
                continue;
            }
            let closing = last_piece(tree, token);
            let span = tree.tokens.span(token).cover(tree.tokens.span(closing));
            // `<-` would be the start of an arrow.
            let negative = context.last == T::Less && text[span.range()].starts_with('-');
            let space = context.space_before(kind, types.place(token)) || negative;
            let gap = text.get(gap_start as usize..span.start as usize).unwrap_or_default();
            // By bytes: the library's comparison of short texts, some of them empty, took half of
            // the time of all formatting.
            let as_it_should = match gap.as_bytes() {
                [] => !space,
                [b' '] => space,
                _ => false,
            };
            mark.changed += u32::from(!as_it_should);
            mark.forced +=
                u32::from(comments || (context.paragraph_before(kind) && has_empty_line(gap)));
            mark.start = mark.end + u32::from(space);
            self.set(token, mark);
            let token_text = tree.source.slice(span);
            mark.end = mark.start + width(kind, token_text);
            mark.forced +=
                u32::from(is_fence(kind) || closing > token && token_text.contains('\n'));
            let opening = self.mark(token);
            self.set(token, Mark { end: mark.end, ..opening });
            if closing > token {
                self.set(closing, mark);
            }
            context.pass(if closing > token { T::QuoteClose } else { kind });
            gap_start = span.end;
            comments = false;
            token = closing + 1;
        }
    }

    fn set(&mut self, token: u32, mark: Mark) {
        if let Some(place) = self.marks.get_mut((token - self.base) as usize) {
            *place = mark;
        }
    }
}

/// The last piece of a string in pieces that begins with `token`; any other token itself. What
/// stands between the pieces is the string's own affair.
pub(super) fn last_piece(tree: &Tree, token: u32) -> u32 {
    if !matches!(tree.tokens.kind(token), T::QuoteOpen | T::FenceOpen) {
        return token;
    }
    let mut last = token;
    while !matches!(tree.tokens.kind(last), T::QuoteClose | T::FenceClose | T::End) {
        last += 1;
    }
    last
}

/// Where a token is, as far as types are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypePlace {
    Outside,
    Inside,
    /// At the start of a record of attributes.
    Record,
}

/// The type expressions of a pattern, token by token.
struct Types<'t> {
    tree: &'t Tree,
    /// The next node.
    node: usize,
    /// The first token behind the current type expression.
    end: u32,
}

impl<'t> Types<'t> {
    fn new(tree: &'t Tree, first: u32) -> Self {
        Self { tree, node: tree.nodes.partition_point(|node| node.first < first), end: 0 }
    }

    fn place(&mut self, token: u32) -> TypePlace {
        let mut record = false;
        // A label's own start is outside: the colons before it decide.
        let inside = token < self.end;
        while let Some(node) = self.tree.nodes.get(self.node)
            && node.first <= token
        {
            record |= node.kind == N::Record && node.first == token;
            if node.kind == N::TypeExpression {
                self.end = self.end.max(node.last + 1);
            }
            self.node += 1;
        }
        match (inside, record) {
            (false, _) => TypePlace::Outside,
            (true, false) => TypePlace::Inside,
            (true, true) => TypePlace::Record,
        }
    }
}

fn is_fence(kind: T) -> bool {
    matches!(kind, T::Fenced | T::FencedTagged)
}

/// The characters of a token: only strings may contain others than ASCII's.
fn width(kind: T, text: &str) -> u32 {
    let may_be_wide =
        matches!(kind, T::SingleQuoted | T::DoubleQuoted | T::Backticked | T::QuoteOpen);
    let width = if may_be_wide { text.chars().count() } else { text.len() };
    crate::span::offset(width)
}

/// Whether white space contains an empty line.
pub(super) fn has_empty_line(gap: &str) -> bool {
    gap.len() > 1 && gap.bytes().filter(|&byte| byte == b'\n').nth(1).is_some()
}

/// The text before a token, as far as the white space before it hangs on that.
#[derive(Debug)]
struct Context {
    /// The last two tokens.
    before: T,
    last: T,
    /// How many braces are open. Inside of one, a colon is between key and value; elsewhere,
    /// before a label.
    braces: u32,
}

impl Default for Context {
    fn default() -> Self {
        Self { before: T::End, last: T::End, braces: 0 }
    }
}

impl Context {
    fn pass(&mut self, kind: T) {
        match kind {
            T::LBrace | T::Less => self.braces += 1,
            T::RBrace | T::Greater => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        self.before = self.last;
        self.last = kind;
    }

    /// Whether a space precedes a token of `kind` on the same line.
    fn space_before(&self, kind: T, place: TypePlace) -> bool {
        use T::{At, AtAt, Colon, ColonColon, End, LBrace, LBracket, LParen, Less, Pipe, RParen};
        let opens_type = matches!(self.last, T::Comma | Pipe | Colon | T::Equals);
        match (self.last, kind) {
            (LBracket | LParen | LBrace | Less | ColonColon | At | AtAt | End, _) => false,
            (_, Less) if place == TypePlace::Inside => false,
            (_, LBracket | LParen) if place == TypePlace::Inside => opens_type,
            (T::Equals, _) | (_, T::Equals) if place != TypePlace::Outside => true,
            (T::Comma | Pipe, _) | (_, Pipe | LBrace | Less | At | AtAt) => true,
            (Colon, _) => self.braces > 0,
            // Behind annotations: `@@name (a)`, `@key(1) (a)`, but not within them.
            (T::Symbol, LParen) => self.before != At,
            (last, LParen | LBracket) => {
                matches!(last, T::Symbol | T::Backticked | T::QuoteClose | T::Integer | RParen)
            }
            _ => false,
        }
    }

    /// Whether an empty line before a token of `kind` parts paragraphs.
    fn paragraph_before(&self, kind: T) -> bool {
        self.last == T::Comma || (self.last == T::RParen && is_arrow_start(kind))
    }
}

/// Whether an arrow can begin with a token.
pub(super) fn is_arrow_start(kind: T) -> bool {
    use T::{Dash, Equals, LessDash, LessEquals, LessTilde, Tilde};
    matches!(kind, Dash | Equals | Tilde | LessDash | LessEquals | LessTilde)
}
