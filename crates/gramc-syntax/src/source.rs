//! Source texts and positions in them.

use std::sync::OnceLock;

use crate::span::{Span, offset};

/// A named text with an index of its lines.
///
/// The index is built on first use, so a text without diagnostics does not need it.
pub struct SourceFile {
    name: Box<str>,
    text: Box<str>,
    lines: OnceLock<LineIndex>,
    printable: OnceLock<Option<Box<str>>>,
}

impl std::fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SourceFile({:?}, {} bytes)", self.name, self.text.len())
    }
}

impl SourceFile {
    /// A source text. `name` is the name in messages, usually the path.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into().into_boxed_str(),
            text: text.into().into_boxed_str(),
            lines: OnceLock::new(),
            printable: OnceLock::new(),
        }
    }

    /// The name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text.into_string()
    }

    /// The text in `span`, or `""` if the span is out of range.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// The text with control and hidden characters replaced by others of the same length, so that a
    /// file cannot send commands to a terminal, nor show text that it does not contain. Computed once.
    pub(crate) fn printable(&self) -> &str {
        let mask = |c: char| match c {
            '\n' | '\t' => c,
            _ if c.is_ascii_control() => '?',
            // Each has as many bytes as what it replaces.
            _ if c.is_control() => '\u{bf}',
            _ if crate::hidden::is_hidden(c) && !is_joiner(c) => match c.len_utf8() {
                3 => '\u{fffd}',
                _ => '\u{1fbc4}',
            },
            _ => c,
        };
        let bytes = self.text.as_bytes();
        let printable = self.printable.get_or_init(|| {
            let obeyed = |c: char| crate::hidden::is_hidden(c) && !is_joiner(c);
            let lone = memchr::memchr_iter(b'\r', bytes).any(|at| is_lone_return(bytes, at));
            if !lone && !crate::hidden::may_hide(&self.text) {
                return None;
            }
            let chars = self.text.char_indices().map(|(at, c)| match c {
                '\r' if is_lone_return(bytes, at) => '\n',
                _ => mask(c),
            });
            (lone || self.text.contains(obeyed)).then(|| chars.collect::<String>().into_boxed_str())
        });
        printable.as_deref().unwrap_or(&self.text)
    }

    /// The index of the lines.
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }

    /// The position of a byte offset, with the column in Unicode characters.
    pub fn position(&self, offset: u32) -> Position {
        self.position_with(offset, |text| text.chars().count())
    }

    /// The position of a byte offset, with the column in bytes.
    pub fn position_utf8(&self, offset: u32) -> Position {
        self.position_with(offset, str::len)
    }

    /// The position of a byte offset, with the column in UTF-16 code units, as editors count.
    pub fn position_utf16(&self, offset: u32) -> Position {
        self.position_with(offset, |text| text.chars().map(char::len_utf16).sum())
    }

    fn position_with(&self, at: u32, width: impl Fn(&str) -> usize) -> Position {
        let mut at = at.min(offset(self.text.len()));
        while !self.text.is_char_boundary(at as usize) {
            at -= 1;
        }
        let line = self.lines().line_of(at);
        let before = self.slice(Span::new(self.lines().start(line), at));
        Position { line, column: offset(width(before)) }
    }

    /// The byte offset of a position whose column counts UTF-16 code units. A column past the
    /// end of its line means the line's end; a line past the last one means the end of the text.
    pub fn offset_utf16(&self, position: Position) -> u32 {
        let span = self.lines().span(position.line, &self.text);
        let mut units = 0;
        for (index, c) in self.slice(span).char_indices() {
            if units >= position.column {
                return span.start + offset(index);
            }
            units += offset(c.len_utf16());
        }
        span.end
    }

    /// The byte offset of a position whose column counts Unicode characters.
    pub fn offset(&self, position: Position) -> u32 {
        let span = self.lines().span(position.line, &self.text);
        let before = self.slice(span).chars().take(position.column as usize);
        span.start + offset(before.map(char::len_utf8).sum())
    }

    /// The byte offset of a position whose column counts bytes, moved back to the start of the
    /// character that it falls into.
    pub fn offset_utf8(&self, position: Position) -> u32 {
        let span = self.lines().span(position.line, &self.text);
        let mut at = span.start.saturating_add(position.column).min(span.end);
        while !self.text.is_char_boundary(at as usize) {
            at -= 1;
        }
        at
    }
}

/// Whether the byte at an offset is a carriage return that ends a line alone.
fn is_lone_return(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) != Some(&b'\n')
}

/// Whether a character joins others, or keeps them apart, which is how some scripts are spelled.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// A line and a column, both counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The line, counted from 0.
    pub line: u32,
    /// The column, counted from 0, in the unit of the function that made the position.
    pub column: u32,
}

/// Where the lines of a text start. A line ends after its `\n`, or a `\r` that none follows.
#[derive(Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    fn new(text: &str) -> Self {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
        let ends = ends.filter(|at| bytes[*at] == b'\n' || is_lone_return(bytes, *at));
        starts.extend(ends.map(|at| offset(at + 1)));
        Self { starts }
    }

    /// The number of lines; at least one.
    pub fn count(&self) -> u32 {
        offset(self.starts.len())
    }

    /// The line that contains the byte at `offset`, counted from 0.
    pub fn line_of(&self, offset: u32) -> u32 {
        // The first line starts at 0, so the partition point is never 0.
        self::offset(self.starts.partition_point(|&start| start <= offset)) - 1
    }

    /// The offset at which a line starts; the last line's start for lines past the end.
    pub fn start(&self, line: u32) -> u32 {
        let last = self.starts.len() - 1;
        self.starts[(line as usize).min(last)]
    }

    /// The span of a line of `text` without its line break (`\n` or `\r\n`); empty at the end of
    /// the text for lines past the last one.
    pub fn span(&self, line: u32, text: &str) -> Span {
        let end = offset(text.len());
        let Some(&start) = self.starts.get(line as usize) else {
            return Span::empty(end);
        };
        let next = self.starts.get(line as usize + 1).copied();
        let mut stop = next.map_or(end, |next| next - 1);
        if next.is_some() && stop > start && text.as_bytes()[stop as usize - 1] == b'\r' {
            stop -= 1;
        }
        Span::new(start, stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_bytes_characters_and_utf16_units() {
        let source = SourceFile::new("x", "a\nü😀b\r\nc");
        let b = offset(source.text().find('b').unwrap_or_default());
        assert_eq!(source.position(b), Position { line: 1, column: 2 });
        assert_eq!(source.position_utf8(b), Position { line: 1, column: 6 });
        assert_eq!(source.position_utf16(b), Position { line: 1, column: 3 });
        assert_eq!(source.offset_utf16(Position { line: 1, column: 3 }), b);
        assert_eq!(source.offset_utf8(Position { line: 1, column: 6 }), b);
        // Inside the surrogate pair and inside a character's bytes.
        assert_eq!(source.offset_utf16(Position { line: 1, column: 2 }), b);
        assert_eq!(source.offset_utf8(Position { line: 1, column: 3 }), 4);
        assert_eq!(source.offset(Position { line: 1, column: 2 }), b);
        // Past the end of a line and of the text.
        assert_eq!(source.offset_utf16(Position { line: 1, column: 99 }), b + 1);
        assert_eq!(source.offset_utf16(Position { line: 9, column: 0 }), 12);
        assert_eq!(source.lines().count(), 3);
        assert_eq!(source.position(u32::MAX), Position { line: 2, column: 1 });
    }

    #[test]
    fn lines_may_end_with_carriage_returns_alone() {
        let source = SourceFile::new("x", "a\rb\r\nc\rd");
        assert_eq!(source.lines().count(), 4);
        assert_eq!(source.position(2), Position { line: 1, column: 0 });
        assert_eq!(source.lines().span(2, source.text()), Span::new(5, 6));
        assert_eq!(source.printable(), "a\nb?\nc\nd");
    }
}
