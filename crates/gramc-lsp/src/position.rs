//! Conversion between byte offsets and positions of the protocol.

use std::ops::Range as IndexRange;

use gramc_syntax::Span;
use lsp_types::{Position, PositionEncodingKind, Range};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    Utf8,
    /// UTF-16 code units, the protocol's default.
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// The cheapest encoding that the client offers. Bytes need no conversion.
    pub(crate) fn choose(offered: &[&str]) -> Self {
        let all = [Self::Utf8, Self::Utf32, Self::Utf16];
        all.into_iter().find(|one| offered.contains(&one.kind().as_str())).unwrap_or_default()
    }

    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    pub(crate) fn count(self, text: &str) -> u32 {
        let count = match self {
            Self::Utf8 => text.len(),
            _ if text.is_ascii() => text.len(),
            _ => text.chars().map(|c| self.width(c)).sum(),
        };
        number(count)
    }
}

/// A length or offset as `u32`. Larger files are rejected.
pub(crate) fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The start of the line of an offset.
pub(crate) fn line_start(text: &str, at: u32) -> usize {
    let before = text.get(..at as usize).unwrap_or_default();
    before.rfind('\n').map_or(0, |at| at + 1)
}

/// The offsets of line starts. In the protocol a line ends with `\n`, `\r\n` or `\r`.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        // A line has about forty bytes.
        let mut starts = Vec::with_capacity(text.len() / 32 + 1);
        starts.push(0);
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let ends = bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
            if ends {
                starts.push(number(at + 1));
            }
        }
        starts.shrink_to_fit();
        Self { starts }
    }

    /// The spans of the lines of a text of this length, including their ends.
    pub(crate) fn spans(&self, length: usize) -> Vec<IndexRange<usize>> {
        let starts = self.starts.iter().map(|start| *start as usize);
        let ends = starts.clone().skip(1).chain([length]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|span| !span.is_empty()).collect()
    }
}

/// A text with its lines and the unit of columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Positions<'t> {
    text: &'t str,
    lines: &'t Lines,
    encoding: Encoding,
}

impl<'t> Positions<'t> {
    pub(crate) fn new(text: &'t str, lines: &'t Lines, encoding: Encoding) -> Self {
        Self { text, lines, encoding }
    }

    pub(crate) fn encoding(self) -> Encoding {
        self.encoding
    }

    /// The position of an offset. An offset inside a character maps to its start.
    pub(crate) fn position(self, offset: u32) -> Position {
        let mut at = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let starts = &self.lines.starts;
        // The first line starts at 0, so the partition point is never 0.
        let line = starts.partition_point(|start| *start as usize <= at) - 1;
        let before = self.text.get(starts[line] as usize..at).unwrap_or_default();
        Position::new(number(line), self.encoding.count(before))
    }

    /// The position of an offset on or after a line. Faster than [`Self::position`] if offsets are
    /// converted in order.
    pub(crate) fn position_from(self, line: u32, offset: u32) -> Position {
        let starts = self.lines.starts.iter().skip(line as usize + 1);
        let line = line as usize + starts.take_while(|start| **start <= offset).count();
        let start = self.lines.starts.get(line).copied().unwrap_or_default();
        let before = self.text.get(start as usize..offset as usize).unwrap_or_default();
        Position::new(number(line), self.encoding.count(before))
    }

    pub(crate) fn range(self, span: Span) -> Range {
        let start = self.position(span.start);
        let lines = self.text.get(span.range());
        // Most spans end on the line where they start.
        match lines.filter(|text| text.len() < 200 && !text.contains(['\n', '\r'])) {
            Some(text) => {
                let end = start.character + self.encoding.count(text);
                Range::new(start, Position::new(start.line, end))
            }
            None => Range::new(start, self.position(span.end)),
        }
    }

    /// The offset of a position. A column past the end of the line maps to the end of the line, a
    /// line past the last one to the end of the text, and the middle of a character to its start.
    pub(crate) fn offset(self, position: Position) -> u32 {
        let starts = &self.lines.starts;
        let Some(start) = starts.get(position.line as usize).copied() else {
            return number(self.text.len());
        };
        let next = starts.get(position.line as usize + 1).copied();
        let line = self.text.get(start as usize..next.map_or(self.text.len(), |end| end as usize));
        let line = line.unwrap_or_default();
        let line = if next.is_some() { line.trim_end_matches(['\n', '\r']) } else { line };
        let wanted = position.character as usize;
        let mut units = 0;
        for (at, c) in line.char_indices() {
            let width = self.encoding.width(c);
            if units + width > wanted {
                return start + number(at);
            }
            units += width;
        }
        start + number(line.len())
    }

    /// The span of a range. Empty if the range is reversed.
    pub(crate) fn span(self, range: Range) -> Span {
        let start = self.offset(range.start);
        Span::new(start, self.offset(range.end).max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\nü😀b\r\nc\rd";

    #[test]
    fn positions_count_as_the_client_does() {
        let lines = Lines::new(TEXT);
        let b = number(TEXT.find('b').unwrap_or_default());
        for (encoding, column) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3), (Encoding::Utf32, 2)]
        {
            let positions = Positions::new(TEXT, &lines, encoding);
            assert_eq!(positions.position(b), Position::new(1, column));
            assert_eq!(positions.offset(Position::new(1, column)), b);
            // Past the end of a line that ends with \r\n, and of the text.
            assert_eq!(positions.offset(Position::new(1, 99)), b + 1);
            assert_eq!(positions.offset(Position::new(99, 0)), number(TEXT.len()));
            // A lone \r ends a line.
            assert_eq!(positions.position(number(TEXT.len())), Position::new(3, 1));
            for (at, _) in TEXT.char_indices() {
                let at = number(at);
                assert_eq!(positions.position_from(0, at), positions.position(at));
                let back = positions.offset(positions.position(at));
                let inside = TEXT.get(at as usize..).is_some_and(|rest| rest.starts_with('\n'));
                assert!(back == at || inside, "{encoding:?} {at} {back}");
            }
        }
        let positions = Positions::new(TEXT, &lines, Encoding::Utf16);
        // The middle of a surrogate pair maps to the start of the character.
        assert_eq!(positions.offset(Position::new(1, 2)), 4);
    }

    #[test]
    fn the_cheapest_encoding_is_chosen() {
        let [eight, sixteen] = [PositionEncodingKind::UTF8, PositionEncodingKind::UTF16];
        assert_eq!(Encoding::choose(&[sixteen.as_str(), eight.as_str()]), Encoding::Utf8);
        assert_eq!(Encoding::choose(&[sixteen.as_str()]), Encoding::Utf16);
        assert_eq!(Encoding::choose(&[]), Encoding::Utf16);
    }
}
