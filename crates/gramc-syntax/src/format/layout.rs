//! Where lines break.
//!
//! One pass over the tokens of each pattern, with a stack of what is spread over several lines. A
//! node that fits on its line is written at once, and its content is not visited again; so
//! the stack has only open nodes, and no step costs more than its tokens.

use crate::span::Span;
use crate::token::TokenKind as T;
use crate::tree::{NodeData, NodeKind as N, Tree};

use super::gap::{Break, Comment};
use super::measure::{Marks, has_empty_line, is_arrow_start, last_piece};

/// The columns by which the inside of a bracket is indented.
const INDENT: u32 = 2;

/// Where indentation ends. Deeper nodes start in this column, so that a text of nothing
/// but brackets does not grow with the square of its depth.
const MAX_INDENT: u32 = 60;

/// The longest value of an array that shares its line with others where they do not all fit.
const MAX_SHORT_VALUE: u32 = 20;

/// What is spread over several lines.
#[derive(Debug, Clone, Copy)]
struct Frame {
    kind: Kind,
    first: u32,
    last: u32,
    /// The indentation of the line that it begins on.
    indent: u32,
    /// The characters that follow on its last line.
    tail: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A record, map or array; `fill` where its items share lines.
    Brackets { fill: bool },
    /// A subject pattern; `bar` behind its bar.
    Pattern { bar: bool },
    /// A path, and the indentation of its current step.
    Path { step: u32 },
    /// An annotated pattern, and the last token of its annotations.
    Annotated { annotations: u32 },
    /// A union in a type expression.
    Union,
}

/// The text that is made, and what it is made of.
pub(super) struct Layout<'t> {
    pub(super) tree: &'t Tree,
    pub(super) out: String,
    pub(super) eol: &'static str,
    /// The characters of the current line.
    pub(super) column: u32,
    /// The indentation of the current line.
    pub(super) indent: u32,
    /// Comments that wait for the comma or bar that they stood before.
    pub(super) waiting: Vec<Comment>,
    width: u32,
    marks: Marks,
    frames: Vec<Frame>,
    /// The next node.
    node: u32,
}

/// A tree's text, laid out.
pub(super) fn document(tree: &Tree, width: u32) -> String {
    let text = tree.source.text();
    let mut layout = Layout {
        tree,
        out: String::with_capacity(text.len() + text.len() / 8),
        eol: dominant_line_end(tree),
        column: 0,
        indent: 0,
        waiting: Vec::new(),
        width,
        marks: Marks::default(),
        frames: Vec::new(),
        node: 1,
    };
    if text.starts_with('\u{feff}') {
        layout.out.push('\u{feff}');
    }
    let mut behind = 0;
    // A declaration of several lines is set off from others by an empty line.
    let mut after_long = false;
    while let Some(&pattern) = tree.nodes.get(layout.node as usize) {
        layout.marks.measure(tree, pattern.first, pattern.last);
        layout.column = 0;
        let long = !layout.flat(layout.node, pattern, pattern.end == layout.node + 1);
        layout.top_level_gap(behind, pattern.first, long || after_long);
        layout.pattern(pattern);
        after_long = long;
        behind = pattern.last + 1;
        layout.node = pattern.end;
    }
    layout.end_gap(behind);
    layout.out
}

/// The line end of most lines, those within strings not counted.
fn dominant_line_end(tree: &Tree) -> &'static str {
    let text = tree.source.text().as_bytes();
    if memchr::memchr(b'\r', text).is_none() {
        return "\n";
    }
    let (mut lines, mut with_return, mut token) = (0_usize, 0_usize, 0);
    while tree.tokens.kind(token) != T::End {
        if tree.tokens.kind(token).is_trivia() {
            let span = tree.tokens.span(token).range();
            for at in memchr::memchr_iter(b'\n', text.get(span.clone()).unwrap_or_default()) {
                let before = (span.start + at).checked_sub(1).and_then(|at| text.get(at));
                lines += 1;
                with_return += usize::from(before == Some(&b'\r'));
            }
        }
        token = last_piece(tree, token) + 1;
    }
    if with_return * 2 > lines { "\r\n" } else { "\n" }
}

impl Layout<'_> {
    pub(super) fn kind(&self, token: u32) -> T {
        self.tree.tokens.kind(token)
    }

    /// The next token from `token` on that is not trivia.
    fn significant(&self, mut token: u32) -> u32 {
        while self.kind(token).is_trivia() {
            token += 1;
        }
        token
    }

    /// A pattern of the top level, or the header.
    fn pattern(&mut self, pattern: NodeData) {
        self.frames.clear();
        let mut before = None;
        let mut token = pattern.first;
        while token <= pattern.last {
            if let Some(before) = before {
                while self.frames.last().is_some_and(|frame| frame.last <= before) {
                    self.frames.pop();
                }
                self.gap(before, token);
            }
            let last = match self.open(token) {
                Some(last) => last,
                None => self.token(token),
            };
            before = Some(last);
            token = self.significant(last + 1);
        }
    }

    /// Writes the largest node that begins with a token and fits on its line, and gives its last
    /// token; nodes around it are opened. Nothing where none of them fits.
    fn open(&mut self, token: u32) -> Option<u32> {
        while let Some(&node) = self.tree.nodes.get(self.node as usize)
            && node.first <= token
        {
            let id = self.node;
            self.node += 1;
            let leaf = node.end == self.node;
            if node.first < token || (leaf && node.first == node.last) {
                continue;
            }
            if self.flat(id, node, leaf) {
                self.write_flat(&node);
                self.node = node.end;
                return Some(node.last);
            }
            self.spread(node);
        }
        None
    }

    /// Whether a node is written on the current line.
    fn flat(&self, id: u32, node: NodeData, leaf: bool) -> bool {
        let candidate = match node.kind {
            N::Elements | N::Annotations => false,
            N::AnnotatedPattern => self.child(id, 1).is_some_and(|annotations| {
                // Several annotations are written on one line each.
                self.child(id, 2).is_some_and(|first| first.end == annotations.end)
            }),
            _ => true,
        };
        if !candidate || !self.marks.fits_a_line(&node) {
            return false;
        }
        // A leaf cannot be spread.
        leaf || {
            let width = self.marks.width(node.first, node.last);
            width <= self.width && self.column + width + self.tail(&node) <= self.width
        }
    }

    /// The node so many places behind another in the tree.
    fn child(&self, id: u32, places: u32) -> Option<NodeData> {
        self.tree.nodes.get((id + places) as usize).copied()
    }

    /// Opens a node that does not fit on its line.
    fn spread(&mut self, node: NodeData) {
        let indent = self.indent;
        let kind = match node.kind {
            N::Record | N::Map | N::TypeRecord | N::TypeTuple => Kind::Brackets { fill: false },
            N::TypeExpression if self.has_members(node) => Kind::Union,
            N::Array => Kind::Brackets { fill: self.has_short_items(node) },
            N::SubjectPattern => Kind::Pattern { bar: false },
            N::Path => Kind::Path { step: indent },
            N::AnnotatedPattern => {
                let annotations = self.tree.nodes.get(self.node as usize);
                Kind::Annotated { annotations: annotations.map_or(node.first, |node| node.last) }
            }
            _ => return,
        };
        let tail = self.tail(&node);
        self.frames.push(Frame { kind, first: node.first, last: node.last, indent, tail });
    }

    /// Whether the type expression whose first member is the next node has others.
    fn has_members(&self, ty: NodeData) -> bool {
        self.tree.nodes.get(self.node as usize).is_some_and(|member| member.end < ty.end)
    }

    /// Whether the items of the array whose first item is the next node are short enough to share
    /// lines.
    fn has_short_items(&self, array: NodeData) -> bool {
        let mut id = self.node;
        while id < array.end {
            let Some(item) = self.tree.nodes.get(id as usize) else { break };
            let scalar = !matches!(item.kind, N::Array | N::Map);
            let short = self.marks.width(item.first, item.last) <= MAX_SHORT_VALUE;
            if !(scalar && short && self.marks.fits_a_line(item)) {
                return false;
            }
            id = item.end;
        }
        true
    }

    /// The number of characters that must follow a node on its last line.
    fn tail(&self, node: &NodeData) -> u32 {
        let Some(frame) = self.frames.last() else { return 0 };
        let next = self.significant(node.last + 1);
        match (frame.kind, self.kind(next)) {
            _ if next > frame.last => frame.tail,
            (_, T::Comma) | (Kind::Annotated { .. }, T::RParen) => 1,
            (_, T::LBrace | T::Less) => self.record_tail(next),
            (Kind::Brackets { .. }, T::Equals) => self.default_tail(next, frame),
            (Kind::Pattern { .. }, T::Pipe) => 2,
            (Kind::Pattern { bar: false }, T::RBracket) => 1 + frame.tail,
            (Kind::Path { .. }, T::RParen) => 1 + if next == frame.last { frame.tail } else { 0 },
            (Kind::Path { .. }, T::RBracket | T::LParen) => self.arrow_tail(next, frame),
            _ => 0,
        }
    }

    /// The characters of a record that must follow a type on its line.
    fn record_tail(&self, opener: u32) -> u32 {
        if self.opens_entries(opener) {
            return 2;
        }
        let closer = self.significant(opener + 1);
        let behind = matches!(self.kind(self.significant(closer + 1)), T::RParen | T::Comma);
        3 + u32::from(behind)
    }

    /// The characters of a default that must follow a field's type on its line.
    fn default_tail(&self, equals: u32, frame: &Frame) -> u32 {
        let value = self.significant(equals + 1);
        if matches!(self.kind(value), T::LBrace | T::LBracket) {
            return 4;
        }
        let comma = self.kind(self.significant(value + 1)) == T::Comma && value < frame.last;
        self.marks.width(equals, value) + 1 + u32::from(comma)
    }

    /// The characters from a token behind an arrow's start to the end of the step, or to the record
    /// of the node behind the arrow.
    fn arrow_tail(&self, first: u32, frame: &Frame) -> u32 {
        let mut last = first;
        while last < frame.last && self.kind(last) != T::RParen && !self.opens_entries(last) {
            last = self.significant(last + 1);
        }
        let tail = if last == frame.last { frame.tail } else { 0 };
        self.marks.width(first, last) + tail
    }

    /// Whether a record with entries opens, which can be spread.
    fn opens_entries(&self, token: u32) -> bool {
        matches!(self.kind(token), T::LBrace | T::Less)
            && !matches!(self.kind(self.significant(token + 1)), T::RBrace | T::Greater)
    }

    /// Writes a node on the current line.
    fn write_flat(&mut self, node: &NodeData) {
        let tokens = &self.tree.tokens;
        let width = self.marks.width(node.first, node.last);
        if self.marks.is_laid_out(node) {
            let span = tokens.span(node.first).cover(tokens.span(node.last));
            self.out.push_str(self.tree.source.slice(span));
        } else {
            let mut token = node.first;
            let mut before = token;
            while token <= node.last {
                if token > before && self.marks.needs_space(before, token) {
                    self.out.push(' ');
                }
                before = last_piece(self.tree, token);
                let span = tokens.span(token).cover(tokens.span(before));
                self.out.push_str(self.tree.source.slice(span));
                token = self.significant(before + 1);
            }
        }
        self.column += width;
    }

    pub(super) fn space(&mut self) {
        self.out.push(' ');
        self.column += 1;
    }

    /// Whether a space separates two adjacent tokens on a line.
    pub(super) fn needs_space(&self, before: u32, token: u32) -> bool {
        self.marks.needs_space(before, token)
    }

    /// Writes a token, or a string in pieces, and gives its last one.
    fn token(&mut self, token: u32) -> u32 {
        let last = last_piece(self.tree, token);
        let span = self.tree.tokens.span(token).cover(self.tree.tokens.span(last));
        let text = self.tree.source.slice(span);
        self.out.push_str(text);
        match text.rfind('\n') {
            Some(at) => self.column = crate::span::offset(text.len() - at - 1),
            None => self.column += self.marks.width(token, last),
        }
        last
    }

    /// The gap between two tokens of a pattern that spans several lines.
    fn gap(&mut self, before: u32, token: u32) {
        let kind = self.kind(token);
        let Some(&frame) = self.frames.last() else {
            return self.within_line(before, token, self.indent);
        };
        if matches!(kind, T::Comma | T::Pipe) && frame.kind != Kind::Union {
            return self.before_separator(before, token, deeper(frame.indent));
        }
        match frame.kind {
            Kind::Union if kind == T::Pipe => {
                self.own_line(before, token, deeper(frame.indent), false);
            }
            Kind::Union => self.within_line(before, token, deeper(frame.indent)),
            Kind::Brackets { fill } => self.gap_in_brackets(before, token, frame, fill),
            Kind::Pattern { bar } => self.gap_in_pattern(before, token, frame, bar),
            Kind::Path { step } => self.gap_in_path(before, token, frame, step),
            Kind::Annotated { annotations } => {
                if before == annotations || matches!(kind, T::At | T::AtAt) {
                    self.own_line(before, token, frame.indent, false);
                } else {
                    self.within_line(before, token, deeper(frame.indent));
                }
            }
        }
    }

    fn gap_in_brackets(&mut self, before: u32, token: u32, frame: Frame, fill: bool) {
        let opens = before == frame.first;
        let behind_comma = self.kind(before) == T::Comma;
        if behind_comma && fill && self.shares_line(before, token) {
            self.space();
        } else if opens || behind_comma || token == frame.last {
            self.item(before, token, frame, opens);
        } else {
            self.within_line(before, token, deeper(deeper(frame.indent)));
        }
    }

    fn gap_in_pattern(&mut self, before: u32, token: u32, frame: Frame, bar: bool) {
        let (opens, closes) = (self.kind(before) == T::Pipe, token == frame.last);
        let behind_comma = self.kind(before) == T::Comma;
        if opens {
            self.set_kind(Kind::Pattern { bar: true });
        }
        if behind_comma && self.ends_with_name(before) && self.shares_line(before, token) {
            self.space();
        } else if opens || behind_comma || (bar && closes) {
            self.item(before, token, frame, opens);
        } else if bar {
            self.within_line(before, token, deeper(deeper(frame.indent)));
        } else {
            let indent = if closes { frame.indent } else { deeper(frame.indent) };
            self.within_line(before, token, indent);
        }
    }

    fn gap_in_path(&mut self, before: u32, token: u32, frame: Frame, step: u32) {
        let ends_node = self.kind(before) == T::RParen;
        // `()` needs no line of its own.
        let unit = self.marks.width(frame.first, before) == 2 && self.is_plain(before, token);
        if ends_node && is_arrow_start(self.kind(token)) && !unit {
            let nested = self.frames.len() > 1 && !self.below_annotations();
            let step = if nested { frame.indent } else { deeper(frame.indent) };
            self.set_kind(Kind::Path { step });
            self.own_line(before, token, step, true);
        } else {
            let closes = self.kind(token) == T::RParen;
            self.within_line(before, token, if closes { step } else { deeper(step) });
        }
    }

    /// The gap between two items of a bracket, before the first or after the last.
    fn item(&mut self, before: u32, token: u32, frame: Frame, opens: bool) {
        let inner = deeper(frame.indent);
        let closes = token == frame.last;
        let outer = if closes { frame.indent } else { inner };
        self.break_line(
            before,
            token,
            Break { inner, outer, opens, closes, paragraphs: true, apart: false },
        );
    }

    fn set_kind(&mut self, kind: Kind) {
        if let Some(frame) = self.frames.last_mut() {
            frame.kind = kind;
        }
    }

    /// Whether the innermost frame is the pattern behind annotations.
    fn below_annotations(&self) -> bool {
        matches!(self.frames.as_slice(), [.., Frame { kind: Kind::Annotated { .. }, .. }, _])
    }

    /// Whether the next item may continue the current line, and fits.
    fn shares_line(&self, comma: u32, token: u32) -> bool {
        if !self.waiting.is_empty() || !self.is_plain(comma, token) {
            return false;
        }
        // Elements have their own node, which ends before the first of them is passed.
        let mut nodes = self.tree.nodes.iter().skip(self.node as usize);
        let item = nodes.find(|node| node.first >= token);
        item.is_some_and(|item| {
            let name = !matches!(item.kind, N::SubjectPattern | N::Path);
            let comma = u32::from(self.kind(self.significant(item.last + 1)) == T::Comma);
            let width = self.marks.width(item.first, item.last) + comma;
            name && self.marks.fits_a_line(item) && self.column + 1 + width <= self.width
        })
    }

    /// Whether only whitespace without an empty line is between two tokens.
    fn is_plain(&self, before: u32, token: u32) -> bool {
        let tokens = &self.tree.tokens;
        let gap = Span::new(tokens.span(before).end, tokens.span(token).start);
        (before + 1..token).all(|token| self.kind(token) == T::Whitespace)
            && !has_empty_line(self.tree.source.slice(gap))
    }

    /// Whether a name precedes a comma between elements.
    fn ends_with_name(&self, comma: u32) -> bool {
        let mut name = comma.saturating_sub(1);
        while self.kind(name).is_trivia() && name > 0 {
            name -= 1;
        }
        matches!(self.kind(name), T::Symbol | T::Backticked | T::Integer | T::QuoteClose)
    }
}

/// The indentation inside of an indented line.
fn deeper(indent: u32) -> u32 {
    (indent + INDENT).min(MAX_INDENT)
}
