//! Byte ranges of a source text.

use std::ops::Range;

/// A half-open range of bytes of a source text.
///
/// Offsets are `u32`, which halves the size of the tree. [`Limits`](crate::Limits) excludes longer
/// texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// The range from `start` to before `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The empty range at `offset`.
    pub const fn empty(offset: u32) -> Self {
        Self { start: offset, end: offset }
    }

    /// The number of bytes.
    pub const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether the range is empty.
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The smallest range that contains both.
    #[must_use]
    pub fn cover(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether another range is inside.
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the ranges overlap or are adjacent.
    pub const fn touches(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// The range moved by some bytes.
    #[must_use]
    pub const fn shift(self, by: i32) -> Self {
        Self {
            start: self.start.saturating_add_signed(by),
            end: self.end.saturating_add_signed(by),
        }
    }

    /// The range as indices of a string.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A length or offset as `u32`. The size limit excludes texts above 4 GiB, so it never saturates.
impl From<Range<usize>> for Span {
    /// Saturates, because larger files are rejected.
    fn from(range: Range<usize>) -> Self {
        Self { start: offset(range.start), end: offset(range.end) }
    }
}

pub(crate) fn offset(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
