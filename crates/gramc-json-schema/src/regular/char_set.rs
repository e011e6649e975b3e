//! Sets of characters.

/// The last code point.
const LAST: u32 = 0x10_FFFF;

/// The code points that are no characters.
const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// A set of characters, as inclusive ranges of code points in ascending order, with gaps between
/// them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[must_use]
pub struct CharSet(Vec<(u32, u32)>);

impl CharSet {
    /// The set of one character.
    pub fn one(c: char) -> Self {
        Self(vec![(c.into(), c.into())])
    }

    /// The set of all characters in some ranges, which may overlap.
    pub fn of(ranges: &[(char, char)]) -> Self {
        Self::merge_ranges(
            ranges.iter().map(|&(first, last)| (first.into(), last.into())).collect(),
        )
    }

    /// The set of the code points in some ranges, which may overlap.
    fn merge_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        Self(merged)
    }

    /// The set of the characters of a text.
    pub fn chars(text: &str) -> Self {
        let ranges: Vec<_> = text.chars().map(|c| (c, c)).collect();
        Self::of(&ranges)
    }

    /// The set of all characters.
    pub fn all() -> Self {
        Self(vec![(0, SURROGATES.0 - 1), (SURROGATES.1 + 1, LAST)])
    }

    /// Whether it has no characters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its character, if it has only one.
    pub fn single(&self) -> Option<char> {
        match self.0[..] {
            [(first, last)] if first == last => char::from_u32(first),
            _ => None,
        }
    }

    /// The ranges of code points, in ascending order, with gaps between them.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Whether it has a character.
    pub fn contains(&self, c: char) -> bool {
        let code = u32::from(c);
        let at = self.0.partition_point(|&(_, last)| last < code);
        self.0.get(at).is_some_and(|&(first, _)| first <= code)
    }

    /// The characters of this set and of another one.
    pub fn union(&self, other: &Self) -> Self {
        Self::union_of([self, other])
    }

    /// The characters of all sets.
    pub fn union_of<'s>(sets: impl IntoIterator<Item = &'s Self>) -> Self {
        Self::merge_ranges(sets.into_iter().flat_map(|set| &set.0).copied().collect())
    }

    /// All other characters.
    pub fn complement(&self) -> Self {
        let with_surrogates = self.union(&Self(vec![SURROGATES]));
        let mut ranges = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for (first, last) in with_surrogates.0 {
            if first > next {
                ranges.push((next, first - 1));
            }
            next = last + 1;
        }
        if next <= LAST {
            ranges.push((next, LAST));
        }
        Self(ranges)
    }

    /// The characters of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        self.complement().union(&other.complement()).complement()
    }

    /// The characters that another set does not have.
    pub fn minus(&self, other: &Self) -> Self {
        self.intersection(&other.complement())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged_and_complements_hold_no_surrogates() {
        let set = CharSet::of(&[('d', 'f'), ('a', 'b'), ('c', 'c'), ('x', 'x')]);
        assert_eq!(set, CharSet::of(&[('a', 'f'), ('x', 'x')]));
        assert_eq!(CharSet::default().complement(), CharSet::all());
        assert_eq!(CharSet::all().complement(), CharSet::default());
        let rest = set.complement();
        assert!(!rest.contains('e') && rest.contains('g') && rest.contains('\u{10FFFF}'));
        assert!(rest.ranges().iter().all(|&(first, last)| last < 0xD800 || first > 0xDFFF));
        assert_eq!(rest.complement(), set);
    }

    #[test]
    fn sets_are_intersected_and_subtracted() {
        let letters = CharSet::of(&[('a', 'z')]);
        let some = CharSet::chars("xyz{");
        assert_eq!(letters.intersection(&some), CharSet::chars("xyz"));
        assert_eq!(letters.minus(&some), CharSet::of(&[('a', 'w')]));
        assert_eq!(some.minus(&letters).single(), Some('{'));
    }
}
