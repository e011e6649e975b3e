//! What differs between two forms of a text.

use crate::span::{Span, offset};

/// What differs between two forms of a text: all before `old` is the same, and all behind it stands
/// `by` bytes further in the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The stretch of the old text that stands in the new one in another form.
    pub old: Span,
    /// How much longer the new text is, in bytes.
    pub by: i32,
}

impl Change {
    /// The smallest change of whole characters that makes `new` of `old`.
    pub fn between(old: &str, new: &str) -> Self {
        let mut start = same_start(old.as_bytes(), new.as_bytes());
        while !old.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = same_end(&old.as_bytes()[start..], &new.as_bytes()[start..]);
        while !old.is_char_boundary(old.len() - end) {
            end -= 1;
        }
        // No text is longer than 31 bits count.
        let length = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX);
        let old_span = Span::new(offset(start), offset(old.len() - end));
        Self { old: old_span, by: length(new) - length(old) }
    }
}

/// How many bytes are compared at once.
const AT_ONCE: usize = 4096;

/// How many bytes two texts begin with in common.
fn same_start(one: &[u8], other: &[u8]) -> usize {
    let pieces = one.chunks(AT_ONCE).zip(other.chunks(AT_ONCE));
    let whole = pieces.take_while(|(one, other)| one == other).map(|(one, _)| one.len()).sum();
    let rest = one[whole..].iter().zip(&other[whole..]);
    whole + rest.take_while(|(one, other)| one == other).count()
}

/// How many bytes two texts end with in common.
fn same_end(one: &[u8], other: &[u8]) -> usize {
    let pieces = one.rchunks(AT_ONCE).zip(other.rchunks(AT_ONCE));
    let same = pieces.take_while(|(one, other)| one == other);
    let whole: usize = same.map(|(one, _)| one.len()).sum();
    let rest = one[..one.len() - whole].iter().rev().zip(other[..other.len() - whole].iter().rev());
    whole + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_found_between_characters() {
        let long = "x".repeat(AT_ONCE + 7);
        let (before, behind) = (format!("{long}ä"), format!("ü{long}"));
        for (old, new) in [("", ""), ("a", ""), ("", "ö"), ("ö", "ü"), ("aa", "aaa"), ("😀", "😁")]
        {
            let (old_text, new_text) =
                (format!("{before}{old}{behind}"), format!("{before}{new}{behind}"));
            let change = Change::between(&old_text, &new_text);
            let end = change.old.end.saturating_add_signed(change.by) as usize;
            let start = change.old.start as usize;
            assert_eq!(old_text.get(..start), new_text.get(..start));
            assert_eq!(old_text.get(change.old.end as usize..), new_text.get(end..));
            assert!(change.old.len() as usize <= old.len(), "{old:?} {new:?}");
        }
    }
}
